// Digits of numbers from each kind of source: kept, or rejected with a reason (contract section 2, "Numbers").
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { Duck, quotedText } from '../../data/duckdb/duck.ts';
import type { Attribute } from '../../packs/define/model.ts';
import { checkValue } from '../../packs/define/schema.ts';
import { csv, json, jsonl, parquet, postgres, sqlite } from '../../packs/define/sources.ts';
import { scratch } from '../../tests/support/night-pack.ts';
import { declaredAs, readAll, sourceContext } from '../../tests/support/source-context.ts';
import { READERS } from './readers.ts';
import { type ParseRule, parseCell } from './values.ts';

/** Texts of numbers, and the value that is stored; null: rejected. */
const NUMBERS: [text: string, value: number | null][] = [
  ['12345678901.55', 12345678901.55],
  ['-12345678901.55', -12345678901.55],
  ['0.1234567890123', 0.1234567890123],
  ['123456789012345', 123456789012345],
  ['0.0000001', 1e-7],
  ['1.50000000000000000000', 1.5],
  ['0.30000000000000004', 0.30000000000000004],
  ['9007199254740991', 9007199254740991],
  ['9007199254740993', null],
  ['12345678901234567', null],
  ['0.1234567890123456789', null],
  ['0.10000000000000001', null],
];
const TEXTS = NUMBERS.map(([text]) => text);
const VALUES = NUMBERS.map(([, value]) => value ?? 'rejected');

const RULE: ParseRule = {
  ...{ decimal: undefined, thousands: undefined, date: undefined, multiply: undefined, separator: ';', trim: true },
  ...{ truths: { true: [], false: [] }, missing: new Set<string>() },
};

/** What parsing and checking need of an attribute. */
const number = { name: 'mass', type: 'number', range: { min: null, max: null } } as Attribute;

/** The stored value of each cell, or `rejected`. */
function stored(cells: readonly unknown[], rule: Partial<ParseRule> = {}, attribute = number): unknown[] {
  return cells.map((cell) => {
    const parsed = parseCell(cell, attribute, { ...RULE, ...rule });
    if (parsed === null || 'expected' in parsed) return parsed;
    const checked = checkValue(attribute, parsed.value);
    if (checked.ok) return checked.value;
    return checked.reason.includes('15 significant digits') ? 'rejected' : checked.reason;
  });
}

const column = async (versions: Parameters<typeof readAll>[0]) =>
  (await readAll(versions)).flatMap(({ rows }) => rows.map(({ cells }) => cells[0]));

test('CSV with decimal comma and thousands', async () => {
  const at = scratch();
  const written = TEXTS.map((text) => {
    const [whole = '', fraction] = text.split('.');
    const grouped = whole.replace(/(?<=\d)(?=(?:\d{3})+$)/g, '.');
    return `"${grouped}${fraction === undefined ? '' : `,${fraction}`}"`;
  });
  writeFileSync(join(at, 'a.csv'), ['mass', ...written, ''].join('\n'));
  const cells = await column(READERS.csv(declaredAs('csv', csv('a.csv')), sourceContext(at).context));
  expect(stored(cells, { decimal: ',', thousands: '.' })).toEqual(VALUES);
});

test('JSON Lines, and JSON, also with exponents', async () => {
  const at = scratch();
  const objects = [...TEXTS, '1e-7', '1.234567890123456e10', '1e400'].map((text) => `{"mass": ${text}}`);
  const expected = [...VALUES, 1e-7, 12345678901.23456, "a number with '.' as decimal sign"];
  writeFileSync(join(at, 'a.jsonl'), objects.join('\n'));
  writeFileSync(join(at, 'a.json'), `[${objects.join(',')}]`);
  const lines = await column(READERS.jsonl(declaredAs('jsonl', jsonl('a.jsonl')), sourceContext(at).context));
  const list = await column(READERS.json(declaredAs('json', json('a.json')), sourceContext(at).context));
  for (const cells of [lines, list])
    expect(stored(cells).map((cell) => (cell as { expected?: string }).expected ?? cell)).toEqual(expected);
});

