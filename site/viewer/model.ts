// Data of the viewer about a dataset, embedded in its page.
import type { FilterOperator, FilterType } from '../../data/input/filters.ts';
import type { AttributeType } from '../../packs/define/model.ts';
import type { ColumnStats } from './cells.ts';

export interface ModelAttribute {
  name: string;
  type: AttributeType;
  unit: string | null;
  description: string;
  public: boolean;
  filterable: boolean;
  /** `q` searches its words. */
  searchable: boolean;
}

export interface ModelFilter {
  /** Name of the query parameter. */
  name: string;
  attribute: string;
  operator: FilterOperator;
  type: FilterType;
}

export interface Model {
  dataset: string;
  /** `{base}/v1/{ds}`. */
  api: string;
  /** Path of the dataset's record pages, with a trailing slash. */
  pages: string;
  /** Path of comparisons, and the most records of one. */
  compare: { path: string; most: number };
  /** Path of `public.parquet`. */
  file: string;
  /** Bytes at the end of that file with its metadata. */
  footer: number;
  /** Path of the outlines of the map; null without geography. */
  land: string | null;
  records: number;
  attributes: ModelAttribute[];
  filters: ModelFilter[];
  /** Columns shown by default. */
  columns: string[];
  /** Distributions of the public attributes. */
  stats: Record<string, ColumnStats>;
  /** Sort of a view without `sort`. */
  sort: string;
  /** The public attribute with the coordinates of records; null: none. */
  geo: string | null;
  /** EUR of a search with a key. */
  price: number;
  attribution: string;
}

/** Rows on a page of the table, and in a page of the API. */
export const PAGE_ROWS = 50;
