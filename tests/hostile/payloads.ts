// Values that break careless programs: the texts that every parameter, body and path is tried with.

const repeat = (text: string, times: number) => text.repeat(times);

/** Nested lists in JSON, `depth` of them. */
const nested = (depth: number): string => `${repeat('[', depth)}${repeat(']', depth)}`;

/** Values of the wrong type or beyond every bound. */
const TYPES = [
  ...['', ' ', '0', '-1', '-0', '1e309', '-1e309', '1e-400', 'NaN', 'Infinity', '0x10', '0b1', '1_000', '1,5', '٣'],
  ...['9007199254740993', '99999999999999999999999999', '2147483648', '-2147483649', '0.1e', '1.2.3', '+1', '1e5'],
  ...['true', 'false', 'null', 'undefined', 'None', '[]', '{}', '[object Object]', '{"a":1}', '[1,2]', '"', "'", '\\'],
  ...[
    '2026-02-30',
    '0000-00-00',
    '9999-12-31T23:59:60Z',
    '+275760-09-13',
    '-000001-01-01',
    '2026-11-28T25:61:61+99:99',
  ],
];

const UNICODE = [
  ...['\u0000', 'a\u0000b', '\r\nX-Injected: 1', '\u001b[2J', '\u200b', '\u202eevil\u202c', '\ufeff', '\uffff'],
  ...['ﷺ', 'İıſß', '𝒳', '👩‍👩‍👧‍👦', repeat('e\u0301', 40), `Z${repeat('\u0335', 60)}`, '\u2028', 'a\u0301\u0301'],
];

