// Query plans: queries as data, independent of the engine that runs them.

import type { Value } from '../../packs/define/model.ts';
import type { Box } from '../model/geography.ts';
import type { ProvenanceStatus, ReviewItem } from '../model/record.ts';
import type { AppliedOverlay } from './applied-overlay.ts';
import type { Expression } from './expression.ts';
import type {
  ChangelogAnswer,
  ChangesPlan,
  FactRow,
  FactsPlan,
  OpenItem,
  Past,
  RecordedChange,
  ReviewPlan,
} from './history.ts';
import type { Origin, SpreadAnswer } from './profile.ts';

/** Path parameters and query values as text. A repeated query name has a list of values. */
export type RawInput = Record<string, string | string[]>;

/**
 * One condition; a record must match all conditions of `where`. Strings are folded (packs/define/text.ts) by
 * the parser. A record without the attribute matches only `none` and `has` with `present: false`.
 *
 * What each kind means for SQL, rows and messages is its row in predicates.ts:
 *
 * - `any`, `none`: the attribute has one, or none, of the values. `like`: it contains `needle`.
 * - `min`, `max`: bounds, inclusive. A price range matches if any part of it is within them.
 * - `words`: each word (`any`: one of them) is the beginning of a word of the record, in public texts or all, by `scope`.
 * - `status`: any of the statuses, on public attributes or all, by `scope`.
 * - `near`: within `km` kilometres of a point in degrees, which is that of the record `ref` if there is one.
 *   `bbox`: within a box in degrees. `ids`: ids, slugs or keys.
 * - `expression`: part of `filter`, with its text (expression.ts).
 * - `updated_since`: `at` and `until` in milliseconds since 1970, inclusive. `min_quality`: 0 to 1, inclusive.
 * - `as_of`: the plan is answered from the records as of `at` (milliseconds since 1970). At most once; search, facets,
 *   similar and stats only.
 */
export type Predicate =
  | { kind: 'any'; attribute: string; values: (string | number | boolean)[] }
  | { kind: 'none'; attribute: string; values: (string | number | boolean)[] }
  | { kind: 'like'; attribute: string; needle: string }
  | { kind: 'min'; attribute: string; value: number | string }
  | { kind: 'max'; attribute: string; value: number | string }
  | { kind: 'has'; attribute: string; present: boolean }
  | { kind: 'words'; words: string[]; scope: Visibility; any?: true }
  | { kind: 'status'; statuses: ProvenanceStatus[]; scope: Visibility }
  | { kind: 'near'; attribute: string; lat: number; lng: number; km: number; ref?: string }
  | ({ kind: 'bbox'; attribute: string } & Box)
  | { kind: 'expression'; expression: Expression; source: string }
  | { kind: 'ids'; refs: string[] }
  | { kind: 'updated_since'; at: number; until?: number }
  | { kind: 'min_quality'; value: number }
  | { kind: 'as_of'; at: number };

/** `public`: only public values, also for matching words. `full`: all values. */
export type Visibility = 'public' | 'full';

/**
 * `quality`, `updated`, `relevance`, `distance` or a scalar attribute. Records without the key are last in both
 * directions; ties are sorted by id ascending.
 */
export interface Sort {
  key: string;
  descending: boolean;
  /** Present if and only if the key is `relevance`. */
  relevance?: RelevanceSort;
  /** Present if and only if the key is `distance`. */
  distance?: DistanceSort;
}

/** The point of the plan's `near`; the order is by the distance from it in whole metres, nearest first. */
export type DistanceSort = Pick<Extract<Predicate, { kind: 'near' }>, 'attribute' | 'lat' | 'lng'>;

/** The order of data/plan/relevance.ts: by score, then by `prominence`, then by quality. */
export interface RelevanceSort {
  /** `q`, folded. */
  text: string;
  /** Its distinct words. */
  words: string[];
  /** Attributes that name a record: those of search weight 10 that the scope contains. */
  names: string[];
  /** Words, frequencies and lengths of public texts, or of all. */
  scope: Visibility;
  /** Records with more of the words come first. */
  any?: true;
  /** A numeric attribute, or null. */
  prominence: string | null;
}

