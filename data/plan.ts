// A question as data: what is asked, apart from any engine that answers it.
import type { Value } from '../packs/model.ts';

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

/**
 * What an engine can do. The DuckDB engine answers everything; the packed index answers what it wins at.
 * Ordinals are those of one release: they never leave the process.
 */
export interface Engine {
  search(plan: SearchPlan, asking?: Asking): Promise<SearchAnswer>;
  facets(plan: FacetPlan, asking?: Asking): Promise<FacetAnswer>;
  /** Ordinals of ids or slugs, in the order asked; null where unknown. */
  resolve(refs: string[], asking?: Asking): Promise<(number | null)[]>;
  /** Stored bodies (JSON text of a StoredRecord) with their version, in the order asked. */
  bodies(ordinals: number[], asking?: Asking): Promise<{ body: string; version: string }[]>;
  close(): Promise<void>;
}
