// The index behind the search of the home page: names of all records, in files by their first letters
// (docs/decisions/0031-search.md).
import { join } from 'node:path';
import { hintAttributes, searchLines } from '../../api/pages/search-line.ts';
import { plural } from '../../api/render/print.ts';
import { Duck, quotedText } from '../../data/duckdb/duck.ts';
import { column, RELEASE_FILES } from '../../data/model/layout.ts';
import type { Release } from '../../data/releases/release.ts';
import type { Attribute, Pack, Value } from '../../packs/define/model.ts';
import { words } from '../../packs/define/text.ts';
import type { Output } from './output.ts';

/** Most keys in a file; a prefix with more is divided by its next letter, and has a file of its best. */
const MOST = 300;
/** Records in the file of a divided prefix. */
const BEST = 20;
/** Letters of a key: longer ones are cut. */
const DEPTH = 24;
/** Share of different values that makes a text a code, by which a record can be found. */
const UNIQUE = 0.95;

/** A record or dataset in the index. */
interface SearchEntry {
  line: string;
  /** Folded texts by which it is found. */
  texts: string[];
  /** 0..1: position among the records of its dataset, best known first; ranks compare across datasets. */
  rank: number;
}

/**
 * Places of entries in the index, each a text from the beginning of a word: sorted by text, then by entry. An
 * entry is its position, best first.
 */
interface Keys {
  /** The distinct texts, sorted. */
  texts: readonly string[];
  /** The first key of each text, and the number of keys. */
  start: Uint32Array;
  entry: Uint32Array;
  /** 0: all of a text; 1: from its beginning; 2: from a later word. */
  kind: Uint8Array;
}

/** Prefixes of the files: `best` of many records, `blocks` of all records from there to the next block. */
interface SearchIndex {
  best: string[];
  blocks: string[];
}

export interface SearchOptions {
  releases: readonly Release[];
  /** A folder to which DuckDB may spill. */
  scratch: string;
  /** Fingerprint of the releases. */
  key: string;
}

/** Path of the file of a prefix. */
const searchPath = (prefix: string): string => `search/${Buffer.from(prefix).toString('hex')}.txt`;

/** Writes the index, unless it exists with the same key. */
export async function writeSearch({ releases, scratch, key }: SearchOptions, output: Output): Promise<void> {
  const name = `search.${key}`;
  if (output.keepAll(name)) return;
  const entries: SearchEntry[] = [];
  // The datasets are written at the same time.
  const duck = await Duck.open(scratch, 1);
  try {
    for (const release of releases) for (const entry of await entriesOf(release, duck)) entries.push(entry);
  } finally {
    duck.close();
  }
  for (const [path, text] of searchFiles(entries)) output.write(path, text, name);
}

/** The files of an index, by their path below DIST_DIR. */
export function searchFiles(entries: readonly SearchEntry[]): Map<string, Buffer> {
  const sorted = entries.toSorted((a, b) => a.rank - b.rank || (a.line < b.line ? -1 : 1));
  const index: SearchIndex = { best: [], blocks: [] };
  const files = new Map<string, Buffer>();
  const keys = keysOf(sorted);
  // A line is in several files, and is encoded once.
  const lines = sorted.map(({ line }) => Buffer.from(`${line}\n`));
  divide('', { from: 0, to: keys.texts.length }, keys, index, (prefix, numbers) => {
    files.set(searchPath(prefix), Buffer.concat([...new Set(numbers)].map((number) => lines[number]!)));
  });
  return files.set('search/index.json', Buffer.from(JSON.stringify(index)));
}

