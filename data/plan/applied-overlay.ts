// The overlay as an engine applies it: removed records, and changed records with their facts and history.

import type { Unpublished } from '../consolidate/engine-values.ts';
import type { HistoryCells } from '../consolidate/history-rows.ts';
import type { ReviewItem, StoredRecord } from '../model/record.ts';
import type { DecidedItem, FactRow } from './history.ts';

/** A validity interval of a value, as in history.parquet. */
export interface HistoryRow {
  attribute: string;
  cells: HistoryCells;
}

/** A record that the overlay changes, compared with the release. */
export interface ChangedRecord {
  record: StoredRecord;
  /** Entries of its lists that are searchable and not published. */
  unpublished: Unpublished;
  /** As in bodies.parquet: 16 hex digits of SHA-256 over the JSON text of the record. */
  version: string;
  /** In settlement order: by attribute, oldest first. */
  facts: readonly FactRow[];
  /** By attribute, oldest first. */
  history: readonly HistoryRow[];
  /** Its open review items. */
  review: readonly ReviewItem[];
}

/** The effect of an overlay on one release. Records that the release does not contain are skipped. */
export interface AppliedOverlay {
  /** Version of the overlay. */
  version: number;
  /** Ids of removed records. */
  removed: ReadonlySet<string>;
  changed: readonly ChangedRecord[];
  /**
   * Decisions by record id, also for records that the release does not contain; `as_of` settles with them.
   */
  decided: ReadonlyMap<string, readonly DecidedItem[]>;
}
