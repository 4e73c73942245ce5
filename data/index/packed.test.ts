// The packed structures: numbers are lossless in every form, and an index in another format is built again.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { random, randomRecords } from '../../tests/support/random-records.ts';
import { writeRelease } from '../../tests/support/write-release.ts';
import { runSlices } from '../plan/slices.ts';
import { Bitset } from './bitset.ts';
import { ensureIndex } from './build.ts';
import { Container, type Packed, writeContainer } from './container.ts';
import { Ends, packEnds } from './ends.ts';
import { Hex, packHex } from './hex.ts';
import { Keys, packKeys } from './keys.ts';
import { Numbers, packNumbers } from './numbers.ts';
import { orderBy } from './orders.ts';
import { PackedIndex } from './packed-index.ts';
import { packStrings, SortedStrings } from './strings.ts';
import { packValues, Values } from './values.ts';

const folder = scratchOfAll();

/** Writes arrays to a file and loads it. */
function stored(arrays: Record<string, Packed>): Container {
  const file = join(folder, 'columns.bin');
  writeContainer(file, arrays);
  return new Container(file);
}

const next = random(3);
const some = (make: (i: number) => number) => Float64Array.from({ length: 500 }, (_, i) => make(i));

test.each([
  ['few distinct ones', 'codes', some((i) => [0.1, 1e300, -7, Number.NaN][i % 4]!)],
  ['coordinates', 'scaled', some(() => Math.round((next() - 0.5) * 36_000_000) / 100_000)],
  ['whole numbers, some missing', 'scaled', some((i) => (i % 9 === 0 ? Number.NaN : i * 4_000_003))],
  ['any others', '', some(() => next() * 1e20)],
  ['none at all', 'codes', some(() => Number.NaN)],
])('numbers come back exactly: %s', (_, form, numbers) => {
  const packed = packNumbers('n', numbers);
  expect(Object.keys(packed)[0]).toBe(form === '' ? 'n' : `n.${form}`);
  const read = new Numbers(stored(packed), 'n');
  expect(Array.from(numbers, (_number, i) => read.at(i))).toEqual([...numbers]);
});

test.each([
  ['close together', 3],
  ['too far apart for two bytes', 3000],
])('ends come back: %s', (_, step) => {
  const ends = Uint32Array.from({ length: 300 }, (_end, i) => i * step + Math.floor(i / 7));
  const read = new Ends(stored(packEnds('e', ends)), 'e');
  expect(read.length).toBe(300);
  expect(Array.from(ends, (_end, i) => read.end(i))).toEqual([...ends]);
  expect([read.start(0), read.start(64), read.start(65)]).toEqual([0, ends[63], ends[64]]);
});

test('hex digits are lossless and compare like texts; other texts throw', () => {
  const texts = ['00000000ffffffff', 'ffffffff00000000', '0123456789abcdef'];
  const read = new Hex(stored(packHex('h', texts)), 'h');
  expect(texts.map((_, i) => read.at(i))).toEqual(texts);
  expect([read.compare(0, 1) < 0, read.compare(1, 2) > 0, read.compare(2, 2)]).toEqual([true, true, 0]);
  expect(() => packHex('h', ['ABCDEF0123456789'])).toThrow('must be 16 lower-case hex digits');
});

test('a table three quarters full finds every id and slug and nothing else', () => {
  const ids = Array.from(
    { length: 3000 },
    () =>
      `r-${Math.floor(next() * 2 ** 48)
        .toString(16)
        .padStart(16, '0')}`,
  );
  const slugs = ids.map((_, i) => `place-${i}`);
  const keys = new Keys(stored(packKeys(ids, slugs)));
  expect(ids.map((id) => keys.find(id))).toEqual([...ids.keys()]);
  expect(slugs.map((slug) => keys.find(slug))).toEqual([...ids.keys()]);
  expect(['place-3000', 'r-0000000000000000', '', 'r-xyz'].map((ref) => keys.find(ref))).toEqual([
    null,
    null,
    null,
    null,
  ]);
  expect([...keys.byId].map((ordinal) => ids[ordinal])).toEqual([...ids].sort());
});

test('an order is by value, then id; records without a value are last', async () => {
  const values = [5, Number.NaN, 2, 5, -Number.NaN, -1, 0, -0, -0.5, Number.POSITIVE_INFINITY, -1e300, 1e-300];
  const byId = Uint32Array.of(4, 3, 5, 0, 2, 1, 7, 6, 8, 9, 10, 11);
  const order = await runSlices(orderBy(byId, (ordinal) => values[ordinal]!));
  expect([...order]).toEqual([10, 5, 8, 7, 6, 11, 2, 3, 0, 9, 4, 1]);
});

test('the order of many records is made in slices, and equals a sort by comparison', async () => {
  const next = random(41);
  const values = Array.from({ length: 5_000 }, () =>
    next() < 0.1 ? Number.NaN : Math.round((next() - 0.5) * 3e9) / 1e6,
  );
  const byId = Uint32Array.from(values.keys()).reverse();
  const reads: number[] = [];
  const sortNumber = (ordinal: number) => {
    reads[reads.length - 1]! += 1;
    return values[ordinal]!;
  };
  const slices = orderBy(byId, sortNumber, { slice: 1_000 });
  let step: IteratorResult<void, Uint32Array>;
  do {
    reads.push(0);
    step = slices.next();
  } while (!step.done);
  expect(Math.max(...reads)).toBe(1_000);
  // Each digit counts the records and moves them.
  expect(reads).toHaveLength(1 + 4 * (1 + 2 * 4));
  const rank = (ordinal: number) => (Number.isNaN(values[ordinal]) ? Number.MAX_VALUE : values[ordinal]!);
  expect([...step.value]).toEqual([...byId].sort((a, b) => rank(a) - rank(b)));
});

