// The sandbox checkout: play money for whoever tries the register out on one machine (contract section 1, STRIPE_*).
import { randomBytes } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { type Checkout, checkoutOf, closeCheckout } from '../../../data/state/checkouts.ts';
import { takeInvoice } from '../../../data/state/invoices.ts';
import { takeSession } from '../../../data/state/receipts.ts';
import type { Store } from '../../../data/state/store.ts';
import { monthAfter } from '../../../data/time.ts';

/** Whether an address can only be this machine. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  if (hostname === '[::1]' || hostname === 'localhost' || hostname.endsWith('.localhost')) return true;
  return isIPv4(hostname) && hostname.startsWith('127.');
}

/** A session id that nobody can guess: whoever has the link may pay, and nobody else can make a browser do it. */
export const newSandboxSession = (): string => `sandbox_${randomBytes(32).toString('base64url')}`;

export interface Sandbox {
  /** Pays it, once: however often it is pressed, one credit. False when there is no such session, or it is over. */
  pay(session: string, now: Date): Promise<boolean>;
  cancel(session: string): Promise<void>;
}

/** How long a link is good, in milliseconds, as with Stripe. */
const SANDBOX_LASTS = 86_400_000;

/** Whether a sandbox checkout can still be paid. */
export const payable = ({ provider, state, created_at }: Checkout, now: number): boolean =>
  provider === 'sandbox' && state === 'open' && now < created_at + SANDBOX_LASTS;

/** The sandbox over the store: it tells the same news that Stripe's webhook would. */
export function sandbox(store: Store): Sandbox {
  return {
    cancel: (session) => closeCheckout(store, 'sandbox', session),
    async pay(session, now) {
      const row = await checkoutOf(store, session);
      const at = now.getTime();
      if (row === null || row.provider !== 'sandbox') return false;
      if (row.state !== 'paid' && !payable(row, at)) return false;
      const { id, key_id, kind, amount } = row;
      const subscription = kind === 'plan' ? `${session}_plan` : null;
      const names = { provider: 'sandbox', event: session, checkout: id, customer: null } as const;
      const money = { cents: amount / 10_000, currency: 'eur', at };
      const told = { ...names, ...money, session, reference: key_id, kind, paid: true, payment: null, subscription };
      await takeSession(store, told, at);
      if (subscription !== null) {
        const invoice = { ...names, ...money, invoice: `${session}_month`, subscription, ends_at: monthAfter(at) };
        await takeInvoice(store, invoice, at);
      }
      return true;
    },
  };
}
