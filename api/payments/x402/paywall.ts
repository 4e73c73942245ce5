// x402 at the gate: a payment is claimed, checked, run for once, settled when its answer is ready, delivered once (payments.md 7).
import {
  claimPayment,
  deliverPayment,
  dropPayment,
  findPayment,
  LEASE,
  leasePayment,
  openPayment,
  type Payment,
  renewLease,
} from '../../../data/state/money/payments.ts';
import type { Store } from '../../../data/state/store.ts';
import { eur } from '../../../packs/define/money.ts';
import type { Caller } from '../../access/caller.ts';
import { ApiError } from '../../contract/errors.ts';
import type { Attached, Charge, Payments, Reservation, Stored } from '../payments.ts';
import { isKept, isSecret, type Repeats, readWritten, secretKey } from '../repeats.ts';
import type { Prices } from './prices.ts';
import { delivered, inProgress, invalid, receiptHeader, removed, unverified } from './refusals.ts';
import { conclude, lookAt, type Settling, settleOpen, transferOf } from './settle.ts';
import { checkTransfer, checkWindow, PaymentFault, readPayment, type SignedPayment } from './signed.ts';

interface Parts extends Settling {
  repeats: Repeats;
  prices: Prices;
  quote: Payments['quote'];
  log(line: string): void;
}

/** One call that somebody wants to pay for. */
interface Sale {
  charge: Charge;
  attached: Attached;
  /** The refusal of a payment; with a payer where settling it was tried. */
  refuse(reason: string, message: string, payer?: string): ApiError;
}

export interface Paywall {
  /** Puts a payment aside for a call. Null when there is none: neither attached nor kept under the call's secret. */
  reserve(caller: Caller, charge: Charge, attached: Attached): Promise<Reservation | null>;
  waiting(secret: string): Promise<boolean>;
}

/** Headers of an answer that x402 paid. */
function paidHeaders(row: Payment): Record<string, string> {
  return {
    ...receiptHeader({ success: true, transaction: row.hash ?? '', payer: transferOf(row).from }),
    'X-Charge-EUR': String(eur(row.micros)),
    'Cache-Control': 'private, no-store',
  };
}

