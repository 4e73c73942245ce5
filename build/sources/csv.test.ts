// Reading CSV files: line numbers, quotes, encodings, and rows that do not fit.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { csv } from '../../packs/define/sources.ts';
import { scratch } from '../../tests/support/night-pack.ts';
import { declaredAs, objectsOf, readAll, sourceContext } from '../../tests/support/source-context.ts';
import { READERS } from './readers.ts';

type Options = Parameters<typeof csv>[1];

/** The only version of a CSV with these bytes, and its broken rows. */
async function readBytes(bytes: string | Buffer, options: Options = {}, name = 'stones.csv') {
  const folder = scratch();
  writeFileSync(join(folder, name), bytes);
  const { context, broken, progress } = sourceContext(folder);
  const [version] = await readAll(READERS.csv(declaredAs('csv', csv(name, options)), context));
  return { version: version!, broken, progress };
}

/** Lines and cells of the rows. */
const cellsOf = ({ rows }: { rows: { line: number; cells: readonly unknown[] }[] }) =>
  rows.map(({ line, cells }) => [line, ...cells]);

test.each([
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
])('%s: quoted line breaks, blank lines, and the line where each row begins', async (_name, end) => {
  const lines = ['\ufeffid, name ', '', 'a,"one', 'two ""x"""', '   ', 'b,', '', '"c,c",d'];
  const { version, broken } = await readBytes(lines.join(end));
  expect(version.columns).toEqual(['id', 'name']);
  expect(cellsOf(version)).toEqual([
    [3, 'a', `one${end}two "x"`],
    [6, 'b', ''],
    [8, 'c,c', 'd'],
  ]);
  expect(broken).toEqual([]);
});

test('mixed line ends in one file', async () => {
  const { version } = await readBytes('id,n\r\na,1\nb,2\rc,3\n\r\nd,4\r\n');
  expect(cellsOf(version)).toEqual([
    [2, 'a', '1'],
    [3, 'b', '2'],
    [4, 'c', '3'],
    [6, 'd', '4'],
  ]);
});

test.each([
  ['id;name;price\na;x,y;1,5', ['id', 'name', 'price']],
  ['id\tname\na\tx', ['id', 'name']],
  ['id|name\na|x', ['id', 'name']],
  ['"a;b;c;d",name\nx,y', ['a;b;c;d', 'name']],
  ['id\na', ['id']],
])('the delimiter is detected from the header: %j', async (text, columns) => {
  const { version, broken } = await readBytes(text);
  expect(version.columns).toEqual(columns);
  expect(version.rows).toHaveLength(1);
  expect(broken).toEqual([]);
});

test('a declared delimiter is used', async () => {
  const { version } = await readBytes('a,b;c\n1,2;3', { delimiter: ';' });
  expect(objectsOf(version)).toEqual([{ 'a,b': '1,2', c: '3' }]);
});

test('short and long rows are reported with line and text; the others are read', async () => {
  const { version, broken } = await readBytes('id,n,m\na,1,2\n\r\nb,1\n"c\nc",1\nd,1,2,3\ne,5,6');
  expect(cellsOf(version)).toEqual([
    [2, 'a', '1', '2'],
    [8, 'e', '5', '6'],
  ]);
  expect(broken).toEqual([
    { line: 4, text: 'b,1', expected: '3 fields, as the header has (the row has 2)' },
    { line: 5, text: '"c\nc",1', expected: '3 fields, as the header has (the row has 2 in lines 5 to 6)' },
    { line: 7, text: 'd,1,2,3', expected: '3 fields, as the header has (the row has 4)' },
  ]);
});

test('a quote that is never closed breaks its line only', async () => {
  const { version, broken } = await readBytes('id,n\na,1\n\nb,"2\nc,3\r\nd,"4\r\n\ne,"5"\n');
  expect(cellsOf(version)).toEqual([
    [2, 'a', '1'],
    [5, 'c', '3'],
    [8, 'e', '5'],
  ]);
  expect(broken.map(({ line, text }) => [line, text])).toEqual([
    [4, 'b,"2'],
    [6, 'd,"4'],
  ]);
});

test('a quote that is never closed at the end of the file', async () => {
  const { version, broken } = await readBytes('id,n\na,"1\nb,2\nc,3');
  expect(cellsOf(version)).toEqual([
    [3, 'b', '2'],
    [4, 'c', '3'],
  ]);
  expect(broken).toEqual([{ line: 2, text: 'a,"1', expected: 'a closing quote' }]);
});

test('text after a closing quote breaks its line; a quote within a field is part of it', async () => {
  const { version, broken } = await readBytes('id,n\na,"x"y\nb,5" pipe\nc,5" "z"\nd,1"2,"e"f\ng,h');
  expect(cellsOf(version)).toEqual([
    [3, 'b', '5" pipe'],
    [4, 'c', '5" "z"'],
    [6, 'g', 'h'],
  ]);
  expect(broken).toEqual([
    { line: 2, text: 'a,"x"y', expected: 'the delimiter or the end of the line after a closing quote' },
    { line: 5, text: 'd,1"2,"e"f', expected: 'a quote at the start of a field only' },
  ]);
});