const ATTACKS = [
  ...["' OR 1=1 --", '"; DROP TABLE keys; --', "1' UNION SELECT * FROM keys --", "') FROM read_csv('/etc/passwd') --"],
  ...[
    '../../../../etc/passwd',
    '..%2f..%2fetc%2fpasswd',
    '....//....//etc/passwd',
    '/etc/passwd',
    'file:///etc/passwd',
  ],
  ...['C:\\Windows\\win.ini', '%2e%2e/', '%252e%252e%252f', '.git/config', '.env', 'state/register.db'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__', 'then'],
  ...['(a+)+$', '(a|a)*b', '^(([a-z])+.)+[A-Z]([a-z])+$', '.*.*.*.*.*x', '[', '(?<=', '\\', '%', '_', '*', '?', '**/'],
  ...[
    '{{7*7}}',
    `$${'{7*7}'}`,
    '<%= 7*7 %>',
    '{% for i in (1..99999999) %}{% endfor %}',
    '#{7*7}',
    '$(id)',
    '`id`',
    '|id',
  ],
  ...['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', 'javascript:alert(1)', "<svg/onload='alert(1)'>"],
  ...[
    '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    '=cmd|calc!A1',
    '@SUM(1)',
    'http://127.0.0.1:1/',
  ],
  ...['http://169.254.169.254/latest/meta-data/', 'gopher://127.0.0.1:25/', '//evil.example/', 'https:evil.example'],
];

/** Conditions for `filter`, and words for `q`. */
const CONDITIONS = [
  `${repeat('(', 2000)}1=1${repeat(')', 2000)}`,
  repeat('NOT ', 3000),
  Array.from({ length: 2000 }, (_, i) => `a${i}=1`).join(' AND '),
  "name LIKE '%%%%%%%%%%%%%%%%%%%%%%%%%%a'",
  `name IN (${repeat("'a',", 3000)}'b')`,
  'S_INTERSECTS(position, POLYGON((0 0, 1 1)))',
  "CASEI(name) = CASEI('a') OR 1=1; SELECT 1",
  'BETWEEN AND OR NOT',
  Array.from({ length: 500 }, (_, i) => `w${i}`).join(' '),
  repeat('a ', 4000),
  repeat('"', 999),
  'near:1,2,3,4,5',
];

const HUGE = [
  repeat('A', 3000),
  repeat('ä', 2000),
  repeat('9', 5000),
  repeat(',', 4000),
  repeat('a,', 2000),
  nested(1500),
];

/** Every hostile text. */
export const TEXTS: readonly string[] = [...TYPES, ...UNICODE, ...ATTACKS, ...CONDITIONS, ...HUGE];

/** Raw query parts that are no valid encoding, or repeat and shape a parameter in odd ways; `name` is its name. */
export const QUERIES: readonly ((name: string, value: string) => string)[] = [
  (name, value) => `${name}=${value}&${name}=${value}`,
  (name, value) => `${name}[]=${value}`,
  (name, value) => `${name}[a]=${value}`,
  (name, value) => `${name.toUpperCase()}=${value}`,
  (name) => `${name}=%zz`,
  (name) => `${name}=%`,
  (name) => `${name}=%ff%fe`,
  (name) => `${name}=%ED%A0%80`,
  (name) => `${name}=%c0%af`,
  (name) => `${name}`,
  (name) => `=${name}`,
  (name) => `${name}=&&&&===`,
  (name) => repeat(`${name}=1&`, 400),
  (name, value) => `${name}=${value};${name}=2`,
  (name, value) => `${name}%00=${value}`,
  (name, value) => `%20${name}=${value}#fragment`,
  (name, value) => `${name}=${value}&__proto__=1&constructor=2&api_key=x`,
  (name) => `${name}=${repeat('%2', 500)}`,
];

/** Statements for /v1/sql: reading files, the system, other tiers, and using all memory or time. */
export const STATEMENTS: readonly string[] = [
  "SELECT * FROM read_csv('/etc/passwd')",
  "SELECT * FROM '/etc/passwd'",
  "COPY (SELECT 1) TO '/tmp/hostile.csv'",
  "ATTACH '/tmp/hostile.duckdb' AS a",
  "INSTALL httpfs; LOAD httpfs; SELECT * FROM 'http://127.0.0.1:1/a.csv'",
  'SELECT * FROM duckdb_settings()',
  'SELECT * FROM duckdb_secrets()',
  "SET memory_limit='100GB'",
  "SET enable_external_access=true; SELECT * FROM read_text('/etc/passwd')",
  'PRAGMA database_list',
  'CALL pragma_version()',
  'SELECT 1; DROP TABLE harbours',
  'DELETE FROM tools',
  'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t',
  'SELECT count(*) FROM range(1000000000) a, range(1000000000) b',
  "SELECT repeat('a', 2000000000)",
  'SELECT list(range) FROM range(100000000)',
  "SELECT regexp_matches(repeat('a', 40), '(a+)+$')",
  `SELECT ${repeat('(', 3000)}1${repeat(')', 3000)}`,
  `SELECT ${Array.from({ length: 2000 }, (_, i) => i).join('+')}`,
  "SELECT getenv('PATH')",
  "SELECT * FROM glob('/**')",
  'EXPLAIN ANALYZE SELECT * FROM tools',
  "EXPORT DATABASE '/tmp/hostile'",
  'SELECT * FROM information_schema.tables',
  "SELECT error('boom')",
  'SELECT 1/0, sqrt(-1)',
  'SELECT \u0000',
  '--',
  '/*',
  '$$',
  'SELECT $1, $2',
  'CREATE MACRO a() AS 1',
  "SELECT query('SELECT 1')",
];

/** Bodies that are no valid request of any operation. */
export const BODIES: readonly string[] = [
  ...['', ' ', 'null', 'true', '0', '"text"', '[]', '[[]]', '{', '}', '{"a":}', "{'a':1}", '{"a":1}{"b":2}', 'NaN'],
  ...['{"__proto__":{"admin":true}}', '{"constructor":{"prototype":{"a":1}}}', '{"toString":1,"then":{}}'],
  nested(20_000),
  `${repeat('{"a":', 5000)}1${repeat('}', 5000)}`,
  `{"a":"${repeat('x', 200_000)}"}`,
  `{${Array.from({ length: 5000 }, (_, i) => `"k${i}":${i}`).join(',')}}`,
  `[${repeat('{},', 10_000)}{}]`,
  '{"a":1e400,"b":-0,"c":123456789012345678901234567890}',
  '{"a":"\\ud800","b":"\\u0000","c":"\\uffff"}',
  '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "b"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>',
  'a=1&b=2&a=3',
  '--x\r\nContent-Disposition: form-data; name="a"; filename="../../a"\r\n\r\n1\r\n--x--\r\n',
  '\u0000\u0001\u0002',
];

export const CONTENT_TYPES: readonly string[] = [
  ...['application/json', 'text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'multipart/form-data'],
  ...['application/x-www-form-urlencoded', 'application/json; charset=utf-16', 'application/json;;;', 'a', '*/*', ''],
  ...['application/octet-stream', 'application/vnd.api+json', `text/${repeat('a', 3000)}`],
];

export const METHODS: readonly string[] = [
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'HEAD',
  'PROPFIND',
  'TRACE',
];

/** Headers that servers read; the value is drawn from hostile texts where it is null. */
export const HEADERS: readonly (readonly [string, string | null])[] = [
  ['Accept', 'text/html;q=2, application/json;q=-1, */*;q=nan'],
  ['Accept', 'application/vnd.apache.arrow.stream, text/csv'],
  ['Accept', null],
  ['Accept-Language', repeat('de-DE,', 800)],
  ['Accept-Encoding', 'gzip;q=0, br;q=9, zstd, *;q=0'],
  ['Content-Encoding', 'gzip'],
  ['Content-Encoding', 'br, deflate, identity'],
  ['Range', 'bytes=0-0,5-1,99999999999-,-1'],
  ['Range', `bytes=${repeat('0-1,', 1000)}`],
  ['If-None-Match', repeat('W/"a",', 1000)],
  ['If-None-Match', '*'],
  ['If-Modified-Since', 'yesterday'],
  ['If-Match', '"x"'],
  ['X-Forwarded-Host', 'evil.example'],
  ['X-Forwarded-Proto', 'gopher'],
  ['Forwarded', 'for="[::1]";host=evil.example'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Original-URL', '/ops'],
  ['Origin', 'https://evil.example'],
  ['Origin', 'null'],
  ['Referer', 'https://evil.example/?q=<script>'],
  ['Cookie', 'ops=forged; __Host-ops=forged; session=../../x; a'],
  ['Cookie', null],
  ['Idempotency-Key', repeat('k', 5000)],
  ['Idempotency-Key', null],
  ['X-Max-Price-EUR', null],
  ['traceparent', '00-zz-zz-ff'],
  ['traceparent', `00-${repeat('0', 32)}-${repeat('0', 16)}-01`],
  ['Host', 'evil.example'],
  ['Host', 'a b'],
  ['Expect', '100-continue'],
  ['Upgrade', 'websocket'],
  ['HX-Request', 'true'],
  ['Prefer', 'wait=999999'],
  ['User-Agent', null],
  ['Signature', 'sig1=:AAAA:'],
  ['Signature-Input', 'sig1=("@authority");keyid="x";created=1'],
];
