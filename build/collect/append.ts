// Appends the news of a run to the facts of a dataset: two Parquet files, of which the second makes the first count.
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Columns, type Duck, fromLines, named, quoted } from '../../data/duckdb/duck.ts';
import { LineWriter } from '../../data/duckdb/lines.ts';
import { flushAll, putInPlace } from '../../data/model/atomic.ts';
import { paths } from '../../data/model/layout.ts';
import { listRuns, type ReadingRow, standingReadings } from '../../data/write/facts.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Planned, SourcePlan } from './plan.ts';
import { type Parked, parkedFile } from './told.ts';

export interface News {
  pack: Pack;
  plans: readonly SourcePlan[];
  /** In the order in which they were read. */
  readings: readonly Planned[];
  made: readonly ReadingRow[];
  /** Lines of facts, as the Observer writes them. */
  facts: string;
  parked: readonly Parked[];
}

/** Columns of the Observer's lines: those of a fact, but for what is the same in all of them. */
const LINES: Columns = {
  entity: 'VARCHAR',
  attribute: 'VARCHAR',
  value: 'VARCHAR',
  unit: 'VARCHAR',
  source: 'VARCHAR',
  source_url: 'VARCHAR',
  observed_at: 'BIGINT',
  confidence: 'DOUBLE',
  evidence: 'VARCHAR',
};

/**
 * Id of a run: the clock, then eight hex digits of what it read, so that the same inputs give the same run. Ids grow: a run whose clock is not
 * past the last one's takes the next millisecond.
 */
export async function runId(dataDir: string, pack: Pack, readings: readonly Planned[], now: Date): Promise<string> {
  const last = (await listRuns(dataDir, pack.id)).at(-1)?.run;
  const stamp = (at: number) => new Date(at).toISOString().replace(/[-:.]/g, '');
  const parse = (run: string) =>
    Date.parse(run.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z.*$/, '$1-$2-$3T$4:$5:$6.$7Z'));
  const at = last === undefined ? now.getTime() : Math.max(now.getTime(), parse(last) + 1);
  const hash = createHash('sha256')
    .update(JSON.stringify([pack.id, pack.revision, readings]))
    .digest('hex');
  return `${stamp(at)}-${hash.slice(0, 8)}`;
}

/** Writes the files of a run and puts them in place. Sorted by record, so that reading one record's facts reads little. */
export async function append(duck: Duck, dataDir: string, work: string, run: string, news: News): Promise<void> {
  const folder = paths.facts(dataDir, news.pack.id);
  const facts = join(work, 'facts.parquet');
  const shown = Object.keys(LINES).map((name) =>
    name === 'observed_at' ? 'make_timestamp_ms(observed_at) AS observed_at' : named(name),
  );
  await duck.parquet(
    `SELECT ${shown.join(', ')}, 'collector' AS source_kind, ${quoted(run)} AS run FROM ${fromLines(news.facts, LINES)} ` +
      'ORDER BY entity, attribute, observed_at, source, value',
    facts,
  );
  const readings = join(work, 'readings.parquet');
  await writeReadings(duck, join(work, 'readings'), readings, run, news);
  if (news.parked.length > 0) {
    const lines = news.parked.map((each) => `${JSON.stringify(each)}\n`);
    const parked = parkedFile(dataDir, news.pack.id, run);
    await writeFile(parked, lines.join(''));
    await flushAll(parked);
  }
  await putInPlace(facts, join(folder, `${run}.facts.parquet`));
  await putInPlace(readings, join(folder, `${run}.readings.parquet`));
}

async function writeReadings(duck: Duck, lines: string, path: string, run: string, news: News): Promise<void> {
  const { pack, plans, made } = news;
  const restarted = new Set(plans.filter(({ restart }) => restart).map(({ source }) => source));
  const began = new Map(standingReadings(made).map(({ source, since }) => [source, since]));
  const writer = new LineWriter(lines);
  for (const { source, package: pkg, version, integrity, observed_at, date_source } of news.readings) {
    const since = restarted.has(source) ? run : (began.get(source) ?? run);
    writer.line([source, pkg, version, integrity, pack.revision, observed_at, date_source, run, since].join('\t'));
  }
  writer.close();
  const columns = {
    source: 'VARCHAR',
    package: 'VARCHAR',
    version: 'VARCHAR',
    integrity: 'VARCHAR',
    revision: 'INTEGER',
    confirmed_at: 'BIGINT',
    date_source: 'VARCHAR',
    run: 'VARCHAR',
    since: 'VARCHAR',
  };
  const shown = Object.keys(columns).map((name) =>
    name === 'confirmed_at' ? 'make_timestamp_ms(confirmed_at) AS confirmed_at' : name,
  );
  await duck.parquet(`SELECT ${shown.join(', ')} FROM ${fromLines(lines, columns)}`, path);
}
