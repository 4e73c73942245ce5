// Answers from stored bytes equal those from objects to the byte, headers included, in every operation that
// returns records.
import { describe, expect, test } from 'vitest';
import { RepeatedCalls } from '../../../api/gate/repeated-calls.ts';
import { dropAnswersWith } from '../../../data/state/idempotency.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { appOfAll } from '../../support/app.ts';
import { randomSearch, randomSimilar } from '../../support/random-queries.ts';
import { pickOne, random } from '../../support/random-records.ts';

// Both calls of a pair are computed.
const app = await appOfAll({ gate: { repeated: new RepeatedCalls(0) } });

/** The query string of a random request. */
function queryOf(query: Record<string, unknown>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) search.append(name, String(one));
  return `?${search}`;
}

interface Sent {
  status: number;
  headers: [string, string][];
  body: Buffer;
}

async function sent(path: string, headers: Record<string, string> = {}): Promise<Sent> {
  const response = await app.ask(path, { admin: true, headers: { 'X-Request-Id': 'the-same', ...headers } });
  return { status: response.status, headers: [...response.headers], body: Buffer.from(await response.arrayBuffer()) };
}

describe.each(['tools', 'harbours'])('%s', (dataset) => {
  /** Calls twice: with the stored texts, and without them. */
  async function both(path: string): Promise<Sent> {
    const { engine } = app.register.current(dataset)!;
    const { text } = engine;
    let read = 0;
    engine.text = (...asked) => {
      read += 1;
      return text!(...asked);
    };
    const bytes = await sent(path);
    delete engine.text;
    const objects = await sent(path);
    engine.text = text!;
    expect(objects, path).toEqual(bytes);
    // An empty answer reads nothing, and one with `fields` is parsed.
    if (bytes.status === 200 && bytes.body.includes('"id":') && !path.includes('fields='))
      expect(read, path).toBeGreaterThan(0);
    return bytes;
  }

  test('get, for every record', async () => {
    for (const { id, slug } of app.records[dataset]!) {
      const answer = await both(`/v1/${dataset}/entities/${id}`);
      const headers = new Headers(answer.headers);
      expect(answer.status).toBe(200);
      expect(headers.get('etag')).toMatch(/^W\//);
      expect(headers.get('last-modified')).toMatch(/GMT$/);
      const again = await sent(`/v1/${dataset}/entities/${slug}`, { 'If-None-Match': headers.get('etag')! });
      expect([again.status, again.body.length]).toEqual([304, 0]);
    }
    await both(`/v1/${dataset}/entities/${app.records[dataset]![0]!.id}?fields=name`);
    expect((await both(`/v1/${dataset}/entities/nobody`)).status).toBe(404);
  });

  test('random search, batch and similar', async () => {
    const pack = await loadPack(`${import.meta.dirname}/../../packs/${dataset}`);
    const records = app.records[dataset]!;
    const next = random(5);
    const statuses = new Map<number, number>();
    const ask = async (path: string) => {
      const { status } = await both(path);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    };
    for (let i = 0; i < 150; i++) {
      await ask(`/v1/${dataset}/entities${queryOf(randomSearch(next, pack, records))}`);
      const ids = Array.from({ length: 1 + Math.floor(next() * 8) }, () => pickOne(next, records)).map((record) =>
        pickOne(next, [record.id, record.slug, record.slug.toUpperCase(), 'nobody']),
      );
      await ask(`/v1/${dataset}/entities/batch?ids=${ids}`);
      const similar = queryOf(randomSimilar(next, pack, records));
      await ask(`/v1/${dataset}/entities/${pickOne(next, records).id}/similar${similar}`);
    }
    expect(statuses.get(200)).toBeGreaterThan(400);
  }, 120_000);
});

test('an answer from bytes is stored for its Idempotency-Key, repeated exactly and dropped with its record', async () => {
  const made = await app.json('/v1/keys', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'bytes@maker.example' }),
  });
  const record = app.records['tools']![0]!;
  const headers = { Authorization: `Bearer ${made.body['key']}`, 'Idempotency-Key': 'once-and-only-once' };
  const ask = () => app.ask(`/v1/tools/entities/${record.id}`, { headers });
  const first = await ask();
  const text = await first.text();
  expect(first.headers.get('X-Charge-EUR')).not.toBeNull();
  const second = await ask();
  expect(second.headers.get('Idempotency-Replayed')).toBe('true');
  expect(await second.text()).toBe(text);
  const kept = async () => app.state.db.selectFrom('idempotency').select('records').execute();
  expect((await kept()).map(({ records }) => records)).toEqual([record.id]);
  await dropAnswersWith(app.state, record.id);
  expect(await kept()).toEqual([]);

  // A page contains related records and is dropped with each of them.
  const page = await app.ask(`/v1/tools/entities/${record.id}`, { headers: { ...headers, Accept: 'text/html' } });
  const named = (await kept()).flatMap(({ records }) => records.split(' '));
  const similar = app.records['tools']!.filter(({ id }) => id !== record.id && named.includes(id));
  expect(similar.length).toBeGreaterThan(0);
  const html = await page.text();
  for (const { slug } of similar) expect(html).toContain(`/datasets/tools/${slug}"`);
  await dropAnswersWith(app.state, similar[0]!.id);
  expect(await kept()).toEqual([]);
});
