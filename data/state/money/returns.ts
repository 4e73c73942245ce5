// Refunds and disputes: delivered in any order and repeatedly, and booked in the ledger.
//
// The state of each is stored (`reversals`), and the ledger gets the difference between the amount returned
// now and the
// amount booked before. So events may be repeated, late, or earlier than the payment, with the same sums.

import type { Store } from '../store.ts';
import type { CardPaymentTable, ReversalTable } from '../tables/checkout.ts';
import { type BookingOutcome, euroCents, type Tx, withBookingLock } from './checkouts.ts';
import { moveIn } from './ledger.ts';
import { projectPlan } from './paid-plans.ts';

/**
 * An event about refunds of a payment: the total so far, one refund, or both. Amounts in cents of the
 * currency.
 */
export interface RefundEvent {
  event: string;
  payment: string;
  currency: string;
  /** Total of the payment's refunds, if the event has it. */
  total: number | null;
  refund: { id: string; cents: number; failed: boolean } | null;
  at: number;
}

/** An event about a dispute. `status` is the provider's value. */
export interface DisputeEvent {
  event: string;
  payment: string;
  currency: string;
  id: string;
  cents: number;
  status: string;
  at: number;
}

interface Cause {
  event: string;
  now: number;
}

const euroOnly = (currency: string): BookingOutcome => ({
  state: 'refused',
  why: `money went back in ${currency}, not in eur`,
});

/** Books a refund. */
export function takeRefund(store: Store, payload: RefundEvent, now: number): Promise<BookingOutcome> {
  const { payment, refund, event, at } = payload;
  const [total, amount] = [payload.total ?? 0, refund?.cents ?? 0].map((cents) => euroCents(cents, payload.currency));
  if (total === null || total === undefined || amount === null || amount === undefined)
    return Promise.resolve(euroOnly(payload.currency));
  return withBookingLock(store, async (tx) => {
    const row = await paymentRow(tx, payment);
    if (total > row.reported)
      await tx.updateTable('card_payments').set({ reported: total }).where('id', '=', payment).execute();
    if (refund !== null) {
      const away = refund.failed ? 0 : 1;
      const heard = { id: refund.id, payment_id: payment, amount, away, heard_at: at };
      await storeReversal(tx, { ...heard, kind: 'refund', stage: refund.failed ? 1 : 0 });
    }
    return settleReturns(tx, payment, { event, now });
  });
}

/** Inquiries take no money; open and lost disputes do. An older event never undoes a decision. */
function stageOf(status: string): { stage: number; away: number } {
  if (status.startsWith('warning_')) return { stage: 0, away: 0 };
  if (status === 'won' || status === 'prevented') return { stage: 2, away: 0 };
  return { stage: status === 'lost' ? 2 : 1, away: 1 };
}

/** Books a dispute: opened, won or lost. */
export function takeDispute(store: Store, payload: DisputeEvent, now: number): Promise<BookingOutcome> {
  const { id, payment, event, at, status } = payload;
  const amount = euroCents(payload.cents, payload.currency);
  if (amount === null) return Promise.resolve(euroOnly(payload.currency));
  return withBookingLock(store, async (tx) => {
    await paymentRow(tx, payment);
    await storeReversal(tx, { id, payment_id: payment, kind: 'dispute', amount, ...stageOf(status), heard_at: at });
    return settleReturns(tx, payment, { event, now });
  });
}

/** Links a payment to the checkout or invoice it paid, and books what was already returned. */
export async function linkPayment(
  tx: Tx,
  payment: string,
  to: { checkout_id: string } | { invoice_id: string },
  cause: Cause,
): Promise<BookingOutcome> {
  await paymentRow(tx, payment);
  await tx.updateTable('card_payments').set(to).where('id', '=', payment).execute();
  return settleReturns(tx, payment, cause);
}

