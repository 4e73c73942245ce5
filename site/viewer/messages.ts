// Messages between the page and the worker that holds the data.
import type { ValueSource } from '../../api/pages/viewer-model.ts';
import type { Value } from '../../packs/define/model.ts';

/** A row of the table: values in the order of the columns. */
export interface Row {
  slug: string;
  name: string;
  values: (Value | null)[];
}

/** Rows of a selection in an order: `where` and `sort` as in the URL. */
export interface Selected {
  where: string;
  sort: string;
}

/** A page of rows; paid columns have no values. */
export interface RowsRequest extends Selected {
  from: number;
  count: number;
  columns: string[];
}

export type FileFormat = 'csv' | 'json' | 'geojson';

/** Points that are drawn as one, at their mean. */
export interface Cluster {
  lat: number;
  lng: number;
  count: number;
  /** The record, when it is a single one. */
  slug?: string;
  name?: string;
}

/** Degrees. */
export type MapBox = [west: number, south: number, east: number, north: number];

/** Requests to the worker with their answers, by kind. */
export interface Calls {
  rows: {
    request: RowsRequest;
    /** `took`: milliseconds of filter and sort; `records`: number of all rows. */
    answer: { rows: Row[]; matched: number; records: number; took: number };
  };
  sources: { request: RowsRequest; answer: (ValueSource | null)[][] };
  export: { request: Selected & { columns: string[]; format: FileFormat }; answer: Blob };
  clusters: {
    request: { where: string; box: MapBox; cells: number };
    answer: { clusters: Cluster[]; total: number };
  };
  /** The smallest box with all points of a selection; null without points. */
  bounds: { request: { where: string }; answer: MapBox | null };
}

export type Kind = keyof Calls;

export interface Message<K extends Kind = Kind> {
  id: number;
  kind: K;
  request: Calls[K]['request'];
}

/** Why a request failed: the file changed meanwhile, could not be loaded, or the address is wrong. */
export type ErrorCause = 'changed' | 'load' | 'address';

export type Answer =
  | { id: number; answer: Calls[Kind]['answer'] }
  | { id: number; error: string; cause: ErrorCause }
  /** Bytes received so far, and all that were requested. */
  | { received: number; expected: number }
  /** Sent once: whether the file lacks edits or removals, so that rows in the HTML may be old. */
  | { edited: boolean };
