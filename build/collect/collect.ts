// Collects one dataset: fetches its sources, runs the collector on their readings in order of time, and
// appends new facts.
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  type ColumnTypes,
  Duck,
  fromLines,
  fromParquet,
  quotedIdentifier,
  quotedText,
} from '../../data/duckdb/duck.ts';
import { copyText, LineWriter, NULL, readLines } from '../../data/duckdb/lines.ts';
import { flushAll, putInPlace, UNFINISHED } from '../../data/model/atomic.ts';
import { paths } from '../../data/model/layout.ts';
import { isoTime } from '../../data/model/time.ts';
import {
  allReadings,
  clearUnfinished,
  FACT_COLUMNS,
  listRuns,
  REGISTER_ATTRIBUTES,
  type ReadingRow,
  validFactsCondition,
  validReadings,
} from '../../data/write/facts.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Effects } from '../effects/effects.ts';
import { errorLine, Fetcher, prepare } from './fetch.ts';
import { type DatasetState, Observer, UnidentifiedRecords } from './observe.ts';
import { type Planned, type SourcePlan, sortReadings, without } from './plan.ts';
import { parkedFile, parkedLine, type RejectedValue } from './report.ts';
import { hash53, Records, SourceState } from './state.ts';

export interface Collected {
  /** Readings made by this run. */
  readings: number;
  /** Facts appended, the register's own included. */
  facts: number;
  /** Values that were rejected. */
  parked: number;
  /** Sources that could not be fetched or read, as sentences; the others were processed. */
  failures: string[];
  /** Sentences on data that did not become facts: rows left out, records listed twice, values parked. */
  reports: string[];
}

/**
 * Collects what is new in the sources of a pack. Appends only after all possible readings are made, so that a
 * killed run leaves nothing behind. Throws when files cannot be written, or when no new row identifies a
 * record.
 */
export async function collect(pack: Pack, dataDir: string, effects: Effects): Promise<Collected> {
  await mkdir(paths.facts(dataDir, pack.id), { recursive: true });
  await clearUnfinished(dataDir, pack.id);
  const work = join(paths.facts(dataDir, pack.id), `${UNFINISHED}run`);
  await mkdir(work, { recursive: true });
  const duck = await Duck.open(join(work, 'spill'));
  try {
    const made = await allReadings(duck, dataDir, pack.id);
    effects.progress.step(pack.id, 'fetch');
    const fetcher = new Fetcher(pack, dataDir, effects);
    const { plans, failures } = await prepare(pack, made, fetcher, dataDir, effects);
    return await readPlans({ pack, dataDir, effects, work, duck, made, fetcher }, plans, failures);
  } finally {
    duck.close();
    await clearUnfinished(dataDir, pack.id);
  }
}

interface Night {
  pack: Pack;
  dataDir: string;
  effects: Effects;
  work: string;
  duck: Duck;
  made: readonly ReadingRow[];
  fetcher: Fetcher;
}

/** Makes the readings. When one fails, all its facts are discarded: the others are made again without it. */
async function readPlans(night: Night, plans: SourcePlan[], failures: string[]): Promise<Collected> {
  const { pack, dataDir, effects, work, duck, made } = night;
  const readings = sortReadings(
    pack,
    plans.flatMap((plan) => plan.readings),
  );
  if (readings.length === 0) return { readings: 0, facts: 0, parked: 0, failures, reports: [] };
  effects.progress.step(pack.id, 'collect');
  const lines = new LineWriter(join(work, 'facts'));
  const observer = new Observer(pack, await recall(duck, dataDir, pack, made, plans, work), lines);
  for (const reading of readings) {
    try {
      await read(night, reading, observer);
    } catch (error) {
      lines.close();
      const { source, package: pkg, version } = reading;
      failures.push(`${source}: ${pkg}@${version} could not be read: ${unreadable(error, pack)}`);
      const rest = without(plans, new Set([reading]));
      // A collector that identifies no record in any new reading is a mistake of the pack, not an outage of a
      // source.
      if (error instanceof UnidentifiedRecords && rest.every((plan) => plan.readings.length === 0))
        throw new Error(failures.join('; '));
      return readPlans(night, rest, failures);
    }
  }
  lines.close();
  const run = await runId(dataDir, pack, readings, effects.now());
  effects.progress.step(pack.id, 'append facts');
  await append(duck, dataDir, work, run, { pack, plans, readings, made, facts: lines.path, parked: observer.parked });
  const { parked, parkedCount, skipped: left } = observer;
  const reports = [...left.lines(), ...parkedLine(parked, parkedCount, parkedFile(dataDir, pack.id, run))];
  return { readings: readings.length, facts: lines.lines, parked: parkedCount, failures, reports };
}

/** Why a reading failed, with the line of the pack, and advice for a collector that fetches. */
function unreadable(error: unknown, pack: Pack): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const line = stack
    .split('\n')
    .find((each) => each.includes(`/${basename(pack.folder)}/`))
    ?.match(/([\w.-]+\.ts:\d+)(?::\d+)?\)?$/)?.[1];
  const advice =
    errorLine(error) === 'fetch failed'
      ? '; a collector must read the files in reading.folder; list web pages as `crawl` of the source in pack.ts'
      : '';
  return `${errorLine(error)}${line === undefined ? '' : ` (${line})`}${advice}`;
}

