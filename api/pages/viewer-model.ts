// Data of the viewer about a dataset, embedded in its page.
import type { FilterOperator, FilterType } from '../../data/input/filters.ts';
import type { Attribute, AttributeType, Pack, Value } from '../../packs/define/model.ts';

/** The distribution of a column in the model of the page. */
export interface ColumnStats {
  /** Records with a value. */
  count: number;
  distinct: number | null;
  /** Bins of numbers and years of dates: from, to, count. */
  bins?: [from: number, to: number, count: number][];
  /** Most common values with their counts. */
  top?: [value: string, count: number][];
}

export interface ModelAttribute {
  name: string;
  /** The label of the pack (`attributeLabel`); absent: one from the name. */
  label?: string | undefined;
  type: AttributeType;
  unit: string | null;
  description: string;
  public: boolean;
  filterable: boolean;
  /** `q` searches its words. */
  searchable: boolean;
  /** Its values are codes with names (`nameOfCode`); absent: they are not. */
  vocabulary?: Attribute['vocabulary'];
}

/** Values of attributes with the number of records of each, most first. */
export type ValueCounts = Readonly<Record<string, readonly (readonly [value: string, count: number])[]>>;

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
  /** Complete files of the dataset, by name below `/files/{ds}/`. */
  files: { name: string; title: string }[];
  /** Paths of the outlines of the map (MapOutlines), of the world and of a zoomed map; null without geography. */
  land: { world: string; zoomed: string } | null;
  records: number;
  attributes: ModelAttribute[];
  filters: ModelFilter[];
  /** Columns shown by default. */
  columns: string[];
  /** Distributions of the public attributes. */
  stats: Record<string, ColumnStats>;
  /** Of attributes with few values: over all records. */
  choices: ValueCounts;
  /** Sort of a view without `sort`. */
  sort: string;
  /** The public attribute with the coordinates of records; null: none. */
  geo: string | null;
  /** EUR of a search with a key. */
  price: number;
}

/** The sort of a view without `sort`. */
export const orderOf = ({ serving: { prominence } }: Pick<Pack, 'serving'>): string =>
  prominence === null ? '-quality' : `-${prominence}`;

/** Outlines in units of a map, from longitude -180 and latitude 90. */
export interface MapOutlines {
  /** Units of a degree. */
  units: number;
  /** Paths. */
  land: string;
  borders: string;
  /** Names of countries with longitude and latitude, the largest first; only of a zoomed map. */
  names?: [name: string, lng: number, lat: number][];
}

/** Languages of the call that the viewer shows. */
export const LANGUAGES = ['curl', 'TypeScript', 'Python', 'MCP'] as const;

/** Rows on a page of the table, and in a page of the API. */
export const PAGE_ROWS = 50;

/** Most rows of a downloaded view. */
export const MOST_ROWS = 10_000;

/** A row as the table shows it. */
export interface TableRow {
  slug: string;
  name: string;
  /** By attribute; null and absent: no value, or, where it is not public, none that was paid for. */
  attributes: Readonly<Record<string, Value | null>>;
  provenance: Readonly<Record<string, ValueSource | null>>;
}

/** Where a value is from. */
export interface ValueSource {
  source_url: string;
  /** ISO 8601. */
  observed_at: string;
  confidence: number;
}

/** The rows of an address in the HTML of the service, without the rows themselves. */
export interface ServedRows {
  /** The state that they are of (`rowsKey`). */
  key: string;
  /** Rows that match, and all rows. */
  matched: number;
  records: number;
  /** What is wrong with the address; empty: nothing. */
  problem: string;
  /** Over the rows that meet the other conditions; absent: as in the model. */
  choices?: ValueCounts;
  /** Distributions over the rows that match; absent: as in the model. */
  stats?: Model['stats'];
}
