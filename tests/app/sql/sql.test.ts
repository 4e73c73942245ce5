// SQL over HTTP and MCP: answers, formats, access, limits, the overlay (contract section 9, "SQL").
import { tableFromIPC } from 'apache-arrow';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { sqlSource } from '../../../data/sql/tables.ts';
import { appOfAll } from '../../support/app.ts';
import { listenerOfAll } from '../../support/listening.ts';
import { connectMcp } from '../../support/mcp-clients.ts';
import { claimToken, edit, optOut, verify } from '../../support/owners-stage.ts';

const app = await appOfAll({
  nights: true,
  known: ({ secret }) =>
    secret === 'pro' || secret === 'payg' ? { kind: 'key', id: secret, plan: secret, balance: 1_000_000 } : null,
});

interface Options {
  path?: string;
  key?: string;
  address?: string;
  [member: string]: unknown;
}

function post(sql: unknown, { path = '/v1/sql', key, address = '192.0.2.1', ...body }: Options = {}) {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (key) headers['Authorization'] = `Bearer ${key}`;
  return app.ask(path, { method: 'POST', address, headers, body: JSON.stringify({ sql, ...body }) });
}

async function rows(sql: string, options?: Options): Promise<unknown[][]> {
  const response = await post(sql, options);
  const body = (await response.json()) as { rows: unknown[][] };
  expect(response.status, JSON.stringify(body)).toBe(200);
  return body.rows;
}

async function refusal(sql: unknown, options?: Options) {
  const response = await post(sql, options);
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, ...body } as Record<string, unknown> & { status: number };
}

let address = 0;
/** A caller of its own, so that limits of tests do not interfere. */
const fresh = () => ({ address: `198.51.${Math.floor(address / 250)}.${(address++ % 250) + 1}` });

beforeAll(() => rows('SELECT 1 FROM harbours, tools LIMIT 1', fresh()));

