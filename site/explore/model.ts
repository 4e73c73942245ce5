// What the explorer knows of a dataset, as its page carries it; everything comes from the schema.

export interface Attribute {
  name: string;
  type: string;
  unit: string | null;
  description: string;
  public: boolean;
}

interface Filter {
  /** The query parameter. */
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
  attributes: Attribute[];
  filters: Filter[];
  /** Attributes that tell records apart, the most telling first. */
  columns: string[];
  group_by: string;
  /** Public number that is the greater the better known a record is; null: none is. */
  prominence: string | null;
  /** The attribute that puts records on a map; null: none that is public. */
  geo: string | null;
  /** Whether words can be searched for without a key. */
  words: boolean;
  /** EUR of a search with a key. */
  price: number;
}

/** Records a day that anyone may look at without a key (contract section 3). */
export const FREE_A_DAY = 20;

/** Records asked for at a time: without a key they are few, since each is one of the day. */
export const PAGE = { free: 5, keyed: 20 };

/** Values of an attribute that are listed with their counts. */
export const LISTED = 12;
