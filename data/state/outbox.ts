// Mails as files in DATA_DIR/outbox, one `.eml` each (contract section 1, SMTP_URL).
import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Mail {
  to: string;
  subject: string;
  /** Plain text. */
  text: string;
}

/** Sends one mail. */
export type Send = (mail: Mail, now: Date) => Promise<void>;

/** RFC 2822 date, without the name of the zone. */
const dateOf = (now: Date): string => now.toUTCString().replace('GMT', '+0000');

/** Sends by writing a whole file, readable by its owner alone: it may hold a link that stands for an account. */
export function outbox(dataDir: string, from: string): Send {
  const folder = join(dataDir, 'outbox');
  return async ({ to, subject, text }, now) => {
    const id = randomUUID();
    const lines = [
      `From: ${from}`,
      `To: ${to}`,
      `Subject: ${subject}`,
      `Date: ${dateOf(now)}`,
      `Message-ID: <${id}@outbox>`,
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 8bit',
    ];
    // An address was parsed before it gets here; a line break would still end the header, whoever wrote it.
    if (lines.some((line) => /[\r\n]/.test(line))) throw new Error('a mail header has one line');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = `${now.toISOString().replace(/[:.]/g, '-')}-${id}`;
    const draft = join(folder, `.${name}.tmp`);
    const body = `${lines.join('\r\n')}\r\n\r\n${text.replace(/\r?\n/g, '\r\n')}\r\n`;
    await writeFile(draft, body, { flag: 'wx', mode: 0o600 });
    await rename(draft, join(folder, `${name}.eml`));
  };
}