describe('an answer', () => {
  test('has columns, rows, releases, citation and licence', async () => {
    const response = await post('SELECT code, name, depth FROM harbours ORDER BY code LIMIT 2', fresh());
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({
      columns: [
        { name: 'code', type: 'BIGINT' },
        { name: 'name', type: 'VARCHAR' },
        { name: 'depth', type: 'DOUBLE' },
      ],
      rows: [
        [1, expect.any(String), expect.any(Number)],
        [2, expect.any(String), expect.any(Number)],
      ],
      row_count: 2,
      truncated: false,
      releases: { harbours: app.releases['harbours'] },
      attribution: expect.stringContaining('/datasets/harbours'),
      license: expect.any(String),
    });
  });

  test('is truncated at max_rows', async () => {
    const response = await post('SELECT * FROM range(50)', { max_rows: 10, ...fresh() });
    expect(await response.json()).toMatchObject({ row_count: 10, truncated: true });
  });

  test('has exact values', async () => {
    const sql = `SELECT 9007199254740993::BIGINT, 12345678901234567890123.45::DECIMAL(30,2), 0.1::DECIMAL(3,1), DATE '2026-01-02',
      TIMESTAMP '2026-01-02 03:04:05.678901', [1, 2], {'a': 1, 'b': [NULL, 'x']}, MAP {'k': 1}, 1e300 * 1e300, NULL, true, 0.1 + 0.2::DOUBLE, 'ab'::BLOB`;
    expect(await rows(sql, fresh())).toEqual([
      [
        ...['9007199254740993', '12345678901234567890123.45', 0.1, '2026-01-02', '2026-01-02T03:04:05.678901Z'],
        ...[[1, 2], { a: 1, b: [null, 'x'] }, { k: 1 }, 'Infinity', null, true, 0.30000000000000004, 'YWI='],
      ],
    ]);
  });

  test('parameters by position and by name', async () => {
    expect(await rows('SELECT name FROM harbours WHERE code = ?', { parameters: [3], ...fresh() })).toHaveLength(1);
    const named = { parameters: { list: [1, 3], name: 'Longyear Æther' }, ...fresh() };
    expect(await rows('SELECT code FROM harbours WHERE list_contains($list, code) AND name = $name', named)).toEqual([
      [3],
    ]);
    const missing = await refusal('SELECT ?', fresh());
    expect(missing).toMatchObject({ status: 400, error: 'invalid_sql' });
  });

  test('parameters above 2^53 are exact, and one too many is an error', async () => {
    for (const number of ['9007199254740993', '9007199254740994', '-9223372036854775807', '18446744073709551615']) {
      const body = `{"sql": "SELECT ${number}::HUGEINT = ?, ${number}::HUGEINT + 1 = ?", "parameters": [${number}, ${number}]}`;
      const headers = { 'Content-Type': 'application/json' };
      const response = await app.ask('/v1/sql', { method: 'POST', headers, body, ...fresh() });
      expect(await response.json(), number).toMatchObject({ rows: [[true, false]] });
    }
    for (const parameters of [[1, 2], { 1: 1, other: 2 }])
      expect(await refusal('SELECT $1', { parameters, ...fresh() })).toMatchObject({
        ...{ status: 400, error: 'invalid_sql' },
        message: expect.stringContaining('1 parameter'),
      });
  });

  test.each(['distance_km'])('%s of a missing argument is missing', async (macro) => {
    const args = ['1', '2', '3', '4'];
    const calls = args.map((_, place) => `${macro}(${args.with(place, 'NULL').join(', ')})`);
    const every = `${macro}(NULL, NULL, NULL, NULL)`;
    expect(await rows(`SELECT ${[...calls, every].join(', ')}`, fresh())).toEqual([[null, null, null, null, null]]);
    expect(await rows('SELECT count(*) FROM harbours_as_of(NULL)', fresh())).toEqual([[0]]);
  });

  test('joins datasets by distance, reads history, provenance and the table as of a time', async () => {
    const nearest = `SELECT h.slug, t.slug, distance_km(h."position.lat", h."position.lng", t."workshop.lat", t."workshop.lng") AS km
      FROM harbours h, tools t WHERE km IS NOT NULL ORDER BY km LIMIT 1`;
    const [[, , km] = []] = await rows(nearest, fresh());
    expect(km).toBeCloseTo(22.64, 1);
    const past =
      "SELECT p.depth, h.depth FROM harbours_as_of('2026-07-01') p JOIN harbours h USING (id) WHERE p.depth <> h.depth";
    expect((await rows(past, fresh())).length).toBeGreaterThan(0);
    const sources = "SELECT DISTINCT source_kind FROM harbours_provenance WHERE attribute = 'depth'";
    expect(await rows(sources, fresh())).toEqual([['collector']]);
    expect((await rows("SELECT * FROM harbours_history WHERE attribute = 'depth'", fresh())).length).toBeGreaterThan(0);
  });

  test('as Markdown: rows, releases, and the sources of rows with an id', async () => {
    const response = await post('SELECT id, name, depth FROM harbours WHERE depth IS NOT NULL ORDER BY depth LIMIT 2', {
      path: '/v1/harbours/sql.md',
      ...fresh(),
    });
    const text = await response.text();
    expect(response.headers.get('content-type')).toContain('text/markdown');
    expect(text).toMatch(/^\|id\|name\|depth\|\n/);
    expect(text).toContain(`2 rows. Releases: harbours ${app.releases['harbours']}.`);
    expect(text).toMatch(/Source: pilotbook\.example 2026-/);
  });

  test('CSV, NDJSON and Arrow need a key', async () => {
    const sql = 'SELECT name, depth, fuel, surveyed FROM harbours ORDER BY code LIMIT 3';
    for (const format of ['csv', 'ndjson', 'arrow'])
      expect((await post(sql, { path: `/v1/sql?format=${format}`, ...fresh() })).status).toBe(401);
    const csv = await post(sql, { path: '/v1/sql?format=csv', key: 'pro' });
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="register.csv"');
    expect((await csv.text()).split('\r\n')).toHaveLength(5);
    const ndjson = await post(sql, { path: '/v1/sql?format=ndjson', key: 'pro' });
    const [line = ''] = (await ndjson.text()).split('\n');
    expect(Object.keys(JSON.parse(line) as object)).toContain('depth');
    const arrow = await post(sql, { path: '/v1/sql?format=arrow', key: 'pro' });
    const table = tableFromIPC(new Uint8Array(await arrow.arrayBuffer()));
    expect(table.schema.fields.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'name Utf8',
      'depth Float64',
      'fuel Bool',
      'surveyed Date32<DAY>',
    ]);
    expect(table.numRows).toBe(3);
  });
});

