// The composition root: builds the application from settings. The service, the tests and the bench use it.

import { remoteEngines } from '../data/duckdb/engines.ts';
import { sealedCursors } from '../data/input/cursor.ts';
import { ChildCalls } from '../data/model/child-calls.ts';
import { codeFingerprint } from '../data/model/code.ts';
import { KEPT_RELEASES, paths } from '../data/model/layout.ts';
import { tracing } from '../data/model/tracing.ts';
import type { ObjectStorage } from '../data/objects/objects.ts';
import { exportLinks } from '../data/releases/export.ts';
import { type Follower, openFollower } from '../data/releases/follow.ts';
import { type NightReader, openNightReader, registerProgress } from '../data/releases/night-state.ts';
import { openOverlays } from '../data/releases/overlays.ts';
import { openRegister, type Register, type RegisterOptions } from '../data/releases/register.ts';
import type { Release } from '../data/releases/release.ts';
import type { Owners } from '../data/review/owners.ts';
import type { HostSettings } from '../data/sql/host.ts';
import { type MakeTables, makeTables } from '../data/sql/make-tables.ts';
import { SqlProcess, type SqlRunner } from '../data/sql/process.ts';
import { sqlSource } from '../data/sql/tables.ts';
import { adminKeys } from '../data/state/keys/admin-keys.ts';
import { signingKeys } from '../data/state/keys/signing-keys.ts';
import { MailQueue } from '../data/state/mail.ts';
import { forgetExpired } from '../data/state/ops/forget.ts';
import { storedQuotas } from '../data/state/quotas.ts';
import { sharedSecret } from '../data/state/secrets.ts';
import { openStore, type Store, type StoreOptions } from '../data/state/store.ts';
import type { Pack } from '../packs/define/model.ts';
import { identifyCallers, identifyOperators } from './access/caller.ts';
import { entityTags } from './access/entity-tags.ts';
import { type Limits, memoryLimits, redisLimits } from './access/limits.ts';
import { previewsIn } from './access/previews.ts';
import { sqlAccess } from './access/sql.ts';
import { identifyTokens } from './access/tokens.ts';
import { StoredAccounts } from './accounts/accounts.ts';
import type { InvoiceSeller } from './accounts/receipt-page.ts';
import { AccountServer } from './accounts/server.ts';
import { createApp } from './app.ts';
import { buildKeyDirectory, directoryTable } from './channels/key-directory.ts';
import { openCheckout } from './checkout/open.ts';
import { checkoutTable } from './checkout/routes.ts';
import type { StripeSettings } from './checkout/stripe.ts';
import type { CallDeps } from './gate/execute.ts';
import { leaseReleases } from './gate/leases.ts';
import { quotesFor } from './gate/quote.ts';
import { RepeatedCalls } from './gate/repeated-calls.ts';
import { traceGate } from './gate/trace.ts';
import { fetchListener } from './http/client-error.ts';
import { type OAuthParts, OAuthServer } from './oauth/server.ts';
import { OPERATIONS } from './operations/table.ts';
import { type Metrics, type MetricsText, openMetrics } from './ops/metrics.ts';
import { opsTable } from './ops/server.ts';
import { openReadiness, opsDatasets, processState, reviewingOf } from './ops/state.ts';
import { claimHandlers } from './owners/claims.ts';
import { claimPages, type OwnerPages } from './owners/mailed-links.ts';
import { optOutHandlers } from './owners/opt-out.ts';
import type { OwnersParts } from './owners/parts.ts';
import { reportHandler } from './owners/requests.ts';
import { CreditPayments } from './payments/credits.ts';
import { idempotencyStore } from './payments/idempotency.ts';
import { quoter } from './payments/payments.ts';
import { didDocument, paymentSigner } from './payments/x402/discovery.ts';
import type { X402Settings } from './payments/x402/open.ts';
import { SubscriptionKeys } from './subscriptions/message.ts';
import { subscriptionPages } from './subscriptions/pages.ts';
import { SubscriptionSender } from './subscriptions/sender.ts';
import { StoredSubscriptions } from './subscriptions/subscriptions.ts';

