// Paid values in place, on both stores: calls that pages make with the session of a visitor, their price, repeats and
// refusals, and the ways to a session from a page and to a consent.
import { expect, it } from 'vitest';
import { BASE, type TestApp } from '../../support/app.ts';
import { balance, callStatus, describeApps, newKey } from '../../support/money-on-stores.ts';

const OWN = { Origin: BASE, 'Sec-Fetch-Site': 'same-origin' };
const FOREIGN: Record<string, string>[] = [
  { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
  { Origin: 'https://evil.register.example', 'Sec-Fetch-Site': 'same-site' },
  { Origin: 'null' },
  {},
];

/** The call of a record's page, at the price that it shows. */
const RECORD = {
  operation: 'entity_get',
  dataset: 'tools',
  arguments: { entity_id: 'record-1' },
  max_price_eur: 0.004,
};

const form = (app: TestApp, path: string, fields: Record<string, string>, Cookie = '') =>
  app.ask(path, {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    headers: { ...OWN, ...(Cookie && { Cookie }) },
  });

async function signIn(app: TestApp, key: string, fields: Record<string, string> = {}) {
  const answer = await form(app, '/account/sign-in', { key, ...fields });
  const Cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return { Cookie, to: answer.headers.get('location') };
}

interface Visitor {
  Cookie: string;
  csrf: string;
  headers: Record<string, string>;
  id: string;
}

async function visitor(app: TestApp, more = 0): Promise<Visitor> {
  const { key, id, headers } = await newKey(app, more);
  const { Cookie } = await signIn(app, key);
  const { body } = await app.json('/account/session', { headers: { Cookie } });
  return { Cookie, csrf: String(body['csrf']), headers, id };
}

const run = (app: TestApp, { Cookie, csrf }: Visitor, call: object, headers: Record<string, string> = OWN) =>
  app.ask('/account/run', {
    method: 'POST',
    body: JSON.stringify(call),
    headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf, Cookie, ...headers },
  });

const outcome = async (response: Response) => {
  const text = await response.text();
  const code = text.startsWith('{') ? (JSON.parse(text) as { error?: string }).error : undefined;
  return [response.status, code].filter(Boolean).join(' ');
};

