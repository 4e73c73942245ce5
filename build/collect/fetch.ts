// Fetches the sources of a dataset before its readings begin: pins a few at a time, then the newest version.
import { type ReadingRow, validReadings } from '../../data/write/facts.ts';
import type { Crawl, Pack, Source } from '../../packs/define/model.ts';
import { crawlPackage, crawlSource } from '../crawl/source.ts';
import type { Effects } from '../effects/effects.ts';
import { storeDeclared } from './declared.ts';
import {
  type EarlierReadings,
  isFixed,
  isNews,
  lostVersions,
  olderThanCollected,
  type Planned,
  planPins,
  type SourcePlan,
  timedRows,
  without,
  withoutDropped,
} from './plan.ts';
import { within } from './pull.ts';
import { errorLine } from './report.ts';
import { obtain, type PackageVersion } from './sources.ts';

/** Tarballs fetched in parallel. */
const AT_ONCE = 3;

/** Fetches each version once, whatever the number of callers. */
export class Fetcher {
  readonly #pack: Pack;
  readonly #dataDir: string;
  readonly #effects: Effects;
  readonly #folders = new Map<string, Promise<string>>();

  constructor(pack: Pack, dataDir: string, effects: Effects) {
    this.#pack = pack;
    this.#dataDir = dataDir;
    this.#effects = effects;
  }

  folder(wanted: PackageVersion): Promise<string> {
    const key = `${wanted.package}@${wanted.version} ${wanted.integrity}`;
    const pending = this.#folders.get(key);
    if (pending !== undefined) return pending;
    const folder = obtain(this.#effects.npm, this.#dataDir, this.#pack, wanted);
    this.#folders.set(key, folder);
    // Callers handle the rejection; an unawaited one must not end the process.
    folder.catch(() => undefined);
    return folder;
  }
}

/** The readings that can be made. */
export interface Readiness {
  plans: SourcePlan[];
  /** Pins that could not be fetched, as sentences: the run ends with a failure. */
  failures: string[];
  /** Newest versions and crawls that were not available, or are older than what was collected, as sentences. */
  warnings: string[];
  /** Sentences on declared sources: columns that nothing reads. */
  notes: string[];
}

/**
 * Plans a dataset's readings and fetches their sources. A failed source is reported, and the others are still
 * read.
 */
export async function prepare(
  pack: Pack,
  earlier: EarlierReadings,
  fetcher: Fetcher,
  dataDir: string,
  effects: Effects,
): Promise<Readiness> {
  const { made, dropped } = earlier;
  const failures: string[] = [];
  const warnings: string[] = [];
  const notes: string[] = [];
  const stored = await storeDeclared(pack, dataDir, effects, { failures, notes, earlier });
  const pins = planPins(withoutDropped(stored, dropped), made);
  notes.push(...lostVersions(pins, made));
  const wanted = pins.flatMap(({ readings }) => readings);
  const failed = new Set<Planned>();
  let done = 0;
  await forEach(wanted, AT_ONCE, async (reading) => {
    try {
      await fetcher.folder(reading);
    } catch (error) {
      failed.add(reading);
      const sentence = `${reading.source}: ${reading.package}@${reading.version}: ${errorLine(error)}`;
      (isFixed(pack, reading) ? failures : warnings).push(sentence);
    }
    effects.progress.at(++done, wanted.length, `sources, ${reading.package}@${reading.version}`);
  });
  const plans = without(pins, failed);
  for (const source of pack.sources) {
    if (source.newest === null) continue;
    try {
      const newest = await findNewest(pack, source, source.newest, made, fetcher, effects);
      if (newest === null) continue;
      if (typeof newest === 'string') {
        warnings.push(newest);
        continue;
      }
      const plan = plans.find((sourcePlan) => sourcePlan.source === source.id)!;
      plan.readings = [...plan.readings, newest];
      if (plan.otherwise !== null) plan.otherwise = [...plan.otherwise, newest];
    } catch (error) {
      warnings.push(`${source.id}: newest of ${source.newest}: ${errorLine(error)}`);
    }
  }
  for (const { id, crawl } of pack.sources) {
    if (crawl === null) continue;
    try {
      const planned = await look(pack, id, crawl, dataDir, effects);
      const plan = plans.find(({ source }) => source === id)!;
      plan.readings = [...plan.readings, planned];
      if (plan.otherwise !== null) plan.otherwise = [...plan.otherwise, planned];
    } catch (error) {
      warnings.push(`${id}: ${errorLine(error)}`);
    }
  }
  return { plans, failures, warnings, notes };
}

/**
 * Crawls the pages of a source and returns the reading. An unchanged source gives a reading too, since it
 * confirms values.
 */
async function look(pack: Pack, source: string, crawl: Crawl, dataDir: string, effects: Effects): Promise<Planned> {
  const web = await effects.web(dataDir);
  try {
    const follow = (url: string, body: Buffer) => pack.collector.follow?.({ source, url, body }) ?? [];
    const progress = (done: number, total: number) => effects.progress.at(done, total, `pages of ${source}`);
    const work = { dataDir, dataset: pack.id, source, crawl, follow, progress };
    const { version, observed_at } = await crawlSource(web, work);
    const named = { source, package: crawlPackage(source), version, integrity: version };
    return { ...named, observed_at: Date.parse(observed_at), date_source: 'crawl' };
  } finally {
    await web.close();
  }
}

/**
 * The newest version of a package as a reading; null when it is not new, a warning when it is older than what
 * was collected. Its date is the data's, else the registry's, and never later than now.
 */
async function findNewest(
  pack: Pack,
  described: Source,
  pkg: string,
  made: readonly ReadingRow[],
  fetcher: Fetcher,
  effects: Effects,
): Promise<Planned | string | null> {
  const { id: source, timeout_minutes } = described;
  const { version, integrity, published } = await effects.npm.newest(pkg);
  const candidate = { source, package: pkg, version, integrity };
  if (!isNews(pack, validReadings(made), candidate)) return null;
  const folder = await fetcher.folder(candidate);
  const inside = (await within(timeout_minutes, 'observedAt', pack.collector.observedAt?.(folder))) ?? null;
  const now = effects.now().getTime();
  const time = Math.min(Date.parse(inside ?? published ?? effects.now().toISOString()), now);
  if (Number.isNaN(time)) throw new Error(`${pkg}@${version} has an invalid date: ${inside ?? published}`);
  const date_source = timedRows(described) ? 'rows' : inside === null ? 'registry' : 'data';
  const reading: Planned = { ...candidate, observed_at: time, date_source };
  return isNews(pack, made, reading) ? reading : olderThanCollected(made, reading);
}

async function forEach<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
