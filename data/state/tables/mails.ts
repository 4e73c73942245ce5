// Table of mails that wait for the mail server, or that it refused. A sent mail has no row.
import { defineTable, integer, type RowOf, text } from './columns.ts';

export const mailTables = {
  /** A mail. Times in milliseconds since 1970. */
  mails: defineTable(
    {
      id: text().primaryKey(),
      recipient: text(),
      subject: text(),
      /** Null once the mail has failed. */
      text: text().optional(),
      html: text().optional(),
      /** Address that ends further mails of this kind; null or absent: there is none. */
      unsubscribe: text().optional(),
      /** Hash of the token in its link; null without a link. */
      link: text().optional(),
      created_at: integer(),
      /** Time of the next attempt, and the number of attempts, which proves a lease. */
      next_at: integer(),
      attempts: integer(),
      /** End of the lease of the process that sends it now, by the clock of the database. */
      leased_until: integer(),
      /** When it was given up; null: it waits. */
      failed_at: integer().optional(),
      /** Status and code of the last error; it names neither server nor recipient. */
      problem: text().optional(),
    },
    {
      indexes: {
        mails_due: { on: ['failed_at', 'next_at'] },
      },
    },
  ),
  /** Messages of the last day to a recipient, or for a network address, a host or a key (data/state/sends.ts). */
  sends: defineTable({
    /** Kind and recipient: `mail ada@example.org`. */
    name: text().primaryKey(),
    /** Times in milliseconds since 1970, as a JSON list. */
    times: text(),
    /** When the recipient followed a mailed link; null: never. */
    confirmed_at: integer().optional(),
  }),
};

export type MailTable = RowOf<(typeof mailTables)['mails']>;
