// Sources that claim or unpack to more than they declare: each ends with one error, before memory is taken for it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { writeXlsx } from 'hucre/xlsx';
import { expect, test } from 'vitest';
import { csv, json, jsonl, sqlite, xlsx } from '../../packs/define/sources.ts';
import { LONGEST_TEXT } from '../../packs/define/text.ts';
import { scratch } from '../../tests/support/night-pack.ts';
import { declaredAs, readAll, sourceContext } from '../../tests/support/source-context.ts';
import { READERS } from './readers.ts';

/** A zip archive of deflated files; `size` replaces the unpacked sizes that it states. */
function zipOf(files: Record<string, string | Buffer>, size?: number): Buffer {
  const [locals, entries]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(size ?? bytes.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    locals.push(Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed);
    entries.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), fields, rest, Buffer.from(name));
    offset += 30 + Buffer.byteLength(name) + packed.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

const DECLARE = { csv, json, jsonl, xlsx } as const;
type Kind = keyof typeof DECLARE;

async function read(kind: Kind, name: string, bytes: Buffer | string, options: object = {}) {
  const folder = scratch();
  writeFileSync(join(folder, name), bytes);
  const { context, broken } = sourceContext(folder);
  const declared = declaredAs(kind, DECLARE[kind](name, options) as never);
  const reader = READERS[kind] as (...input: unknown[]) => AsyncIterable<never>;
  const [version] = await readAll(reader(declared, context));
  return { rows: version!.rows, broken };
}

const CSV = 'code,v\n1,2\n';
/** The directory's length or start: a field of the end record, by its offset. */
const forged = (field: number) => {
  const zip = zipOf({ 't.csv': CSV });
  zip.writeUInt32LE(0xfffffff0, zip.length - 22 + field);
  return zip;
};
const overlapping = () => {
  const zip = zipOf({ 'a.csv': CSV, 'b.csv': CSV });
  zip.writeUInt32LE(0, zip.lastIndexOf('b.csv') - 4);
  return zip;
};
const levels = (count: number) => '['.repeat(count) + ']'.repeat(count);

test.each<[string, Kind, string, Buffer | string, object, string]>([
  ['a directory longer than the file', 'csv', 't.zip', forged(12), {}, 'damaged: it ends after the file'],
  ['a directory after the file', 'csv', 't.zip', forged(16), {}, 'damaged: it ends after the file'],
  ['files that share bytes', 'csv', 't.zip', overlapping(), { inside: '*' }, 'overlaps another file'],
  ['a stated size below the real one', 'csv', 't.zip', zipOf({ 't.csv': CSV.repeat(99) }, 9), {}, 'is damaged'],
  [
    'a zip above max_bytes',
    'csv',
    't.zip',
    zipOf({ 't.csv': CSV.repeat(99) }),
    { max_bytes: 99 },
    'more than 99 bytes',
  ],
  ['a gzip bomb', 'csv', 't.csv.gz', gzipSync(CSV.repeat(9999)), { max_bytes: 999 }, 'more than 999 bytes'],
  ['packed lines', 'jsonl', 't.jsonl.gz', gzipSync('{"a":1}\n'.repeat(999)), { max_bytes: 99 }, 'more than 99 bytes'],
  ['a deep document', 'json', 't.json', levels(100_000), {}, 'have more than 100 levels'],
  [
    'a deep value',
    'json',
    't.json',
    `[{"a":0.12345678901234567890,"b":${levels(100_000)}}]`,
    {},
    'more than 100 levels',
  ],
])('%s', async (_, kind, name, bytes, options, message) => {
  await expect(read(kind, name, bytes, options)).rejects.toThrow(message);
});

test('a workbook is bounded by the unpacked size of its parts, stated and real', async () => {
  const text = 'a'.repeat(500_000);
  const book = Buffer.from(
    await writeXlsx({
      sheets: [
        {
          name: 'S',
          rows: [
            ['code', 'v'],
            ['a', text],
          ],
        },
      ],
    }),
  );
  expect(book.length).toBeLessThan(20_000);
  expect((await read('xlsx', 'b.xlsx', book)).rows).toHaveLength(1);
  await expect(read('xlsx', 'b.xlsx', book, { max_bytes: 400_000 })).rejects.toThrow(
    /^b\.xlsx: xl\/\S+ has more than 400,000 bytes when unpacked, the most that the source declares \(max_bytes\)/,
  );
  const name = book.includes('xl/sharedStrings.xml') ? 'xl/sharedStrings.xml' : 'xl/worksheets/sheet1.xml';
  const entry = book.lastIndexOf(name) - 46;
  const forgedBook = Buffer.from(book);
  forgedBook.writeUInt32LE(10, entry + 24);
  await expect(read('xlsx', 'b.xlsx', forgedBook)).rejects.toThrow(`${name} in the zip archive is damaged`);
});

test('a deep line is a broken line', async () => {
  const { rows, broken } = await read('jsonl', 't.jsonl', `{"a":1}\n{"a":${levels(100_000)}}\n{"a":2}\n`);
  expect([rows.length, broken.map(({ line }) => line)]).toEqual([2, [2]]);
});

test('SQLite: of a value that no attribute may have, the part that shows it is read', async () => {
  const folder = scratch();
  const database = new DatabaseSync(join(folder, 't.sqlite'));
  database.exec('CREATE TABLE t AS SELECT 1 AS code, zeroblob(9000000) AS b, hex(zeroblob(4000000)) AS h');
  database.close();
  const reading = READERS.sqlite(
    declaredAs('sqlite', sqlite('t.sqlite', { table: 't' })),
    sourceContext(folder).context,
  );
  const [version] = await readAll(reading);
  const [code, blob, text] = version!.rows[0]!.cells as [number, Uint8Array, string];
  expect([code, blob.length, text.length]).toEqual([1, 1, LONGEST_TEXT.bytes + 1]);
});
