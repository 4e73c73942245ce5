// The independent evaluator of analysis: similar, statistics and time series by plain loops, sharing only
// `words` and `fold` with the service.
import type { PublishedInterval, StoredRecord } from '../../data/model/record.ts';
import type { Pack, PriceRange, Value } from '../../packs/define/model.ts';
import { byCodePoint, fold, words } from '../../packs/define/text.ts';
import { type EvaluateOptions, matching, type SearchQuery } from './evaluate.ts';

const OWN = ['attribute', 'group_by', 'days', 'step', 'differ_by', 'order', 'limit', 'having_min_count', 'buckets'];

/** The records that match the search parameters of a query. */
function selected(
  pack: Pack,
  records: StoredRecord[],
  query: SearchQuery,
  options: EvaluateOptions = {},
): StoredRecord[] {
  const filters = Object.entries(query).filter(([name]) => !OWN.includes(name));
  return matching(pack, records, Object.fromEntries(filters), options);
}

const low = (value: Value) => (typeof value === 'object' ? (value as PriceRange).min : (value as number));

/** A number in units of 1e-60, which are added and divided without rounding. */
const exact = (number: number): bigint => BigInt(number.toFixed(60).replace('.', ''));

/** Sum and mean without rounding on the way. */
function exactSum(numbers: number[]): { sum: number; mean: number } {
  const sum = numbers.reduce((all, number) => all + exact(number), 0n);
  const mean = (sum * 10n ** 20n) / BigInt(numbers.length);
  return { sum: Number(`${sum}e-60`), mean: Number(`${mean}e-80`) };
}

/** The quantile of sorted numbers, with linear interpolation. */
function quantile(sorted: number[], share: number): number {
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)]!;
  const above = sorted[Math.ceil(place)]!;
  return below === above ? below : below * (1 - (place % 1)) + above * (place % 1);
}

function figures(numbers: number[]) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const [p10, q1, median, q3, p90] = [0.1, 0.25, 0.5, 0.75, 0.9].map((share) => quantile(sorted, share));
  return {
    count: numbers.length,
    ...exactSum(numbers),
    min: sorted[0]!,
    p10: p10!,
    q1: q1!,
    median: median!,
    q3: q3!,
    p90: p90!,
    max: sorted.at(-1)!,
  };
}

/** Counts of the numbers in equal parts between the least and the greatest. */
function histogram(numbers: number[], parts: number) {
  const [low, high] = [numbers.reduce((a, b) => Math.min(a, b)), numbers.reduce((a, b) => Math.max(a, b))];
  if (low === high) return [{ from: low, to: high, count: numbers.length }];
  // As shown: with 15 digits of the larger end.
  const decimals = Math.max(0, 14 - Math.floor(Math.log10(Math.max(Math.abs(low), Math.abs(high)))));
  const edges = Array.from({ length: parts + 1 }, (_, i) => {
    const edge = exact(low) + ((exact(high) - exact(low)) * BigInt(i)) / BigInt(parts);
    return i === 0 || i === parts ? Number(`${edge}e-60`) : Number(Number(`${edge}e-60`).toFixed(decimals));
  });
  return edges.slice(1).map((to, i) => {
    const inside = (number: number) => number >= edges[i]! && (i === parts - 1 || number < to);
    return { from: edges[i]!, to, count: numbers.filter(inside).length };
  });
}

/** The groups of a record: its value, each entry of a list once, the month or year of a date, or none. */
export function keysOf(record: StoredRecord | undefined, by: string): Value[] {
  const [name = '', period] = by.split(':');
  if (period !== undefined) {
    const day = record?.attributes[name];
    return day === undefined ? [] : [String(day).slice(0, period === 'year' ? 4 : 7)];
  }
  const value = record?.attributes[by];
  return value === undefined ? [] : [...new Set([value].flat())];
}

function byKey(records: StoredRecord[], by: string): Map<Value, StoredRecord[]> {
  const groups = new Map<Value, StoredRecord[]>();
  for (const record of records)
    for (const key of keysOf(record, by)) {
      const members = groups.get(key);
      if (members === undefined) groups.set(key, [record]);
      else members.push(record);
    }
  return groups;
}

/** The order of keys. */
export function compare(a: Value, b: Value): number {
  return typeof a === 'string' ? byCodePoint(a, String(b)) : Number(a) - Number(b);
}

export interface ExpectedRow {
  group: Value | null;
  count: number;
  groups?: ExpectedRow[];
}

/** The rows of statistics of one attribute, not rounded. `places`: ordinals of the release by id, those of `records` by default. */
export function evaluateStats(
  pack: Pack,
  records: StoredRecord[],
  query: SearchQuery,
  places: ReadonlyMap<string, number> = new Map(records.map(({ id }, place) => [id, place])),
): ExpectedRow[] {
  const attribute = String(query['attribute']);
  const least = Number(query['having_min_count'] ?? 1);
  const [, minus, figure] = /^(-?)(\w+)$/.exec(String(query['order'] ?? '-count')) as unknown as [
    string,
    string,
    'count' | 'sum' | 'median' | 'min' | 'max' | 'mean',
  ];
  const rowOf = (members: StoredRecord[]) => {
    const numbers = members.map((record) => low(record.attributes[attribute]!));
    const row = figures(numbers);
    const named = (number: number) => {
      const holders = members.filter((record) => low(record.attributes[attribute]!) === number);
      const { id, slug, name } = holders.sort((a, b) => places.get(a.id)! - places.get(b.id)!)[0]!;
      return { id, slug, name };
    };
    const buckets = query['buckets'] === undefined ? {} : { histogram: histogram(numbers, Number(query['buckets'])) };
    return { ...row, min_record: named(row.min), max_record: named(row.max), ...buckets };
  };
  const place = (row: ReturnType<typeof rowOf>) => (minus ? -1 : 1) * Number(row[figure].toPrecision(15));
  const rows = (of: StoredRecord[], keys: string[]): ExpectedRow[] => {
    const [by, ...rest] = keys;
    return [...byKey(of, by!)]
      .map(([group, members]) => ({
        group,
        ...rowOf(members),
        ...(rest.length > 0 ? { groups: rows(members, rest) } : {}),
      }))
      .filter(({ count }) => count >= least)
      .sort((a, b) => place(a) - place(b) || compare(a.group, b.group));
  };
  const valued = selected(pack, records, query).filter((record) => record.attributes[attribute] !== undefined);
  if (query['group_by'] !== undefined) return rows(valued, String(query['group_by']).split(','));
  if (valued.length < least) return [{ group: null, count: 0 }];
  return [{ group: null, ...rowOf(valued) }];
}

