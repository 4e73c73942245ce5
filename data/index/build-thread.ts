// Packs the two halves of an index, in this thread or each in a worker thread.

import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { type Attribute, DATED } from '../../packs/define/model.ts';
import { fold } from '../../packs/define/text.ts';
import { Duck, quotedIdentifier, quotedText } from '../duckdb/duck.ts';
import { column, RELEASE_FILES } from '../model/layout.ts';
import { PROVENANCE_STATUSES } from '../model/record.ts';
import type { Ages } from '../plan/plan.ts';
import { NAME_WORDS, TEXTUAL } from './columns.ts';
import { narrow, type Packed } from './container.ts';
import { packGrid } from './grid.ts';
import { packHex } from './hex.ts';
import { packKeys } from './keys.ts';
import { packNumbers } from './numbers.ts';
import { packTerms, type TermRows } from './terms.ts';
import { packLists, packValues } from './values.ts';

/** Columns of a word (data/model/layout.ts). */
const TERM_COLUMNS = ['public', 'compared', 'weight', 'public_weight'] as const;

/** The properties of an attribute that the index needs. */
type IndexedAttribute = Pick<Attribute, 'name' | 'type'>;

/**
 * Reads the engine table and the terms of a release. `spill` is the folder for DuckDB's
 * temporary files.
 */
async function packColumns(
  release: string,
  attributes: readonly IndexedAttribute[],
  spill: string,
): Promise<Record<string, Packed>> {
  const duck = await Duck.open(spill);
  try {
    const from = (file: string) => `read_parquet(${quotedText(join(release, file))})`;
    const reader = new Reader(duck);
    const engine = from(RELEASE_FILES.engine);
    const ids = await reader.texts('id', engine);
    const arrays: Record<string, Packed> = packKeys(ids, await reader.texts('slug', engine));
    for (const key of ['quality', 'updated'])
      Object.assign(
        arrays,
        packNumbers(key, await reader.numbers(`select ${key}::double from ${engine} order by ord`, ids.length)),
      );
    Object.assign(
      arrays,
      packValues(NAME_WORDS, await reader.texts('name_words', engine), (text) => text),
    );
    for (const status of PROVENANCE_STATUSES)
      arrays[status] = Uint8Array.from(
        await reader.numbers(`select ${status} from ${engine} order by ord`, ids.length),
      );
    for (const attribute of attributes)
      Object.assign(arrays, await packAttribute(reader, engine, attribute, ids.length));
    return Object.assign(arrays, packTerms(await reader.terms(from(RELEASE_FILES.terms)), ids.length));
  } finally {
    duck.close();
  }
}

async function packAttribute(
  reader: Reader,
  engine: string,
  { name, type }: IndexedAttribute,
  records: number,
): Promise<Record<string, Packed>> {
  const quoted = (part: Parameters<typeof column>[1]) => quotedIdentifier(column(name, part));
  const of = (part: Parameters<typeof column>[1]) => `select ${quoted(part)} from ${engine} order by ord`;
  if (TEXTUAL.has(type)) {
    if (type === 'strings') return packLists(name, await reader.lists(quoted('value'), engine), fold);
    return packValues(name, await reader.texts(quoted('value'), engine), DATED.includes(type) ? (text) => text : fold);
  }
  if (type === 'geo') {
    return packGrid(name, await reader.numbers(of('lat'), records), await reader.numbers(of('lng'), records));
  }
  if (type === 'boolean') {
    const numbers = await reader.numbers(`select ${quoted('value')}::integer from ${engine} order by ord`, records);
    return { [column(name, 'value')]: Uint8Array.from(numbers, (n) => (Number.isNaN(n) ? 0 : n + 1)) };
  }
  const arrays: Record<string, Packed> = {};
  for (const part of type === 'price' ? (['min', 'max'] as const) : (['value'] as const)) {
    Object.assign(arrays, packNumbers(column(name, part), await reader.numbers(of(part), records)));
  }
  return arrays;
}

/** Columns of a query result as JavaScript values, in chunks. */
class Reader {
  readonly #duck: Duck;

  constructor(duck: Duck) {
    this.#duck = duck;
  }

  async #chunks(sql: string, take: (columns: unknown[][], rows: number) => void): Promise<void> {
    for await (const { columns, rows } of this.#duck.chunks(sql)) take(columns, rows);
  }

