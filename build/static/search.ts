// The index behind the search of the home page: names of all records, in files by their first letters
// (docs/decisions/0041-search.md).
import { join } from 'node:path';
import { hintAttributes, searchLine } from '../../api/pages/search-line.ts';
import { plural } from '../../api/render/print.ts';
import { Duck, quotedText } from '../../data/duckdb/duck.ts';
import { column, RELEASE_FILES } from '../../data/model/layout.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Release } from '../../data/releases/release.ts';
import type { Value } from '../../packs/define/model.ts';
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

/** A place of an entry in the index: its text from the beginning of a word. */
interface Key {
  text: string;
  /** Position of the entry, best first. */
  at: number;
  /** 0: all of a text; 1: from its beginning; 2: from a later word. */
  kind: number;
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
  const duck = await Duck.open(scratch);
  try {
    for (const release of releases) for (const entry of await entriesOf(release, duck)) entries.push(entry);
  } finally {
    duck.close();
  }
  for (const [path, text] of searchFiles(entries)) output.write(path, text, name);
}

/** The files of an index, by their path below DIST_DIR. */
export function searchFiles(entries: readonly SearchEntry[]): Map<string, string> {
  const sorted = entries.toSorted((a, b) => a.rank - b.rank || (a.line < b.line ? -1 : 1));
  const index: SearchIndex = { best: [], blocks: [] };
  const files = new Map<string, string>();
  divide('', sorted.flatMap(keysOf).sort(byText), index, (prefix, keys) => {
    const positions = [...new Set(keys.map(({ at }) => at))];
    files.set(searchPath(prefix), positions.map((at) => `${sorted[at]!.line}\n`).join(''));
  });
  return files.set('search/index.json', JSON.stringify(index));
}

/** The dataset and its records. */
async function entriesOf(release: Release, duck: Duck): Promise<SearchEntry[]> {
  const { pack, manifest, folder, touched } = release;
  const { attributes, serving, gone } = pack;
  const searched = attributes.filter(({ type, searchable, public: open }) => open && searchable && type === 'string');
  const texts = [...new Set([...hintAttributes(pack), ...searched])];
  const order = serving.prominence === null ? '' : `"${column(serving.prominence, 'value')}" DESC NULLS LAST,`;
  const last =
    gone === null ? '' : `"${column(gone.attribute, 'value')}" IS NOT DISTINCT FROM ${quotedText(gone.value)},`;
  const columns = ['ord', 'slug', 'name', ...texts.map(({ name }) => `"${column(name, 'value')}"`)];
  const file = quotedText(join(folder, RELEASE_FILES.engine));
  const changed = await changedRecords(release);
  const removed = new Set(touched?.gone);
  const records: { slug: string; name: string; values: Record<string, Value | null> }[] = [];
  const query = `SELECT ${columns.join(', ')} FROM read_parquet(${file}) ORDER BY ${last} ${order} ord`;
  for await (const rows of duck.batches(query)) {
    for (const [ord, slug, name, ...cells] of rows as [number, string, string, ...(string | null)[]][]) {
      if (removed.has(ord)) continue;
      const other = changed.get(ord);
      const values = other?.attributes ?? Object.fromEntries(texts.map((text, i) => [text.name, cells[i] ?? null]));
      records.push({ slug, name: other?.name ?? name, values });
    }
  }
  const codes = searched.filter(({ name }) => {
    const known = records.flatMap(({ values }) => values[name] ?? []);
    return pack.identity.attributes.includes(name) || new Set(known).size >= UNIQUE * known.length;
  });
  const dataset = [pack.title, `Dataset, ${plural(manifest.records, 'record')}`, `/datasets/${pack.id}/`];
  const compare = [`Compare ${pack.title}`, 'Records side by side', `/compare/${pack.id}`];
  return [
    { line: dataset.join('\t'), texts: [words(pack.title).join(' ')], rank: -1 },
    { line: compare.join('\t'), texts: [words(`compare ${pack.title}`).join(' ')], rank: 0 },
    ...records.map(({ slug, name, values }, i) => {
      const line = searchLine(pack, { slug, name }, (attribute) => values[attribute]);
      const found = [name, ...codes.map((code) => String(values[code.name] ?? ''))].map((text) =>
        words(text).join(' '),
      );
      return { line, texts: [...new Set(found)].filter(Boolean), rank: i / records.length };
    }),
  ];
}

/** Records that the overlay changed, by ordinal. */
async function changedRecords({ engine, touched }: Release): Promise<Map<number, StoredRecord>> {
  if (!touched) return new Map();
  const bodies = await engine.bodies([...touched.changed]);
  return new Map(touched.changed.map((ord, i) => [ord, JSON.parse(bodies[i]!.body) as StoredRecord]));
}

/** A key from the beginning of each word of each text. */
function keysOf({ texts }: SearchEntry, at: number): Key[] {
  const keys = new Map<string, Key>();
  for (const whole of texts) {
    for (let from = 0; from >= 0 && from < whole.length; from = next(whole, from)) {
      const text = whole.slice(from, from + DEPTH);
      if (!keys.has(text)) keys.set(text, { text, at, kind: from > 0 ? 2 : text === whole ? 0 : 1 });
    }
  }
  return [...keys.values()];
}

/** Beginning of the next word; -1 after the last one. */
function next(text: string, from: number): number {
  const space = text.indexOf(' ', from);
  return space < 0 ? -1 : space + 1;
}

const byText = (a: Key, b: Key): number => (a.text < b.text ? -1 : a.text > b.text ? 1 : a.at - b.at);

/**
 * Writes the files of the keys that begin with `prefix`, which are sorted by text: its best entries, and
 * those of its next letters, as long as they fit in one file together.
 */
function divide(prefix: string, keys: Key[], index: SearchIndex, write: (prefix: string, keys: Key[]) => void): void {
  if (prefix !== '') {
    const best = keys
      .map((key) => (key.text === prefix ? key : { ...key, kind: Math.max(1, key.kind) }))
      .sort((a, b) => a.kind - b.kind || a.at - b.at);
    index.best.push(prefix);
    write(prefix, best.slice(0, BEST));
  }
  let block: { prefix: string; keys: Key[] } = { prefix: '', keys: [] };
  const flush = () => {
    if (block.keys.length === 0) return;
    index.blocks.push(block.prefix);
    write(block.prefix, block.keys.sort((a, b) => a.at - b.at).slice(0, MOST));
    block = { prefix: '', keys: [] };
  };
  for (const [letter, group] of Map.groupBy(keys, ({ text }) =>
    String.fromCodePoint(text.codePointAt(prefix.length) ?? 0),
  )) {
    if (letter === '\0') continue;
    if (group.length > MOST && prefix.length + letter.length < DEPTH) {
      flush();
      divide(prefix + letter, group, index, write);
      continue;
    }
    if (block.keys.length + group.length > MOST) flush();
    if (block.keys.length === 0) block.prefix = prefix + letter;
    block.keys.push(...group);
  }
  flush();
}
