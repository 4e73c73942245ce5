// `npm run bench`: the service and its baselines in one run, as ratios. See USAGE; docs/performance.md and
// bench/results.md have the results.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { generated } from './atlas.ts';
import { benchCpu } from './cpu.ts';
import { benchGrowth } from './parts/growth.ts';
import { benchMcp } from './parts/mcp.ts';
import { benchNight, type Night } from './parts/night.ts';
import { benchQuestions, type QuestionRow } from './parts/questions.ts';
import { benchSoak } from './parts/soak.ts';
import { benchSql } from './parts/sql.ts';
import { benchStalls } from './parts/stalls.ts';
import { benchStart } from './parts/start.ts';
import { benchTogether } from './parts/together.ts';
import { benchTokens } from './parts/tokens.ts';
import { benchWorkers } from './parts/workers.ts';
import { profileQuestion } from './profile.ts';
import { DOCUMENTS, fillIn, renderPart } from './report.ts';
import {
  type BenchParts,
  keepResults,
  machine,
  measuredPart,
  type PartName,
  type PartResult,
  type Results,
  readResults,
} from './results.ts';
import { indexed, largest, type Subject, subjectAt } from './subject.ts';

const USAGE = `npm run bench [-- <part>…] [options]

  questions   every question: the service compared with bare Hono, SQLite and DuckDB
  together    gets while statistics and time series run; delay of the event loop
  tokens      Markdown and JSON of a search, in tokens
  start       start times and memory
  mcp         a call over MCP compared with the same one over REST; the list of tools
  workers     one and two threads: processor time, requests/s (not in the quick run)
  sql         gets next to four clients of SQL               (not in the quick run)
  stalls      event-loop delay while each operation runs alone  (not in the quick run)
  growth      173,000 and 1,000,000 generated records        (not in the quick run)
  night       a night from the sources cached in DATA_DIR    (not in the quick run)
  soak        ten minutes of everything, then the questions in the same process; WORKERS=2 npm run bench -- soak
              measures two threads                           (only when it is named)
  money       what a charge costs; prints its own table      (not in the quick run)
  agents      a scripted agent answers from the guides alone  (not in the quick run)
  rank        how often the record that a name means comes first  (only when it is named)
  profile     a sampling profile of one question: npm run bench -- profile get
  cpu         processor time of a call beside bare Hono and SQLite  (only when it is named)
  report      only writes the tables again from what was found before

  --full            all parts but soak, agents and rank, at 1, 16 and 64 connections, longer: some 20 minutes, and more when the atlas has to be made first
  --write           keeps what is found and writes the tables
  --dataset <name>  which dataset of DATA_DIR; without it the largest, or else a generated one
  --records <n>     of the generated one, 20000
  --only <id>       these questions alone (stalls: rows whose names contain it); may be given more than once
  --seconds <n>     of a round, 1 (full: 2); --rounds <n>  3; --minutes <n>  of the soak, 10`;

const QUICK = ['questions', 'together', 'tokens', 'start', 'mcp'];
const FULL = [...QUICK, 'workers', 'sql', 'stalls', 'growth', 'night', 'money'];
/** Parts that are separate programs and print their own tables. */
const APART: Record<string, string> = {
  money: 'bench/money.ts',
  agents: 'bench/agents/run.ts',
  rank: 'bench/rank/run.ts',
};
/** Records of the generated pack: the two sizes of part `growth`. */
const SIZES = { small: 173_000, large: 1_000_000 };

const { values: args, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    full: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    dataset: { type: 'string' },
    records: { type: 'string', default: '20000' },
    only: { type: 'string', multiple: true },
    seconds: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '10' },
    help: { type: 'boolean', default: false },
  },
});
const parts = positionals.length > 0 ? positionals : args.full ? FULL : QUICK;
const rounds = { seconds: Number(args.seconds ?? (args.full ? 2 : 1)), rounds: Number(args.rounds) };
const levels = args.full ? [1, 16, 64] : [16];
const config = readConfig(process.env);
const scratch = mkdtempSync(join(tmpdir(), 'bench-'));
const progress = (line: string) => void process.stderr.write(`${line}\n`);

let dataDir: Promise<string> | null = null;

async function subject(): Promise<Subject> {
  dataDir ??= indexed(config.DATA_DIR);
  const from = await dataDir;
  const there = args.dataset ? subjectAt(from, args.dataset) : largest(from);
  return there ?? generated(Number(args.records), progress);
}

