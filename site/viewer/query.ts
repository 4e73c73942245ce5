// Filter and sort over columns in memory: a mask of the rows that match, then their order by ranks.
import type { Predicate } from '../../data/plan/plan.ts';
import { conditionTests, type RowValues } from '../../data/plan/predicates.ts';
import { nameScore } from '../../data/plan/relevance.ts';
import { words } from '../../packs/define/text.ts';
import { PERIOD_LENGTHS } from '../../packs/define/times.ts';
import { NumberColumn, TextColumn, type TypedColumn } from './columns.ts';

/** The columns of a query, which are loaded before it runs. */
export interface ViewTable {
  rows: number;
  /** Rows of removed records, which match nothing. */
  dropped: readonly number[];
  /** A column of the file, by name. */
  column: (name: string) => TypedColumn;
  /** Columns of an attribute: both ends of a price, else one. */
  ends: (attribute: string) => { low: TypedColumn; high: TypedColumn };
  /** Coordinates of the records. */
  point: () => { lat: NumberColumn; lng: NumberColumn };
  /** Columns whose words `q` searches. */
  searched: () => readonly TypedColumn[];
}

const DAY = 86_400_000;

/** Positions of the rows that meet all conditions, in the order of the file. */
export function matchingRows(table: ViewTable, conditions: readonly Predicate[]): Uint32Array {
  const mask = new Uint8Array(table.rows).fill(1);
  for (const row of table.dropped) mask[row] = 0;
  for (const test of conditionTests(conditions, rowValues(table)))
    for (let row = 0; row < mask.length; row++) if (mask[row] === 1 && !test(row)) mask[row] = 0;
  let count = 0;
  const rows = new Uint32Array(table.rows);
  for (let row = 0; row < mask.length; row++) if (mask[row] === 1) rows[count++] = row;
  return rows.slice(0, count);
}

const RECORD_COLUMNS = { quality: 'quality_score', updated: 'updated_at' } as const;

/** The values of the rows of the file. */
function rowValues(table: ViewTable): RowValues<number> {
  const of = (column: TypedColumn) => {
    const { values } = column as NumberColumn;
    return (row: number) => values[row]!;
  };
  return {
    equal: (attribute, values) => equals(table.ends(attribute).low, values),
    containing: (attribute, needle) => someText(table.ends(attribute).low, (texts) => texts.containing(needle)),
    present: (attribute) => {
      const { low } = table.ends(attribute);
      return (row) => low.has(row);
    },
    texts: onlyApi,
    someText: onlyApi,
    bound: (attribute, end) => {
      const column = table.ends(attribute)[end === 'min' ? 'low' : 'high'] as NumberColumn;
      return { at: of(column), of: (value) => (typeof value === 'string' ? column.numberOf(value) : value) };
    },
    point: () => ({ lat: of(table.point().lat), lng: of(table.point().lng) }),
    inArea: (_area, test) => test,
    recordNumber: (name) => of(table.column(RECORD_COLUMNS[name])),
    word: (prefix) => hasWord(table.searched(), prefix),
    reach: () => {
      throw new Error('the file has no status of values; send provenance_status to the API');
    },
    refs: (refs) => {
      const [isId, isSlug] = [equals(table.column('id'), refs), equals(table.column('slug'), refs)];
      return (row) => isId(row) || isSlug(row);
    },
  };
}

const onlyApi = (): never => {
  throw new Error('the viewer has no expressions; send filter to the API');
};

/** A test of whether a row has one of the values. */
function equals(column: TypedColumn, values: readonly (string | number | boolean)[]): (row: number) => boolean {
  if (!(column instanceof NumberColumn)) {
    const wanted = new Set(values.map(String));
    return someText(column, (texts) => texts.equalTo(wanted));
  }
  const { values: numbers, kind } = column;
  const numberOf = (value: string | number | boolean) =>
    typeof value === 'string' ? column.numberOf(value) : Number(value);
  const isDay = (value: unknown) => kind === 'time' && String(value).length === PERIOD_LENGTHS.day;
  const wanted = new Set(values.filter((value) => !isDay(value)).map(numberOf));
  const days = new Set(values.filter(isDay).map(numberOf));
  if (days.size === 0) return (row) => wanted.has(numbers[row]!);
  return (row) => wanted.has(numbers[row]!) || days.has(Math.floor(numbers[row]! / DAY) * DAY);
}

/** A test of whether a row has a text that `passing` marks, which compares each distinct text once. */
function someText(column: TypedColumn, passing: (texts: TextColumn) => Uint8Array): (row: number) => boolean {
  if (column instanceof NumberColumn) return () => false;
  if (column instanceof TextColumn) {
    const { codes } = column;
    const passes = passing(column);
    return (row) => passes[codes[row]!] === 1;
  }
  const { lists } = column;
  const passes = passing(column.texts);
  return (row) => lists[row]?.some((code) => passes[code] === 1) ?? false;
}

/** A test of whether a word of a row begins with `word`. */
function hasWord(columns: readonly TypedColumn[], word: string): (row: number) => boolean {
  const tests = columns.map((column) => someText(column, (texts) => texts.containing(word, true)));
  return (row) => tests.some((test) => test(row));
}

/**
 * Rows sorted by a column: a counting sort by rank. Rows without a value are last in both directions; ties
 * keep the order of the file.
 */
export function sortedRows(rows: Uint32Array, column: NumberColumn | TextColumn, descending: boolean): Uint32Array {
  const [ranks, groups] = [column.ranks(), column.groups];
  const place = (row: number) => {
    const rank = ranks[row]!;
    return rank === 0 ? groups : descending ? groups - rank : rank - 1;
  };
  const starts = new Uint32Array(groups + 2);
  for (const row of rows) starts[place(row) + 1]! += 1;
  for (let at = 1; at < starts.length; at++) starts[at]! += starts[at - 1]!;
  const sorted = new Uint32Array(rows.length);
  for (const row of rows) sorted[starts[place(row)]!++] = row;
  return sorted;
}

/** Rows whose name is `phrase` first, then those whose name begins with it; words of the phrase are folded. */
export function byName(rows: Uint32Array, names: TextColumn, phrase: string): Uint32Array {
  const [first = ''] = phrase.split(' ');
  const scores = names
    .folds()
    .map((name) => (name.includes(first) ? nameScore(words(name).join(' '), phrase, false) : null));
  const groups = Map.groupBy(rows, (row) => scores[names.codes[row]! - 1] ?? 0);
  const best = [...groups.keys()].sort((a, b) => b - a);
  return Uint32Array.from(best.flatMap((score) => groups.get(score)!));
}