describe('access', () => {
  test('GET and HEAD are 405', async () => {
    for (const path of ['/v1/sql', '/v1/harbours/sql'])
      for (const method of ['GET', 'HEAD', 'PUT']) {
        const response = await app.ask(path, { method, ...fresh() });
        expect(response.status, `${method} ${path}`).toBe(405);
        expect(response.headers.get('allow')).toBe('POST, OPTIONS');
      }
  });

  test('only a plan with exports reads columns that are not public', async () => {
    for (const key of [undefined, 'payg'])
      expect(await refusal('SELECT berths FROM harbours', { ...(key && { key }), ...fresh() })).toMatchObject({
        status: 400,
      });
    expect((await rows('SELECT berths FROM harbours WHERE berths > 0', { key: 'pro' })).length).toBeGreaterThan(0);
    const history = "SELECT count(*) FROM harbours_history WHERE attribute = 'berths'";
    expect(await rows(history, fresh())).toEqual([[0]]);
    expect(await rows(history, { key: 'pro' })).not.toEqual([[0]]);
    const provenance = "SELECT count(*) FROM harbours_provenance WHERE attribute = 'berths'";
    expect(await rows(provenance, fresh())).toEqual([[0]]);
  });

  test('one dataset: its tables only', async () => {
    expect(await rows('SELECT count(*) > 0 FROM tools', { path: '/v1/tools/sql', ...fresh() })).toEqual([[true]]);
    const other = await refusal('SELECT 1 FROM tools', { path: '/v1/harbours/sql', ...fresh() });
    expect(other).toMatchObject({ status: 400, error: 'invalid_sql' });
    expect((await refusal('SELECT 1', { path: '/v1/nothing/sql', ...fresh() })).status).toBe(404);
  });

  test('20 statements a minute, one at a time, 5 s each', async () => {
    const caller = { address: '203.0.113.7' };
    const slow = post('SELECT count(*) FROM range(100000000000)', caller);
    const busy = await refusal('SELECT 1', { ...caller });
    expect(busy).toMatchObject({ status: 429, error: 'rate_limited' });
    const late = await slow;
    expect(late.status).toBe(503);
    expect(late.headers.get('retry-after')).not.toBeNull();
    expect(await late.json()).toMatchObject({ error: 'query_timeout' });
  });

  test('members that are wrong or too long are 422', async () => {
    for (const body of [{}, { max_rows: 0 }, { max_rows: 10_001 }, { parameters: 'x' }, { other: 1 }])
      expect(
        await refusal('other' in body || 'max_rows' in body || 'parameters' in body ? 'SELECT 1' : undefined, {
          ...body,
          ...fresh(),
        }),
      ).toMatchObject({ status: 422 });
    expect(await refusal('x'.repeat(10_001), fresh())).toMatchObject({ status: 422 });
    expect(await refusal('SELECT 1', { path: '/v1/sql?sql=x', ...fresh() })).toMatchObject({ status: 400 });
  });
});

describe('an error', () => {
  test.each([
    ['SELECT dept FROM harbours', { line: 1, column: 8, nearest: 'depth' }],
    ['SELECT\n  "Tiefe-Ä", dept\nFROM harbours', { line: 2, column: 3 }],
    ['SELECT 1\nFROM harbour', { line: 2, column: 6, nearest: 'harbours' }],
    ["SELECT 'ä', medain(depth) FROM harbours", { line: 1, column: 13, nearest: 'median' }],
    ['SELECT 1 FRM x y', { line: 1, column: 14 }],
  ])('%s', async (sql, detail) => {
    const body = await refusal(sql, fresh());
    expect(body).toMatchObject({ status: 400, error: 'invalid_sql', detail, is_retriable: false });
  });

  test('lists the columns of the tables of the statement', async () => {
    const { alternative_action } = await refusal('SELECT dept FROM harbours', fresh());
    expect(alternative_action).toMatch(/^Columns: harbours: id, slug, "record.name", .*harbours_history: id/);
  });
});

