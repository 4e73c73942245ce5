// Writes what a run found: its facts, its readings and the values that it rejected.
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ColumnTypes,
  type Duck,
  fromLines,
  fromParquet,
  quotedIdentifier,
  quotedText,
} from '../../data/duckdb/duck.ts';
import { LineWriter, NULL } from '../../data/duckdb/lines.ts';
import { flushAll, putInPlace } from '../../data/model/atomic.ts';
import { paths } from '../../data/model/layout.ts';
import {
  FACT_COLUMNS,
  listRuns,
  pendingReadings,
  READING_COLUMNS,
  type ReadingRow,
  rejectedValues,
  removePending,
  validFactsCondition,
  validReadings,
} from '../../data/write/facts.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Planned, SourcePlan } from './plan.ts';
import type { RejectedValue } from './report.ts';
import { jsonText } from './sentences.ts';

/** What a run appends. */
export interface News {
  pack: Pack;
  plans: readonly SourcePlan[];
  /** Ordered by time. */
  readings: readonly Planned[];
  /** Pending readings that the run does not contain. */
  dropped: readonly ReadingRow[];
  made: readonly ReadingRow[];
  /** Path of the lines that the Observer wrote. */
  facts: string;
  rejected: readonly RejectedValue[];
}

/** Columns of the Observer's lines: those of a fact without the ones that are constant in a run. */
const { source_kind: _kind, run: _run, ...VARYING } = FACT_COLUMNS;
const LINES: ColumnTypes = { ...VARYING, observed_at: 'BIGINT' };

/**
 * Id of a run: the time, then eight hex digits of the hash of its readings, so that equal inputs give equal
 * ids. Ids ascend: when the clock is not past the last run, the id takes the next millisecond after it.
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

/**
 * Writes the files of a run and moves them into place, as a pending run that replaces the last one. Sorted by record, so
 * that a query for one record reads little.
 */
export async function append(duck: Duck, dataDir: string, work: string, run: string, news: News): Promise<void> {
  const folder = paths.facts(dataDir, news.pack.id);
  const facts = join(work, 'facts.parquet');
  const shown = Object.keys(LINES).map((name) =>
    name === 'observed_at' ? 'make_timestamp_ms(observed_at) AS observed_at' : quotedIdentifier(name),
  );
  const rows = await newFacts(dataDir, news);
  await duck.parquet(
    `SELECT ${shown.join(', ')}, 'collector' AS source_kind, ${quotedText(run)} AS run FROM ${rows} ` +
      'ORDER BY entity, attribute, observed_at, source, value',
    facts,
  );
  const readings = join(work, 'readings.parquet');
  await writeReadings(duck, join(work, 'readings'), readings, run, news);
  await writeRejected(rejectedValues(dataDir, news.pack.id, run), news.rejected);
  await putInPlace(facts, join(folder, `${run}.facts.parquet`));
  await putInPlace(readings, pendingReadings(dataDir, news.pack.id, run));
  await removePending(dataDir, news.pack.id, run);
}

/**
 * The facts of a run as a query. Rows with their own times are facts each time they are read: those that are
 * stored, and repeated ones, are left out.
 */
async function newFacts(dataDir: string, { pack, plans, readings, made, facts }: News): Promise<string> {
  const lines = fromLines(facts, LINES);
  const timed = new Set(readings.filter(({ date_source }) => date_source === 'rows').map(({ source }) => source));
  if (timed.size === 0) return lines;
  const list = (sources: Iterable<string>) => [...sources].map(quotedText).join(', ');
  const first = `row_number() OVER (PARTITION BY source, entity, attribute, observed_at, value ORDER BY evidence) = 1`;
  const lastRows = `SELECT * FROM ${lines} QUALIFY source NOT IN (${list(timed)}) OR ${first}`;
  const kept = plans.filter(({ source, restart }) => timed.has(source) && !restart).map(({ source }) => source);
  const files = (await listRuns(dataDir, pack.id)).map((run) => run.facts);
  if (kept.length === 0 || files.length === 0) return `(${lastRows})`;
  const stored =
    `SELECT entity, attribute, source, value, epoch_ms(observed_at) AS observed_at FROM ${fromParquet(files, FACT_COLUMNS)} ` +
    `WHERE source IN (${list(kept)}) AND ${validFactsCondition(made)}`;
  return (
    `(SELECT * FROM (${lastRows}) AS row WHERE NOT EXISTS (SELECT 1 FROM (${stored}) AS old WHERE old.source = row.source ` +
    'AND old.entity = row.entity AND old.attribute = row.attribute AND old.observed_at = row.observed_at ' +
    'AND old.value IS NOT DISTINCT FROM row.value))'
  );
}

/** Writes the rejected values, a line of JSON each; no file when there are none. */
export async function writeRejected(path: string, rejected: readonly RejectedValue[]): Promise<void> {
  if (rejected.length === 0) return;
  await writeFile(path, rejected.map((rejectedValue) => `${jsonText(rejectedValue)}\n`).join(''));
  await flushAll(path);
}

async function writeReadings(duck: Duck, lines: string, path: string, run: string, news: News): Promise<void> {
  const { pack, plans, made } = news;
  const restarted = new Set(plans.filter(({ restart }) => restart).map(({ source }) => source));
  const began = new Map(validReadings(made).map(({ source, since }) => [source, since]));
  const writer = new LineWriter(lines);
  for (const { source, package: pkg, version, integrity, observed_at, date_source } of news.readings) {
    const since = restarted.has(source) ? run : (began.get(source) ?? run);
    writer.line([source, pkg, version, integrity, pack.revision, observed_at, date_source, run, since].join('\t'));
  }
  for (const { source, package: pkg, version, integrity, revision, confirmed_at, date_source } of news.dropped)
    writer.line([source, pkg, version, integrity, revision, confirmed_at, date_source, run, NULL].join('\t'));
  writer.close();
  const columns = { ...READING_COLUMNS, confirmed_at: 'BIGINT' };
  const shown = Object.keys(columns).map((name) =>
    name === 'confirmed_at' ? 'make_timestamp_ms(confirmed_at) AS confirmed_at' : name,
  );
  await duck.parquet(`SELECT ${shown.join(', ')} FROM ${fromLines(lines, columns)}`, path);
}
