// Types of the register: record, provenance, fact, review item (contract sections 2 and 5).
import type { Value } from '../../packs/define/model.ts';

export type SourceKind = 'collector' | 'owner';

/**
 * Provenance of a value. `observed_at` is the newest confirmation by the winning source (contract section 5).
 */
export interface Provenance {
  source_url: string;
  /** ISO 8601 UTC. */
  observed_at: string;
  /** 0..1 */
  confidence: number;
  evidence: string;
  source: { kind: SourceKind };
  /**
   * `held`: a newer value waits for confirmation. `contested`: another source has another value. Absent:
   * neither.
   */
  status?: ProvenanceStatus;
}

/** Values of `provenance.<attribute>.status` and of the filter `provenance_status`. */
export const PROVENANCE_STATUSES = ['held', 'contested'] as const;
export type ProvenanceStatus = (typeof PROVENANCE_STATUSES)[number];

/** A record as stored in a release: without parts that depend on host name, caller or clock. */
export interface StoredRecord {
  /** `r-` and 16 hex digits of SHA-256 of dataset and identity key. */
  id: string;
  slug: string;
  name: string;
  dataset: string;
  updated_at: string;
  attributes: Record<string, Value>;
  provenance: Record<string, Provenance>;
  quality_score: number;
  completeness: number;
  verified_owner: boolean;
}

/** A record as the API returns it (contract section 2). */
export interface PublicRecord extends StoredRecord {
  url: string;
  /** Hours since `observed_at`, one decimal, by attribute. */
  freshness: Record<string, number>;
  license: string;
  attribution: string;
  preview?: true;
  sample?: true;
  score?: number;
  /** Distance from `near`, when a search is sorted by it. */
  distance_km?: number;
  /** The attribute that a search groups by, and the group of the record. */
  group?: Record<string, Value>;
}

/** One observed value of one attribute of one record (contract section 5). Never rewritten. */
export interface Fact {
  entity: string;
  attribute: string;
  /** null: the source withdrew the value. */
  value: Value | null;
  source: string;
  source_url: string;
  observed_at: string;
  confidence: number;
  evidence: string;
  source_kind: SourceKind;
  run: string;
}

/**
 * Why a fact won or lost. Won: `only_source`, `agreed`, `more_trusted`, `newer_reading`, `earliest`, `owner`,
 * `approved`. Lost: `superseded` (a newer value of its own source), `less_trusted`, `older_reading`, `later`,
 * `below_floor`, `held` (a jump or an outlier that waits for confirmation), `not_listed` (its source dropped
 * the record), `owner_overrides`, `rejected`, `withdrawn`.
 */
export type FactReason =
  | 'only_source'
  | 'agreed'
  | 'more_trusted'
  | 'newer_reading'
  | 'earliest'
  | 'owner'
  | 'approved'
  | 'superseded'
  | 'less_trusted'
  | 'older_reading'
  | 'later'
  | 'below_floor'
  | 'held'
  | 'not_listed'
  | 'owner_overrides'
  | 'rejected'
  | 'withdrawn';

/** A disagreement, jump or outlier for an operator to decide (contract section 5). */
export interface ReviewItem {
  /** UUID derived from dataset, entity, attribute and facts, so that a rebuild opens the same item. */
  id: string;
  kind: DisputeKind;
  dataset: string;
  entity_id: string;
  attribute: string;
  /** The published fact, then the other one; only the held fact for an outlier. */
  facts: Fact[];
  opened_at: string;
  /** When a later reading or another source confirmed the held value and closed the item. Absent: open. */
  confirmed_at?: string;
  /** For an outlier: the median of its group. */
  group_median?: number;
}

/**
 * `conflict`: two sources differ. `jump`: a source changed a value by more than the bound. `outlier`: a
 * record's first value is further than the bound from the median of its group. A jump and an outlier are
 * held.
 */
export type DisputeKind = 'conflict' | 'jump' | 'outlier';

/** A period in which a value was published: [from, to), ISO 8601 UTC. `to` null: until now. */
export interface PublishedInterval {
  entity: string;
  attribute: string;
  value: Value | null;
  from: string;
  to: string | null;
  source_url: string;
}
