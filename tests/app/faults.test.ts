// Faults of everything outside the process: each real part behind a proxy that refuses, hangs, answers garbage, is
// cut or slow. Every call ends within its time limit with the documented outcome, and works again afterwards.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, test, vi } from 'vitest';
import { redisLimits } from '../../api/access/limits.ts';
import { openRedis } from '../../api/access/redis.ts';
import { rpcChain } from '../../api/payments/x402/chain.ts';
import { httpFacilitator } from '../../api/payments/x402/facilitator.ts';
import { Web } from '../../build/crawl/web.ts';
import { npmClient } from '../../build/effects/npm.ts';
import { readPostgres } from '../../build/sources/postgres.ts';
import { startTracing } from '../../data/model/opentelemetry.ts';
import { stopTracing, trace } from '../../data/model/tracing.ts';
import { bucketStorage } from '../../data/objects/bucket.ts';
import { MailQueue } from '../../data/state/mail.ts';
import { openStore } from '../../data/state/store.ts';
import { postgres } from '../../packs/define/sources.ts';
import { ADDRESSES, noChain, ROLES, startChain } from '../chain/chain.ts';
import { startFacilitator } from '../chain/facilitator.ts';
import { testApp } from '../support/app.ts';
import { type Fault, faultyProxy } from '../support/faulty-proxy.ts';
import { mailServer } from '../support/mail-server.ts';
import { newKey } from '../support/money-on-stores.ts';
import { removeS3, S3_CREDENTIALS, startS3 } from '../support/s3-server.ts';
import { declaredAs, readAll, sourceContext } from '../support/source-context.ts';
import { startDouble } from '../support/stripe-double.ts';

/** A real part as its caller sees it through the proxy. */
interface Stage {
  /** The outcome of one call as text. */
  call(): Promise<string>;
  /** `/readyz` as text, for parts that it names. */
  readyz?(): Promise<string>;
  close(): Promise<unknown>;
}

interface Part {
  name: string;
  /** Why the part cannot be tested here; null: it can. */
  missing?: () => string | null;
  /** Starts the part and returns its port. */
  start(): Promise<{ port: number; stop(): Promise<unknown> }>;
  /** Opens its caller, on the proxy's port. */
  open(port: number): Promise<Stage>;
  works: string | RegExp;
  /** The outcome with a fault; `slow` works. */
  fails: string | RegExp;
  /** What /readyz answers meanwhile. */
  readyz?: RegExp;
  /** Most milliseconds of a call. */
  within: number;
}

const database = process.env['TEST_DATABASE_URL'];
const redis = process.env['TEST_REDIS_URL'];
const running = (address: string | undefined, fallback: number) => async () => ({
  port: Number(new URL(address!).port || fallback),
  stop: async () => {},
});
const throughPort = (address: string, port: number) =>
  Object.assign(new URL(address), { host: `127.0.0.1:${port}` }).href;
const messageOf = (error: unknown) => `error ${(error as Error).message}`;

/** An HTTP server of this process. */
async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port: (server.address() as AddressInfo).port, stop };
}

