// The proposal of a pack: what its files are written from.
import type { TypeProposal } from './types.ts';

/** An attribute and the column, or the two of a point, that it is read from. */
export interface AttributeProposal extends TypeProposal {
  name: string;
  columns: string[];
  /** Position of its column in the rows; null for a point and for a generated attribute. */
  index: number | null;
  /** Texts of the column that mean "no value". */
  missing: ReadonlySet<string>;
  /** Rows of the sample with a value. */
  filled: number;
  /** Different values in the sample. */
  distinct: number;
  /** Characters of the longest value. */
  longest: number;
  description: string;
}

/** Attributes that identify a record, and what was counted. */
export interface IdentityChoice {
  attributes: string[];
  /** Whether records differ only in letter case, accents or spaces. */
  exact: boolean;
  /** Rows whose identity an earlier row has with other values; the first row counts. */
  repeated: number;
  /** Different identities. */
  records: number;
  /** Rows without a complete identity; they are left out. */
  incomplete: number;
  reason: string;
}

/** Attributes by their role. */
export interface Choices {
  name: string | null;
  group: string | null;
  prominence: string | null;
  compare: string[];
  public: string[];
  searchable: string[];
}

/** Everything that the rows reveal. */
export interface Proposal {
  attributes: AttributeProposal[];
  /** Columns that nothing reads, and why. */
  unread: { column: string; reason: string }[];
  identity: IdentityChoice;
  choices: Choices & { group: string };
  /** Attribute whose first letter groups the records, because no attribute does. */
  initialOf: string | null;
  /** Generated attribute that marks records that the source no longer lists; null: some rows were not read. */
  listed: string | null;
  /** Decimal sign of the columns that do not set their own. */
  decimal: '.' | ',' | null;
  /** Time zone of times without an offset, where a column states it. */
  timezone: string | null;
  /** Attribute with the time of the last change of a row; null: there is none. */
  updated: string | null;
  /** Whether that time becomes the time of the row's values: none is more than a year older than the newest one. */
  timed: boolean;
  /** What the publisher must decide or check. */
  notes: string[];
  /** Rows that the proposal is made from. */
  rows: number;
}
