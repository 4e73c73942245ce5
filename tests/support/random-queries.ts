// Seeded random requests that are valid for a pack: every filter kind, sort, place, words and their
// combinations.
import { filterGrammar } from '../../data/input/filters.ts';
import { escapeListValue } from '../../data/input/parse-values.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Attribute, Geo, Pack, PriceRange, Value } from '../../packs/define/model.ts';
import { words } from '../../packs/define/text.ts';
import { keysOf, type SearchQuery } from './evaluate.ts';
import { randomFilter } from './random-filters.ts';
import { pickOne, type Random, tricky } from './random-records.ts';

/** A value of some record, or a tricky one that may match none. */
function sample(next: Random, records: StoredRecord[], attribute: Attribute): Value {
  const record = pickOne(next, records);
  return record.attributes[attribute.name] ?? attribute.example;
}

const scramble = (next: Random, text: string) =>
  pickOne(next, [text, text.toUpperCase(), text.toLowerCase(), text.normalize('NFD'), ` ${text} `]);

function scalar(next: Random, records: StoredRecord[], attribute: Attribute): string {
  const value = sample(next, records, attribute);
  if (Array.isArray(value)) return scramble(next, pickOne(next, value));
  if (typeof value === 'object') return String((value as PriceRange)[pickOne(next, ['min', 'max'] as const)]);
  return attribute.type === 'date' || typeof value !== 'string' ? String(value) : scramble(next, value);
}

function listed(next: Random, records: StoredRecord[], attribute: Attribute): string | string[] {
  const wordy = !['integer', 'number', 'boolean', 'date'].includes(attribute.type);
  const all = Array.from({ length: 1 + Math.floor(next() * 3) }, () =>
    escapeListValue(wordy && next() < 0.2 ? tricky(next) : scalar(next, records, attribute)),
  );
  return next() < 0.2 ? all : all.join(',');
}

function part(next: Random, text: string): string {
  const letters = [...text];
  const from = Math.floor(next() * letters.length);
  const cut = letters.slice(from, from + 1 + Math.floor(next() * 5)).join('');
  return cut.trim() === '' || cut.normalize('NFKD').replace(/[\u0300-\u036f\s]/gu, '') === ''
    ? 'a'
    : scramble(next, cut);
}

function filter(next: Random, pack: Pack, records: StoredRecord[]): SearchQuery {
  const { name, operator, attribute: named } = pickOne(next, filterGrammar(pack, null));
  const attribute = pack.attributes.find((one) => one.name === named)!;
  if (operator === 'has') return { [name]: pickOne(next, ['true', 'false', 'TRUE']) };
  if (operator === 'like') return { [name]: part(next, scalar(next, records, attribute)) };
  if (operator === 'min' || operator === 'max') return { [name]: scalar(next, records, attribute) };
  return { [name]: listed(next, records, attribute) };
}

/** A box between points of records, of no size, across the antimeridian, along it, or at the poles. */
function box(next: Random, records: StoredRecord[], geo: Attribute): string {
  const [a, b] = [sample(next, records, geo) as Geo, sample(next, records, geo) as Geo];
  const [west, east] = pickOne(next, [
    [a.lng, b.lng],
    [b.lng, a.lng],
    [a.lng, a.lng],
    [a.lng, 180],
    [-180, a.lng],
    [180, -180],
    [180, 180],
    [-180, -180],
    [-180, 180],
    [170.25, -170.25],
  ]);
  const [south, north] = pickOne(next, [
    [Math.min(a.lat, b.lat), Math.max(a.lat, b.lat)],
    [a.lat, a.lat],
    [-90, a.lat],
    [a.lat, 90],
    [90, 90],
    [-90, 90],
  ]);
  return [west, south, east, north].join();
}