async function read({ pack, effects, fetcher }: Night, reading: Planned, observer: Observer): Promise<void> {
  const folder = await fetcher.folder(reading);
  const { source, package: pkg, version, date_source } = reading;
  const readingInput = {
    source,
    package: pkg,
    version,
    date_source,
    folder,
    observed_at: isoTime(reading.observed_at),
  };
  const context = {
    folder: (other: string, wanted: string) => {
      const pins = pack.sources.flatMap(({ pins }) => pins);
      const pin = pins.find((each) => each.package === other && each.version === wanted);
      return pin ? fetcher.folder(pin) : Promise.reject(new Error(`${other}@${wanted} is not a pin of this pack`));
    },
    log: (text: string) => effects.progress.note(`${pack.id}: ${text}`),
  };
  observer.begin(reading);
  let records = 0;
  for await (const observed of pack.collector.read(readingInput, context)) {
    observer.take(observed);
    if (++records % 1000 === 0) effects.progress.at(records, null, `records of ${pkg}@${version}`);
  }
  observer.end();
}

/** Loads the last values of the sources to be read; a restarted source has none. */
async function recall(
  duck: Duck,
  dataDir: string,
  pack: Pack,
  made: readonly ReadingRow[],
  plans: readonly SourcePlan[],
  work: string,
): Promise<DatasetState> {
  const accounts = new Map(pack.sources.map(({ id }) => [id, new SourceState(pack.attributes.length)]));
  const known: DatasetState = { records: new Records(), named: new Set(), slugs: new Set(), accounts };
  const files = (await listRuns(dataDir, pack.id)).map(({ facts }) => facts);
  if (files.length === 0) return known;
  const facts = fromParquet(files, FACT_COLUMNS);
  const path = join(work, 'recalled');
  await duck.lines(
    `SELECT entity, value FROM ${facts} WHERE attribute = ${quotedText(REGISTER_ATTRIBUTES.slug)} ORDER BY entity`,
    path,
  );
  for (const line of readLines(path)) {
    const [id = '', slug = '""'] = line.split('\t');
    const entity = copyText(id);
    known.records.number(entity);
    known.named.add(entity);
    known.slugs.add(JSON.parse(slug) as string);
  }
  const columns = new Map(pack.attributes.map(({ name }, i) => [name, i]));
  for (const { source, restart, readings } of plans) {
    if (restart || readings.length === 0) continue;
    const account = accounts.get(source)!;
    const last =
      `SELECT entity, attribute, value FROM ${facts} WHERE source = ${quotedText(source)} AND source_kind = 'collector' ` +
      `AND ${validFactsCondition(made)} AND attribute NOT IN (${quotedText(REGISTER_ATTRIBUTES.slug)}, ${quotedText(REGISTER_ATTRIBUTES.identity)}) ` +
      'QUALIFY row_number() OVER (PARTITION BY entity, attribute ORDER BY observed_at DESC, run DESC) = 1';
    await duck.lines(last, path);
    for (const line of readLines(path)) {
      const [entity = '', attribute = '', text = NULL] = line.split('\t');
      const record = known.records.number(entity);
      if (attribute === REGISTER_ATTRIBUTES.listed) account.restoreListed(record, text === 'true');
      const column = columns.get(attribute);
      if (column !== undefined && text !== NULL) account.restore(record, column, hash53(text));
    }
  }
  return known;
}

interface News {
  pack: Pack;
  plans: readonly SourcePlan[];
  /** Ordered by time. */
  readings: readonly Planned[];
  made: readonly ReadingRow[];
  /** Path of the lines that the Observer wrote. */
  facts: string;
  parked: readonly RejectedValue[];
}

/** Columns of the Observer's lines: those of a fact without the ones that are constant in a run. */
const LINES: ColumnTypes = {
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
 * Id of a run: the time, then eight hex digits of the hash of its readings, so that equal inputs give equal
 * ids. Ids ascend: when the clock is not past the last run, the id takes the next millisecond after it.
 */
async function runId(dataDir: string, pack: Pack, readings: readonly Planned[], now: Date): Promise<string> {
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
 * Writes the files of a run and moves them into place. Sorted by record, so that a query for one record reads
 * little.
 */
async function append(duck: Duck, dataDir: string, work: string, run: string, news: News): Promise<void> {
  const folder = paths.facts(dataDir, news.pack.id);
  const facts = join(work, 'facts.parquet');
  const shown = Object.keys(LINES).map((name) =>
    name === 'observed_at' ? 'make_timestamp_ms(observed_at) AS observed_at' : quotedIdentifier(name),
  );
  await duck.parquet(
    `SELECT ${shown.join(', ')}, 'collector' AS source_kind, ${quotedText(run)} AS run FROM ${fromLines(news.facts, LINES)} ` +
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
  const began = new Map(validReadings(made).map(({ source, since }) => [source, since]));
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