async function paymentRow(tx: Tx, id: string): Promise<CardPaymentTable> {
  const row: CardPaymentTable = { id, checkout_id: null, invoice_id: null, reported: 0, refunded: 0, disputed: 0 };
  await tx
    .insertInto('card_payments')
    .values(row)
    .onConflict((c) => c.doNothing())
    .execute();
  return tx.selectFrom('card_payments').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

/** Stores the newest state of a refund or dispute: of a later stage, or of the same stage and not older. */
async function storeReversal(tx: Tx, row: ReversalTable): Promise<void> {
  const { amount, stage, away, heard_at } = row;
  await tx
    .insertInto('reversals')
    .values(row)
    .onConflict((c) =>
      c
        .column('id')
        .doUpdateSet({ amount, stage, away, heard_at })
        .where((e) =>
          e.or([
            e('reversals.stage', '<', stage),
            e.and([e('reversals.stage', '=', stage), e('reversals.heard_at', '<=', heard_at)]),
          ]),
        ),
    )
    .execute();
}

/**
 * Amount returned of a payment in micro-euros. Reported totals include failed refunds, and events of single
 * refunds may be missing.
 */
function awayNow(reported: number, heard: readonly ReversalTable[]): { refunded: number; disputed: number } {
  const sum = (kind: string, away: number) =>
    heard.reduce(
      (all, reversalTable) =>
        reversalTable.kind === kind && reversalTable.away === away ? all + reversalTable.amount : all,
      0,
    );
  const failed = sum('refund', 0);
  const refunds = Math.max(reported, sum('refund', 1) + failed) - failed;
  return { refunded: refunds, disputed: sum('dispute', 1) };
}

/** Books the difference between the returned and the booked amount, on the key that the payment was for. */
export async function settleReturns(tx: Tx, payment: string, { event, now }: Cause): Promise<BookingOutcome> {
  const row = await paymentRow(tx, payment);
  const paid = await paidFor(tx, row);
  // A payment that was never credited is not debited.
  if (paid === null) return { state: row.checkout_id === null && row.invoice_id === null ? 'foreign' : 'waiting' };
  const { key_id, plan } = paid;
  const heard = await tx.selectFrom('reversals').selectAll().where('payment_id', '=', payment).execute();
  const away = awayNow(row.reported, heard);
  const common = { key_id, reference: event, note: payment, now };
  const [refund, dispute] = [away.refunded - row.refunded, away.disputed - row.disputed];
  if (refund === 0 && dispute === 0) return { state: 'known', key_id };
  if (refund !== 0)
    await moveIn(tx, { ...common, amount: -refund, kind: refund > 0 ? 'refund' : 'refund_failed', against: 'refund' });
  if (dispute !== 0)
    await moveIn(tx, {
      ...common,
      amount: -dispute,
      kind: dispute > 0 ? 'dispute' : 'dispute_won',
      against: 'dispute',
    });
  // A month of a plan was never credit: its price is credited to the key, and the month ends.
  if (plan) await moveIn(tx, { ...common, amount: refund + dispute, kind: 'plan_returned', against: 'revenue' });
  await tx.updateTable('card_payments').set(away).where('id', '=', payment).execute();
  if (plan) await projectPlan(tx, key_id, now);
  return { state: 'booked', key_id };
}

/** The key that a payment was booked for; null while it is not booked, or is not ours. */
async function paidFor(tx: Tx, row: CardPaymentTable): Promise<{ key_id: string; plan: boolean } | null> {
  if (row.checkout_id !== null) {
    const payment = await tx
      .selectFrom('checkouts')
      .select('key_id')
      .where('id', '=', row.checkout_id)
      .where('paid_at', 'is not', null)
      .executeTakeFirst();
    return payment ? { key_id: payment.key_id, plan: false } : null;
  }
  if (row.invoice_id === null) return null;
  const invoice = await tx.selectFrom('invoices').select('key_id').where('id', '=', row.invoice_id).executeTakeFirst();
  return invoice ? { key_id: invoice.key_id, plan: true } : null;
}
