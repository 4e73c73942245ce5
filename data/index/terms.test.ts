// The words of an index at the ends of their ranges: no word or record gets those of its neighbour.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Container, writeContainer } from './container.ts';
import { packTerms, type TermRows, Terms } from './terms.ts';

/** Each word with its records; `+`: in a public text; the weight of a word is its code plus one. */
const WORDS: [word: string, records: string[]][] = [
  ['aa', ['0+', '2']],
  ['ab', ['1', '2+']],
  ['ba', ['0', '1+', '3+']],
  ['bb', ['3']],
];
const RECORDS = 4;

const rows: TermRows = {
  words: WORDS.map(([word]) => word),
  counts: WORDS.map(([, records]) => records.length),
  ordinal: Uint32Array.from(WORDS.flatMap(([, records]) => records.map((record) => Number.parseInt(record, 10)))),
  public: Uint8Array.from(WORDS.flatMap(([, records]) => records.map((record) => Number(record.endsWith('+'))))),
  compared: Uint8Array.from(WORDS.flatMap(([, records]) => records.map(() => 1))),
  weight: Uint8Array.from(WORDS.flatMap(([, records], code) => records.map(() => code + 1))),
  public_weight: Uint8Array.from(
    WORDS.flatMap(([, records], code) => records.map((r) => (r.endsWith('+') ? code + 1 : 0))),
  ),
};

const folder = mkdtempSync(join(tmpdir(), 'terms-'));
writeContainer(join(folder, 'terms'), packTerms(rows, RECORDS));
const terms = new Terms(new Container(join(folder, 'terms')), RECORDS);
afterAll(() => rmSync(folder, { recursive: true }));

const recordsOf = (code: number, scope: 'public' | 'full') =>
  WORDS[code]![1].filter((record) => scope === 'full' || record.endsWith('+')).map((record) =>
    Number.parseInt(record, 10),
  );
const wordsOf = (record: number, scope: 'public' | 'full') =>
  WORDS.flatMap((_, code) => (recordsOf(code, scope).includes(record) ? [code] : []));
const codes = WORDS.map((_, code) => code);
const records = Array.from({ length: RECORDS }, (_, record) => record);
const ranges = codes.flatMap((from) =>
  [...codes, WORDS.length].filter((to) => to >= from).map((to) => [from, to] as const),
);

it.each(['full', 'public'] as const)('finds the records of each range of words in %s texts', (scope) => {
  for (const range of ranges) {
    const inside = codes.filter((code) => code >= range[0] && code < range[1]);
    const all = inside.flatMap((code) => recordsOf(code, scope));
    expect([...terms.list(range, scope)], String(range)).toEqual([...new Set(all)].sort());
    expect(terms.countIn(range, scope), String(range)).toBe(all.length);
  }
});

it('finds the words of each record, with their weights', () => {
  for (const record of records) {
    expect(terms.publicWords(record)).toEqual(wordsOf(record, 'public'));
    for (const range of ranges) {
      const inside = (scope: 'public' | 'full') =>
        wordsOf(record, scope).filter((code) => code >= range[0] && code < range[1]);
      expect(terms.within(record, range), `${record} ${range}`).toBe(inside('full').length > 0);
      for (const scope of ['public', 'full'] as const) {
        const sum = inside(scope).reduce((total, code) => total + code + 1, 0);
        expect(terms.frequency(record, range, -1, scope), `${record} ${range} ${scope}`).toBe(sum);
      }
    }
  }
});

it('finds the public records of each word, and counts public words by record', () => {
  for (const code of codes) expect([...terms.publicRecords(code)]).toEqual(recordsOf(code, 'public'));
  expect([...terms.publicCounts()]).toEqual(records.map((record) => wordsOf(record, 'public').length));
  expect(terms.range('a')).toEqual([0, 2]);
  expect(terms.range('c')).toEqual([4, 4]);
});