/** The dataset and its records. */
async function entriesOf(release: Release, duck: Duck): Promise<SearchEntry[]> {
  const { pack, manifest } = release;
  const searched = searchedAttributes(pack);
  const texts = [...new Set([...hintAttributes(pack), ...searched])];
  const rows = await readRecords(release, texts, duck);
  const cellOf = new Map(texts.map(({ name }, i) => [name, i + FIRST]));
  const codes = searched
    .filter(({ name }) => pack.identity.attributes.includes(name) || isUnique(rows, cellOf.get(name)!))
    .map(({ name }) => cellOf.get(name)!);
  const dataset = [pack.title, `Dataset, ${plural(manifest.records, 'record')}`, `/datasets/${pack.id}/`];
  const compare = [`Compare ${pack.title}`, 'Records side by side', `/compare/${pack.id}`];
  const entries: SearchEntry[] = [
    { line: dataset.join('\t'), texts: [words(pack.title).join(' ')], rank: -1 },
    { line: compare.join('\t'), texts: [words(`compare ${pack.title}`).join(' ')], rank: 0 },
  ];
  const lineOf = searchLines(pack);
  for (const [i, row] of rows.entries()) {
    const [, slug, name] = row;
    const line = lineOf({ slug, name }, (attribute) => row[cellOf.get(attribute)!]);
    const nameTexts = [wordsOf(name)].filter(Boolean);
    for (const code of codes) {
      const text = wordsOf(String(row[code] ?? ''));
      if (text !== '' && !nameTexts.includes(text)) nameTexts.push(text);
    }
    entries.push({ line, texts: nameTexts, rank: i / rows.length });
  }
  return entries;
}

/** Texts by whose values a record can be found, if they are codes. */
function searchedAttributes({ attributes }: Pack): Attribute[] {
  return attributes.filter(({ type, searchable, public: open }) => open && searchable && type === 'string');
}

/** A record: ordinal, slug, name, then the values of some attributes; null: missing. */
type Row = [ord: number, slug: string, name: string, ...values: (Value | null)[]];
/** Place of the first value in a row. */
const FIRST = 3;

/** Whether at least the share UNIQUE of the values in a cell of all rows are different. */
function isUnique(rows: readonly Row[], cell: number): boolean {
  const values = new Set<unknown>();
  let count = 0;
  for (const row of rows) {
    if (row[cell] === null) continue;
    count += 1;
    values.add(row[cell]);
    // The rest cannot be different enough.
    if (count - values.size > (1 - UNIQUE) * rows.length) return false;
  }
  return values.size >= UNIQUE * count;
}

/** Reads the records with the values of `texts`, best known first, without opted-out ones. */
async function readRecords(release: Release, texts: readonly Attribute[], duck: Duck): Promise<Row[]> {
  const { serving, gone } = release.pack;
  const order = serving.prominence === null ? '' : `"${column(serving.prominence, 'value')}" DESC NULLS LAST,`;
  const last =
    gone === null ? '' : `"${column(gone.attribute, 'value')}" IS NOT DISTINCT FROM ${quotedText(gone.value)},`;
  const columns = ['ord', 'slug', 'name', ...texts.map(({ name }) => `"${column(name, 'value')}"`)];
  const file = quotedText(join(release.folder, RELEASE_FILES.engine));
  const removed = new Set(release.touched?.gone);
  const rows: Row[] = [];
  const values = duck.values(columns, `FROM read_parquet(${file}) ORDER BY ${last} ${order} ord`);
  for await (const some of values as AsyncIterable<Row[]>) {
    for (const row of some) if (!removed.has(row[0])) rows.push(row);
  }
  return rows;
}

/** Words of plain letters and digits, which need no folding. */
const PLAIN = /^[a-z0-9]+(?: [a-z0-9]+)*$/;

/** The folded words of a text, with a space between them. */
function wordsOf(text: string): string {
  const lower = text.toLowerCase();
  return PLAIN.test(lower) ? lower : words(text).join(' ');
}

/** A key from the beginning of each word of each text of each entry; the first counts if two are equal. */
function keysOf(entries: readonly SearchEntry[]): Keys {
  const codes = new Map<string, number>();
  /** The last entry with a text, by its code. */
  const last: number[] = [];
  const keys: { code: number[]; entry: number[]; kind: number[] } = { code: [], entry: [], kind: [] };
  for (const [entry, { texts }] of entries.entries()) {
    for (const whole of texts) {
      for (let from = 0; from >= 0 && from < whole.length; from = next(whole, from)) {
        const text = whole.slice(from, from + DEPTH);
        let code = codes.get(text);
        if (code === undefined) {
          code = last.push(-1) - 1;
          codes.set(text, code);
        }
        if (last[code] === entry) continue;
        last[code] = entry;
        keys.code.push(code);
        keys.entry.push(entry);
        keys.kind.push(from > 0 ? 2 : text === whole ? 0 : 1);
      }
    }
  }
  return sortedKeys(codes, keys);
}

