// x402 payments: claim, verify, run the call once, settle when its answer is ready, deliver once
// (payments.md 7).
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
import type { Price } from '../../contract/pricing.ts';
import { type IdempotencyStore, isSecret, secretKey } from '../idempotency.ts';
import type { Payments, Reservation, X402Attachment } from '../payments.ts';
import type { PaymentSigner } from './discovery.ts';
import {
  answerDelivered,
  answerRemoved,
  facilitatorUnavailable,
  paymentInProgress,
  paymentInvalid,
  receiptHeader,
} from './errors.ts';
import type { OfferedPrices } from './prices.ts';
import { conclude, findOnChain, type SettlementParts, settleOpen, transferOf } from './settle.ts';
import { checkTransfer, checkWindow, PaymentFault, readPayment, type SignedPayment } from './signed.ts';

interface Parts extends SettlementParts {
  repeats: IdempotencyStore;
  prices: OfferedPrices;
  quote: Payments['quote'];
  signer: PaymentSigner;
  log(line: string): void;
}

/** One call to be paid for. */
interface Sale {
  price: Price;
  attached: X402Attachment;
  /** The error for a rejected payment; with the payer where settlement was tried. */
  refuse(reason: string, message: string, payer?: string): ApiError;
}

/**
 * Accepts x402 payments. All state is in the store, so that several processes can share it.
 *
 * @example
 * ```ts
 * const reservation = await new Paywall(parts).reserve(caller, charge, attached); // null: the call has no payment
 * ```
 */
