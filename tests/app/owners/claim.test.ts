// Claims from the request to the edit, over REST, on every store: permission, duration, editable values, and
// their effect.
import { expect, it } from 'vitest';
import { auditEntries } from '../../../data/state/audit.ts';
import { requestsBy } from '../../../data/state/owners/requests.ts';
import { BASE, NOW } from '../../support/app.ts';
import { describeApps } from '../../support/money-on-stores.ts';
import { answerStatus, claim, edit, linkTo, mails, SERVED, send, verify } from '../../support/owners-stage.ts';
import { verifies } from '../../support/verifies.ts';

let clock = NOW;
const later = (minutes: number) => {
  clock = new Date(NOW.getTime() + minutes * 60_000);
};
const DAY = 24 * 60;

describeApps('a claim', { ...SERVED, now: () => clock }, (stage) => {
  const record = async (slug: string) => (await stage.app.json(`/v1/harbours/entities/${slug}`, { admin: true })).body;
  const claimed = async (slug: string, email: string): Promise<string> => {
    expect(answerStatus(await claim(stage.app, slug, email))).toBe('200 sent');
    const { token } = linkTo(stage.app, email);
    expect(answerStatus(await verify(stage.app, token))).toBe('200 verified');
    return token;
  };

  it('leads from a mail to an edit that is shown with its source, and returns the record', async () => {
    verifies('shape.claim', 'shape.claim-put', 'claim.post', 'claim.verify', 'claim.put', 'procedure.claim');
    verifies('claim.before-verify', 'claim.verified-owner', 'claim.edit', 'claim.verify-idempotent');
    verifies('code.not-owner', 'record.owner-edit');
    const { app } = stage;
    const asked = await claim(app, 'harbour-8', 'master@null.example');
    expect(asked.body).toEqual({ status: 'sent', attribution: expect.any(String), license: expect.any(String) });
    expect(asked.headers.get('cache-control')).toBe('no-store');
    const { url, token } = linkTo(app, 'master@null.example');
    expect(url).toBe(`${BASE}/v1/claim/verify?token=${token}`);
    expect(answerStatus(await edit(app, token, { fuel: true }))).toBe('403 not_owner');
    later(10);
    const first = await verify(app, token);
    const { id } = await record('harbour-8');
    expect(first.body).toMatchObject({
      status: 'verified',
      dataset: 'harbours',
      entity_id: id,
      expires_at: new Date(NOW.getTime() + 40 * 60_000).toISOString(),
    });
    later(20);
    expect((await verify(app, token)).body).toEqual(first.body);
    expect((await record('harbour-8'))['verified_owner']).toBe(false);

    const done = await edit(app, token, { fuel: true, berths: 4 });
    expect(done.status).toBe(200);
    expect(done.body).toMatchObject({
      id,
      verified_owner: true,
      attributes: { fuel: true, berths: 4, name: 'Null Island Marina' },
      provenance: { fuel: { source: { kind: 'owner' }, confidence: 1 }, name: { source: { kind: 'collector' } } },
    });
    expect(done.headers.get('cache-control')).toBe('no-store');
    expect(await record('harbour-8')).toEqual(done.body);
    const markdown = await app.ask('/v1/claim.md', {
      method: 'PUT',
      body: JSON.stringify({ token, values: { berths: 5 } }),
    });
    expect(await markdown.text()).toContain('Null Island Marina');
    expect((await record('harbour-8'))['attributes']).toMatchObject({ berths: 5 });
    // Withdrawn: the value of the sources is published again.
    await edit(app, token, { berths: null });
    expect((await record('harbour-8'))['attributes']).toMatchObject({ berths: 3, fuel: true });
    later(0);
  });

  it('ends half an hour after it was verified, and a link after a day; a later link replaces it', async () => {
    verifies('claim.window', 'claim.link-24h');
    const { app } = stage;
    const token = await claimed('harbour-13', 'a@neu.example');
    later(29);
    expect(answerStatus(await edit(app, token, { berths: 10 }))).toBe('200');
    later(30);
    expect(answerStatus(await edit(app, token, { berths: 11 }))).toBe('403 not_owner');
    expect(answerStatus(await verify(app, token))).toBe('404 not_found');
    await claim(app, 'harbour-13', 'a@neu.example');
    const unread = linkTo(app, 'a@neu.example').token;
    later(91);
    await claim(app, 'harbour-13', 'a@neu.example');
    const newest = linkTo(app, 'a@neu.example').token;
    expect(answerStatus(await verify(app, unread))).toBe('404 not_found');
    later(91 + DAY);
    expect(answerStatus(await verify(app, newest))).toBe('404 not_found');
    expect(answerStatus(await edit(app, newest, { berths: 12 }))).toBe('403 not_owner');
    expect((await record('harbour-13'))['attributes']).toMatchObject({ berths: 10 });
    later(0);
  });

  it('accepts an address of the record’s own domain or one above it, and no other', async () => {
    const { app } = stage;
    for (const good of ['x@aether.example', 'X@AETHER.example', 'x+y@aether.example'])
      expect(answerStatus(await claim(app, 'harbour-3', good)), good).toBe('200 sent');
    expect(answerStatus(await claim(app, 'harbour-5', 'x@dateline.example')), 'above').toBe('200 sent');
    const strangers = [
      'x@example',
      'x@elsewhere.example',
      'x@notaether.example',
      'x@aether.example.elsewhere.example',
      'x@sub.aether.example',
      'x@gmail.com',
      'x@mailinator.com',
    ];
    for (const stranger of strangers) {
      const refused = await claim(app, 'harbour-3', stranger);
      expect(answerStatus(refused), stranger).toMatch(
        stranger === 'x@example' ? /^4(03|22) / : /^403 domain_mismatch$/,
      );
      // The refusal does not reveal the right domain, which may be a paid value.
      expect(JSON.stringify(refused.body)).not.toContain('aether.example"');
    }
    expect(answerStatus(await claim(app, 'harbour-4', 'x@aether.example')), 'no domain').toBe('403 domain_mismatch');
  });

  it('of a domain that more records share than the pack allows waits for an operator', async () => {
    const { app } = stage;
    const before = mails(app).length;
    expect(answerStatus(await claim(app, 'harbour-9', 'x@verbund.example'))).toBe('202 review');
    expect(answerStatus(await claim(app, 'harbour-9', 'x@verbund.example'))).toBe('202 review');
    expect(mails(app)).toHaveLength(before);
    const open = (await requestsBy(app.state, 'open', 10)).filter(({ kind }) => kind === 'claim');
    expect(open).toMatchObject([{ dataset: 'harbours', slug: 'harbour-9', contact: 'x@verbund.example' }]);
  });

  it('is refused in a dataset without domains', async () => {
    verifies('optout.no-domain', 'code.domain-mismatch');
    const { app } = stage;
    const slug = app.records['lanterns']![0]!.slug;
    const refused = await claim(app, slug, 'x@lamp.example', { dataset: 'lanterns' });
    expect(answerStatus(refused)).toBe('403 domain_mismatch');
  });

  it('sets what the pack lets owners set, checked against the schema, all or nothing', async () => {
    verifies('claim.editable', 'claim.edit');
    const { app } = stage;
    const token = await claimed('harbour-3', 'harbourmaster@aether.example');
    const before = await record('harbour-3');
    const wrong: [unknown, string][] = [
      [{ name: 'Mine' }, 'name'],
      [{ code: 4 }, 'code'],
      [{ domain: 'elsewhere.example' }, 'domain'],
      [{ site: 'https://elsewhere.example/' }, 'site'],
      [{ nothing: 1 }, 'nothing'],
      [{ constructor: 1 }, 'constructor'],
      [JSON.parse('{"__proto__": {"fuel": false}}'), ''],
      [{ berths: 'many' }, 'berths'],
      [{ berths: -1 }, 'berths'],
      [{ berths: 1e9 }, 'berths'],
      [{ berths: 2.5 }, 'berths'],
      [{ fuel: 'yes' }, 'fuel'],
      [{ languages: 'Norsk' }, 'languages'],
      [{ languages: ['x'.repeat(5000)] }, 'languages'],
      [{ berths: 20, fuel: 'no' }, 'fuel'],
      [{}, ''],
      [[], ''],
      ['fuel', ''],
      [null, ''],
    ];
    for (const [values, name] of wrong) {
      const refused = await edit(app, token, values);
      expect(answerStatus(refused), JSON.stringify(values)).toBe('422 validation_failed');
      const [issue] = refused.body['detail'] as { loc: string[] }[];
      expect(issue?.loc.slice(0, 2)).toEqual(['body', 'values']);
      if (name !== '') expect(issue?.loc[2]).toBe(name);
    }
    expect(await record('harbour-3')).toEqual(before);
    expect(answerStatus(await edit(app, token, { berths: 20 }))).toBe('200');
  });

  it('refuses invalid bodies and tokens', async () => {
    verifies('body.claim.dataset', 'body.claim.entity', 'body.claim.email');
    verifies('body.claim-update.token', 'body.claim-update.values');
    const { app } = stage;
    const bodies = [{}, { dataset: 'harbours' }, { dataset: 7, entity_id: 'harbour-3', email: 'a@aether.example' }];
    for (const body of [...bodies, { dataset: 'harbours', entity_id: 'harbour-3', email: 'nobody' }])
      expect(answerStatus(await send(app, 'POST', '/v1/claim', body))).toBe('422 validation_failed');
    const forged = ['a@aether.example\r\nBcc: b@x.example', 'a@aether.example, b@x.example', '<a@aether.example>'];
    for (const email of [...forged, 'a@b@aether.example', `${'a'.repeat(250)}@aether.example`])
      expect(answerStatus(await claim(app, 'harbour-3', email)), email).toBe('422 validation_failed');
    expect(answerStatus(await claim(app, 'nowhere', 'a@aether.example'))).toBe('404 unknown_entity');
    expect(answerStatus(await claim(app, 'harbour-3', 'a@aether.example', { dataset: 'x' }))).toBe(
      '404 unknown_dataset',
    );
    expect(answerStatus(await app.json('/v1/claim/verify'))).toBe('422 validation_failed');
    expect(answerStatus(await app.json('/v1/claim/verify?token=a&token=b'))).toBe('422 validation_failed');
    expect(answerStatus(await app.json('/v1/claim/verify?token=a&next=https://elsewhere.example/'))).toBe(
      '400 unknown_filter',
    );
    expect(answerStatus(await verify(app, 'a'.repeat(43)))).toBe('404 not_found');
    expect(answerStatus(await verify(app, 'a'.repeat(5000)))).toBe('422 validation_failed');
    expect(answerStatus(await edit(app, 'a'.repeat(43), { fuel: true }))).toBe('403 not_owner');
    expect(answerStatus(await edit(app, { $ne: 1 } as never, { fuel: true }))).toBe('422 validation_failed');
    const huge = await send(app, 'PUT', '/v1/claim', { token: 'a', values: { languages: ['x'.repeat(70_000)] } });
    expect(answerStatus(huge)).toBe('413 payload_too_large');
  });

  it('leaves a line in the audit log for its verification and every edit', async () => {
    const { app } = stage;
    const { id } = await record('harbour-8');
    const lines = await auditEntries(app.state, { dataset: 'harbours', entity_id: String(id), limit: 20 });
    expect(lines.map(({ action, who }) => `${action} ${who}`)).toEqual([
      'edit owner master@null.example',
      'edit owner master@null.example',
      'edit owner master@null.example',
      'verify owner master@null.example',
    ]);
    expect(lines[2]).toMatchObject({
      request_id: expect.any(String),
      details: '{"values":{"fuel":"true","berths":"4"}}',
    });
  });

  it('leaves no internal error', () => expect([...stage.app.faults, ...stage.other.faults]).toEqual([]));
});
