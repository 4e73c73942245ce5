// Which checkout this service has: Stripe where a key is set, the sandbox where only this machine can reach the service or CHECKOUT asks for it, else none.
import { type Checkout, checkoutOf } from '../../data/state/checkouts.ts';
import { keyById } from '../../data/state/keys.ts';
import type { Store } from '../../data/state/store.ts';
import { eur } from '../../packs/money.ts';
import { checkoutDesk, type Desk } from './desk.ts';
import { payable, type Sandbox, type SandboxSettings, sandbox, sandboxMode } from './sandbox.ts';
import { openStripe, type StripeSettings } from './stripe.ts';
import { stripeWebhook, type Webhook } from './webhook.ts';

/** A checkout as its pages show it. */
export interface Seen {
  kind: Checkout['kind'];
  plan: string | null;
  eur: number;
  email: string;
  state: 'open' | 'paid' | 'over';
  /** Paid with play money. */
  play: boolean;
}

/** What the checkout's own addresses do. */
export interface Pages {
  /** The checkout of a session; null for one that is not ours. Looking changes nothing. */
  look(session: string, now: Date): Promise<Seen | null>;
  /** The same, for sessions of the sandbox alone. Absent where there is no sandbox. */
  sandbox: (Sandbox & Pick<Pages, 'look'>) | null;
  /** Absent where there is no Stripe. */
  webhook: Webhook | null;
}

interface Options extends SandboxSettings {
  store: Store;
  /** Absent: the sandbox or no checkout, as sandboxMode decides. */
  stripe?: StripeSettings | undefined;
  log(line: string): void;
}

/** Puts the checkout together; `sells`: whether there is any. */
export async function openCheckout(options: Options): Promise<{ desk: Desk; pages: Pages; sells: boolean }> {
  const { store, base_url, log } = options;
  const stripe = options.stripe === undefined ? null : await openStripe(options.stripe);
  const sandboxed = sandboxMode(options);
  const playing = stripe === null && sandboxed.mode !== 'off';
  if (playing) log('Sandbox checkout: no Stripe key is set, so top-ups and plans are play money');
  else if (stripe === null && sandboxed.mode === 'off')
    log(`No checkout: no Stripe key is set, and ${sandboxed.reason}`);

  const look = async (session: string, now: Date, only?: Checkout['provider']): Promise<Seen | null> => {
    const row = await checkoutOf(store, session);
    if (row === null || (only !== undefined && row.provider !== only)) return null;
    const { kind, plan, amount, state, provider } = row;
    const email = (await keyById(store, row.key_id))?.email ?? '';
    const open = provider === 'sandbox' ? payable(row, now.getTime()) : state !== 'over';
    const standing = state === 'paid' ? 'paid' : open ? 'open' : 'over';
    return { kind, plan, eur: eur(amount), email, state: standing, play: provider === 'sandbox' };
  };
  return {
    sells: stripe !== null || playing,
    desk: checkoutDesk({ store, base_url, provider: stripe ?? (playing ? 'sandbox' : null), log }),
    pages: {
      look: (session, now) => look(session, now),
      sandbox: playing
        ? { ...sandbox(store, sandboxed.mode === 'local'), look: (session, now) => look(session, now, 'sandbox') }
        : null,
      webhook: stripe === null ? null : stripeWebhook({ store, stripe, log }),
    },
  };
}
