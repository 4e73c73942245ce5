// Expressions of `filter`: what the standard's examples become, what is refused and what the message proposes.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { verifies } from '../../tests/support/verifies.ts';
import type { DataError } from '../model/errors.ts';
import type { Expression } from '../plan/expression.ts';
import { parseFilterExpression } from './filter-expression.ts';

verifies('filter.expression', 'code.invalid-filter');

const tools = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));
const harbours = await loadPack(join(import.meta.dirname, '../../tests/packs/harbours'));

const expressionsOf = (text: string): Expression[] =>
  parseFilterExpression(text, tools).where.map(({ expression }) => expression);

function refusal(text: string, language?: 'cql2-text' | 'cql2-json'): DataError {
  try {
    parseFilterExpression(text, tools, language);
  } catch (error) {
    return error as DataError;
  }
  throw new Error(`${text} was accepted`);
}

describe('text and JSON', () => {
  const property = (name: string) => ({ property: name });
  test.each([
    ["maker = 'Nordwerk'", { op: '=', args: [property('maker'), 'Nordwerk'] }],
    ["maker<>'O''Neil'", { op: '<>', args: [property('maker'), "O'Neil"] }],
    [
      '"price.list" > 8 * price.rental',
      { op: '>', args: [property('price.list'), { op: '*', args: [8, property('price.rental')] }] },
    ],
    ['mass-1.5e1 >= -0.5', { op: '>=', args: [{ op: '-', args: [property('mass'), 15] }, -0.5] }],
    [
      'mass BETWEEN 1 AND 2 AND runtime is not null',
      {
        op: 'and',
        args: [
          { op: 'between', args: [property('mass'), 1, 2] },
          { op: 'not', args: [{ op: 'isNull', args: [property('runtime')] }] },
        ],
      },
    ],
    [
      "NOT (kind IN ('saw','drill') OR cordless = true)",
      {
        op: 'not',
        args: [
          {
            op: 'or',
            args: [
              { op: 'in', args: [property('kind'), ['saw', 'drill']] },
              { op: '=', args: [property('cordless'), true] },
            ],
          },
        ],
      },
    ],
    [
      "CASEI(ACCENTI(name)) LIKE casei('%Säge\\_%')",
      {
        op: 'like',
        args: [
          { op: 'casei', args: [{ op: 'accenti', args: [property('name')] }] },
          { op: 'casei', args: ['%Säge\\_%'] },
        ],
      },
    ],
    [
      "T_INTERSECTS(tested_on, INTERVAL('2026-01-01', '..'))",
      { op: 't_intersects', args: [property('tested_on'), { interval: ['2026-01-01', '..'] }] },
    ],
    [
      "first_seen < TIMESTAMP('2026-01-01T12:00:00Z')",
      { op: '<', args: [property('first_seen'), { timestamp: '2026-01-01T12:00:00Z' }] },
    ],
    [
      'S_WITHIN(workshop, POLYGON((0 0, 9 0, 9 9, 0 0)))',
      {
        op: 's_within',
        args: [
          property('workshop'),
          {
            type: 'Polygon',
            coordinates: [
              [
                [0, 0],
                [9, 0],
                [9, 9],
                [0, 0],
              ],
            ],
          },
        ],
      },
    ],
    [
      'S_INTERSECTS(BBOX(170, -10, -170, 10), workshop)',
      { op: 's_intersects', args: [{ bbox: [170, -10, -170, 10] }, property('workshop')] },
    ],
  ])('%s', (text, json) => {
    expect(expressionsOf(text)).toEqual(expressionsOf(JSON.stringify(json)));
  });

  test('AND is one condition for each operand, with its own text', () => {
    const { where, names } = parseFilterExpression("mass > 1 AND (kind = 'saw' OR price.list < 5) AND mass < 9", tools);
    expect(where.map(({ source }) => source)).toEqual(['mass > 1', "(kind = 'saw' OR price.list < 5)", 'mass < 9']);
    expect(names).toEqual(['mass', 'kind', 'price.list']);
  });
});

