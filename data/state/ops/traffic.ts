// Traffic by hour: each process counts its calls and periodically adds them to the store.
import type { ExpressionBuilder } from 'kysely';
import { sql } from 'kysely';
import type { Store } from '../store.ts';
import type { TrafficTable } from '../tables/ops.ts';
import type { Tables } from '../tables/schema.ts';

const HOUR = 3_600_000;
/** Milliseconds that hours are kept. */
const KEPT = 40 * 24 * HOUR;

/** A finished call: `seconds` from the gate to the answer, `eur` charged. */
export interface CountedCall {
  operation: string;
  channel: string;
  dataset: string;
  outcome: string;
  seconds: number;
  eur: number;
}

export interface Traffic {
  count(call: CountedCall): void;
  /** Adds the counts to the store. Rows that could not be written wait for the next flush. */
  flush(): Promise<void>;
  backlog(): Backlog;
}

/** Counts of this process that are not in the store. */
export interface Backlog {
  /** Time of the first failed flush since the last successful one, in milliseconds since 1970. */
  since: number | null;
  /** Calls since the process started that were not counted because MAX_ROWS rows were waiting. */
  dropped: number;
}

/** Rows per INSERT: SQLite binds at most 32,766 values in a statement, PostgreSQL 65,535. */
const CHUNK = 500;
/**
 * Maximum number of rows in memory; an hour of all operations, channels and outcomes of ten datasets needs
 * fewer.
 */
const MAX_ROWS = 10_000;

/** Counts the calls of this process in memory. */
export function countTraffic(store: Store, now: () => Date, maxRows = MAX_ROWS): Traffic {
  let counted = new Map<string, TrafficTable>();
  const backlog: Backlog = { since: null, dropped: 0 };
  const add = (row: TrafficTable) => {
    const key = `${row.hour} ${row.operation} ${row.channel} ${row.dataset} ${row.outcome}`;
    const counts = counted.get(key);
    if (counts === undefined) {
      if (counted.size < maxRows) counted.set(key, row);
      else backlog.dropped += row.calls;
      return;
    }
    counts.calls += row.calls;
    counts.took += row.took;
    counts.longest = Math.max(counts.longest, row.longest);
    counts.charged += row.charged;
  };
  async function write(): Promise<void> {
    const rows = [...counted.values()];
    counted = new Map();
    try {
      while (rows.length > 0) {
        await addRows(store, rows.slice(0, CHUNK));
        rows.splice(0, CHUNK);
      }
      backlog.since = null;
    } catch (error) {
      // Chunks before the failed one are in the store.
      for (const row of rows) add(row);
      backlog.since ??= now().getTime();
      throw error;
    }
  }
  /** One flush at a time, so that a store that hangs holds only one set of rows. */
  let writing: Promise<void> | null = null;
  return {
    count({ operation, channel, dataset, outcome, seconds, eur }) {
      const took = Math.round(seconds * 1e6);
      const hour = Math.floor(now().getTime() / HOUR) * HOUR;
      const charged = Math.round(eur * 1e6);
      add({ hour, operation, channel, dataset, outcome, calls: 1, took, longest: took, charged });
    },
    async flush() {
      // Also writes calls counted during the previous flush.
      await writing?.catch(() => undefined);
      writing ??= write().finally(() => {
        writing = null;
      });
      await writing;
    },
    backlog: () => ({ ...backlog }),
  };
}

async function addRows({ db }: Store, rows: TrafficTable[]): Promise<void> {
  const sum = (name: 'calls' | 'took' | 'charged') => sql<number>`traffic.${sql.ref(name)} + excluded.${sql.ref(name)}`;
  const longest = sql<number>`case when excluded.longest > traffic.longest then excluded.longest else traffic.longest end`;
  await db
    .insertInto('traffic')
    .values(rows)
    .onConflict((c) =>
      c
        .columns(['hour', 'operation', 'channel', 'dataset', 'outcome'])
        .doUpdateSet({ calls: sum('calls'), took: sum('took'), charged: sum('charged'), longest }),
    )
    .execute();
}

/** Deletes hours older than KEPT. */
export async function forgetTraffic({ db }: Store, now: number): Promise<void> {
  await db
    .deleteFrom('traffic')
    .where('hour', '<', now - KEPT)
    .execute();
}

/** Error codes that are our fault. */
export const FAULT_OUTCOMES: readonly string[] = ['internal', 'unavailable', 'query_timeout'];
/** Outcomes that are no errors. */
export const SUCCESS_OUTCOMES: readonly string[] = ['ok', 'unchanged'];

/** Calls of one hour or day: successful, refused because of the caller, and failed. */
export interface TrafficBar {
  /** Milliseconds since 1970. */
  at: number;
  good: number;
  refused: number;
  faults: number;
  /** Micro-euros charged. */
  charged: number;
}

type Expressions = ExpressionBuilder<Tables, 'traffic'>;

/**
 * Calls since a time in steps of `step` milliseconds (an hour or a UTC day), oldest first; empty steps are
 * left out.
 */
export async function trafficBars({ db }: Store, since: number, step: number): Promise<TrafficBar[]> {
  const at = sql<number>`(hour / ${sql.lit(step)}) * ${sql.lit(step)}`;
  const among = (e: Expressions, outcomes: readonly string[]) =>
    e.fn.sum<number>(e.case().when('outcome', 'in', outcomes).then(e.ref('calls')).else(0).end());
  const rows = await db
    .selectFrom('traffic')
    .select(at.as('at'))
    .select((e) => e.fn.sum<number>('calls').as('calls'))
    .select((e) => e.fn.sum<number>('charged').as('charged'))
    .select((e) => among(e, SUCCESS_OUTCOMES).as('good'))
    .select((e) => among(e, FAULT_OUTCOMES).as('faults'))
    .where('hour', '>=', since)
    .groupBy(at)
    .orderBy(at)
    .execute();
  return rows.map((row) => {
    const [calls, good, faults, charged] = [row.calls, row.good, row.faults, row.charged].map(Number) as [
      number,
      number,
      number,
      number,
    ];
    return { at: Number(row.at), good, faults, refused: calls - good - faults, charged };
  });
}

/** Calls since a time by operation or by outcome, most first. Times in microseconds. */
export async function trafficBy(
  { db }: Store,
  by: 'operation' | 'outcome' | 'channel' | 'dataset',
  since: number,
): Promise<{ name: string; calls: number; took: number; longest: number; charged: number }[]> {
  const rows = await db
    .selectFrom('traffic')
    .select(`${by} as name`)
    .select((e) => [
      e.fn.sum<number>('calls').as('calls'),
      e.fn.sum<number>('took').as('took'),
      e.fn.max<number>('longest').as('longest'),
      e.fn.sum<number>('charged').as('charged'),
    ])
    .where('hour', '>=', since)
    .groupBy('name')
    .execute();
  return rows
    .map(({ name, ...row }) => ({
      name,
      calls: Number(row.calls),
      took: Number(row.took),
      longest: Number(row.longest),
      charged: Number(row.charged),
    }))
    .sort((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1));
}