describeApps('paid values in place', {}, (stage) => {
  it('count against the limits that the owner set for the key', async () => {
    const { app } = stage;
    const reader = await visitor(app);
    const limits = { method: 'PUT', headers: reader.headers, body: '{"per_day_eur":0.006}' };
    expect((await app.json('/v1/keys/me/limits', limits)).status).toBe(200);
    const record = (entity_id: string) => ({ ...RECORD, arguments: { entity_id } });
    expect(await outcome(await run(app, reader, record('record-2')))).toBe('200');
    expect(await outcome(await run(app, reader, record('record-3')))).toBe('403 limit_exceeded');
    expect(await balance(app, reader.headers)).toBeCloseTo(0.496, 6);
  });

  it('cost the exact price once for a record and release, in every process', async () => {
    const { app, other } = stage;
    const reader = await visitor(app);
    const first = await run(app, reader, RECORD);
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect([first.headers.get('x-charge-eur'), first.headers.get('x-balance-eur')]).toEqual(['0.004', '0.496']);
    expect(first.headers.get('access-control-allow-origin')).toBeNull();
    const text = await first.text();
    const rest = await app.ask('/v1/tools/entities/record-1', { headers: reader.headers });
    expect(text).toBe(await rest.text());
    expect(await balance(app, reader.headers)).toBeCloseTo(0.492, 6);
    for (const at of [app, other])
      for (const max_price_eur of [0.004, 0]) {
        const repeat = await run(at, reader, { ...RECORD, max_price_eur });
        expect([repeat.status, repeat.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
        expect(await repeat.text()).toBe(text);
      }
    const simultaneous = await Promise.all(
      [app, other].map((at) => run(at, reader, { ...RECORD, arguments: { entity_id: 'record-2' } })),
    );
    expect(simultaneous.map(({ status }) => status)).toEqual([200, 200]);
    expect(await balance(app, reader.headers)).toBeCloseTo(0.488, 6);
  });

  it('are the page of the operation where the page asks for it', async () => {
    const { app } = stage;
    const reader = await visitor(app);
    const page = await run(app, reader, { ...RECORD, arguments: { ...RECORD.arguments, format: 'html' } });
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(await page.text()).toContain('paid view: every value');
    const call = { operation: 'entity_compare', dataset: 'tools', arguments: { ids: 'record-1,record-2' } };
    const compared = await run(app, reader, { ...call, max_price_eur: 0.012 });
    expect([compared.status, compared.headers.get('x-charge-eur')]).toEqual([200, '0.012']);
  });

  it('come with mails about changes of the view, to the address of the session', async () => {
    const { app } = stage;
    const reader = await visitor(app);
    const follow = { operation: 'keys_subscriptions_add', dataset: 'tools', max_price_eur: 0 };
    const added = await run(app, reader, {
      ...follow,
      arguments: { filters: { kind: 'saw' }, attributes: ['materials'] },
    });
    const { email } = (await app.json('/v1/keys/me', { headers: reader.headers })).body;
    expect([added.status, await added.json()]).toMatchObject([200, { status: 'unverified', email }]);
    const { body } = await app.json('/v1/keys/me/subscriptions', { headers: reader.headers });
    expect(body['items']).toMatchObject([
      { dataset: 'tools', url: null, query: { kind: 'saw', attribute: 'materials' } },
    ]);
    const refused = (args: object) => run(app, reader, { ...follow, arguments: args }).then(outcome);
    expect(await refused({ filters: { min_runtime: 1 } })).toBe('403 plan_required');
    expect(await refused({ url: 'https://example.org/' })).toBe('422 validation_failed');
    expect(await outcome(await run(app, { ...reader, csrf: 'x' }, { ...follow, arguments: {} }))).toBe(
      '401 key_required',
    );
    expect(await balance(app, reader.headers)).toBe(0.5);
  });

  it('are paid again on another release', async () => {
    const { app } = stage;
    const reader = await visitor(app);
    const { records } = app;
    expect((await run(app, reader, RECORD)).headers.get('x-balance-eur')).toBe('0.496');
    const [record, ...others] = records['tools']!;
    await app.publish('tools', [{ ...record!, updated_at: '2026-11-20T11:00:00Z' }, ...others]);
    const again = await run(app, reader, RECORD);
    expect([again.headers.get('idempotency-replayed'), again.headers.get('x-balance-eur')]).toEqual([null, '0.492']);
    await stage.other.register.refresh();
  });

  it('are refused without the token, from other sites, above the price, and without a session', async () => {
    const { app } = stage;
    const [reader, stranger] = [await visitor(app), await visitor(app)];
    for (const csrf of ['', 'x', stranger.csrf])
      expect(await outcome(await run(app, { ...reader, csrf }, RECORD))).toBe('401 key_required');
    for (const headers of FOREIGN) expect((await run(app, reader, RECORD, headers)).status).toBe(403);
    expect(await outcome(await run(app, reader, { ...RECORD, max_price_eur: 0.003 }))).toBe('403 limit_exceeded');
    expect(await outcome(await run(app, reader, { ...RECORD, max_price_eur: 0 }))).toBe('403 limit_exceeded');
    expect(await outcome(await run(app, { ...reader, Cookie: '' }, RECORD))).toBe('401 key_required');
    const wrong = [
      { ...RECORD, max_price_eur: -1 },
      { ...RECORD, max_price_eur: undefined },
      { ...RECORD, price: 1 },
      { ...RECORD, arguments: 'record-1' },
      { ...RECORD, arguments: { entity_id: 'record-1', fields: 'nope' } },
    ];
    for (const call of wrong) expect((await run(app, reader, call)).status, JSON.stringify(call)).toBeOneOf([400, 422]);
    const unknown = [
      { ...RECORD, operation: 'keys_revoke_own' },
      { ...RECORD, operation: 'keys_topup' },
      { ...RECORD, dataset: 'nothing' },
      { ...RECORD, arguments: { entity_id: 'nothing' } },
    ];
    for (const call of unknown) expect((await run(app, reader, call)).status, JSON.stringify(call)).toBe(404);
    expect(await outcome(await run(app, reader, { ...RECORD, operation: 'dataset_export', arguments: {} }))).toBe(
      '403 plan_required',
    );
    expect(await balance(app, reader.headers)).toBe(0.5);
    const poor = await visitor(app);
    await app.state.db.updateTable('balances').set({ amount: 3_999 }).where('account', '=', `key:${poor.id}`).execute();
    expect(await outcome(await run(app, poor, RECORD))).toBe('402 insufficient_credits');
  });

  it('are not shown to the session of another account, nor after signing out', async () => {
    const { app } = stage;
    const [reader, stranger] = [await visitor(app), await visitor(app)];
    expect((await run(app, reader, RECORD)).status).toBe(200);
    expect(await outcome(await run(app, stranger, { ...RECORD, max_price_eur: 0 }))).toBe('403 limit_exceeded');
    const mixed = { ...stranger, csrf: reader.csrf };
    expect(await outcome(await run(app, mixed, { ...RECORD, max_price_eur: 0 }))).toBe('401 key_required');
    await form(app, '/account/sign-out', {}, reader.Cookie);
    expect(await outcome(await run(app, reader, { ...RECORD, max_price_eur: 0 }))).toBe('401 key_required');
    const gone = await app.json('/account/session', { headers: { Cookie: reader.Cookie } });
    expect(gone.body).toEqual({ signed_in: false });
  });

  it('need a session that /v1 never reads, and that other sites cannot read', async () => {
    const { app } = stage;
    const reader = await visitor(app);
    const session = await app.ask('/account/session', {
      headers: { Cookie: reader.Cookie, Origin: 'https://evil.example' },
    });
    expect(session.headers.get('access-control-allow-origin')).toBeNull();
    expect(session.headers.get('cache-control')).toBe('no-store');
    const headers = { Cookie: reader.Cookie, 'X-CSRF-Token': reader.csrf, ...OWN };
    expect(await callStatus(app, '/v1/tools/entities/record-1', { headers })).toBe('402 payment_required');
  });

  it('lead to the sign-in and back, on this site only', async () => {
    const { app } = stage;
    const { key } = await newKey(app);
    const path = '/datasets/tools/record-1?a=b#load';
    const page = await (await app.ask(`/account?next=${encodeURIComponent(path)}`)).text();
    expect(page).toContain(`name="next" value="${path}"`);
    expect(page).toContain(`/keys?next=${encodeURIComponent(path)}`);
    const { Cookie, to } = await signIn(app, key, { next: path });
    expect(to).toBe(path);
    const signedIn = await app.ask(`/account?next=${encodeURIComponent(path)}`, { headers: { Cookie } });
    expect(signedIn.headers.get('location')).toBe(path);
    for (const next of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/a\n/b'])
      expect((await signIn(app, key, { next })).to, next).toBe('/account');
    const created = await form(app, '/keys', { email: 'next@example.org', next: path });
    expect(await created.text()).toContain(`<a class="button" href="${path}">Back to the page</a>`);
  });

  it('leave no internal error', () => expect([...stage.app.faults, ...stage.other.faults]).toEqual([]));
});
