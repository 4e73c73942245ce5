// A process of the API, whether one thread answers its calls or several: settings, intervals, signals.

import type { Config } from '../config.ts';
import { loadPacks } from '../packs/define/load.ts';
import type { Settings } from './compose.ts';
import type { Log } from './http/log.ts';
import type { X402Settings } from './payments/x402/open.ts';

/**
 * Interval of the check for new releases and overlay changes, in milliseconds: a decision in one process must
 * take effect in all within a second. A check is a small query, and a small file per dataset.
 */
export const LOOK = 400;
/** Interval of the check for new releases in object storage, in milliseconds: one small query. */
export const FOLLOW = 1_000;
/** Milliseconds that a statement on PostgreSQL may take: a call answers 503 after it. */
const STATEMENT_LIMIT = 5_000;
/** Prints a line for the person who starts the process. Not to the log, which must not contain a key. */
export const print = (line: string) => void process.stdout.write(`${line}\n`);

/** Stripe's settings; config.ts checks that both secrets are set, or neither. */
function stripeOf(config: Config) {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_BASE: apiBase } = config;
  return secretKey === undefined || webhookSecret === undefined ? undefined : { secretKey, webhookSecret, apiBase };
}

function x402Of({ X402_PAY_TO, X402_FACILITATOR_URL, X402_RPC_URL, X402_TOKENS }: Config): X402Settings | null {
  if (X402_PAY_TO === undefined || X402_FACILITATOR_URL === undefined || X402_RPC_URL === undefined) return null;
  return {
    pay_to: X402_PAY_TO,
    facilitator_url: X402_FACILITATOR_URL,
    rpc_url: X402_RPC_URL,
    tokens: X402_TOKENS,
  };
}

/** Maps the environment's settings to those of the composition root. */
export async function settingsOf(config: Config, log: Log): Promise<Settings> {
  return {
    // First: an invalid pack must end the start before a key is created.
    packs: await loadPacks(config.PACK_DIRS),
    dataDir: config.DATA_DIR,
    dist: config.DIST_DIR,
    databaseUrl: config.DATABASE_URL,
    statement_limit: STATEMENT_LIMIT,
    wait: { seconds: config.DATABASE_WAIT_SECONDS, report: log.info },
    redisUrl: config.REDIS_URL,
    adminKeys: config.ADMIN_KEYS,
    showAdminKey: (key) => print(`Admin key, shown only once: ${key}`),
    smtpUrl: config.SMTP_URL,
    mailFrom: config.MAIL_FROM,
    host: config.HOST,
    trust_proxy: config.TRUST_PROXY,
    checkout: config.CHECKOUT,
    welcome_budget: Math.round(config.WELCOME_BUDGET_EUR * 1_000_000),
    stripe: stripeOf(config),
    x402: x402Of(config),
    base_url: config.BASE_URL,
    eur_usd: config.EUR_USD,
    mcp_origins: config.MCP_ORIGINS,
    fast_path: config.FAST_PATH === '1',
    fetch: publicFetch(),
    now: () => new Date(),
    log: log.info,
    report: log.failed,
  };
}

/** A running API, as its process stops it. */
export interface Running {
  /** Load balancers read /readyz and send no more calls, before the port closes. */
  drain(): void;
  close(): void;
}

/**
 * Stops the API at SIGTERM or SIGINT; a second signal ends it at once. SIGINT comes from a person, who waits for no
 * load balancer.
 */
export function stopOnSignals({ DRAIN_SECONDS }: Config, log: Log, { drain, close }: Running): void {
  const stop = (signal: NodeJS.Signals) => {
    process.off('SIGTERM', stop).off('SIGINT', stop);
    drain();
    if (DRAIN_SECONDS === 0 || signal === 'SIGINT') return close();
    log.info(`stopping in ${DRAIN_SECONDS} s; /readyz answers 503`);
    setTimeout(close, DRAIN_SECONDS * 1000);
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}

/** `fetch` for public addresses (data/model/guard.ts). Its library is loaded with the first call, if there is any. */
function publicFetch(): typeof fetch {
  let loaded: Promise<typeof fetch> | undefined;
  const load = async () => {
    const { guardedFetch, publicOnly } = await import('../data/model/guard.ts');
    return guardedFetch(publicOnly);
  };
  return async (...request) => {
    loaded ??= load();
    return (await loaded)(...request);
  };
}
