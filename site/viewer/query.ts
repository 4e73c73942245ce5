// Filter and sort over columns in memory: a mask of the rows that match, then their order by ranks.
import { boxTest, distanceKm } from '../../data/model/geography.ts';
import type { Predicate } from '../../data/plan/plan.ts';
import { nameScore } from '../../data/plan/relevance.ts';
import { words } from '../../packs/define/text.ts';
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
  for (const condition of conditions) {
    const test = testOf(table, condition);
    for (let row = 0; row < mask.length; row++) if (mask[row] === 1 && !test(row)) mask[row] = 0;
  }
  let count = 0;
  const rows = new Uint32Array(table.rows);
  for (let row = 0; row < mask.length; row++) if (mask[row] === 1) rows[count++] = row;
  return rows.slice(0, count);
}

/** A test of whether a row meets a condition. */
function testOf(table: ViewTable, condition: Predicate): (row: number) => boolean {
  switch (condition.kind) {
    case 'any':
      return equals(table.ends(condition.attribute).low, condition.values);
    case 'none': {
      const equal = equals(table.ends(condition.attribute).low, condition.values);
      return (row) => !equal(row);
    }
    case 'like':
      return someText(table.ends(condition.attribute).low, (texts) => texts.containing(condition.needle));
    case 'min':
    case 'max':
      return within(table, condition);
    case 'has': {
      const { low } = table.ends(condition.attribute);
      return (row) => low.has(row) === condition.present;
    }
    case 'words': {
      const words = condition.words.map((word) => hasWord(table.searched(), word));
      return (row) => words.every((test) => test(row));
    }
    case 'near':
    case 'bbox':
      return inside(table, condition);
    default:
      return ofRecord(table, condition);
  }
}

function within(table: ViewTable, { attribute, kind, value }: Extract<Predicate, { kind: 'min' | 'max' }>) {
  const { low, high } = table.ends(attribute);
  const bound = typeof value === 'string' ? Date.parse(value) / DAY : value;
  const { values } = (kind === 'min' ? high : low) as NumberColumn;
  return kind === 'min' ? (row: number) => values[row]! >= bound : (row: number) => values[row]! <= bound;
}

/** Conditions on a record's own columns. */
function ofRecord(table: ViewTable, condition: Predicate): (row: number) => boolean {
  if (condition.kind === 'ids') {
    const [ids, slugs] = ['id', 'slug'].map((name) => table.column(name) as TextColumn);
    const test = (column: TextColumn) => equals(column, condition.refs);
    const [isId, isSlug] = [test(ids!), test(slugs!)];
    return (row) => isId(row) || isSlug(row);
  }
  const own = { min_quality: 'quality_score', updated_since: 'updated_at' } as const;
  if (condition.kind !== 'min_quality' && condition.kind !== 'updated_since')
    throw new Error(`${condition.kind} is not available here.`);
  const { values } = table.column(own[condition.kind]) as NumberColumn;
  const least = condition.kind === 'min_quality' ? condition.value : condition.at;
  return (row) => values[row]! >= least;
}

/** A test of whether a row has one of the values. */
function equals(column: TypedColumn, values: readonly (string | number | boolean)[]): (row: number) => boolean {
  if (!(column instanceof NumberColumn)) {
    const wanted = new Set(values.map(String));
    return someText(column, (texts) => texts.equalTo(wanted));
  }
  const wanted = new Set(values.map((value) => (typeof value === 'string' ? Date.parse(value) / DAY : Number(value))));
  const { values: numbers } = column;
  return (row) => wanted.has(numbers[row]!);
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

/** A test of whether a row's point is in a circle or box. */
function inside(table: ViewTable, area: Extract<Predicate, { kind: 'near' | 'bbox' }>): (row: number) => boolean {
  const [lat, lng] = [table.point().lat.values, table.point().lng.values];
  if (area.kind === 'bbox') {
    const contains = boxTest(area);
    return (row) => contains(lat[row]!, lng[row]!);
  }
  return (row) => distanceKm(lat[row]!, lng[row]!, area.lat, area.lng) <= area.km;
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