/** Takes payments. What must outlive the process is in the store; several processes may share it. */
export function openPaywall(parts: Parts): Paywall {
  const { store } = parts;
  const now = () => parts.now().getTime();

  /** Hands a written answer out; `finish` is what is still to be done before it goes. */
  function handOut(
    sale: Sale,
    row: Payment,
    finish: () => Promise<Payment>,
    release: () => Promise<void>,
  ): Reservation {
    const { answer, records } = row;
    if (answer === null) throw removed();
    const stored: Stored = { ...readWritten(answer), written: { text: answer, records } };
    return {
      stored,
      release,
      async commit(kept) {
        const headers = paidHeaders(await finish());
        if (isKept(kept)) await parts.repeats.keep(sale.attached.owner, kept);
        return headers;
      },
    };
  }

  /** A payment that has a row: deliver it, go on with it, or say that somebody is at it. Null when the row was worth nothing. */
  async function resume(sale: Sale, row: Payment, secret: boolean): Promise<Reservation | null> {
    if (row.state === 'settled') {
      if (row.answer === null) throw removed();
      const first = await deliverPayment(store, row.id, now());
      if (!first && !secret) throw delivered();
      return handOut(
        sale,
        row,
        async () => row,
        async () => {},
      );
    }
    const held = await leasePayment(store, row, now());
    if (held === null) throw inProgress();
    // Whoever claimed it died before its answer was ready, so nothing was sent to be settled.
    if (held.state === 'claimed') {
      await dropPayment(store, held);
      return null;
    }
    const lease = keepLease(store, held, parts.now);
    const { signal } = sale.attached;
    const refuse = (reason: string) => sale.refuse(reason, 'it was not settled.', transferOf(held).from);
    try {
      const found = await lookAt(parts, held);
      if (found.state === 'void' || (found.state === 'unused' && held.answer === null)) {
        await dropPayment(store, held);
        lease.end();
        return null;
      }
      if (found.state === 'unused') {
        // After a refusal nothing is on its way to the chain, so a further refusal is as final as the first.
        const sent = held.refused === null;
        const finish = () => settleOpen(parts, held, sent, signal, refuse).finally(lease.end);
        return handOut(sale, held, finish, async () => lease.end());
      }
      const settled = await conclude(parts, held, found, held.hash, signal, refuse);
      lease.end();
      return handOut(
        sale,
        settled,
        async () => settled,
        async () => {},
      );
    } catch (error) {
      lease.end();
      throw error;
    }
  }

  /** Asks the facilitator whether a payment is good now; throws the refusal of one that is not. */
  async function verified(sale: Sale, { payload, transfer }: SignedPayment, asked: SignedPayment['accepted']) {
    let fault: string | null;
    try {
      checkWindow(transfer, now());
      fault = await parts.facilitator.verify(payload, asked);
    } catch (error) {
      if (error instanceof PaymentFault) throw sale.refuse(error.reason, error.message);
      parts.log(`x402: the facilitator does not verify: ${(error as Error).message.slice(0, 200)}`);
      throw unverified();
    }
    if (fault !== null) throw sale.refuse(fault, 'the payment is not valid.');
  }

  /** A payment seen for the first time: its row is ours. Checks it, and lets the call run. */
  async function check(sale: Sale, row: Payment, signed: SignedPayment): Promise<Reservation> {
    const lease = keepLease(store, row, parts.now);
    const drop = async () => {
      lease.end();
      await dropPayment(store, row);
    };
    try {
      await verified(sale, signed, JSON.parse(row.requirements) as SignedPayment['accepted']);
    } catch (error) {
      await drop();
      throw error;
    }
    const refuse = (reason: string) => sale.refuse(reason, 'it was not settled.', signed.transfer.from);
    return {
      writes: true,
      release: drop,
      async commit(kept) {
        try {
          if (kept === undefined || !(await openPayment(store, row, kept))) throw inProgress();
          const settled = await settleOpen(parts, row, false, sale.attached.signal, refuse);
          if (isKept(kept)) await parts.repeats.keep(sale.attached.owner, kept);
          return paidHeaders(settled);
        } finally {
          lease.end();
        }
      },
    };
  }

  /** Reads what was attached and compares it with what is asked; the requirements that it meets. */
  async function meets(sale: Sale): Promise<[SignedPayment, SignedPayment['accepted']]> {
    const { charge, attached } = sale;
    try {
      const signed = readPayment(attached.payment, now());
      const asked = await parts.prices.matching(charge, signed.accepted);
      if (asked === null)
        throw new PaymentFault(
          'invalid_payment_requirements',
          'No matching payment requirements: pay what "accepts" asks.',
        );
      checkTransfer({ ...signed, accepted: asked });
      return [signed, asked];
    } catch (error) {
      if (error instanceof PaymentFault) throw sale.refuse(error.reason, error.message);
      throw error;
    }
  }

  /** Claims the payment for this call, or goes on with what was begun for the same call. */
  async function claim(sale: Sale): Promise<Reservation> {
    const [signed, asked] = await meets(sale);
    const { charge, attached } = sale;
    const { request } = attached;
    const { secret, byPayer } = nameOf(attached, signed);
    const { micros, operation, dataset, request_id } = charge;
    const wanted = {
      ...{ id: signed.id, request, proof: signed.proof, secret, micros, operation, dataset, request_id },
      payload: JSON.stringify(signed.payload),
      requirements: JSON.stringify(asked),
    };
    // A second round when the first found a row that was worth nothing.
    for (let round = 0; round < 2; round++) {
      const row = await claimPayment(store, wanted, now());
      if (row !== null) return check(sale, row, signed);
      const other = await findPayment(store, { id: signed.id });
      if (other !== null && (other.request !== request || other.proof !== signed.proof))
        throw sale.refuse('payment_already_used', 'this payment was used for another call.');
      const same = other ?? (secret === null ? null : await findPayment(store, { secret }));
      if (same === null) continue;
      // A new signature proves that the caller is the payer. The settled payment proves nothing: it is public on the chain.
      const anew = same.id !== signed.id;
      if (byPayer && anew) await verified(sale, signed, asked);
      if (same.request !== request) throw conflict();
      const found = await resume(sale, same, secret !== null && same.secret === secret && (anew || !byPayer));
      if (found !== null) return found;
    }
    throw inProgress();
  }

  return {
    waiting: async (secret) => (await findPayment(store, { secret })) !== null,
    async reserve(caller, charge, attached) {
      const quote = () => parts.quote(caller, charge);
      const sale: Sale = {
        charge,
        attached,
        refuse: (reason, message, payer) => invalid(charge, quote(), reason, message, payer),
      };
      const { secret, payment, request } = attached;
      const kept = secret === null ? null : await findPayment(store, { secret });
      if (kept !== null) {
        if (kept.request !== request) throw conflict();
        const found = await resume(sale, kept, true);
        if (found !== null) return found;
      }
      return payment === undefined ? null : claim(sale);
    },
  };
}

/**
 * The name under which a payment's answer is found again: the Idempotency-Key, or the payment-identifier of the payment. One
 * that others could guess counts for its payer alone (`byPayer`), so that two clients which number their orders never meet.
 */
function nameOf({ secret, name, owner }: Attached, { identifier, transfer }: SignedPayment) {
  if (secret !== null) return { secret, byPayer: false };
  const own = name ?? identifier;
  if (own === null) return { secret, byPayer: false };
  const byPayer = owner === 'anonymous' && !isSecret(own);
  return { secret: secretKey(byPayer ? `payer ${transfer.from}` : owner, own), byPayer };
}

function conflict(): ApiError {
  return new ApiError('idempotency_conflict', 'This Idempotency-Key was used for another request.');
}

/** Renews the lease of a row until `end` is called. A row that was lost shows when it is written to. */
function keepLease(store: Store, row: Payment, now: () => Date): { end(): void } {
  const beat = setInterval(() => {
    renewLease(store, row, now().getTime()).catch(() => {});
  }, LEASE / 3);
  beat.unref();
  return { end: () => clearInterval(beat) };
}
