// The independent evaluator: answers a request by plain loops over records, sharing only `fold` and `words`
// with the service.
import type { StoredRecord } from '../../data/model/record.ts';
import type { Attribute, Geo, Pack, PriceRange, Value } from '../../packs/define/model.ts';
import { byCodePoint, fold, words } from '../../packs/define/text.ts';
import { holdsFilter } from './evaluate-filter.ts';

/** Query parameters that are valid for the pack. */
export type SearchQuery = Record<string, string | string[]>;

export interface EvaluateOptions {
  /** Anonymous callers: `q` sees the words of public attributes only. */
  publicOnly?: boolean;
  /** Facets: values with fewer records are withheld. */
  floor?: number;
  /** Records whose words are counted for relevance: those of the release without its overlay. */
  corpus?: StoredRecord[];
}

const PREFIXES = ['like_', 'not_', 'min_', 'max_', 'has_'];
const PARAMETERS =
  'q match filter filter-lang near bbox sort limit cursor fields total ids updated_since min_quality provenance_status format by group_by group_limit'.split(
    ' ',
  );

/** Caches a pure function, since every query reads the same texts again. */
function remembering<Key, Result>(compute: (key: Key) => Result): (key: Key) => Result {
  const known = new Map<Key, Result>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = compute(key);
    known.set(key, found);
    return found;
  };
}

const folded = remembering(fold);
const SURROGATE = /[\ud800-\udfff]/;

/** Order by code point; the order of UTF-16 is the same where no surrogate is. */
const byPoint = (a: string, b: string) =>
  a === b ? 0 : SURROGATE.test(a) || SURROGATE.test(b) ? byCodePoint(a, b) : a < b ? -1 : 1;

/** Commas separate; `\,` and `\\` are a comma and a backslash. */
const values = remembering((raw: string | string[]): string[] => {
  const found: string[] = [];
  for (const one of [raw].flat()) {
    let value = '';
    for (let i = 0; i < one.length; i++) {
      const c = one[i]!;
      if (c === '\\' && (one[i + 1] === ',' || one[i + 1] === '\\')) value += one[++i];
      else if (c === ',') {
        found.push(value.trim());
        value = '';
      } else value += c;
    }
    found.push(value.trim());
  }
  return found.filter((value) => value !== '');
});

const low = (value: Value) => (typeof value === 'object' ? (value as PriceRange).min : (value as number));
const high = (value: Value) => (typeof value === 'object' ? (value as PriceRange).max : (value as number));

function equals(attribute: Attribute, value: Value, wanted: string): boolean {
  if (attribute.type === 'integer' || attribute.type === 'number') return value === Number(wanted);
  if (attribute.type === 'boolean') return String(value) === wanted.toLowerCase();
  return [value].flat().some((entry) => folded(String(entry)) === folded(wanted));
}

/**
 * Great-circle kilometres on a sphere of radius 6371.0088 km, by the spherical law of cosines and haversine
 * agreed.
 */
