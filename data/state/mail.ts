// How mails leave: by SMTP where a server is set, else into the outbox. What a server does not take is kept in the outbox as well.
import { createTransport } from 'nodemailer';
import { type Mail, outbox, refuseBrokenHeaders, type Send } from './outbox.ts';

/** Milliseconds: nobody who waits for an answer should wait long for a mail server. */
const PATIENCE = { connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 10_000 };

export interface MailOptions {
  dataDir: string;
  /** `smtp://user:password@host:port`; absent: the outbox. */
  smtpUrl?: string | undefined;
  from: string;
  log(line: string): void;
}

export interface Mailer {
  /** Sends a mail; throws where the server did not take it, and leaves it in the outbox for an operator to send. */
  send: Send;
  /**
   * The same for mails that nobody waits for and whose fate nobody is told: a file of the outbox is written when this is done, a server is
   * talked to afterwards. `failed` is called when the server did not take it.
   */
  post(mail: Mail, now: Date, failed?: () => Promise<void>): Promise<void>;
  /** Waits for what is on its way. */
  close(): Promise<void>;
}

/** A mail as nodemailer takes it. */
function message({ to, subject, text, html }: Mail, from: string, date: Date) {
  // As an object an address is one address, whatever stands in it.
  const address = { name: '', address: to };
  const headers = { 'Auto-Submitted': 'auto-generated' };
  return { from, to: address, subject, text, date, headers, ...(html === undefined ? {} : { html }) };
}

/** Opens the way out for mails from one sender. */
export function openMailer({ dataDir, smtpUrl, from, log }: MailOptions): Mailer {
  const box = outbox(dataDir, from);
  if (smtpUrl === undefined) return { send: box, post: box, close: async () => {} };
  const safe = { disableFileAccess: true, disableUrlAccess: true };
  const server = createTransport({ url: smtpUrl, pool: true, maxConnections: 2, ...PATIENCE, ...safe });
  const under = new Set<Promise<void>>();
  const send: Send = async (mail, now) => {
    refuseBrokenHeaders(mail.to, mail.subject);
    try {
      await server.sendMail(message(mail, from, now));
    } catch (error) {
      // Neither the address of the server nor of the reader: both may hold what no log should.
      const { code = 'unknown' } = error as { code?: string };
      log(`a mail could not be sent (${code}); it is in ${dataDir}/outbox`);
      await box(mail, now);
      throw error;
    }
  };
  return {
    send,
    async post(mail, now, failed = async () => {}) {
      // The log has it already.
      const going = send(mail, now).catch(() => failed().catch(() => {}));
      under.add(going);
      void going.finally(() => under.delete(going));
    },
    async close() {
      await Promise.all(under);
      server.close();
    },
  };
}
