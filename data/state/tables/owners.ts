// Tables of the owners' channel: claims, requests for operators, and the audit log.
import { defineTable, integer, type RowOf, serial, text } from './columns.ts';

export const ownerTables = {
  /** A claim of a record by the holder of an address at its domain. Times are milliseconds since 1970. */
  claims: defineTable(
    {
      id: text().primaryKey(),
      /** SHA-256 of the token in hex; only the mail contains the token. */
      hash: text().unique(),
      dataset: text(),
      entity_id: text(),
      /** As given, and normalised for comparison. */
      email: text(),
      email_normal: text(),
      domain: text(),
      created_at: integer(),
      /** Expiry of the link until it is opened. */
      expires_at: integer(),
      /** First opening, and the end of the time for edits. */
      verified_at: integer().optional(),
      until: integer().optional(),
      /** When another claim of the same record and address replaced it. */
      replaced_at: integer().optional(),
    },
    {
      indexes: {
        /** At most one unopened link per record and address, with concurrent requests. */
        claims_open: {
          on: ['dataset', 'entity_id', 'email_normal'],
          unique: true,
          where: 'verified_at is null and replaced_at is null',
        },
        claims_by_record: { on: ['dataset', 'entity_id', 'email_normal'] },
      },
    },
  ),
  /**
   * A request for an operator. `notice`: information about an opt-out that is already applied. `report`: a
   * mistake; its message is the reason, and its contact may be empty.
   */
  requests: defineTable(
    {
      id: text().primaryKey(),
      kind: text<'opt_out' | 'claim' | 'notice' | 'report'>(),
      dataset: text(),
      entity_id: text(),
      slug: text(),
      name: text(),
      contact: text(),
      reason: text().optional(),
      /** Why an operator must decide, as text. */
      because: text(),
      status: text<'open' | 'approved' | 'rejected'>(),
      opened_at: integer(),
      decided_at: integer().optional(),
      decided_by: text().optional(),
      /** The attribute of a report; null: the whole record. */
      attribute: text().optional(),
    },
    {
      indexes: {
        /** Any number of open reports about a record. */
        requests_open: {
          on: ['kind', 'dataset', 'entity_id', 'contact'],
          unique: true,
          where: "status = 'open' and kind <> 'report'",
        },
        requests_by_status: { on: ['status', 'opened_at'] },
      },
    },
  ),
  /** Actions with person and time; append-only. */
  audit: defineTable(
    {
      id: serial(),
      at: integer(),
      /**
       * `owner #<hash>`, `contact #<hash>` (audit-people.ts), or `operator <first digits of the hash of the
       * key>`.
       */
      who: text(),
      /** `opt-out`, `restore`, `verify`, `edit`; operators have more actions. */
      action: text(),
      /** Null for an action without a record, such as a grant. */
      dataset: text().optional(),
      entity_id: text().optional(),
      /** Id of the review item, claim, opt-out or key. */
      subject: text().optional(),
      /** Further details, JSON text. */
      told: text(),
      request_id: text().optional(),
    },
    {
      appendOnly: 'the audit log is append-only',
      indexes: {
        audit_by_action: { on: ['action', 'at'] },
        audit_by_record: { on: ['dataset', 'entity_id', 'id'] },
      },
    },
  ),
};

export type ClaimTable = RowOf<(typeof ownerTables)['claims']>;
export type RequestTable = RowOf<(typeof ownerTables)['requests']>;
export type AuditTable = RowOf<(typeof ownerTables)['audit']>;
