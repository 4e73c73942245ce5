// `npm run nightly -- --daemon`: runs each dataset on its schedule and catches up on missed runs.
import { setTimeout } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import { paths } from '../../data/model/layout.ts';
import { LockedError } from '../../data/model/lock.ts';
import { currentRelease, readManifest } from '../../data/model/manifest.ts';
import { rebuildDue } from '../../data/plan/overlay.ts';
import { lastRuns, type NightlyRun } from '../../data/releases/runs.ts';
import { readOverlay } from '../../data/state/overlay.ts';
import { openStore } from '../../data/state/store.ts';
import { packFolders } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { nextRun, parseSchedule } from '../../packs/define/schedule.ts';
import { errorLine } from '../collect/report.ts';
import type { Effects } from '../effects/effects.ts';
import { fetchLogsOfOthers } from './fleet.ts';
import { goodPacks } from './packs.ts';
import { rewriteDatasets } from './rewrite.ts';
import { runNight } from './run.ts';

/**
 * A dataset whose run failed is retried after an hour, or on its schedule if that is earlier. Milliseconds.
 */
const AGAIN = 3_600_000;
/**
 * Longest sleep, in milliseconds: the clock may be set, packs may change, another process may have run the
 * dataset.
 */
const LOOK = 60_000;

export interface DaemonOptions {
  /** Ends the daemon; a night in progress is finished first. */
  signal: AbortSignal;
  /** Waits for a number of milliseconds, or until the signal. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Runs until the signal. Of two daemons on one DATA_DIR one works, and the other finds the work done. Throws
 * PackDirsError when PACK_DIRS has no pack at the start; later it waits for one.
 */
export async function runDaemon(config: Config, effects: Effects, { signal, wait }: DaemonOptions): Promise<void> {
  const { progress, now } = effects;
  await packFolders(config.PACK_DIRS);
  let lastNote = '';
  const rewritten = new Map<string, number>();
  while (!signal.aborted) {
    let pause = LOOK;
    try {
      await fetchLogsOfOthers(config, effects);
      const due = await dueNow(config.DATA_DIR, await goodPacks(config.PACK_DIRS), now());
      if (due.ids.length > 0) {
        await runNight(config, effects, { only: due.ids, accept: false, retries: due.retries });
        lastNote = '';
        continue;
      }
      const outdated = await outdatedDatasets({ config, now: now() }, rewritten);
      if (outdated.size > 0) {
        const only = [...outdated.keys()];
        progress.note(`removals and edits: ${only.join(', ')} will be built again`);
        await rewriteDatasets(config, effects, only);
        for (const [id, version] of outdated) rewritten.set(id, version);
        continue;
      }
      if (due.next !== null) {
        const next = due.next.toISOString();
        if (lastNote !== next) progress.note(`next collection ${next}`);
        lastNote = next;
        pause = due.next.getTime() - now().getTime();
      }
    } catch (error) {
      // The cause may be temporary, such as a full disk or packs that are being replaced, so the loop
      // continues.
      const reason = errorLine(error);
      if (lastNote !== reason) (error instanceof LockedError ? progress.note : progress.warn)(reason);
      lastNote = reason;
    }
    await wait(Math.min(LOOK, Math.max(1, pause)), signal);
  }
}

/** Runs as a process until SIGTERM or SIGINT. */
export async function daemonUntilStopped(config: Config, effects: Effects): Promise<void> {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort());
  const wait = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => undefined);
  await runDaemon(config, effects, { signal: stop.signal, wait });
}

/**
 * The datasets whose release lacks removals, restorations or edits that are due, each with its overlay version.
 * `rewritten`: the version at the last rebuild; a release that is outdated after it is not built once more.
 */
async function outdatedDatasets(
  { config, now }: { config: Config; now: Date },
  rewritten: ReadonlyMap<string, number>,
): Promise<Map<string, number>> {
  const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, DATABASE_WAIT_SECONDS: seconds } = config;
  const store = await openStore({ dataDir, databaseUrl, wait: { seconds, report: () => {} } });
  try {
    const outdated = new Map<string, number>();
    for (const { id } of await goodPacks(config.PACK_DIRS)) {
      const release = await currentRelease(dataDir, id);
      if (release === null) continue;
      const overlay = await readOverlay(store, id);
      const { overlay: held = 0 } = await readManifest(paths.release(dataDir, id, release));
      const due = rebuildDue(overlay, held);
      if (rewritten.get(id) !== overlay.version && due !== null && due <= now.getTime())
        outdated.set(id, overlay.version);
    }
    return outdated;
  } finally {
    await store.close();
  }
}

/**
 * The datasets that are due, those of them that are retried in the same night, and the next time at which one is due. A
 * dataset that never ran is due at once.
 */
async function dueNow(
  dataDir: string,
  packs: readonly Pack[],
  now: Date,
): Promise<{ ids: string[]; retries: Set<string>; next: Date | null }> {
  const ids: string[] = [];
  const retries = new Set<string>();
  let next: Date | null = null;
  for (const pack of packs) {
    const [last] = await lastRuns(dataDir, pack.id, 1);
    const regular = last ? nextRun(parseSchedule(pack.schedule), new Date(last.at)) : now;
    const at = last?.outcome === 'failed' ? retryTime(last, regular) : regular;
    if (at === null) continue;
    if (at <= now) {
      ids.push(pack.id);
      if (regular === null || regular > now) retries.add(pack.id);
    } else if (next === null || at < next) next = at;
  }
  return { ids, retries, next };
}

/** When a failed run is tried again; `regular`: when the schedule runs it next. */
function retryTime({ at }: NightlyRun, regular: Date | null): Date {
  const again = new Date(Date.parse(at) + AGAIN);
  return regular !== null && regular < again ? regular : again;
}
