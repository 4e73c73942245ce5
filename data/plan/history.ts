// Questions about how records came to say what they say, as data: facts, the past, open doubts, changelog and change feed.
import type { Decision } from '../consolidate/settle.ts';
import type { Listing } from '../consolidate/times.ts';
import type { FactReason, ReviewItem, SourceKind } from '../model/record.ts';

/** A fact as a release keeps it. `value` is JSON text, null: withdrawn. Times are milliseconds since 1970. */
export interface FactRow {
  entity: string;
  attribute: string;
  value: string | null;
  source: string;
  source_url: string;
  source_kind: SourceKind;
  observed_at: number;
  /** Newest reading of its source that still said so. */
  confirmed_at: number;
  confidence: number;
  evidence: string;
  run: string;
  won: boolean;
  reason: FactReason;
  /** Of a record's first value that is far from it: the median of its group at that moment. */
  group_median: number | null;
}

/** Facts of one record, newest first. `since` keeps what was observed then or later (milliseconds). */
export interface FactsPlan {
  /** Id of the record. */
  entity: string;
  attribute: string | null;
  since: number | null;
  limit: number;
}

/** What people decided about one attribute of one record, by the id of the item. */
export interface DecidedItem extends Decision {
  id: string;
  attribute: string;
}

/** What was ever said of a record. `facts` in the order in which they are settled: by attribute, oldest first. */
export interface PastRecord {
  ordinal: number;
  id: string;
  slug: string;
  /** JSON text. */
  identity: string;
  facts: FactRow[];
  /** Oldest first. */
  listings: Listing[];
  /** What people decided about it. */
  decided: readonly DecidedItem[];
}

/** Some records' past, with the readings of all sources, oldest first. */
export interface Past {
  records: PastRecord[];
  readings: { source: string; at: number; version: string }[];
}

/** An open question about a record: what a person should look at, without the facts themselves. */
export interface Doubt {
  kind: ReviewItem['kind'];
  attribute: string;
  /** Milliseconds since 1970. */
  opened_at: number;
}

/** Review items of a dataset: of one record, the one of this id, or all; oldest first. */
export interface ReviewPlan {
  entity: string | null;
  id: string | null;
  /** True: those that a later reading or another source confirmed; absent: those that are open. */
  confirmed?: boolean;
  limit: number;
}

/** Changes observed at `since` (milliseconds) or later, newest first. */
export interface ChangelogPlan {
  since: number;
  attribute: string | null;
  /** Ordinal of the only record to tell of, or null. */
  ordinal: number | null;
  type: 'all' | 'changed' | 'added';
  limit: number;
  offset: number;
}

/** A change of one published value. A record that was removed has neither attribute nor values nor source. */
export interface ChangeRow {
  entity_id: string;
  slug: string | null;
  name: string | null;
  attribute: string | null;
  type: 'added' | 'changed' | 'removed';
  /** JSON text; null: there was no value. */
  old_value: string | null;
  /** JSON text; null: there is no value any more. */
  new_value: string | null;
  /** Milliseconds since 1970. */
  observed_at: number;
  source_url: string | null;
}

export interface ChangelogAnswer {
  rows: ChangeRow[];
  /** How many changes match. */
  total: number;
}

/** The change feed after `since`, exclusive, in microseconds since 1970; oldest first. */
export interface ChangesPlan {
  since: number;
  limit: number;
}

/** A change with the microsecond at which it became visible. */
export interface RecordedChange extends ChangeRow {
  recorded_at: number;
}