test('Parquet: decimals, whole numbers, doubles, and decimals in objects', async () => {
  const at = scratch();
  const duck = await Duck.open(at);
  const write = async (name: string, expression: string, texts: readonly string[]) => {
    const list = texts.map((text) => `(${quotedText(text)})`).join(', ');
    await duck.parquet(`SELECT ${expression} AS mass FROM (VALUES ${list}) AS given(text)`, join(at, name));
    return column(READERS.parquet(declaredAs('parquet', parquet(name)), sourceContext(at).context));
  };
  const short = TEXTS.filter((text) => text.replace(/^.*\./, '').length <= 19);
  const shortValues = VALUES.filter((_, i) => short.includes(TEXTS[i]!));
  expect(stored(await write('decimal.parquet', 'text::DECIMAL(38, 19)', short))).toEqual(shortValues);
  const nested = await write('nested.parquet', '{amount: text::DECIMAL(38, 19)}', short);
  expect(stored(nested.map((cell) => (cell as { amount: unknown }).amount))).toEqual(shortValues);
  const whole = await write('whole.parquet', 'text::BIGINT', ['9007199254740991', '9007199254740993']);
  expect(stored(whole)).toEqual([9007199254740991, 'rejected']);
  const doubles = NUMBERS.filter(([, value]) => value !== null);
  const cells = await write(
    'double.parquet',
    'text::DOUBLE',
    doubles.map(([text]) => text),
  );
  expect(stored(cells)).toEqual(doubles.map(([, value]) => value));
  duck.close();
});

test('SQLite: texts, whole numbers and reals', async () => {
  const at = scratch();
  const database = new DatabaseSync(join(at, 'a.sqlite'));
  database.exec('CREATE TABLE texts (mass TEXT); CREATE TABLE numbers (mass ANY) STRICT');
  for (const text of TEXTS) database.prepare('INSERT INTO texts VALUES (?)').run(text);
  for (const value of [12345678901.55, 0.30000000000000004, 9007199254740993n])
    database.prepare('INSERT INTO numbers VALUES (?)').run(value);
  database.close();
  const read = (table: string) =>
    column(READERS.sqlite(declaredAs('sqlite', sqlite('a.sqlite', { table })), sourceContext(at).context));
  expect(stored(await read('texts'))).toEqual(VALUES);
  expect(stored(await read('numbers'))).toEqual([12345678901.55, 0.30000000000000004, 'rejected']);
});

test('PostgreSQL: numeric, whole numbers, doubles and JSON', async (context) => {
  const address = process.env['TEST_DATABASE_URL'];
  if (!address) context.skip('TEST_DATABASE_URL is not set');
  const read = (query: string) =>
    column(
      READERS.postgres(
        declaredAs('postgres', postgres({ url_env: 'DATABASE', query })),
        sourceContext('', { environment: () => address! }).context,
      ),
    );
  const rows = (texts: readonly string[], type: string) =>
    `SELECT mass::${type} AS mass FROM (VALUES ${texts.map((text, i) => `(${i}, '${text}')`).join(', ')}) AS given(i, mass) ORDER BY i`;
  expect(stored(await read(rows(TEXTS, 'numeric')))).toEqual(VALUES);
  expect(stored(await read(rows(TEXTS, 'jsonb')))).toEqual(VALUES);
  expect(stored(await read(rows(['9007199254740991', '9007199254740993'], 'int8')))).toEqual([
    9007199254740991,
    'rejected',
  ]);
  expect(stored(await read(rows(['12345678901.55', '0.30000000000000004'], 'float8')))).toEqual([
    12345678901.55, 0.30000000000000004,
  ]);
});

test('a product has no rounding errors, and with `round: true` a long number is rounded to 15 digits', () => {
  expect(stored(['0.07', 0.07, '12345678901.55'], { multiply: 100 })).toEqual([7, 7, 1234567890155]);
  const rounded = { ...number, round: true };
  expect(stored(['12345678901234567', '0.1234567890123456789'], {}, rounded)).toEqual([
    12345678901234600, 0.123456789012346,
  ]);
  expect(stored(['0.1234567890123456789'], { multiply: 100 }, rounded)).toEqual([12.3456789012346]);
});
