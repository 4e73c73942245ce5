// The sandbox checkout: play money on one machine (contract section 1, STRIPE_*).
import { randomBytes } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { monthAfter } from '../../data/model/time.ts';
import { keyById } from '../../data/state/keys/keys.ts';
import { type Checkout, checkoutOf, closeCheckout, SESSION_LASTS } from '../../data/state/money/checkouts.ts';
import { takeInvoice } from '../../data/state/money/invoices.ts';
import { takeSession } from '../../data/state/money/receipts.ts';
import type { Store } from '../../data/state/store.ts';

/** Whether a URL names a loopback host. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  if (hostname === '[::1]' || hostname === 'localhost' || hostname.endsWith('.localhost')) return true;
  return isIPv4(hostname) && hostname.startsWith('127.');
}

/** The settings that decide whether the sandbox is open. */
export interface SandboxSettings {
  base_url: string;
  /** HOST: the address on which the server listens. */
  host: string;
  /** TRUST_PROXY. */
  trust_proxy: number;
  /** CHECKOUT. */
  checkout?: 'sandbox' | undefined;
}

/**
 * `anyone`: CHECKOUT=sandbox, every client may pay. `local`: only this machine reaches the server, and only
 * loopback clients may pay. `off`: `reason` names the setting that opens the server to others.
 */
export type SandboxMode = { mode: 'anyone' | 'local' } | { mode: 'off'; reason: string };

/** Whether the sandbox is offered without Stripe (contract section 1, STRIPE_*). */
export function sandboxMode({ base_url, host, trust_proxy, checkout }: SandboxSettings): SandboxMode {
  if (checkout === 'sandbox') return { mode: 'anyone' };
  if (!isLoopback(base_url)) return { mode: 'off', reason: 'BASE_URL is not a loopback address' };
  if (!URL.canParse(hostUrl(host)) || !isLoopback(hostUrl(host)))
    return { mode: 'off', reason: 'HOST is not a loopback address' };
  if (trust_proxy > 0) return { mode: 'off', reason: 'TRUST_PROXY is not 0' };
  return { mode: 'local' };
}

const hostUrl = (host: string) => `http://${isIPv6(host) ? `[${host}]` : host}`;

/** An unguessable session id: only a client with the link can pay. */
export const newSandboxSession = (): string => `sandbox_${randomBytes(32).toString('base64url')}`;

export interface Sandbox {
  /** Whether only loopback clients may pay. */
  local: boolean;
  /** Pays once, also when called again. Returns false for an unknown or expired session. */
  pay(session: string, now: Date): Promise<boolean>;
  cancel(session: string): Promise<void>;
}

/** Whether a sandbox checkout can still be paid. */
export const isPayable = ({ provider, state, created_at }: Checkout, now: number): boolean =>
  provider === 'sandbox' && state === 'open' && now < created_at + SESSION_LASTS;

async function isLive(store: Store, key_id: string): Promise<boolean> {
  return (await keyById(store, key_id))?.revoked_at === null;
}

/** The sandbox over the store: it books the same events as Stripe's webhook. */
export function sandbox(store: Store, local: boolean): Sandbox {
  return {
    local,
    cancel: (session) => closeCheckout(store, 'sandbox', session),
    async pay(session, now) {
      const row = await checkoutOf(store, session);
      const at = now.getTime();
      if (row === null || row.provider !== 'sandbox') return false;
      // The credit of a revoked key would be lost.
      if (row.state !== 'paid' && !(isPayable(row, at) && (await isLive(store, row.key_id)))) return false;
      const { id, key_id, kind, amount } = row;
      const subscription = kind === 'plan' ? `${session}_plan` : null;
      const names = { provider: 'sandbox', event: session, checkout: id, customer: null } as const;
      const money = { cents: amount / 10_000, currency: 'eur', at };
      const details = { ...names, ...money, session, reference: key_id, kind, paid: true, payment: null, subscription };
      await takeSession(store, details, at);
      if (subscription !== null) {
        const invoice = { ...names, ...money, invoice: `${session}_month`, subscription, ends_at: monthAfter(at) };
        await takeInvoice(store, invoice, at);
      }
      return true;
    },
  };
}
