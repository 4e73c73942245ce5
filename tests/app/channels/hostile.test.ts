// Ten thousand hostile requests with an operator's key, so that they reach the parsers: no fault, and no
// leak.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ERRORS } from '../../../api/contract/errors.ts';
import { DATASET_OPERATIONS } from '../../../api/operations/table.ts';
import { ADMIN, appOfAll } from '../../support/app.ts';
import { scratchOfAll } from '../../support/night-pack.ts';
import { pickOne, type Random, random } from '../../support/random-records.ts';
import { requiredQuery } from '../../support/required.ts';

const REQUESTS = 10_000;

const folder = scratchOfAll();
mkdirSync(join(folder, 'dist/datasets/tools'), { recursive: true });
mkdirSync(join(folder, 'dist/.build'));
writeFileSync(join(folder, 'secret.txt'), 'TOP SECRET');
writeFileSync(join(folder, 'dist/.build/manifest.tsv'), 'TOP SECRET');
writeFileSync(join(folder, 'dist/index.html'), '<h1>home</h1>');
symlinkSync(join(folder, 'secret.txt'), join(folder, 'dist/link.txt'));
const app = await appOfAll({ dist: join(folder, 'dist'), records: 30 });

/** Fragments of attacks on SQL, templates, paths, numbers, encodings, Markdown and prototypes. */
const ATTACKS = [
  ...[
    "'",
    "''",
    '"',
    '`',
    ';',
    '--',
    '/*',
    "' OR 1=1 --",
    "'; DROP TABLE records; --",
    '" UNION SELECT * FROM bodies --',
  ],
  ...[
    "') OR ('1'='1",
    "1); ATTACH 'x'; --",
    "read_parquet('*')",
    "COPY x TO 'stolen.csv'",
    'pg_sleep(10)',
    "' || version() || '",
  ],
  ...[
    '{{7*7}}',
    '{% include "x" %}',
    '$\u007b7*7}',
    '#{7*7}',
    '<script>alert(1)</script>',
    '](javascript:alert(1))',
    '| x |',
  ],
  ...[
    '../',
    '..%2f',
    '....//',
    '..\\',
    '%2e%2e%2f',
    '/etc/passwd',
    'C:\\',
    'file:///etc/passwd',
    '.build/manifest.tsv',
  ],
  ...[
    'NaN',
    'Infinity',
    '-Infinity',
    '1e999',
    '-0',
    '0x10',
    '9'.repeat(400),
    '1e-400',
    '9007199254740993',
    '٣',
    '1,2,3',
    '½',
  ],
  ...[
    'true',
    'TRUE',
    'null',
    'undefined',
    '[]',
    '{}',
    '{"$ne":1}',
    '[object Object]',
    '__proto__',
    'constructor',
    'toString',
  ],
  ...[
    '\0',
    'a\0b',
    '\u202e',
    '\ufeff',
    '\u{10ffff}',
    '🙂'.repeat(50),
    'é'.normalize('NFD'),
    'ß',
    'İ',
    '\r\nX-Evil: 1',
    '\n',
    '\t',
  ],
  ...['2026-02-30', '0000-00-00', '9999-12-31T23:59:60Z', '2026-11-20T00:00:00+99:99', '-1', '0', '1001', '101', ' '],
  ...['91,0,1', '0,181,1', '0,0,-1', '0,0,1e308', '90,180,1', 'nan,nan,nan', ',,', '1,2', '47,8,99999999'],
  ...[
    'quality',
    '-quality',
    '--quality',
    'updated',
    '-',
    'price',
    'price.',
    '.list',
    'price.list',
    'ord',
    'id',
    'name:fold',
  ],
  ...[
    'csv',
    'ndjson',
    'arrow',
    'md',
    'json',
    'xml',
    '*',
    '%',
    '_',
    '\\',
    '\\,',
    ',',
    ',,,,',
    'a'.repeat(600),
    'x '.repeat(300),
  ],
];
/** Fragments that are not encoded: broken and doubled percent-encoding, odd bytes. */
const RAW = [
  '%',
  '%%',
  '%2',
  '%zz',
  '%00',
  '%0a',
  '%ff',
  '%c0%ae',
  '%25%32%65',
  '%u0041',
  '%E0%A4%A',
  '+',
  '#',
  '?',
  '&',
  '=',
  ';',
];

