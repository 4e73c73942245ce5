// Data of the explorer about a dataset, embedded in its page; all of it is from the schema.

export interface ModelAttribute {
  name: string;
  type: string;
  unit: string | null;
  description: string;
  public: boolean;
}

interface Filter {
  /** Name of the query parameter. */
  name: string;
  attribute: string;
  operator: 'any' | 'not' | 'like' | 'min' | 'max' | 'has';
  type: string;
}

export interface Model {
  dataset: string;
  /** `{base}/v1/{ds}`. */
  api: string;
  /** Path of the dataset's record pages, with a trailing slash. */
  pages: string;
  attributes: ModelAttribute[];
  filters: Filter[];
  /** Attributes for the columns, the most distinguishing first. */
  columns: string[];
  group_by: string;
  /** Public number by which records are sorted, highest first; null: none. */
  prominence: string | null;
  /** The attribute with the coordinates of records; null: no public one. */
  geo: string | null;
  /** Whether `q` works without a key. */
  words: boolean;
  /** EUR of a search with a key. */
  price: number;
}

/** Free records a day for each address without a key (contract section 3). */
export const FREE_A_DAY = 20;

/** Records in a page: few without a key, because each counts against the quota. */
export const PAGE = { free: 5, keyed: 20 };

/** Values of an attribute that are listed with counts. */
export const LISTED_VALUES = 12;
