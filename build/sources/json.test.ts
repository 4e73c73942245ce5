// Reading JSON documents: the list, its path, and entries that are not objects.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { json } from '../../packs/define/sources.ts';
import { scratch } from '../../tests/support/night-pack.ts';
import { declaredAs, objectsOf, readAll, sourceContext } from '../../tests/support/source-context.ts';
import { numberOrText } from './json-values.ts';
import { READERS } from './readers.ts';

async function readBytes(bytes: string | Buffer, items?: string, wanted: string[] = [], name = 'stones.json') {
  const folder = scratch();
  writeFileSync(join(folder, name), bytes);
  const { context, broken } = sourceContext(folder, { wanted: new Set(wanted) });
  const declared = declaredAs('json', json(name, items === undefined ? {} : { items }));
  const [version] = await readAll(READERS.json(declared, context));
  return { version: version!, broken };
}

test('a list; entries that are not objects are reported by number', async () => {
  const { version, broken } = await readBytes('\ufeff[{"id":1},7,{"id":2,"n":{"x":[true]}}]', undefined, ['n.x.0']);
  expect(version.columns).toEqual(['id', 'n', 'n.x.0']);
  expect(version.rows).toEqual([
    { line: 1, cells: [1, undefined, undefined] },
    { line: 3, cells: [2, { x: [true] }, true] },
  ]);
  expect(broken).toEqual([{ line: 2, text: '7', expected: 'a JSON object' }]);
});

test('a list at a path, compressed, with exact numbers', async () => {
  const text = '{"data":{"items":[{"id":12345678901234567890}]}}';
  const { version } = await readBytes(gzipSync(text), 'data.items', [], 'stones.json.gz');
  expect(objectsOf(version)).toEqual([{ id: '12345678901234567890' }]);
});

test('no list: the message names the lists of the document', async () => {
  const text = '{"meta":{},"data":{"items":[],"more":[]}}';
  await expect(readBytes(text)).rejects.toThrow(
    'stones.json is no list; set items to the path of its list: its lists are data.items, data.more',
  );
  await expect(readBytes(text, 'data.item')).rejects.toThrow(
    'stones.json has no list data.item: its lists are data.items, data.more; nearest: data.items',
  );
  await expect(readBytes('{"a":1}')).rejects.toThrow('it contains no list');
});

test('a truncated document is an error with its name and position', async () => {
  await expect(readBytes('[{"id":1},\n{"id":')).rejects.toThrow(/^stones\.json is not JSON: .*JSON/);
});

test.each([
  ['1.500', 1.5],
  ['1.000', 1],
  ['-0.10', -0.1],
  ['100', 100],
  ['9007199254740993', '9007199254740993'],
  ['12345678901234567.89', '12345678901234567.89'],
  ['0.30000000000000004', 0.30000000000000004],
  ['NaN', 'NaN'],
  ['Infinity', 'Infinity'],
])('digits of a database: %s', (digits, value) => {
  expect(numberOrText(digits)).toEqual(value);
});