/** Sorts keys by text; `codes` are the codes of the texts. A counting sort, so that the keys of a text stay sorted by entry. */
function sortedKeys(
  codes: ReadonlyMap<string, number>,
  { code, entry, kind }: { code: readonly number[]; entry: readonly number[]; kind: readonly number[] },
): Keys {
  // The native sort is several times faster than one with a function.
  const texts = [...codes.keys()].sort();
  const rankOf = new Uint32Array(texts.length);
  for (const [rank, text] of texts.entries()) rankOf[codes.get(text)!] = rank;
  const start = new Uint32Array(texts.length + 1);
  for (const number of code) start[rankOf[number]! + 1]! += 1;
  for (let i = 0; i < texts.length; i += 1) start[i + 1]! += start[i]!;
  const at = start.slice();
  const keys: Keys = { texts, start, entry: new Uint32Array(code.length), kind: new Uint8Array(code.length) };
  for (const [i, number] of code.entries()) {
    const slot = at[rankOf[number]!]!++;
    keys.entry[slot] = entry[i]!;
    keys.kind[slot] = kind[i]!;
  }
  return keys;
}

/** Beginning of the next word; -1 after the last one. */
function next(text: string, from: number): number {
  const space = text.indexOf(' ', from);
  return space < 0 ? -1 : space + 1;
}

/** Texts [from, to) of the sorted ones. */
interface Range {
  from: number;
  to: number;
}

/**
 * Writes the files of the texts of a range, which begin with `prefix`: its best entries, and those of its next
 * letters, as long as they fit in one file together. `write` receives entries, some of them twice.
 */
function divide(
  prefix: string,
  range: Range,
  keys: Keys,
  index: SearchIndex,
  write: (prefix: string, entries: Iterable<number>) => void,
): void {
  if (prefix !== '') {
    index.best.push(prefix);
    write(prefix, bestOf(prefix, range, keys));
  }
  const count = ({ from, to }: Range) => keys.start[to]! - keys.start[from]!;
  let block = { prefix: '', from: range.from, to: range.from };
  const flush = (next: number) => {
    if (count(block) > 0) {
      index.blocks.push(block.prefix);
      write(block.prefix, keys.entry.slice(keys.start[block.from], keys.start[block.to]).sort().subarray(0, MOST));
    }
    block = { prefix: '', from: next, to: next };
  };
  for (const { letter, from, to } of byNextLetter(prefix.length, range, keys.texts)) {
    if (count({ from, to }) > MOST && prefix.length + letter.length < DEPTH) {
      flush(to);
      divide(prefix + letter, { from, to }, keys, index, write);
      continue;
    }
    if (count(block) + count({ from, to }) > MOST) flush(from);
    if (count(block) === 0) block = { prefix: prefix + letter, from, to };
    block.to = to;
  }
  flush(range.to);
}

/** The texts of a range by their character at `at`; those that end before it are left out. */
function* byNextLetter(
  at: number,
  { from, to }: Range,
  texts: readonly string[],
): Generator<Range & { letter: string }> {
  const letterOf = (i: number) => texts[i]!.codePointAt(at);
  for (let begin = from; begin < to; ) {
    const letter = letterOf(begin);
    let end = begin + 1;
    while (end < to && letterOf(end) === letter) end += 1;
    if (letter !== undefined) yield { letter: String.fromCodePoint(letter), from: begin, to: end };
    begin = end;
  }
}

/** The best entries of the texts of a range: whole texts first, then beginnings of texts, then later words. */
function bestOf(prefix: string, { from, to }: Range, { texts, start, entry, kind }: Keys): number[] {
  const best: number[][] = [[], [], []];
  for (let text = from; text < to; text += 1) {
    const whole = texts[text] === prefix;
    for (let key = start[text]!; key < start[text + 1]!; key += 1)
      insert(best[whole ? kind[key]! : Math.max(1, kind[key]!)]!, entry[key]!);
  }
  return best.flat().slice(0, BEST);
}

/** Inserts an entry into a sorted list of at most BEST, which drops the greatest. */
function insert(list: number[], entry: number): void {
  if (list.length === BEST && entry >= list[BEST - 1]!) return;
  let at = list.length;
  while (at > 0 && list[at - 1]! > entry) at -= 1;
  list.splice(at, 0, entry);
  if (list.length > BEST) list.pop();
}
