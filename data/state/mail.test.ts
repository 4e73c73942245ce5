// Mails over a real SMTP server of the test: complete, one recipient, and kept when the server rejects or
// fails.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../tests/support/free-port.ts';
import { type MailServer, mailServer } from '../../tests/support/mail-server.ts';
import { openMailer } from './mail.ts';

const folder = mkdtempSync(join(tmpdir(), 'mail-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const now = new Date('2026-11-20T12:00:00Z');
const from = 'Grüße <register@register.example>';
const boxed = (dataDir: string) => {
  const box = join(dataDir, 'outbox');
  return existsSync(box) ? readdirSync(box).map((name) => readFileSync(join(box, name), 'utf8')) : [];
};
const LINK = `https://register.example/v1/claim/verify?token=${'a'.repeat(43)}`;
const mail = {
  to: 'office@harbour.example',
  subject: 'Edit Café "Ö"',
  text: `This link opens it:\n${LINK}\n`,
  html: `<p><a href="${LINK}">This link opens it</a></p>`,
};

describe('with a mail server', () => {
  let server: MailServer;
  const lines: string[] = [];
  beforeAll(async () => {
    server = await mailServer();
  });
  afterAll(() => server.close());
  const mailer = (url = server.url) =>
    openMailer({ dataDir: folder, smtpUrl: url, from, log: (line) => lines.push(line) });

  test('a mail arrives with text and HTML, the sender, one recipient and the complete link', async () => {
    const { send, close } = mailer();
    await send(mail, now);
    await close();
    const [got] = server.mails;
    expect(got).toMatchObject({ from: 'register@register.example', to: ['office@harbour.example'] });
    expect(got?.headers).toMatchObject({ to: 'office@harbour.example', subject: mail.subject, from });
    expect(got?.headers['auto-submitted']).toBe('auto-generated');
    expect(got?.text).toContain(LINK);
    expect(got?.html).toContain(`href="${LINK}"`);
    expect(boxed(folder)).toEqual([]);
  });

  test('a posted mail is sent before the mailer closes', async () => {
    server.mails.length = 0;
    const { post, close } = mailer();
    await Promise.all(Array.from({ length: 6 }, (_, i) => post({ ...mail, to: `a${i}@harbour.example` }, now)));
    await close();
    expect(server.mails.map(({ to }) => to[0]).sort()).toEqual([0, 1, 2, 3, 4, 5].map((i) => `a${i}@harbour.example`));
  });

  test.each([
    ['a further header in the address', { ...mail, to: 'office@harbour.example\r\nBcc: everyone@harbour.example' }],
    ['a further header in the subject', { ...mail, subject: 'Edit\r\nBcc: everyone@harbour.example' }],
  ])('%s is rejected before the server is contacted', async (_, forged) => {
    server.mails.length = 0;
    const { send, close } = mailer();
    await expect(send(forged, now)).rejects.toThrow(/one line/);
    await close();
    expect(server.mails).toEqual([]);
    expect(boxed(folder)).toEqual([]);
  });

  test.each(['one@harbour.example, two@elsewhere.example', '<one@harbour.example> two@elsewhere.example'])(
    'an address with two in it reaches nobody who was not asked for: %s',
    async (to) => {
      server.mails.length = 0;
      const { send, close } = mailer();
      await send({ ...mail, to }, now).catch(() => {});
      await close();
      expect(server.mails.flatMap((got) => got.to).filter((each) => each === 'two@elsewhere.example')).toEqual([]);
    },
  );

  test('a rejected mail is logged without address or password and kept in the outbox', async () => {
    const dataDir = join(folder, 'refused');
    lines.length = 0;
    server.refuse = true;
    const url = new URL(server.url);
    url.username = 'register';
    url.password = 'a-password';
    const { send, post, close } = openMailer({ dataDir, smtpUrl: url.href, from, log: (line) => lines.push(line) });
    await expect(send(mail, now)).rejects.toThrow();
    await post(mail, now);
    await close();
    server.refuse = false;
    expect(boxed(dataDir)).toHaveLength(2);
    expect(boxed(dataDir)[0]).toContain(LINK);
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).not.toMatch(/harbour|a-password/);
  });

  test('a mail is kept in the outbox when the server is unreachable', async () => {
    const dataDir = join(folder, 'away');
    const { post, close } = openMailer({
      dataDir,
      smtpUrl: `smtp://127.0.0.1:${await freePort()}`,
      from,
      log: () => {},
    });
    await post(mail, now);
    await close();
    expect(boxed(dataDir)).toHaveLength(1);
  });
});

test('without a mail server all mails are in the outbox, as text and HTML, with headers in ASCII', async () => {
  const dataDir = join(folder, 'box');
  const { send, post, close } = openMailer({ dataDir, from, log: () => expect.fail('nothing went wrong') });
  await send(mail, now);
  await post({ ...mail, to: 'second@harbour.example' }, now);
  await close();
  const written = boxed(dataDir);
  expect(written).toHaveLength(2);
  for (const text of written) {
    const head = text.slice(0, text.indexOf('\r\n\r\n'));
    expect(head).toMatch(/^[\r\n -~]*$/);
    expect(head).toContain('<register@register.example>');
    expect(text).toContain(`\r\n${LINK}\r\n`);
    expect(text).toContain(`href="${LINK}"`);
    expect(text.split(`--${/boundary="([^"]+)"/.exec(text)?.[1]}`)).toHaveLength(4);
  }
});