function kilometres(a: Geo, b: Geo): number {
  const rad = Math.PI / 180;
  const h =
    Math.sin(((b.lat - a.lat) * rad) / 2) ** 2 +
    Math.cos(a.lat * rad) * Math.cos(b.lat * rad) * Math.sin(((b.lng - a.lng) * rad) / 2) ** 2;
  return 2 * 6371.0088 * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** The condition of one filter on a record. */
function condition(pack: Pack, name: string, raw: string | string[]): (record: StoredRecord) => boolean {
  const prefix = pack.attributes.some((one) => one.name === name)
    ? ''
    : (PREFIXES.find((one) => name.startsWith(one)) ?? '');
  const attribute = pack.attributes.find((one) => one.name === name.slice(prefix.length))!;
  return (record) => passes(attribute, prefix, raw, record.attributes[attribute.name]);
}

function passes(attribute: Attribute, prefix: string, raw: string | string[], value: Value | undefined): boolean {
  const only = [raw].flat()[0]!;
  if (prefix === 'has_') return (value !== undefined) === (only.toLowerCase() === 'true');
  if (prefix === 'not_') return value === undefined || !values(raw).some((wanted) => equals(attribute, value, wanted));
  if (value === undefined) return false;
  if (prefix === 'like_') return [value].flat().some((entry) => folded(String(entry)).includes(folded(only)));
  if (prefix === '') return values(raw).some((wanted) => equals(attribute, value, wanted));
  if (attribute.type === 'date') return prefix === 'min_' ? String(value) >= only : String(value) <= only;
  return prefix === 'min_' ? high(value) >= Number(only) : low(value) <= Number(only);
}

function holdsWords(pack: Pack, record: StoredRecord, { q, match }: SearchQuery, publicOnly: boolean): boolean {
  const has = hasWord(pack, record, publicOnly);
  return match === 'any' ? wordsIn(String(q)).some(has) : wordsIn(String(q)).every(has);
}

function hasWord(pack: Pack, record: StoredRecord, publicOnly: boolean): (word: string) => boolean {
  const seen = wordsOf(pack, record)[publicOnly ? 'open' : 'all'];
  return (word) => seen.some((other) => other.startsWith(word));
}

/**
 * Entries of lists beyond those that are published, by record id: `q` finds them too, those of non-public lists with a
 * key.
 */
export const unpublishedTexts = new Map<string, { texts: readonly string[]; weight: number; open: boolean }>();

/** Whether a value that the caller may see is held or contested, as filtered. */
function hasStatus(pack: Pack, record: StoredRecord, statuses: string[], publicOnly: boolean): boolean {
  return pack.attributes.some(
    ({ name, public: open }) => (open || !publicOnly) && statuses.includes(record.provenance[name]?.status ?? ''),
  );
}

const wordsIn = remembering(words);
const wordsByRecord = new WeakMap<StoredRecord, { open: string[]; all: string[] }>();

function wordsOf(pack: Pack, record: StoredRecord): { open: string[]; all: string[] } {
  const before = wordsByRecord.get(record);
  if (before !== undefined) return before;
  const [open, all] = [true, false].map((publicOnly) =>
    [
      ...pack.attributes
        .filter((attribute) => attribute.searchable && (attribute.public || !publicOnly))
        .flatMap((attribute) => [record.attributes[attribute.name] ?? []].flat()),
      record.name,
      record.slug,
      ...(publicOnly && unpublishedTexts.get(record.id)?.open !== true
        ? []
        : (unpublishedTexts.get(record.id)?.texts ?? [])),
    ].flatMap((entry) => words(String(entry))),
  ) as [string[], string[]];
  wordsByRecord.set(record, { open, all });
  return { open, all };
}

function pointOf(pack: Pack, record: StoredRecord): Geo | undefined {
  const geo = pack.attributes.find((one) => one.type === 'geo');
  return geo && (record.attributes[geo.name] as Geo | undefined);
}

/** Whether a point is on the way east from the west edge to the east edge, at most once around the earth. */
function inBox(point: Geo | undefined, bbox: string): boolean {
  const [west = 0, south = 0, east = 0, north = 0] = bbox.split(',').map(Number);
  if (point === undefined || point.lat < south || point.lat > north) return false;
  const last = east < west ? east + 360 : east;
  return [-360, 0, 360].some((turn) => point.lng + turn >= west && point.lng + turn <= last);
}

/** Whether a record is so near the edge of a circle that rounding decides. */
export function onEdge(pack: Pack, record: StoredRecord, near: string): boolean {
  const [lat = 0, lng = 0, km = 0] = near.split(',').map(Number);
  const point = pointOf(pack, record);
  return point !== undefined && Math.abs(kilometres({ lat, lng }, point) - km) < 1e-6 * (1 + km) && km > 0;
}

/** Distance from the point of `near` in whole metres. */
export function metres(pack: Pack, record: StoredRecord, near: string): number {
  const [lat = 0, lng = 0] = near.split(',').map(Number);
  return Math.round(kilometres({ lat, lng }, pointOf(pack, record)!) * 1000);
}

/**
 * Whether rounding decides about a record: at the edge of a circle, or between two whole metres. The formula is
 * least exact near the antipode.
 */
export function isUnclear(pack: Pack, record: StoredRecord, { near, sort }: SearchQuery): boolean {
  if (near === undefined) return false;
  if (onEdge(pack, record, String(near))) return true;
  const [lat = 0, lng = 0] = String(near).split(',').map(Number);
  const point = pointOf(pack, record);
  if (sort !== 'distance' || point === undefined) return false;
  const km = kilometres({ lat, lng }, point);
  return Math.abs(((km * 1000) % 1) - 0.5) < 1e-7 / Math.max(1e-7, Math.cos(km / 2 / 6371.0088));
}

/** The values that name a record in place of its id or slug. */
export const keysOf = (pack: Pack, { attributes }: StoredRecord): string[] => {
  const isPublic = (name: string) => pack.attributes.some((attribute) => attribute.name === name && attribute.public);
  const identity = pack.identity.attributes.map((name) => (isPublic(name) ? attributes[name] : undefined));
  const joined = identity.includes(undefined) ? [] : [identity.join('/')];
  const single = pack.attributes.flatMap(({ key, name }) => (key ? (attributes[name] ?? []) : [])).map(String);
  return [...single, ...joined];
};

/** The record of an id, slug or key: of records with the same key the only listed one, or the only one. */
export function recordNamed(pack: Pack, records: StoredRecord[], ref: string): StoredRecord | undefined {
  const text = ref.replaceAll(/%2c/gi, ',');
  const named = records.find(({ id, slug }) => [id, slug].includes(text.toLowerCase()));
  if (named !== undefined) return named;
  const sharing = records.filter((record) => keysOf(pack, record).some((key) => folded(key) === folded(text)));
  const listed = sharing.filter(({ attributes }) => attributes[pack.gone?.attribute ?? ''] !== pack.gone?.value);
  const candidates = listed.length > 0 ? listed : sharing;
  return candidates.length === 1 ? candidates[0] : undefined;
}

/** The records that match a request, in any order. */
export function matching(
  pack: Pack,
  records: StoredRecord[],
  query: SearchQuery,
  { publicOnly = false }: EvaluateOptions = {},
) {
  const conditions = Object.entries(query)
    .filter(([name]) => !PARAMETERS.includes(name))
    .map(([name, raw]) => condition(pack, name, raw));
  const ids = query['ids'];
  const named = ids === undefined ? null : new Set(values(ids).map((ref) => recordNamed(pack, records, ref)));
  return records.filter((record) => {
    if (!conditions.every((holds) => holds(record))) return false;
    if (query['q'] !== undefined && !holdsWords(pack, record, query, publicOnly)) return false;
    if (named !== null && !named.has(record)) return false;
    if (
      query['updated_since'] !== undefined &&
      Date.parse(record.updated_at) < Date.parse(String(query['updated_since']))
    )
      return false;
    if (query['filter'] !== undefined && !holdsFilter(pack, record, String(query['filter']))) return false;
    const statuses = query['provenance_status'];
    if (statuses !== undefined && !hasStatus(pack, record, values(statuses).map(folded), publicOnly)) return false;
    if (query['min_quality'] !== undefined && record.quality_score < Number(query['min_quality'])) return false;
    if (query['bbox'] !== undefined && !inBox(pointOf(pack, record), String(query['bbox']))) return false;
    if (query['near'] === undefined) return true;
    const [lat = 0, lng = 0, km = 0] = String(query['near']).split(',').map(Number);
    const point = pointOf(pack, record);
    return point !== undefined && kilometres({ lat, lng }, point) <= km;
  });
}

function sortValue(pack: Pack, record: StoredRecord, key: string): string | number | boolean | undefined {
  if (key === 'quality') return record.quality_score;
  if (key === 'updated') return Date.parse(record.updated_at);
  const value = record.attributes[key];
  const { type } = pack.attributes.find((one) => one.name === key)!;
  if (value === undefined || type === 'boolean' || type === 'integer' || type === 'number') return value as number;
  return type === 'price' ? low(value) : folded(String(value));
}

const frequenciesByRecord = new WeakMap<StoredRecord, [full: Map<string, number>, open: Map<string, number>]>();

/** Words of a record by weighted frequency: ten times for its name, else the attribute's search weight. */
function weightedWords(pack: Pack, record: StoredRecord, publicOnly: boolean): Map<string, number> {
  let counts = frequenciesByRecord.get(record);
  if (counts === undefined) {
    counts = [countWords(pack, record, false), countWords(pack, record, true)];
    frequenciesByRecord.set(record, counts);
  }
  return counts[publicOnly ? 1 : 0];
}

function countWords(pack: Pack, record: StoredRecord, publicOnly: boolean): Map<string, number> {
  const frequency = new Map<string, number>();
  const count = (texts: unknown, weight: number) => {
    for (const word of [texts ?? []].flat().flatMap((text) => wordsIn(String(text))))
      frequency.set(word, Math.min(255, (frequency.get(word) ?? 0) + weight));
  };
  for (const one of pack.attributes)
    if (one.searchable && (one.public || !publicOnly)) count(record.attributes[one.name], one.search_weight);
  const unpublished = unpublishedTexts.get(record.id);
  if (unpublished && (unpublished.open || !publicOnly)) count(unpublished.texts, unpublished.weight);
  count(record.name, 10);
  count(record.slug, 0);
  return frequency;
}

/** Number of records by word. */
export function wordCounts(pack: Pack, records: StoredRecord[], publicOnly: boolean): Map<string, number> {
  const counts = new Map<string, number>();
  for (const record of records)
    for (const word of weightedWords(pack, record, publicOnly).keys()) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Edits from one word to another; exchanged neighbours are one edit. The textbook table, by code point. */
export function edits(a: string, b: string): number {
  const [from, to] = [[...a], [...b]];
  const rows = [...from, ''].map((_, i) => [...to, ''].map((__, j) => (i === 0 ? j : j === 0 ? i : 0)));
  for (let i = 1; i <= from.length; i++)
    for (let j = 1; j <= to.length; j++) {
      const replaced = rows[i - 1]![j - 1]! + Number(from[i - 1] !== to[j - 1]);
      const exchanged = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = exchanged ? rows[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY;
      rows[i]![j] = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, replaced, swapped);
    }
  return rows[from.length]![to.length]!;
}

/** Scores by relevance: the formula of BM25 (k1 1.2, b 0), without the shortcuts of the service. */
function relevanceScores(pack: Pack, corpus: StoredRecord[], { q: raw, match }: SearchQuery, publicOnly: boolean) {
  const q = String(raw);
  const terms = [...new Set(wordsIn(q))];
  const documents = corpus.map((record) => weightedWords(pack, record, publicOnly));
  const idf = terms.map((term) => {
    const hits = documents.reduce(
      (sum, one) => sum + [...one.keys()].filter((word) => word.startsWith(term)).length,
      0,
    );
    const df = Math.min(hits, corpus.length);
    return Math.round(1000 * Math.log(1 + (corpus.length - df + 0.5) / (df + 0.5)));
  });
  const phrase = wordsIn(q).join(' ');
  return (record: StoredRecord): number => {
    const name = wordsIn(record.name).join(' ');
    if (name === phrase) return 3e6;
    const naming = pack.attributes.filter(
      (one) => one.searchable && one.search_weight === 10 && one.type !== 'text' && (one.public || !publicOnly),
    );
    if (
      naming.some((one) =>
        [record.attributes[one.name] ?? []].flat().some((text) => folded(String(text)) === folded(q)),
      )
    )
      return 2e6;
    if (name.startsWith(phrase)) return 1e6;
    const document = weightedWords(pack, record, publicOnly);
    const parts = terms.map((term, i) => {
      let frequency = 0;
      for (const [word, weight] of document)
        if (word.startsWith(term)) frequency += word === term ? 2 * weight : weight;
      return (BigInt(idf[i]!) * BigInt(frequency) * 10n) / BigInt(frequency * 10 + 12);
    });
    const highest = idf.reduce((sum, each) => sum + each, 0);
    const share = highest === 0 ? 0 : Number((parts.reduce((sum, part) => sum + part, 0n) * 20n) / BigInt(highest));
    // Where any word is enough, more of them come first.
    return match === 'any' ? 21 * terms.filter(hasWord(pack, record, publicOnly)).length + share : share;
  };
}

function byRelevance(
  pack: Pack,
  corpus: StoredRecord[],
  query: SearchQuery,
  publicOnly: boolean,
): (a: StoredRecord, b: StoredRecord) => number {
  const score = remembering(relevanceScores(pack, corpus, query, publicOnly));
  const prominence = (record: StoredRecord) =>
    pack.serving.prominence === null
      ? undefined
      : (sortValue(pack, record, pack.serving.prominence) as number | undefined);
  return (a, b) =>
    score(b) - score(a) ||
    (prominence(b) ?? Number.NEGATIVE_INFINITY) - (prominence(a) ?? Number.NEGATIVE_INFINITY) ||
    b.quality_score - a.quality_score ||
    byPoint(a.id, b.id);
}

function compare(a: string | number | boolean, b: string | number | boolean): number {
  return typeof a === 'string' ? byPoint(a, String(b)) : Number(a) - Number(b);
}

/** Ids of all matches in the requested order, whatever the page size. */
export function evaluateSearch(
  pack: Pack,
  records: StoredRecord[],
  query: SearchQuery,
  options: EvaluateOptions = {},
): string[] {
  const sort = String(query['sort'] ?? '-quality');
  const key = sort.replace(/^-/, '');
  const turn = sort.startsWith('-') ? -1 : 1;
  if (key === 'relevance')
    return matching(pack, records, query, options)
      .sort(byRelevance(pack, options.corpus ?? records, query, options.publicOnly ?? false))
      .map(({ id }) => id);
  return matching(pack, records, query, options)
    .map((record) => ({
      id: record.id,
      value: key === 'distance' ? metres(pack, record, String(query['near'])) : sortValue(pack, record, key),
    }))
    .sort((a, b) => {
      if (a.value === undefined || b.value === undefined)
        return Number(a.value === undefined) - Number(b.value === undefined) || byPoint(a.id, b.id);
      return turn * compare(a.value, b.value) || byPoint(a.id, b.id);
    })
    .map(({ id }) => id);
}

/** The groups of a search in order, whatever the page size: each value with its first records. */
export function evaluateGroups(
  pack: Pack,
  records: StoredRecord[],
  query: SearchQuery,
  options: EvaluateOptions = {},
): { group: string | number | boolean; ids: string[] }[] {
  const by = String(query['group_by']);
  const { type } = pack.attributes.find(({ name }) => name === by)!;
  const byId = new Map(records.map((record) => [record.id, record]));
  const groups = new Map<string | number | boolean, string[]>();
  for (const id of evaluateSearch(pack, records, query, options)) {
    const values = [...new Set(entriesOf(byId.get(id)!, by))];
    const keys = type === 'datetime' ? values.map((time) => String(time).slice(0, 10)) : values;
    // Groups that begin with the same record are in the order of their values.
    for (const key of keys.sort(compare)) groups.set(key, [...(groups.get(key) ?? []), id]);
  }
  const most = Number(query['group_limit'] ?? 1);
  return [...groups].map(([group, ids]) => ({ group, ids: ids.slice(0, most) }));
}

const entriesOf = (record: StoredRecord, by: string) =>
  [record.attributes[by] ?? []].flat() as (string | number | boolean)[];
/** The answer of facets: distinct values, each counted once per record. */
export function evaluateFacets(pack: Pack, records: StoredRecord[], query: SearchQuery, options: EvaluateOptions = {}) {
  const by = String(query['by']);
  const matched = matching(pack, records, query, options);
  const counts = new Map<string | number | boolean, number>();
  for (const record of matched)
    for (const key of new Set(entriesOf(record, by))) counts.set(key, (counts.get(key) ?? 0) + 1);
  const shown = [...counts]
    .filter(([, count]) => count >= (options.floor ?? 0))
    .sort((a, b) => b[1] - a[1] || compare(a[0], b[0]))
    .slice(0, Number(query['limit'] ?? 50));
  return {
    values: shown.map(([value, count]) => ({ value, count })),
    matched: matched.length,
    missing: matched.filter((record) => record.attributes[by] === undefined).length,
    withheld: [...counts.values()].filter((count) => count < (options.floor ?? 0)).length,
  };
}
