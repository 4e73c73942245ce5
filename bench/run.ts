// `npm run bench`: the service and its peers in one run, as ratios. See USAGE and docs/performance.md.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { generated } from './atlas.ts';
import { benchQuestions, questionsTable } from './compare.ts';
import { benchCpu } from './cpu.ts';
import { generator } from './load.ts';
import { profileQuestion } from './profile.ts';
import { indexed, largest, type Subject, subjectAt } from './subject.ts';

const USAGE = `npm run bench [-- <part>] [options]

  questions   every question: the service beside bare Hono, SQLite and DuckDB, in requests/s and processor time
  cpu         processor time of a get, a charged get, a search, an MCP get and statistics beside bare Hono and SQLite
  profile     a sampling profile of one question: npm run bench -- profile get
  agents      a scripted agent answers from the guides alone

  --dataset <name>      which dataset of DATA_DIR; without it the largest, or else a generated one
  --records <n>         of the generated one, 20000
  --only <id>           these questions alone; may be given more than once
  --connections <n>     16; may be given more than once (questions)
  --seconds <n>         of a round, 1; --rounds <n>  3`;

const { values: args, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dataset: { type: 'string' },
    records: { type: 'string', default: '20000' },
    only: { type: 'string', multiple: true },
    connections: { type: 'string', multiple: true, default: ['16'] },
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
    help: { type: 'boolean', default: false },
  },
});
const [part = 'questions', question = 'get'] = positionals;
const rounds = { seconds: Number(args.seconds), rounds: Number(args.rounds) };
const only = args.only ?? null;
const scratch = mkdtempSync(join(tmpdir(), 'bench-'));
const progress = (line: string) => void process.stderr.write(`${line}\n`);

/** Processor, memory and load of this machine, and what generates the load. */
function machine(): string {
  const [first] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  const before = (loadavg()[0] ?? 0).toFixed(1);
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown'}, ${memory} GB, Node ${process.version}, ${generator}; load average ${before}; ${rounds.rounds} alternated rounds of ${rounds.seconds} s`;
}

/** The chosen dataset, or the largest one, or a generated one. */
async function subject(dataDir: string): Promise<Subject> {
  const found = args.dataset ? subjectAt(dataDir, args.dataset) : largest(dataDir);
  return found ?? generated(Number(args.records), progress);
}

const PARTS: Record<string, (dataDir: string) => Promise<string>> = {
  async questions(dataDir) {
    const levels = args.connections.map(Number);
    return questionsTable(await benchQuestions(await subject(dataDir), scratch, { ...rounds, levels, only, progress }));
  },
  async cpu(dataDir) {
    // Gets of airports and statistics of places, or all of the one dataset that there is.
    const main = await subject(dataDir);
    const [records, figures] = ['airports', 'places'].map((dataset) => subjectAt(dataDir, dataset) ?? main);
    return benchCpu(records!, figures!, scratch, { ...rounds, connections: 16, only });
  },
  profile: async (dataDir) => profileQuestion(await subject(dataDir), scratch, question),
};

const run = PARTS[part];
try {
  if (part === 'agents') spawnSync(process.execPath, ['bench/agents/run.ts'], { stdio: 'inherit' });
  else if (args.help || run === undefined) {
    console.log(args.help ? USAGE : `no such part: ${part}\n\n${USAGE}`);
    process.exitCode = args.help ? 0 : 1;
  } else {
    console.log(`${machine()}\n`);
    console.log(await run(await indexed(readConfig(process.env).DATA_DIR)));
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
