// A nightly run: every dataset in turn, then the static files. A dataset that fails keeps its last release
// and does not stop the others.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { setDuckMemory } from '../../data/duckdb/duck.ts';
import { UNFINISHED } from '../../data/model/atomic.ts';
import { paths } from '../../data/model/layout.ts';
import { lockNight } from '../../data/model/lock.ts';
import { currentRelease, readManifest } from '../../data/model/manifest.ts';
import { restrictDataDir } from '../../data/model/permissions.ts';
import { isoTime } from '../../data/model/time.ts';
import { trace, tracing } from '../../data/model/tracing.ts';
import { NightStateFile } from '../../data/releases/night-state.ts';
import { type OverlaySource, storedOverlays } from '../../data/releases/overlay-source.ts';
import { type NightlyRun, recordRun } from '../../data/releases/runs.ts';
import { signManifest } from '../../data/releases/signature.ts';
import { MailQueue } from '../../data/state/mail.ts';
import { openStore, type Store } from '../../data/state/store.ts';
import { nearestName } from '../../packs/define/mistakes.ts';
import type { Pack } from '../../packs/define/model.ts';
import { errorLine } from '../collect/report.ts';
import type { Effects } from '../effects/effects.ts';
import type { Progress } from '../effects/progress.ts';
import { compressPages } from '../hosting/compress.ts';
import { prerender } from '../static/prerender.ts';
import { lockFiles, publish } from '../static/publish.ts';
import { type DatasetNight, DatasetStopped, datasetNight } from './dataset.ts';
import { type Fleet, joinFleet } from './fleet.ts';
import { loadValidPacks } from './packs.ts';

/**
 * Most releases of a dataset that one rewrite builds before the pages: the number of immediate opt-outs an
 * hour.
 */
const ROUNDS = 20;

export interface RunOptions {
  /** Datasets to run; null: all. */
  only: readonly string[] | null;
  /** See NightOptions. */
  accept: boolean;
  /** No source is read: releases and files are built again from the stored facts and the current overlay. */
  rewrite?: boolean;
  /** False: static files are written only after a new release. */
  files?: boolean;
  /** Datasets whose run failed in this night, and which are tried again. */
  retries?: ReadonlySet<string>;
}

export interface NightReport {
  nights: DatasetNight[];
  /** All errors as sentences, which were shown as they occurred; empty: the night succeeded. */
  failures: string[];
}

/** `prises: no such pack; the packs are airports, prices; nearest: prices`. */
function noSuchPack(name: string, packs: readonly Pack[]): string {
  const ids = packs.map(({ id }) => id);
  const near = nearestName(name, ids);
  const listed = ids.length > 20 ? `${ids.slice(0, 20).join(', ')}, …` : ids.join(', ');
  return `${name}: no such pack; the packs are ${listed}${near === undefined ? '' : `; nearest: ${near}`}`;
}

/**
 * Runs the night. Throws LockedError while another run is in progress, here or on another machine.
 *
 * @example
 * ```ts
 * const { failures } = await runNight(config, effects, { only: ['airports'], accept: false });
 * ```
 */
export async function runNight(config: Config, effects: Effects, options: RunOptions): Promise<NightReport> {
  const unlock = lockNight(config.DATA_DIR);
  setDuckMemory(config.DUCKDB_MEMORY);
  let store: Store | null = null;
  let fleet: Fleet | null = null;
  let state: NightStateFile | null = null;
  try {
    restrictDataDir(config.DATA_DIR, effects.progress.warn);
    const wait = { seconds: config.DATABASE_WAIT_SECONDS, report: effects.progress.note };
    store = await openStore({ dataDir: config.DATA_DIR, databaseUrl: config.DATABASE_URL, wait });
    fleet = await joinFleet(config, store, effects.progress);
    const overlays = fleet?.overlays ?? storedOverlays(store);
    await clearSources(config.DATA_DIR);
    const { packs, broken, failures } = await loadValidPacks(config.PACK_DIRS);
    const { only } = options;
    const unknown = only?.filter((name) => !packs.some(({ id }) => id === name)) ?? [];
    for (const name of unknown) failures.push(noSuchPack(name, packs));
    for (const failure of failures) effects.progress.warn(failure);
    if (unknown.length > 0 && unknown.length === only?.length) return { nights: [], failures };
    const nights: DatasetNight[] = [];
    const selected = await smallestFirst(
      packs.filter(({ id }) => only === null || only.includes(id)),
      config.DATA_DIR,
    );
    const ids = selected.map(({ id }) => id);
    state = new NightStateFile(config.DATA_DIR, ids, isoTime(effects.now().getTime()));
    const shown = shownIn(effects.progress, state);
    const { progress, takeSteps } = withTimer(shown, effects.ticks);
    const alerts: string[] = [];
    const sign = signManifest.bind(null, store);
    const run = { config, effects: { ...effects, progress }, options, overlays, fleet, sign, takeSteps, alerts };
    for (const pack of selected) {
      const dataset = { 'register.dataset': pack.id };
      failures.push(...(await trace('nightly run', dataset, () => runDataset(run, pack, nights))));
      state.finish(pack.id, nights.find((night) => night.dataset === pack.id)?.outcome ?? 'failed');
    }
    // Pages are rendered for all datasets, also for those of other runs.
    for (const { id } of packs) if (!ids.includes(id)) await fleet?.fetch(id, false);
    if (alerts.length > 0)
      await alertOperators(config, store, alerts, effects).catch((error) => {
        failures.push(`alert to operators: ${errorLine(error)}`);
      });
    if (options.files === false && nights.every(({ outcome }) => outcome !== 'released')) return { nights, failures };
    try {
      const shownEffects = { ...effects, progress: shown };
      failures.push(...(await trace('static files', {}, () => render(config, packs, broken, overlays, shownEffects))));
    } catch (error) {
      const reason = `static files: ${errorLine(error)}`;
      effects.progress.warn(reason);
      failures.push(reason);
    }
    return { nights, failures };
  } finally {
    effects.progress.end();
    await fleet?.end();
    await store?.close();
    state?.end();
    unlock();
  }
}