/** End of a page: sort value of the last record (null: it has no value) and its id. */
export interface Position {
  value: number | string | boolean | null;
  /** Of a relevance sort: prominence and quality, which decide between equal scores. */
  ties?: (number | null)[];
  id: string;
  /** Of a search by groups: the group whose first record this is. */
  group?: Value;
}

/** Only the first records of each value of an attribute; groups are in the order of their first record, then by value. */
export interface GroupPlan {
  /** An attribute (`COUNTABLE`); records without it are in no group, those with a list in one for each entry. */
  by: string;
  /** Most records of a group. */
  limit: number;
}

export interface SearchPlan {
  where: Predicate[];
  sort: Sort;
  after: Position | null;
  /** Most records of the page; with `group`, most groups. */
  limit: number;
  /** Whether to count all matching records; with `group`, all groups. */
  total: boolean;
  group?: GroupPlan;
}

export interface FacetPlan {
  where: Predicate[];
  by: string;
  limit: number;
  /**
   * Values with fewer records are withheld and counted (contract section 3, "No free way around the price").
   */
  floor: number;
}

/**
 * Answer to a facet plan. `values` by count descending, ties by value; `missing` counts matched records
 * without `by`.
 */
export interface FacetAnswer {
  values: { value: Value; count: number }[];
  matched: number;
  missing: number;
  withheld: number;
}

/** Records most similar to one record by the words of their searchable attributes. */
export interface SimilarPlan {
  /** Ordinal of the record to compare with; it is never in the answer. */
  subject: number;
  where: Predicate[];
  /**
   * Only records with another value of this attribute; records without a value are left out. null: any
   * record.
   */
  differBy: string | null;
  /**
   * `public`: compares all words of public texts and no others. Absent or `full`: the words of the pack's
   * `similar_by`.
   */
  scope?: Visibility;
  /** Records with a lower score are left out. Absent: one common word is enough. */
  minScore?: number;
  limit: number;
}

/** Highest score first, ties by id ascending; only records with a common word. */
export type SimilarAnswer = { ordinal: number; score: number }[];

/**
 * Statistics of a numeric attribute over the matching records that have a value; a price range counts with
 * its minimum.
 */
export interface StatsPlan {
  where: Predicate[];
  attribute: string;
  /**
   * Attributes to group by: none, one, or two (the second within the first). A record without a value is in
   * no group of it.
   */
  by: string[];
  /** Largest number of groups, both levels together. */
  groups: number;
  /** Groups with fewer values are left out; absent: none. */
  minCount?: number;
  /** Number of buckets of each group's histogram; absent: no histogram. */
  buckets?: number;
}

/** Statistics of at least one number. Quantiles interpolate linearly between the two nearest numbers. */
export interface NumberStats {
  count: number;
  /** Compensated (Kahan), in ascending order. */
  sum: number;
  min: number;
  p10: number;
  q1: number;
  median: number;
  q3: number;
  p90: number;
  max: number;
  mean: number;
}

/** Numbers from `from` to `to`; only the last bucket contains its end. */
export interface HistogramBucket {
  from: number;
  to: number;
  count: number;
}

/** A group with its keys, outermost first; without grouping one group without keys. */
export interface StatsGroup {
  keys: Value[];
  figures: NumberStats;
  /** Ordinals of the records with the smallest and the largest number; of several the lowest ordinal. */
  lowest: number;
  highest: number;
  histogram?: HistogramBucket[];
}

/**
 * Groups by level, then by count descending, then by keys; empty when there are more than the plan allows.
 */
export interface StatsAnswer {
  groups: StatsGroup[];
  /** Number of groups. */
  total: number;
}

/** Statistics of a numeric attribute at the end of several days, over the records that match now. */
export interface SeriesPlan {
  where: Predicate[];
  attribute: string;
  /** Attribute to group by, or null. Records without it are in no group. */
  by: string | null;
  /**
   * Day of the first point, counted from 1970-01-01, days from one point to the next, and the number of
   * points.
   */
  first: number;
  step: number;
  points: number;
  /** Largest number of matching records and of groups. Above these limits the answer has no spans. */
  records: number;
  groups: number;
}

