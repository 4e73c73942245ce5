// Abuse of the owners' channel, on every store: one network cannot lock out owners, flood mailboxes, or empty
// datasets.
import { expect, it } from 'vitest';
import { requestsBy } from '../../../data/state/owners/requests.ts';
import { NOW } from '../../support/app.ts';
import { describeApps } from '../../support/money-on-stores.ts';
import {
  answerStatus,
  claim,
  linkIn,
  linkTo,
  mails,
  optOut,
  SERVED,
  send,
  verify,
} from '../../support/owners-stage.ts';
import { verifies } from '../../support/verifies.ts';

let clock = NOW;
const later = (minutes: number) => {
  clock = new Date(NOW.getTime() + minutes * 60_000);
};
const lines: string[] = [];
const ATTACKER = '203.0.113.66';
const OWNER = '198.51.100.10';

describeApps('against abuse', { ...SERVED, now: () => clock, log: (line) => lines.push(line) }, (stage) => {
  const to = (reader: string) => mails(stage.app).filter(({ headers }) => headers['to'] === reader).length;
  const many = async (n: number, ask: (i: number) => Promise<string>) => {
    const answers: string[] = [];
    for (let i = 0; i < n; i++) answers.push(await ask(i));
    return answers;
  };
  const press = async (path: string, token: string) => {
    const headers = { 'Sec-Fetch-Site': 'same-origin' };
    return (await stage.app.ask(path, { method: 'POST', body: `token=${token}`, headers })).status;
  };

  it('a stranger’s claims do not block the owner, send one mail, and get the same answer', async () => {
    const { app } = stage;
    const owner = 'owner@aether.example';
    const asked = await many(10, async () => answerStatus(await claim(app, 'harbour-3', owner, {}, ATTACKER)));
    expect(asked).toEqual(Array(10).fill('200 sent'));
    expect(to(owner)).toBe(1);
    expect(answerStatus(await claim(app, 'harbour-3', owner, {}, OWNER))).toBe('200 sent');
    expect(to(owner)).toBe(1);
    // The link in the owner's mailbox works, no matter who requested it.
    const first = linkTo(app, owner).token;
    later(61);
    expect(answerStatus(await claim(app, 'harbour-3', owner, {}, OWNER))).toBe('200 sent');
    const own = linkTo(app, owner).token;
    expect(answerStatus(await verify(app, first))).toBe('404 not_found');
    expect(answerStatus(await verify(app, own))).toBe('200 verified');
    later(0);
    // The stranger's share of the domain is used up, but not others'.
    const rest = await many(12, async (i) =>
      answerStatus(await claim(app, 'harbour-3', `x${i}@aether.example`, {}, ATTACKER)),
    );
    expect(rest.at(-1)).toBe('429 rate_limited');
    expect(answerStatus(await claim(app, 'harbour-3', 'ceo@aether.example', {}, OWNER))).toBe('200 sent');
    expect(to('ceo@aether.example')).toBe(1);
  });

  it('a stranger’s requests for a recovery mail do not block the key’s owner', async () => {
    const { app } = stage;
    const email = 'reader@example.org';
    const recover = async (address: string) =>
      answerStatus(await send(app, 'POST', '/v1/keys/recover', { email }, { address }));
    expect((await send(app, 'POST', '/v1/keys', { email }, { address: OWNER })).status).toBe(201);
    expect(await many(10, () => recover(ATTACKER))).toEqual(Array(10).fill('200 sent'));
    expect(to(email)).toBe(1);
    const token = () => linkIn(app.dataDir, email, /recover\?token=([\w-]+)/);
    const first = token();
    expect(await press('/keys/recover', first)).toBe(200);
    expect(await recover(OWNER)).toBe('200 sent');
    const others = mails(app).flatMap(({ text }) => /recover\?token=([\w-]+)/.exec(text)?.[1] ?? []);
    expect(others).toHaveLength(2);
    for (const each of others) expect(await press('/keys/recover', each)).toBe(each === first ? 404 : 200);
  });

  it('one network may send 40 requests a day for an address and 120 times for an IPv6 /48', async () => {
    verifies('optout.limits');
    const { app } = stage;
    const guess = async (i: number, address: string) =>
      answerStatus(await optOut(app, 'harbour-3', `x@guess${i}.example`, {}, address));
    const block = await many(122, (i) => guess(i, `2001:db8:fffe:${i.toString(16)}::1`));
    expect(block.filter((each) => each === '403 domain_mismatch')).toHaveLength(120);
    expect(block.at(-1)).toBe('429 rate_limited');
    expect(await guess(0, '2001:db8:fffd::1')).toBe('403 domain_mismatch');
  });

  it('the domain’s own addresses get a notice with a link that restores, and a few a day at most', async () => {
    verifies('optout.again');
    const { app } = stage;
    const names = ['postmaster@neu.example', 'webmaster@neu.example'];
    expect(answerStatus(await optOut(app, 'harbour-13', 'nobody-real@neu.example'))).toBe('200 removed');
    for (const name of names) expect(to(name), name).toBe(1);
    expect(await press('/optout/restore', linkTo(app, 'postmaster@neu.example').token)).toBe(200);
    expect((await app.json('/v1/harbours/entities/harbour-13', { admin: true })).status).toBe(200);
    // From now on a mailbox has to confirm, and a stranger cannot flood it.
    const again = () => optOut(app, 'harbour-13', 'owner@neu.example', {}, ATTACKER);
    expect(await many(10, async () => answerStatus(await again()))).toEqual(Array(10).fill('202 confirmation_sent'));
    expect(to('owner@neu.example')).toBe(1);
    expect(answerStatus(await optOut(app, 'harbour-13', 'owner@neu.example', {}, OWNER))).toBe('202 confirmation_sent');
    expect(await press('/optout/confirm', linkTo(app, 'owner@neu.example').token)).toBe(200);
    // A mailbox confirmed it: no further notice.
    for (const name of names) expect(to(name), name).toBe(1);
    const name = 'notices null.example';
    const day = NOW.toISOString().slice(0, 10);
    await app.state.db.insertInto('quotas').values({ name, day, used: 5, last: 1 }).execute();
    expect(answerStatus(await optOut(app, 'harbour-8', 'office@null.example'))).toBe('200 removed');
    expect([to('postmaster@null.example'), to('office@null.example')]).toEqual([0, 1]);
  });

  it('past 20 removals within an hour further ones wait for an operator, who sees it, for any number of parallel requests', async () => {
    verifies('optout.brake');
    const { app, other } = stage;
    later(300);
    lines.length = 0;
    const at = clock.getTime() - 60_000;
    const earlier = Array.from({ length: 19 }, (_, i) => ({
      ...{ id: `earlier-${i}`, dataset: 'harbours', entity_id: `r-${i}`, slug: `gone-${i}`, name: 'Gone' },
      ...{ contact: 'x@gone.example', domain: 'gone.example', reason: null, at, version: 0 },
      ...{ restored_at: null, restored_version: null },
    }));
    await app.state.db.insertInto('opt_outs').values(earlier).execute();
    const asks = [
      optOut(app, 'harbour-1', 'x@nordpol.example'),
      optOut(other, 'harbour-2', 'x@bagom.nordpol.example'),
      optOut(app, 'harbour-5', 'x@east.dateline.example'),
      optOut(other, 'harbour-6', 'x@west.dateline.example'),
    ];
    const answers = await Promise.all(asks);
    expect(answers.map(answerStatus).sort()).toEqual(['200 removed', '202 review', '202 review', '202 review']);
    for (const [i, slug] of ['harbour-1', 'harbour-2', 'harbour-5', 'harbour-6'].entries()) {
      const status = answerStatus(answers[i]!) === '200 removed' ? 404 : 200;
      expect((await app.json(`/v1/harbours/entities/${slug}`, { admin: true })).status, slug).toBe(status);
    }
    const open = (await requestsBy(app.state, 'open', 50)).filter(({ kind }) => kind === 'opt_out');
    expect(open).toHaveLength(3);
    for (const { because } of open) expect(because).toContain('20 opt-outs within an hour');
    expect(lines.filter((line) => line.startsWith('harbours: too many opt-outs'))).toHaveLength(3);

    const page = await app.ask('/ops', { admin: true, headers: { Accept: 'text/html' } });
    expect(await page.text()).toMatch(/<strong>harbours<\/strong> had 20 opt-outs within an hour/);
    const { body } = await app.json('/ops/stats.json', { admin: true });
    expect((body['review'] as Record<string, unknown>)['held_opt_outs']).toEqual([
      { dataset: 'harbours', at: clock.toISOString() },
    ]);
    const metrics = await (await app.ask('/ops/metrics', { admin: true })).text();
    expect(metrics).toMatch(/^register_opt_outs_held_total\{dataset="harbours"\} [123]$/m);

    // An hour later one is immediate again.
    later(362);
    const [held] = open;
    const contact = held!.contact;
    expect(answerStatus(await optOut(app, held!.slug, contact))).toBe('200 removed');
    later(0);
  });

  it('leaves no internal error', () => expect([...stage.app.faults, ...stage.other.faults]).toEqual([]));
});
