// HEAD never runs a paid operation, cursors reveal nothing, and tags are equal for every caller and in every
// process.
import { expect, it } from 'vitest';
import { DATASET_OPERATIONS } from '../../../api/operations/table.ts';
import { balance, callStatus, describeApps, newKey } from '../../support/money-on-stores.ts';
import { requiredQuery } from '../../support/required.ts';
import { verifies } from '../../support/verifies.ts';

const PAID = DATASET_OPERATIONS.filter(({ charge: { access, price } }) => access === 'paid' || price !== undefined);

/**
 * Two addresses of an operation with different answers: another record, or a filter with many matches and
 * with none.
 */
function pairOf({ name, rest }: (typeof PAID)[number]): [string, string] {
  const path = rest.path.replace(':ds', 'tools');
  const query = requiredQuery(path);
  if (name === 'entity_batch') return [`${path}?ids=record-1,record-2`, `${path}?ids=record-1,nobody-at`];
  if (path.includes(':entity_id'))
    return [path.replace(':entity_id', 'record-1'), path.replace(':entity_id', 'record-2')];
  const more = `${query === '' ? '?' : `${query}&`}min_runtime=`;
  return [`${path}${more}1`, `${path}${more}99999`];
}

/** Headers that differ between any two answers, or between any two addresses. */
const OWN = ['x-request-id', 'x-ratelimit-remaining', 'ratelimit', 'x-ratelimit-reset'];

async function headOf(response: Response, operation: (typeof PAID)[number]) {
  expect(await response.text()).toBe('');
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !OWN.includes(name)));
  const required = headers['payment-required'];
  if (required !== undefined) {
    const { resource, ...rest } = JSON.parse(Buffer.from(required, 'base64').toString()) as Record<string, unknown>;
    expect(resource).toBeTypeOf('object');
    headers['payment-required'] = JSON.stringify(rest);
  }
  // Validators of a record differ between records and queries.
  if (operation.rest.validators) for (const name of ['etag', 'last-modified']) delete headers[name];
  return { status: response.status, headers };
}

describeApps('HEAD', {}, (stage) => {
  it.each(PAID.map((operation) => [operation.name, operation] as const))('of %s', async (_, operation) => {
    verifies('gate.head');
    const { app } = stage;
    const funded = await newKey(app, 1);
    const empty = await newKey(app);
    for (const ids of [100, 25])
      await app.ask(
        `/v1/tools/entities/batch?ids=${Array.from({ length: ids }, (_, i) => (i === 0 ? 'record-1' : `x${i}`))}`,
        empty,
      );
    const [one, two] = pairOf(operation);
    const forms = ['json', 'md', 'csv', 'ndjson'].filter((form) =>
      operation.formats.includes(form === 'md' ? 'markdown' : (form as never)),
    );
    for (const form of forms) {
      const [first, second] = [one, two].map((path) => `${path}${path.includes('?') ? '&' : '?'}format=${form}`);
      for (const { headers } of [funded, empty, { headers: { 'PAYMENT-SIGNATURE': 'e30=' } }, { headers: {} }]) {
        const ask = async (path: string) =>
          headOf(await app.ask(path, { method: 'HEAD', headers, address: '192.0.2.30' }), operation);
        const answer = await ask(first!);
        expect(await ask(second!), first).toEqual(answer);
        const free = ['link', 'x-next-cursor', 'content-length', 'x-charge-eur', 'payment-response'];
        for (const name of free) expect(answer.headers[name], name).toBeUndefined();
        if (headers === funded.headers) {
          expect(answer.status, first).toBe(200);
          expect(answer.headers['x-dataset-version']).toBe(app.releases['tools']);
          expect(answer.headers['content-type']).toMatch(/json|markdown|csv/);
        } else if (headers === empty.headers) expect(answer.status).toBe(402);
        else expect([200, 401, 402]).toContain(answer.status);
      }
    }
    expect(await balance(app, funded.headers)).toBe(1.5);
  });

  it('answers as GET does up to the payment, and spends neither previews nor payments', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const head = async (path: string, init: RequestInit = {}) =>
      (await app.ask(path, { ...init, method: 'HEAD', address: '192.0.2.31' })).status;
    const record = '/v1/tools/entities/record-1';
    const get = await app.ask(record, { headers });
    const tag = get.headers.get('etag') ?? '';
    const answered = await app.ask(record, { method: 'HEAD', headers });
    for (const name of ['etag', 'last-modified', 'content-type', 'cache-control', 'vary', 'x-dataset-version'])
      expect(answered.headers.get(name), name).toBe(get.headers.get(name));
    expect(await head(record, { headers: { ...headers, 'If-None-Match': tag } })).toBe(304);
    expect(await head(record)).toBe(402);
    expect(await head('/v1/tools/entities/nobody', { headers })).toBe(404);
    expect(await head('/v1/tools/entities?limit=0', { headers })).toBe(422);
    expect(await head('/v1/tools/entities?cursor=x', { headers })).toBe(400);
    expect(await head('/v1/tools/entities?min_runtime=1', { headers: {} })).toBe(402);
    expect(await head(record, { headers: { ...headers, 'X-Max-Price-EUR': '0.001' } })).toBe(403);
    expect(await head('/v1/tools/entities?format=csv')).toBe(401);
    expect(await head(record, { headers: { Authorization: 'Bearer wrong' } })).toBe(401);
    for (let i = 0; i < 30; i += 1) expect(await head('/v1/tools/entities?limit=20')).toBe(200);
    const page = await app.json('/v1/tools/entities?limit=20', { address: '192.0.2.31' });
    expect((page.body['items'] as unknown[]).length).toBe(12);
    expect(await head('/v1/tools/entities?limit=8')).toBe(200);
    const rest = await app.json('/v1/tools/entities?limit=8', { address: '192.0.2.31' });
    expect(rest.status).toBe(200);
    expect(await head('/v1/tools/entities?limit=1')).toBe(402);
    expect(await balance(app, headers)).toBe(0.496);
  });
});

