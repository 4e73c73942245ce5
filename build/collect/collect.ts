// Collects one dataset: fetches its sources, runs the collector on their readings in order of time, and
// appends new facts.
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Duck, fromParquet, quotedText } from '../../data/duckdb/duck.ts';
import { copyText, LineWriter, NULL, readLines } from '../../data/duckdb/lines.ts';
import { UNFINISHED } from '../../data/model/atomic.ts';
import { collectGarbage } from '../../data/model/heap.ts';
import { paths } from '../../data/model/layout.ts';
import { isoTime } from '../../data/model/time.ts';
import {
  clearUnfinished,
  FACT_COLUMNS,
  listRuns,
  pendingRuns,
  REGISTER_ATTRIBUTES,
  type ReadingRow,
  readRuns,
  rejectedValues,
  validFactsCondition,
} from '../../data/write/facts.ts';
import { comparedText } from '../../packs/define/digits.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Effects } from '../effects/effects.ts';
import { type DeclaringSource, declares } from '../sources/rows.ts';
import { removeReplaced, removeVersions, storedVersions, versionsFolder } from '../sources/store.ts';
import { append, runId, writeRejected } from './append.ts';
import type { Balance } from './balance.ts';
import { declaredObservations, isStored, sourceContext } from './declared.ts';
import { Fetcher, prepare } from './fetch.ts';
import { type DatasetState, Observer } from './observe.ts';
import { lineInStack } from './pack-lines.ts';
import {
  droppedLine,
  droppedReadings,
  type EarlierReadings,
  futurePins,
  isFixed,
  type Planned,
  readingName,
  type SourcePlan,
  sortReadings,
  without,
  withPending,
} from './plan.ts';
import { pull, StalledError } from './pull.ts';
import { errorLine, type RunReport, stoppedValues } from './report.ts';
import { lineInFile } from './sentences.ts';
import { hash53, Records, SourceState } from './state.ts';

export interface Collected {
  /** Readings made by this run. */
  readings: number;
  /** Facts appended, the register's own included. */
  facts: number;
  /** Values that were rejected. */
  rejected: number;
  /** Pins that could not be fetched, as sentences: the others were processed, and the run ends with a failure. */
  failures: string[];
  /** Newest versions and crawls that were not available or could not be read, as sentences. */
  warnings: string[];
  /** Sentences on data that did not become facts: rows left out, records listed twice, values rejected. */
  reports: string[];
  /** Id of the pending run, which a release must publish; absent: nothing was appended. */
  run?: string;
  /** What became of the cells of the declared sources. */
  balances?: ReadonlyMap<string, Balance>;
  /** Mistakes that did not stop the run, because of `ignoreMistakes`; they are in `reports` too. */
  ignored?: number;
  /** Lines that the collector wrote with `context.log`; they were shown when they were written. */
  logs: string[];
}

export interface CollectOptions {
  /** A complete source may list any number of records fewer than at its last reading. */
  accept?: boolean;
  /** Mistakes are reports, and the facts without them are appended: to show what a pack gives so far. */
  ignoreMistakes?: boolean;
}

/** Mistakes in the readings of a run: nothing was appended. */
export class CollectionStopped extends Error {
  /** Every mistake, as a sentence. */
  readonly mistakes: string[];
  readonly collected: Omit<Collected, 'readings' | 'facts'>;
  constructor(mistakes: string[], collected: Omit<Collected, 'readings' | 'facts'>) {
    super(mistakes.join('; '));
    this.mistakes = mistakes;
    this.collected = collected;
  }
}

/**
 * Collects what is new in the sources of a pack. Appends only after all possible readings are made, so that a
 * killed run leaves nothing behind. Throws CollectionStopped with every mistake that was found in the readings,
 * and when files cannot be written.
 *
 * @example
 * ```ts
 * const { facts, rejected, warnings } = await collect(pack, 'data/var', realEffects(undefined, identity));
 * ```
 */
export async function collect(
  pack: Pack,
  dataDir: string,
  effects: Effects,
  { accept = false, ignoreMistakes = false }: CollectOptions = {},
): Promise<Collected> {
  await mkdir(paths.facts(dataDir, pack.id), { recursive: true });
  await clearUnfinished(dataDir, pack.id);
  const work = join(paths.facts(dataDir, pack.id), `${UNFINISHED}run`);
  await mkdir(work, { recursive: true });
  const duck = await Duck.open(join(work, 'spill'));
  const notes: string[] = [];
  try {
    const earlier = await earlierReadings(duck, dataDir, pack.id);
    effects.progress.step(pack.id, 'fetch');
    const fetcher = new Fetcher(pack, dataDir, effects);
    const { plans, failures, warnings, notes: planNotes } = await prepare(pack, earlier, fetcher, dataDir, effects);
    notes.push(...planNotes);
    const logs = new Set<string>();
    const night = {
      pack,
      dataDir,
      effects,
      work,
      duck,
      earlier,
      fetcher,
      failures,
      warnings,
      logs,
      accept,
      ignoreMistakes,
    };
    const collected = await readPlans(night, plans, earlier.pending);
    for (const { id } of pack.sources.filter(isStored)) await removeReplaced(versionsFolder(dataDir, pack.id, id));
    return { ...collected, reports: [...notes, ...collected.reports] };
  } catch (error) {
    if (error instanceof CollectionStopped) error.collected.reports.unshift(...notes);
    // The error of the run matters more than one of cleaning up after it, such as a full disk.
    await discardUnread(pack, dataDir, duck).catch(() => undefined);
    throw error;
  } finally {
    duck.close();
    await clearUnfinished(dataDir, pack.id);
  }
}

