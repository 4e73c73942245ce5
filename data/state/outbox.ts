// Mails as files in DATA_DIR/outbox, one `.eml` each (contract section 1, SMTP_URL).
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Mail {
  to: string;
  subject: string;
  /** Plain text. */
  text: string;
  /** The same as HTML. */
  html?: string;
  /** Address that ends further mails of this kind. */
  unsubscribe?: string;
}

/** Headers by which mail readers offer to end further mails (RFC 2369, RFC 8058). */
export const unsubscribeHeaders = ({ unsubscribe }: Pick<Mail, 'unsubscribe'>): Record<string, string> =>
  unsubscribe === undefined
    ? {}
    : { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };

/** Sends one mail. */
export type SendMail = (mail: Mail, now: Date) => Promise<void>;

/** RFC 2822 date with a numeric zone. */
const dateOf = (now: Date): string => now.toUTCString().replace('GMT', '+0000');

/** A subject in the encoding of RFC 2047 when it is not ASCII. */
const encoded = (subject: string): string =>
  /^[ -~]*$/.test(subject) ? subject : `=?utf-8?B?${Buffer.from(subject).toString('base64')}?=`;

/** Addresses are parsed before this; the check prevents header injection in any case. */
export function refuseBrokenHeaders(...headers: string[]): void {
  if (headers.some((line) => /[\r\n]/.test(line))) throw new Error('a mail header must be one line');
}

/** Headers and content of one part, unencoded: a person or a program may search it for a link. */
const part = (kind: 'plain' | 'html', content: string): string =>
  `Content-Type: text/${kind}; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${content.replace(/\r?\n/g, '\r\n')}\r\n`;

/** Both forms of a mail; readers show the last one they support (RFC 2046, section 5.1.4). */
function alternatives(id: string, text: string, html: string): string {
  const parts = [part('plain', text), part('html', html)].map((one) => `--${id}\r\n${one}`);
  return `Content-Type: multipart/alternative; boundary="${id}"\r\n\r\n${parts.join('')}--${id}--\r\n`;
}

/**
 * Writes each mail to a complete file, readable by its owner only: its link may give access to an account.
 */
export function outbox(dataDir: string, from: string): SendMail {
  const folder = join(dataDir, 'outbox');
  return async ({ to, subject, text, html, ...mail }, now) => {
    const id = randomUUID();
    const lines = [
      `From: ${from.replace(/^[^<]*[^\s<](?=\s*<)/, encoded)}`,
      `To: ${to}`,
      `Subject: ${encoded(subject)}`,
      `Date: ${dateOf(now)}`,
      `Message-ID: <${id}@outbox>`,
      'MIME-Version: 1.0',
      ...Object.entries(unsubscribeHeaders(mail)).map((header) => header.join(': ')),
    ];
    refuseBrokenHeaders(subject, ...lines);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = `${now.toISOString().replace(/[:.]/g, '-')}-${id}`;
    const draft = join(folder, `.${name}.tmp`);
    const body = html === undefined ? part('plain', text) : alternatives(id, text, html);
    await writeFile(draft, `${lines.join('\r\n')}\r\n${body}`, { flag: 'wx', mode: 0o600 });
    await rename(draft, join(folder, `${name}.eml`));
  };
}

/**
 * Deletes files of the outbox written before a time (milliseconds since 1970), or with an address for which
 * `names` returns true; returns their number.
 */
export async function forgetMails(
  dataDir: string,
  which: { before: number } | { names: (address: string) => boolean },
): Promise<number> {
  const folder = join(dataDir, 'outbox');
  let deleted = 0;
  for (const name of await readdir(folder).catch(() => [])) {
    const file = join(folder, name);
    const matches =
      'before' in which
        ? ((await stat(file).catch(() => null))?.mtimeMs ?? which.before) < which.before
        : addressesIn(await readFile(file, 'utf8').catch(() => '')).some(which.names);
    if (!matches) continue;
    await rm(file, { force: true });
    deleted += 1;
  }
  return deleted;
}

const addressesIn = (text: string) => text.match(/[^\s"'<>(),;:]+@[^\s"'<>(),;:]+/g) ?? [];