/** Datasets whose nights are measured, the largest last. */
const BUNDLED = ['llm-models', 'airports', 'places'];

/** Parts by name. A part that cannot run here prints the reason and returns null. */
const RUN: { [P in PartName]: () => Promise<BenchParts[P] | null> } = {
  questions: async () =>
    benchQuestions(await subject(), scratch, { levels, ...rounds, only: args.only ?? null, report: reportRow }),
  together: async () => benchTogether(await subject(), scratch, { ...rounds, seconds: rounds.seconds * 3 }),
  tokens: async () => benchTokens(await subject(), scratch),
  start: async () => benchStart(await subject(), scratch, rounds.seconds),
  mcp: async () => benchMcp(await subject(), scratch, { ...rounds, connections: 16 }),
  workers: async () => benchWorkers(await subject(), scratch, { ...rounds, connections: 16 }),
  sql: async () => benchSql(await subject(), scratch, Number(args.seconds ?? 15)),
  stalls: async () =>
    benchStalls(await subject(), scratch, {
      seconds: Number(args.seconds ?? 1),
      dist: config.DIST_DIR,
      only: args.only ?? null,
      progress,
    }),
  growth: async () => {
    const sizes = [await generated(SIZES.small, progress), await generated(SIZES.large, progress)] as const;
    return benchGrowth(...sizes, scratch, { ...rounds, connections: 16 });
  },
  night: async () => {
    const nights: Night[] = [];
    for (const dataset of args.dataset ? [args.dataset] : BUNDLED) {
      const night = await benchNight(config.DATA_DIR, dataset, scratch);
      if (night === null)
        progress(
          `night of ${dataset}: left out, ${config.DATA_DIR} has no cached sources; run \`npm run nightly\` first`,
        );
      else nights.push(night);
    }
    return nights.length > 0 ? nights : null;
  },
  soak: async () =>
    benchSoak(await subject(), scratch, {
      ...rounds,
      minutes: Number(args.minutes),
      workers: config.WORKERS,
      only: args.only ?? null,
    }),
};

function reportRow({ id, connections, loads }: QuestionRow): void {
  progress(`${id}, ${connections} connections: ${Math.round(loads.service?.rps ?? 0)} requests/s`);
}

async function measure(part: PartName): Promise<PartResult<never> | null> {
  progress(
    `\n== ${part}, ${parts.indexOf(part) + 1} of ${parts.length}, after ${Math.round(performance.now() / 1000)} s`,
  );
  const result = await measuredPart<unknown>(rounds, RUN[part]);
  if (result.data === null) return null;
  console.log(`\n${renderPart(part, result as PartResult<never>)}`);
  return result as PartResult<never>;
}

async function main(): Promise<void> {
  const named = ['profile', 'cpu'].includes(parts[0]!) ? [] : parts;
  const unknown = named.filter((part) => !(part in RUN) && !(part in APART) && part !== 'report');
  if (args.help || unknown.length > 0) {
    console.log(unknown.length > 0 ? `no such part: ${unknown.join(', ')}\n\n${USAGE}` : USAGE);
    process.exitCode = unknown.length > 0 ? 1 : 0;
    return;
  }
  console.log(machine());
  if (parts[0] === 'profile') return console.log(await profileQuestion(await subject(), scratch, parts[1] ?? 'get'));
  if (parts[0] === 'cpu') return console.log(await measureCpu());
  if (parts.includes('report')) write(readResults());
  for (const part of parts) {
    const apart = APART[part];
    if (apart) spawnSync(process.execPath, [apart], { stdio: 'inherit' });
    if (!(part in RUN)) continue;
    // A failed part does not affect the others, since results are stored immediately.
    const result = await measure(part as PartName).catch((error: Error) => {
      progress(`${part}: ${error.stack ?? error.message}`);
      process.exitCode = 1;
      return null;
    });
    if (result !== null && args.write) write(keepResults({ [part]: result }));
  }
}

/** Gets of airports and statistics of places, or all of the one dataset that there is. */
async function measureCpu(): Promise<string> {
  dataDir ??= indexed(config.DATA_DIR);
  const from = await dataDir;
  const main = await subject();
  const [records, figures] = ['airports', 'places'].map((dataset) => subjectAt(from, dataset) ?? main);
  return benchCpu(records!, figures!, scratch, { ...rounds, connections: 16 });
}

function write(results: Results): void {
  for (const path of DOCUMENTS) writeFileSync(path, fillIn(readFileSync(path, 'utf8'), results));
}

try {
  await main();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