  /** Texts of a column by ordinal; of an attribute, null where a record has none. */
  async texts(column: string, from: string): Promise<string[]> {
    const out: string[] = [];
    for await (const texts of this.#duck.ordered(column, from)) out.push(...(texts as string[]));
    return out;
  }

  /** Lists of texts of a column by ordinal; empty where a record has none. */
  async lists(column: string, from: string): Promise<string[][]> {
    const out: string[][] = [];
    // Entries repeat: one text for equal ones needs less memory.
    const entries = new Map<string, string>();
    const shared = (entry: string) => {
      const first = entries.get(entry);
      if (first === undefined) entries.set(entry, entry);
      return first ?? entry;
    };
    for await (const lists of this.#duck.ordered(column, from))
      for (const list of lists as (string[] | null)[]) out.push(list?.map(shared) ?? []);
    return out;
  }

  async numbers(sql: string, length: number): Promise<Float64Array> {
    const out = new Float64Array(length);
    let at = 0;
    await this.#chunks(sql, ([values]) => {
      for (const value of values as (number | null)[]) out[at++] = value === null ? Number.NaN : Number(value);
    });
    return out;
  }

  async terms(source: string): Promise<TermRows> {
    await this.#duck.run(
      `create table terms as select term, count(*) as rows, row_number() over (order by term) as ord from ${source} group by term`,
    );
    const words: string[] = [];
    const counts: number[] = [];
    for await (const pairs of this.#duck.ordered('json_array(term, rows)', 'terms'))
      for (const [word, count] of pairs as [string, number][]) {
        words.push(word);
        counts.push(count);
      }
    const length = counts.reduce((sum, count) => sum + count, 0);
    const ordinal = new Uint32Array(length);
    const flags = TERM_COLUMNS.map(() => new Uint8Array(length));
    const others = TERM_COLUMNS.map((name) => `${name}::utinyint`);
    let at = 0;
    await this.#chunks(
      `select ord, ${others.join(', ')} from ${source} order by term, ord`,
      ([ords, ...cells], rows) => {
        ordinal.set(ords as number[], at);
        for (const [i, list] of flags.entries()) list.set(cells[i] as number[], at);
        at += rows;
      },
    );
    const arrays = TERM_COLUMNS.map((name, i) => [name, flags[i]]);
    return { words, counts, ordinal, ...Object.fromEntries(arrays) } as TermRows;
  }
}

/**
 * Reads the lines of records.jsonl, which are the bodies by ordinal, and returns the arrays. `spill` is the
 * folder for DuckDB's temporary files. Throws when bodies.parquet has another number of records.
 */
async function packBodies(release: string, spill: string): Promise<Record<string, Packed>> {
  const duck = await Duck.open(spill);
  const versions: string[] = [];
  try {
    const source = `read_parquet(${quotedText(join(release, RELEASE_FILES.bodies))})`;
    for await (const { columns } of duck.chunks(`select ord, version from ${source}`)) {
      const [ords, texts] = columns as [number[], string[]];
      if (ords.some((ord, i) => ord !== versions.length + i))
        throw new Error(`${RELEASE_FILES.bodies} is not sorted by ordinal; build the release again`);
      versions.push(...texts);
    }
  } finally {
    duck.close();
  }
  return pack(join(release, RELEASE_FILES.jsonl), versions);
}

function pack(jsonl: string, versions: readonly string[]): Record<string, Packed> {
  const records = versions.length;
  // Stored as u32: `wraps` counts each multiple of 4 GB.
  const start = new Float64Array(records + 1);
  const cut1 = new Uint32Array(records);
  const cut2 = new Uint32Array(records);
  const crc = new Uint32Array(records);
  const ages = new Uint32Array(records);
  const patterns = new Patterns();
  let ordinal = 0;
  for (const piece of wholeLines(jsonl)) {
    for (let from = 0; from < piece.length; ordinal += 1) {
      const end = piece.indexOf(LINE_FEED, from);
      const body = piece.subarray(from, end);
      from = end + 1;
      start[ordinal + 1] = start[ordinal]! + body.length + 1;
      cut1[ordinal] = body.indexOf('"updated_at":');
      cut2[ordinal] = body.lastIndexOf('"quality_score":');
      crc[ordinal] = crc32(body);
      ages[ordinal] = patterns.of(body);
    }
  }
  if (ordinal !== records) throw new Error(`${RELEASE_FILES.jsonl} has ${ordinal} records (expected ${records})`);
  const low = Uint32Array.from(start, (byte) => byte % FOUR_GB);
  return {
    'body.start': low,
    'body.wraps': Uint32Array.from(low.keys().filter((i) => i > 0 && low[i]! < low[i - 1]!)),
    'body.cut1': narrow(cut1),
    'body.cut2': narrow(cut2),
    'body.crc': crc,
    'body.ages': narrow(ages),
    'body.patterns': new Uint8Array(Buffer.from(JSON.stringify(patterns.list))),
    ...packHex('version', versions),
  };
}

