// The mail queue against a real SMTP server of the test, on both stores: sent once, tried for a day, given up when the
// server refuses a mail for good; without a server, files.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../tests/support/free-port.ts';
import { type MailServer, mailServer } from '../../tests/support/mail-server.ts';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { describeStores } from '../../tests/support/stores.ts';
import { linkState, newLink, newLinkOf } from './links.ts';
import { MAIL_LIFE, MailQueue, mailQueue } from './mail.ts';
import { forgetExpired } from './ops/forget.ts';
import { claimOf, newClaim } from './owners/claims.ts';
import { openStore, type Store } from './store.ts';

const folder = scratchOfAll();
const START = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;
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

/** Queues a mail and sends it until it is killed. */
const PROGRAM = `
const { openStore } = await import('${new URL('store.ts', import.meta.url).href}');
const { MailQueue } = await import('${new URL('mail.ts', import.meta.url).href}');
const { store, at, mail, ...options } = JSON.parse(process.env.OPTIONS);
const opened = await openStore(store);
const queue = new MailQueue({ ...options, store: opened, now: () => new Date(at), log: () => {} });
await queue.post(opened.db, mail, new Date(at));
setInterval(() => {}, 1000);`;

describeStores('the mail queue', ({ open, options }) => {
  let server: MailServer;
  let one: Store;
  let two: Store;
  let clock = START;
  const lines: string[] = [];
  const opened: MailQueue[] = [];
  const dataDir = mkdtempSync(join(folder, 'data-'));
  const now = () => new Date(clock);
  const mailer = (store = one, smtpUrl: string | undefined = server.url) => {
    const queue = new MailQueue({ store, dataDir, smtpUrl, from, now, log: (line) => lines.push(line) });
    opened.push(queue);
    return queue;
  };
  /** Sends what is due now: the flush of a timer may have begun before. */
  const flush = async (queue: MailQueue) => {
    await queue.flush();
    await queue.flush();
  };
  const expiry = async (table: 'links' | 'claims') =>
    (await one.db.selectFrom(table).select('expires_at').execute()).map(({ expires_at }) => expires_at);

  beforeAll(async () => {
    [server, one, two] = [await mailServer(), await open(), await open()];
  });
  afterAll(async () => {
    await server.close();
  });
  afterEach(async () => {
    for (const queue of opened.splice(0)) await queue.close();
  });
  beforeEach(async () => {
    for (const table of ['mails', 'links', 'claims', 'sends'] as const) await one.db.deleteFrom(table).execute();
    clock = START;
    server.mails.length = 0;
    server.refuse = false;
    lines.length = 0;
    rmSync(join(dataDir, 'outbox'), { recursive: true, force: true });
  });

  test('a mail arrives with text and HTML, the sender, one recipient and the complete link, and leaves no row', async () => {
    const queue = mailer();
    expect(await queue.deliver(await queue.post(one.db, mail, now()))).toBe('sent');
    const [got] = server.mails;
    expect(got).toMatchObject({ from: 'register@register.example', to: ['office@harbour.example'] });
    expect(got?.headers).toMatchObject({ to: 'office@harbour.example', subject: mail.subject, from });
    expect(got?.headers['auto-submitted']).toBe('auto-generated');
    expect(got?.text).toContain(LINK);
    expect(got?.html).toContain(`href="${LINK}"`);
    expect(await one.db.selectFrom('mails').selectAll().execute()).toEqual([]);
    expect(boxed(dataDir)).toEqual([]);
  });

  test('is part of the transaction of what it is about', async () => {
    const queue = mailer();
    const failing = one.db.transaction().execute(async (tx) => {
      await queue.post(tx, mail, now());
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    await queue.post(one.db, { ...mail, to: 'kept@harbour.example' }, now());
    await expect.poll(() => server.mails.map(({ to }) => to[0])).toEqual(['kept@harbour.example']);
  });

  test('sends each mail once, whatever the number of processes', async () => {
    const queues = [mailer(), mailer(two), mailer(two)];
    const to = Array.from({ length: 12 }, (_, i) => `a${i}@harbour.example`);
    for (const address of to) await queues[0]!.post(one.db, { ...mail, to: address }, now());
    await Promise.all(queues.map((queue) => queue.flush()));
    await expect.poll(async () => (await mailQueue(one)).queued).toBe(0);
    expect(server.mails.map((got) => got.to[0]).sort()).toEqual(to.sort());
  });

  test.each([451, 421])(
    'tries a mail refused with %s again for a day; its link counts from when it is sent',
    async (code) => {
      const queue = mailer();
      server.refuse = code;
      const token = await newLink(one, { purpose: 'recover', subject: 'k-1', now: clock, lasts: HOUR });
      expect(await queue.deliver(await queue.post(one.db, mail, now(), { token }))).toBe('queued');
      expect(await mailQueue(one)).toMatchObject({ queued: 1, failed: 0, mails: [{ attempts: 1 }] });
      expect((await mailQueue(one)).mails[0]?.problem).toContain(String(code));
      await flush(queue);
      expect((await mailQueue(one)).mails[0]?.attempts).toBe(1);
      for (clock = START + 60_000; clock < START + 23 * HOUR; clock += 4 * HOUR) await flush(queue);
      expect((await mailQueue(one)).mails[0]?.attempts).toBe(7);
      expect(await linkState(one, 'recover', token, clock)).toBe('good');
      server.refuse = false;
      clock = START + 23.5 * HOUR;
      await one.db.updateTable('mails').set({ next_at: clock }).execute();
      await flush(queue);
      expect(server.mails).toHaveLength(1);
      expect(await expiry('links')).toEqual([clock + HOUR]);
      expect(lines.filter((line) => line.includes('tried for a day'))).toHaveLength(1);
    },
  );

  test('gives a mail up after a day, and then its link does not block the next one', async () => {
    const queue = mailer(one, `smtp://127.0.0.1:${await freePort()}`);
    const post = () =>
      newLinkOf(one, 'k-1', { purpose: 'recover', subject: 'k-1', now: clock, lasts: HOUR }, (tx, token) =>
        queue.post(tx, mail, now(), { token }),
      );
    const token = (await post())!;
    await flush(queue);
    clock = START + MAIL_LIFE - 1;
    await flush(queue);
    expect([await linkState(one, 'recover', token, clock), (await mailQueue(one)).queued]).toEqual(['good', 1]);
    clock = START + MAIL_LIFE;
    await flush(queue);
    expect(await mailQueue(one)).toMatchObject({
      queued: 0,
      failed: 1,
      mails: [{ problem: 'ESOCKET', failed_at: clock }],
    });
    expect(await linkState(one, 'recover', token, clock)).toBe('unknown');
    const [row] = await one.db.selectFrom('mails').selectAll().execute();
    expect([row?.text, row?.html]).toEqual([null, null]);
    expect(await post()).not.toBeNull();
    await forgetExpired(one, dataDir, new Date(clock + 31 * 24 * HOUR));
    expect((await mailQueue(one)).failed).toBe(0);
  });

  test('a mail that waits is not sent after a newer link, whose mail replaces it', async () => {
    const queue = mailer(one, `smtp://127.0.0.1:${await freePort()}`);
    const claim = { dataset: 'd', entity_id: 'r-1', email: mail.to, email_normal: mail.to, domain: 'harbour.example' };
    const post = (subject: string) => (tx: Store['db'], token: string) =>
      queue.post(tx, { ...mail, subject }, now(), { token });
    const link = () => ({ purpose: 'recover', subject: 'k-1', now: clock, lasts: HOUR });
    const older = (await newLinkOf(one, 'k-1', link(), post('older link')))!;
    await newClaim(one, claim, clock, false, post('older claim'));
    await newLinkOf(one, 'k-2', { ...link(), subject: 'k-2' }, post('another key'));
    await flush(queue);
    await queue.close();
    clock = START + HOUR;
    const next = mailer();
    await newLinkOf(one, 'k-1', link(), post('newer link'));
    await newClaim(one, claim, clock, false, post('newer claim'));
    // The older link was never mailed, and its lifetime ended with its mail.
    expect(await linkState(one, 'recover', older, clock + HOUR - 1)).toBe('good');
    expect(await linkState(one, 'recover', older, clock + HOUR)).toBe('over');
    await flush(next);
    await expect.poll(async () => (await mailQueue(one)).queued).toBe(0);
    const subjects = server.mails.map(({ headers }) => headers.subject);
    expect(subjects.sort()).toEqual(['another key', 'newer claim', 'newer link']);
  });

  test('a mail that another process has just tried is not tried before its pause ends', async () => {
    const queue = mailer();
    server.refuse = 451;
    const id = await queue.post(one.db, mail, now());
    expect(await queue.deliver(id)).toBe('queued');
    // What a process does that listed the due mails before the attempt.
    expect(await mailer(two).deliver(id)).toBe('queued');
    expect((await mailQueue(one)).mails[0]?.attempts).toBe(1);
  });

  test('does not send a mail again that is refused for good, and deletes a claim that nobody can open', async () => {
    const queue = mailer();
    server.refuse = 550;
    let id = '';
    const claim = { dataset: 'd', entity_id: 'r-1', email: mail.to, email_normal: mail.to, domain: 'harbour.example' };
    const token = await newClaim(one, claim, clock, false, async (tx, mailed) => {
      id = await queue.post(tx, mail, now(), { token: mailed });
    });
    expect(await expiry('claims')).toEqual([clock + 48 * HOUR]);
    expect(await queue.deliver(id)).toBe('failed');
    expect(await claimOf(one, token!)).toBeNull();
    expect(boxed(dataDir)).toEqual([]);
    // A mail whose link stays valid is left for an operator.
    const kept = await newLink(one, { purpose: 'restore', subject: 'o-1', now: clock, lasts: 24 * HOUR });
    expect(await queue.deliver(await queue.post(one.db, mail, now(), { token: kept }))).toBe('failed');
    expect(await linkState(one, 'restore', kept, clock)).toBe('good');
    expect(boxed(dataDir)).toHaveLength(1);
    clock += HOUR;
    server.refuse = false;
    await flush(queue);
    expect(server.mails).toEqual([]);
    expect(lines).toEqual([
      expect.stringMatching(/550.*its link was deleted/),
      expect.stringMatching(/550.*a copy to send by hand is in DATA_DIR\/outbox/),
    ]);
    for (const line of lines) expect(line).not.toMatch(/harbour|127\.0/);
  });

  test('a refused login is about the settings, and the mail waits', async () => {
    const url = new URL(server.url);
    url.username = 'register';
    url.password = 'a-wrong-password';
    server.refuseLogin = true;
    const queue = mailer(one, url.href);
    expect(await queue.deliver(await queue.post(one.db, mail, now()))).toBe('queued');
    expect((await mailQueue(one)).mails[0]?.problem).toMatch(/^535 .*EAUTH$/);
    server.refuseLogin = false;
    clock += 60_000;
    await flush(queue);
    expect(server.mails).toHaveLength(1);
    expect(lines.join()).not.toMatch(/harbour|a-wrong-password/);
  });

  test('a mail of a process that was killed while it sent is sent by another one after its lease', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const smtpUrl = `smtp://127.0.0.1:${(silent.address() as { port: number }).port}`;
    const contacted = once(silent, 'connection');
    const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
      env: { ...process.env, OPTIONS: JSON.stringify({ store: options, dataDir, smtpUrl, from, at: START, mail }) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await contacted;
    child.kill('SIGKILL');
    await once(child, 'exit');
    silent.close();
    const queue = mailer();
    await flush(queue);
    expect(server.mails).toEqual([]);
    await one.db
      .updateTable('mails')
      .set({ leased_until: Date.now() - 1_000 })
      .execute();
    await flush(queue);
    expect(server.mails.map(({ to }) => to[0])).toEqual([mail.to]);
  }, 30_000);

  test.each([
    ['a further header in the address', { ...mail, to: 'office@harbour.example\r\nBcc: everyone@harbour.example' }],
    ['a further header in the subject', { ...mail, subject: 'Edit\r\nBcc: everyone@harbour.example' }],
  ])('%s is rejected before it is queued', async (_, forged) => {
    await expect(mailer().post(one.db, forged, now())).rejects.toThrow(/one line/);
    expect((await mailQueue(one)).queued).toBe(0);
  });

  test.each(['one@harbour.example, two@elsewhere.example', '<one@harbour.example> two@elsewhere.example'])(
    'an address with two in it reaches nobody who was not asked for: %s',
    async (to) => {
      const queue = mailer();
      await queue.deliver(await queue.post(one.db, { ...mail, to }, now()));
      expect(server.mails.flatMap((got) => got.to).filter((each) => each === 'two@elsewhere.example')).toEqual([]);
    },
  );

  test('mails of the queue go into the outbox once there is no mail server', async () => {
    const away = mailer(one, `smtp://127.0.0.1:${await freePort()}`);
    await away.post(one.db, mail, now());
    await away.close();
    clock += 60_000;
    await new MailQueue({ store: one, dataDir, from, now, log: () => {} }).flush();
    expect(boxed(dataDir)).toHaveLength(1);
  });
});

test('a request waits some seconds for a server that does not answer, and the mail stays', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const dataDir = join(folder, 'silent');
  const store = await openStore({ dataDir });
  const smtpUrl = `smtp://127.0.0.1:${(silent.address() as { port: number }).port}`;
  const now = () => new Date(START);
  const queue = new MailQueue({ store, dataDir, smtpUrl, from, now, log: () => {} });
  expect(await queue.deliver(await queue.post(store.db, mail, now()))).toBe('queued');
  // The attempt has not ended yet.
  expect(await mailQueue(store)).toMatchObject({ queued: 1, mails: [] });
  await expect.poll(async () => (await mailQueue(store)).mails[0]?.problem, { timeout: 15_000 }).toBe('ETIMEDOUT');
  silent.close();
  await queue.close();
  await store.close();
}, 30_000);

describe('without a mail server', () => {
  test('all mails are in the outbox, as text and HTML, with headers in ASCII', async () => {
    const dataDir = join(folder, 'box');
    const now = new Date(START);
    const none = {} as Store;
    const log = () => expect.fail('nothing went wrong');
    const queue = new MailQueue({ store: none, dataDir, from, now: () => now, log });
    const to_operator = { to_operator: true };
    await queue.deliver(await queue.post(none.db, mail, now, to_operator));
    await queue.post(none.db, { ...mail, to: 'second@harbour.example' }, now, to_operator);
    await queue.close();
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
});
