// Collects one dataset: fetches its sources, lets the collector read them in order of time, and appends the news as facts.
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Duck } from '../../data/duckdb/duck.ts';
import { LineWriter } from '../../data/duckdb/lines.ts';
import { UNFINISHED } from '../../data/model/atomic.ts';
import { paths } from '../../data/model/layout.ts';
import { isoTime } from '../../data/model/time.ts';
import { allReadings, clearUnfinished, type ReadingRow } from '../../data/write/facts.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Effects } from '../effects/effects.ts';
import { append, runId } from './append.ts';
import { Fetcher, message, prepare } from './fetch.ts';
import { Observer, Unidentified } from './observe.ts';
import { inOrder, type Planned, type SourcePlan, without } from './plan.ts';
import { recall } from './recall.ts';
import { parkedFile, parkedLine } from './told.ts';

export interface Collected {
  /** Readings made by this run. */
  readings: number;
  /** Facts appended, the register's own included. */
  facts: number;
  /** Values that could not be taken. */
  parked: number;
  /** Sources that could not be had or read, in words; the rest went on. */
  failures: string[];
  /** What of the readings did not become facts, in words: rows left out, records listed twice, values parked. */
  told: string[];
}

/**
 * Collects what is new in the sources of a pack. Nothing is appended until every reading that can be made is made, so a run that dies leaves
 * nothing behind. Throws only where nothing can be done: files that cannot be written, or no row of anything new that names a record.
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

/** Makes the readings. One that breaks off says nothing at all: the others are made again without it. */
async function readPlans(night: Night, plans: SourcePlan[], failures: string[]): Promise<Collected> {
  const { pack, dataDir, effects, work, duck, made } = night;
  const readings = inOrder(
    pack,
    plans.flatMap((plan) => plan.readings),
  );
  if (readings.length === 0) return { readings: 0, facts: 0, parked: 0, failures, told: [] };
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
      // A collector that understands nothing of what is new is a mistake of the pack, and not a source that is away for a night.
      if (error instanceof Unidentified && rest.every((plan) => plan.readings.length === 0))
        throw new Error(failures.join('; '));
      return readPlans(night, rest, failures);
    }
  }
  lines.close();
  const run = await runId(dataDir, pack, readings, effects.now());
  effects.progress.step(pack.id, 'append facts');
  await append(duck, dataDir, work, run, { pack, plans, readings, made, facts: lines.path, parked: observer.parked });
  const { parked, parkedCount, left } = observer;
  const told = [...left.lines(), ...parkedLine(parked, parkedCount, parkedFile(dataDir, pack.id, run))];
  return { readings: readings.length, facts: lines.lines, parked: parkedCount, failures, told };
}

/** Why a reading broke off, with the line of the pack where it did, and what to do instead of what no collector may. */
function unreadable(error: unknown, pack: Pack): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const line = stack
    .split('\n')
    .find((each) => each.includes(`/${basename(pack.folder)}/`))
    ?.match(/([\w.-]+\.ts:\d+)(?::\d+)?\)?$/)?.[1];
  const advice =
    message(error) === 'fetch failed'
      ? '; a collector reads the files of reading.folder, and pages on the web are named as `crawl` of the source in pack.ts'
      : '';
  return `${message(error)}${line === undefined ? '' : ` (${line})`}${advice}`;
}

async function read({ pack, effects, fetcher }: Night, reading: Planned, observer: Observer): Promise<void> {
  const folder = await fetcher.folder(reading);
  const { source, package: pkg, version, date_source } = reading;
  const asked = { source, package: pkg, version, date_source, folder, observed_at: isoTime(reading.observed_at) };
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
  for await (const observed of pack.collector.read(asked, context)) {
    observer.take(observed);
    if (++records % 1000 === 0) effects.progress.at(records, null, `records of ${pkg}@${version}`);
  }
  observer.end();
}
