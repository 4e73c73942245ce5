// `npm run bench`: the service beside its baselines, in one run, as ratios. See USAGE; docs/performance.md has what it finds.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { generated } from './atlas.ts';
import { benchGrowth } from './parts/growth.ts';
import { benchNight } from './parts/night.ts';
import { benchQuestions } from './parts/questions.ts';
import { benchSoak } from './parts/soak.ts';
import { benchStart } from './parts/start.ts';
import { benchTogether } from './parts/together.ts';
import { benchTokens } from './parts/tokens.ts';
import { fillIn, render } from './report.ts';
import {
  type Found,
  found,
  keepResults,
  machine,
  type PartName,
  type Parts,
  type Results,
  readResults,
} from './results.ts';
import { largest, type Subject, subjectAt } from './subject.ts';

const USAGE = `npm run bench [-- <part>…] [options]

  questions   every question: the service beside bare Hono, SQLite and DuckDB
  together    gets while statistics and time series run; delay of the event loop
  tokens      Markdown and JSON of a search, in tokens
  start       start times and memory
  growth      173,000 and 1,000,000 generated records        (not in the quick run)
  night       a night from the sources cached in DATA_DIR    (not in the quick run)
  soak        ten minutes of everything                      (not in the quick run)
  money       what a charge costs; prints its own table      (not in the quick run)
  agents      a scripted agent answers from the guides alone  (not in the quick run)
  report      only writes docs/performance.md again from what was found before

  --full            all parts, at 1, 16 and 64 connections, longer
  --write           keeps what is found and writes docs/performance.md
  --dataset <name>  which dataset of DATA_DIR; without it the largest, or else a generated one
  --records <n>     of the generated one, 20000
  --only <id>       these questions alone; may be given more than once
  --seconds <n>     of a round, 1 (full: 2); --rounds <n>  3`;

const QUICK = ['questions', 'together', 'tokens', 'start'];
const FULL = [...QUICK, 'growth', 'night', 'soak', 'money'];
/** Parts that are programs of their own and print their own tables. */
const APART: Record<string, string> = { money: 'bench/money.ts', agents: 'bench/agents/run.ts' };
/** Records of the generated pack: the two sizes of the growth. */
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
const told = (line: string) => void process.stderr.write(`${line}\n`);

async function subject(): Promise<Subject> {
  const there = args.dataset ? subjectAt(config.DATA_DIR, args.dataset) : largest(config.DATA_DIR);
  return there ?? generated(Number(args.records), told);
}

/** Parts by name. A part that cannot run here says why and answers null. */
const RUN: { [P in PartName]: () => Promise<Parts[P] | null> } = {
  questions: async () =>
    benchQuestions(await subject(), scratch, levels, rounds, args.only ?? null, ({ id, connections, loads }) =>
      told(`${id}, ${connections} connections: ${Math.round(loads.service?.rps ?? 0)} requests/s`),
    ),
  together: async () => benchTogether(await subject(), scratch, { ...rounds, seconds: rounds.seconds * 3 }),
  tokens: async () => benchTokens(await subject(), scratch),
  start: async () => benchStart(await subject(), scratch, rounds.seconds),
  growth: async () => {
    const sizes = [await generated(SIZES.small, told), await generated(SIZES.large, told)] as const;
    return benchGrowth(...sizes, scratch, { ...rounds, connections: 16 });
  },
  night: async () => {
    const night = await benchNight(config.DATA_DIR, args.dataset ?? 'places', scratch);
    if (night === null)
      told(`night: left out, ${config.DATA_DIR} has no cached sources; run \`npm run nightly\` first`);
    return night;
  },
  soak: async () => benchSoak(await subject(), scratch, Number(args.minutes)),
};

async function measure(part: PartName): Promise<Found<never> | null> {
  told(`\n== ${part}`);
  const result = await found<unknown>(rounds, RUN[part]);
  if (result.data === null) return null;
  console.log(`\n${render(part, result as Found<never>)}`);
  return result as Found<never>;
}

async function main(): Promise<void> {
  const unknown = parts.filter((part) => !(part in RUN) && !(part in APART) && part !== 'report');
  if (args.help || unknown.length > 0) {
    console.log(unknown.length > 0 ? `no such part: ${unknown.join(', ')}\n\n${USAGE}` : USAGE);
    process.exitCode = unknown.length > 0 ? 1 : 0;
    return;
  }
  console.log(machine());
  const results: Results = {};
  for (const part of parts) {
    const apart = APART[part];
    if (apart) spawnSync(process.execPath, [apart], { stdio: 'inherit' });
    if (!(part in RUN)) continue;
    const result = await measure(part as PartName);
    if (result !== null) results[part as PartName] = result;
  }
  if (!args.write) return;
  const document = join(import.meta.dirname, '../docs/performance.md');
  const all = parts.includes('report') ? readResults() : keepResults(results);
  writeFileSync(document, fillIn(readFileSync(document, 'utf8'), all));
}

try {
  await main();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