// Expressions in the manner of the examples of OGC 21-065, on attributes of the tests.
describe('examples of the standard', () => {
  test.each([
    "kind = 'saw'",
    'mass - 150.0 > 0',
    "first_seen >= DATE('1970-01-01')",
    'workshop IS NOT NULL',
    "name LIKE 'pine%'",
    '"price.list" BETWEEN 0.1 AND 0.2',
    "CASEI(kind) IN (CASEI('Οδος'), CASEI('Straße'))",
    "ACCENTI(name) = ACCENTI('débárquér')",
    'cordless = true AND price.list > 100',
    'cordless = 1 AND cordless IN (0, 1) AND 0 <> cordless',
    'price.list.min * 2 < "price.list.max" AND price.list.min IS NOT NULL',
    "NOT name LIKE 'foo%'",
    "runtime NOT IN (1, 2, 3) AND kind NOT LIKE 'x_' AND mass NOT BETWEEN 1 AND 2",
    "T_AFTER(first_seen, DATE('2000-01-01'))",
    "T_DURING(INTERVAL(first_seen, tested_on), INTERVAL('2005-01-10', '2010-02-10'))",
    'S_INTERSECTS(workshop, POINT(36.3 32.2))',
    'S_INTERSECTS(workshop, BBOX(-128.1, -89.6, -125.5, -86.5))',
    'S_DISJOINT(workshop, POLYGON((-64.8 32.3, -65.5 18.3, -80.3 25.2, -64.8 32.3), (-70 25, -70 26, -71 26, -70 25)))',
    '(mass + 2) / 2 * -1 <> runtime',
  ])('accepts %s', (text) => {
    expect(expressionsOf(text).length).toBeGreaterThan(0);
  });

  test.each([
    ['avg(runtime) < 4', 1, 'avg(runtime)', /^a function: .*T_DURING.*CASEI/],
    ['S_CROSSES(workshop, LINESTRING(0 0, 1 1))', 1, /^S_CROSSES/, /^a function: .*S_INTERSECTS/],
    ["A_CONTAINS(materials, ('steel', 'brass'))", 31, ',', /^\)$/],
    ['S_INTERSECTS(workshop, MULTIPOINT((1 1), (2 2)))', 24, /^MULTIPOINT/, /^POINT/],
    ['runtime % 2 = 0', 9, /^% 2/, 'a name, a value or an operator'],
    ['runtime = ', 11, '', 'a value'],
    ["kind = 'saw", 8, /^'saw/, 'a text that ends with a single quote'],
    ["kind = 'saw' kind", 14, 'kind', 'AND, OR or the end'],
  ])('refuses %s', (text, position, word, expected) => {
    const { code, detail } = refusal(text);
    expect(code).toBe('invalid_filter');
    const match = (value: string | RegExp) => (typeof value === 'string' ? value : expect.stringMatching(value));
    expect(detail).toMatchObject({ position, found: match(word), expected: match(expected) });
  });
});

describe('the message proposes', () => {
  test.each([
    ["makr = 'Nordwerk'", 'Did you mean "maker"?', ['maker']],
    ['weight > 5', 'Did you mean "mass"?', ['mass']],
    ['maker = "Nordwerk"', "A text is written 'Nordwerk'.", undefined],
    ['maker = Nordwerk', "A text is written 'Nordwerk'.", undefined],
    ["mass > '5'", 'Write 5 without quotes.', undefined],
    ["tested_on > '2026-01-01'", "Write DATE('2026-01-01').", undefined],
    ["cordless = 'true'", 'Write TRUE without quotes.', undefined],
    ['cordless', 'Write cordless = TRUE.', undefined],
    ["kind != 'saw'", 'Write <> for "not equal".', undefined],
    ["kind == 'saw'", 'Write a single = for "equal".', undefined],
    ["kind = 'saw' && mass > 1", 'Write AND.', undefined],
    ["name ILIKE '%saw%'", "Write CASEI(attribute) LIKE CASEI('pattern%').", undefined],
    ["LOWER(name) = 'saw'", 'Did you mean CASEI?', ['CASEI']],
    ["CONTAINS(name, 'saw')", "Write attribute LIKE '%text%'.", undefined],
    ['1 < mass < 5', 'For two bounds write attribute BETWEEN 1 AND 5.', undefined],
    ['workshop = 5', 'Write S_INTERSECTS(workshop, BBOX(5.9, 45.8, 10.5, 47.8)).', undefined],
    ['S_INTERSECTS(workshop, POINT(47.4 120))', 'Longitude comes first', undefined],
    ['{"or": [{"op": "=", "args": [{"property": "kind"}, "saw"]}]}', 'Write {"op": "or", "args": [', undefined],
    ['{"kind": "saw"}', 'Write {"op": "=", "args": [{"property": "kind"}, "saw"]}.', undefined],
    ['price > 5', 'price is a group', undefined],
  ])('%s: %s', (text, advice, nearest) => {
    const { message, detail } = refusal(text);
    expect(message).toContain(advice);
    if (nearest !== undefined) expect(detail).toMatchObject({ nearest });
  });
});