/** What the datasets of a run share. */
interface DatasetRun {
  config: Config;
  effects: Effects;
  options: RunOptions;
  overlays: OverlaySource;
  fleet: Fleet | null;
  /** Signs the text of a manifest. */
  sign: (manifest: string) => Promise<string>;
  takeSteps: Timed['takeSteps'];
  /** Datasets that were refused or failed in a second night, as sentences. */
  alerts: string[];
}

/** Runs the night of one dataset and records it. Adds the night to `nights`; returns its failures as sentences. */
async function runDataset(run: DatasetRun, pack: Pack, nights: DatasetNight[]): Promise<string[]> {
  const { config, effects, options, overlays, fleet, sign, takeSteps, alerts } = run;
  const at = isoTime(effects.now().getTime());
  const record = async (result: Pick<NightlyRun, 'outcome' | 'release' | 'records' | 'messages'>) => {
    const { outcome, release, records, messages } = result;
    // The schedule counts only runs that collect.
    if (!options.rewrite) {
      const retry = options.retries?.has(pack.id) ?? false;
      const recorded = { at, ...takeSteps(), outcome, release, records, messages };
      const nights = await recordRun(config.DATA_DIR, pack.id, recorded, retry);
      if (nights === 2 && !retry) alerts.push(`${pack.id} ${outcome}: ${messages[0] ?? 'no reason is known'}`);
    }
    await fleet?.save(pack.id);
  };
  try {
    takeSteps();
    await fleet?.fetch(pack.id, true);
    const announce = fleet ? (release: string) => fleet.publish(pack.id, release) : undefined;
    const collects = !options.rewrite;
    const build = () =>
      datasetNight(pack, config.DATA_DIR, effects, {
        accept: options.accept,
        overlays,
        collects,
        publication: { announce, sign },
        keep: config.RELEASES_KEEP,
      });
    let night = await build();
    // Records may be opted out during a build. Exports wait only for the release, so it is built before the
    // pages.
    for (let round = 1; options.rewrite && night.outcome === 'released' && round < ROUNDS; round += 1) {
      const next = await build();
      if (next.outcome === 'unchanged') break;
      night = next;
    }
    nights.push(night);
    const refusal = night.outcome === 'refused' ? [`${pack.id}: refused: ${night.messages[0]}`] : [];
    await record(night);
    return [...night.failures.map((failure) => `${pack.id}: ${failure}`), ...refusal];
  } catch (error) {
    const stopped = error instanceof DatasetStopped ? error : null;
    const reasons = stopped?.mistakes ?? [errorLine(error)];
    if (stopped === null) effects.progress.warn(`${pack.id}: ${errorLine(error)}`);
    const release = await currentRelease(config.DATA_DIR, pack.id).catch(() => null);
    await record({ outcome: 'failed', release, records: 0, messages: stopped?.sentences ?? reasons }).catch(
      (failure: Error) => reasons.push(`the run was not recorded: ${failure.message}`),
    );
    return reasons.map((reason) => `${pack.id}: ${reason}`);
  }
}

