// Calls of the fleet test: each is logged with its times, the processes that had it, its charge and what was wrong with
// its answer.
import { randomUUID } from 'node:crypto';
import { Agent, fetch } from 'undici';
import { RECORDS, recordsOf, releaseOf, slugOf } from './dataset.ts';

export type CallKind = 'free' | 'paid' | 'repeated' | 'mcp' | 'a2a' | 'sql' | 'webhook' | 'x402';

/** A call as its client saw it. */
export interface Call {
  id: string;
  kind: CallKind;
  /** Times of `performance.now()`. */
  began: number;
  ended: number;
  /** The HTTP status; 0 without an answer. */
  status: number;
  /** The code of an error, also of one in an answer 200 of MCP. */
  error: string | null;
  /** Whether the answer states when to repeat the call. */
  hasRetryAfter: boolean;
  /** `host:port` of the processes that had the call, in order. */
  upstreams: string[];
  /** Micro-euros that the answer states as its charge; null: it states none. */
  charge: number | null;
  /** Whether it is a stored answer, which is not charged again. */
  replayed: boolean;
  /** Why the answer is wrong; null: it is right. */
  wrong: string | null;
  /** Identity of all attempts of one purchase. */
  purchase: string | null;
}

/** Opted-out records: when the decision was answered, and by when every process must apply it. */
export type Removals = Map<number, { at: number; by: number }>;

// A connection for each call: a call then never uses one that the balancer is about to close.
const agent = new Agent({ pipelining: 0, keepAliveTimeout: 1, keepAliveMaxTimeout: 1, connections: null });
const PATIENCE = 40_000;

interface Sent {
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface Answer {
  call: Call;
  headers: Headers;
  text: string;
  body: Record<string, unknown>;
}

/** Sends a call to the balancer. */
export async function send(
  origin: string,
  kind: CallKind,
  { path, method = 'GET', headers = {}, body }: Sent,
  purchase: string | null = null,
): Promise<Answer> {
  const call: Call = {
    ...{ id: randomUUID(), kind, began: performance.now(), ended: 0, status: 0, error: null, hasRetryAfter: false },
    ...{ upstreams: [], charge: null, replayed: false, wrong: null, purchase },
  };
  let [text, answered] = ['', new Headers()];
  try {
    const response = await fetch(origin + path, {
      method,
      headers: {
        'X-Request-Id': call.id,
        Connection: 'close',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      dispatcher: agent,
      signal: AbortSignal.timeout(PATIENCE),
    });
    answered = response.headers as unknown as Headers;
    call.upstreams = (answered.get('x-upstream') ?? '').split(/[,:] /).filter((part) => part !== '');
    text = await response.text();
    call.status = response.status;
  } catch (error) {
    const { cause, name } = error as Error & { cause?: { code?: string } };
    call.error = cause?.code ?? name;
  }
  call.ended = performance.now();
  let parsed: Record<string, unknown> = {};
  try {
    parsed = JSON.parse(text) as Record<string, unknown>;
  } catch {}
  if (call.status >= 400) call.error = String(parsed['error'] ?? 'none');
  call.hasRetryAfter = answered.has('retry-after');
  const charge = answered.get('x-charge-eur');
  if (charge !== null) call.charge = Math.round(Number(charge) * 1_000_000);
  call.replayed = answered.get('idempotency-replayed') === 'true';
  return { call, headers: answered, text, body: parsed };
}

/** What a correct answer contains, in every release. */
export class Expected {
  readonly removals: Removals = new Map();
  /** The number of the release that each id names, learned from answers and from the nights. */
  readonly releases = new Map<string, number>();

  /** Notes that an id names a release; returns what is wrong if it named another one. */
  name(id: string, release: number): string | null {
    const before = this.releases.get(id) ?? release;
    this.releases.set(id, before);
    return before === release ? null : `values of release ${release} in release ${before} (${id})`;
  }

  /** Checks values of records that an answer of `id` has. */
  values(id: string, rows: readonly { record: number; stock: unknown; price?: unknown }[]): string | null {
    for (const { record, stock, price } of rows) {
      const release = releaseOf(record, stock, price);
      if (release === null) return `${slugOf(record)} has stock ${stock} and price ${price}, those of no release`;
      const problem = this.name(id, release);
      if (problem !== null) return `${slugOf(record)}: ${problem}`;
    }
    return null;
  }

  /** Checks which records a list has: the first `limit` ones of a kind in the order of codes. */
  list(kind: string, limit: number, records: readonly number[], began: number, ended: number): string | null {
    const isGone = (record: number) => (this.removals.get(record)?.by ?? Number.POSITIVE_INFINITY) < began;
    const mayBeGone = (record: number) => (this.removals.get(record)?.at ?? Number.POSITIVE_INFINITY) < ended;
    const served = records.find(isGone);
    if (served !== undefined) return `${slugOf(served)} was removed before the call`;
    const rest = [...records];
    for (const record of recordsOf(kind)) {
      if (rest.length === 0) break;
      if (rest[0] === record) rest.shift();
      else if (!isGone(record) && !mayBeGone(record)) return `${slugOf(record)} is missing`;
    }
    if (rest.length > 0) return `${slugOf(rest[0]!)} is out of order`;
    const left = recordsOf(kind).filter((record) => !mayBeGone(record)).length;
    return records.length < Math.min(limit, left) ? `${records.length} records of ${limit}` : null;
  }
}

export interface Item {
  slug: string;
  attributes: Record<string, unknown>;
}

export const recordOf = (slug: string): number => {
  const record = Number(/^part-(\d{3})$/.exec(slug)?.[1] ?? Number.NaN);
  return record < RECORDS ? record : -1;
};

/** Values of an item, as `Expected.values` takes them. */
export const rowOf = ({ slug, attributes }: Item): { record: number; stock: unknown; price?: unknown } => ({
  record: recordOf(slug),
  stock: attributes['stock'],
  ...('price.list' in attributes ? { price: attributes['price.list'] } : {}),
});