async function earlierReadings(duck: Duck, dataDir: string, dataset: string): Promise<EarlierReadings> {
  const published = await readRuns(duck, await listRuns(dataDir, dataset));
  const pending = await readRuns(duck, await pendingRuns(dataDir, dataset));
  return {
    made: published.readings,
    pending: pending.readings,
    dropped: [...published.dropped, ...pending.dropped],
  };
}

/** Removes stored versions of declared sources that became no reading, so that a corrected file is read. */
async function discardUnread(pack: Pack, dataDir: string, duck: Duck): Promise<void> {
  const { made, pending, dropped } = await earlierReadings(duck, dataDir, pack.id);
  const rows = [...made, ...pending, ...dropped];
  for (const source of pack.sources.filter(isStored)) {
    const folder = versionsFolder(dataDir, pack.id, source.id);
    const unread = (await storedVersions(folder)).filter(
      ({ version }) => !rows.some((row) => row.source === source.id && row.version === version),
    );
    await removeVersions(
      folder,
      unread.map(({ version }) => version),
    );
  }
}

interface Night {
  pack: Pack;
  dataDir: string;
  effects: Effects;
  work: string;
  duck: Duck;
  earlier: EarlierReadings;
  fetcher: Fetcher;
  failures: string[];
  warnings: string[];
  /** Lines of the collector, each with its reading, so that a repeated reading does not repeat them. */
  logs: Set<string>;
  accept: boolean;
  ignoreMistakes: boolean;
}

/**
 * Makes the readings. A pin that cannot be read is a mistake, and the others are read for their mistakes. When
 * another reading fails, such as a newest version, all its facts are discarded: the others are made again
 * without it. `pending`: the pending readings that may be made again.
 */
async function readPlans(night: Night, sources: SourcePlan[], pending: readonly ReadingRow[]): Promise<Collected> {
  const { pack, dataDir, effects, work, duck, earlier, failures, warnings, logs } = night;
  const { made } = earlier;
  const plans = withPending(sources, made, pending);
  const readings = sortReadings(
    pack,
    plans.flatMap((plan) => plan.readings),
  );
  const future = futurePins(pack, effects.now());
  const nothing = { rejected: 0, failures, warnings, reports: [], logs: [...logs] };
  if (readings.length === 0 && future.length > 0) throw new CollectionStopped(future, nothing);
  if (readings.length === 0) return { readings: 0, facts: 0, ...nothing };
  effects.progress.step(pack.id, 'collect');
  const lines = new LineWriter(join(work, 'facts'));
  const observed = await observe(night, plans, readings, lines);
  lines.close();
  if ('failed' in observed) {
    const { failed } = observed;
    const others = pending.filter(({ source, version }) => source !== failed.source || version !== failed.version);
    return readPlans(night, without(sources, new Set([failed])), others);
  }
  // The state of all sources, which is no longer needed: 0.5 GB for 4 million facts.
  collectGarbage();
  const { report, balances } = observed;
  const mistakes = [...future, ...report.mistakes()];
  const collected = { rejected: report.rejectedCount, failures, warnings, logs: [...logs] };
  if (mistakes.length > 0 && !night.ignoreMistakes) {
    const file = stoppedValues(dataDir, pack.id);
    await mkdir(dirname(file), { recursive: true });
    await writeRejected(file, report.rejected);
    throw new CollectionStopped(mistakes, { ...collected, reports: report.reports(file), balances });
  }
  const run = await runId(dataDir, pack, readings, effects.now());
  effects.progress.step(pack.id, 'append facts');
  const { rejected } = report;
  const dropped = droppedReadings(earlier.pending, readings);
  // A newest version or a crawl is not planned again; without a published reading, a source may return to a version.
  const replaced = [
    ...earlier.dropped.filter((row) => !made.some((reading) => reading.run === row.run)),
    ...dropped.filter((row) => isFixed(pack, row) && made.some(({ source }) => source === row.source)),
  ];
  await append(duck, dataDir, work, run, {
    pack,
    plans,
    readings,
    dropped: replaced,
    made,
    facts: lines.path,
    rejected,
  });
  const reports = [...mistakes, ...droppedLine(dropped), ...report.reports(rejectedValues(dataDir, pack.id, run))];
  const added = { readings: readings.length, facts: lines.lines, run };
  return { ...added, ...collected, reports, balances, ignored: mistakes.length };
}