const PARTS: Part[] = [
  {
    name: 'Redis',
    missing: () => (redis ? null : 'TEST_REDIS_URL is not set'),
    start: running(redis, 6379),
    async open(port) {
      const url = throughPort(redis!, port);
      const connection = await openRedis(url, () => {});
      const limits = redisLimits(connection, { free: 1_000_000 });
      const app = await testApp({ records: 3, store: { redisUrl: url }, gate: { limits } });
      return {
        call: async () => {
          const address = `2001:db8:${randomBytes(2).toString('hex')}::1`;
          return String((await app.json('/v1/tools/entities?limit=1', { address })).status);
        },
        readyz: async () => (await app.ask('/readyz')).text(),
        close: async () => {
          await connection.close();
          await app.close();
        },
      };
    },
    works: '200',
    fails: '200',
    readyz: /^\{"status":"ready","warnings":\["Redis does not answer/,
    within: 4_000,
  },
  {
    name: 'PostgreSQL',
    missing: () => (database ? null : 'TEST_DATABASE_URL is not set'),
    start: running(database, 5432),
    async open(port) {
      const schema = `faults_${randomBytes(6).toString('hex')}`;
      const databaseUrl = throughPort(database!, port);
      // A stopped clock differs from that of PostgreSQL, so that /readyz would answer 503.
      const now = () => new Date();
      const app = await testApp({ records: 3, now, store: { databaseUrl, schema, statement_limit: 2_000 } });
      // All parts start at the same time, which may take longer than the time limits.
      const { headers } = await vi.waitFor(() => newKey(app), { timeout: 20_000 });
      return {
        call: async () => {
          const { status, body, headers: sent } = await app.json('/v1/keys/me', { headers });
          return `${status} ${String(body['error'] ?? '')} ${sent.get('retry-after') ?? ''}`.trim();
        },
        readyz: async () => (await app.ask('/readyz')).text(),
        close: async () => {
          await sql`drop schema ${sql.id(schema)} cascade`.execute(app.state.db);
          await app.close();
        },
      };
    },
    works: '200',
    fails: '503 unavailable 5',
    readyz: /^\{"status":"not_ready","reasons":\["the accounts database cannot be written"\]/,
    within: 8_000,
  },
  {
    name: 'object storage',
    async start() {
      const server = await startS3(['register']);
      return {
        port: server.port,
        stop: async () => {
          await server.close();
          removeS3(server);
        },
      };
    },
    async open(port) {
      const scratch = mkdtempSync(join(tmpdir(), 'faults-'));
      const timeouts = { connection: 300, answer: 300, upload: 300 };
      const settings = { bucket: 'register', prefix: '', endpoint: `http://127.0.0.1:${port}`, scratch, timeouts };
      const storage = bucketStorage(settings);
      const file = join(scratch, 'object');
      writeFileSync(file, 'content');
      const sha256 = 'ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73';
      return {
        call: async () => {
          try {
            await storage.put('object', { file, bytes: 7, sha256 });
            return await text(await storage.read('object'));
          } catch (error) {
            return messageOf(error);
          }
        },
        close: async () => {
          storage.close();
          rmSync(scratch, { recursive: true });
        },
      };
    },
    works: /^content$/,
    fails: /^error s3:\/\/register (does not answer|answered)/,
    within: 10_000,
  },
  {
    name: 'SMTP',
    async start() {
      const server = await mailServer();
      return { port: Number(new URL(server.url).port), stop: server.close };
    },
    async open(port) {
      const dataDir = mkdtempSync(join(tmpdir(), 'faults-'));
      const store = await openStore({ dataDir });
      const mail = { subject: 'Link', text: 'https://register.example/link' };
      let mails = 0;
      const smtpUrl = `smtp://127.0.0.1:${port}`;
      return {
        call: async () => {
          // A new connection for each mail, and a new address, which may get few.
          mails += 1;
          const now = () => new Date();
          const queue = new MailQueue({ store, dataDir, smtpUrl, from: 'register@example.org', now, log: () => {} });
          const delivery = await queue.deliver(
            await queue.post(store.db, { ...mail, to: `reader${mails}@example.org` }, now()),
          );
          await queue.close();
          return delivery;
        },
        close: async () => {
          await store.close();
          rmSync(dataDir, { recursive: true });
        },
      };
    },
    works: /^sent$/,
    fails: /^queued$/,
    within: 15_000,
  },
  {
    name: 'Stripe',
    async start() {
      const double = await startDouble();
      return { port: Number(new URL(double.stripe.apiBase).port), stop: double.close };
    },
    async open(port) {
      const stripe = { secretKey: 'sk_test_of_the_tests', webhookSecret: 'whsec_of_the_tests', timeout: 500 };
      const app = await testApp({ records: 3, stripe: { ...stripe, apiBase: `http://127.0.0.1:${port}` } });
      const { headers } = await newKey(app);
      return {
        call: async () => {
          const body = JSON.stringify({ amount_eur: 20 });
          const { status, body: answer } = await app.json('/v1/keys/topup', { method: 'POST', body, headers });
          return `${status} ${String(answer['error'] ?? '')} ${String(answer['retry_after_seconds'] ?? '')}`.trim();
        },
        close: () => app.close(),
      };
    },
    works: /^200$/,
    fails: '503 unavailable 30',
    within: 15_000,
  },
  {
    name: 'x402 facilitator',
    async start() {
      const facilitator = await startFacilitator('http://127.0.0.1:9');
      facilitator.between = async (task) =>
        task === 'verify'
          ? { isValid: false, invalidReason: 'invalid_payload' }
          : { success: false, errorReason: 'insufficient_funds', transaction: '', network: 'eip155:8453' };
      return { port: Number(new URL(facilitator.url).port), stop: facilitator.stop };
    },
    async open(port) {
      const facilitator = httpFacilitator(`http://127.0.0.1:${port}`, { verify: 1_500, settle: 1_500 });
      const requirements = { scheme: 'exact', network: 'eip155:8453' } as unknown as Parameters<
        typeof facilitator.verify
      >[1];
      const payload = { x402Version: 2, accepted: requirements, payload: {} } as Parameters<
        typeof facilitator.verify
      >[0];
      return {
        call: async () => {
          const verified = await facilitator.verify(payload, requirements).catch(() => 'does not answer');
          const { outcome } = await facilitator.settle(payload, requirements);
          return `${verified}, ${outcome}`;
        },
        close: async () => {},
      };
    },
    works: 'invalid_payload, refused',
    fails: 'does not answer, unclear',
    within: 8_000,
  },
  {
    name: 'RPC node',
    missing: noChain,
    async start() {
      const chain = await startChain();
      return { port: Number(new URL(chain.url).port), stop: () => chain.stop() };
    },
    async open(port) {
      const chain = rpcChain(`http://127.0.0.1:${port}`, 700);
      const transfer = {
        method: 'eip3009',
        asset: ADDRESSES.usdc,
        from: ROLES.payer.address,
        nonce: `0x${'5'.repeat(64)}`,
        valid_before: 4_000_000_000,
      } as unknown as Parameters<typeof chain.look>[0];
      return { call: async () => (await chain.look(transfer, Date.now(), null)).state, close: async () => {} };
    },
    works: 'unused',
    fails: 'unknown',
    within: 8_000,
  },
  {
    name: 'http source',
    start: () => serve((_request, response) => void response.end('id,name\n1,Quay\n')),
    async open(port) {
      const web = new Web({
        ...{ allowed: () => true, ports: null, sign: null, base_url: 'https://register.example', patience: 500 },
        ...{ now: () => new Date(), wait: async () => {}, random: () => 0.5 },
      });
      const url = new URL(`http://127.0.0.1:${port}/quays.csv`);
      return {
        call: () => web.get(url, {}, 1_000).then(({ body }) => body.toString(), messageOf),
        close: () => web.close(),
      };
    },
    works: /^id,name/,
    fails: /^error /,
    within: 8_000,
  },
  {
    name: 'PostgreSQL source',
    missing: () => (database ? null : 'TEST_DATABASE_URL is not set'),
    start: running(database, 5432),
    async open(port) {
      const url = throughPort(database!, port);
      return {
        async call() {
          const { context } = sourceContext('', { environment: () => url, timeout: 1_000 });
          const declared = declaredAs('postgres', postgres({ query: "select 'Quay' as name" }));
          const versions = await readAll(readPostgres(declared, context)).catch((error: unknown) => messageOf(error));
          return typeof versions === 'string' ? versions : String(versions[0]!.rows[0]!.cells[0]);
        },
        close: async () => {},
      };
    },
    works: 'Quay',
    fails: /^error PostgreSQL at /,
    within: 20_000,
  },
  {
    name: 'npm registry',
    start: () =>
      serve((_request, response) => {
        const version = { name: 'quays', version: '1.0.0', dist: { integrity: 'sha512-quays', tarball: 'http://x/' } };
        const body = { name: 'quays', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version }, time: {} };
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
      }),
    async open(port) {
      const caches = mkdtempSync(join(tmpdir(), 'faults-'));
      return {
        call: () => {
          // npm answers from its cache when the registry does not.
          const cache = join(caches, randomBytes(4).toString('hex'));
          const more = [`--registry=http://127.0.0.1:${port}/`, `--cache=${cache}`];
          const npm = npmClient({ pack: 12_000, view: 12_000 }, more);
          return npm.newest('quays').then(({ version }) => version, messageOf);
        },
        close: async () => rmSync(caches, { recursive: true }),
      };
    },
    works: '1.0.0',
    fails: /^error /,
    within: 25_000,
  },
  {
    name: 'OTLP collector',
    start: () => serve((_request, response) => void response.writeHead(200).end('{}')),
    async open(port) {
      return {
        // Tracing never fails a call: the outcome is that of the work.
        async call() {
          process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = `http://127.0.0.1:${port}`;
          process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '500';
          startTracing({ ratio: 1, service: 'tests', outgoing: false });
          const outcome = await trace('work', {}, async () => 'done');
          await stopTracing();
          return outcome;
        },
        async close() {
          delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
          delete process.env['OTEL_EXPORTER_OTLP_TIMEOUT'];
        },
      };
    },
    works: 'done',
    fails: 'done',
    within: 10_000,
  },
];

beforeAll(() => Object.assign(process.env, S3_CREDENTIALS));
afterAll(() => {
  for (const name of Object.keys(S3_CREDENTIALS)) delete process.env[name];
});

const FAULTS: Exclude<Fault, 'none'>[] = ['refuses', 'hangs', 'garbage', 'cuts', 'slow'];

describe.concurrent.each(PARTS)('$name', (part) => {
  test('fails in bounded time and works again, whatever the fault', { timeout: 100_000 }, async ({ skip, expect }) => {
    const reason = part.missing?.() ?? null;
    if (reason !== null) skip(reason);
    const real = await part.start();
    const proxy = await faultyProxy(real.port);
    const stage = await part.open(proxy.port);
    try {
      for (const fault of FAULTS) {
        expect(await stage.call(), `before ${fault}`).toMatch(part.works);
        await proxy.set(fault);
        const began = performance.now();
        expect(await stage.call(), fault).toMatch(fault === 'slow' ? part.works : part.fails);
        expect(performance.now() - began, `milliseconds with ${fault}`).toBeLessThan(part.within);
        if (stage.readyz && part.readyz && fault !== 'slow')
          await expect.poll(stage.readyz, { message: `/readyz with ${fault}`, timeout: 10_000 }).toMatch(part.readyz);
        await proxy.set('none');
        await expect.poll(stage.call, { message: `after ${fault}`, timeout: 15_000 }).toMatch(part.works);
        if (stage.readyz)
          await expect
            .poll(stage.readyz, { message: `/readyz after ${fault}`, timeout: 15_000 })
            .toBe('{"status":"ready"}');
      }
    } finally {
      await stage.close();
      await proxy.close();
      await real.stop();
    }
  });
});
