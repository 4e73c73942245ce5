// Subscriptions to changes: confirmation, signatures, conditions, order, failures of receivers, plans and limits.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { TestApp } from '../../support/app.ts';
import { describeApps, newKey } from '../../support/money-on-stores.ts';
import { editAsOwner, optOutRecord } from '../../support/overlay-world.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

const PATH = '/v1/keys/me/subscriptions';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
let clock = Date.now();
const open_hosts = new Set<string>();

/** Mails of the outbox to an address. */
function mailsTo({ dataDir }: TestApp, address: string): string[] {
  const folder = join(dataDir, 'outbox');
  const files = existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.eml'))
        .sort()
    : [];
  return files
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .filter((mail) => mail.includes(`To: ${address}\r`));
}

type Headers = Record<string, string>;
type Row = Record<string, unknown>;

describeApps('subscriptions to changes', { nights: true, now: () => new Date(clock), open_hosts }, (stage) => {
  let receiver: Receiver;
  let headers: Headers;
  beforeAll(async () => {
    // Signatures are valid for five minutes.
    clock = Date.now();
    receiver = await startReceiver();
    open_hosts.add(receiver.host);
  });
  beforeEach(async () => {
    // Deleted subscriptions count for a day, and verifications by host.
    ({ headers } = await newKey(stage.app));
    await stage.app.state.db.deleteFrom('sends').execute();
  });
  afterEach(async () => {
    const { body } = await call(PATH, 'GET');
    for (const { id } of body['items'] as { id: string }[]) await end(id);
    receiver.answer = null;
    receiver.received.length = 0;
  });
  afterAll(() => receiver.stop());

  const call = (path: string, method: string, body?: object, who = headers, app = stage.app, admin = false) =>
    app.json(path, {
      admin,
      method,
      headers: { ...who, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });

  async function subscribe(members: object = {}, who = headers): Promise<{ id: string; secret: string }> {
    const answer = await call(PATH, 'POST', { dataset: 'tools', url: receiver.url, ...members }, who);
    expect([answer.status, answer.body['status']]).toEqual([201, 'unverified']);
    await stage.app.sendChanges();
    receiver.received.length = 0;
    return answer.body as { id: string; secret: string };
  }
  const end = (id: string, who = headers) => call(`${PATH}/${id}`, 'DELETE', undefined, who);
  const statusOf = async (id: string) => {
    const { body } = await call(PATH, 'GET');
    return (body['items'] as Row[]).find((row) => row['id'] === id)?.['status'];
  };
  const deliveriesOf = async (id: string) => (await call(`${PATH}/${id}/deliveries`, 'GET')).body['items'] as Row[];

  /** An owner's edit a minute later, which both processes of the service see. */
  async function edit(slug: string, values: Record<string, string[] | number>): Promise<void> {
    clock += MINUTE;
    const { app } = stage;
    const record = app.records['tools']!.find((one) => one.slug === slug)!;
    const editing = { store: app.state, refresh: () => app.register.refresh(), current: app.register.current };
    await editAsOwner(editing, 'tools', record.id, values, new Date(clock).toISOString());
    await stage.other.register.refresh();
  }

  it('is verified by its challenge, and then posts signed changes of the records that match', async () => {
    const answer = await call(PATH, 'POST', {
      ...{ dataset: 'tools', url: receiver.url, filters: { kind: 'saw' }, attributes: ['materials'] },
    });
    const { id, secret } = answer.body as { id: string; secret: string };
    expect([answer.status, await statusOf(id)]).toEqual([201, 'unverified']);
    await stage.app.sendChanges();
    expect(receiver.received.map(({ body }) => body.type)).toEqual(['subscription.verification']);
    expect(await statusOf(id)).toBe('active');

    await edit('nordwerk-fs-210', { materials: ['titanium'] });
    await edit('nordwerk-hl-1', { materials: ['copper'] });
    await stage.app.sendChanges();
    const [, message, ...others] = receiver.received;
    expect(others).toEqual([]);
    const verified = new Webhook(secret).verify(message!.text, message!.headers) as Row;
    expect(verified).toMatchObject({
      type: 'dataset.changes',
      data: { subscription: id, dataset: 'tools', changes: [{ slug: 'nordwerk-fs-210', new_value: ['titanium'] }] },
    });
    expect(() => new Webhook(secret).verify(`${message!.text} `, message!.headers)).toThrow();
    expect(await deliveriesOf(id)).toMatchObject([
      { status: 'delivered', changes: 1, attempts: 1, response_status: 200 },
    ]);
    await stage.app.sendChanges();
    expect(receiver.received).toHaveLength(2);
    expect((await end(id)).body).toMatchObject({ id, removed: true });
    expect((await end(id)).status).toBe(404);
  });

  it('selects by type and by percentage as the changelog does, and refuses what selects no change to come', async () => {
    const { headers: paying, id: key } = await newKey(stage.app);
    const granted = await call(
      '/v1/keys/grant',
      'POST',
      { key_id: key, plan: 'pro', amount_eur: 0 },
      {},
      stage.app,
      true,
    );
    expect(granted.status).toBe(200);
    const { id } = await subscribe({ filters: { type: 'changed', min_change_percent: 20 } }, paying);
    const record = stage.app.records['tools']!.find(({ attributes }) => typeof attributes['runtime'] === 'number')!;
    const before = Number(record.attributes['runtime']);
    const doubled = before * 2;
    await edit(record.slug, { runtime: doubled, materials: ['oak'] });
    await edit(record.slug, { runtime: doubled + 1 });
    await stage.app.sendChanges();
    const sent = receiver.received.flatMap(({ body }) => body.data['changes'] as Row[]);
    expect(sent.map(({ attribute, new_value }) => [attribute, new_value])).toEqual([['runtime', doubled]]);
    await end(id, paying);
    for (const name of ['days', 'entity', 'group_by', 'limit', 'from']) {
      const { status, body } = await call(PATH, 'POST', {
        dataset: 'tools',
        url: receiver.url,
        filters: { [name]: '1' },
      });
      expect([status, body['detail']], name).toMatchObject([422, [{ loc: ['body', 'filters'] }]]);
    }
  });

  it('stays unverified when the answer lacks the challenge', async () => {
    receiver.answer = (_, response) => response.end('ok');
    const { id } = await subscribe();
    expect(await statusOf(id)).toBe('unverified');
    await edit('nordwerk-fs-210', { materials: ['iron'] });
    receiver.answer = null;
    await stage.app.sendChanges();
    expect(await statusOf(id)).toBe('active');
    await stage.app.sendChanges();
    expect(receiver.received.map(({ body }) => body.type)).toEqual(['subscription.verification', 'dataset.changes']);
  });

  it('repeats a failed message with the same id, in order, and ends after a day with a mail', async () => {
    const { id } = await subscribe();
    receiver.answer = (_, response) => response.writeHead(500).end();
    await edit('nordwerk-fs-210', { materials: ['brass'] });
    await stage.app.sendChanges();
    await edit('nordwerk-fs-210', { materials: ['steel'] });
    await stage.app.sendChanges();
    receiver.answer = (_, response) => response.writeHead(302, { location: receiver.url }).end();
    clock += MINUTE;
    await stage.app.sendChanges();
    receiver.answer = null;
    clock += 5 * MINUTE;
    await stage.app.sendChanges();
    clock += MINUTE;
    await stage.app.sendChanges();
    const sent = receiver.received.map(({ headers, body }) => [
      headers['webhook-id'],
      (body.data['changes'] as Row[]).map((change) => change['new_value']),
    ]);
    const [[first], , , , [last]] = sent as unknown as [[string], 0, 0, 0, [string]];
    expect(sent.map(([message]) => message)).toEqual([first, first, first, first, last]);
    expect(sent.map(([, values]) => values)).toEqual([...Array(4).fill([['brass']]), [['steel']]]);
    expect(await deliveriesOf(id)).toMatchObject([
      { id: last, status: 'delivered', attempts: 1 },
      { id: first, status: 'delivered', attempts: 4, problem: null },
    ]);

    receiver.answer = (_, response) => response.destroy();
    await edit('nordwerk-fs-210', { materials: ['zinc'] });
    await stage.app.sendChanges();
    clock += DAY + MINUTE;
    await stage.app.sendChanges();
    expect(await statusOf(id)).toBe('disabled');
    expect(await deliveriesOf(id)).toMatchObject([
      { status: 'failed', problem: 'no connection could be made' },
      {},
      {},
    ]);
  });

  it('is ended after 15 s at a slow receiver and repeated with the same id, while others get theirs', async () => {
    const slow = await startReceiver();
    open_hosts.add(slow.host);
    const silent = await subscribe({ url: `${slow.url}?silent` });
    const trickling = await subscribe({ url: `${slow.url}?trickling` });
    const { id: quick } = await subscribe();
    const arrived: number[] = [];
    receiver.answer = (_, response) => {
      arrived.push(performance.now());
      response.end('ok');
    };
    slow.received.length = 0;
    slow.answer = ({ body }, response) => {
      // Neither ends in time: one answers after the limit, one sends a byte a second.
      if (body.data['subscription'] === silent.id) return void sleep(20_000).then(() => response.end());
      response.writeHead(200);
      const timer = setInterval(() => response.write('.'), 1000);
      response.once('close', () => clearInterval(timer));
    };
    await edit('nordwerk-fs-210', { materials: ['walnut'] });
    const began = performance.now();
    await stage.app.sendChanges();
    const took = performance.now() - began;
    expect(arrived).toHaveLength(1);
    expect(arrived[0]! - began).toBeLessThan(8_000);
    expect(took).toBeGreaterThan(14_900);
    expect(took).toBeLessThan(25_000);
    expect(await deliveriesOf(quick)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
    for (const { id } of [silent, trickling])
      expect(await deliveriesOf(id)).toMatchObject([
        { status: 'waiting', attempts: 1, response_status: null, problem: 'it did not answer within 15 s' },
      ]);
    slow.answer = null;
    clock += MINUTE;
    await stage.app.sendChanges();
    for (const { id } of [silent, trickling]) {
      const sent = slow.received.filter(({ body }) => body.data['subscription'] === id);
      const ids = sent.map(({ headers }) => headers['webhook-id']);
      expect(ids).toEqual([ids[0], ids[0]]);
      expect(await deliveriesOf(id)).toMatchObject([{ id: ids[0], status: 'delivered', attempts: 2 }]);
    }
    await slow.stop();
  }, 90_000);

  it('ends at once when the receiver answers 410', async () => {
    const { id } = await subscribe();
    receiver.answer = (_, response) => response.writeHead(410).end();
    await edit('nordwerk-fs-210', { materials: ['nickel'] });
    await stage.app.sendChanges();
    expect(await statusOf(id)).toBe('disabled');
  });

  it('is sent once by two processes, again on request, and without a record that was removed since', async () => {
    const { id } = await subscribe();
    receiver.answer = (message, response) => void sleep(50).then(() => response.end(message.text));
    await edit('nordwerk-fs-330', { materials: ['amber'] });
    await Promise.all([stage.app.sendChanges(), stage.other.sendChanges()]);
    expect(receiver.received).toHaveLength(1);
    const [{ id: delivery } = {}] = await deliveriesOf(id);
    clock += MINUTE;
    const { app } = stage;
    const editing = { store: app.state, refresh: () => app.register.refresh(), current: app.register.current };
    const record = app.records['tools']!.find(({ slug }) => slug === 'nordwerk-fs-330')!;
    await optOutRecord(editing, 'tools', record, new Date(clock).toISOString());
    const repeated = await call(`${PATH}/${id}/deliveries/${String(delivery)}/repeat`, 'POST');
    expect(repeated.body).toMatchObject({ id: delivery, status: 'waiting' });
    await app.sendChanges();
    const [, again, removal] = receiver.received;
    expect(again!.headers['webhook-id']).toBe(delivery);
    expect(again!.text).not.toContain('amber');
    if (removal) expect(removal.text).not.toContain('amber');
  });

  it('answers the change feed as soon as there is a change, or after the time to wait', async () => {
    const since = new Date(clock).toISOString();
    const path = (wait: number) => `/v1/tools/changes?since=${since}&wait=${wait}`;
    const waiting = stage.app.json(path(30), { admin: true });
    await edit('nordwerk-fs-210', { materials: ['bronze'] });
    expect((await waiting).body).toMatchObject({ items: [{ slug: 'nordwerk-fs-210', new_value: ['bronze'] }] });
    const began = performance.now();
    const empty = await stage.app.json(`/v1/tools/changes?since=${new Date(clock + DAY).toISOString()}&wait=1`, {
      admin: true,
    });
    expect([empty.status, empty.body['items']]).toEqual([200, []]);
    expect(performance.now() - began).toBeGreaterThanOrEqual(1000);
    for (const wrong of [-1, 31, 0.5]) expect((await stage.app.json(path(wrong), { admin: true })).status).toBe(422);
    expect(stage.app.lent()).toBe(0);
  });

  it('mails at most one digest a day to the address of the key, after its owner has confirmed, until it is ended', async () => {
    const { body: account } = await call('/v1/keys/me', 'GET');
    const wrong = { dataset: 'tools', email: 'somebody@example.org' };
    const refusal = await call(PATH, 'POST', wrong);
    expect([refusal.status, refusal.body['detail']]).toMatchObject([422, [{ loc: ['body', 'email'] }]]);
    expect((await call(PATH, 'POST', { ...wrong, url: receiver.url })).status).toBe(422);
    const { status, body } = await call(PATH, 'POST', { ...wrong, email: account['email'] });
    const { id, secret } = body as { id: string; secret?: string };
    expect([status, secret]).toEqual([201, undefined]);
    const pageIn = (mail: string) => new URL(/https:\S+account\/subscription\S+/.exec(mail)![0]);
    const page = pageIn(mailsTo(stage.app, String(account['email'])).at(-1)!);
    const open = (method: string, form = '', token = page.searchParams.get('token')!) =>
      stage.app.ask(`${page.pathname}?${new URLSearchParams({ id, token })}`, {
        method,
        ...(form && { body: form, headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
      });
    await edit('nordwerk-fs-210', { materials: ['slate'] });
    await stage.app.sendChanges();
    expect(await statusOf(id)).toBe('unverified');
    expect((await open('GET', '', 'f'.repeat(64))).status).toBe(404);
    expect(await (await open('GET')).text()).toContain('Confirm');
    expect(await statusOf(id)).toBe('unverified');
    expect((await open('POST', 'action=confirm')).status).toBe(200);
    expect(await statusOf(id)).toBe('active');

    const sent = () => mailsTo(stage.app, String(account['email'])).filter((mail) => /Subject: \d+ change/.test(mail));
    const [before] = [sent().length];
    await Promise.all([stage.app.sendChanges(), stage.other.sendChanges()]);
    const digests = [...sent(), ...(stage.other === stage.app ? [] : mailsTo(stage.other, String(account['email'])))];
    expect(digests.filter((mail) => mail.includes('slate'))).toHaveLength(before + 1);
    const digest = digests.find((mail) => mail.includes('slate'))!;
    expect(digest).toMatch(/^List-Unsubscribe: <https:.*>\r$/m);
    expect(digest).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    await edit('nordwerk-fs-210', { materials: ['chalk'] });
    await stage.app.sendChanges();
    expect(sent().filter((mail) => mail.includes('chalk'))).toEqual([]);
    clock += DAY;
    await stage.app.sendChanges();
    expect(sent().filter((mail) => mail.includes('chalk'))).toHaveLength(1);
    expect(receiver.received).toEqual([]);
    expect((await open('POST', 'List-Unsubscribe=One-Click')).status).toBe(200);
    expect(await statusOf(id)).toBeUndefined();
    expect((await open('GET')).status).toBe(404);
  });

  it('refuses what it cannot send, and more than the plan has', async () => {
    const { headers: other } = await newKey(stage.app);
    const refused = async (members: object, path = PATH) => {
      const { status, body } = await call(path, 'POST', { dataset: 'tools', url: receiver.url, ...members }, other);
      return [status, body['error']];
    };
    const urls = [
      'http://10.0.0.1/',
      'https://127.0.0.1/',
      'https://example.org:8443/',
      'ftp://example.org/',
      'http://example.org/',
    ];
    for (const url of urls) expect(await refused({ url }), url).toEqual([422, 'validation_failed']);
    expect(await refused({ dataset: 'nothing' })).toEqual([404, 'unknown_dataset']);
    expect(await refused({ filters: { nope: 1 } })).toEqual([400, 'unknown_filter']);
    expect(await refused({ filters: { min_runtime: 1 } })).toEqual([403, 'plan_required']);
    expect(await refused({ more: 1 })).toEqual([422, 'validation_failed']);
    for (let i = 0; i < 3; i += 1) expect((await refused({}))[0]).toBe(201);
    expect(await refused({})).toEqual([400, 'invalid_parameter']);
    const { body } = await call(PATH, 'GET', undefined, other);
    for (const { id } of body['items'] as { id: string }[]) {
      expect((await end(id)).status, 'the key of somebody else').toBe(404);
      expect((await end(id, other)).status).toBe(200);
    }
    const anonymous = await stage.app.json(PATH);
    expect(anonymous.status).toBe(401);
  });
});
