// Plans for the distribution of values, for the profile of a dataset.

/** Distribution of the values of an attribute over all records. A price range counts with its lower end. */
export interface SpreadPlan {
  attribute: string;
  /**
   * Edges of bins for numbers, ascending: a bin includes its lower edge, the last one also its upper edge.
   * Fewer than two edges: no bins.
   */
  edges: readonly number[];
  /** Side of a grid cell in degrees, for points. */
  cell: number;
}

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