/** Statistics of a group at the points (0-based) from `from` to `until`, exclusive. */
export interface SeriesSpan {
  key: Value | null;
  from: number;
  until: number;
  figures: Pick<NumberStats, 'count' | 'min' | 'median' | 'max' | 'mean'>;
}

/** Spans by key, then by point. A point without a span has no values in the group. */
export interface SeriesAnswer {
  /** Matching records, with or without a value. */
  matched: number;
  groups: number;
  spans: SeriesSpan[];
}

/** Changes observed at `since` (milliseconds) or later, newest first. */
export interface ChangelogPlan {
  since: number;
  /** End of the time, exclusive; absent: none. */
  until?: number;
  /** Attribute by whose values of today the changes are grouped, in place of a page of changes. */
  by?: string;
  /** Only changes of these attributes; null: of all. */
  attributes: readonly string[] | null;
  /** Ordinal of the only record to include; null: all records. */
  ordinal: number | null;
  type: 'all' | 'changed' | 'added';
  /** Only changes of records that match now; empty: of all, also of records that are no longer published. */
  where: Predicate[];
  /** Attributes whose numbers are compared, of a price range both ends, and all whose values are shown. */
  numbers: readonly string[];
  shown: readonly string[];
  /** Only changes of this kind; null: all changes. */
  direction: Direction | null;
  /** Only numbers that changed by at least this many percent; null: all changes. */
  minPercent: number | null;
  /** Among changes of one time these attributes come first, in this order. */
  first: readonly string[];
  /** Whether the changes of each day are counted. */
  byDay: boolean;
  limit: number;
  offset: number;
}

/**
 * Kinds of changes of shown values: a number rose or fell, of a range at least one end and the other not the other way;
 * the ends of a range moved apart or together; the value was withdrawn.
 */
