// Data of a record page besides the values of the record.
import type { Value } from '../../packs/define/model.ts';

/** A published value and the time from which it was valid, ISO 8601. `value` null: it was withdrawn. */
export interface Step {
  at: string;
  value: Value | null;
  source_url?: string | undefined;
}

/** Another record, with public values only. */
export interface OtherRecord {
  id: string;
  slug: string;
  name: string;
  /** What distinguishes it from records of the same name. */
  detail: string;
  /** The record of the page itself. */
  own: boolean;
  /** Its value of `similar_differ_by`. */
  group: Value | null;
  /** Its value of the first public price attribute, and when that was last confirmed. */
  price: Value | null;
  checked: string | null;
}

/** Data of a record page other than the record's own values. */
export interface RelatedData {
  similar: readonly OtherRecord[];
  /** The same thing from other sources and the record itself, lowest price first; empty: none. */
  same: readonly OtherRecord[];
  /** Every published value of its public attributes, oldest first. */
  history: Readonly<Record<string, readonly Step[]>>;
  /** Title of the source of each attribute; an owner's value has none. */
  sources: Readonly<Record<string, string>>;
}
