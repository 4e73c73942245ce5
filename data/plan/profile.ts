// The distribution of values, for the profile of a dataset.

export interface SpreadAnswer {
  /** Records that have a value. */
  count: number;
  /** Distinct values as published, which facets count; for a list, distinct entries. */
  distinct: number;
  /** Number of values in each bin. */
  bins: number[];
  /** Dates by year, points by the south-west corner of their cell; ascending. */
  groups: { key: number[]; count: number }[];
}

/** Number of published values of an attribute from one source. */
export interface Origin {
  attribute: string;
  source: string;
  values: number;
}