export interface Settings extends StoreOptions {
  packs: readonly Pack[];
  /** DIST_DIR. */
  dist: string;
  /** Object storage of RELEASES_URL, from which releases are fetched; absent: those of DATA_DIR are served. */
  storage?: ObjectStorage | null;
  /** RELEASES_KEEP; absent: its default. */
  releases_keep?: number;
  /** What this thread shares with the others of its process (WORKERS); absent: it is the only one. */
  shared?: SharedParts;
  /** `redis://…`; absent: limits in this process, quotas in the store. */
  redisUrl?: string | undefined;
  /** SMTP_URL and MAIL_FROM; absent: mails go into the outbox, from the host of the base URL. */
  smtpUrl?: string | undefined;
  mailFrom?: string | undefined;
  /** ADMIN_KEYS; null: one is created at the first start. */
  adminKeys: readonly string[] | null;
  /** Receives the new key, once. */
  showAdminKey?: (key: string) => void;
  /** HOST, TRUST_PROXY and CHECKOUT decide whether the sandbox checkout is enabled. */
  host: string;
  trust_proxy: number;
  checkout?: 'sandbox' | undefined;
  /** WELCOME_BUDGET_EUR in micro-euros; absent: unlimited. */
  welcome_budget?: number | undefined;
  /** Hosted checkout; absent: the sandbox, or none (contract section 1). */
  stripe?: StripeSettings | undefined;
  /** Absent or null: x402 is disabled. */
  x402?: X402Settings | null;
  /** Milliseconds that a repeat waits for the request with its Idempotency-Key; absent: 15 seconds. */
  repeat_patience?: number | undefined;
  /** SELLER_*; absent or null: receipts name no seller. */
  seller?: InvoiceSeller | null;
  base_url: string;
  eur_usd: number;
  /** Origins of web pages that may use MCP, besides our own. */
  mcp_origins?: readonly string[];
  /** SQL_MEMORY in bytes; null or absent: there is no SQL. */
  sql_memory?: number | null;
  /** Whether a child process answers the questions that DuckDB answers; absent: this one does. */
  question_process?: boolean;
  /** `host:port` of receivers of changes that may have a private address, for tests; absent: none. */
  open_hosts?: ReadonlySet<string>;
  /** Fetches the metadata documents of OAuth clients. */
  fetch?: OAuthParts['fetch'];
  now(): Date;
  log(line: string): void;
  /** Receives every internal error, with its request id. */
  report(error: unknown, request_id: string): void;
  /** Replaces parts of the gate, for tests and benchmarks. */
  adjust?: (gate: CallDeps) => CallDeps;
}

/** Parts of the application that the threads of a process share. */
export interface SharedParts {
  releases: NonNullable<RegisterOptions['shared']>;
  /** Rate limits without Redis. */
  limits: Limits;
  /** Runs statements; null: there is no SQL. */
  sql: SqlRunner | null;
  /** State of the object storage, which one thread follows; null without one. */
  follower: Pick<Follower, 'state'> | null;
  /** The metrics of all threads, as text. */
  metrics(): Promise<MetricsText>;
}

export type Application = Awaited<ReturnType<typeof compose>>;

/** Interval of the deletion of expired rows and of retries at Stripe, in milliseconds. */
const SWEEP = 3_600_000;

/**
 * Opens store, Redis and releases and builds the app. Call `close` after the last response.
 *
 * @example
 * ```ts
 * const application = await compose(settings);
 * const response = await application.app.request('/v1/datasets');
 * await application.close();
 * ```
 */
