// Types of values, of identities and of choices in a pack; the shapes of pack.ts use them.

/** The types of attributes. `strings` is a list; `price` is a number or a range; `geo` is a point. */
export const ATTRIBUTE_TYPES = [
  'string',
  'text',
  'url',
  'enum',
  'boolean',
  'integer',
  'number',
  'date',
  'datetime',
  'strings',
  'geo',
  'price',
] as const;
export type AttributeType = (typeof ATTRIBUTE_TYPES)[number];

/** Attribute types whose values are days or times, which have an order and belong to months and years. */
export const DATED: readonly AttributeType[] = ['date', 'datetime'];

/** A point on earth in degrees: latitude -90..90, longitude -180..180. */
export interface Geo {
  lat: number;
  lng: number;
}

/** A price between two bounds (contract section 2). */
export interface PriceRange {
  min: number;
  max: number;
  currency: string;
}

/** One value of one attribute, after normalisation. A date is `YYYY-MM-DD`, a time ISO 8601 in UTC (times.ts). */
export type Value = string | number | boolean | string[] | Geo | PriceRange;

/** `low`: a lower number is better, as for a price. `high`: a higher one. */
export const BETTER = ['low', 'high'] as const;
export type Better = (typeof BETTER)[number];

/** Rule that settles competing facts of one record. */
export interface Rule {
  /**
   * `trust`: the more trusted source wins and a difference is reviewed. `newest`: the newer reading wins, no
   * review.
   */
  prefer: 'trust' | 'newest';
  /** Trust by source id for this record, if it differs from the source's own. */
  trust?: Record<string, number>;
}

export type Identity = Record<string, string | number>;
