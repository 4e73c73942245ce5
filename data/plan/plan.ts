// A question as data: what is asked, apart from any engine that answers it.
import type { Value } from '../../packs/define/model.ts';
import type { ProvenanceStatus, ReviewItem } from '../model/record.ts';
import type { Applied } from './applied-overlay.ts';
import type {
  ChangelogAnswer,
  ChangelogPlan,
  ChangesPlan,
  Doubt,
  FactRow,
  FactsPlan,
  Past,
  RecordedChange,
  ReviewPlan,
} from './history.ts';
import type { Origin, SpreadAnswer, SpreadPlan } from './profile.ts';

/** Path parameters and query values, as text. A name repeated in the query arrives as the list of its values. */
export type RawInput = Record<string, string | string[]>;

/** One condition; a `where` is a conjunction. Strings are folded (text.ts) before they get here. */
export type Predicate =
  | { kind: 'any'; attribute: string; values: (string | number | boolean)[] }
  | { kind: 'none'; attribute: string; values: (string | number | boolean)[] }
  | { kind: 'like'; attribute: string; needle: string }
  | { kind: 'min'; attribute: string; value: number | string }
  | { kind: 'max'; attribute: string; value: number | string }
  | { kind: 'has'; attribute: string; present: boolean }
  | { kind: 'words'; words: string[]; scope: Visibility }
  | { kind: 'status'; statuses: ProvenanceStatus[]; scope: Visibility }
  | { kind: 'near'; attribute: string; lat: number; lng: number; km: number }
  | { kind: 'ids'; refs: string[] }
  | { kind: 'updated_since'; at: number }
  | { kind: 'min_quality'; value: number };

/** `public`: only what anyone may see, also when matching words. `full`: everything. */
export type Visibility = 'public' | 'full';

/** `quality`, `updated` or a scalar attribute. Records without the key come last either way; ties go by id ascending. */
export interface Sort {
  key: string;
  descending: boolean;
}

/** Where a page ended: the last record's sort value (null: it had none) and id. */
export interface Position {
  value: number | string | boolean | null;
  id: string;
}

export interface SearchPlan {
  where: Predicate[];
  sort: Sort;
  after: Position | null;
  limit: number;
  total: boolean;
}

export interface FacetPlan {
  where: Predicate[];
  by: string;
  limit: number;
  /** Withhold values with fewer records than this, and say how many (contract section 3, "No free way around the price"). */
  floor: number;
}

/** What an engine answers to a facet plan. `values` best first, ties by value; `missing` counts matched records without `by`. */
export interface FacetAnswer {
  values: { value: Value; count: number }[];
  matched: number;
  missing: number;
  withheld: number;
}

/** Records most like one record by the words of their searchable attributes. */
export interface SimilarPlan {
  /** Ordinal of the record that the others are compared with; it is never found itself. */
  subject: number;
  where: Predicate[];
  /** Only records with another value of this attribute; those without one are left out. null: any record. */
  differBy: string | null;
  /** `public`: all words of public texts are compared, and no others; absent or `full`: those of the pack's `similar_by`. */
  scope?: Visibility;
  /** Records with a lower score are left out; absent: any that shares a word is similar. */
  minScore?: number;
  limit: number;
}

/** Best first, ties by id ascending; only records that share a word. */
export type SimilarAnswer = { ordinal: number; score: number }[];

/** Statistics of a numeric attribute over the matching records that have it; of a price range the minimum counts. */
export interface StatsPlan {
  where: Predicate[];
  attribute: string;
  /** Attributes to group by: none, one, or one inside the other. Records without one are in no group of it. */
  by: string[];
  /** Most groups of both levels together. */
  groups: number;
}

/** What is known of some numbers; `count` is at least 1. Quantiles interpolate linearly between the two nearest numbers. */
export interface Figures {
  count: number;
  min: number;
  q1: number;
  median: number;
  q3: number;
  max: number;
  mean: number;
}

/** A group by its keys, outermost first; one without keys when nothing was grouped by. */
export interface StatsGroup {
  keys: Value[];
  figures: Figures;
}

/** Groups by level, then by count descending, then by keys; none of them when there are more than the plan allows. */
export interface StatsAnswer {
  groups: StatsGroup[];
  /** How many there are. */
  total: number;
}

