// Derives the packed index of a release from its Parquet files. The same release gives the same bytes.

import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Attribute, Pack } from '../../packs/model.ts';
import { fold } from '../../packs/text.ts';
import { column, RELEASE_FILES } from '../layout.ts';
import type { Ages } from '../plan.ts';
import { Duck, named, quoted } from '../write/duck.ts';
import { TEXTUAL } from './columns.ts';
import { type Packed, writeContainer } from './container.ts';
import { packGrid } from './grid.ts';
import { packKeys } from './keys.ts';
import { packOrder } from './orders.ts';
import { packTerms } from './terms.ts';
import { packValues } from './values.ts';

/** Files of an index, inside the folder `index` of a release. */
export const INDEX_FOLDER = 'index';
export const INDEX_FILES = { columns: 'columns.bin', bodies: 'bodies.bin' } as const;

/** Builds the index of a release that has none. */
export async function ensureIndex(release: string, pack: Pack): Promise<void> {
  if (!existsSync(join(release, INDEX_FOLDER))) await buildIndex(release, pack);
}

/** Reads a release's Parquet and writes `index/` beside it, whole or not at all. */
export async function buildIndex(release: string, pack: Pack): Promise<void> {
  const folder = join(release, INDEX_FOLDER);
  const temporary = `${folder}.new`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  const duck = await Duck.open(temporary);
  try {
    const from = (file: string) => `read_parquet(${quoted(join(release, file))})`;
    const reader = new Reader(duck);
    const engine = from(RELEASE_FILES.engine);
    const ids = await reader.texts(`select id from ${engine} order by ord`);
    const arrays: Record<string, Packed> = packKeys(ids, await reader.texts(`select slug from ${engine} order by ord`));
    for (const key of ['quality', 'updated']) {
      arrays[key] = await reader.numbers(`select ${key}::double from ${engine} order by ord`, ids.length);
      Object.assign(arrays, packOrder(key, arrays[key] as Float64Array, ids));
    }
    for (const attribute of pack.attributes) Object.assign(arrays, await packAttribute(reader, engine, attribute, ids));
    Object.assign(arrays, packTerms(await reader.terms(from(RELEASE_FILES.terms)), ids.length));
    Object.assign(
      arrays,
      await packBodies(duck, from(RELEASE_FILES.bodies), ids.length, join(temporary, INDEX_FILES.bodies)),
    );
    writeContainer(join(temporary, INDEX_FILES.columns), arrays);
  } finally {
    duck.close();
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(temporary, folder);
}

async function packAttribute(
  reader: Reader,
  engine: string,
  attribute: Attribute,
  ids: string[],
): Promise<Record<string, Packed>> {
  const { name, type } = attribute;
  const of = (part: Parameters<typeof column>[1]) => `select ${named(column(name, part))} from ${engine} order by ord`;
  if (TEXTUAL.has(type)) {
    const list = type === 'strings';
    const values = list
      ? await reader.lists(of('value'))
      : (await reader.texts(of('value'))).map((text) => (text === null ? [] : [text]));
    const packed = packValues(name, values, list, type === 'date' ? (text) => text : fold);
    if (list) return packed;
    // The rank of a text is its folded code.
    const codes = packed[`${name}.codes`] as Uint32Array;
    const folds = packed[`${name}.fold`] as Uint32Array;
    const ranks = Float64Array.from(codes, (code) => (code === 0 ? Number.NaN : folds[code - 1]!));
    return { ...packed, ...packOrder(name, ranks, ids) };
  }
  if (type === 'geo') {
    return packGrid(name, await reader.numbers(of('lat'), ids.length), await reader.numbers(of('lng'), ids.length));
  }
  if (type === 'boolean') {
    const numbers = await reader.numbers(
      `select ${named(column(name, 'value'))}::integer from ${engine} order by ord`,
      ids.length,
    );
    const flags = Uint8Array.from(numbers, (n) => (Number.isNaN(n) ? 0 : n + 1));
    return { [column(name, 'value')]: flags, ...packOrder(name, numbers, ids) };
  }
  const arrays: Record<string, Packed> = {};
  for (const part of type === 'price' ? (['min', 'max'] as const) : (['value'] as const)) {
    arrays[column(name, part)] = await reader.numbers(of(part), ids.length);
  }
  return {
    ...arrays,
    ...packOrder(name, arrays[column(name, type === 'price' ? 'min' : 'value')] as Float64Array, ids),
  };
}

/** Columns of a query as JavaScript values, chunk by chunk. */
class Reader {
  readonly #duck: Duck;

  constructor(duck: Duck) {
    this.#duck = duck;
  }

  async #each(sql: string, take: (columns: unknown[][], rows: number) => void): Promise<void> {
    for await (const { columns, rows } of this.#duck.chunks(sql)) take(columns, rows);
  }

  async texts(sql: string): Promise<string[]> {
    const out: string[] = [];
    await this.#each(sql, ([values]) => out.push(...(values as string[])));
    return out;
  }

  async lists(sql: string): Promise<string[][]> {
    const out: string[][] = [];
    await this.#each(sql, ([values]) => {
      for (const value of values as ({ items: string[] } | null)[]) out.push(value === null ? [] : [...value.items]);
    });
    return out;
  }

  async numbers(sql: string, length: number): Promise<Float64Array> {
    const out = new Float64Array(length);
    let at = 0;
    await this.#each(sql, ([values]) => {
      for (const value of values as (number | null)[]) out[at++] = value === null ? Number.NaN : Number(value);
    });
    return out;
  }

  async terms(source: string): Promise<{ term: string[]; ordinal: Uint32Array; public: Uint8Array }> {
    const term: string[] = [];
    const ordinal: number[] = [];
    const open: number[] = [];
    await this.#each(`select term, ord, public from ${source} order by term, ord`, ([words, ords, flags], length) => {
      for (let i = 0; i < length; i += 1) {
        term.push(words![i] as string);
        ordinal.push(ords![i] as number);
        open.push(flags![i] ? 1 : 0);
      }
    });
    return { term, ordinal: Uint32Array.from(ordinal), public: Uint8Array.from(open) };
  }
}

