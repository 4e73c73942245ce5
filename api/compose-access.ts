// Everything the gate needs to know callers, count their calls and take their money, put together over one store.
import { sealedCursors } from '../data/input/cursor.ts';
import { adminKeys } from '../data/state/admin-keys.ts';
import { forgetClaims } from '../data/state/claims.ts';
import { forgetOldAddresses } from '../data/state/forget.ts';
import { forgetGrants } from '../data/state/grants.ts';
import { forgetAnswers } from '../data/state/idempotency.ts';
import { forgetLinks } from '../data/state/links.ts';
import { openLookup } from '../data/state/lookup.ts';
import { openMailer } from '../data/state/mail.ts';
import { forgetItems } from '../data/state/oauth-items.ts';
import { forgetSessions } from '../data/state/ops-sessions.ts';
import { forgetMails } from '../data/state/outbox.ts';
import { forgetQuotas, storedQuotas } from '../data/state/quotas.ts';
import { sharedSecret } from '../data/state/secrets.ts';
import { openStore, type Store, type StoreOptions } from '../data/state/store.ts';
import { forgetTraffic } from '../data/state/traffic.ts';
import { adminsOnly, operatorsAndKeys } from './access/caller.ts';
import { entityTags } from './access/entity-tags.ts';
import { memoryLimits, redisLimits } from './access/limits.ts';
import { previewsIn } from './access/previews.ts';
import { openRedis } from './access/redis.ts';
import { redisQuotas } from './access/redis-quotas.ts';
import { accessTokens } from './access/tokens.ts';
import { storedAccounts } from './accounts/accounts.ts';
import { openCheckout } from './checkout/open.ts';
import type { StripeSettings } from './checkout/stripe.ts';
import { creditPayments } from './payments/credits.ts';
import { quoter } from './payments/payments.ts';
import { storedRepeats } from './payments/repeats.ts';
import type { X402Settings } from './payments/x402/open.ts';

export interface AccessOptions extends StoreOptions {
  /** `redis://…`; absent: limits in this process, quotas in the store. */
  redisUrl?: string | undefined;
  /** SMTP_URL and MAIL_FROM; absent: mails go into the outbox, from the host of the base URL. */
  smtpUrl?: string | undefined;
  mailFrom?: string | undefined;
  /** ADMIN_KEYS; null: one is made at first start. */
  adminKeys: readonly string[] | null;
  /** Shows that new key, once and at once: whatever fails afterwards, it is stored already. */
  showAdminKey?: (key: string) => void;
  /** HOST, TRUST_PROXY and CHECKOUT: they decide whether there is a sandbox checkout. */
  host: string;
  trust_proxy: number;
  checkout?: 'sandbox' | undefined;
  /** WELCOME_BUDGET_EUR in micro-euros; absent: no bound. */
  welcome_budget?: number | undefined;
  /** Hosted checkout; absent: the sandbox, or none (contract section 1). */
  stripe?: StripeSettings | undefined;
  /** Absent or null: x402 is not offered. */
  x402?: X402Settings | null;
  base_url: string;
  eur_usd: number;
  now(): Date;
  log(line: string): void;
}

/** How often what is over is forgotten, in milliseconds. */
const SWEEP = 3_600_000;
/** How long files of the outbox stay, in milliseconds: their links are over by then. */
const MAILS_STAY = 30 * 24 * 3_600_000;

/** Opens store and Redis. Close it when the last answer is out. */
export async function openAccess(options: AccessOptions) {
  const { base_url, eur_usd, now, log } = options;
  const store = await openStore(options);
  const admins = await adminKeys(store, options.adminKeys);
  if (admins.made !== null) options.showAdminKey?.(admins.made);
  const redis = options.redisUrl === undefined ? null : await openRedis(options.redisUrl, log);
  const lookup = openLookup(store);
  const stored = storedQuotas(store);
  const quotas = redis ? redisQuotas(redis, stored) : stored;
  const repeats = storedRepeats(store, quotas, now);
  const from = options.mailFrom ?? `register@${new URL(base_url).hostname}`;
  const mailer = openMailer({ dataDir: options.dataDir, smtpUrl: options.smtpUrl, from, log });
  const byToken = accessTokens({ store, lookup, base_url, now });
  const { host, trust_proxy, stripe } = options;
  const checkout = await openCheckout({ store, base_url, host, trust_proxy, checkout: options.checkout, stripe, log });
  const settings = options.x402 ?? null;
  // What settles on a chain is loaded only where it is offered.
  const x402 =
    settings && (await import('./payments/x402/open.ts')).openX402({ store, repeats, settings, eur_usd, now, log });
  const quote = quoter({ base_url, eur_usd, checkout: checkout.sells, x402: x402?.asks });
  const credits = creditPayments({ store, lookup, repeats, quote, now });
  const answers = await sharedSecret(store, 'answers');
  const sweeping = setInterval(() => {
    sweep(store, options.dataDir, now()).catch((error: Error) => log(`cannot forget what is over: ${error.message}`));
  }, SWEEP).unref();
  return {
    gate: {
      identify: operatorsAndKeys(adminsOnly(admins.hashes), lookup, now, byToken),
      limits: redis ? redisLimits(redis) : memoryLimits(),
      previews: previewsIn(quotas),
      payments: x402?.front(credits) ?? credits,
      repeats,
      cursors: sealedCursors(answers),
      tags: entityTags(answers),
      accounts: storedAccounts({
        store,
        quotas,
        post: mailer.post,
        desk: checkout.desk,
        base_url,
        welcome_budget: options.welcome_budget,
      }),
    },
    checkout: checkout.pages,
    /** SHA-256 of every operator's key. */
    admins: new Set(admins.hashes),
    store,
    /** Whether Redis answers; null where none is set. */
    redisUp: () => redis?.up() ?? null,
    /** For tests: what x402 does by itself from time to time. */
    sweepPayments: async (): Promise<void> => x402?.sweep(),
    quotas,
    mailer,
    async close() {
      clearInterval(sweeping);
      x402?.close();
      await redis?.close();
      lookup.close();
      await mailer.close();
      await store.close();
    },
  };
}

async function sweep(store: Store, dataDir: string, now: Date): Promise<void> {
  await forgetAnswers(store, now.getTime());
  await forgetQuotas(store, now);
  await forgetItems(store, now.getTime());
  await forgetGrants(store, now.getTime());
  await forgetClaims(store, now.getTime());
  await forgetLinks(store, now.getTime());
  await forgetSessions(store, now.getTime());
  await forgetTraffic(store, now.getTime());
  await forgetOldAddresses(store, now.getTime());
  await forgetMails(dataDir, { before: now.getTime() - MAILS_STAY });
}
