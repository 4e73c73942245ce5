// Traces: what a real OTLP/HTTP receiver gets from the service and from a nightly run, and that nothing is loaded
// without the setting.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { openStore } from '../../data/state/store.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { richKey, smallData, startApi } from '../support/money-processes.ts';
import { scratch } from '../support/night-pack.ts';
import { PACKS, withCopies } from '../support/whole-night.ts';

const ROOT = join(import.meta.dirname, '../..');
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: number | string } }[];
}

interface Exported {
  resourceSpans: { resource: { attributes: Span['attributes'] }; scopeSpans: { spans: Span[] }[] }[];
}

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** Starts a server that answers every request with `answer`; returns its address and what it received. */
async function receiver(answer: object) {
  const received: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const parts = await Array.fromAsync(request as AsyncIterable<Buffer>);
    received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts).toString() });
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

const valuesOf = (attributes: Span['attributes']) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));

function spansOf(received: { path: string; body: string }[]): Span[] {
  expect(new Set(received.map(({ path }) => path))).toEqual(new Set(['/v1/traces']));
  const exported = received.map(({ body }) => JSON.parse(body) as Exported);
  return exported.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );
}

test('a paid call is one trace, from the traceparent of the client to Stripe', async (context) => {
  const url = process.env['TEST_DATABASE_URL'];
  if (!url) context.skip('TEST_DATABASE_URL is not set');
  const schema = `traces_${randomBytes(6).toString('hex')}`;
  const store = await openStore({ dataDir: scratch(), databaseUrl: url, schema });
  const { dataDir, remove } = await smallData();
  const collector = await receiver({});
  const session = { id: 'cs_test_1', object: 'checkout.session', url: 'https://pay.example/1' };
  const stripe = await receiver(session);
  const api = await startApi(dataDir, {
    DATABASE_URL: `${url}?options=${encodeURIComponent(`-c search_path=${schema}`)}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.address,
    OTEL_SERVICE_NAME: 'register-of-the-test',
    STRIPE_SECRET_KEY: 'sk_test_of_the_traces',
    STRIPE_WEBHOOK_SECRET: 'whsec_of_the_traces',
    STRIPE_API_BASE: stripe.address,
  });
  const { key } = await richKey(api, 'traces@example.org', 'payg', 5);
  const headers = { Authorization: `Bearer ${key}`, traceparent: `00-${TRACE}-${PARENT}-01` };
  const search = await api.ask('/v1/tools/entities?limit=1&q=hammer-of-the-query', headers);
  expect(search.status).toBe(200);
  const changes = await api.ask('/v1/tools/changelog?days=365', headers);
  expect(changes.status, changes.body).toBe(200);
  expect((await api.ask('/v1/keys/topup', headers, 'POST', '{"amount_eur":20}')).status).toBe(200);
  expect((await api.ask(`/nowhere/${key}`, headers)).status).toBe(404);
  await api.kill('SIGTERM');
  await sql`drop schema ${sql.id(schema)} cascade`.execute(store.db);
  await store.close();
  remove();

  const spans = spansOf(collector.received).filter(({ traceId }) => traceId === TRACE);
  const requests = spans.filter(({ kind }) => kind === 2);
  expect(requests.every(({ parentSpanId }) => parentSpanId === PARENT)).toBe(true);
  const of = (name: string) => requests.find((each) => each.name === name)!;
  const childrenOf = (parent: Span): Span[] => {
    const own = spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId);
    return [...own, ...own.flatMap(childrenOf)];
  };
  const searched = of('GET /v1/:ds/entities');
  expect(valuesOf(searched.attributes)).toEqual({
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'http.route': '/v1/:ds/entities',
    'url.path': '/v1/tools/entities',
    'url.scheme': 'http',
    'register.operation': 'entity_search',
    'register.channel': 'rest',
    'register.dataset': 'tools',
    'register.outcome': 'ok',
  });
  const steps = childrenOf(searched).map(({ name }) => name);
  expect(steps).toEqual(expect.arrayContaining(['identify', 'reserve', 'query', 'charge']));
  // The ledger of the charge.
  const charge = childrenOf(searched).find(({ name }) => name === 'charge')!;
  const ledger = childrenOf(charge).map(({ attributes }) => valuesOf(attributes));
  expect(ledger.every((attributes) => attributes['db.system.name'] === 'postgresql')).toBe(true);
  expect(ledger.map((attributes) => attributes['db.query.text'])).toContainEqual(
    expect.stringContaining('insert into "entries"'),
  );
  expect(childrenOf(of('GET /v1/:ds/changelog')).map(({ name }) => name)).toContain('DuckDB');
  for (const { startTimeUnixNano: began, endTimeUnixNano: ended } of spans)
    expect(BigInt(ended) >= BigInt(began)).toBe(true);

  const outgoing = childrenOf(of('POST /v1/keys/topup')).find(({ name }) => name === 'POST')!;
  expect(valuesOf(outgoing.attributes)).toMatchObject({ 'server.address': '127.0.0.1' });
  expect(stripe.received[0]?.headers['traceparent']).toBe(`00-${TRACE}-${outgoing.spanId}-01`);
  // A path that is no route names no span, and what a client sent is nowhere.
  expect(valuesOf(of('GET').attributes)['url.path']).toBe('/nowhere/…');
  const everything = collector.received.map(({ body }) => body).join('\n');
  expect(everything).not.toMatch(/dsr_|traces@example|hammer-of-the-query|sk_test_of|whsec_of/);
  const [first] = (JSON.parse(collector.received[0]!.body) as Exported).resourceSpans;
  expect(valuesOf(first!.resource.attributes)['service.name']).toBe('register-of-the-test');
}, 120_000);

test('a nightly run is a trace for each dataset, with its steps', async () => {
  const folder = scratch();
  const collector = await receiver({});
  cpSync(join(PACKS, 'tools'), join(folder, 'packs/tools'), { recursive: true });
  await withCopies(join(folder, 'dist'));
  const child = spawn(process.execPath, [join(ROOT, 'build/nightly.ts')], {
    env: {
      ...CHILD_ENV,
      DATA_DIR: join(folder, 'data'),
      DIST_DIR: join(folder, 'dist'),
      PACK_DIRS: join(folder, 'packs'),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.address,
    },
    stdio: 'ignore',
  });
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  const spans = spansOf(collector.received);
  const run = spans.find(({ name }) => name === 'nightly run')!;
  expect(valuesOf(run.attributes)).toEqual({ 'register.dataset': 'tools' });
  const steps = spans.filter(({ parentSpanId }) => parentSpanId === run.spanId);
  expect(steps.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['fetch', 'collect', 'append facts', 'consolidate', 'check', 'index and release']),
  );
  for (const step of steps) {
    expect(BigInt(step.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(run.startTimeUnixNano) - 5_000_000n);
    expect(BigInt(step.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(run.endTimeUnixNano) + 5_000_000n);
  }
  expect(spans.map(({ name }) => name)).toContain('static files');
}, 180_000);

test('without the setting no package of OpenTelemetry is loaded', async () => {
  const { dataDir, remove } = await smallData();
  const hook = `import { registerHooks } from 'node:module'; import { writeSync } from 'node:fs';
    registerHooks({ resolve(name, context, next) { if (name.startsWith('@opentelemetry/')) writeSync(1, 'LOADED ' + name + '\\n'); return next(name, context); } });`;
  const loading = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` };
  const collector = await receiver({});
  for (const [more, loaded] of [
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.address }, true],
  ] as const) {
    const api = await startApi(dataDir, { ...loading, ...more });
    expect((await api.ask('/v1/tools/entities?limit=1')).status).toBe(200);
    await api.kill('SIGTERM');
    expect(api.output().includes('LOADED @opentelemetry/sdk-trace')).toBe(loaded);
  }
  remove();
}, 120_000);