describeApps('cursors and tags', {}, (stage) => {
  it('a cursor of one process works in the other, and the same page has the same cursor', async () => {
    verifies('gate.cursor');
    const { app, other } = stage;
    const path = '/v1/tools/entities?sort=-mass&limit=3';
    const first = await app.json(path, { admin: true });
    const cursor = String(first.body['next_cursor']);
    expect((await other.json(path, { admin: true })).body['next_cursor']).toBe(cursor);
    expect((await app.json(path, { admin: true })).body['next_cursor']).toBe(cursor);
    const [mine, theirs] = await Promise.all(
      [app, other].map((each) => each.json(`${path}&cursor=${cursor}`, { admin: true })),
    );
    expect(theirs!.status).toBe(200);
    expect(theirs!.body['items']).toEqual(mine!.body['items']);
    const read = Buffer.from(cursor, 'base64url').toString('latin1');
    const last = (first.body['items'] as { id: string; attributes: { mass: number } }[]).at(-1)!;
    for (const part of [last.id, app.releases['tools']!]) expect(read).not.toContain(part);
    const forged = cursor.replace(/.$/, (end) => (end === 'A' ? 'B' : 'A'));
    const refused = [forged, cursor.slice(0, -4), `${cursor}AAAA`, 'abcd', '73FClsvQWzEsImU1MmFiMDUyYzBhYTExMmMiXQ'];
    for (const each of refused)
      expect(await callStatus(app, `${path}&cursor=${each}`, { admin: true })).toBe('400 invalid_cursor');
    for (const elsewhere of ['sort=mass', 'sort=-mass&min_mass=1', 'sort=name'])
      expect(await callStatus(app, `/v1/tools/entities?${elsewhere}&cursor=${cursor}`, { admin: true })).toBe(
        '400 invalid_cursor',
      );
    expect(await callStatus(app, `/v1/harbours/entities?cursor=${cursor}`, { admin: true })).toBe('400 invalid_cursor');
  });

  it('the tag of a paid record is equal for operators, keys and anonymous callers, in every process', async () => {
    verifies('gate.tag');
    const { app, other } = stage;
    const { headers } = await newKey(app);
    const paths = ['', '.md', '/facts', '/prices'].map((end) => `/v1/tools/entities/record-1${end}`);
    for (const path of [...paths, `${paths[0]}?fields=mass`, `${paths[0]}?as_of=2026-11-19`]) {
      const tag = (await app.ask(path, { admin: true })).headers.get('etag') ?? '';
      expect(tag, path).toMatch(/^W\/"[\w-]{22}"$/);
      expect((await other.ask(path, { headers })).headers.get('etag'), path).toBe(tag);
      const before = await balance(app, headers);
      for (const [process, more] of [
        [app, {}],
        [other, {}],
        [other, headers],
        [app, { 'PAYMENT-SIGNATURE': 'e30=' }],
      ] as const) {
        const again = await process.ask(path, { headers: { ...more, 'If-None-Match': `"x", ${tag}` } });
        expect([again.status, again.headers.get('etag')], path).toEqual([304, tag]);
      }
      expect(await balance(app, headers)).toBe(before);
      expect(await callStatus(app, path, { headers: { 'If-None-Match': '"guess"' } })).toBe('402 payment_required');
      expect(await callStatus(app, path, { headers: { 'If-None-Match': '*' } })).toBe('304');
      const eleventh = [...Array.from({ length: 10 }, (_, i) => `"${i}"`), tag].join(', ');
      expect(await callStatus(app, path, { headers: { 'If-None-Match': eleventh } })).toBe('402 payment_required');
    }
  });
});
