// Model of a dataset: a checked pack. `definePack` in pack.ts converts a publisher's input to this.

import type { DeclaredSource } from './sources.ts';

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

/** A column of the dataset with the publisher's settings. */
export interface Attribute {
  /** Dotted names make groups: `price.input` belongs to the group `price`. */
  name: string;
  type: AttributeType;
  /** Unit of a number or price, as shown: `tokens`, `USD/1M tokens`. */
  unit: string | null;
  /** ISO 4217 code of a price; null for every other type. */
  currency: string | null;
  description: string;
  /** Name on pages; absent: from the name (labels.ts). */
  label?: string | undefined;
  example: Value;
  /** Public values are free; other values are only in paid answers. */
  public: boolean;
  filterable: boolean;
  /** `q` searches the words of this attribute. */
  searchable: boolean;
  /** Whether a value of it names its record, where ids and slugs do. Absent: it does not. */
  key?: boolean | undefined;
  /** How often a word of this attribute counts in the order by relevance, 1 to 10. */
  search_weight: number;
  /** Closed list of an enum, or null when the values are from the data. */
  values: string[] | null;
  /** A number outside these bounds is rejected at collection. */
  range: { min: number | null; max: number | null };
  /** Bounds of a date or time, YYYY-MM-DD; `now`: the time of the nightly run. Absent: none. */
  date_range?: { min: string | null; max: string | null };
  /** Whether a number with more digits than a double has is rounded to 15 digits. Absent: it is rejected. */
  round?: boolean | undefined;
  /** A change by more than this factor (up or down) is held for review; null: no bound. */
  jump: number | null;
  /**
   * Whether a record's first value is also held when it is further than `jump` from the median of its
   * `group_by` group.
   */
  group_jump: boolean;
  /** Two sources agree when numbers differ by at most this share (0.005 = half a percent). */
  tolerance: number;
  /** Ages in hours: a warning, and the limit of the SLA. */
  sla: { warn: number; error: number };
  /** Weight in the completeness part of the quality score. */
  weight: number;
  /** Its values change by nature: `checks.changed_values` does not count them. */
  volatile?: boolean | undefined;
  /**
   * Collected when a source first lists the record, and never replaced; the earliest of several sources wins.
   */
  once: boolean;
  /**
   * For a list: number of published entries, the first ones; `q` searches all of them. null: all are
   * published.
   */
  published_entries: number | null;
  /** Other names for the attribute: only for suggestions when a name is unknown. */
  aliases: string[];
  /** Vocabulary of the values, so that suggestions understand their other names; null: none. */
  vocabulary: 'country' | null;
  /** A verified owner may set it. Never true for identity or the domain attribute. */
  editable: boolean;
  /** Which numbers are better, for comparisons. Absent: neither. */
  better?: Better | undefined;
}

/** `low`: a lower number is better, as for a price. `high`: a higher one. */
export const BETTER = ['low', 'high'] as const;
export type Better = (typeof BETTER)[number];

/** A sum of attributes times inputs of a reader, such as the cost of a month. */
export interface Calculator {
  title: string;
  /** Unit of the result, as shown: `USD`. */
  unit: string;
  /** Which results are better; absent: neither. */
  better?: Better | undefined;
  /** In the order of the page. */
  inputs: { name: string; label: string; unit: string | null; default: number }[];
  terms: CalculatorTerm[];
}

/** One summand: the value of the attribute × the input × the factor. */
export interface CalculatorTerm {
  attribute: string;
  /** Attribute that counts where the record has no value of `attribute`; null: none. */
  otherwise: string | null;
  input: string;
  factor: number;
}

/**
 * One published version of an npm package with open data (data.md: a pin is one observation of the world).
 */
export interface Pin {
  package: string;
  version: string;
  /**
   * Subresource integrity of the tarball, `sha512-…`. Empty: the source is shipped with the pack in `<pack
   * folder>/fixtures/<package>/<version>` (`fixtureFolder` in load.ts) and nothing is fetched.
   */
  integrity: string;
  /** ISO 8601 time that the data describes. */
  observed_at: string;
  /** `source`: the file, the header or the query of a declared source; `rows`: each row has its own time. */
  date_source: 'data' | 'tag' | 'pin' | 'registry' | 'crawl' | 'source' | 'rows';
}

/** Web pages that are fetched every night. */
export interface Crawl {
  /** Start pages. */
  urls: string[];
  /** Minimum delay between two requests to one host. */
  delay_seconds: number;
  /** Maximum size of a page. */
  max_bytes: number;
  /** Maximum number of pages per night, including pages that `follow` returns. */
  max_pages: number;
}

/** A fetched page; `sha256` is the name of its file in the folder of the reading. */
export interface CrawledPage {
  /** Final address after redirects. */
  url: string;
  sha256: string;
  content_type: string;
  /** ISO 8601. */
  fetched_at: string;
}

/** A source of values. */
export interface Source {
  id: string;
  title: string;
  url: string;
  license: string;
  /** 0..1: trust when sources differ, and confidence of its facts by default. */
  trust: number;
  pins: Pin[];
  /** Package whose newest version is read after the pins, or null. */
  newest: string | null;
  /** Pages fetched every night, after the pins; or null. */
  crawl: Crawl | null;
  /** Where the rows are and how they become values; null: collect.ts reads them. */
  from: DeclaredSource | null;
  /**
   * Whether each reading lists all records of the source: only then does a missing record count as removed.
   */
  complete: boolean;
  /** Share of the records of a complete source that one reading may drop; above it the run stops. */
  max_drop: number;
  /**
   * Shares above which a reading stops the run: wrong values of an attribute, and rows that could not be read.
   */
  tolerate: { values: number; rows: number };
  /** Longest time without an observation, in minutes; then the collector is stopped. */
  timeout_minutes: number;
}

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

