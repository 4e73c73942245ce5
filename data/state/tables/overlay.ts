// Tables of the overlay: opt-outs, owners' values, decisions, and their lines of the change feed.
import { defineTable, integer, type RowOf, text } from './columns.ts';

export const overlayTables = {
  /**
   * One row per dataset. Each change increments `version`; `recorded_at` is the last reserved microsecond
   * (since 1970) of the change feed, by the overlay or a release.
   */
  overlays: defineTable({
    dataset: text().primaryKey(),
    version: integer(),
    recorded_at: integer(),
    /** Microseconds at which the ranges of the newest releases begin, oldest first, separated by spaces. */
    reserved: text(),
  }),
  /** An opted-out record; `restored_version` is set when it was restored. Times are milliseconds since 1970. */
  opt_outs: defineTable(
    {
      id: text().primaryKey(),
      dataset: text(),
      entity_id: text(),
      slug: text(),
      name: text(),
      contact: text(),
      /** Domain of the contact; null for an operator's decision without contact. */
      domain: text().optional(),
      reason: text().optional(),
      at: integer(),
      version: integer(),
      restored_at: integer().optional(),
      restored_version: integer().optional(),
    },
    {
      indexes: {
        opt_outs_by_record: { on: ['dataset', 'entity_id'] },
      },
    },
  ),
  /** A value that a verified owner set; append-only. */
  owner_facts: defineTable(
    {
      dataset: text(),
      entity_id: text(),
      attribute: text(),
      /** JSON text; null: the owner withdrew an earlier value. */
      value: text().optional(),
      source_url: text(),
      evidence: text(),
      /** The claim of the edit. */
      claim_id: text(),
      at: integer(),
      version: integer(),
    },
    {
      primaryKey: ['dataset', 'version', 'attribute'],
    },
  ),
  /** An operator's decision about a review item of a release. */
  decisions: defineTable(
    {
      id: text().primaryKey(),
      dataset: text(),
      entity_id: text(),
      attribute: text(),
      status: text<'approved' | 'rejected'>(),
      at: integer(),
      decided_by: text(),
      version: integer(),
      /** JSON text of the item at the time of the decision. */
      item: text(),
    },
    {
      indexes: {
        decisions_by_dataset: { on: ['dataset', 'version'] },
      },
    },
  ),
  /** A line of the change feed caused by the overlay; columns as in data/plan/history.ts. */
  feed: defineTable(
    {
      dataset: text(),
      recorded_at: integer(),
      version: integer(),
      entity_id: text(),
      slug: text().optional(),
      name: text().optional(),
      attribute: text().optional(),
      type: text(),
      old_value: text().optional(),
      new_value: text().optional(),
      observed_at: integer(),
      source_url: text().optional(),
    },
    {
      primaryKey: ['dataset', 'recorded_at'],
    },
  ),
};

export type DecisionTable = RowOf<(typeof overlayTables)['decisions']>;
