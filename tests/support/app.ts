// The real app over small releases of the fictional packs, called without a socket; only external services
// are doubles.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Caller, Credential } from '../../api/access/caller.ts';
import { type Bucket, memoryLimits } from '../../api/access/limits.ts';
import { type Application, compose, type Settings } from '../../api/compose.ts';
import type { CallDeps } from '../../api/gate/execute.ts';
import type { X402Settings } from '../../api/payments/x402/open.ts';
import { datasetNight } from '../../build/night/dataset.ts';
import { INDEX_FILE, INDEX_FOLDER, paths, RELEASE_FILES } from '../../data/model/layout.ts';
import { currentRelease } from '../../data/model/manifest.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Register } from '../../data/releases/register.ts';
import type { Store } from '../../data/state/store.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { fixture } from './fixtures.ts';
import { still } from './night-pack.ts';
import { randomHistory } from './random-history.ts';
import { randomRecords } from './random-records.ts';
import { writeRelease } from './write-release.ts';

const TESTS = join(import.meta.dirname, '..');

export const NOW = new Date('2026-11-20T12:00:00Z');
export const BASE = 'https://register.example';
export const ADMIN = 'an-admin-key-of-the-tests-0123456789';

export interface TestApp {
  /** Sends a request; `address` is the client's, so that limits and quotas of tests do not interfere. */
  ask(path: string, init?: RequestInit & { address?: string; admin?: boolean }): Promise<Response>;
  /** The same, with the body read as JSON. */
  json(path: string, init?: RequestInit & { address?: string; admin?: boolean }): Promise<Answer>;
  /** The app itself, for use behind a socket. */
  fetch: Application['app']['fetch'];
  /** The service's request listener. */
  listener(): RequestListener;
  records: Record<string, StoredRecord[]>;
  releases: Record<string, string>;
  register: Register;
  /** Keys and ledger, for data that no operation returns. */
  state: Store;
  /** DATA_DIR. */
  dataDir: string;
  /** Writes another release of a dataset and makes the register open it; returns its id. */
  publish(dataset: string, records: StoredRecord[]): Promise<string>;
  /** Runs the periodic work of x402. */
  sweepPayments(): Promise<void>;
  /** Retries what Stripe did not answer. */
  sweepCheckouts(): Promise<void>;
  /** Sends the changes that subscriptions wait for. */
  sendChanges(): Promise<void>;
  /** Reported internal errors. */
  faults: unknown[];
  /** Number of open leases on releases. */
  lent(): number;
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

export interface TestOptions {
  calls?: Partial<Record<Bucket, number>>;
  /** Further credentials, such as keys, with their callers. */
  known?: (credential: Credential) => Caller | null;
  gate?: Partial<CallDeps>;
  /** DIST_DIR. */
  dist?: string;
  records?: number;
  /** Folders of further packs, below tests/. */
  packs?: readonly string[];
  /**
   * Releases made by a night from the packs' own sources, with history; `records` of the app are then theirs.
   */
  nights?: boolean;
  /** false: releases without their packed index, so that DuckDB answers everything. */
  index?: boolean;
  /** Location of the state, instead of SQLite in a temporary folder. */
  store?: { databaseUrl?: string; schema?: string; redisUrl?: string; statement_limit?: number };
  /** Settings of x402; not offered without. */
  x402?: X402Settings;
  /** Origins of web pages that may use MCP. */
  mcp_origins?: readonly string[];
  /** SQL_MEMORY in bytes, the default by default; null: no SQL. */
  sql_memory?: number | null;
  /** The clock; stopped at NOW by default. */
  now?: () => Date;
  /** BASE_URL; default BASE, which is no loopback and has no sandbox checkout. */
  base?: string;
  /** HOST, TRUST_PROXY and CHECKOUT for the checkout; default: those of a local service. */
  host?: string;
  trust_proxy?: number;
  checkout?: 'sandbox';
  /** Milliseconds that a repeat waits for the request with its Idempotency-Key. */
  repeat_patience?: number;
  /** Welcome credit of a day in micro-euros; default: no limit. */
  welcome_budget?: number;
  /** Stripe, or a double of it. */
  stripe?: NonNullable<Settings['stripe']>;
  /** SELLER_*. */
  seller?: NonNullable<Settings['seller']>;
  /** SMTP_URL; default: the outbox. */
  smtp?: string;
  /** Receives the service's log lines about money. */
  log?: (line: string) => void;
  /** Fetches client ID metadata documents. */
  fetch?: Settings['fetch'];
  /** Receivers of changes on this machine. */
  open_hosts?: ReadonlySet<string>;
}

/** The app of a test file, closed after its tests: `const app = await appOfAll();` */
export async function appOfAll(options: TestOptions = {}): Promise<TestApp> {
  const app = await testApp(options);
  afterAll(() => app.close());
  return app;
}

/** Builds the app with the packs tools and harbours, and `packs`. Close it after the tests. */
export async function testApp(options: TestOptions = {}): Promise<TestApp> {
  const dataDir = mkdtempSync(join(tmpdir(), 'app-'));
  const packs: Pack[] = [];
  const records: Record<string, StoredRecord[]> = {};
  const releases: Record<string, string> = {};
  for (const folder of ['packs/harbours', 'packs/tools', ...(options.packs ?? [])]) {
    const pack = await loadPack(join(TESTS, folder));
    const dataset = pack.id;
    packs.push(pack);
    const count = options.nights ? null : (options.records ?? 60);
    await fixture(`${folder} ${count ?? 'nights'}`, dataDir, async (made) => {
      if (count === null) return void (await datasetNight(pack, made, still(), { accept: true }));
      const random = randomRecords(pack, count, 7);
      // Pages link to each record of the changelog.
      const history = randomHistory(pack, random, 7, NOW.getTime()).filter(({ entity }) => entity !== 'r-gone');
      await writeRelease(made, pack, random, true, history);
    });
    const release = (await currentRelease(dataDir, dataset))!;
    releases[dataset] = release;
    if (options.index === false) rmSync(join(paths.release(dataDir, dataset, release), INDEX_FOLDER, INDEX_FILE));
    const lines = readFileSync(join(paths.release(dataDir, dataset, release), RELEASE_FILES.jsonl), 'utf8');
    records[dataset] =
      count === null
        ? lines
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line) as StoredRecord)
        : randomRecords(pack, count, 7);
  }
  const { store: on = {}, now = () => NOW, base = BASE, stripe, log = () => {} } = options;
  const faults: unknown[] = [];
  let lent = 0;
  const application = await compose({
    packs,
    dataDir,
    dist: options.dist ?? join(dataDir, 'dist'),
    adminKeys: [ADMIN],
    base_url: base,
    eur_usd: options.gate?.eur_usd ?? 1.1,
    x402: options.x402 ?? null,
    now,
    log,
    host: options.host ?? '127.0.0.1',
    trust_proxy: options.trust_proxy ?? 0,
    checkout: options.checkout,
    welcome_budget: options.welcome_budget,
    repeat_patience: options.repeat_patience,
    ...(stripe ? { stripe } : {}),
    ...(options.seller ? { seller: options.seller } : {}),
    smtpUrl: options.smtp,
    sql_memory: options.sql_memory === undefined ? 512 * 2 ** 20 : options.sql_memory,
    ...on,
    mcp_origins: options.mcp_origins ?? [],
    fetch: options.fetch,
    ...(options.open_hosts && { open_hosts: options.open_hosts }),
    report: (error) => faults.push(error),
    adjust: (gate) => ({
      ...gate,
      identify: async (credential) => options.known?.(credential) ?? gate.identify(credential),
      limits: memoryLimits({
        free: 100_000,
        paid: 100_000,
        signin: 100_000,
        register: 100_000,
        sql: 100_000,
        ...options.calls,
      }),
      async lease(dataset) {
        const leases = await gate.lease(dataset);
        lent += 1;
        let given = false;
        const done = () => {
          if (!given) lent -= 1;
          given = true;
          leases.done();
        };
        return { ...leases, done };
      },
      trust_proxy: 1,
      code: 'tests',
      ...options.gate,
    }),
  });
  const { app, register } = application;
  // Tests begin with everything loaded, like a service that is warm.
  while (packs.some(({ id }) => register.current(id)?.warm?.() === false))
    await new Promise((done) => setTimeout(done, 5));
  const ask: TestApp['ask'] = async (path, { address, admin, ...init } = {}) => {
    const headers = new Headers(init.headers);
    if (address !== undefined) headers.set('X-Forwarded-For', address);
    if (admin === true) headers.set('Authorization', `Bearer ${ADMIN}`);
    return app.request(path, { ...init, headers });
  };
  return {
    ask,
    fetch: app.fetch,
    listener: application.listener,
    async json(path, init) {
      const response = await ask(path, init);
      const text = await response.text();
      const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      return { status: response.status, headers: response.headers, body };
    },
    records,
    releases,
    register,
    state: application.store,
    sweepPayments: application.sweepPayments,
    sweepCheckouts: application.sweepCheckouts,
    sendChanges: application.sendChanges,
    dataDir,
    async publish(dataset, next) {
      const pack = packs.find(({ id }) => id === dataset)!;
      const { release } = await writeRelease(dataDir, pack, next);
      await register.refresh();
      return release;
    },
    faults,
    lent: () => lent,
    async close() {
      await application.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
