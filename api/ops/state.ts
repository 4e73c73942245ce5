// State of a process and its datasets, for the operators' pages and metrics.
import { setTimeout } from 'node:timers/promises';
import type { Follower } from '../../data/releases/follow.ts';
import { buildProgress, type NightReader } from '../../data/releases/night-state.ts';
import type { Register } from '../../data/releases/register.ts';
import { lastCollected, lastRuns } from '../../data/releases/runs.ts';
import type { ReviewContext } from '../../data/review/review.ts';
import { databaseTime } from '../../data/state/leases.ts';
import { storedQuotas } from '../../data/state/quotas.ts';
import type { Store } from '../../data/state/store.ts';
import { nextRun, parseSchedule } from '../../packs/define/schedule.ts';
import { freshness } from '../operations/dataset/dataset_status.ts';
import { applyDecision } from '../owners/requests.ts';
import type { ProcessState } from './metrics.ts';
import type { OpsDataset } from './parts/request.ts';

/**
 * The served releases, the load of the engines, whether Redis responds (`redisUp`: null without Redis), and the
 * state of the object storage.
 */
export function processState(
  register: Register,
  dataDir: string,
  redisUp: () => boolean | null,
  follower: Pick<Follower, 'state'> | null,
): ProcessState {
  const open = [...register.packs.keys()].flatMap((dataset) => register.current(dataset) ?? []);
  return {
    queue: () => register.load(),
    packs: [...register.packs.keys()],
    datasets: open.map(({ pack, manifest: { release, records, last_collection } }) => ({
      dataset: pack.id,
      release,
      records,
      collected: new Date(last_collection),
    })),
    redis: redisUp(),
    storage: follower?.state() ?? null,
    badNights: async (dataset) => (await lastRuns(dataDir, dataset, 1))[0]?.bad_nights ?? 0,
  };
}

/** Whether the process should get calls from a load balancer. */
export interface ReadinessState {
  /** Why not, as sentences; empty: it should. Without addresses and causes, which are in the log. */
  reasons: string[];
  /** What does not work although calls are answered, as sentences. */
  warnings: string[];
}

interface Readiness {
  state(): Promise<ReadinessState>;
  /** From now on it should not. */
  drain(): void;
  /** Notes that releases and opt-outs are read now; call what it returns when they are. */
  looking(): () => void;
}

interface ReadinessParts {
  register: Pick<Register, 'packs' | 'state'>;
  /** The nightly run in progress; absent: unknown. */
  night?: NightReader;
  store: Store;
  follower: Pick<Follower, 'state'> | null;
  redisUp: () => boolean | null;
  now: () => Date;
}

/** How long the database may take to answer /readyz, and how long its answer is used, in milliseconds. */
const CHECK = { limit: 2_000, kept: 1_000 };

/**
 * Milliseconds between two looks at releases and opt-outs after which the process was stopped, as by SIGSTOP or a paused
 * machine. It should get no calls until it has looked again.
 */
const STOPPED = 3_000;
/** Milliseconds by which the clock may differ from that of PostgreSQL. */
const CLOCK_LIMIT = 60_000;

/**
 * A process is ready when it serves a release, can write its database, has the same time as it, and has to fetch the
 * first release of no dataset, unless it is stopping or a release is damaged. A dataset that was never built takes none
 * out, nor does Redis, whose fallback answers.
 */
export function openReadiness({ register, night, store, follower, redisUp, now }: ReadinessParts): Readiness {
  let draining = false;
  /** When the last look began; null before the first. */
  let lookedAt: number | null = null;
  /** When the look began that noticed a stop; null once it has ended. */
  let behindSince: number | null = null;
  const wasStopped = () => lookedAt !== null && performance.now() - lookedAt > STOPPED;
  let check = { at: Number.NEGATIVE_INFINITY, problem: Promise.resolve<string | null>(null) };
  const databaseProblem = () => {
    const at = performance.now();
    if (at - check.at > CHECK.kept) check = { at, problem: checkDatabase(store, now) };
    return check.problem;
  };
  return {
    async state() {
      const problem = await databaseProblem();
      const waiting = follower?.state().waiting ?? {};
      const datasets = [...register.packs.keys()];
      const inState = (state: string) => datasets.filter((id) => register.state(id) === state);
      const run = night?.() ?? null;
      const missing = inState('missing')
        .filter((id) => !(id in waiting))
        .map((id) => `${id}: ${buildProgress(run, id).text}`);
      const empty = inState('open').length === 0;
      return {
        reasons: [
          ...(draining ? ['the process is stopping'] : []),
          ...(problem === null ? [] : [problem]),
          ...(behindSince !== null || wasStopped() ? ['the process was stopped and reads what changed'] : []),
          ...(empty ? ['no release is served yet', ...missing] : []),
          ...inState('damaged').map((id) => `${id}: the release is damaged`),
          ...Object.entries(waiting)
            .filter(([id]) => register.state(id) !== 'open')
            .map(([id, release]) => `${id}: release ${release} is being fetched`),
        ],
        warnings: [
          ...(empty ? [] : missing),
          ...(redisUp() === false ? ['Redis does not answer: limits are counted in each process'] : []),
        ],
      };
    },
    drain() {
      draining = true;
    },
    looking() {
      const at = performance.now();
      if (wasStopped()) behindSince = at;
      lookedAt = at;
      // A look that began before the stop has not read what changed during it.
      return () => {
        if (behindSince !== null && at >= behindSince) behindSince = null;
      };
    },
  };
}

const UNWRITABLE = 'the accounts database cannot be written';

/**
 * Writes as a charge does, and compares the clocks. The count changes each time, because SQLite writes no page whose
 * content stays the same, and a full disk would not be noticed. The clock counts: leases, links, tokens and
 * payments end by the time of the process. Returns a problem as a sentence, or null.
 */
async function checkDatabase(store: Store, now: () => Date): Promise<string | null> {
  const work = async () => {
    await storedQuotas(store).take({ name: 'readyz', quota: Number.MAX_SAFE_INTEGER }, 1, now());
    // SQLite has the clock of this machine.
    return store.dialect === 'postgres' ? clockProblem(await databaseTime(store), now().getTime()) : null;
  };
  return Promise.race([work().catch(() => UNWRITABLE), setTimeout(CHECK.limit, UNWRITABLE, { ref: false })]);
}

function clockProblem(database: number, machine: number): string | null {
  const difference = machine - database;
  if (Math.abs(difference) <= CLOCK_LIMIT) return null;
  const seconds = Math.round(Math.abs(difference) / 1000);
  return `the clock of this machine is ${seconds} s ${difference > 0 ? 'ahead of' : 'behind'} that of the database`;
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