export async function compose(settings: Settings) {
  const { base_url, now, log, report, packs, dataDir, shared } = settings;
  const started_at = now();
  const access = await openAccess(settings);
  const { store, quotas, admins } = access;
  const overlays = await openOverlays(store);
  const duckdb = shared ? null : openDuckdb(settings);
  const releases = shared?.releases ?? (duckdb?.engines && { engines: duckdb.engines });
  const register = await openRegister({ dataDir, packs, log, overlays, ...(releases && { shared: releases }) });
  const { follower, followed, readiness, health, night } = openHealth(settings, access, register);
  const metrics = openMetrics(() => processState(register, dataDir, access.redisUp, followed));
  const ownerParts = ownerPartsOf(settings, access, register, metrics);
  const owners = openOwners(ownerParts);
  const sql = shared ? shared.sql : duckdb!.sql;
  const { sender, subscriptions, pages: mailedPages } = await openSubscriptions(settings, access, register);
  const gate = await openGate(settings, access, register, night, {
    owners,
    sql,
    onSqlEnded: metrics.endedSql,
    subscriptions,
    onCall: metrics.recordCall,
  });
  const app = createApp({
    gate,
    owners,
    dist: settings.dist,
    mcp_origins: settings.mcp_origins ?? [],
    cardKey: async () => (await signingKeys(store)).keys[0],
    started_at,
    ...health,
    tables: [
      mailedPages,
      new AccountServer({ ...gate, gate, store, accounts: access.accounts, seller: settings.seller ?? null, now })
        .table,
      opsTable(
        {
          ...{ store, admins, reviewing: reviewingOf(ownerParts, register), accounts: gate.accounts },
          checkout: access.checkoutService,
          ...{ datasets: (at) => opsDatasets(register, dataDir, at), base_url, now, log },
        },
        shared?.metrics ?? metrics.text,
      ),
      checkoutTable(gate, access.checkout),
      directoryTable(
        () => buildKeyDirectory(store, base_url, now()),
        async () => didDocument(base_url, (await signingKeys(store)).published.keys),
      ),
      new OAuthServer({ ...settings, ...gate, store, quotas, report: (error) => report(error, 'oauth') }).table,
    ],
    report,
  });
  return {
    app,
    gate,
    register,
    store,
    /** Metrics of this thread. */
    metrics,
    /** Follows the releases in object storage; null without one. */
    follower,
    /** Makes `/readyz` answer 503, so that load balancers send no more calls. */
    drain: readiness.drain,
    /** Notes a look at releases and opt-outs for `/readyz`; call what it returns at its end. */
    looking: readiness.looking,
    ...access.sweeps,
    /** Sends the changes that subscriptions wait for. */
    sendChanges: () => sender.flush(),
    /** Has the tables of statements made for new releases and overlays. */
    followSql: sql ? followReleases(sql, register) : () => {},
    /** The listener of a server. */
    listener: () => fetchListener(app.fetch, base_url),
    async close() {
      duckdb?.sql?.close();
      await sender.close();
      await register.close();
      duckdb?.questions?.kill();
      settings.storage?.close();
      await access.close();
    },
  };
}

/**
 * DuckDB in at most two child processes: one answers the questions of the register and makes tables, unless this process
 * does, and one runs statements of callers.
 */
export function openDuckdb({
  dataDir,
  question_process,
  sql_memory,
  log,
}: Pick<Settings, 'dataDir' | 'question_process' | 'sql_memory' | 'log'>) {
  const settings: HostSettings = { serves: 'questions' };
  const questions = question_process ? new ChildCalls({ program: 'data/sql/host.ts', settings, log }) : null;
  const make: MakeTables = questions ? (...args) => questions.call('makeTables', args) : makeTables;
  return {
    questions,
    /** Null: engines of this process. */
    engines: questions && remoteEngines(questions),
    sql: sql_memory == null ? null : new SqlProcess({ folder: paths.sql(dataDir), memory: sql_memory, make, log }),
  };
}

