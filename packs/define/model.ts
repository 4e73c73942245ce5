// Model of a dataset: a checked pack. `definePack` converts a publisher's input to this. The members of pack.ts are
// described in its shape (shape.ts), which also fills in defaults.
import type { z } from 'zod';
import type { AttributeShape, CalculatorShape, PackShape, TestShape } from './shape.ts';
import type { CrawlShape, PinShape, SourceShape } from './source-shape.ts';
import type { Identity, Value } from './value.ts';

export * from './value.ts';

/** A column of the dataset with the publisher's settings. */
export interface Attribute extends Omit<z.output<typeof AttributeShape>, 'range'> {
  /** Dotted names make groups: `price.input` belongs to the group `price`. */
  name: string;
  example: Value;
  /** Bounds of a number. */
  range: { min: number | null; max: number | null };
  /** Bounds of a date or time, YYYY-MM-DD; `now`: the time of the nightly run. Absent: none. */
  date_range?: { min: string | null; max: string | null };
  /** Whether a first value is held too when it is further than `jump` from those of its group. */
  group_jump: boolean;
  tolerance: number;
}

/** A sum of attributes times inputs of a reader, such as the cost of a month. */
export type Calculator = z.output<typeof CalculatorShape>;

/** One summand: the value of the attribute × the input × the factor. */
export type CalculatorTerm = Calculator['terms'][number];

/** A version of an npm package that is read, or a version of another source (data.md: one observation of the world). */
export interface Pin extends Omit<z.output<typeof PinShape>, 'date_source'> {
  /** `source`: the file, the header or the query of a declared source; `rows`: each row has its own time. */
  date_source: z.output<typeof PinShape>['date_source'] | 'crawl' | 'source' | 'rows';
}

/** Web pages that are fetched every night. */
export type Crawl = z.output<typeof CrawlShape>;

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
export interface Source extends Omit<z.output<typeof SourceShape>, 'pins'> {
  id: string;
  pins: Pin[];
}

/** A numeric threshold that every build must meet. */
export type PackTest = z.output<typeof TestShape>;

/** Operations with their own price; others derive theirs (batch from get, similar from search…). */
export const PRICED = ['search', 'get', 'facts', 'prices', 'compare', 'stats'] as const;
export type PricedOperation = (typeof PRICED)[number];

type Draft = z.output<typeof PackShape>;

/** The settings in pack.ts with defaults filled in and money in micro-euros. */
export interface PackSettings extends Omit<Draft, 'sources' | 'attributes' | 'serving'> {
  sources: Source[];
  attributes: Attribute[];
  /** With the default of every member. */
  serving: { [Member in keyof Draft['serving']]-?: Exclude<Draft['serving'][Member], undefined> };
  /** Attribute names of type price, in order. */
  price_attributes: string[];
}

/** A checked pack: the settings, and the other files of its folder. */
export interface Pack extends PackSettings {
  /** Folder name, `^[a-z][a-z0-9-]*$`. */
  id: string;
  /** Absolute path of the folder. */
  folder: string;
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
