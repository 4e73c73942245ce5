// The mail queue: a mail is a row of the store, in the transaction of what it is about, until the mail server accepts
// it. Without a server mails are files of the outbox.
import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Transporter } from 'nodemailer';
import { DataError } from '../model/errors.ts';
import { hashSecret } from './key-format.ts';
import { databaseClock } from './leases.ts';
import { type Mail, outbox, refuseBrokenHeaders, type SendMail, unsubscribeHeaders } from './outbox.ts';
import { type SendCount, takeSend } from './sends.ts';
import type { Store } from './store.ts';
import type { MailTable } from './tables/mails.ts';

/** Time limits of a connection to the mail server, in milliseconds. */
const LIMITS = { dnsTimeout: 10_000, connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 15_000 };
/** Milliseconds for which a mail is tried: servers that refuse unknown senders at first accept them within hours. */
export const MAIL_LIFE = 24 * 3_600_000;
/** Milliseconds before the second attempt, and the most between two; each pause is three times the one before. */
const PAUSE = { first: 60_000, most: 4 * 3_600_000 };
/** Milliseconds that a lease lasts after a process ended; a running attempt renews it. */
const LEASE = 60_000;
/** Milliseconds between two looks for due mails, and from a new mail to its first attempt: its transaction ends then. */
const [LOOK, SOON] = [5_000, 200];
/** Mails sent at the same time by one process. */
const AT_ONCE = 4;
/** Milliseconds that a request waits for the first attempt. */
const PATIENCE = 5_000;

export interface MailOptions {
  store: Store;
  dataDir: string;
  /** `smtp://user:password@host:port`; absent: the outbox. */
  smtpUrl?: string | undefined;
  from: string;
  now(): Date;
  log(line: string): void;
}

/** What a mail comes from. */
export interface MailOrigin {
  /** That of its link, whose lifetime then counts from when the mail is sent; who follows the link confirms the address. */
  token?: string | undefined;
  /** The network address of the request. */
  network?: string | undefined;
  /** The recipient is the operator of the service, by a setting. */
  to_operator?: boolean;
}

/** `queued`: it is tried again. `failed`: the server refuses it. */
export type Delivery = 'sent' | 'queued' | 'failed';

/**
 * The queue of the store. Several processes may have it open: a lease gives each mail to one of them.
 *
 *   const queue = new MailQueue({ store, dataDir, smtpUrl, from, now, log });
 *   await store.db.transaction().execute((tx) => queue.post(tx, mail, now()));
 */
export class MailQueue {
  readonly #options: MailOptions;
  readonly #box: SendMail;
  readonly #send: (id: string, mail: Mail, date: Date) => Promise<void>;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #sending = new Set<Promise<unknown>>();
  #flushing: Promise<void> | null = null;
  #server: Promise<Transporter> | null = null;
  #closed = false;
  /** Whether the last look failed, which is logged once. */
  #unreadable = false;

  constructor(options: MailOptions) {
    const { smtpUrl, dataDir, from } = options;
    this.#box = outbox(dataDir, from);
    this.#options = options;
    // Mails that were queued before SMTP_URL was removed go into the outbox too.
    this.#send =
      smtpUrl === undefined ? (_, mail, date) => this.#box(mail, date) : (id, mail, date) => this.#smtp(id, mail, date);
    this.#timers.add(setInterval(() => void this.flush(), LOOK).unref());
  }

  /**
   * Queues a mail in `db`, the transaction of what it is about; returns its id. Throws `rate_limited` beyond the budget
   * of the recipient or of the network that requested it.
   */
  async post(db: Store['db'], mail: Mail, now: Date, about: MailOrigin = {}): Promise<string> {
    refuseBrokenHeaders(mail.to, mail.subject);
    const { network, to_operator = false } = about;
    const counts: SendCount[] = to_operator ? [] : [{ kind: 'mail', of: mail.to }];
    if (network !== undefined) counts.push({ kind: 'network', of: network });
    const wait = await takeSend(db, counts, now.getTime());
    if (wait === 0) return this.#queue(db, mail, now, about.token);
    const message =
      'Too many mails were requested for this address, or from yours. Open one of them, or try again later.';
    throw new DataError('rate_limited', message, undefined, wait);
  }