const PARAMETERS = [
  // Parameters of analysis and history.
  ...'attribute group_by days step differ_by since as_of offset entity type'.split(' '),
  ...[
    'q',
    'near',
    'sort',
    'limit',
    'cursor',
    'fields',
    'total',
    'ids',
    'updated_since',
    'min_quality',
    'format',
    'by',
    'group',
  ],
  ...[
    'name',
    'not_name',
    'like_name',
    'has_name',
    'kind',
    'min_mass',
    'max_price.list',
    'runtime',
    'materials',
    'tested_on',
  ],
  ...[
    'min_tested_on',
    'cordless',
    'has_workshop',
    'min_price.rental',
    'ds',
    'entity_id',
    '__proto__',
    'constructor',
    'api_key',
  ],
];

/**
 * Values that are valid for some parameter, so that a hostile one next to them reaches the engine and not
 * only the first parser.
 */
const PLAUSIBLE = [
  'saw',
  'true',
  'false',
  '3',
  '0.5',
  '20',
  'mass',
  'maker',
  'name,mass',
  '-quality',
  '2026-01-01',
  '47.3,8.5,900',
  'price.list',
  'price',
  'kind',
  'kind,maker',
  'materials',
  'week',
  'changed',
  '366',
  'record-1',
  'record-1,record-2',
  '2026-11-19T00:00:00Z',
];

