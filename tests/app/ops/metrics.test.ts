// The metrics of a process in the format of Prometheus.
import { expect, test } from 'vitest';
import { appOfAll } from '../../support/app.ts';
import { newKey } from '../../support/money-on-stores.ts';

const app = await appOfAll({ records: 12 });

/** Samples by name with labels, as in the text: `name{a="b"} 1`. */
async function samples(): Promise<Map<string, number>> {
  const answer = await app.ask('/ops/metrics', { admin: true });
  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
    200,
    expect.stringMatching(/^text\/plain; version=0\.0\.4/),
    'no-store',
  ]);
  const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

test('are for operators', async () => {
  const { headers } = await newKey(app);
  expect((await app.json('/ops/metrics')).body['error']).toBe('key_required');
  expect((await app.json('/ops/metrics', { headers })).body['error']).toBe('admin_required');
  expect((await app.ask('/ops/metrics', { headers: { Authorization: 'Bearer nonsense' } })).status).toBe(401);
});

test('count each call once, by outcome, and the charges', async () => {
  const { headers } = await newKey(app);
  await (await app.ask('/v1/tools/entities/record-1', { headers })).text();
  const again = { ...headers, 'Idempotency-Key': 'metrics-0000000001' };
  for (let i = 0; i < 3; i++) await (await app.ask('/v1/tools/entities/record-2', { headers: again })).text();
  await app.json('/v1/tools/entities/nobody', { headers });
  const first = await app.ask('/v1/tools/schema');
  await (await app.ask('/v1/tools/schema', { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } })).text();
  const seen = await samples();
  const calls = (operation: string, outcome: string) =>
    seen.get(`register_call_seconds_count{operation="${operation}",channel="rest",outcome="${outcome}"}`);
  expect(calls('entity_get', 'ok')).toBe(4);
  expect(calls('entity_get', 'unknown_entity')).toBe(1);
  expect(calls('dataset_schema', 'ok')).toBe(1);
  expect(calls('dataset_schema', 'unchanged')).toBe(1);
  expect(seen.get('register_charges_total{operation="entity_get",dataset="tools"}')).toBe(2);
  expect(seen.get('register_charged_eur_total{operation="entity_get",dataset="tools"}')).toBeCloseTo(0.008);
});

test('show served releases and waiting queries; nothing about Redis when none is configured', async () => {
  const seen = await samples();
  const release = app.releases['tools'];
  expect(seen.get(`register_release_records{dataset="tools",release="${release}"}`)).toBe(12);
  expect(seen.get('register_collected_seconds{dataset="tools"}')).toBeGreaterThan(1.7e9);
  expect(seen.get('register_bad_nights{dataset="tools"}')).toBe(0);
  expect([seen.get('register_queries{state="running"}'), seen.get('register_queries{state="waiting"}')]).toEqual([
    0, 0,
  ]);
  expect([...seen.keys()].filter((name) => name.startsWith('register_redis'))).toEqual([]);
  expect(seen.get('process_start_time_seconds')).toBeGreaterThan(1.7e9);
});
