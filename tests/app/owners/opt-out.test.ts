// Opt-outs over REST and their pages, on every store: permission, effect, undo, and the operators' view.
import { expect, it } from 'vitest';
import { auditEntries } from '../../../data/state/audit.ts';
import { requestsBy } from '../../../data/state/owners/requests.ts';
import { BASE, NOW, type TestApp } from '../../support/app.ts';
import { describeApps, newKey } from '../../support/money-on-stores.ts';
import { answerStatus, linkTo, mails, optOut, SERVED, send } from '../../support/owners-stage.ts';
import { verifies } from '../../support/verifies.ts';

let clock = NOW;
const later = (days: number) => {
  clock = new Date(NOW.getTime() + days * 86_400_000);
};

describeApps('an opt-out', { ...SERVED, now: () => clock }, (stage) => {
  const status = async (slug: string, app = stage.app) =>
    (await app.json(`/v1/harbours/entities/${slug}`, { admin: true })).status;
  const press = (app: TestApp, path: string, token: string) =>
    app.ask(path, { method: 'POST', body: `token=${token}`, headers: { 'Sec-Fetch-Site': 'same-origin' } });
  /** The addresses whose answers contain a name. Each is called three times, because repeated answers are kept. */
  const naming = async (name: string) => {
    const found: string[] = [];
    for (const path of ['entities?limit=100', 'entities.md?limit=100', 'entities/batch.md?ids=harbour-8,harbour-3'])
      for (let i = 0; i < 3; i += 1) {
        const text = await (await stage.app.ask(`/v1/harbours/${path}`, { admin: true })).text();
        if (text.includes(name)) found.push(path);
      }
    return found;
  };
  const notices = async () => (await requestsBy(stage.app.state, 'open', 50)).filter(({ kind }) => kind === 'notice');

  it('removes the record at once, mails a link that restores it, and shows the operators', async () => {
    verifies('optout.domain', 'optout.mail', 'optout.review', 'shape.optout', 'optout.delete', 'procedure.optout-404');
    const { app, other } = stage;
    const { body: before } = await app.json('/v1/harbours/entities/harbour-8', { admin: true });
    const { headers } = await newKey(app);
    const idempotent = { ...headers, 'Idempotency-Key': 'the-record-of-harbour-8' };
    expect((await app.ask('/v1/harbours/entities/harbour-8', { headers: idempotent })).status).toBe(200);
    expect(await naming('Null Island Marina')).toHaveLength(9);

    const done = await optOut(app, 'harbour-8', 'office@null.example', { reason: 'It is closed' });
    expect([done.status, done.body]).toEqual([
      200,
      {
        status: 'removed',
        dataset: 'harbours',
        entity_id: before['id'],
        attribution: expect.any(String),
        license: expect.any(String),
      },
    ]);
    expect(await status('harbour-8')).toBe(404);
    expect(await naming('Null Island Marina')).toEqual([]);
    expect((await app.json('/v1/harbours/entities/harbour-8', { headers: idempotent })).status).toBe(404);
    await other.register.refresh();
    expect(await status('harbour-8', other)).toBe(404);
    expect(answerStatus(await optOut(app, 'harbour-8', 'office@null.example'))).toBe('404 unknown_entity');
    expect(await notices()).toMatchObject([
      { slug: 'harbour-8', contact: 'office@null.example', reason: 'It is closed' },
    ]);

    const [mail] = mails(app).filter(({ headers: head }) => head['to'] === 'office@null.example');
    expect(mail?.headers['subject']).toBe('Removed: Null Island Marina');
    expect(mail?.html).toContain('Null Island Marina');
    const { url, token } = linkTo(app, 'office@null.example');
    expect(url).toBe(`${BASE}/optout/restore?token=${token}`);
    // GET changes nothing, for any Accept and any number of times.
    for (const accept of ['text/html', '*/*', 'application/json'])
      expect((await app.ask(`/optout/restore?token=${token}`, { headers: { Accept: accept } })).status).toBe(200);
    expect((await app.ask(`/optout/restore?token=${token}`, { method: 'HEAD' })).status).toBe(200);
    expect(await status('harbour-8')).toBe(404);

    const pressed = await Promise.all([press(app, '/optout/restore', token), press(other, '/optout/restore', token)]);
    expect(pressed.map((answer) => answer.status).sort()).toEqual([200, 404]);
    expect(await (await app.ask(`/optout/restore?token=${token}`)).text()).toContain('already used');
    await app.register.refresh();
    const { body: after } = await app.json('/v1/harbours/entities/harbour-8', { admin: true });
    expect(after).toMatchObject({ id: before['id'], slug: before['slug'], attributes: before['attributes'] });
    expect(await notices()).toEqual([]);
    const lines = await auditEntries(app.state, { dataset: 'harbours', entity_id: String(before['id']), limit: 9 });
    expect(lines.map(({ action, who }) => `${action} ${who}`)).toEqual([
      'restore contact office@null.example',
      'opt-out contact office@null.example',
    ]);
  });

  it('within 90 days after a restore waits for a button in a mail', async () => {
    verifies('optout.again');
    const { app } = stage;
    later(89);
    const again = await optOut(app, 'harbour-8', 'office@null.example');
    expect(answerStatus(again)).toBe('202 confirmation_sent');
    expect(await status('harbour-8')).toBe(200);
    const { url, token } = linkTo(app, 'office@null.example');
    expect(url).toBe(`${BASE}/optout/confirm?token=${token}`);
    expect((await app.ask(`/optout/confirm?token=${token}`)).status).toBe(200);
    expect(await status('harbour-8')).toBe(200);
    // Neither link works on the other's page.
    expect((await press(app, '/optout/restore', token)).status).toBe(404);
    expect((await press(app, '/optout/confirm', token)).status).toBe(200);
    expect(await status('harbour-8')).toBe(404);
    expect((await press(app, '/optout/confirm', token)).status).toBe(404);
    const back = linkTo(app, 'office@null.example').token;
    later(89 + 31);
    expect((await press(app, '/optout/restore', back)).status).toBe(404);
    expect(await (await app.ask(`/optout/restore?token=${back}`)).text()).toContain('has expired');
    expect(await status('harbour-8')).toBe(404);
    later(0);
  });

  it('after 90 days is one like the first', async () => {
    const { app } = stage;
    expect(answerStatus(await optOut(app, 'harbour-13', 'office@neu.example'))).toBe('200 removed');
    expect((await press(app, '/optout/restore', linkTo(app, 'office@neu.example').token)).status).toBe(200);
    later(91);
    expect(answerStatus(await optOut(app, 'harbour-13', 'office@neu.example'))).toBe('200 removed');
    later(0);
  });

  it('accepts an address of the record’s domain or one above it; others change nothing', async () => {
    verifies('optout.domain');
    const { app } = stage;
    const strangers = ['x@elsewhere.example', 'x@sub.aether.example', 'x@xaether.example', 'x@gmail.com'];
    for (const stranger of strangers)
      expect(answerStatus(await optOut(app, 'harbour-3', stranger)), stranger).toBe('403 domain_mismatch');
    expect(answerStatus(await optOut(app, 'harbour-4', 'x@aether.example')), 'no domain').toBe('403 domain_mismatch');
    expect(await status('harbour-3')).toBe(200);
    expect(answerStatus(await optOut(app, 'harbour-5', 'x@dateline.example')), 'above').toBe('200 removed');
  });

  it('for a shared domain, and in a dataset without domains, waits for an operator', async () => {
    verifies('optout.no-domain');
    const { app } = stage;
    expect(answerStatus(await optOut(app, 'harbour-10', 'x@verbund.example'))).toBe('202 review');
    expect(await status('harbour-10')).toBe(200);
    const { id, slug } = app.records['lanterns']![0]!;
    const asked = await optOut(app, slug, 'x@lamp.example', { dataset: 'lanterns' });
    expect([answerStatus(asked), asked.body['entity_id']]).toEqual(['202 review', id]);
    expect((await app.json(`/v1/lanterns/entities/${slug}`, { admin: true })).status).toBe(200);
    const open = (await requestsBy(app.state, 'open', 50)).filter(({ kind }) => kind === 'opt_out');
    expect(open.map((each) => each.slug).sort()).toEqual(['harbour-10', slug].sort());
  });

  it('has an alias for clients whose DELETE has no body', async () => {
    verifies('optout.post');
    const { app } = stage;
    const body = { dataset: 'harbours', entity_id: 'harbour-6', contact: 'x@west.dateline.example' };
    expect(answerStatus(await send(app, 'POST', '/v1/optout', body))).toBe('200 removed');
    expect(await status('harbour-6')).toBe(404);
  });

  it('refuses invalid bodies', async () => {
    verifies('body.optout.dataset', 'body.optout.entity', 'body.optout.contact', 'body.optout.reason');
    const { app } = stage;
    const whole = { dataset: 'harbours', entity_id: 'harbour-3', contact: 'x@aether.example' };
    for (const name of Object.keys(whole))
      for (const wrong of [undefined, null, 7, '', [], {}])
        expect(answerStatus(await send(app, 'DELETE', '/v1/optout', { ...whole, [name]: wrong })), name).toBe(
          '422 validation_failed',
        );
    for (const reason of [7, {}, 'x'.repeat(3000)])
      expect(answerStatus(await optOut(app, 'harbour-3', 'x@aether.example', { reason }))).toBe(
        '422 validation_failed',
      );
    expect(answerStatus(await optOut(app, 'nowhere', 'x@aether.example'))).toBe('404 unknown_entity');
    expect(answerStatus(await optOut(app, 'harbour-3', 'x@aether.example', { dataset: 'nowhere' }))).toBe(
      '404 unknown_dataset',
    );
    expect((await app.json('/v1/optout', { method: 'DELETE' })).status).toBe(422);
    expect((await app.json('/v1/optout?token=1', { method: 'DELETE', body: '{}' })).status).toBe(400);
    expect((await app.json('/v1/optout')).status).toBe(405);
    expect(await status('harbour-3')).toBe(200);
  });

  it('is limited for a domain and for a network address', async () => {
    verifies('optout.limits');
    const { app } = stage;
    const byDomain: string[] = [];
    for (let i = 0; i < 22; i++)
      byDomain.push(answerStatus(await optOut(app, 'harbour-11', 'x@verbund.example', {}, '192.0.2.87')));
    expect(byDomain[0]).toBe('202 review');
    expect(byDomain.at(-1)).toBe('429 rate_limited');
    expect(answerStatus(await optOut(app, 'harbour-11', 'x@verbund.example'))).toBe('202 review');
    const byAddress: string[] = [];
    for (let i = 0; i < 41; i++)
      byAddress.push(answerStatus(await optOut(app, 'harbour-3', `x@guess${i}.example`, {}, '192.0.2.88')));
    expect(byAddress.at(-1)).toBe('429 rate_limited');
    const last = await optOut(app, 'harbour-3', 'x@aether.example', {}, '192.0.2.88');
    expect([answerStatus(last), last.headers.get('retry-after')]).toEqual([
      '429 rate_limited',
      expect.stringMatching(/^\d+$/),
    ]);
    expect(await status('harbour-3')).toBe(200);
  });

  it('happens once for parallel requests', async () => {
    const { app, other } = stage;
    const before = mails(app).length;
    const asks = Array.from({ length: 6 }, (_, i) => optOut(i % 2 ? app : other, 'harbour-3', 'y@aether.example'));
    const answers = (await Promise.all(asks)).map(answerStatus);
    expect(answers.filter((each) => each === '200 removed').length).toBeGreaterThan(0);
    expect(answers.filter((each) => !/^(200 removed|404 unknown_entity)$/.test(each))).toEqual([]);
    const rows = await app.state.db.selectFrom('opt_outs').selectAll().where('slug', '=', 'harbour-3').execute();
    expect(rows).toHaveLength(1);
    expect(
      mails(app).length + mails(other).length - (other === app ? mails(app).length : 0) - before,
    ).toBeLessThanOrEqual(3);
  });

  it('leaves no internal error', () => expect([...stage.app.faults, ...stage.other.faults]).toEqual([]));
});
