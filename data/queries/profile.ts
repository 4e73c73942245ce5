// Profile of a dataset: fill rate and distribution of each attribute, without revealing paid values.
import { comparedNumber } from '../../packs/define/digits.ts';
import { type Attribute, DATED, type Value } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { counted } from '../input/selection.ts';
import type { StoredRecord } from '../model/record.ts';
import type { NumberStats, QueryOptions } from '../plan/plan.ts';
import type { Origin } from '../plan/profile.ts';
import { nextTurn } from '../plan/slices.ts';
import type { Release } from '../releases/release.ts';

/**
 * Groups of non-public values with fewer records are withheld (contract section 3, "No free way around the
 * price").
 */
const PROFILE_FLOOR = 5;
/** Number of most common values per attribute. */
const TOP = 10;
/** Side of the cells for points, in degrees. */
const CELL = 2;

/** Types that have a list of most common values; numbers have histograms and points have cells. */
const COMMON: readonly Attribute['type'][] = ['string', 'enum', 'boolean', 'strings'];

/** Profile of one attribute. Absent members do not apply to its type or are withheld. */
export interface AttributeProfile {
  name: string;
  type: Attribute['type'];
  unit: string | null;
  public: boolean;
  /** Records with a value; null when withheld. */
  count: number | null;
  /** 0..1: share of all records, four decimals; null with `count`. */
  fill_rate: number | null;
  /** Distinct values as published; texts that have no facets are compared without case and accents. */
  distinct: number | null;
  /** For numbers and prices of a public attribute. */
  quantiles?: Pick<NumberStats, 'min' | 'q1' | 'median' | 'q3' | 'max' | 'mean'>;
  /** For numbers, prices, and dates and times (by year): `from` is in the bin, `to` in the next one. */
  histogram?: { from: number; to: number; count: number }[];
  /** Most common values with their counts. */
  top?: { value: Value; count: number }[];
  /** For points: records in cells of `degrees`, by south-west corner. */
  cells?: { degrees: number; counts: { lat: number; lng: number; count: number }[] };
  /** Number of values, bins or cells withheld because they are too rare. */
  withheld?: number;
  /** Sources of the published values, most values first. */
  sources: { source: string; values: number }[];
  /** Times of the last confirmation of the values; null without values. */
  freshness: { oldest: string; median: string; newest: string } | null;
}

/**
 * Profiles every attribute, a few in parallel. `before`: the profiles of the release without its overlay, if they are
 * known; those of attributes that the overlay leaves as they were are taken from them.
 */
export async function getProfile(
  release: Release,
  options: QueryOptions,
  before: readonly AttributeProfile[] | null = null,
): Promise<AttributeProfile[]> {
  const { pack, engine } = release;
  const kept = new Map(before?.map((profile) => [profile.name, profile]));
  if (before !== null) for (const name of await editedAttributes(release)) kept.delete(name);
  const others = pack.attributes.filter(({ name }) => !kept.has(name));
  const origins = others.length === 0 ? [] : await engine.origins(options);
  for (let i = 0; i < others.length; i += 3)
    for (const profile of await Promise.all(
      others.slice(i, i + 3).map((attribute) => ofAttribute(release, attribute, origins, options)),
    ))
      kept.set(profile.name, profile);
  return pack.attributes.map(({ name }) => kept.get(name)!);
}

/** The attributes in which a record with the overlay differs from the record without it; all when records are missing. */
async function editedAttributes({ base, engine, pack, touched }: Release): Promise<string[]> {
  const names = pack.attributes.map(({ name }) => name);
  if (!base || !touched) return [];
  if (touched.gone.length > 0) return names;
  const changed = [...touched.changed];
  const records = async (from: Release['engine']) =>
    (await from.bodies(changed)).map(({ body }) => JSON.parse(body) as StoredRecord);
  const [old, edited] = [await records(base.engine), await records(engine)];
  const partOf = (record: StoredRecord | undefined, name: string) =>
    JSON.stringify([record?.attributes[name], record?.provenance[name]]);
  return names.filter((name) => edited.some((record, i) => partOf(record, name) !== partOf(old[i], name)));
}

