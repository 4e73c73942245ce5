// Input of the bulk formats: records, and the attributes that have columns.
import type { PublicRecord } from '../../data/model/record.ts';
import type { QueryOptions } from '../../data/plan/plan.ts';
import type { Attribute, Pack } from '../../packs/define/model.ts';
import type { Context, Operation, Result } from '../contract/operation.ts';

/** Rows written between two turns of the event loop: some 2 ms. */
export const ROWS_A_SLICE = 50;

/** A page of records for a tabular format. */
export interface Rows {
  pack: Pack;
  /** Attributes that have columns, in the pack's order, whether or not a record fills them. */
  attributes: readonly Attribute[];
  items: readonly PublicRecord[];
  /** Whether records have `distance_km`. */
  distances?: boolean;
  /** The attribute that records are grouped by, with the type of a group; absent: none. */
  group?: Attribute | undefined;
  /** Release that the records come from. */
  release: string;
  /** Aborts the work when the client disconnects. */
  options: QueryOptions;
}

/** Types of groups, where they are not those of the values: an entry of a list, the day of a time. */
const GROUP_TYPES: Partial<Record<Attribute['type'], Attribute['type']>> = { strings: 'string', datetime: 'date' };

/** The rows of a result. Throws for an operation whose answer is not a list of records. */
export function rowsOf(
  operation: Operation,
  { body, fields, distances = false, group_by, release }: Result<unknown>,
  ctx: Context,
): Rows {
  const { items } = body as { items?: unknown };
  if (!Array.isArray(items) || ctx.release === undefined) throw new Error(`${operation.name} answers no rows`);
  const { pack, manifest } = ctx.release;
  const group = pack.attributes.find(({ name }) => name === group_by);
  const attributes = pack.attributes.filter(({ name }) => fields == null || fields.includes(name));
  return {
    pack,
    attributes,
    items: items as PublicRecord[],
    distances,
    group: group && { ...group, type: GROUP_TYPES[group.type] ?? group.type },
    release: release ?? manifest.release,
    options: ctx,
  };
}