/** A numeric threshold that every build must meet. */
export interface PackTest {
  kind: 'rows' | 'fill' | 'unique' | 'accepted';
  attribute?: string;
  min?: number;
  max?: number;
  values?: string[];
}

/** Operations with their own price; others derive theirs (batch from get, similar from search…). */
export const PRICED = ['search', 'get', 'facts', 'prices', 'compare', 'stats'] as const;
export type PricedOperation = (typeof PRICED)[number];

/** A checked pack with defaults filled in and money in micro-euros. */
export interface Pack {
  /** Folder name, `^[a-z][a-z0-9-]*$`. */
  id: string;
  /** Absolute path of the folder. */
  folder: string;
  title: string;
  description: string;
  keywords: string[];
  license: { name: string; url: string };
  attribution: string;
  /**
   * Incremented by the publisher when collect.ts reads the same source differently; the pins are then read
   * again.
   */
  revision: number;
  sources: Source[];
  attributes: Attribute[];
  identity: {
    attributes: string[];
    /** Comparison key of a record: equal keys are one record. */
    key: (identity: Identity) => string;
    /** Preferred slug; on a conflict six hex digits of the key are appended. */
    slug: (identity: Identity, values: Record<string, Value>) => string;
    /** Human name of a record. */
    name: (identity: Identity, values: Record<string, Value>) => string;
    /** Equal texts: the same thing from another source. null: unknown. */
    same: (identity: Identity) => string | null;
  };
  consolidation: {
    /** Facts below this confidence are stored but never published. */
    floor: number;
    /** Readings more than this many days apart are no conflict: the newer wins. */
    apart_days: number;
    /** Deduction from the winner's confidence when another source disagrees. */
    penalty: number;
    rule: (identity: Identity) => Rule;
  };
  /** Value for a record that a complete source no longer lists; null: none. */
  gone: { attribute: string; value: string; confidence: number } | null;
  quality: { completeness: number; confidence: number; freshness: number };
  /** Shares 0..1 by which a release may differ from the one before. */
  checks: { lost_records: number; lost_values: number; changed_values: number; gone_records: number };
  group_by: string;
  serving: {
    showcase: { per_group: number };
    /** Public attributes that distinguish records of the same name. */
    distinguish_by: string[];
    /** Attributes of lists for agents who select none, in the order of the pack. */
    core: string[];
    similar_differ_by: string | null;
    /** Searchable attributes whose words count for similarity. */
    similar_by: string[];
    /** Records with a lower score are not similar. */
    similar_min_score: number;
    /** Public number that grows with how well known a record is; null: none. */
    prominence: string | null;
  };
  compare: string[];
  /** null: none. */
  calculator: Calculator | null;
  /** Micro-euros per call. */
  prices: Record<PricedOperation, number>;
  /** Cron expression, UTC. */
  schedule: string;
  owner: { domain: string | null; shared_domain_bound: number };
  tests: PackTest[];
  /** Attribute names of type price, in order. */
  price_attributes: string[];
  collector: Collector;
  /** Fictional records of samples.json, unchanged, checked against the attributes. */
  samples: Sample[];
  /** record.md and guide.md, as text. */
  template: string;
  guide: string;
  /** The file NOTICE or NOTICE.md: a licence notice that must accompany copies of the data. Absent: none. */
  notice?: string;
}

/** An entry of samples.json. */
export interface Sample {
  identity: Identity;
  values: Record<string, Value>;
  evidence?: string;
}

/** One source at one time: input of the collector. */
export interface Reading {
  source: string;
  package: string;
  version: string;
  observed_at: string;
  date_source: Pin['date_source'];
  /** Absolute path of the unpacked source, read-only. */
  folder: string;
  /** Rows of a source that declares `from`, with typed values; cells that cannot be read were reported. */
  rows?: AsyncIterable<Observed>;
}

/** Values of one record in one reading. Absent or undefined: the source has no value. */
export interface Observed {
  identity: Identity;
  values: Record<string, Value | undefined>;
  /** One confidence for all values, or by attribute; absent: the source's trust. */
  confidence?: number | Record<string, number>;
  /** A page where a person can verify the values, for all or by attribute (`*`: the others). */
  source_url: string | Record<string, string>;
  /** Short quotation from there; for all or by attribute (`*`: the others). */
  evidence?: string | Record<string, string>;
  /** Line or number of the row in the source, for messages. */
  line?: number;
  /**
   * Milliseconds since 1970: when this row was observed, if not at the time of the reading. Rows of a declared
   * source with `observed_at.column` have it.
   */
  observed_at?: number;
}

/** Functions of the nightly run for a collector. */
export interface CollectContext {
  /** Folder of another pinned version, fetched and verified like any other. */
  folder: (pkg: string, version: string) => Promise<string>;
  log: (message: string) => void;
}

export interface Collector {
  /** Yields every record that the reading's source lists. Reads files only; never imports or runs them. */
  read: (reading: Reading, context: CollectContext) => AsyncIterable<Observed> | Iterable<Observed>;
  /** The date inside the data, for a newest version without pin; null without one. */
  observedAt?: (folder: string) => Promise<string | null>;
  /**
   * Address at a newer version that confirmed a value, from the address at the version that first had it.
   * Absent or undefined: the version in the address is replaced.
   */
  confirmedUrl?: (url: string, versions: { source: string; from: string; to: string }) => string | undefined;
  /** Addresses of further pages to crawl, absolute or relative to the page. */
  follow?: (page: { source: string; url: string; body: Buffer }) => Iterable<string>;
}
