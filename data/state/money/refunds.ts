// Refunds that operators order, once for each row of the ledger. A charge is credited at once. A top-up goes back by the
// payment provider, whose webhook books it (returns.ts).

import { recordAudit } from '../audit.ts';
import type { Store } from '../store.ts';
import type { EntryTable } from '../tables/schema.ts';
import { type Tx, withBookingLock } from './checkouts.ts';
import { moveIn } from './ledger.ts';

/** A refund; `amount` in micro-euros, null for the whole row. */
export interface RefundOrder {
  entry: number;
  amount: number | null;
  reason: string;
  /** For the audit log. */
  who: string;
  request_id: string | null;
  now: number;
}

/**
 * `credited`: booked. `card`: ordered, and the caller asks the provider. `already`: ordered before. `refused`: the row
 * cannot be refunded, `why` says so.
 */
export type RefundOutcome =
  | { state: 'credited'; key_id: string; amount: number }
  | { state: 'card'; key_id: string; amount: number; payment: string }
  | { state: 'already'; amount: number; at: number }
  | { state: 'refused'; why: string }
  | { state: 'unknown' };

/** An order in the audit log. */
interface StoredOrder {
  amount: number;
  at: number;
  refused: boolean;
}

/** Actions of the audit log; the subject is the id of the row. */
const ORDERED = 'refund';
const REFUSED = 'refund refused';

/** Milliseconds in which an order by card may be repeated: the provider keeps an idempotency key for a day. */
const REPEATABLE = 20 * 3_600_000;

const refused = (why: string): RefundOutcome => ({ state: 'refused', why });

/** Books or orders a refund, and records it, in one transaction. */
export function orderRefund(store: Store, order: RefundOrder): Promise<RefundOutcome> {
  return withBookingLock(store, async (tx) => {
    const rows = await movementOf(tx, order.entry);
    if (rows.length === 0) return { state: 'unknown' };
    if (rows.some(({ account }) => account === 'x402'))
      return refused('x402 payments cannot be refunded: the transfer is final, and we hold no wallet to send from.');
    const row = rows.find(({ account }) => account.startsWith('key:'));
    if (row === undefined || (row.kind !== 'charge' && row.kind !== 'topup'))
      return refused(`Only charges and top-ups can be refunded (this row is a ${row?.kind ?? rows[0]?.kind}).`);
    const before = (await refundsOf({ db: tx }, [row.id])).get(row.id);
    return row.kind === 'charge' ? creditCharge(tx, row, order, before) : orderReturn(tx, row, order, before);
  });
}

const movementOf = (tx: Tx, entry: number): Promise<Row[]> =>
  tx
    .selectFrom('entries')
    .selectAll()
    .where('transaction_id', '=', (e) => e.selectFrom('entries').select('transaction_id').where('id', '=', entry))
    .execute();

type Row = Omit<EntryTable, 'id'> & { id: number };

const keyOf = ({ account }: Row): string => account.slice('key:'.length);

/** Why an amount is not possible; null when it is. */
function invalidAmount(amount: number, most: number): RefundOutcome | null {
  if (amount > 0 && amount <= most) return null;
  return refused(`amount_eur must be above 0 and at most ${most / 1e6} (got ${amount / 1e6}).`);
}

async function creditCharge(
  tx: Tx,
  row: Row,
  order: RefundOrder,
  before: StoredOrder | undefined,
): Promise<RefundOutcome> {
  if (before !== undefined) return { state: 'already', ...before };
  const key_id = keyOf(row);
  const amount = order.amount ?? -row.amount;
  const invalid = invalidAmount(amount, -row.amount);
  if (invalid !== null) return invalid;
  const { reason: note, now } = order;
  const once = { reference: `entry:${row.id}`, ...(order.request_id === null ? {} : { request_id: order.request_id }) };
  await moveIn(tx, { key_id, amount, kind: 'charge_refunded', against: 'revenue', note, now, ...once });
  await recordOrder({ db: tx }, order, ORDERED, { eur: amount / 1e6, of: 'charge', key: key_id, reason: note });
  return { state: 'credited', key_id, amount };
}

async function orderReturn(
  tx: Tx,
  row: Row,
  order: RefundOrder,
  before: StoredOrder | undefined,
): Promise<RefundOutcome> {
  const card = await tx
    .selectFrom('card_payments')
    .innerJoin('checkouts', 'checkouts.id', 'card_payments.checkout_id')
    .select(['card_payments.id', 'refunded', 'disputed'])
    .where('checkouts.session', '=', row.reference)
    .executeTakeFirst();
  if (card === undefined) return refused('No card payment belongs to this top-up, so no money can go back.');
  const key_id = keyOf(row);
  const rest = row.amount - card.refunded - card.disputed;
  const amount = order.amount ?? before?.amount ?? rest;
  if (before !== undefined && !before.refused) {
    // The provider answers a repeated order with the same refund.
    const repeats = before.amount === amount && order.now < before.at + REPEATABLE && card.refunded === 0;
    return repeats ? { state: 'card', key_id, amount, payment: card.id } : { state: 'already', ...before };
  }
  const invalid = invalidAmount(amount, rest);
  if (invalid !== null) return invalid;
  if (amount % 10_000 !== 0) return refused('amount_eur must be whole cents: the money goes back to a card.');
  await recordOrder({ db: tx }, order, ORDERED, { eur: amount / 1e6, of: 'topup', key: key_id, reason: order.reason });
  return { state: 'card', key_id, amount, payment: card.id };
}

/** Records that the provider refused an ordered refund, so that another may be ordered. */
export const recordRefusal = (store: Store, order: RefundOrder, why: string): Promise<void> =>
  recordOrder(store, order, REFUSED, { why });

function recordOrder(
  db: Pick<Store, 'db'>,
  { entry, who, request_id, now: at }: RefundOrder,
  action: string,
  details: object,
): Promise<void> {
  const place = { dataset: null, entity_id: null, subject: String(entry) };
  return recordAudit(db, { at, who, action, ...place, request_id, details });
}

/** The last order for each row of the ledger that has one. */
export async function refundsOf({ db }: Pick<Store, 'db'>, entries: number[]): Promise<Map<number, StoredOrder>> {
  if (entries.length === 0) return new Map();
  const rows = await db
    .selectFrom('audit')
    .select(['subject', 'action', 'at', 'told'])
    .where('action', 'in', [ORDERED, REFUSED])
    .where('subject', 'in', entries.map(String))
    .orderBy('id')
    .execute();
  const orders = new Map<number, StoredOrder>();
  for (const { subject, action, at, told: details } of rows) {
    const { eur = 0 } = JSON.parse(details) as { eur?: number };
    orders.set(Number(subject), { amount: Math.round(eur * 1e6), at: Number(at), refused: action === REFUSED });
  }
  return orders;
}
