// Sends mails by SMTP when a server is set, else into the outbox; mails that a server rejects also stay in
// the outbox.
import type { Transporter } from 'nodemailer';
import { type Mail, outbox, refuseBrokenHeaders, type SendMail } from './outbox.ts';

/** Milliseconds. A request that sends a mail should not wait long for the server. */
const PATIENCE = { dnsTimeout: 5_000, connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 10_000 };

export interface MailOptions {
  dataDir: string;
  /** `smtp://user:password@host:port`; absent: the outbox. */
  smtpUrl?: string | undefined;
  from: string;
  log(line: string): void;
}

export interface Mailer {
  /** Sends a mail. When the server rejects it, writes it to the outbox for an operator and throws. */
  send: SendMail;
  /**
   * Sends a mail after the response: resolves when it is in the outbox or queued, and talks to the server
   * later. Calls `failed` when the server rejects it.
   */
  post(mail: Mail, now: Date, failed?: () => Promise<void>): Promise<void>;
  /** Waits for mails that are being sent. */
  close(): Promise<void>;
}

/** A mail in the format of nodemailer. */
function message({ to, subject, text, html }: Mail, from: string, date: Date) {
  // An object is always one address, whatever characters it contains.
  const address = { name: '', address: to };
  const headers = { 'Auto-Submitted': 'auto-generated' };
  return { from, to: address, subject, text, date, headers, ...(html === undefined ? {} : { html }) };
}

/** Opens the way out for mails from one sender. */
export function openMailer({ dataDir, smtpUrl, from, log }: MailOptions): Mailer {
  const box = outbox(dataDir, from);
  if (smtpUrl === undefined) return { send: box, post: box, close: async () => {} };
  const safe = { disableFileAccess: true, disableUrlAccess: true };
  const settings = { url: smtpUrl, pool: true, maxConnections: 2, ...PATIENCE, ...safe };
  let opened: Promise<Transporter> | null = null;
  // The library is loaded with the first mail.
  const server = () => {
    opened ??= import('nodemailer').then(({ createTransport }) => createTransport(settings) as Transporter);
    return opened;
  };
  const under = new Set<Promise<void>>();
  const send: SendMail = async (mail, now) => {
    refuseBrokenHeaders(mail.to, mail.subject);
    try {
      await (await server()).sendMail(message(mail, from, now));
    } catch (error) {
      // Log neither the server nor the recipient: both may be confidential.
      const { code = 'unknown' } = error as { code?: string };
      log(`a mail could not be sent (${code}) and is in ${dataDir}/outbox; check SMTP_URL and send it by hand`);
      await box(mail, now);
      throw error;
    }
  };
  return {
    send,
    async post(mail, now, failed = async () => {}) {
      // `send` has logged the error.
      const going = send(mail, now).catch(() => failed().catch(() => {}));
      under.add(going);
      void going.finally(() => under.delete(going));
    },
    async close() {
      await Promise.all(under);
      (await opened)?.close();
    },
  };
}