test('over MCP: sql_query answers Markdown, and JSON by format', async () => {
  const { base } = await listenerOfAll(app);
  const client = await connectMcp('2025-11-25', `${base}/mcp?tools=core`);
  const tool = (await client.tools()).find(({ name }) => name === 'sql_query');
  expect(tool?.inputSchema.required).toEqual(['sql']);
  const args = { sql: 'SELECT name FROM harbours WHERE code = ?', parameters: [3] };
  const answer = await client.call('sql_query', args);
  expect(answer.content[0]?.text).toMatch(/^\|name\|/);
  const json = await client.call('sql_query', { ...args, format: 'json' });
  expect(JSON.parse(json.content[0]?.text ?? '')).toMatchObject({ row_count: 1, truncated: false });
  const failed = await client.call('sql_query', { sql: 'SELECT nam FROM harbours' });
  expect(failed.isError).toBe(true);
  expect(failed.content[0]?.text).toContain('"nearest":"name"');
  await client.close();
});

test('the sources of a tier name no other file and no other column', () => {
  const release = app.register.current('tools')!;
  expect(JSON.stringify(sqlSource(release, 'public'))).not.toContain('records.parquet');
  expect(JSON.stringify(sqlSource(release, 'public').queries.history)).not.toContain('runtime');
});

describe('the overlay', () => {
  const tables = ['', '_history', '_provenance'];

  /** The rows when the tables have the last change; until then the statement is refused, with a time. */
  const rowsAfterChange = async (sql: string, key?: string) => {
    const ask = () => post(sql, { ...(key && { key }), ...fresh() });
    await vi.waitFor(async () => expect((await ask()).status).toBe(200), { timeout: 60_000, interval: 100 });
    return rows(sql, { ...(key && { key }), ...fresh() });
  };

  test("an owner's edit and an opt-out are in every table before the next statement", {
    timeout: 120_000,
  }, async () => {
    const fuel = "SELECT fuel FROM harbours WHERE slug = 'harbour-8'";
    const [[before] = []] = await rows(fuel, fresh());
    const token = await claimToken(app);
    await verify(app, token);
    expect((await edit(app, token, { fuel: !before, berths: 77 })).status).toBe(200);
    const refused = await post(fuel, fresh());
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ error: 'unavailable', is_retriable: true });
    expect(await rows('SELECT count(*) FROM tools', fresh())).toEqual([[expect.any(Number)]]);
    expect(await rowsAfterChange(fuel)).toEqual([[!before]]);
    expect(await rowsAfterChange("SELECT berths FROM harbours WHERE slug = 'harbour-8'", 'pro')).toEqual([[77]]);
    const of = "slug = 'harbour-8' AND attribute = 'fuel'";
    expect(await rows(`SELECT source_kind FROM harbours_provenance WHERE ${of}`, fresh())).toEqual([['owner']]);
    const history = `SELECT value, source FROM harbours_history WHERE ${of} AND valid_until IS NULL`;
    expect(await rows(history, fresh())).toEqual([[String(!before), 'owner']]);
    expect(await rows('SELECT count(*), count(DISTINCT id) FROM harbours', fresh())).toEqual([[13, 13]]);

    expect((await optOut(app, 'harbour-3', 'office@aether.example')).status).toBe(200);
    for (const end of tables)
      for (const key of [undefined, 'pro'])
        expect(await rowsAfterChange(`SELECT * FROM harbours${end} WHERE slug = 'harbour-3'`, key)).toEqual([]);
    expect(await rows("SELECT * FROM harbours_as_of('2026-07-01') WHERE slug = 'harbour-3'", fresh())).toEqual([]);
    expect(await rows("SELECT fuel FROM harbours WHERE slug = 'harbour-8'", fresh())).toEqual([[!before]]);
  });
});