/** Writes bodies.bin and packs what finds and cuts each body (see bodies.ts). */
async function packBodies(duck: Duck, source: string, records: number, file: string): Promise<Record<string, Packed>> {
  const start = new Float64Array(records + 1);
  const cut1 = new Uint32Array(records);
  const cut2 = new Uint32Array(records);
  const crc = new Uint32Array(records);
  const ages = new Uint32Array(records);
  const versions: string[] = [];
  const patterns = new Patterns();
  const out = createWriteStream(file);
  let ordinal = 0;
  for await (const { columns } of duck.chunks(`select version, body from ${source} order by ord`)) {
    const [version, body] = columns as [string[], string[]];
    const buffers = body.map((text) => Buffer.from(text));
    for (const [i, buffer] of buffers.entries()) {
      start[ordinal + 1] = start[ordinal]! + buffer.length;
      cut1[ordinal] = buffer.indexOf('"updated_at":');
      cut2[ordinal] = buffer.lastIndexOf('"quality_score":');
      crc[ordinal] = crc32(buffer);
      ages[ordinal] = patterns.of(body[i] as string);
      versions.push(version[i] as string);
      ordinal += 1;
    }
    if (!out.write(Buffer.concat(buffers))) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
  const ends = new Uint32Array(records);
  let end = 0;
  for (const [i, version] of versions.entries()) ends[i] = end += version.length;
  return {
    'body.start': start,
    'body.cut1': cut1,
    'body.cut2': cut2,
    'body.crc': crc,
    'body.ages': ages,
    'body.patterns': new Uint8Array(Buffer.from(JSON.stringify(patterns.list))),
    'version.text': new Uint8Array(Buffer.from(versions.join(''), 'latin1')),
    'version.ends': ends,
  };
}

/** One value's provenance up to its time, as JSON.stringify writes it. */
const OBSERVED = /("(?:[^"\\]|\\.)*"):\{"source_url":"(?:[^"\\]|\\.)*","observed_at":"([^"]*)"/g;

/** Numbers the distinct patterns of (attribute, observed_at), in the order they are met. */
class Patterns {
  readonly list: Ages[] = [];
  readonly #known = new Map<string, number>();

  of(body: string): number {
    // Parsing every body would take most of the build. The text is our own: keys in this order, inner quotes escaped.
    const from = body.indexOf(',"provenance":{');
    const entries = [...body.slice(from).matchAll(OBSERVED)].map(([, name, at]) => [JSON.parse(name!), at!] as const);
    const key = entries.map(([name, at]) => `${name}\n${at}`).join('\n');
    let id = this.#known.get(key);
    if (id === undefined) {
      id = this.list.length;
      this.list.push({
        names: entries.map(([name]) => name),
        times: entries.map(([, at]) => Date.parse(at)),
      });
      this.#known.set(key, id);
    }
    return id;
  }
}