/** Parameters that select records: filters of every kind, words, a place, ids, age, quality. */
function selection(next: Random, pack: Pack, records: StoredRecord[]): SearchQuery {
  const query: SearchQuery = {};
  while (next() < 0.6) Object.assign(query, filter(next, pack, records));
  if (next() < 0.3) {
    const searchable = pack.attributes.filter((one) => one.searchable);
    const named = next() < 0.3 ? pickOne(next, records).name : scalar(next, records, pickOne(next, searchable));
    const cut = next() < 0.3 ? 99 : 4;
    const kept = words(named)
      .map((word) => [...word].slice(0, 1 + Math.floor(next() * cut)).join(''))
      .slice(0, 3);
    if (words(kept.join(' ')).length > 0) {
      query['q'] = scramble(next, kept.join(next() < 0.5 ? ' ' : '-'));
      if (next() < 0.3) query['match'] = pickOne(next, ['any', 'any', 'ALL']);
    }
  }
  const geo = pack.attributes.find((one) => one.type === 'geo');
  if (geo && next() < 0.2) {
    const { lat, lng } = sample(next, records, geo) as Geo;
    query['near'] = `${lat},${lng},${pickOne(next, [0, 0.5, 5, 50, 400, 5_000, 20_020])}`;
  }
  if (next() < 0.15) Object.assign(query, randomFilter(next, pack, records));
  if (geo && next() < 0.2) query['bbox'] = box(next, records, geo);
  if (next() < 0.1) query['updated_since'] = pickOne(next, records).updated_at;
  if (next() < 0.1) query['min_quality'] = String(pickOne(next, records).quality_score);
  if (next() < 0.08) query['provenance_status'] = pickOne(next, ['held', 'contested', 'held,contested', 'HELD']);
  if (next() < 0.05)
    query['ids'] = [
      ...[pickOne(next, records).id, pickOne(next, records).slug.toUpperCase(), 'nobody'],
      ...keysOf(pack, pickOne(next, records)).map((key) => scramble(next, key).replaceAll(',', '%2C')),
    ].join(',');
  return query;
}

/** A search request. */
export function randomSearch(next: Random, pack: Pack, records: StoredRecord[]): SearchQuery {
  const query = selection(next, pack, records);
  const sortable = pack.attributes.filter((one) => one.type !== 'strings' && one.type !== 'geo');
  if (next() < 0.8)
    query['sort'] =
      pickOne(next, ['', '-']) + pickOne(next, ['quality', 'updated', ...sortable.map(({ name }) => name)]);
  if (query['q'] !== undefined && next() < 0.6) query['sort'] = 'relevance';
  if (query['near'] !== undefined && next() < 0.5) query['sort'] = 'distance';
  query['limit'] = String(pickOne(next, [17, 40, 100, 100]));
  if (next() < 0.5) query['total'] = 'true';
  return query;
}

/** A search by distance from a point of a record, from a random one, or from the edges of the map. */
export function randomNearest(next: Random, pack: Pack, records: StoredRecord[]): SearchQuery {
  const geo = pack.attributes.find((one) => one.type === 'geo')!;
  const { lat, lng } = pickOne(next, [
    sample(next, records, geo) as Geo,
    { lat: next() * 180 - 90, lng: next() * 360 - 180 },
    { lat: 0, lng: pickOne(next, [180, -180, 179.99]) },
    { lat: pickOne(next, [90, -90, 89.99]), lng: next() * 360 - 180 },
  ]);
  return {
    ...(next() < 0.5 ? {} : selection(next, pack, records)),
    near: `${lat},${lng},${pickOne(next, [0, 5, 400, 5_000, 19_000, 20_020, 1e9])}`,
    sort: 'distance',
    limit: String(pickOne(next, [1, 7, 17, 40, 100])),
    ...(next() < 0.3 ? { total: 'true' } : {}),
  };
}

/** A search for the best records of each group. */
export function randomGroups(next: Random, pack: Pack, records: StoredRecord[]): SearchQuery {
  const query = next() < 0.4 ? randomSearch(next, pack, records) : { sort: '-quality' };
  const sortable = pack.attributes.filter((one) => one.type !== 'strings' && one.type !== 'geo');
  if (next() < 0.5) query['sort'] = pickOne(next, ['', '-']) + pickOne(next, sortable).name;
  query['group_by'] = named(next, pack, [...COUNTED, 'datetime'], true);
  query['limit'] = String(pickOne(next, [1, 2, 7, 20, 33]));
  if (next() < 0.6) query['group_limit'] = String(pickOne(next, [1, 2, 3]));
  return query;
}

/** A facets request. */
export function randomFacets(next: Random, pack: Pack, records: StoredRecord[]): SearchQuery {
  const counted = pack.attributes.filter((one) => one.filterable && !['text', 'geo', 'price'].includes(one.type));
  return {
    ...selection(next, pack, records),
    by: pickOne(next, counted).name,
    limit: pickOne(next, ['1', '5', '50', '200']),
  };
}

/** A facets request for one to ten attributes. */
export function randomSeveralFacets(next: Random, pack: Pack, records: StoredRecord[]): SearchQuery {
  const counted = pack.attributes.filter((one) => one.filterable && !['text', 'geo', 'price'].includes(one.type));
  const names = new Set(Array.from({ length: 1 + Math.floor(next() * 10) }, () => pickOne(next, counted).name));
  const query = randomFacets(next, pack, records);
  return { ...(next() < 0.3 ? { limit: query['limit']! } : query), by: next() < 0.5 ? [...names] : [...names].join() };
}