async function ofAttribute(
  { manifest, engine }: Release,
  attribute: Attribute,
  origins: readonly Origin[],
  options: QueryOptions,
): Promise<AttributeProfile> {
  const { name, type, unit, public: open } = attribute;
  const numeric = NUMERIC.includes(type);
  const floor = open ? 0 : PROFILE_FLOOR;
  // Edges between smallest and largest value would reveal both, so paid attributes have fixed edges.
  const stats =
    numeric && open
      ? (await engine.stats({ where: [], attribute: name, by: [], groups: 1 }, options)).groups[0]?.figures
      : undefined;
  const edges = stats ? edgesFor(stats) : numeric && !open ? [...FIXED_EDGES] : [];
  const spread = await engine.spread({ attribute: name, edges, cell: CELL }, options);
  const few = spread.count < floor;
  const profile: AttributeProfile = {
    name,
    type,
    unit,
    public: open,
    count: few ? null : spread.count,
    fill_rate: few ? null : manifest.records === 0 ? 0 : Math.floor((spread.count / manifest.records) * 1e4) / 1e4,
    distinct: few ? null : spread.distinct,
    sources: few
      ? []
      : origins.filter((origin) => origin.attribute === name).map(({ source, values }) => ({ source, values })),
    freshness: few ? null : freshnessOf(manifest.ages, name),
  };
  if (few || spread.count === 0) return profile;
  if (stats) {
    const { min, q1, median, q3, max, mean } = stats;
    profile.quantiles = { min, q1, median, q3, max, mean };
  }
  if (numeric || DATED.includes(type)) {
    const bins = numeric
      ? spread.bins.map((count, i) => ({ from: edges[i]!, to: edges[i + 1]!, count }))
      : spread.groups.map(({ key: [year = 0], count }) => ({ from: year, to: year + 1, count }));
    const shown = bins.filter(({ count }) => count > 0 && count >= floor);
    profile.histogram = shown;
    withhold(profile, bins.filter(({ count }) => count > 0).length - shown.length);
  }
  if (type === 'geo') {
    const shown = spread.groups.filter(({ count }) => count >= floor);
    profile.cells = { degrees: CELL, counts: shown.map(({ key: [lat = 0, lng = 0], count }) => ({ lat, lng, count })) };
    withhold(profile, spread.groups.length - shown.length);
  }
  if (counted(attribute) && COMMON.includes(type)) {
    // Unique values, such as names, are not listed: at least two records must share one.
    const least = Math.max(floor, type === 'boolean' || type === 'enum' ? 1 : 2);
    // Counts of several attributes would add up in one turn.
    await nextTurn(options);
    const { values, withheld } = await engine.facets({ where: [], by: name, limit: TOP, floor: least }, options);
    if (values.length > 0) profile.top = values;
    if (floor > 0) withhold(profile, withheld);
  }
  return profile;
}

function withhold(profile: AttributeProfile, groups: number): void {
  if (groups > 0) profile.withheld = (profile.withheld ?? 0) + groups;
}

/** Oldest, median and newest confirmation of an attribute's values, from the times in the manifest. */
function freshnessOf(ages: Release['manifest']['ages'], name: string): AttributeProfile['freshness'] {
  const rows = ages
    .filter(({ attribute }) => attribute === name)
    .toSorted((a, b) => Date.parse(a.observed_at) - Date.parse(b.observed_at));
  const [oldest, newest] = [rows[0], rows.at(-1)];
  if (!oldest || !newest) return null;
  const all = rows.reduce((sum, { count }) => sum + count, 0);
  let cumulative = 0;
  const median = rows.find(({ count }) => {
    cumulative += count;
    return cumulative * 2 >= all;
  });
  return { oldest: oldest.observed_at, median: (median ?? newest).observed_at, newest: newest.observed_at };
}

/** Approximate number of bins. */
const BINS = 20;

/**
 * Ascending edges that contain all values. Even steps of 1, 2 or 5 times a power of ten; for positive values
 * over several orders of magnitude, edges at 1, 2 and 5 times the powers of ten, with a first bin from 0 when
 * there are zeros.
 */
export function edgesFor({ min, median, max }: Pick<NumberStats, 'min' | 'median' | 'max'>): number[] {
  if (!(max > min)) {
    const step = stepNear(Math.abs(max) || 1);
    const from = floorTo(min, step);
    return [from, from + step];
  }
  return min >= 0 && median > 0 && max / median > 20 ? rising(min, max) : even(min, max);
}

/** 1, 2 and 5 times the powers of ten from 0.0001 to 10^18. */
const STEPS = Array.from({ length: 22 }, (_, i) =>
  [1, 2, 5].map((digit) => comparedNumber(digit * 10 ** (i - 4))),
).flat();

/** Edges independent of the values, for attributes whose single values must not be revealed. */
export const FIXED_EDGES: readonly number[] = [...STEPS.map((step) => -step).reverse(), 0, ...STEPS];

function even(min: number, max: number): number[] {
  const step = stepNear((max - min) / BINS);
  const edges: number[] = [];
  const first = Math.floor(min / step);
  for (let i = 0; edges.length === 0 || edges.at(-1)! <= max; i++) edges.push(comparedNumber((first + i) * step));
  return edges;
}

/**
 * 1, 2, 5, 10, … from below the smallest value (at most five powers of ten below the largest) to above the
 * largest.
 */
function rising(min: number, max: number): number[] {
  const top = Math.ceil(Math.log10(max) + 1e-9);
  const bottom = Math.max(min > 0 ? Math.floor(Math.log10(min)) : -Infinity, top - 8);
  const edges = min < 10 ** bottom ? [0] : [];
  for (let power = bottom; power <= top; power++)
    for (const digit of [1, 2, 5]) edges.push(comparedNumber(digit * 10 ** power));
  const from = Math.max(
    0,
    edges.findLastIndex((edge) => edge <= min),
  );
  const until = edges.findIndex((edge) => edge > max);
  return edges.slice(from, until + 1);
}

/** 1, 2 or 5 times a power of ten, at least `wanted`. */
function stepNear(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  return comparedNumber(([1, 2, 5].find((digit) => digit * power >= wanted * (1 - 1e-9)) ?? 10) * power);
}

const floorTo = (value: number, step: number): number => comparedNumber(Math.floor(value / step) * step);
