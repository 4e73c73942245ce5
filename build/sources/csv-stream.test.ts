// Properties of CSV in chunks: the size of the chunks changes nothing, and every line is in a row or reported.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCsv } from '../../tests/support/parse-csv.ts';
import { CsvStream } from './csv-stream.ts';
import type { BrokenRow, RawRow } from './reader.ts';

const FORMAT = { columns: ['id', 'name'], delimiter: ',', skipped: 0 };

/** Parses bytes in chunks of the given sizes, which repeat. */
async function parse(bytes: Buffer, sizes: readonly number[]): Promise<{ rows: RawRow[]; broken: BrokenRow[] }> {
  const broken: BrokenRow[] = [];
  const rows: RawRow[] = [];
  const stream = new CsvStream(FORMAT, (row) => void broken.push(row));
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!;
    await stream.write(bytes.subarray(at, at + size), false);
    rows.push(...stream.takeRows());
    at += size;
  }
  await stream.write(Buffer.alloc(0), true);
  rows.push(...stream.takeRows());
  return { rows, broken };
}

/** Texts in which almost everything is a quote, a delimiter or a line break. */
const messyText = fc
  .array(fc.constantFrom('"', '"', ',', '\n', '\r\n', '\r', 'a', 'é', ' ', 'a,b\n', '"x",y\n', '\0'), { maxLength: 60 })
  .map((pieces) => `id,name\n${pieces.join('')}`);

test('the size of the chunks changes nothing', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
  const property = fc.asyncProperty(messyText, sizes, async (text, chunks) => {
    const bytes = Buffer.from(text);
    expect(await parse(bytes, chunks)).toEqual(await parse(bytes, [bytes.length]));
  });
  await fc.assert(property, { numRuns: 500 });
});

test('every line with text is in a row or reported, and rows begin where their line does', async () => {
  const property = fc.asyncProperty(messyText, async (text) => {
    const { rows, broken } = await parse(Buffer.from(text), [Buffer.byteLength(text)]);
    const lines = text.split(/\r\n|\n|\r/);
    const starts = [...rows, ...broken].map(({ line }) => line).sort((a, b) => a - b);
    expect(new Set(starts).size).toBe(starts.length);
    for (const { line, cells } of rows) {
      const first = String(cells[0]).split(/\r\n|\n|\r/)[0]!;
      expect(lines[line - 1]!.replaceAll('"', '')).toContain(first.replaceAll('"', ''));
    }
    // A line between two starts belongs to the row before it, whose text has a line break.
    for (const [i, each] of lines.entries()) {
      if (i === 0 || each.trim() === '' || starts.includes(i + 1)) continue;
      const before = starts.findLast((start) => start <= i)!;
      const row = rows.find(({ line }) => line === before);
      const wide = broken.find(({ line }) => line === before);
      expect(row?.cells.join('') ?? wide?.expected, `line ${i + 1} of ${JSON.stringify(text)}`).toMatch(
        /[\r\n]|in lines/,
      );
    }
  });
  await fc.assert(property, { numRuns: 500 });
});

test('a correct CSV is read as by a strict parser of RFC 4180', async () => {
  const cell = fc
    .array(fc.constantFrom('"', ',', '\n', '\r\n', 'a', 'é', ' '), { maxLength: 8 })
    .map((pieces) => pieces.join(''));
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const property = fc.asyncProperty(fc.array(fc.tuple(cell, cell), { maxLength: 20 }), async (cells) => {
    const text = ['id,name', ...cells.map((row) => row.map(quoted).join(','))].join('\r\n');
    const { rows, broken } = await parse(Buffer.from(text), [7]);
    expect(broken).toEqual([]);
    expect(rows.map((row) => row.cells)).toEqual(cells);
    expect(parseCsv(`${text}\r\n`).slice(1)).toEqual(cells);
  });
  await fc.assert(property, { numRuns: 300 });
});
