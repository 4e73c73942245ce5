// Compares what clients saw with the ledger: wrong answers, answers without a charge, charges without an answer, and
// calls that failed for no reason.
import type { Store } from '../../data/state/store.ts';
import type { Call } from './calls.ts';

/** A time in which calls may be lost: those that these processes had, or all. */
export interface Window {
  /** `host:port`; `all`: the balancer or the database, which every call uses. */
  addresses: ReadonlySet<string> | 'all';
  /** Times of `performance.now()`. */
  from: number;
  until: number;
  /** Calls without an answer, or answers 503 that may have been charged. */
  loses: 'calls' | 'charges';
  /** Statuses that the processes may answer. */
  refuses?: readonly number[];
}

export interface Counts {
  calls: number;
  /** Each of the next five must be 0. */
  wrong: number;
  uncharged: number;
  chargedOnly: number;
  failed: number;
  /** Purchases that were repeated until they were answered, and were not. */
  unanswered: number;
  /** Answers 503 with Retry-After. */
  unavailable: number;
  /** Calls in flight at a process that was killed, stopped or cut off, without an answer. */
  inFlight: number;
  /** Charges of calls in flight whose answer was lost. */
  inFlightCharged: number;
  /** Answers 401 and 402 of a process with a wrong clock. */
  refused: number;
  /** One line for each of the first problems. */
  problems: string[];
}

interface Charge {
  request_id: string | null;
  amount: number;
}

/** Kinds whose answers are charged. */
const PAID: ReadonlySet<string> = new Set(['paid', 'repeated', 'mcp', 'a2a', 'x402']);

/** Reads the charges of the ledger after a row. */
export async function chargesSince(store: Store, last: number): Promise<{ charges: Charge[]; last: number }> {
  const rows = await store.db
    .selectFrom('entries')
    .select(['id', 'account', 'amount', 'request_id', 'kind'])
    .where('id', '>', last)
    .where('account', '=', 'revenue')
    .orderBy('id')
    .execute();
  return { charges: rows, last: rows.at(-1)?.id ?? last };
}

const overlaps = (call: Call, { addresses, from, until }: Window) =>
  call.began <= until &&
  call.ended >= from &&
  (addresses === 'all' || call.upstreams.some((address) => addresses.has(address)));

/** Counts what went wrong in a scenario whose faults had the `windows`. */
export function reconcile(calls: readonly Call[], charges: readonly Charge[], windows: readonly Window[]): Counts {
  const counts: Counts = {
    ...{ calls: calls.length, wrong: 0, uncharged: 0, chargedOnly: 0, failed: 0, unanswered: 0 },
    ...{ unavailable: 0, inFlight: 0, inFlightCharged: 0, refused: 0, problems: [] },
  };
  const note = (kind: string, call: Call | null, text: string) =>
    void counts.problems.push(
      `${kind}: ${call ? `${call.kind} ${call.status} ${call.error ?? ''} [${call.upstreams.join(' ')}] ${Math.round(call.ended - call.began)} ms ` : ''}${text}`,
    );
  const chargesOf = Map.groupBy(charges, ({ request_id }) => request_id ?? '');
  const isExcused = (call: Call) => windows.some((window) => overlaps(call, window));
  const isRefused = (call: Call) =>
    windows.some((window) => window.refuses?.includes(call.status) && overlaps(call, window));
  const isAnswered = ({ status, error }: Call) => status === 200 && error === null;

  for (const call of calls) {
    if (call.wrong !== null) {
      counts.wrong += 1;
      note('wrong', call, call.wrong);
    }
    if (isAnswered(call)) continue;
    // 409: an earlier attempt of the purchase is not decided yet; it is to be repeated, as after a 503.
    const isLater = call.status === 503 || (call.status === 409 && call.purchase !== null);
    if (isLater && call.hasRetryAfter) counts.unavailable += 1;
    else if (isRefused(call)) counts.refused += 1;
    else if (windows.some((window) => window.loses === 'calls' && overlaps(call, window))) counts.inFlight += 1;
    else {
      counts.failed += 1;
      note('failed', call, call.id);
    }
  }

  const purchases = Map.groupBy(
    calls.filter(({ kind }) => PAID.has(kind)),
    ({ purchase, id }) => purchase ?? id,
  );
  for (const attempts of purchases.values()) {
    const charged = attempts.flatMap(({ id }) => chargesOf.get(id) ?? []);
    for (const { id } of attempts) chargesOf.delete(id);
    const answer = attempts.find(isAnswered);
    // The 402 of x402 that states the price is no purchase.
    if (attempts[0]?.kind === 'x402' && attempts[0].purchase === null) continue;
    const wanted = answer === undefined ? 0 : 1;
    // A payment that a process with a wrong clock refuses is not repeated.
    if (attempts[0]?.purchase !== null && answer === undefined && !isRefused(attempts.at(-1)!)) {
      counts.unanswered += 1;
      note('unanswered', attempts.at(-1)!, `after ${attempts.length} attempts`);
    }
    if (answer !== undefined && charged.length === 0) {
      counts.uncharged += 1;
      note('uncharged', answer, answer.id);
    }
    const [first] = charged;
    if (answer?.charge != null && first && Math.abs(first.amount) !== answer.charge) {
      counts.uncharged += 1;
      note('uncharged', answer, `the answer states ${answer.charge}, the ledger ${first.amount}`);
    }
    const more = charged.length - wanted;
    if (more <= 0) continue;
    if (attempts.some((call) => (!isAnswered(call) || call.upstreams.length > 1) && isExcused(call)))
      counts.inFlightCharged += more;
    else {
      counts.chargedOnly += more;
      note('charged only', attempts[0]!, `${charged.length} charges, ${wanted} answers, ${attempts.length} attempts`);
    }
  }
  for (const [id, left] of chargesOf) {
    counts.chargedOnly += left.length;
    note('charged only', null, `${left.length} charges of the unknown call ${id}`);
  }
  return counts;
}

/** Names and sum of the counts that must be 0. */
export const failuresOf = (counts: Counts): number =>
  counts.wrong + counts.uncharged + counts.chargedOnly + counts.failed + counts.unanswered;
