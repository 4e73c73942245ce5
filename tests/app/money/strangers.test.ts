// One budget for messages to a stranger, whatever features send them, on every store and from two processes.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { NOW } from '../../support/app.ts';
import { describeApps, newKey } from '../../support/money-on-stores.ts';
import { answerStatus, claim, linkIn, mails, optOut, SERVED, send } from '../../support/owners-stage.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

const [HOUR, DAY] = [3_600_000, 86_400_000];
const SUBSCRIPTIONS = '/v1/keys/me/subscriptions';
let clock = NOW.getTime();
const open_hosts = new Set<string>();
type Headers = Record<string, string>;

describeApps('a stranger', { ...SERVED, now: () => new Date(clock), open_hosts }, (stage) => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
    open_hosts.add(receiver.host);
  });
  beforeEach(() => {
    clock = NOW.getTime();
    receiver.received.length = 0;
  });
  afterAll(() => receiver.stop());

  const both = () => [stage.app, stage.other] as const;
  const allMails = () => [...new Set(both())].flatMap((app) => mails(app));
  const mailsTo = (address: string) => allMails().filter(({ headers }) => headers['to'] === address);
  let network = 0;
  /** Another network address for each call, so that only the recipient limits. */
  const from = () => {
    network += 1;
    return `198.51.${Math.floor(network / 250)}.${network % 250}`;
  };
  const created = async (email: string): Promise<Headers> => {
    const { body } = await send(stage.app, 'POST', '/v1/keys', { email }, { address: from() });
    return { Authorization: `Bearer ${body['key']}` };
  };

  /** One mail of each kind that a stranger can cause, from two processes at once. */
  async function everyKind(victim: string, headers: Headers, round: number): Promise<void> {
    const other = await newKey(stage.app);
    const calls = both().flatMap((app, i) => [
      () => send(app, 'POST', SUBSCRIPTIONS, { dataset: 'harbours', email: victim }, { headers, address: from() }),
      () => send(app, 'POST', '/v1/keys/recover', { email: victim }, { address: from() }),
      () => app.ask('/account/mail-link', form({ email: victim })),
      () => send(app, 'PUT', '/v1/keys/me/email', { email: `Stranger+${round}${i}@aether.example` }, other),
      () => send(app, 'PUT', '/v1/keys/me/limits', { alert_below_eur: 0.4 + round / 1000 }, { headers }),
      () => app.ask('/v1/harbours/entities/harbour-1', { headers }),
      () => claim(app, 'harbour-3', victim, {}, from()),
    ]);
    await Promise.all(calls.map((call) => call()));
    const { body: list } = await send(stage.app, 'GET', SUBSCRIPTIONS, undefined, { headers });
    for (const { id } of list['items'] as { id: string }[])
      await send(stage.other, 'DELETE', `${SUBSCRIPTIONS}/${id}`, undefined, { headers });
  }
  const form = (fields: Record<string, string>) => ({
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    address: from(),
  });

  it('gets three mails an hour and ten a day, all kinds together', async () => {
    const victim = 'stranger@aether.example';
    const headers = await created(victim);
    for (let round = 0; round < 3; round += 1) await everyKind(victim, headers, round);
    const all = () => allMails().filter(({ headers: { to = '' } }) => /^stranger/i.test(to)).length;
    expect(all()).toBe(3);
    // A removal does not wait for its mail.
    expect(answerStatus(await optOut(stage.app, 'harbour-3', victim))).toBe('200 removed');
    expect(all()).toBe(3);
    for (let hour = 1; hour < 8; hour += 1) {
      clock = NOW.getTime() + hour * HOUR;
      await everyKind(victim, headers, 3);
    }
    expect(all()).toBe(10);
    expect(mailsTo(victim).map(({ headers: { subject } }) => subject)).not.toContain('Low balance of your API key');
  });

  it('gets one mail for each subscription of a key that was created, also of those that were deleted', async () => {
    const victim = 'follower@harbour.example';
    const headers = await created(victim);
    const statuses: number[] = [];
    for (let i = 0; i < 40; i += 1) {
      const init = { headers, address: from() };
      const { status, body } = await send(
        stage.app,
        'POST',
        SUBSCRIPTIONS,
        { dataset: 'harbours', email: victim },
        init,
      );
      statuses.push(status);
      if (status === 201) await send(stage.other, 'DELETE', `${SUBSCRIPTIONS}/${body['id']}`, undefined, { headers });
    }
    expect(statuses.filter((status) => status === 201)).toHaveLength(3);
    expect(mailsTo(victim)).toHaveLength(3);
    clock += DAY;
    const { status } = await send(
      stage.app,
      'POST',
      SUBSCRIPTIONS,
      { dataset: 'harbours', email: victim },
      { headers },
    );
    expect(status).toBe(201);
  });

  it('is unlimited once the address is confirmed by a mailed link', async () => {
    const reader = 'owner-of-key@harbour.example';
    await created(reader);
    await send(stage.app, 'POST', '/v1/keys/recover', { email: reader }, { address: from() });
    const token = linkIn(stage.app.dataDir, reader, /recover\?token=([\w-]+)/);
    const page = await stage.app.ask('/keys/recover', form({ token }));
    const [key] = /dsr_\w{43}/.exec(await page.text())!;
    const headers = { Authorization: `Bearer ${key}` };
    for (let i = 0; i < 3; i += 1)
      await send(
        stage.app,
        'POST',
        SUBSCRIPTIONS,
        { dataset: 'harbours', email: reader },
        { headers, address: from() },
      );
    await stage.app.ask('/account/mail-link', form({ email: reader }));
    expect(mailsTo(reader).length).toBe(5);
  });

  it('gets ten verifications of webhooks an hour, whatever keys and processes request them', async () => {
    receiver.answer = (_, response) => response.writeHead(500).end();
    for (let i = 0; i < 8; i += 1) {
      const { headers } = await newKey(stage.app);
      for (let n = 0; n < 3; n += 1) {
        const body = { dataset: 'harbours', url: `${receiver.url}?${i}` };
        const { body: made } = await send(both()[n % 2]!, 'POST', SUBSCRIPTIONS, body, { headers });
        await Promise.all(both().map((app) => app.sendChanges()));
        await send(stage.app, 'DELETE', `${SUBSCRIPTIONS}/${made['id']}`, undefined, { headers });
      }
    }
    expect(receiver.received).toHaveLength(10);
    clock += HOUR;
    const { headers } = await newKey(stage.app);
    await send(stage.app, 'POST', SUBSCRIPTIONS, { dataset: 'harbours', url: receiver.url }, { headers });
    await stage.app.sendChanges();
    expect(receiver.received).toHaveLength(11);
    receiver.answer = null;
  });

  it('stores the address of a webhook as it is called', async () => {
    const { headers } = await newKey(stage.app);
    const written = receiver.url.replace('http:', 'HTTP:').replace(/\/?$/, '/a/../b c#part');
    const body = { dataset: 'harbours', url: written };
    expect((await send(stage.app, 'POST', SUBSCRIPTIONS, body, { headers })).status).toBe(201);
    const { body: list } = await send(stage.app, 'GET', SUBSCRIPTIONS, undefined, { headers });
    expect((list['items'] as { url: string }[])[0]!.url).toMatch(/^http:\/\/[^#]*\/b%20c$/);
  });
});
