// Lines to DuckDB and back are lossless for all texts and lengths.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scratch } from '../../tests/support/night-pack.ts';
import { Duck, fromLines, fromParquet, quotedIdentifier, quotedText } from './duck.ts';
import { copyText, cutLines, LineWriter, NULL, oneLine, readLines, Shelf, takeFrom } from './lines.ts';

const line = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\n\r]/g, ' '));

test('lines are read unchanged', () => {
  fc.assert(
    fc.property(fc.array(line), (texts) => {
      const path = join(scratch(), 'lines');
      const writer = new LineWriter(path);
      for (const text of texts) writer.line(text);
      writer.close();
      expect([...readLines(path)]).toEqual(texts);
      expect(writer.lines).toBe(texts.length);
      expect(writer.at).toBe(texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0));
    }),
    { numRuns: 50, seed: 3 },
  );
});

test('texts, bytes and lines are written in their order', () => {
  const path = join(scratch(), 'lines');
  const writer = new LineWriter(path);
  writer.line('é first');
  writer.text('1\t');
  writer.bytes(Buffer.from('two\n'), true);
  expect(writer.at).toBe(Buffer.byteLength('é first\n1\ttwo\n'));
  writer.bytes(Buffer.from('three '), false);
  writer.bytes(Buffer.alloc(5_000_000, 'x'), false);
  writer.line('');
  writer.close();
  expect([...readLines(path)]).toEqual(['é first', '1\ttwo', `three ${'x'.repeat(5_000_000)}`]);
  expect(writer.lines).toBe(3);
});

test('lines longer than the buffers, with characters of 1 to 4 bytes across every boundary', () => {
  const path = join(scratch(), 'lines');
  const texts = ['x'.repeat(5_000_000), '石'.repeat(300_000), 'é'.repeat(262_143), '', '😀'.repeat(200_000), 'end'];
  const writer = new LineWriter(path);
  for (const text of texts) writer.line(text);
  for (let i = 0; i < 40_000; i++) writer.line(`${i} ${'ü'.repeat(i % 97)}`);
  writer.close();
  const found = [...readLines(path)];
  expect(found.slice(0, texts.length).map((text, i) => text === texts[i])).toEqual(texts.map(() => true));
  expect(found).toHaveLength(texts.length + 40_000);
  expect(
    found.every((text, i) => i < texts.length || text === `${i - texts.length} ${'ü'.repeat((i - texts.length) % 97)}`),
  ).toBe(true);
});

test('a file without a last line feed, and an empty one', () => {
  const path = join(scratch(), 'lines');
  writeFileSync(path, 'a\nb');
  expect([...readLines(path)]).toEqual(['a', 'b']);
  writeFileSync(path, '');
  expect([...readLines(path)]).toEqual([]);
});

test('a copied text is equal', () => {
  expect(copyText('r-0123 ü石😀')).toBe('r-0123 ü石😀');
});

test('line breaks in a text become spaces', () => {
  expect(oneLine('a\tb\r\nc\u0000\u2028d')).toBe('a b c d');
  expect(oneLine('plain text')).toBe('plain text');
});

test('shelves return entries in any order, repeatedly, numbered across all shelves', () => {
  const folder = scratch();
  const entries = [['a', 'b'], ['x'.repeat(200_000)], ['', 'ü'], ['last']];
  const shelves = [entries.slice(0, 2), [], entries.slice(2)].map((some, i) => {
    const path = join(folder, String(i));
    const shelf = new Shelf(path);
    for (const entry of some) shelf.put(entry);
    expect(shelf.size).toBe(some.length);
    return { path, starts: shelf.close() };
  });
  const order = [2, 0, 1, 3, 1, 0];
  const found: string[] = [];
  for (const bytes of takeFrom(shelves, order)) found.push(bytes.toString());
  expect(found).toEqual(order.map((i) => entries[i]!.map((text) => `${text}\n`).join('')));
});

test('lines are cut into ranges that keep groups together and lose nothing', () => {
  const group = fc.record({ name: fc.stringMatching(/^[a-zü]{1,5}$/), lines: fc.integer({ min: 1, max: 9 }) });
  fc.assert(
    fc.property(fc.array(group, { maxLength: 30 }), fc.integer({ min: 1, max: 8 }), (groups, count) => {
      const path = join(scratch(), 'lines');
      const lines = groups.flatMap(({ name, lines: n }, i) => Array.from({ length: n }, (_, k) => `${i}${name}\t${k}`));
      const writer = new LineWriter(path);
      for (const text of lines) writer.line(text);
      writer.close();
      const groupOf = (text: string) => text.split('\t')[0]!;
      const cuts = cutLines(path, count, groupOf);
      expect(cuts).toHaveLength(count + 1);
      const stretches = cuts.slice(1).map((to, i) => [...readLines(path, cuts[i], to)]);
      expect(stretches.flat()).toEqual(lines);
      const seen = stretches.flatMap((some) => [...new Set(some.map(groupOf))]);
      expect(seen).toHaveLength(new Set(seen).size);
    }),
    { numRuns: 100, seed: 6 },
  );
});

describe('DuckDB', () => {
  const columns = { a: 'VARCHAR', n: 'DOUBLE' };
  const text = fc.string({ unit: 'grapheme' }).map((raw) => oneLine(raw));

  test('reads lines and writes them, quotes, backslashes, NULL and empty texts included', async () => {
    const folder = scratch();
    const duck = await Duck.open(join(folder, 'spill'));
    const texts = [
      ...fc.sample(text, { numRuns: 300, seed: 4 }),
      '',
      '"',
      '""',
      '\\N',
      '\\',
      "it's",
      ',',
      'NULL',
      '#',
      '//',
    ];
    const path = join(folder, 'in');
    const writer = new LineWriter(path);
    for (const [i, each] of texts.entries()) writer.line(`${each}\t${i % 3 ? i / 7 : NULL}`);
    writer.close();
    const query = `SELECT * FROM ${fromLines(path, columns)}`;
    expect(await duck.rows(query)).toEqual(texts.map((each, i) => [each, i % 3 ? i / 7 : null]));
    await duck.lines(query, join(folder, 'out'));
    expect([...readLines(join(folder, 'out'))].map((each) => each.split('\t')[0])).toEqual(texts);
    expect(await duck.parquet(query, join(folder, 'a.parquet'))).toBe(texts.length);
    expect(await duck.count(`SELECT count(*) FROM ${fromParquet([join(folder, 'a.parquet')], columns)}`)).toBe(
      texts.length,
    );
    expect(await duck.rows(`SELECT * FROM ${fromParquet([], columns)}`)).toEqual([]);
    duck.close();
  });

  test('quotes names', async () => {
    const duck = await Duck.open(join(scratch(), 'spill'));
    const odd = `o'dd "name"`;
    expect(await duck.rows(`SELECT ${quotedText(odd)} AS ${quotedIdentifier(odd)}`)).toEqual([[odd]]);
    duck.close();
  });
});