const ODD_METHODS = ['HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'x'];

function value(next: Random): string {
  if (next() < 0.4) return pickOne(next, PLAUSIBLE);
  const attack = Array.from({ length: 1 + Math.floor(next() * 2) }, () => pickOne(next, ATTACKS)).join(
    pickOne(next, ['', ',', ' ']),
  );
  const encoded = encodeURIComponent(attack.toWellFormed());
  return next() < 0.15 ? encoded + pickOne(next, RAW) : encoded;
}

/** Parameters by the last path segment of their operation. */
const OWN = new Map(
  DATASET_OPERATIONS.map(({ rest, input }) => {
    const shape = 'shape' in input(null) ? (input(null) as unknown as { shape: object }).shape : {};
    return [rest.path.split('/').at(-1), Object.keys(shape).filter((name) => !['ds', 'entity_id'].includes(name))];
  }),
);

function query(next: Random, path: string): string {
  const own = OWN.get(path.replace(/\.md$/, '').split('/').at(-1)) ?? [];
  const most = next() < 0.02 ? 200 : 4;
  const pairs = Array.from({ length: Math.floor(next() * most) }, () => {
    const known = own.length > 0 && next() < 0.5 ? own : PARAMETERS;
    const name = next() < 0.9 ? pickOne(next, known) : value(next);
    return next() < 0.05 ? name : `${name}=${value(next)}`;
  });
  // Mostly with the required parameters, so that the hostile value passes the first check.
  const needed = next() < 0.7 ? requiredQuery(path.replace(/\.md$/, '')).slice(1) : '';
  if (needed !== '') pairs.unshift(needed);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function path(next: Random): string {
  const kind = next();
  if (kind < 0.7) {
    const { rest } = pickOne(next, DATASET_OPERATIONS);
    const ds = next() < 0.85 ? pickOne(next, ['tools', 'harbours']) : value(next);
    const ref = next() < 0.5 ? pickOne(next, ['record-1', 'r-0000000000000000']) : value(next);
    return rest.path.replace(':ds', ds).replace(':entity_id', ref) + (next() < 0.2 ? '.md' : '');
  }
  const root = pickOne(next, [
    '/v1',
    '/v1/tools',
    '/datasets',
    '/datasets/tools',
    '',
    '/.well-known',
    '/.build',
    '/assets',
    '/v1/tools/entities',
  ]);
  const depth = next() < 0.05 ? 300 : 1 + Math.floor(next() * 5);
  const segments = Array.from({ length: depth }, () => (next() < 0.3 ? pickOne(next, RAW.slice(0, 11)) : value(next)));
  return `${root}/${segments.join('/')}`;
}

/** Header values that a client can send. */
const HEADER_VALUES = ATTACKS.filter((text) => /^[\x20-\x7e]*$/.test(text)).concat([
  'W/"',
  '"x',
  '*',
  'a'.repeat(5000),
  ',,,;q=',
  'text/markdown;q=9e9',
]);
const HEADERS = [
  'Accept',
  'If-None-Match',
  'X-Request-Id',
  'X-Forwarded-For',
  'Range',
  'Origin',
  'If-Modified-Since',
  'Cookie',
  'Content-Type',
];

function headers(next: Random): Record<string, string> {
  const sent: Record<string, string> = {};
  if (next() < 0.9) sent['Authorization'] = `Bearer ${ADMIN}`;
  else if (next() < 0.5) sent[pickOne(next, ['Authorization', 'X-API-Key'])] = pickOne(next, HEADER_VALUES);
  for (let more = Math.floor(next() * 3); more > 0; more--) sent[pickOne(next, HEADERS)] = pickOne(next, HEADER_VALUES);
  return sent;
}

/** Signs of a leak. */
const INSIDE =
  /TOP SECRET|node_modules|node:internal|\bat [\w.<>]+ \(|\.ts:\d|\/tmp\/|(?<!\/(?:public|history))\.parquet|Binder Error|Parser Error|Catalog Error|duckdb/i;
const CODES = new Set(Object.keys(ERRORS));

async function attack(next: Random): Promise<string> {
  const method = next() < 0.85 ? 'GET' : pickOne(next, ODD_METHODS);
  const at = path(next);
  const [url, sent] = [at + query(next, at), headers(next)];
  let request: Request;
  try {
    request = new Request(`http://localhost${url.startsWith('/') ? url : `/${url}`}`, { method, headers: sent });
  } catch {
    return 'unsendable';
  }
  const requestText = `${method} ${url.slice(0, 600)} ${JSON.stringify(sent).slice(0, 300)}`;
  const response = await app.ask(request.url, { method, headers: sent });
  const { status } = response;
  const text = await response.text();
  if (status >= 500)
    expect([status, response.headers.get('retry-after')], requestText).toEqual([503, expect.stringMatching(/^\d+$/)]);
  // Guides contain the names of the two public files, and of the language.
  expect(text.replace(/\bpublic\.(?:parquet|duckdb)\b|the SQL of DuckDB/g, ''), requestText).not.toMatch(INSIDE);
  expect(JSON.stringify([...response.headers]), requestText).not.toMatch(INSIDE);
  if (status >= 400 && method !== 'HEAD') {
    expect(response.headers.get('content-type'), requestText).toMatch(/^application\/(problem\+)?json$/);
    const body = JSON.parse(text) as { error: string };
    expect(CODES, requestText).toContain(body.error);
    expect(ERRORS[body.error as keyof typeof ERRORS].status, requestText).toBe(status);
  }
  if (method === 'HEAD' || status === 204 || status === 304) expect(text, requestText).toBe('');
  const last = at.replace(/\.md$/, '').split('/').at(-1) ?? '';
  if (status === 200) reached[last] = (reached[last] ?? 0) + 1;
  return String(status);
}

/** Number of 200s by operation, as proof that each was reached beyond its parser. */
const reached: Record<string, number> = {};

test(`${REQUESTS} hostile requests`, async () => {
  const next = random(20261120);
  const seen: Record<string, number> = {};
  const lanes = Array.from({ length: 8 }, async () => {
    for (let sent = 0; sent < REQUESTS / 8; sent++) {
      const status = await attack(next);
      seen[status] = (seen[status] ?? 0) + 1;
    }
  });
  await Promise.all(lanes);
  expect(app.faults).toEqual([]);
  expect(app.lent()).toBe(0);
  // The requests are useful only when they pass the first check.
  for (const last of ['facets', 'similar', 'stats', 'timeseries', 'compare', 'facts', 'prices', 'changelog', 'changes'])
    expect(reached[last] ?? 0, last).toBeGreaterThan(5);
  expect(seen['200'] ?? 0).toBeGreaterThan(REQUESTS / 50);
  for (const status of ['400', '404', '405', '422'])
    expect(seen[status] ?? 0, JSON.stringify(seen)).toBeGreaterThan(50);
  expect((seen['unsendable'] ?? 0) / REQUESTS).toBeLessThan(0.02);
}, 300_000);

test('a file outside DIST_DIR, a link out of it and the build’s own notes are never served', async () => {
  for (const url of [
    '/link.txt',
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/.build/manifest.tsv',
    '/%2ebuild/manifest.tsv',
  ])
    expect(await (await app.ask(url)).text(), url).not.toContain('TOP SECRET');
  expect(await (await app.ask('/index.html')).text()).toBe('<h1>home</h1>');
});