/** Returns a function that reports the releases and overlays that are new since its last call. */
function followReleases(sql: SqlRunner, register: Register): () => void {
  let earlier: readonly Release[] = [];
  return () => {
    const releases = [...register.packs.keys()].flatMap((dataset) => register.current(dataset) ?? []);
    const changed = releases.filter((release) => !earlier.includes(release));
    earlier = releases;
    if (changed.length === 0) return;
    for (const tier of ['public', 'all'] as const)
      sql.follow(
        tier,
        changed.map((release) => sqlSource(release, tier)),
      );
  };
}

/** The follower of the releases in `storage` (null without one), and what `/healthz` and `/readyz` report. */
function openHealth(settings: Settings, { store, redisUp }: Access, register: Register) {
  const { storage, dataDir, releases_keep: keep = KEPT_RELEASES, log, now, shared } = settings;
  const night = openNightReader(dataDir);
  const datasets = () => [...register.packs.keys()];
  const follower = storage ? openFollower({ storage, store, dataDir, keep, datasets, log, now }) : null;
  const followed = shared?.follower ?? follower;
  const readiness = openReadiness({ register, night, store, follower: followed, redisUp, now });
  const state = () => followed?.state() ?? null;
  const progress = () => registerProgress(register, night);
  return { follower, followed, readiness, night, health: { readiness: readiness.state, storage: state, progress } };
}

/** Subscriptions to changes, and what sends them. */
async function openSubscriptions({ base_url, now, log, open_hosts }: Settings, access: Access, register: Register) {
  const { store, mailer } = access;
  const keys = new SubscriptionKeys(await sharedSecret(store, 'subscriptions'));
  const parts = { store, register, keys, mailer, base_url, ...(open_hosts && { open_hosts }) };
  const sender = new SubscriptionSender({ ...parts, now, log });
  return { sender, subscriptions: new StoredSubscriptions(parts), pages: subscriptionPages(parts) };
}

/** The gate, with the replacements of `settings.adjust`. */
async function openGate(
  settings: Settings,
  access: Access,
  register: Register,
  night: NightReader,
  {
    owners,
    onCall,
    sql,
    onSqlEnded,
    subscriptions,
  }: Required<Pick<CallDeps, 'owners' | 'onCall' | 'subscriptions'>> & {
    sql: SqlRunner | null;
    onSqlEnded: () => void;
  },
): Promise<CallDeps> {
  const { base_url, eur_usd, trust_proxy, now, dataDir } = settings;
  const gate: CallDeps = {
    ...access.gate,
    owners,
    subscriptions,
    ...(sql && { sql: sqlAccess(sql, access.gate.limits, onSqlEnded) }),
    exports: exportLinks(dataDir, await sharedSecret(access.store, 'export_links'), register),
    base_url,
    eur_usd,
    lease: leaseReleases(register, night),
    operations: OPERATIONS,
    repeated: new RepeatedCalls(),
    quotesFor,
    trust_proxy,
    code: codeFingerprint(),
    now,
    onCall,
  };
  const traces = tracing();
  const traced = traces === null ? gate : traceGate(gate, traces);
  return settings.adjust?.(traced) ?? traced;
}

type Access = Awaited<ReturnType<typeof openAccess>>;

