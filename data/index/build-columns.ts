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
    const present = await reader.names(engine);
    const ids = await reader.texts('id', engine);
    const arrays: Record<string, Packed> = packKeys(ids, await reader.texts('slug', engine));
    for (const key of ['quality', 'updated'])
      Object.assign(
        arrays,
        packNumbers(key, await reader.numbers(`select ${key}::double from ${engine} order by ord`, ids.length)),
      );
    Object.assign(
      arrays,
      packValues(NAME_WORDS, await reader.nameWords(engine, present), (text) => text),
    );
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
  const quoted = (part: Parameters<typeof column>[1]) => quotedIdentifier(column(name, part));
  const of = (part: Parameters<typeof column>[1]) => `select ${quoted(part)} from ${engine} order by ord`;
  if (TEXTUAL.has(type)) {
    if (type === 'strings') return packLists(name, await reader.lists(quoted('value'), engine), fold);
    return packValues(name, await reader.texts(quoted('value'), engine), type === 'date' ? (text) => text : fold);
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

  async #each(sql: string, take: (columns: unknown[][], rows: number) => void): Promise<void> {
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
    for await (const lists of this.#duck.ordered(column, from))
      for (const list of lists as (string[] | null)[]) out.push(list ?? []);
    return out;
  }

  /** Names of the columns of a table. */
  async names(from: string): Promise<string[]> {
    const rows = await this.#duck.rows(`select column_name from (describe select * from ${from})`);
    return rows.map(([name]) => String(name));
  }

  /** Words of names; releases of earlier program versions have names only. */
  async nameWords(engine: string, present: readonly string[]): Promise<string[]> {
    if (present.includes('name_words')) return this.texts('name_words', engine);
    return (await this.texts('name', engine)).map(nameWords);
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
    const grouped = `(select term, count(*) as rows, row_number() over (order by term) as ord from ${source} group by term)`;
    const words: string[] = [];
    const counts: number[] = [];
    for await (const pairs of this.#duck.ordered('json_array(term, rows)', grouped))
      for (const [word, count] of pairs as [string, number][]) {
        words.push(word);
        counts.push(count);
      }
    const length = counts.reduce((sum, count) => sum + count, 0);
    const ordinal = new Uint32Array(length);
    const flags = TERM_DEFAULTS.map(() => new Uint8Array(length));
    const columns = await this.names(source);
    const others = TERM_DEFAULTS.map(([name, otherwise]) => `${columns.includes(name) ? name : otherwise}::utinyint`);
    let at = 0;
    await this.#each(`select ord, ${others.join(', ')} from ${source} order by term, ord`, ([ords, ...cells], rows) => {
      ordinal.set(ords as number[], at);
      for (const [i, list] of flags.entries()) list.set(cells[i] as number[], at);
      at += rows;
    });
    const arrays = TERM_DEFAULTS.map(([name], i) => [name, flags[i]]);
    return { words, counts, ordinal, ...Object.fromEntries(arrays) } as TermRows;
  }
}