test('mistakes at every position of a chunk: no row is lost and no line is wrong', async () => {
  const lines = ['id,text,n'];
  const expected: [number, string, string, string][] = [];
  const expectedBroken: number[] = [];
  let line = 2;
  const padding = 'x'.repeat(180);
  // 10,000 rows are several chunks of 256 KB.
  for (let i = 0; i < 10_000; i++) {
    const kind = i % 7;
    if (kind === 5) lines.push(`r${i},"never closed,${i}`);
    else if (kind === 6) lines.push(`r${i},short`);
    else if (kind === 4) lines.push(`r${i},"two`, `lines ${i}",${i}`);
    else lines.push(`r${i},"quoted ""text"" ${padding}",${i}`);
    if (kind >= 5) expectedBroken.push(line);
    else expected.push([line, `r${i}`, kind === 4 ? `two\r\nlines ${i}` : `quoted "text" ${padding}`, `${i}`]);
    line += kind === 4 ? 2 : 1;
  }
  const { version, broken, progress } = await readBytes(lines.join('\r\n'));
  expect(progress.at(-1)).toEqual([1, 1, 'MB of stones.csv']);
  expect(broken.map((row) => row.line)).toEqual(expectedBroken);
  expect(cellsOf(version)).toEqual(expected);
});

test('encodings: declared, by byte order mark, and bytes that are not valid', async () => {
  const latin = Buffer.from('id;n\na;Z\xfcrich', 'latin1');
  expect(cellsOf((await readBytes(latin, { encoding: 'windows-1252' })).version)).toEqual([[2, 'a', 'Zürich']]);
  expect(cellsOf((await readBytes(latin)).version)).toEqual([[2, 'a', 'Z\ufffdrich']]);
  const wide = Buffer.from('\ufeffid;n\na;Zürich', 'utf16le');
  expect(cellsOf((await readBytes(wide)).version)).toEqual([[2, 'a', 'Zürich']]);
  expect(cellsOf((await readBytes(wide.subarray(2), { encoding: 'utf-16le' })).version)).toEqual([[2, 'a', 'Zürich']]);
  await expect(readBytes('id\na', { encoding: 'utf-88' })).rejects.toThrow('a label of the Encoding Standard');
});

test('NUL bytes and other control characters stay in their cells', async () => {
  const { version } = await readBytes('id,n\na,\0\nb,"x\0\x01"');
  expect(cellsOf(version)).toEqual([
    [2, 'a', '\0'],
    [3, 'b', 'x\0\x01'],
  ]);
});

test('a header with a repeated name, and a file without rows', async () => {
  expect((await readBytes('id,n, id\na,b,c')).version.columns).toEqual(['id', 'n', 'id (column 3)']);
  expect((await readBytes('id,n,,\na,b,,')).version.columns).toEqual(['id', 'n', '', '']);
  await expect(readBytes('')).rejects.toThrow('stones.csv has no header: it contains no row');
  await expect(readBytes('\n \n')).rejects.toThrow('stones.csv has no header');
  await expect(readBytes('"id,n\na,b')).rejects.toThrow('stones.csv: the header cannot be read');
  expect((await readBytes('id,n\n')).version.rows).toEqual([]);
});

test('a compressed file', async () => {
  const text = `id,n\n${Array.from({ length: 60_000 }, (_, i) => `row-${i},${i}`).join('\n')}`;
  const { version } = await readBytes(gzipSync(text), {}, 'stones.csv.gz');
  expect(version.rows).toHaveLength(60_000);
  expect(version.rows.at(-1)).toEqual({ line: 60_001, cells: ['row-59999', '59999'] });
});

test('a damaged compressed file is an error with its name', async () => {
  const damaged = gzipSync(`id,n\n${'a,b\n'.repeat(10_000)}`).subarray(0, 60);
  await expect(readBytes(damaged, {}, 'stones.csv.gz')).rejects.toThrow(/^stones\.csv\.gz: unexpected end of file$/);
});

test('sep= chooses the delimiter, and lines above the header are skipped; lines count from the start of the file', async () => {
  const folder = scratch();
  writeFileSync(join(folder, 'a.csv'), 'sep=;\r\nid;n\r\na;1,5\r\nb\r\n');
  const { context, broken } = sourceContext(folder);
  const [first] = await readAll(READERS.csv(declaredAs('csv', csv('a.csv')), context));
  expect(first!.rows).toEqual([{ line: 3, cells: ['a', '1,5'] }]);
  expect(broken.map(({ line }) => line)).toEqual([4]);
  writeFileSync(join(folder, 'b.csv'), '\ufeffPrices, all\n\nid,n\na,1\n');
  const [second] = await readAll(READERS.csv(declaredAs('csv', csv('b.csv', { skip_lines: 2 })), context));
  expect([second!.columns, second!.rows]).toEqual([['id', 'n'], [{ line: 4, cells: ['a', '1'] }]]);
});