/** Opens the parts that identify callers, count their calls and charge them, over one store. */
async function openAccess(options: Settings) {
  const { base_url, eur_usd, now, log } = options;
  const store = await openStore(options);
  const admins = await adminKeys(store, options.adminKeys);
  if (admins.made !== null) options.showAdminKey?.(admins.made);
  const { redis, quotas } = await openQuotas(options, store);
  const repeats = idempotencyStore(store, quotas, now, options.repeat_patience);
  const from = options.mailFrom ?? `register@${new URL(base_url).hostname}`;
  const mailer = new MailQueue({ store, dataDir: options.dataDir, smtpUrl: options.smtpUrl, from, now, log });
  const byToken = identifyTokens({ store, base_url, now });
  const { host, trust_proxy, stripe, welcome_budget } = options;
  const checkout = await openCheckout({ store, base_url, host, trust_proxy, checkout: options.checkout, stripe, log });
  const settings = options.x402 ?? null;
  // The blockchain libraries are loaded only if x402 is enabled.
  const signer = paymentSigner(base_url, (await signingKeys(store)).keys[0]);
  const parts = { store, repeats, signer, eur_usd, now, log };
  const x402 = settings && (await import('./payments/x402/open.ts')).openX402({ ...parts, settings });
  const quote = quoter({ base_url, eur_usd, checkout: checkout.sells, x402: x402?.asks });
  const answers = await sharedSecret(store, 'answers');
  const accounts = new StoredAccounts({
    store,
    quotas,
    mailer,
    checkoutService: checkout.service,
    base_url,
    welcome_budget,
    prepaid_secret: await sharedSecret(store, 'prepaid_keys'),
  });
  const onLowBalance = (key: string, balance: number) =>
    accounts.alertOwner(key, balance, now()).catch((error: Error) => log(`cannot send an alert: ${error.message}`));
  const credits = new CreditPayments({ store, repeats, quote, now, onLowBalance });
  const sweepCheckouts = () => checkout.service.sweep(now().getTime());
  const sweeping = sweepHourly(store, options, sweepCheckouts);
  return {
    gate: {
      identify: identifyCallers(identifyOperators(admins.hashes), store, now, byToken),
      limits: redis ? redisLimits(redis) : (options.shared?.limits ?? memoryLimits()),
      previews: previewsIn(quotas),
      payments: x402?.front(credits) ?? credits,
      repeats,
      cursors: sealedCursors(answers),
      tags: entityTags(answers),
      accounts,
    },
    accounts,
    checkout: checkout.pages,
    checkoutService: checkout.service,
    /** SHA-256 of each operator's key. */
    admins: new Set(admins.hashes),
    store,
    /** Whether Redis answers; null if it is not configured. */
    redisUp: () => redis?.up() ?? null,
    /** Check open x402 payments, and retry what Stripe did not answer, now; timers also do so regularly. */
    sweeps: { sweepPayments: async (): Promise<void> => x402?.sweep(), sweepCheckouts },
    quotas,
    mailer,
    async close() {
      clearInterval(sweeping);
      x402?.close();
      await redis?.close();
      await mailer.close();
      await store.close();
    },
  };
}

/** Deletes expired rows and retries at Stripe, regularly. */
function sweepHourly(store: Store, { dataDir, now, log }: Settings, sweepCheckouts: () => Promise<void>) {
  return setInterval(() => {
    forgetExpired(store, dataDir, now()).catch((error: Error) => log(`cannot delete expired rows: ${error.message}`));
    void sweepCheckouts();
  }, SWEEP).unref();
}

/** The daily quotas, and Redis if they are shared over it; its library is loaded only then. */
async function openQuotas({ redisUrl, log }: Settings, store: Store) {
  const stored = storedQuotas(store);
  if (redisUrl === undefined) return { redis: null, quotas: stored };
  const { openRedis, redisQuotas } = await import('./access/redis.ts');
  const redis = await openRedis(redisUrl, log);
  return { redis, quotas: redisQuotas(redis, stored) };
}

/** The parts of the owners' channel. */
function ownerPartsOf(
  { base_url, log }: Settings,
  { store, quotas, mailer }: Access,
  register: Register,
  metrics: Metrics,
): OwnersParts {
  return {
    store,
    quotas,
    mailer,
    base_url,
    editing: { store, refresh: () => register.refresh(), current: (dataset) => register.current(dataset) },
    onHeldOptOut(dataset) {
      metrics.heldOptOut(dataset);
      log(`${dataset}: too many opt-outs within an hour; further ones wait at /ops/review`);
    },
  };
}

/** The owners' operations and pages. Its parts are plain objects, since a spread copies no class methods. */
function openOwners(parts: OwnersParts): Owners & OwnerPages {
  return { ...optOutHandlers(parts), ...claimHandlers(parts), ...claimPages(parts), ...reportHandler(parts) };
}