export class Paywall {
  readonly #parts: Parts;
  readonly #store: Store;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#store = parts.store;
  }

  /** Whether a payment is stored under this secret. */
  async waiting(secret: string): Promise<boolean> {
    return (await findPayment(this.#store, { secret })) !== null;
  }

  /** Reserves a payment for a call. Null if none is attached or stored under the call's secret. */
  async reserve(caller: Caller, price: Price, attached: X402Attachment): Promise<Reservation | null> {
    const quote = () => this.#parts.quote(caller, price);
    const sale: Sale = {
      price,
      attached,
      refuse: (reason, message, payer) => paymentInvalid(price, quote(), reason, message, payer),
    };
    const { secret, payment, request } = attached;
    const row = secret === null ? null : await findPayment(this.#store, { secret });
    if (row !== null) {
      if (row.request !== request) throw conflict();
      const reservation = await this.#resume(sale, row, true);
      if (reservation !== null) return reservation;
    }
    return payment === undefined ? null : this.#claim(sale);
  }

  /** Claims the payment for this call, or resumes an earlier claim for the same call. */
  async #claim(sale: Sale): Promise<Reservation> {
    const store = this.#store;
    const [signed, accepted] = await this.#matchPrice(sale);
    const { price, attached } = sale;
    const { request } = attached;
    const { secret, byPayer } = nameOf(attached, signed);
    const { micros, operation, dataset, request_id } = price;
    const claim = {
      ...{ id: signed.id, request, proof: signed.proof, secret, micros, operation, dataset, request_id },
      payload: JSON.stringify(signed.payload),
      requirements: JSON.stringify(accepted),
    };
    // A second attempt, since the first may find a row without value, which #resume deletes.
    for (let attempt = 0; attempt < 2; attempt++) {
      const row = await claimPayment(store, claim, this.#now());
      if (row !== null) return this.#verifyNew(sale, row, signed);
      const byId = await findPayment(store, { id: signed.id });
      if (byId !== null && (byId.request !== request || byId.proof !== signed.proof))
        throw attached.sale
          ? answerDelivered()
          : sale.refuse('payment_already_used', 'this payment was used for another call.');
      const earlier = byId ?? (secret === null ? null : await findPayment(store, { secret }));
      if (earlier === null) continue;
      // A new signature proves that the caller is the payer. A settled payment proves nothing: it is public
      // on the chain.
      const resigned = earlier.id !== signed.id;
      if (byPayer && resigned) await this.#verify(sale, signed, accepted);
      if (earlier.request !== request) throw conflict();
      const hasSecret = secret !== null && earlier.secret === secret && (resigned || !byPayer);
      if (attached.sale && !hasSecret) throw answerDelivered();
      const reservation = await this.#resume(sale, earlier, hasSecret);
      if (reservation !== null) return reservation;
    }
    throw paymentInProgress();
  }

  /** Reads the attached payment and finds the price it pays; returns both. */
  async #matchPrice({ price, attached, refuse }: Sale): Promise<[SignedPayment, SignedPayment['accepted']]> {
    try {
      const signed = readPayment(attached.payment, this.#now());
      // Any other request with a payment that buys a key gets the same answer, whatever amount it names.
      const earlier = attached.sale ? await findPayment(this.#store, { id: signed.id }) : null;
      if (earlier !== null && earlier.request !== attached.request) throw answerDelivered();
      const accepted = await this.#parts.prices.matching(price, signed.accepted);
      if (accepted === null)
        throw new PaymentFault(
          'invalid_payment_requirements',
          'No matching payment requirements: sign one of the payments in "accepts".',
        );
      checkTransfer({ ...signed, accepted });
      return [signed, accepted];
    } catch (error) {
      if (error instanceof PaymentFault) throw refuse(error.reason, error.message);
      throw error;
    }
  }

  /** Verifies a payment with the facilitator; throws the error for an invalid one. */
  async #verify(sale: Sale, { payload, transfer }: SignedPayment, accepted: SignedPayment['accepted']): Promise<void> {
    const { facilitator, log } = this.#parts;
    let fault: string | null;
    try {
      checkWindow(transfer, this.#now());
      fault = await facilitator.verify(payload, accepted);
    } catch (error) {
      if (error instanceof PaymentFault) throw sale.refuse(error.reason, error.message);
      log(`x402: the facilitator does not verify: ${(error as Error).message.slice(0, 200)}`);
      throw facilitatorUnavailable();
    }
    if (fault !== null) throw sale.refuse(fault, 'the payment is not valid.');
  }

  /** Verifies a payment whose row was just inserted for this call, and lets the call run. */
  async #verifyNew(sale: Sale, row: Payment, signed: SignedPayment): Promise<Reservation> {
    const store = this.#store;
    const lease = keepLease(store, row, this.#parts.now);
    const drop = async () => {
      lease.end();
      await dropPayment(store, row);
    };
    try {
      await this.#verify(sale, signed, JSON.parse(row.requirements) as SignedPayment['accepted']);
    } catch (error) {
      await drop();
      throw error;
    }
    const refuse = (reason: string) => sale.refuse(reason, 'it was not settled.', signed.transfer.from);
    const { sale: idempotency_key } = sale.attached;
    const purchase = idempotency_key === undefined ? null : { payment_id: row.id, idempotency_key, key: null };
    return {
      micros: row.micros,
      ...(purchase && { purchase }),
      writes: true,
      release: drop,
      commit: async (answer) => {
        try {
          if (answer === null || !(await openPayment(store, row, answer, purchase?.key))) throw paymentInProgress();
          const settled = await settleOpen(this.#parts, row, false, sale.attached.signal, refuse);
          await this.#parts.repeats.keep(answer);
          return this.#paidHeaders(sale, settled);
        } finally {
          lease.end();
        }
      },
    };
  }

  /**
   * Continues with a stored payment: delivers, settles or rejects it. `hasSecret`: the caller has the secret
   * under which it is stored, and may receive its answer again. Null after deleting a row without value;
   * throws while another request holds it.
   */
  async #resume(sale: Sale, row: Payment, hasSecret: boolean): Promise<Reservation | null> {
    const store = this.#store;
    if (row.state === 'settled') {
      if (row.answer === null) throw answerRemoved();
      const isFirst = await deliverPayment(store, row.id, this.#now());
      if (!isFirst && !hasSecret) throw answerDelivered();
      return this.#deliver(sale, row);
    }
    const payment = await leasePayment(store, row, this.#now());
    if (payment === null) throw paymentInProgress();
    // The process that claimed it died before the answer was ready, so nothing was sent for settlement.
    if (payment.state === 'claimed') {
      await dropPayment(store, payment);
      return null;
    }
    const lease = keepLease(store, payment, this.#parts.now);
    try {
      return await this.#finish(sale, payment, lease);
    } catch (error) {
      lease.end();
      throw error;
    }
  }

  /** Continues with an open payment, by what the chain reports of it. Ends the lease, unless it throws. */
  async #finish(sale: Sale, payment: Payment, lease: { end(): void }): Promise<Reservation | null> {
    const { signal } = sale.attached;
    const refuse = (reason: string) => sale.refuse(reason, 'it was not settled.', transferOf(payment).from);
    const finding = await findOnChain(this.#parts, payment);
    if (finding.state === 'void' || (finding.state === 'unused' && payment.answer === null)) {
      await dropPayment(this.#store, payment);
      lease.end();
      return null;
    }
    if (finding.state === 'unused') {
      // After a rejection nothing is on its way to the chain, so a second rejection is as final as the first.
      const sent = payment.refused === null;
      const settle = () => settleOpen(this.#parts, payment, sent, signal, refuse).finally(lease.end);
      return this.#deliver(sale, payment, settle, async () => lease.end());
    }
    const settled = await conclude(this.#parts, payment, finding, payment.hash, signal, refuse);
    lease.end();
    return this.#deliver(sale, settled);
  }

  /** A reservation that delivers the stored answer; `settle` runs before, and returns the settled row. */
  #deliver(
    sale: Sale,
    row: Payment,
    settle: () => Promise<Payment> = async () => row,
    release: () => Promise<void> = async () => {},
  ): Reservation {
    const { answer, records } = row;
    if (answer === null) throw answerRemoved();
    return {
      micros: row.micros,
      stored: { text: answer, records },
      release,
      commit: async (answer) => {
        const headers = this.#paidHeaders(sale, await settle());
        await this.#parts.repeats.keep(answer);
        return headers;
      },
    };
  }

  /** Headers of an answer that x402 paid. */
  #paidHeaders({ price }: Sale, row: Payment): Record<string, string> {
    const transaction = row.hash ?? '';
    const payer = transferOf(row).from;
    const extensions = this.#parts.signer.receipt(price.resource.url, payer, transaction, this.#now());
    return {
      ...receiptHeader({ success: true, transaction, payer, extensions }),
      'X-Charge-EUR': String(eur(row.micros)),
      'Cache-Control': 'private, no-store',
    };
  }

  #now(): number {
    return this.#parts.now().getTime();
  }
}

/**
 * The name under which a repeated request finds its payment: the Idempotency-Key, or the payment's
 * payment-identifier. A name that others could guess is scoped to the payer (`byPayer`), so that the order
 * numbers of two clients never collide.
 */
function nameOf({ secret, name, owner }: X402Attachment, { identifier, transfer }: SignedPayment) {
  if (secret !== null) return { secret, byPayer: false };
  const key = name ?? identifier;
  if (key === null) return { secret, byPayer: false };
  const byPayer = owner === 'anonymous' && !isSecret(key);
  return { secret: secretKey(byPayer ? `payer ${transfer.from}` : owner, key), byPayer };
}

function conflict(): ApiError {
  return new ApiError('idempotency_conflict', 'This Idempotency-Key was used for another request.');
}

/** Renews the lease of a row until `end` is called. A lost lease is detected when the row is written. */
function keepLease(store: Store, row: Payment, now: () => Date): { end(): void } {
  const timer = setInterval(() => {
    renewLease(store, row, now().getTime()).catch(() => {});
  }, LEASE / 3);
  timer.unref();
  return { end: () => clearInterval(timer) };
}