export const DIRECTIONS = ['rise', 'fall', 'range', 'withdrawn'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/**
 * Ordinals of a page in order (ordinal: rank by quality descending, then id), and the position after the
 * last.
 */
export interface SearchAnswer {
  ordinals: number[];
  /** null: this is the last page. */
  next: Position | null;
  /** null: the plan did not request it. */
  total: number | null;
  /** Distances of `ordinals` in whole metres, when the plan sorts by distance. */
  metres?: number[];
  /** Groups of `ordinals`, when the plan groups. */
  groups?: Value[];
}

/** Records that meet all conditions of one of the ways. */
export interface MatchPlan {
  ways: Predicate[][];
  limit: number;
}

/** A typed word without matches; see Engine.spellings. */
export interface SpellingPlan {
  /** Folded. */
  word: string;
  scope: Visibility;
  limit: number;
  /** 2: words with at most two edits that begin with the same letter. Absent: one edit. */
  edits?: 1 | 2;
}

/** Options of an engine call that do not change its answer. */
export interface QueryOptions {
  /** Aborts the query: it leaves the queue, or its running statement is interrupted. */
  signal?: AbortSignal;
  /** That of the caller. Queries of callers without a key wait behind the others, and leave places for them. */
  visibility?: Visibility;
  /** Who asks: the queries of several holders are served in turn. */
  holder?: string | undefined;
}

/** Distribution of the values of an attribute over all records. A price range counts with its lower end. */
export interface SpreadPlan {
  attribute: string;
  /** Only the groups of the records that match; absent: everything, of all records. */
  where?: Predicate[];
  /**
   * Edges of bins for numbers, ascending: a bin includes its lower edge, the last one also its upper edge.
   * Fewer than two edges: no bins.
   */
  edges: readonly number[];
  /** Side of a grid cell in degrees, for points. */
  cell: number;
}

/** Attributes of a record with the times (ms since 1970) they were last confirmed. */
export interface Ages {
  names: string[];
  times: number[];
}

/**
 * The stored JSON of a record in three slices, valid until the next record is read: up to `"updated_at"`, up
 * to `"quality_score"`, and the rest including the closing brace.
 */
export interface RecordPieces {
  head: Buffer;
  middle: Buffer;
  tail: Buffer;
  /** Text that `write` makes of the ages of the record. */
  ages(write: (ages: Ages) => string): Buffer;
}

/**
 * JSON of a record as sent to a caller who may see all values, and the values for its headers. Do not modify
 * the buffer.
 */
export interface RecordText {
  json: Buffer<ArrayBuffer>;
  version: string;
  /** ISO 8601. */
  updated_at: string;
}

/**
 * Renders a stored record for a moment. Renderers with the same key render the same record to the same text at
 * every moment of a minute.
 */
export interface RecordRenderer {
  readonly key: string;
  render(pieces: RecordPieces, now: Date): Pick<RecordText, 'json' | 'updated_at'>;
}

/** What a list of pages needs of a record. */
export interface RecordHead {
  slug: string;
  /** ISO 8601. */
  updated_at: string;
}

/**
 * A query engine. The DuckDB engine answers every plan; the packed index answers the plans that it is faster
 * at. Ordinals belong to one release: they never leave the process.
 */
export interface Engine {
  search(plan: SearchPlan, options?: QueryOptions): Promise<SearchAnswer>;
  facets(plan: FacetPlan, options?: QueryOptions): Promise<FacetAnswer>;
  similar(plan: SimilarPlan, options?: QueryOptions): Promise<SimilarAnswer>;
  stats(plan: StatsPlan, options?: QueryOptions): Promise<StatsAnswer>;
  timeseries(plan: SeriesPlan, options?: QueryOptions): Promise<SeriesAnswer>;
  spread(plan: SpreadPlan, options?: QueryOptions): Promise<SpreadAnswer>;
  /**
   * Words with one letter more, less or replaced, or with two neighbours exchanged: those of most records first,
   * ties by code point. Words of the release without its overlay. Absent: only the packed index knows them.
   */
  spellings?(plan: SpellingPlan): string[];
  /** By attribute, then by count descending. */
  origins(options?: QueryOptions): Promise<Origin[]>;
  /** Ordinals of ids, slugs or keys, in the order of `refs`; null for an unknown one. */
  resolve(refs: string[], options?: QueryOptions): Promise<(number | null)[]>;
  /** The first ordinals that match, ascending. */
  matching(plan: MatchPlan, options?: QueryOptions): Promise<number[]>;
  /** Stored bodies (JSON text of a StoredRecord) with their version, in the order of `ordinals`. */
  bodies(ordinals: number[], options?: QueryOptions): Promise<{ body: string; version: string }[]>;
  /** Slugs and dates of records without their bodies, in the order of `ordinals`. */
  heads(ordinals: number[], options?: QueryOptions): Promise<RecordHead[]>;
  /**
   * A record as it is sent now, rendered by `renderer` from its stored text, or cached from an earlier call
   * in this minute. Null when the text cannot be used: read `bodies` then.
   */
  text?(ordinal: number, now: Date, renderer: RecordRenderer): RecordText | null;
  facts(plan: FactsPlan, options?: QueryOptions): Promise<FactRow[]>;
  /** Facts, listings and decisions of records, and all readings, to settle the records as of another time. */
  past(ordinals: number[], options?: QueryOptions): Promise<Past>;
  /** Open review items of the record with this id, oldest first. */
  openItems(entity: string, options?: QueryOptions): Promise<OpenItem[]>;
  /** Review items with their facts. */
  review(plan: ReviewPlan, options?: QueryOptions): Promise<ReviewItem[]>;
  changelog(plan: ChangelogPlan, options?: QueryOptions): Promise<ChangelogAnswer>;
  changes(plan: ChangesPlan, options?: QueryOptions): Promise<RecordedChange[]>;
  /**
   * The same release with an overlay applied. Ordinals stay the same; removed records have none. The engine
   * is built when the first query needs it. Close it after its last query and before the engine it came from.
   */
  withOverlay(overlay: AppliedOverlay): Engine;
  close(): Promise<void>;
}