/** A file in chunks of whole lines, each with its line feed. A chunk is valid until the next one. */
function* wholeLines(path: string): Generator<Buffer> {
  const file = openSync(path, 'r');
  try {
    let buffer = Buffer.allocUnsafe(PIECE);
    // Bytes of an unfinished line, moved to the start of the buffer.
    let held = 0;
    for (;;) {
      const read = readSync(file, buffer, held, buffer.length - held, null);
      if (read === 0) break;
      const full = held + read;
      const end = buffer.lastIndexOf(LINE_FEED, full - 1) + 1;
      if (end > 0) yield buffer.subarray(0, end);
      buffer.copyWithin(0, end, full);
      held = full - end;
      if (held === buffer.length) buffer = Buffer.concat([buffer], 2 * buffer.length);
    }
    if (held > 0) throw new Error(`${path} ends without a line feed`);
  } finally {
    closeSync(file);
  }
}

const PIECE = 1 << 20;
const LINE_FEED = 10;
const FOUR_GB = 0x1_0000_0000;
const PROVENANCE = ',"provenance":{';
const NAME = '":{"source_url":"';
const TIME = '"observed_at":"';

/** Numbers the distinct patterns of (attribute, observed_at) in order of appearance. */
class Patterns {
  readonly list: Ages[] = [];
  readonly #ids = new Map<string, number>();

  of(body: Buffer): number {
    // Parsing every body would take most of the build time. We wrote the text: keys are in this order, and
    // quotes in values are escaped, so no value contains these markers. Names of attributes are ASCII.
    const text = body.toString('latin1', body.indexOf(PROVENANCE));
    let key = '';
    for (let at = text.indexOf(NAME); at >= 0; at = text.indexOf(NAME, at)) {
      const name = text.slice(text.lastIndexOf('"', at - 1) + 1, at);
      const time = text.indexOf(TIME, at + NAME.length) + TIME.length;
      at = text.indexOf('"', time);
      key += `${name}\n${text.slice(time, at)}\n`;
    }
    let id = this.#ids.get(key);
    if (id === undefined) {
      const cells = key.split('\n').slice(0, -1);
      id = this.list.length;
      this.list.push({
        names: cells.filter((_, i) => i % 2 === 0),
        times: cells.filter((_, i) => i % 2 === 1).map((time) => Date.parse(time)),
      });
      this.#ids.set(key, id);
    }
    return id;
  }
}

/** One half of the index of a release folder. `spill`: folder for DuckDB's temporary files. */
export type IndexHalf =
  | { pack: 'columns'; release: string; attributes: readonly IndexedAttribute[]; spill: string }
  | { pack: 'bodies'; release: string; spill: string };

export function packHere(half: IndexHalf): Promise<Record<string, Packed>> {
  return half.pack === 'columns'
    ? packColumns(half.release, half.attributes, half.spill)
    : packBodies(half.release, half.spill);
}

/** Packs a half in a worker thread; the arrays are transferred, not copied. */
export function packInThread(half: IndexHalf): Promise<Record<string, Packed>> {
  const worker = new Worker(new URL(import.meta.url), { workerData: half });
  return new Promise((resolve, reject) => {
    worker.on('message', resolve);
    worker.on('error', reject);
    worker.on('exit', (code) =>
      reject(new Error(`the worker thread that packs ${half.pack} exited early with code ${code}`)),
    );
  });
}

const isHalf = (data: unknown): data is IndexHalf =>
  ['columns', 'bodies'].includes((data as IndexHalf | null)?.pack ?? '');

if (!isMainThread && parentPort !== null && isHalf(workerData)) {
  const packed = await packHere(workerData);
  const buffers = new Set(Object.values(packed).map(({ buffer }) => buffer as ArrayBuffer));
  parentPort.postMessage(packed, [...buffers]);
}