const COUNTED = ['string', 'url', 'enum', 'boolean', 'integer', 'number', 'date', 'strings'];
const SINGLE = ['string', 'text', 'url', 'enum', 'boolean', 'integer', 'number', 'date'];

const named = (next: Random, pack: Pack, types: readonly string[], filterable = false): string =>
  pickOne(
    next,
    pack.attributes.filter((one) => types.includes(one.type) && (one.filterable || !filterable)),
  ).name;

const numeric = (next: Random, pack: Pack) => named(next, pack, ['integer', 'number', 'price']);

/** A statistics request. */
export function randomStats(next: Random, pack: Pack, records: StoredRecord[]): SearchQuery {
  const query: SearchQuery = { ...selection(next, pack, records), attribute: numeric(next, pack) };
  const keys = new Set<string>();
  while (keys.size < 2 && next() < 0.65) keys.add(named(next, pack, COUNTED, true));
  const dates = pack.attributes.filter(({ type, filterable }) => type === 'date' && filterable);
  if (keys.size === 1 && dates.length > 0 && next() < 0.3)
    keys.add(`${pickOne(next, dates).name}:${pickOne(next, ['month', 'year'])}`);
  if (keys.size > 0) query['group_by'] = [...keys].join(',');
  if (next() < 0.1) query['attribute'] = [query['attribute'], numeric(next, pack)].join();
  if (next() < 0.4)
    query['order'] = pickOne(next, ['', '-']) + pickOne(next, ['count', 'sum', 'median', 'min', 'max', 'mean']);
  if (next() < 0.3) query['limit'] = String(pickOne(next, [1, 3, 40, 1000]));
  if (next() < 0.3) query['having_min_count'] = String(pickOne(next, [1, 2, 3, 10]));
  if (next() < 0.3) query['buckets'] = String(pickOne(next, [2, 3, 10, 50]));
  return query;
}

/** A time series request. */
export function randomTimeseries(next: Random, pack: Pack, records: StoredRecord[]): SearchQuery {
  const query: SearchQuery = { ...selection(next, pack, records), attribute: numeric(next, pack) };
  if (next() < 0.8) query['days'] = String(pickOne(next, [1, 2, 7, 8, 30, 90, 91, 366]));
  if (next() < 0.5) query['step'] = pickOne(next, ['day', 'week', 'WEEK']);
  if (next() < 0.5) query['group_by'] = named(next, pack, COUNTED, true);
  return query;
}

/** A changelog request. */
export function randomChangelog(next: Random, pack: Pack, records: StoredRecord[]): SearchQuery {
  const query: SearchQuery = next() < 0.2 ? {} : selection(next, pack, records);
  const moments = ['2025-10-01', '2026-03-02T12:00:00Z', '2026-08-15', '2026-11-01T00:00:00.5+02:00', '2027-01-01'];
  const kind = next();
  if (kind < 0.6) query['days'] = String(pickOne(next, [1, 2, 30, 200, 365]));
  else if (kind < 0.9) {
    const [from, to] = [pickOne(next, moments.slice(0, 3)), pickOne(next, moments.slice(2))];
    if (next() < 0.7) query['from'] = from;
    if (next() < 0.7 && from !== to) query['to'] = to;
  }
  if (next() < 0.4) query['attribute'] = [numeric(next, pack), ...(next() < 0.5 ? [numeric(next, pack)] : [])].join();
  if (next() < 0.3) query['min_change_percent'] = pickOne(next, ['0', '0.5', '5', '10', '50']);
  if (next() < 0.4) query['type'] = pickOne(next, ['all', 'changed', 'added']);
  if (next() < 0.6) query['direction'] = pickOne(next, ['rise', 'fall', 'FALL', 'range', 'withdrawn']);
  if (next() < 0.1) query['entity'] = pickOne(next, records).slug.toUpperCase();
  if (next() < 0.3) query['group_by'] = named(next, pack, COUNTED, true);
  return query;
}

/** A request for similar records. */
export function randomSimilar(next: Random, pack: Pack, records: StoredRecord[]): SearchQuery {
  const query = next() < 0.4 ? {} : selection(next, pack, records);
  if (next() < 0.7) query['limit'] = String(pickOne(next, [1, 3, 10, 100]));
  if (next() < 0.5) query['differ_by'] = named(next, pack, SINGLE);
  return query;
}
