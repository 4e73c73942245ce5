// An overlay as an engine takes it: which records are gone, and what others say now, with their whole past.

import type { Unpublished } from '../consolidate/engine-values.ts';
import type { HistoryCells } from '../consolidate/told.ts';
import type { ReviewItem, StoredRecord } from '../model/record.ts';
import type { DecidedItem, FactRow } from './history.ts';

/** A validity interval of a value, as history.parquet has it. */
export interface HistoryRow {
  attribute: string;
  cells: HistoryCells;
}

/** A record that says something else than the release has it say. */
export interface ChangedRecord {
  record: StoredRecord;
  /** Entries of its lists that are searched and not published. */
  unpublished: Unpublished;
  /** As in bodies.parquet: 16 hex digits of the SHA-256 of the record's JSON text. */
  version: string;
  /** In the order in which they are settled: by attribute, oldest first. */
  facts: readonly FactRow[];
  /** By attribute, oldest first. */
  history: readonly HistoryRow[];
  /** Open questions about it. */
  review: readonly ReviewItem[];
}

/** What an overlay makes of one release. Records that the release does not hold have no effect. */
export interface Applied {
  /** Version of the overlay. */
  version: number;
  /** Ids of records that are gone. */
  removed: ReadonlySet<string>;
  changed: readonly ChangedRecord[];
  /** By record, whether the release holds them or not: as_of settles by them. */
  decided: ReadonlyMap<string, readonly DecidedItem[]>;
}