/** A numeric attribute as of the end of several days, over the records that match now. */
export interface SeriesPlan {
  where: Predicate[];
  attribute: string;
  /** Attribute to group by, or null. Records without it are in no group. */
  by: string | null;
  /** Day of the first point, counted from 1970-01-01, days from one point to the next, and the number of points. */
  first: number;
  step: number;
  points: number;
  /** Most records that may match, and most groups. Beyond, the answer holds no spans. */
  records: number;
  groups: number;
}

/** Figures of a group at the points (0-based) from `from` up to, not with, `until`. */
export interface SeriesSpan {
  key: Value | null;
  from: number;
  until: number;
  figures: Omit<Figures, 'q1' | 'q3'>;
}

/** Spans by key, then by point. At the points of no span no record of the group had a value. */
export interface SeriesAnswer {
  /** Records that match, with a value or not. */
  matched: number;
  groups: number;
  spans: SeriesSpan[];
}

/** Ordinals (rank by quality descending, then id) of a page, in order, with the position after the last. */
export interface SearchAnswer {
  ordinals: number[];
  next: Position | null;
  total: number | null;
}

/** How a question is asked of an engine, apart from what is asked. */
export interface Asking {
  /** Gives the question up: it leaves the queue, or the running statement is interrupted. */
  signal?: AbortSignal;
}

/** Attributes of a record with the times (ms since 1970) they were last confirmed. */
export interface Ages {
  names: string[];
  times: number[];
}

/** The stored JSON of a record in three pieces, there until another is asked for: up to `"updated_at"`, up to `"quality_score"`, the rest with its brace. */
export interface Pieces {
  head: Buffer;
  middle: Buffer;
  tail: Buffer;
  /** Text made of the record's ages by `write`, kept for all records of the same ages until the minute ends. */
  ages(write: (ages: Ages) => string): Buffer;
}

/** A record's JSON as it is sent to who sees everything, and what its headers say. Nobody writes into it. */
export interface RecordText {
  json: Buffer<ArrayBuffer>;
  version: string;
  /** ISO 8601. */
  updated_at: string;
}

/** Makes of a stored text what is sent at a moment. One object makes the same text of the same record at every moment of a minute. */
export interface Dress {
  put(pieces: Pieces, now: Date): Pick<RecordText, 'json' | 'updated_at'>;
}

/**
 * What an engine can do. The DuckDB engine answers everything; the packed index answers what it wins at.
 * Ordinals are those of one release: they never leave the process.
 */
export interface Engine {
  search(plan: SearchPlan, asking?: Asking): Promise<SearchAnswer>;
  facets(plan: FacetPlan, asking?: Asking): Promise<FacetAnswer>;
  similar(plan: SimilarPlan, asking?: Asking): Promise<SimilarAnswer>;
  stats(plan: StatsPlan, asking?: Asking): Promise<StatsAnswer>;
  timeseries(plan: SeriesPlan, asking?: Asking): Promise<SeriesAnswer>;
  spread(plan: SpreadPlan, asking?: Asking): Promise<SpreadAnswer>;
  /** By attribute, then by count descending. */
  origins(asking?: Asking): Promise<Origin[]>;
  /** Ordinals of ids or slugs, in the order asked; null where unknown. */
  resolve(refs: string[], asking?: Asking): Promise<(number | null)[]>;
  /** Stored bodies (JSON text of a StoredRecord) with their version, in the order asked. */
  bodies(ordinals: number[], asking?: Asking): Promise<{ body: string; version: string }[]>;
  /**
   * A record as it is sent now, made by `dress` of its stored text, or kept from when it was last asked for in this minute.
   * Null where there is no text that can be trusted: ask for bodies then.
   */
  text?(ordinal: number, now: Date, dress: Dress): RecordText | null;
  facts(plan: FactsPlan, asking?: Asking): Promise<FactRow[]>;
  /** What was ever said of some records, and every reading, to settle the records as of another moment. */
  past(ordinals: number[], asking?: Asking): Promise<Past>;
  /** Open questions about the record of this id, oldest first. */
  doubts(entity: string, asking?: Asking): Promise<Doubt[]>;
  /** Open questions with their facts. */
  review(plan: ReviewPlan, asking?: Asking): Promise<ReviewItem[]>;
  changelog(plan: ChangelogPlan, asking?: Asking): Promise<ChangelogAnswer>;
  changes(plan: ChangesPlan, asking?: Asking): Promise<RecordedChange[]>;
  /**
   * The same release under an overlay, which answers as a release would that holds it. Ordinals stay; records that are gone have none.
   * Nothing is made until a question needs it. Close it when nobody asks it any more, before the engine it came from.
   */
  under(overlay: Applied): Engine;
  close(): Promise<void>;
}