/**
 * Makes the readings, whose facts become lines; returns the report on them, or the reading without which they are
 * made again.
 */
async function observe(
  night: Night,
  plans: readonly SourcePlan[],
  readings: readonly Planned[],
  lines: LineWriter,
): Promise<{ report: RunReport; balances: ReadonlyMap<string, Balance> } | { failed: Planned }> {
  const { pack, dataDir, effects, work, duck, earlier, warnings } = night;
  const options = { now: effects.now(), acceptDrops: night.accept };
  const observer = new Observer(pack, await recall(duck, dataDir, pack, earlier.made, plans, work), lines, options);
  for (const reading of readings) {
    try {
      await read(night, reading, observer);
    } catch (error) {
      const sentence = `${readingName(reading)} could not be read: ${unreadable(error, pack)}`;
      if (!isFixed(pack, reading)) {
        warnings.push(`${reading.source}: ${sentence}`);
        return { failed: reading };
      }
      observer.abandon(sentence);
      // The other readings would hang for the same time.
      if (error instanceof StalledError) break;
    }
  }
  return { report: observer.report, balances: observer.balances };
}

/** Why a reading failed, with the line of the pack, and advice for a collector that fetches. */
function unreadable(error: unknown, pack: Pack): string {
  const advice =
    errorLine(error) === 'fetch failed'
      ? '; a collector must read the files in reading.folder; list web pages as `crawl` of the source in pack.ts'
      : '';
  return `${errorLine(error)}${lineInFile(lineInStack(pack.folder, error))}${advice}`;
}

/** The rows of a declared source with typed values; what cannot be read is reported to the observer. */
function declaredRows({ pack, dataDir, effects }: Night, source: DeclaringSource, folder: string, observer: Observer) {
  const rows = { folder, stored: isStored(source) };
  return declaredObservations(pack, source, rows, sourceContext(pack, dataDir, effects), observer);
}

/** Most lines of a collector in the run log. */
const MOST_LOGS = 1000;

async function read(night: Night, reading: Planned, observer: Observer): Promise<void> {
  const { pack, effects, fetcher, logs } = night;
  observer.begin(reading);
  const folder = await fetcher.folder(reading);
  const declared = pack.sources.filter(declares).find(({ id }) => id === reading.source);
  const { source, package: pkg, version, date_source } = reading;
  const readingInput = {
    source,
    package: pkg,
    version,
    date_source,
    folder,
    observed_at: isoTime(reading.observed_at),
    ...(declared === undefined ? {} : { rows: declaredRows(night, declared, folder, observer) }),
  };
  const context = {
    folder: (other: string, wanted: string) => {
      const pins = pack.sources.flatMap(({ pins }) => pins);
      const pin = pins.find((candidate) => candidate.package === other && candidate.version === wanted);
      return pin ? fetcher.folder(pin) : Promise.reject(new Error(`${other}@${wanted} is not a pin of this pack`));
    },
    log: (text: string) => {
      const line = `${source}: ${readingName(reading)}: ${text}`;
      if (logs.has(line)) return;
      effects.progress.note(`${pack.id}: ${line}`);
      if (logs.size < MOST_LOGS) logs.add(line);
    },
  };
  let records = 0;
  const { timeout_minutes } = pack.sources.find(({ id }) => id === source)!;
  await pull(pack.collector.read(readingInput, context), timeout_minutes * 60_000, (observed) => {
    observer.take(observed);
    if (++records % 1000 === 0) effects.progress.at(records, null, `records of ${readingName(reading)}`);
    return records !== effects.row_limit;
  });
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
  const datasetState: DatasetState = { records: new Records(), named: new Set(), slugs: new Set(), accounts };
  const files = (await listRuns(dataDir, pack.id)).map(({ facts }) => facts);
  if (files.length === 0) return datasetState;
  const facts = fromParquet(files, FACT_COLUMNS);
  const path = join(work, 'recalled');
  await duck.lines(
    `SELECT entity, value FROM ${facts} WHERE attribute = ${quotedText(REGISTER_ATTRIBUTES.slug)} ORDER BY entity`,
    path,
  );
  for (const line of readLines(path)) {
    const [id = '', slug = '""'] = line.split('\t');
    const entity = copyText(id);
    datasetState.records.number(entity);
    datasetState.named.add(entity);
    datasetState.slugs.add(JSON.parse(slug) as string);
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
      const record = datasetState.records.number(entity);
      if (attribute === REGISTER_ATTRIBUTES.listed) account.restoreListed(record, text === 'true');
      const column = columns.get(attribute);
      if (column === undefined || text === NULL) continue;
      account.restore(record, column, hash53(comparedText(pack.attributes[column]!, text)));
    }
  }
  return datasetState;
}
