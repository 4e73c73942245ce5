// A local mail server that stores mails as a reader would see them.
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A received mail: envelope, decoded headers, and both bodies. */
export interface ReceivedMail {
  from: string;
  to: string[];
  headers: Record<string, string>;
  text: string;
  html: string;
  raw: string;
}

export interface MailServer {
  url: string;
  mails: ReceivedMail[];
  /** Refuses every mail with this status; true: 550. */
  refuse: boolean | number;
  /** Refuses every login. */
  refuseLogin: boolean;
  close(): Promise<void>;
}

const words = (value: string): string =>
  value
    .replace(/(=\?utf-8\?[QB]\?[^?]*\?=)\s+(?==\?utf-8)/gi, '$1')
    .replace(/=\?utf-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, text: string) =>
      kind.toUpperCase() === 'B' ? Buffer.from(text, 'base64').toString() : printable(text.replaceAll('_', ' ')),
    );

const printable = (text: string): string => {
  const bytes = text
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
};

/** Headers by lower-case name, and the body of an entity (RFC 5322, section 2.2). */
function split(entity: string): { headers: Record<string, string>; rest: string } {
  const end = entity.indexOf('\r\n\r\n');
  const lines = entity
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), words(line.slice(colon + 1).trim())];
  });
  return { headers: Object.fromEntries(headers), rest: entity.slice(end + 4) };
}

function decoded(headers: Record<string, string>, rest: string): string {
  const how = headers['content-transfer-encoding']?.toLowerCase();
  if (how === 'base64') return Buffer.from(rest, 'base64').toString();
  return how === 'quoted-printable' ? printable(rest) : rest;
}

/** Parses the bytes of a mail, from an SMTP server or an `.eml` file. */
export function readMail(raw: string): Omit<ReceivedMail, 'from' | 'to'> {
  const { headers, rest } = split(raw);
  const boundary = /boundary="?([^";]+)/.exec(headers['content-type'] ?? '')?.[1];
  const entities = boundary === undefined ? [raw] : rest.split(`--${boundary}`).slice(1, -1);
  const part = (kind: string): string => {
    for (const entity of entities) {
      const each = split(entity.replace(/^\r\n/, ''));
      if (each.headers['content-type']?.startsWith(kind)) return decoded(each.headers, each.rest);
    }
    return '';
  };
  return { headers, text: part('text/plain'), html: part('text/html'), raw };
}

/** Starts a server on a free port, without encryption. */
export async function mailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    logger: false,
    onAuth: (_auth, _session, done) =>
      box.refuseLogin ? done(new Error('wrong password')) : done(null, { user: 'register' }),
    onMailFrom: (_address, _session, done) => {
      const responseCode = box.refuse === true ? 550 : Number(box.refuse);
      done(box.refuse === false ? null : Object.assign(new Error('not today'), { responseCode }));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        const to = rcptTo.map(({ address }) => address);
        mails.push({ from, to, ...readMail(Buffer.concat(chunks).toString()) });
        done();
      });
    },
  });
  server.on('error', () => {});
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.server.address() as AddressInfo;
  const box: MailServer = {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    refuse: false,
    refuseLogin: false,
    close: () => new Promise((closed) => server.close(() => closed())),
  };
  return box;
}
