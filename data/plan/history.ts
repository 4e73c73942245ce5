// Plans and rows for the history of records: facts, past states, open review items, changelog and change
// feed.
import type { Value } from '../../packs/define/model.ts';
import type { Decision } from '../consolidate/settle.ts';
import type { Listing } from '../consolidate/times.ts';
import type { FactReason, ReviewItem, SourceKind } from '../model/record.ts';

/**
 * A fact as stored in a release. `value` is JSON text, null: withdrawn. Times are milliseconds since 1970.
 */
export interface FactRow {
  entity: string;
  attribute: string;
  value: string | null;
  source: string;
  source_url: string;
  source_kind: SourceKind;
  observed_at: number;
  /** Newest reading of its source with this value. */
  confirmed_at: number;
  confidence: number;
  evidence: string;
  run: string;
  won: boolean;
  reason: FactReason;
  /** For an outlier (first value of a record): the median of its group at that time. */
  group_median: number | null;
}

/** Facts of one record, newest first. `since` is the earliest observation time in milliseconds. */
export interface FactsPlan {
  /** Id of the record. */
  entity: string;
  attribute: string | null;
  since: number | null;
  limit: number;
}

/** A decision about one attribute of one record, with the id of the review item. */
export interface DecidedItem extends Decision {
  id: string;
  attribute: string;
}

/**
 * All facts, listings and decisions of a record. `facts` are in settlement order: by attribute, oldest first.
 */
export interface PastRecord {
  ordinal: number;
  id: string;
  slug: string;
  /** JSON text. */
  identity: string;
  facts: FactRow[];
  /** Oldest first. */
  listings: Listing[];
  /** Decisions of operators. */
  decided: readonly DecidedItem[];
}

/** The past of some records, with the readings of all sources, oldest first. */
export interface Past {
  records: PastRecord[];
  readings: { source: string; at: number; version: string }[];
}

/** An open review item of a record, without its facts. */
export interface OpenItem {
  kind: ReviewItem['kind'];
  attribute: string;
  /** Milliseconds since 1970. */
  opened_at: number;
}

/** Review items of a dataset: those of one record, the one with this id, or all; oldest first. */
export interface ReviewPlan {
  entity: string | null;
  id: string | null;
  /** True: items that a later reading or another source confirmed. Absent: open items. */
  confirmed?: boolean;
  limit: number;
}

/** A change of one published value. A row for a removed record has no attribute, values or source. */
export interface ChangeRow {
  entity_id: string;
  slug: string | null;
  name: string | null;
  attribute: string | null;
  type: 'added' | 'changed' | 'removed';
  /** JSON text; null: there was no value. */
  old_value: string | null;
  /** JSON text; null: the value was removed. */
  new_value: string | null;
  /** Milliseconds since 1970. */
  observed_at: number;
  source_url: string | null;
}

export interface ChangelogAnswer {
  rows: ChangeRow[];
  /** How many changes match. */
  total: number;
  /** The days with matching changes, newest first; null unless the plan requests them. */
  days: ChangeDay[] | null;
  /** With `by`: at most one more than CHANGE_GROUPS, by number of changes descending, then by group. */
  groups: ChangeGroup[] | null;
}

/** Most groups of a changelog. */
export const CHANGE_GROUPS = 1_000;

/** How many changes are numbers that rose, fell, or whose ends moved in opposite directions, and values withdrawn. */
export interface KindCounts {
  rises: number;
  falls: number;
  ranges: number;
  withdrawn: number;
}

/** Changes of the records of a group. */
export interface ChangeGroup extends KindCounts {
  group: Value;
  items: number;
  /** Median of the changes in percent, with two decimals; absent: no item has one. */
  median_change_percent?: number;
}

/** Changes of one day (UTC, `YYYY-MM-DD`). */
export interface ChangeDay extends KindCounts {
  date: string;
  changes: number;
}

/** Sums of the counts of days. */
export function sumOfDays(days: readonly Omit<ChangeDay, 'date'>[]): Omit<ChangeDay, 'date'> {
  const sums = { changes: 0, rises: 0, falls: 0, ranges: 0, withdrawn: 0 };
  for (const day of days) for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += day[name];
  return sums;
}

/** The change feed after `since` (exclusive, microseconds since 1970), oldest first. */
export interface ChangesPlan {
  since: number;
  limit: number;
}

/** A change with the microsecond at which it became visible. */
export interface RecordedChange extends ChangeRow {
  recorded_at: number;
}