test('limits', () => {
  const long = `name = '${'x'.repeat(2000)}'`;
  const deep = `${'NOT '.repeat(11)}cordless = TRUE`;
  const many = Array.from({ length: 51 }, (_, i) => `mass > ${i}`).join(' OR ');
  const brackets = '('.repeat(900);
  for (const text of [long, deep, many, brackets, `{"op":"not","args":[`.repeat(90)])
    expect(refusal(text).code).toBe('invalid_filter');
  expect(refusal(many).detail).toMatchObject({ expected: 'at most 50 terms' });
  expect(refusal(deep).detail).toMatchObject({ expected: 'at most 10 levels' });
  const json = (depth: number): object =>
    depth === 0 ? { op: '=', args: [{ property: 'mass' }, 1] } : { op: 'not', args: [json(depth - 1)] };
  expect(refusal(JSON.stringify(json(12))).detail).toMatchObject({ expected: 'at most 10 levels' });
  expect(expressionsOf(many.slice(0, many.lastIndexOf(' OR ')))).toHaveLength(1);
  // The ends of ranges are computed alone, so that the SQL of a product is not longer than its text.
  const product = Array.from({ length: 8 }, () => 'price.list').join(' * ');
  expect(expressionsOf(`${product} > 1`)).toHaveLength(1);
});

test.each([
  '{"op":"=","args":[{"property":"mass"},1e999]}',
  '{"op":"=","args":[{"property":"name"},"\\u0000"]}',
  '{"op":"s_within","args":[{"property":"workshop"},{"type":"Polygon","coordinates":"x"}]}',
  '{"op":"s_within","args":[{"property":"workshop"},{"type":"Point"}]}',
  '{"op":"s_within","args":[{"property":"workshop"},{"bbox":[1,"x",3,4]}]}',
  '{"op":"s_within","args":[{"property":"workshop"},{"bbox":null}]}',
  '{"op":"in","args":[{"property":"kind"},[]]}',
  '{"op":"and","args":[]}',
  '{"op":"date","args":[]}',
  '{"op":"+","args":[1,2]}',
  '{"op":"=","args":[{"property":"materials"},{"property":"materials"}]}',
  '{"op":"toString","args":[]}',
  '[]',
  'null',
  '',
  'materials < 5',
  "materials > 'x'",
  "manual = 'x'",
  "name LIKE 'x\\'",
  'S_INTERSECTS(workshop, POLYGON EMPTY)',
])('%s is refused', (text) => {
  const language = /^[{[n]/u.test(text) && !text.startsWith('name') ? 'cql2-json' : 'cql2-text';
  expect(refusal(text, language)).toMatchObject({
    code: 'invalid_filter',
    message: expect.stringMatching(/^filter: found .+, expected /),
  });
});

test('JSON in a request for text is refused', () => {
  expect(refusal('{"op":"isNull","args":[{"property":"mass"}]}', 'cql2-text').message).toContain(
    'filter-lang=cql2-json',
  );
  expect(parseFilterExpression('position IS NULL', harbours).names).toEqual(['position']);
});
