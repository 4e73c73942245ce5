// Packs everything of a release except the bodies: keys, orders, values, positions and words.
import { join } from 'node:path';
import type { Attribute } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { fold } from '../../packs/define/text.ts';
import { nameWords } from '../consolidate/engine-values.ts';
import { Duck, quotedIdentifier, quotedText } from '../duckdb/duck.ts';
import { intervals, MOST_PACKED_INTERVALS } from '../duckdb/steps.ts';
import { column, RELEASE_FILES } from '../model/layout.ts';
import { PROVENANCE_STATUSES } from '../model/record.ts';
import { NAME_WORDS, TEXTUAL } from './columns.ts';
import type { Packed } from './container.ts';
import { packGrid } from './grid.ts';
import { type IntervalRows, packIntervals } from './intervals.ts';
import { packKeys } from './keys.ts';
import { packNumbers } from './numbers.ts';
import { packTerms, type TermRows } from './terms.ts';
import { packLists, packValues } from './values.ts';

/**
 * Columns of a word, with the value in releases of earlier program versions, which lack some: all their words
 * count for similarity, and each counts once.
 */
const TERM_DEFAULTS = [
  ['public', 'public'],
  ['compared', 'true'],
  ['weight', '1'],
  ['public_weight', 'public'],
] as const;

/** The properties of an attribute that the index needs. */
export type IndexedAttribute = Pick<Attribute, 'name' | 'type'>;

/**
 * Reads the engine table, the history of numbers and the terms of a release. `spill` is the folder for DuckDB's
 * temporary files.
 */
export async function packColumns(
  release: string,
  attributes: readonly IndexedAttribute[],
  spill: string,
): Promise<Record<string, Packed>> {
  const duck = await Duck.open(spill);
  try {
    const from = (file: string) => `read_parquet(${quotedText(join(release, file))})`;
    const reader = new Reader(duck);
    const engine = from(RELEASE_FILES.engine);
    const ids = await reader.texts(`select id from ${engine} order by ord`);
    const arrays: Record<string, Packed> = packKeys(ids, await reader.texts(`select slug from ${engine} order by ord`));
    for (const key of ['quality', 'updated'])
      Object.assign(
        arrays,
        packNumbers(key, await reader.numbers(`select ${key}::double from ${engine} order by ord`, ids.length)),
      );
    Object.assign(
      arrays,
      packValues(NAME_WORDS, await reader.names(engine), (text) => text),
    );
    const present = await reader.texts(`select column_name from (describe select * from ${engine})`);
    for (const status of PROVENANCE_STATUSES) {
      // Releases of earlier program versions have no status columns.
      const reach = present.includes(status)
        ? `select ${status} from ${engine} order by ord`
        : `select 0 from ${engine}`;
      arrays[status] = Uint8Array.from(await reader.numbers(reach, ids.length));
    }
    for (const attribute of attributes)
      Object.assign(arrays, await packAttribute(reader, engine, attribute, ids.length));
    for (const attribute of attributes.filter(({ type }) => NUMERIC.includes(type))) {
      const rows = await reader.intervals(
        `${intervals(attribute, join(release, RELEASE_FILES.history)).text} order by ord, since, until, value limit ${MOST_PACKED_INTERVALS + 1}`,
      );
      Object.assign(arrays, packIntervals(attribute.name, ids.length, rows));
    }
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
  const of = (part: Parameters<typeof column>[1]) =>
    `select ${quotedIdentifier(column(name, part))} from ${engine} order by ord`;
  if (TEXTUAL.has(type)) {
    if (type === 'strings') return packLists(name, await reader.lists(of('value')), fold);
    return packValues(name, await reader.texts(of('value')), type === 'date' ? (text) => text : fold);
  }
  if (type === 'geo') {
    return packGrid(name, await reader.numbers(of('lat'), records), await reader.numbers(of('lng'), records));
  }
  if (type === 'boolean') {
    const numbers = await reader.numbers(
      `select ${quotedIdentifier(column(name, 'value'))}::integer from ${engine} order by ord`,
      records,
    );
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

  async #each(sql: string, take: (columns: unknown[][], rows: number) => void): Promise<void> {
    for await (const { columns, rows } of this.#duck.chunks(sql)) take(columns, rows);
  }

  async texts(sql: string): Promise<string[]> {
    const out: string[] = [];
    await this.#each(sql, ([values]) => out.push(...(values as string[])));
    return out;
  }

  /** Words of names; releases of earlier program versions have names only. */
  async names(engine: string): Promise<string[]> {
    const columns = await this.texts(`select column_name from (describe select * from ${engine})`);
    if (columns.includes('name_words')) return this.texts(`select name_words from ${engine} order by ord`);
    return (await this.texts(`select name from ${engine} order by ord`)).map(nameWords);
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

  /** The four columns of the intervals of an attribute. */
  async intervals(sql: string): Promise<IntervalRows> {
    const out: IntervalRows = { ordinal: [], value: [], since: [], until: [] };
    await this.#each(sql, ([ordinal, value, since, until], rows) => {
      for (let i = 0; i < rows; i += 1) {
        out.ordinal.push(ordinal![i] as number);
        out.value.push(value![i] as number);
        out.since.push(since![i] as number);
        out.until.push(until![i] as number);
      }
    });
    return out;
  }

  async terms(source: string): Promise<TermRows> {
    const term: string[] = [];
    const ordinal: number[] = [];
    const flags: number[][] = TERM_DEFAULTS.map(() => []);
    const columns = await this.texts(`select column_name from (describe select * from ${source})`);
    const others = TERM_DEFAULTS.map(([name, otherwise]) => `${columns.includes(name) ? name : otherwise}::utinyint`);
    const query = `select term, ord, ${others.join(', ')} from ${source} order by term, ord`;
    await this.#each(query, ([words, ords, ...cells], length) => {
      for (let i = 0; i < length; i += 1) {
        term.push(words![i] as string);
        ordinal.push(ords![i] as number);
        for (const [at, list] of flags.entries()) list.push(cells[at]![i] as number);
      }
    });
    const arrays = TERM_DEFAULTS.map(([name], at) => [name, Uint8Array.from(flags[at]!)]);
    return { term, ordinal: Uint32Array.from(ordinal), ...Object.fromEntries(arrays) } as TermRows;
  }
}