  /** As `post`; null beyond the budget: for mails that what they are about must not wait for. */
  async tryPost(db: Store['db'], mail: Mail, now: Date, about: MailOrigin = {}): Promise<string | null> {
    const wait = await takeSend(db, [{ kind: 'mail', of: mail.to }], now.getTime());
    return wait === 0 ? this.#queue(db, mail, now, about.token) : null;
  }

  async #queue(db: Store['db'], mail: Mail, now: Date, token?: string): Promise<string> {
    refuseBrokenHeaders(mail.to, mail.subject);
    const id = randomUUID();
    if (token !== undefined) await addressLink(db, hashSecret(token), mail.to);
    if (this.#options.smtpUrl === undefined) {
      await this.#send(id, mail, now);
      return id;
    }
    const { to: recipient, subject, text, html = null, unsubscribe = null } = mail;
    const at = now.getTime();
    const link = token === undefined ? null : hashSecret(token);
    const state = { created_at: at, next_at: at, attempts: 0, leased_until: 0, failed_at: null, problem: null };
    await db
      .insertInto('mails')
      .values({ id, recipient, subject, text, html, unsubscribe, link, ...state })
      .execute();
    await extendLink(db, link, MAIL_LIFE);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.flush();
    }, SOON);
    this.#timers.add(timer.unref());
    return id;
  }

  /** Sends a queued mail after its transaction, and waits some seconds for the result. */
  async deliver(id: string): Promise<Delivery> {
    if (this.#options.smtpUrl === undefined) return 'sent';
    const attempt = this.#attempt(id).catch((): Delivery => 'queued');
    const late = new Promise<Delivery>((resolve) => setTimeout(() => resolve('queued'), PATIENCE).unref());
    return Promise.race([attempt, late]);
  }

  /** Sends all mails that are due. A timer does so too. */
  flush(): Promise<void> {
    this.#flushing ??= this.#sendDue()
      .then(
        () => {
          this.#unreadable = false;
        },
        (error: Error) => {
          if (!this.#unreadable) this.#options.log(`cannot read the mail queue: ${error.message}`);
          this.#unreadable = true;
        },
      )
      .finally(() => {
        this.#flushing = null;
      });
    return this.#flushing;
  }

  /** Waits for the mails that are being sent. Others stay in the queue. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.allSettled([...this.#sending, this.#flushing]);
    (await this.#server)?.close();
  }

  async #sendDue(): Promise<void> {
    const { store, now } = this.#options;
    while (!this.#closed) {
      const due = await store.db
        .selectFrom('mails')
        .select('id')
        .where('failed_at', 'is', null)
        .where('next_at', '<=', now().getTime())
        .where('leased_until', '<', databaseClock(store))
        .orderBy('next_at')
        .limit(AT_ONCE)
        .execute();
      if (due.length === 0) return;
      await Promise.all(due.map(({ id }) => this.#attempt(id)));
    }
  }

  #attempt(id: string): Promise<Delivery> {
    const attempt = this.#leaseAndSend(id);
    this.#sending.add(attempt);
    const done = () => this.#sending.delete(attempt);
    attempt.then(done, done);
    return attempt;
  }

  async #leaseAndSend(id: string): Promise<Delivery> {
    const { store, now, log } = this.#options;
    const row = await leaseMail(store, id, now().getTime());
    if (row === null) return 'queued';
    const renew = () => updateLeased(store.db, row).set({ leased_until: leaseEnd(store) });
    const renewal = setInterval(() => renew().execute().catch(ignore), LEASE / 3).unref();
    const { recipient: to, subject, text, html, unsubscribe } = row;
    const mail = {
      to,
      subject,
      text: text ?? '',
      ...(html === null ? {} : { html }),
      ...(unsubscribe ? { unsubscribe } : {}),
    };
    try {
      await this.#send(id, mail, new Date(row.created_at));
      await endSent(store, row, now().getTime());
      return 'sent';
    } catch (error) {
      const problem = problemOf(error);
      const at = now().getTime();
      if (isFinal(error) || at >= row.created_at + MAIL_LIFE) return await this.#giveUp(row, mail, problem, at);
      await postpone(store, row, problem, at);
      if (row.attempts === 1) log(`a mail could not be sent (${problem}); it is tried for a day, see /ops`);
      return 'queued';
    } finally {
      clearInterval(renewal);
    }
  }

  /** Ends a failed mail. An operator gets a copy, unless its link was deleted and whoever needs it can request another. */
  async #giveUp(row: MailTable, mail: Mail, problem: string, at: number): Promise<'failed'> {
    const { store, log } = this.#options;
    const copy = () => this.#box(mail, new Date(row.created_at));
    const dropped = await endFailed(store, row, problem, at, copy);
    const rest = dropped ? 'its link was deleted' : 'a copy to send by hand is in DATA_DIR/outbox';
    log(`a mail could not be sent (${problem}) and is given up; ${rest}, see /ops`);
    return 'failed';
  }

  async #smtp(id: string, mail: Mail, date: Date): Promise<void> {
    const { from, smtpUrl } = this.#options;
    const safe = { disableFileAccess: true, disableUrlAccess: true };
    // The library is loaded with the first mail.
    this.#server ??= import('nodemailer').then(
      ({ createTransport }) =>
        createTransport({ url: smtpUrl, pool: true, maxConnections: AT_ONCE, ...LIMITS, ...safe }) as Transporter,
    );
    const { to, unsubscribe, ...content } = mail;
    // An object is always one address, whatever characters it contains.
    const address = { name: '', address: to };
    const headers = { 'Auto-Submitted': 'auto-generated', ...unsubscribeHeaders(unsubscribe ? { unsubscribe } : {}) };
    // A mail that is sent again after a crash has the same id, by which mail readers show it once.
    const messageId = `<${id}@${/@([^\s>]+)/.exec(from)?.[1] ?? 'register'}>`;
    await (await this.#server).sendMail({ ...content, from, to: address, date, headers, messageId });
  }
}

