// Reading JSON Lines: columns by appearance, paths, exact numbers, and lines that are not objects.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { jsonl } from '../../packs/define/sources.ts';
import { scratch } from '../../tests/support/night-pack.ts';
import { declaredAs, objectsOf, readAll, sourceContext } from '../../tests/support/source-context.ts';
import { READERS } from './readers.ts';

async function readBytes(bytes: string | Buffer, wanted: string[] = [], name = 'stones.jsonl') {
  const folder = scratch();
  writeFileSync(join(folder, name), bytes);
  const { context, broken } = sourceContext(folder, { wanted: new Set(wanted) });
  const [version] = await readAll(READERS.jsonl(declaredAs('jsonl', jsonl(name)), context));
  return { version: version!, broken };
}

test('columns are the members in order of appearance, also one that appears late', async () => {
  const lines = Array.from({ length: 1500 }, (_, i) => JSON.stringify(i === 1400 ? { id: i, late: true } : { id: i }));
  lines[1] = '{"n": null, "id": "b"}';
  const { version, broken } = await readBytes(`\ufeff${lines.join('\r\n')}\r\n`);
  expect(version.columns).toEqual(['id', 'n', 'late']);
  expect(version.rows).toHaveLength(1500);
  expect(version.rows[1]).toEqual({ line: 2, cells: ['b', null] });
  expect(version.rows[1400]).toEqual({ line: 1401, cells: [1400, undefined, true] });
  expect(broken).toEqual([]);
});

test('a wanted path is a column; a member with dots in its name comes first', async () => {
  const text =
    '{"address":{"city":"Berlin","lines":["a","b"]}}\n{"address.city":"Bonn","address":{"city":"x"}}\n{"address":7}';
  const { version } = await readBytes(text, ['address.city', 'address.lines.1', 'no.such']);
  expect(version.columns).toEqual(['address', 'address.city', 'address.lines.1']);
  expect(objectsOf(version).map((row) => [row['address.city'], row['address.lines.1']])).toEqual([
    ['Berlin', 'b'],
    ['Bonn', undefined],
    [undefined, undefined],
  ]);
});

test('lines that are not objects are reported; blank lines count', async () => {
  const { version, broken } = await readBytes('{"id":1}\n\n[1]\n{"id":2\nnull\n  \n{"id":3}');
  expect(version.rows).toEqual([
    { line: 1, cells: [1] },
    { line: 7, cells: [3] },
  ]);
  expect(broken).toEqual([
    { line: 3, text: '[1]', expected: 'a JSON object of at most 100 levels' },
    { line: 4, text: '{"id":2', expected: 'a JSON object of at most 100 levels' },
    { line: 5, text: 'null', expected: 'a JSON object of at most 100 levels' },
  ]);
});

test('whole numbers that a double cannot represent keep their digits as text', async () => {
  const text =
    '{"a":9007199254740993,"b":9007199254740992,"c":-123456789012345678901,"d":1e400,"e":100000000000000000000,"f":0.30000000000000004,"g":"1234567890123456"}';
  const { version } = await readBytes(text);
  expect(version.rows[0]!.cells).toEqual([
    '9007199254740993',
    9007199254740992,
    '-123456789012345678901',
    '1e400',
    100000000000000000000,
    0.30000000000000004,
    '1234567890123456',
  ]);
});

test('a member named __proto__ is a column like others', async () => {
  const { version } = await readBytes('{"__proto__":{"city":"x"},"id":1}', ['city', '__proto__.city']);
  expect(version.columns).toEqual(['__proto__', 'id', '__proto__.city']);
  expect(version.rows[0]!.cells).toEqual([{ city: 'x' }, 1, 'x']);
});

test('lines across chunks, characters of several bytes, compressed', async () => {
  const objects = Array.from({ length: 60_000 }, (_, i) => ({ id: i, name: `Zürich 石 ${i}` }));
  const text = objects.map((object) => JSON.stringify(object)).join('\n');
  const { version } = await readBytes(gzipSync(text), [], 'stones.jsonl.gz');
  expect(objectsOf(version)).toEqual(objects);
  expect(version.rows.at(-1)!.line).toBe(60_000);
});