test('an index that answers a search or facets over many records lets the event loop run in between', async () => {
  const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));
  const written = await writeRelease(folder, pack, randomRecords(pack, 500, 7));
  const index = new PackedIndex(written.folder, pack, written.manifest);
  const options = { slice: 100 };
  const search = { where: [], sort: { key: 'mass', descending: true }, after: null, limit: 5, total: false };
  const facets = { where: [], by: 'maker', limit: 5, floor: 0 };
  /** Whether the event loop ran before a query was answered. */
  const waits = async (query: () => Promise<unknown>) => {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await query();
    return turned;
  };
  expect(await waits(() => index.search(search, options))).toBe(true);
  expect(await waits(() => index.facets(facets, options))).toBe(true);
  // The order is known now.
  expect(await waits(() => index.search(search, options))).toBe(false);
  expect(await index.facets(facets, options)).toEqual(await index.facets(facets));
  index.close();
});

describe('an index in another format', () => {
  test('is built again by the next nightly run; a current one stays', async () => {
    const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));
    const written = await writeRelease(folder, pack, randomRecords(pack, 20, 1));
    const file = join(written.folder, 'index/columns.bin');
    const made = readFileSync(file);
    writeFileSync(file, Buffer.concat([Buffer.from('DSRIDX01'), made.subarray(8)]));
    expect(() => new Container(file)).toThrow('the next nightly run builds it again');
    await ensureIndex(written.folder, pack);
    expect(readFileSync(file).equals(made)).toBe(true);
    writeFileSync(file, Buffer.concat([made, Buffer.from('x')]));
    await ensureIndex(written.folder, pack);
    expect(readFileSync(file).length).toBe(made.length + 1);
  });
});

test('the words one edit from another are found among 400,000 within one turn of the event loop', () => {
  const letters = [...'aeioubcdlmnrst', 'ж', '北', '𝒳'];
  const word = (length: number) => Array.from({ length }, () => letters[Math.floor(next() * letters.length)]).join('');
  const words = new Set(['amsterdam', 'amstedram', 'amsterda', 'amsterdams', 'amsterdan', 'msterdam']);
  while (words.size < 400_000) words.add(word(3 + Math.floor(next() * 8)));
  const sorted = [...words].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const read = new SortedStrings(stored(packStrings('w', sorted)), 'w');
  const near = (text: string) => [...read.oneEdit(text)].map((code) => read.at(code)).sort();
  expect(near('amsterdam')).toEqual(['amstedram', 'amsterda', 'amsterdams', 'amsterdan', 'msterdam'].sort());
  // Every word of three letters with one replaced.
  const [typed = ''] = sorted.filter((text) => [...text].length === 3);
  const [a, b, c] = [...typed];
  const replaced = sorted.filter((text) => {
    const [x, y, z, ...more] = [...text];
    return z !== undefined && more.length === 0 && Number(x !== a) + Number(y !== b) + Number(z !== c) === 1;
  });
  expect(replaced.length).toBeGreaterThan(0);
  expect(near(typed)).toEqual(expect.arrayContaining(replaced));
  const times = Array.from({ length: 20 }, () => {
    const before = process.threadCpuUsage();
    read.oneEdit(word(10));
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  // Processor time; one search may pay for the compiler or the garbage of others.
  expect(Math.min(...times)).toBeLessThan(10);
  expect(times.reduce((sum, time) => sum + time, 0)).toBeLessThan(20 * 25);
});

test('texts of removed records alone are not searched: their codes are in no answer', () => {
  const texts = ['ab', 'b', 'xab', 'ab', 'abab', 'c'];
  const container = stored(packValues('v', texts, (text) => text));
  const values = new Values(container, 'v');
  const found = (needle: string, ...removed: number[]) =>
    values.codesLike(needle, Bitset.of(removed, texts.length)).map((code) => values.folded.at(code));
  expect(found('ab')).toEqual(['ab', 'abab', 'xab']);
  expect(found('ab', 0)).toEqual(['ab', 'abab', 'xab']);
  expect(found('ab', 0, 3)).toEqual(['abab', 'xab']);
  expect(found('ab', 0, 2, 3, 4)).toEqual([]);
  expect(found('', 1, 5)).toEqual(['ab', 'abab', 'xab']);
  expect(found('b', 0, 3, 4)).toEqual(['b', 'xab']);
});

test('a text at which a search takes long takes no time once it is removed', () => {
  const texts = [...Array.from({ length: 50 }, (_, i) => `other ${i}`), `${'a'.repeat(500_000)}z`];
  const values = new Values(stored(packValues('v', texts, (text) => text)), 'v');
  const needle = `${'a'.repeat(500)}b${'a'.repeat(500)}`;
  /** The shortest of several times, which another process cannot lengthen for each. */
  const shortest = (removed: Bitset | null) =>
    Math.min(
      ...[1, 2, 3].map(() => {
        const began = performance.now();
        values.codesLike(needle, removed);
        return performance.now() - began;
      }),
    );
  // 0.8 s against 0.05 ms where it was measured.
  expect(shortest(Bitset.of([50], texts.length)) * 10).toBeLessThan(shortest(null));
});
