// A process of the API, whether one thread answers its calls or several: settings, intervals, signals.

import { basename } from 'node:path';
import type { Config } from '../config.ts';
import { currentRelease } from '../data/model/manifest.ts';
import { commandLine } from '../data/model/program.ts';
import { loadPack, loadPacks, packFolders } from '../packs/define/load.ts';
import type { Pack } from '../packs/define/model.ts';
import { byCodePoint } from '../packs/define/text.ts';
import type { InvoiceSeller } from './accounts/receipt-page.ts';
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

function sellerOf({ SELLER_NAME: name, SELLER_ADDRESS: address, SELLER_TAX_ID: tax_id }: Config): InvoiceSeller | null {
  return name === undefined || address === undefined || tax_id === undefined ? null : { name, address, tax_id };
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
    seller: sellerOf(config),
    base_url: config.BASE_URL,
    eur_usd: config.EUR_USD,
    mcp_origins: config.MCP_ORIGINS,
    releases_keep: config.RELEASES_KEEP,
    sql_memory: config.SQL === '1' ? config.SQL_MEMORY : null,
    question_process: true,
    fetch: publicFetch(),
    now: () => new Date(),
    log: log.info,
    report: log.failed,
  };
}

/** Follows the packs of PACK_DIRS from those at the start. */
export const openLivePacks = (config: Config, packs: readonly Pack[], { info: log }: Log): LivePacks =>
  new LivePacks({
    dirs: config.PACK_DIRS,
    dataDir: config.DATA_DIR,
    packs,
    fetches: config.RELEASES_URL !== undefined,
    log,
  });

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

// The packs of a running service: one that appears in PACK_DIRS is opened when its first release exists, one that was
// removed is dropped.

/** Milliseconds between two reads of PACK_DIRS. */
const INTERVAL = 1_000;

interface Parts {
  /** PACK_DIRS and DATA_DIR. */
  dirs: readonly string[];
  dataDir: string;
  /** The packs at the start. */
  packs: readonly Pack[];
  /** Whether releases are fetched from object storage: a new pack is then opened before its first release. */
  fetches: boolean;
  log(line: string): void;
}

/** Follows PACK_DIRS. Changes of a served pack need a start, since Node keeps its modules. */
class LivePacks {
  readonly #parts: Parts;
  #packs: ReadonlyMap<string, Pack>;
  /** Last message about a folder, by path; of PACK_DIRS as a whole: ''. */
  readonly #messages = new Map<string, string>();
  readonly #removed = new Set<string>();
  #next = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#packs = new Map(parts.packs.map((pack) => [pack.id, pack]));
  }

  /**
   * The packs as they are now, sorted by id, if one was added or removed since the last call; else null. While PACK_DIRS
   * cannot be read, or is being replaced, the packs stay. Never throws.
   */
  async look(): Promise<Pack[] | null> {
    if (performance.now() < this.#next) return null;
    this.#next = performance.now() + INTERVAL;
    try {
      const packs = await this.#read(await packFolders(this.#parts.dirs));
      this.#messages.delete('');
      return packs;
    } catch (error) {
      this.#logOnce('', `${(error as Error).message}; the packs stay as they were`);
      return null;
    }
  }

  async #read(folders: readonly string[]): Promise<Pack[] | null> {
    const packs = new Map<string, Pack>();
    for (const folder of folders) {
      const id = basename(folder);
      const pack = this.#packs.get(id) ?? (packs.has(id) ? undefined : await this.#open(folder, id));
      if (pack !== undefined) packs.set(id, pack);
    }
    const removed = [...this.#packs.keys()].filter((id) => !packs.has(id));
    const added = [...packs.keys()].filter((id) => !this.#packs.has(id));
    if (removed.length + added.length === 0) return null;
    for (const id of removed) this.#parts.log(`${id}: its pack was removed, and its dataset is no longer served`);
    // Node keeps the modules of a pack that was removed.
    for (const id of added)
      if (this.#removed.has(id)) this.#parts.log(`${id}: its pack is back; changes in it need a start of the service`);
    for (const id of removed) this.#removed.add(id);
    this.#packs = packs;
    return [...packs.values()].sort((a, b) => byCodePoint(a.id, b.id));
  }

  /** A new pack; undefined until it has a release, and while it has mistakes. */
  async #open(folder: string, id: string): Promise<Pack | undefined> {
    const { dataDir, fetches } = this.#parts;
    if (!fetches && (await currentRelease(dataDir, id)) === null) {
      const command = commandLine('nightly', `--only ${id}`);
      this.#logOnce(folder, `${id}: a new pack; it is served when \`${command}\` has built it`);
      return undefined;
    }
    try {
      return await loadPack(folder);
    } catch (error) {
      this.#logOnce(folder, (error as Error).message);
      return undefined;
    }
  }

  #logOnce(folder: string, message: string): void {
    if (this.#messages.get(folder) !== message) this.#parts.log(message);
    this.#messages.set(folder, message);
  }
}
