// Questions about how a dataset's values are spread, as data: for its profile.

/** How the values of an attribute are spread over all records. Of a price range the lower end counts. */
export interface SpreadPlan {
  attribute: string;
  /** Edges of bins, ascending: each bin holds its lower edge, the last its upper one too. Fewer than two: no bins. For numbers. */
  edges: readonly number[];
  /** Side of a cell in degrees, for points. */
  cell: number;
}

export interface SpreadAnswer {
  /** Records that have a value. */
  count: number;
  /** Different values; of a list its entries. */
  distinct: number;
  /** Values in each bin. */
  bins: number[];
  /** Of dates by year, of points by the south-west corner of the cell; ascending. */
  groups: { key: number[]; count: number }[];
}

/** How many published values of an attribute come from a source. */
export interface Origin {
  attribute: string;
  source: string;
  values: number;
}
