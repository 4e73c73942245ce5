// Table of mails that wait for the mail server, or that it refused. A sent mail has no row.
import type { Kysely } from 'kysely';

/** A mail. Times in milliseconds since 1970. */
export interface MailTable {
  id: string;
  recipient: string;
  subject: string;
  /** Null once the mail has failed. */
  text: string | null;
  html: string | null;
  /** Address that ends further mails of this kind; null or absent: there is none. */
  unsubscribe?: string | null | undefined;
  /** Hash of the token in its link; null without a link. */
  link: string | null;
  created_at: number;
  /** Time of the next attempt, and the number of attempts, which proves a lease. */
  next_at: number;
  attempts: number;
  /** End of the lease of the process that sends it now, by the clock of the database. */
  leased_until: number;
  /** When it was given up; null: it waits. */
  failed_at: number | null;
  /** Status and code of the last error; it names neither server nor recipient. */
  problem: string | null;
}

export interface MailTables {
  mails: MailTable;
}

/** Creates the table; `big` is the dialect's 64-bit integer. */
export async function makeMailTables({ schema }: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await schema
    .createTable('mails')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('recipient', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('text', 'text')
    .addColumn('html', 'text')
    .addColumn('link', 'text')
    .addColumn('created_at', big, (c) => c.notNull())
    .addColumn('next_at', big, (c) => c.notNull())
    .addColumn('attempts', big, (c) => c.notNull())
    .addColumn('leased_until', big, (c) => c.notNull())
    .addColumn('failed_at', big)
    .addColumn('problem', 'text')
    .execute();
  await schema.createIndex('mails_due').on('mails').columns(['failed_at', 'next_at']).execute();
}