/** Queues a mail to the operators about datasets that were refused or failed two nights in a row, if ALERT_EMAIL is set. */
async function alertOperators(
  config: Config,
  store: Store,
  alerts: readonly string[],
  { now, progress }: Effects,
): Promise<void> {
  const { ALERT_EMAIL: to, BASE_URL, DATA_DIR: dataDir, SMTP_URL: smtpUrl } = config;
  const text = `Two nights in a row without a good run:\n\n${alerts.join('\n\n')}\n\nThe last releases stay current. Details: ${BASE_URL}/ops/nights\n`;
  for (const alert of alerts) progress.warn(`second night without a good run: ${alert}`);
  if (to === undefined) return;
  const from = config.MAIL_FROM ?? `register@${new URL(BASE_URL).hostname}`;
  const queue = new MailQueue({ store, dataDir, smtpUrl, from, now, log: progress.warn });
  const subject = `Nightly runs need attention: ${new URL(BASE_URL).host}`;
  // The service sends what this run cannot.
  try {
    await queue.deliver(await queue.post(store.db, { to, subject, text }, now(), { to_operator: true }));
  } finally {
    await queue.close();
  }
}

/** Packs in the order of their builds: the one with the fewest records first, so that it is served early. */
async function smallestFirst(packs: readonly Pack[], dataDir: string): Promise<Pack[]> {
  const recordsOf = async ({ id, tests }: Pack): Promise<number> => {
    const release = await currentRelease(dataDir, id);
    const manifest =
      release === null ? null : await readManifest(paths.release(dataDir, id, release)).catch(() => null);
    return manifest?.records ?? tests.find(({ kind }) => kind === 'rows')?.min ?? Number.POSITIVE_INFINITY;
  };
  const sized = await Promise.all(packs.map(async (pack) => ({ pack, records: await recordsOf(pack) })));
  return sized.sort((a, b) => (a.records < b.records ? -1 : a.records > b.records ? 1 : 0)).map(({ pack }) => pack);
}

/** Renders and publishes the static files of the datasets that have a release. Returns the failures. */
async function render(
  config: Config,
  packs: Pack[],
  broken: string[],
  overlays: OverlaySource,
  effects: Effects,
): Promise<string[]> {
  const ids = await Promise.all(packs.map(({ id }) => currentRelease(config.DATA_DIR, id)));
  if (ids.every((id) => id === null)) return [];
  const writeAll = async () => {
    const report = await prerender({ config, packs, untouched: broken, overlays, effects });
    for (const failure of report.failures) effects.progress.warn(failure);
    effects.progress.step('register', 'publish');
    await publish(config.DIST_DIR, report);
    await compressPages(config.DIST_DIR, report.entries);
    return report;
  };
  // A removal rewrites files during a night, too.
  const unlock = await lockFiles(config.DIST_DIR);
  const made = await writeAll().finally(unlock);
  const { files, written, unchanged, deleted } = made;
  const count = (n: number) => n.toLocaleString('en-US');
  effects.progress.note(
    `static files: ${count(files)}; ${count(written)} written, ${count(unchanged)} unchanged, ${count(deleted)} deleted`,
  );
  return made.failures;
}

/** Removes unfinished downloads of killed runs. */
async function clearSources(dataDir: string): Promise<void> {
  const folder = paths.sources(dataDir);
  for (const name of await readdir(folder).catch(() => [] as string[])) {
    if (name.startsWith(UNFINISHED)) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Wraps a progress so that the service can show it. */
function shownIn(progress: Progress, state: NightStateFile): Progress {
  return {
    ...progress,
    step(dataset, step) {
      state.step(dataset, step);
      progress.step(dataset, step);
    },
    at(done, total, unit) {
      state.at(done, total, unit);
      progress.at(done, total, unit);
    },
  };
}

interface Timed {
  progress: Progress;
  /** Seconds of each step since the last call, and their sum. */
  takeSteps(): Pick<NightlyRun, 'steps' | 'seconds'>;
}

/** Wraps a progress so that it measures steps; `ticks` returns milliseconds. */
function withTimer(progress: Progress, ticks: () => number): Timed {
  let began = ticks();
  let steps: { step: string; from: number }[] = [];
  const seconds = (ms: number) => Math.round(ms) / 1000;
  return {
    progress: {
      ...progress,
      step(dataset, step) {
        steps.push({ step, from: ticks() });
        progress.step(dataset, step);
      },
    },
    takeSteps() {
      const now = ticks();
      const measured = steps.map(({ step, from }, i) => ({
        step,
        seconds: seconds((steps[i + 1]?.from ?? now) - from),
      }));
      const clock = Date.now() - now;
      for (const [i, { step, from }] of steps.entries())
        tracing()?.add(step, {}, clock + from, clock + (steps[i + 1]?.from ?? now));
      const all = seconds(now - began);
      steps = [];
      began = now;
      return { steps: measured, seconds: all };
    },
  };
}
