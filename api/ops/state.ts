// State of a process and its datasets, for the operators' pages and metrics.

import type { Follower } from '../../data/releases/follow.ts';
import type { Register } from '../../data/releases/register.ts';
import { lastCollected, lastRuns } from '../../data/releases/runs.ts';
import type { ReviewContext } from '../../data/review/review.ts';
import { nextRun, parseSchedule } from '../../packs/define/schedule.ts';
import { freshness } from '../operations/dataset/dataset_status.ts';
import { applyDecision } from '../owners/decide.ts';
import type { ProcessState } from './metrics.ts';
import type { OpsDataset } from './parts/request.ts';

/**
 * The served releases, the load of the engines, whether Redis responds (`redisUp`: null without Redis), and the
 * state of the object storage.
 */
export function processState(
  register: Register,
  redisUp: () => boolean | null,
  follower: Pick<Follower, 'state'> | null,
): ProcessState {
  const open = [...register.packs.keys()].flatMap((dataset) => register.current(dataset) ?? []);
  return {
    queue: register.load(),
    datasets: open.map(({ pack, manifest: { release, records, last_collection } }) => ({
      dataset: pack.id,
      release,
      records,
      collected: new Date(last_collection),
    })),
    redis: redisUp(),
    storage: follower?.state() ?? null,
  };
}

/** Whether the process should get calls from a load balancer. */
interface Readiness {
  /** Why not, as sentences; empty: it should. */
  reasons(): string[];
  /** From now on it should not. */
  drain(): void;
}

/**
 * A process is ready when it serves a release, unless it has to fetch the first release of a dataset or is
 * stopping. A dataset that was never built, or a release that no process can open, takes none out.
 */
export function openReadiness(
  register: Pick<Register, 'packs' | 'state'>,
  follower: Pick<Follower, 'state'> | null,
): Readiness {
  let draining = false;
  return {
    reasons() {
      const missing = Object.entries(follower?.state().waiting ?? {}).filter(([id]) => register.state(id) !== 'open');
      const open = [...register.packs.keys()].some((id) => register.state(id) === 'open');
      return [
        ...(draining ? ['the process is stopping'] : []),
        ...(open ? [] : ['no release is served yet']),
        ...missing.map(([id, release]) => `${id}: release ${release} is being fetched`),
      ];
    },
    drain() {
      draining = true;
    },
  };
}

/** Runs of a dataset that the pages show. */
const RUNS = 12;

/** Every dataset with its release, freshness and runs. */
export async function opsDatasets(register: Register, dataDir: string, now: Date): Promise<OpsDataset[]> {
  return Promise.all(
    [...register.packs.values()].map(async (pack) => {
      const { id: dataset, title, schedule } = pack;
      const release = register.current(dataset);
      const runs = await lastRuns(dataDir, dataset, RUNS);
      const { manifest } = release ?? {};
      return {
        dataset,
        title,
        state: register.state(dataset),
        release: manifest?.release ?? null,
        records: manifest?.records ?? 0,
        facts: manifest?.facts ?? 0,
        ...(manifest ? freshness(manifest, pack, now) : { median_age_hours: null, within_sla: null }),
        last_collection: release === null ? null : await lastCollected(release),
        due:
          runs[0] === undefined
            ? null
            : (nextRun(parseSchedule(schedule), new Date(runs[0].at))?.toISOString() ?? null),
        next_collection: nextRun(parseSchedule(schedule), now)?.toISOString() ?? null,
        runs,
      };
    }),
  );
}

/** The review of the served releases; decisions about requests of owners are applied by `owners`. */
export function reviewingOf(
  owners: Parameters<typeof applyDecision>[0],
  register: Pick<Register, 'packs'>,
): ReviewContext {
  return {
    editing: owners.editing,
    datasets: [...register.packs.keys()],
    decideRequest: (request, verdict, reviewer) => applyDecision(owners, request, verdict, reviewer),
  };
}