const ignore = () => {};

const leaseEnd = (store: Store): RawBuilder<number> => sql<number>`${databaseClock(store)} + ${sql.lit(LEASE)}`;

/** Takes the lease of a due mail, for one caller of all processes; null if another one has it, or has just tried it. */
async function leaseMail(store: Store, id: string, now: number): Promise<MailTable | null> {
  const row = await store.db
    .updateTable('mails')
    .set((e) => ({ attempts: e('attempts', '+', 1), leased_until: leaseEnd(store) }))
    .where('id', '=', id)
    .where('failed_at', 'is', null)
    .where('next_at', '<=', now)
    .where('leased_until', '<', databaseClock(store))
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

const updateLeased = (db: Store['db'], { id, attempts }: MailTable) =>
  db.updateTable('mails').where('id', '=', id).where('attempts', '=', attempts);

/** Stores the address that got a link. A link that a second address gets confirms none. */
async function addressLink(db: Store['db'], link: string, recipient: string): Promise<void> {
  const once = sql<string>`case when recipient is null then ${recipient} else '' end`;
  await db.updateTable('links').set({ recipient: once }).where('hash', '=', link).execute();
}

/** Lengthens the lifetime of the link in a mail, by milliseconds. */
async function extendLink(db: Store['db'], link: string | null, by: number): Promise<void> {
  if (link === null) return;
  const expires_at = sql<number>`expires_at + ${sql.lit(by)}`;
  await db.updateTable('links').set({ expires_at }).where('hash', '=', link).execute();
  const unopened = db.updateTable('claims').set({ expires_at }).where('hash', '=', link);
  await unopened.where('verified_at', 'is', null).execute();
}

/** Deletes the waiting mails of links that a newer link replaces. Such a link lasts as if its mail had been sent now. */
export async function dropMails(db: Store['db'], links: readonly string[], now: number): Promise<void> {
  if (links.length === 0) return;
  const waiting = db.deleteFrom('mails').where('link', 'in', links).where('failed_at', 'is', null);
  const rows = await waiting.returning(['link', 'created_at']).execute();
  for (const { link, created_at } of rows) await extendLink(db, link, now - created_at - MAIL_LIFE);
}

/** Deletes a mail that the server accepted. */
async function endSent(store: Store, row: MailTable, now: number): Promise<void> {
  await store.db.transaction().execute(async (tx) => {
    const { numDeletedRows } = await tx.deleteFrom('mails').where('id', '=', row.id).executeTakeFirst();
    // Another process ended it, or it was dropped with its link.
    if (numDeletedRows === 0n) return;
    // It waited for this part of the time by which `post` lengthened the lifetime.
    await extendLink(tx, row.link, now - row.created_at - MAIL_LIFE);
  });
}

async function postpone(store: Store, row: MailTable, problem: string, now: number): Promise<void> {
  const pause = Math.min(PAUSE.most, PAUSE.first * 3 ** (row.attempts - 1));
  const next_at = Math.min(now + pause, row.created_at + MAIL_LIFE);
  await updateLeased(store.db, row).set({ next_at, problem, leased_until: 0 }).execute();
}

/**
 * Stores that a mail is given up, and deletes its link if that blocks the next request for one. Returns whether it did;
 * otherwise `copy` writes the mail elsewhere, before its text is deleted.
 */
async function endFailed(
  store: Store,
  row: MailTable,
  problem: string,
  now: number,
  copy: () => Promise<void>,
): Promise<boolean> {
  const { link } = row;
  return store.db.transaction().execute(async (tx) => {
    const ended = { failed_at: now, problem, text: null, html: null, leased_until: 0 };
    const { numUpdatedRows } = await updateLeased(tx, row).set(ended).executeTakeFirst();
    // Another process has it, or it was dropped with its link: no copy is written.
    if (numUpdatedRows === 0n) return true;
    if (link === null) {
      await copy();
      return false;
    }
    const asked = tx.deleteFrom('links').where('hash', '=', link).where('topic', 'is not', null);
    const links = await asked.where('used_at', 'is', null).executeTakeFirst();
    const unopened = tx.deleteFrom('claims').where('hash', '=', link).where('verified_at', 'is', null);
    const claims = await unopened.executeTakeFirst();
    const dropped = links.numDeletedRows + claims.numDeletedRows > 0n;
    if (!dropped) await copy();
    return dropped;
  });
}

type MailError = Error & { code?: string; responseCode?: number; response?: string };

/** Whether the server refuses this mail (5xx). A refused login is about our settings, so it is tried again. */
const isFinal = (error: unknown): boolean => {
  const { code, responseCode = 0 } = error as MailError;
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500;
};

/** The error without its text, which may name the recipient or the server. */
function problemOf(error: unknown): string {
  const { code = 'unknown', responseCode, response = '' } = error as MailError;
  const status = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(response)?.[0];
  return [responseCode, status, code].filter((part) => part !== undefined).join(' ');
}

/** State of the queue: numbers of waiting and failed mails, and mails with an error, the newest first. */
export async function mailQueue({ db }: Pick<Store, 'db'>, limit = 20) {
  type Totals = Record<'total' | 'failed', number>;
  const totals = sql<Totals>`select count(*) as total, count(failed_at) as failed from mails`;
  const [{ total = 0, failed = 0 } = {}] = (await totals.execute(db)).rows;
  const mails = await db
    .selectFrom('mails')
    .select(['id', 'recipient', 'subject', 'created_at', 'next_at', 'attempts', 'failed_at', 'problem'])
    .where('problem', 'is not', null)
    .orderBy('created_at', 'desc')
    .limit(limit)
    .execute();
  return { queued: Number(total) - Number(failed), failed: Number(failed), mails };
}