/** The rows that `limit` keeps, of each level. */
export const firstRows = (rows: ExpectedRow[], limit: number): ExpectedRow[] =>
  rows.slice(0, limit).map((row) => (row.groups ? { ...row, groups: firstRows(row.groups, limit) } : row));

export interface ExpectedPoint {
  date: string;
  count: number;
}

const DAY = 86_400_000;

/** The series of each group, or of all records under null. `now` is any moment of the last day. */
export function evaluateTimeseries(
  pack: Pack,
  records: StoredRecord[],
  history: readonly PublishedInterval[],
  query: SearchQuery,
  now: Date,
): Map<Value | null, ExpectedPoint[]> {
  const matched = selected(pack, records, query);
  const by = query['group_by'];
  const groups: Map<Value | null, StoredRecord[]> =
    by === undefined ? new Map([[null, matched]]) : byKey(matched, String(by));
  const apart = query['step'] === 'week' ? 7 : 1;
  const today = Date.parse(now.toISOString().slice(0, 10));
  const found = new Map<Value | null, ExpectedPoint[]>();
  for (const [group, members] of groups) {
    const ids = new Set(members.map(({ id }) => id));
    const own = history
      .filter(({ entity, attribute }) => attribute === query['attribute'] && ids.has(entity))
      .map(({ value, from, to }) => ({ value, from: Date.parse(from), to: to === null ? null : Date.parse(to) }));
    const series: ExpectedPoint[] = [];
    for (let back = 0; back < Number(query['days'] ?? 90); back += apart) {
      // The last moment of the day: periods that began later or had ended do not count.
      const moment = today - back * DAY + DAY - 1;
      const values = own
        .filter(({ from, to }) => from <= moment && (to === null || to > moment))
        .flatMap(({ value }) => (value === null ? [] : [low(value)]));
      const {
        sum: _sum,
        p10: _p10,
        q1: _q1,
        q3: _q3,
        p90: _p90,
        ...told
      } = values.length === 0 ? ({ count: 0 } as ReturnType<typeof figures>) : figures(values);
      series.unshift({ date: new Date(today - back * DAY).toISOString().slice(0, 10), ...told });
    }
    if (by === undefined || series.some(({ count }) => count > 0)) found.set(group, series);
  }
  return new Map([...found].sort(([a], [b]) => compare(a ?? 0, b ?? 0)));
}

const known = new WeakMap<Pack, WeakMap<StoredRecord, Set<string>>>();

function wordsOf(pack: Pack, record: StoredRecord, inPublic: boolean): Set<string> {
  const ofPack = known.get(pack) ?? new WeakMap<StoredRecord, Set<string>>();
  known.set(pack, ofPack);
  const before = ofPack.get(record);
  if (before !== undefined) return before;
  const own = pack.attributes
    .filter(({ name }) => pack.serving.similar_by.includes(name))
    .flatMap(({ name }) => [record.attributes[name] ?? []].flat());
  const texts = [...own, ...(inPublic ? [record.name, record.slug] : [])];
  const found = new Set(texts.flatMap((text) => words(String(text))));
  ofPack.set(record, found);
  return found;
}

/**
 * Ids and exact scores of the records similar to a subject; `inPublic`: by public texts, names and slugs
 * only, as on its free page.
 */
export function evaluateSimilar(
  pack: Pack,
  records: StoredRecord[],
  subject: StoredRecord,
  query: SearchQuery,
  inPublic = false,
): { id: string; score: number }[] {
  const { limit = '10', differ_by: differ = pack.serving.similar_differ_by ?? undefined, ...filters } = query;
  const mine = wordsOf(pack, subject, inPublic);
  const plain = (value: Value) => (typeof value === 'string' ? fold(value) : value);
  const differs = ({ attributes }: StoredRecord) => {
    if (differ === undefined) return true;
    const [own, other] = [subject.attributes[String(differ)], attributes[String(differ)]];
    return other !== undefined && (own === undefined || plain(own) !== plain(other));
  };
  return selected(pack, records, filters, { publicOnly: inPublic })
    .filter((record) => record.id !== subject.id && differs(record))
    .map((record) => {
      const theirs = wordsOf(pack, record, inPublic);
      const common = mine.intersection(theirs).size;
      return { id: record.id, score: common / (mine.size + theirs.size - common) };
    })
    .filter(({ score }) => score > 0 && score >= pack.serving.similar_min_score)
    .sort((a, b) => b.score - a.score || byCodePoint(a.id, b.id))
    .slice(0, Number(limit));
}
