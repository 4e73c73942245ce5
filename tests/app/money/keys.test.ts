// The operations on keys, on both stores: created once, shown once, owned, granted, revoked, recovered.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { auditEntries } from '../../../data/state/audit.ts';
import { linkState, newLink } from '../../../data/state/links.ts';
import { grantsOf, openGrant } from '../../../data/state/oauth/grants.ts';
import { forgetAddress } from '../../../data/state/ops/forget.ts';
import { BASE, NOW, type TestApp } from '../../support/app.ts';
import { balance, callStatus, describeApps, grant, newKey } from '../../support/money-on-stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies(
  'keys.create',
  'keys.create-conflict',
  'keys.me',
  'keys.list',
  'keys.revoke',
  'keys.grant',
  'auth.admin',
  'credential.admin-endpoints',
  'code.key-exists',
  'error.409',
  'abuse.creation',
  'abuse.disposable',
  'abuse.recover',
);

const UUID = /^[0-9a-f-]{36}$/;
const post = (app: TestApp, path: string, body: unknown, init: Parameters<TestApp['ask']>[1] = {}) =>
  app.json(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), ...init });
const why = async (answer: ReturnType<TestApp['json']>) => {
  const { status, body } = await answer;
  return `${status} ${body['error'] ?? ''}`.trim();
};

let clock = NOW;
const now = () => clock;

describeApps('keys', { now }, (stage) => {
  it('are made with a welcome credit and shown once; the secret is nowhere in the store', async () => {
    verifies('key.shown-once', 'shape.keys-create', 'body.key-create.email');
    const { app } = stage;
    const made = await post(app, '/v1/keys', { email: 'First.Reader@Example.org' }, { address: '192.0.2.1' });
    expect(made.status).toBe(201);
    expect(made.headers.get('cache-control')).toBe('no-store');
    expect(made.headers.get('etag')).toBeNull();
    const { id, key, attribution, license, ...rest } = made.body;
    expect(rest).toEqual({ email: 'First.Reader@Example.org', plan: 'payg', balance_eur: 0.5 });
    expect(id).toMatch(UUID);
    expect([attribution, license]).toEqual([expect.stringContaining(BASE), expect.any(String)]);
    const tables = ['keys', 'entries', 'balances', 'secrets', 'idempotency', 'links'] as const;
    for (const table of tables)
      expect(JSON.stringify(await app.state.db.selectFrom(table).selectAll().execute())).not.toContain(key);
    for (const same of ['first.reader@example.org', 'First.Reader+2@EXAMPLE.org'])
      expect(await why(post(app, '/v1/keys', { email: same }, { address: '192.0.2.1' }))).toBe('409 key_exists');
  });

  it('are one for an address, in any spelling and with any number of parallel requests', async () => {
    const { app, other } = stage;
    const written = ['d.o.t@gmail.com', 'dot@googlemail.com', 'D.OT+x@gmail.com', 'dot@GMAIL.com'];
    const answers = await Promise.all(
      written.map((email, i) => why(post(i % 2 ? app : other, '/v1/keys', { email }, { address: '192.0.2.2' }))),
    );
    expect(answers.sort()).toEqual(['201', '409 key_exists', '409 key_exists', '409 key_exists']);
  });

  it('refuse invalid bodies, wrong addresses, throw-away domains, unknown plans and parameters', async () => {
    verifies('body.key-create.email', 'body.key-create.plan', 'code.payload-too-large');
    const { app } = stage;
    const from = { address: '192.0.2.3' };
    const refused = ['', '{', '[]', 'null', '{}', { email: 7 }, { email: 'nobody' }, { email: 'a@b@example.org' }];
    for (const body of [...refused, { email: 'a@mailinator.com' }, { email: 'a@x.mailinator.com' }]) {
      const { status, body: told } = await post(app, '/v1/keys', body, from);
      expect([status, told['error']], JSON.stringify(body)).toEqual([422, 'validation_failed']);
      expect((told['detail'] as { loc: string[] }[])[0]?.loc[0]).toBe('body');
    }
    for (const plan of ['internal', 'gold', 'constructor', ''])
      expect(await why(post(app, '/v1/keys', { email: 'plan@example.org', plan }, from))).toBe('422 validation_failed');
    expect(await why(post(app, '/v1/keys?x=1', { email: 'plan@example.org' }, from))).toBe('400 unknown_filter');
    expect(await why(post(app, '/v1/keys', `{"email":"${'a'.repeat(70_000)}"}`, from))).toBe('413 payload_too_large');
    const paid = await post(app, '/v1/keys', { email: 'plan@example.org', plan: 'pro' }, from);
    expect([paid.status, paid.body['plan'], paid.body['checkout_url']]).toEqual([201, 'payg', undefined]);
  });

  it('are ten a day for an address, whatever its headers; the next day there are ten more', async () => {
    const { app, other } = stage;
    const make = (i: number, address: string) =>
      why(post(i % 2 ? app : other, '/v1/keys', { email: `crowd${i}@example.org` }, { address }));
    const seen: string[] = [];
    for (let i = 0; i < 12; i++) seen.push(await make(i, `2001:db8:ffff:1:${i}::1`));
    expect(seen).toEqual([...Array(10).fill('201'), '429 rate_limited', '429 rate_limited']);
    // One proxy is trusted: entries further left in X-Forwarded-For are claims of the client.
    expect(await make(20, '198.51.100.7, 2001:db8:ffff:1::9')).toBe('429 rate_limited');
    clock = new Date(NOW.getTime() + 86_400_000);
    expect(await make(21, '2001:db8:ffff:1::9')).toBe('201');
    clock = NOW;
  });

  it('are 30 a day for an IPv6 /56 and 100 for a /48; a mapped IPv4 address counts as IPv4', async () => {
    const { app, other } = stage;
    let turn = 0;
    const make = (address: string) => {
      turn += 1;
      return why(post(turn % 2 ? app : other, '/v1/keys', { email: `block${turn}@example.org` }, { address }));
    };
    const tally = async (addresses: string[]) => {
      const answers: string[] = [];
      for (const address of addresses) answers.push(await make(address));
      return answers.filter((answer) => answer === '201').length;
    };
    const group = (n: number) => n.toString(16);
    // One /56, each key from another of its /64s.
    expect(await tally(Array.from({ length: 33 }, (_, i) => `2001:db8:fff0:${group(i)}::1`))).toBe(30);
    // The rest of the /48, each key from another of its /56s.
    expect(await tally(Array.from({ length: 75 }, (_, i) => `2001:db8:fff0:${group(256 * (i + 1))}::1`))).toBe(70);
    expect(await make('2001:db8:fff1::1')).toBe('201');
    const mapped = [...Array<string>(6).fill('203.0.113.9'), ...Array<string>(6).fill('::ffff:203.0.113.9')];
    expect(await tally(mapped)).toBe(10);
  });

  it('show their ledger page by page', async () => {
    verifies('key.state', 'shape.keys-me', 'shape.keys-me-page', 'header.request-id');
    const { app } = stage;
    const { headers, id } = await newKey(app, 1);
    for (let i = 0; i < 3; i++) await (await app.ask('/v1/tools/entities/record-1', { headers })).text();
    const walked: Record<string, unknown>[] = [];
    let cursor = '';
    do {
      const { body } = await app.json(`/v1/keys/me?limit=2${cursor}`, { headers });
      expect(body).toMatchObject({ id, plan: 'payg', balance_eur: 1.488 });
      walked.push(...(body['ledger'] as Record<string, unknown>[]));
      cursor = body['next_cursor'] === null ? '' : `&cursor=${body['next_cursor']}`;
    } while (cursor !== '');
    const at = NOW.toISOString();
    expect(walked.map(({ kind, amount_eur, balance_eur }) => [kind, amount_eur, balance_eur])).toEqual([
      ['charge', -0.004, 1.488],
      ['charge', -0.004, 1.492],
      ['charge', -0.004, 1.496],
      ['grant', 1, 1.5],
      ['welcome', 0.5, 0.5],
    ]);
    const [newest] = walked;
    expect(newest).toEqual({
      ...newest,
      at,
      operation: 'entity_get',
      dataset: 'tools',
      request_id: expect.stringMatching(UUID),
    });
    const asked = await app.ask('/v1/tools/entities/record-2', { headers });
    const { body: after } = await app.json('/v1/keys/me?limit=1', { headers });
    expect((after['ledger'] as { request_id: string }[])[0]?.request_id).toBe(asked.headers.get('x-request-id'));
    const refused = await app.json('/v1/keys/me?limit=x', { headers });
    expect(refused.body['request_id']).toBe(refused.headers.get('x-request-id'));
    expect(await callStatus(app, '/v1/keys/me?limit=501', { headers })).toBe('422 validation_failed');
    expect(await callStatus(app, '/v1/keys/me?cursor=nonsense', { headers })).toBe('400 invalid_cursor');
    const text = await (await app.ask('/v1/keys/me.md', { headers })).text();
    expect(text).toContain('Balance 1.484 EUR, plan payg.');
  });

  it('are listed, granted and revoked by operators alone', async () => {
    const { app, other } = stage;
    const { id, headers } = await newKey(app);
    const endpoints: [string, string, unknown?][] = [
      ['GET', '/v1/keys'],
      ['DELETE', `/v1/keys/${id}`],
      ['POST', '/v1/keys/grant', { key_id: id, amount_eur: 1 }],
    ];
    for (const [method, path, body] of endpoints) {
      const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      expect(await callStatus(app, path, { ...init, address: '192.0.2.9' })).toBe('401 key_required');
      expect(await callStatus(app, path, { ...init, headers })).toBe('403 admin_required');
    }
    verifies('shape.keys-list', 'shape.keys-grant', 'error.403');
    const listed: string[] = [];
    let cursor = '';
    do {
      const { body } = await app.json(`/v1/keys?limit=3${cursor}`, { admin: true });
      for (const key of body['keys'] as Record<string, unknown>[])
        expect(Object.keys(key).sort()).toEqual(['balance_eur', 'created_at', 'email', 'id', 'plan', 'revoked_at']);
      listed.push(...(body['keys'] as { id: string }[]).map((key) => key.id));
      cursor = body['next_cursor'] === null ? '' : `&cursor=${body['next_cursor']}`;
    } while (cursor !== '');
    expect(listed).toContain(id);
    expect(new Set(listed).size).toBe(listed.length);
    expect(await callStatus(app, '/v1/keys/me', { method: 'DELETE', admin: true })).toBe('404 not_found');
    expect(await callStatus(app, '/v1/keys/7', { method: 'DELETE', admin: true })).toBe('422 validation_failed');
    const nobody = '00000000-0000-4000-8000-000000000000';
    expect(await callStatus(app, `/v1/keys/${nobody}`, { method: 'DELETE', admin: true })).toBe('404 not_found');
    expect((await other.json(`/v1/keys/${id}`, { method: 'DELETE', admin: true })).body).toMatchObject({
      id,
      revoked: true,
    });
    expect(await callStatus(app, '/v1/keys/me', { headers })).toBe('401 invalid_key');
    expect(await callStatus(app, '/v1/tools/entities', { headers })).toBe('401 invalid_key');
  });

  it('take grants of credit and plans, and no negative, huge, crooked or empty ones', async () => {
    verifies('body.grant.key-id', 'body.grant.amount', 'body.grant.reason', 'shape.keys-grant');
    const { app } = stage;
    const { id, headers } = await newKey(app);
    expect((await grant(app, { key_id: id, amount_eur: 12.345678 })).body).toMatchObject({
      id,
      balance_eur: 12.845678,
      plan: 'payg',
    });
    await grant(app, { key_id: id, amount_eur: 0.000001, reason: 'for the test' });
    await grant(app, { key_id: id, amount_eur: 0.000001 });
    const rows = await app.state.db.selectFrom('entries').select('note').where('account', '=', `key:${id}`).execute();
    expect(rows.map(({ note }) => note).filter((note) => note !== null)).toEqual(['grant', 'for the test', 'grant']);
    expect((await grant(app, { key_id: id, amount_eur: 0, plan: 'pro' })).body).toMatchObject({ plan: 'pro' });
    const amounts = [-1, -0.000001, 0, 100_000.01, 1e308, 0.0000001, '5', null, [], {}];
    for (const amount_eur of amounts)
      expect((await grant(app, { key_id: id, amount_eur })).status, String(amount_eur)).toBe(422);
    for (const text of ['NaN', 'Infinity', '1e999', '-1e999'])
      expect(
        (await post(app, '/v1/keys/grant', `{"key_id":"${id}","amount_eur":${text}}`, { admin: true })).status,
      ).toBe(422);
    expect((await grant(app, { key_id: id, amount_eur: 1, plan: 'gold' })).status).toBe(422);
    expect((await grant(app, { key_id: 'x', amount_eur: 1 })).status).toBe(422);
    expect((await grant(app, { key_id: '00000000-0000-4000-8000-000000000000', amount_eur: 1 })).status).toBe(404);
    expect(await balance(app, headers)).toBe(12.84568);
    // An operator's request may be repeated too and is granted once.
    const once = { 'Idempotency-Key': 'grant-0000000001' };
    await grant(app, { key_id: id, amount_eur: 1 }, once);
    const again = await grant(app, { key_id: id, amount_eur: 1 }, once);
    expect([again.body['balance_eur'], again.headers.get('idempotency-replayed')]).toEqual([13.84568, 'true']);
    expect((await grant(app, { key_id: id, amount_eur: 2 }, once)).body['error']).toBe('idempotency_conflict');
    expect(await balance(app, headers)).toBe(13.84568);
  });

  it('work in ten years as today, for all reads', async () => {
    verifies('key.no-expiry');
    const { app } = stage;
    const { headers } = await newKey(app);
    clock = new Date(NOW.getTime() + 10 * 365 * 86_400_000);
    for (const path of ['/v1/keys/me', '/v1/tools/entities', '/v1/tools/stats?attribute=mass', '/v1/harbours/entities'])
      expect((await app.ask(path, { headers })).status, path).toBe(200);
    clock = NOW;
  });

  it('have no checkout without Stripe beyond the loopback, with a message; amounts and plans are validated first', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    expect(await why(post(app, '/v1/keys/topup', { amount_eur: 5 }, { headers }))).toBe('503 unavailable');
    expect(await why(post(app, '/v1/keys/subscribe', { plan: 'pro' }, { headers }))).toBe('503 unavailable');
    for (const amount_eur of [4.99, 1000.01, -5, 'five', 5.0000001])
      expect(await why(post(app, '/v1/keys/topup', { amount_eur }, { headers }))).toBe('422 validation_failed');
    for (const plan of ['payg', 'internal', 'gold'])
      expect(await why(post(app, '/v1/keys/subscribe', { plan }, { headers }))).toBe('422 validation_failed');
    for (const path of ['/v1/keys/topup', '/v1/keys/subscribe', '/v1/keys/me'])
      expect(await callStatus(app, path, { method: path.endsWith('me') ? 'GET' : 'POST', address: '192.0.2.8' })).toBe(
        '401 key_required',
      );
  });

  it('are recovered by a mailed link whose button works once; following the link changes nothing', async () => {
    const { app } = stage;
    const { headers, id } = await newKey(app);
    const listed = await app.json('/v1/keys?limit=500', { admin: true });
    const email = (listed.body['keys'] as { id: string; email: string }[]).find((key) => key.id === id)?.email ?? '';
    const outbox = join(app.dataDir, 'outbox');
    const mails = () => {
      try {
        return readdirSync(outbox).map((name) => readFileSync(join(outbox, name), 'utf8'));
      } catch {
        return [];
      }
    };
    const ask = (address: string) => post(app, '/v1/keys/recover', { email: address }, { address: '192.0.2.20' });
    const [unknown, known] = [await ask('nobody@example.org'), await ask(email.toUpperCase())];
    expect([unknown.status, unknown.body]).toEqual([known.status, known.body]);
    expect(known.body['status']).toBe('sent');
    expect(mails()).toHaveLength(1);
    const [mail = ''] = mails();
    expect(mail).toContain(`To: ${email}\r\n`);
    const token = /\/keys\/recover\?token=([\w-]{43})/.exec(mail)?.[1] ?? '';
    expect(JSON.stringify(await app.state.db.selectFrom('links').selectAll().execute())).not.toContain(token);
    for (let look = 0; look < 3; look++) {
      const page = await app.ask(`/keys/recover?token=${token}`);
      expect([page.status, page.headers.get('cache-control'), page.headers.get('referrer-policy')]).toEqual([
        200,
        'no-store',
        'no-referrer',
      ]);
      expect(await page.text()).toContain('<form method="post">');
    }
    expect(await balance(app, headers)).toBe(0.5);
    const press = () => app.ask('/keys/recover', { method: 'POST', body: `token=${token}` });
    const pressed = await Promise.all([press(), press()]);
    const texts = await Promise.all(pressed.map((answer) => answer.text()));
    const fresh = texts.flatMap((text) => /dsr_[0-9A-Za-z]{43}/.exec(text) ?? []);
    expect(fresh).toHaveLength(1);
    expect(pressed.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(await callStatus(app, '/v1/keys/me', { headers })).toBe('401 invalid_key');
    expect(await balance(app, { Authorization: `Bearer ${fresh[0]}` })).toBe(0.5);
    // Another link, which expires after an hour.
    await ask(email);
    const late = mails()
      .flatMap((text) => /token=([\w-]{43})/.exec(text)?.[1] ?? [])
      .find((each) => each !== token);
    clock = new Date(NOW.getTime() + 3_600_001);
    expect((await app.ask(`/keys/recover?token=${late}`)).status).toBe(404);
    expect((await app.ask('/keys/recover', { method: 'POST', body: `token=${late}` })).status).toBe(404);
    clock = NOW;
    // One more, since the first link was used; then none within the hour, from any address.
    for (let i = 0; i < 9; i++) await post(app, '/v1/keys/recover', { email }, { address: `192.0.2.${30 + i}` });
    expect(mails()).toHaveLength(2);
    const answers = [];
    for (let i = 0; i < 9; i++) answers.push(await why(ask('nobody@example.org')));
    expect(answers.at(-1)).toBe('429 rate_limited');
  });

  it('lose their unused mailed links when they are replaced, recovered or revoked, and no others', async () => {
    const { app } = stage;
    const token = async (purpose: string, subject: string) =>
      newLink(app.state, { purpose, subject, now: NOW.getTime(), lasts: 3_600_000 });
    const states = (tokens: Record<string, string>) =>
      Promise.all(Object.entries(tokens).map(([purpose, link]) => linkState(app.state, purpose, link, NOW.getTime())));
    const ends: ((key: Awaited<ReturnType<typeof newKey>>, recover: string) => Promise<number>)[] = [
      async ({ headers }) => (await app.json('/v1/keys/me/rotate', { method: 'POST', headers })).status,
      async ({ headers }) => (await app.json('/v1/keys/me', { method: 'DELETE', headers })).status,
      async ({ id }) => (await app.json(`/v1/keys/${id}`, { method: 'DELETE', admin: true })).status,
      async (_, recover) => (await app.ask('/keys/recover', { method: 'POST', body: `token=${recover}` })).status,
    ];
    const stranger = await token('recover', (await newKey(app)).id);
    for (const end of ends) {
      const key = await newKey(app);
      const used = await token('recover', key.id);
      const links = { recover: await token('recover', key.id), account: await token('account', key.id) };
      expect(await states(links)).toEqual(['good', 'good']);
      // A sign-in of the authorization server, such as that of the holder of a lost secret.
      const signIn = { model: 'Session', id: key.id, payload: JSON.stringify({ accountId: key.id }) };
      const unset = { grant_id: null, uid: null, consumed_at: null, expires_at: null };
      await app.state.db
        .insertInto('oauth_items')
        .values({ ...signIn, ...unset })
        .execute();
      expect(await end(key, used)).toBe(200);
      expect(await states(links)).toEqual(['unknown', 'unknown']);
      // A revoked key cannot be used there, so its sign-in may stay.
      const signIns = await app.state.db.selectFrom('oauth_items').select('id').where('id', '=', key.id).execute();
      expect(signIns.length).toBe(end === ends[1] || end === ends[2] ? 1 : 0);
      expect((await app.ask('/keys/recover', { method: 'POST', body: `token=${links.recover}` })).status).toBe(404);
      expect((await app.ask(`/account/link?token=${links.account}`)).status).toBe(404);
    }
    expect(await states({ recover: stranger })).toEqual(['good']);
  });

  it('can be made again for an address whose key was revoked, without the welcome credit', async () => {
    const { app, other } = stage;
    const from = { address: '192.0.2.60' };
    const make = (at: TestApp, email = 'again@example.org') => post(at, '/v1/keys', { email }, from);
    const first = await make(app);
    const headers = { Authorization: `Bearer ${first.body['key']}` };
    expect((await app.json('/v1/keys/me', { method: 'DELETE', headers })).status).toBe(200);
    const answers = await Promise.all([make(app), make(other), make(app, 'Again+2@Example.org')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    const { body } = answers.find(({ status }) => status === 201)!;
    expect(body).toMatchObject({ plan: 'payg', balance_eur: 0, notice: expect.stringMatching(/had a key.*0 EUR/) });
    // The 409 names the recovery, which works: the address has a live key.
    await post(app, '/v1/keys/recover', { email: 'again@example.org' }, { address: '192.0.2.61' });
    const links = await app.state.db
      .selectFrom('links')
      .select('purpose')
      .where('subject', '=', String(body['id']))
      .execute();
    expect(links).toEqual([{ purpose: 'recover' }]);
    expect(await callStatus(app, '/v1/keys/me', { headers })).toBe('401 invalid_key');
    // Only the new key has the address.
    const erased = await forgetAddress(app.state, 'again@example.org', NOW.getTime(), true);
    expect(erased).toMatchObject({ keys: 1, links: 0 });
    const kept = await app.state.db.selectFrom('keys').select('email').where('email', 'like', '%again%').execute();
    expect(kept).toEqual([]);
  });

  it('are replaced by their owner once, even at the same moment; credit and plan stay', async () => {
    verifies('keys.rotate');
    const { app, other } = stage;
    const { id, headers } = await newKey(app, 5);
    await grant(app, { key_id: id, amount_eur: 0, plan: 'pro' });
    const times = { expires_at: null, created_at: NOW.getTime() };
    await openGrant(app.state, 'session', { key_id: id, client_id: 'c', client_name: 'Agent', cap: null, ...times });
    const { body: child } = await app.json('/v1/keys/me/children', { method: 'POST', headers, body: '{"name":"a"}' });
    const rotate = (at: TestApp, init: object = { headers }) =>
      at.json('/v1/keys/me/rotate', { method: 'POST', ...init });
    expect((await rotate(app, { headers, body: '{"keep_apps":"yes"}' })).body['detail']).toMatchObject([
      { loc: ['body', 'keep_apps'] },
    ]);
    const answers = await Promise.all([rotate(app), rotate(other)]);
    expect(answers.map(({ status, body }) => body['error'] ?? status).sort()).toEqual([200, 'invalid_key']);
    const { body, headers: sent } = answers.find(({ status }) => status === 200)!;
    expect(sent.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({ id, key: expect.stringMatching(/^dsr_\w{43}$/), ended: { children: 1, apps: 1 } });
    for (const at of [app, other]) expect(await callStatus(at, '/v1/keys/me', { headers })).toBe('401 invalid_key');
    const fresh = { Authorization: `Bearer ${body['key']}` };
    expect((await app.json('/v1/keys/me', { headers: fresh })).body).toMatchObject({
      id,
      plan: 'pro',
      balance_eur: 5.5,
    });
    expect(await grantsOf(app.state, id, NOW.getTime())).toHaveLength(0);
    const ended = { headers: { Authorization: `Bearer ${child['key']}` } };
    expect(await callStatus(other, '/v1/keys/me', ended)).toBe('401 invalid_key');
    const log = await auditEntries(app.state, { limit: 1 });
    expect(log).toMatchObject([{ who: `key ${id}`, action: 'rotate', subject: id }]);
    expect(JSON.stringify(log)).not.toContain(body['key']);
    expect(await callStatus(app, '/v1/keys/me/rotate', { method: 'POST' })).toBe('401 key_required');
    expect(await callStatus(app, '/v1/keys/me/rotate', { method: 'POST', admin: true })).toBe('404 not_found');
  });

  it.each([
    [{ keep_children: true }, { children: 0, apps: 1 }],
    [{ keep_apps: true }, { children: 1, apps: 0 }],
    [
      { keep_children: true, keep_apps: true },
      { children: 0, apps: 0 },
    ],
  ])('keep on a rotation with %j what they name', async (choice, ended) => {
    const { app } = stage;
    const { id, headers } = await newKey(app, 5);
    const { body: child } = await app.json('/v1/keys/me/children', { method: 'POST', headers, body: '{"name":"a"}' });
    const times = { expires_at: null, created_at: NOW.getTime() };
    await openGrant(app.state, `kept ${id}`, { key_id: id, client_id: 'c', client_name: 'A', cap: null, ...times });
    const { body } = await app.json('/v1/keys/me/rotate', { method: 'POST', headers, body: JSON.stringify(choice) });
    expect(body['ended']).toEqual(ended);
    const asChild = { headers: { Authorization: `Bearer ${child['key']}` } };
    const status = ended.children === 0 ? '200' : '401 invalid_key';
    expect(await callStatus(app, '/v1/tools/entities/record-1', asChild)).toBe(status);
    expect(await grantsOf(app.state, id, NOW.getTime())).toHaveLength(1 - ended.apps);
  });

  it('are revoked by their owner, which ends their grants', async () => {
    verifies('keys.close');
    const { app, other } = stage;
    const { id, headers } = await newKey(app);
    expect((await app.json('/v1/keys/me', { method: 'DELETE', headers })).body).toMatchObject({ id, revoked: true });
    for (const at of [app, other]) expect(await callStatus(at, '/v1/keys/me', { headers })).toBe('401 invalid_key');
    expect(await auditEntries(app.state, { limit: 1 })).toMatchObject([{ action: 'revoke', subject: id }]);
    expect(await callStatus(app, '/v1/keys/me', { method: 'DELETE' })).toBe('401 key_required');
  });

  it('list their charged calls by day, dataset and operation', async () => {
    verifies('keys.usage');
    const { app } = stage;
    const { headers } = await newKey(app);
    const usage = async (query = '') => (await app.json(`/v1/keys/me/usage${query}`, { headers })).body['days'];
    expect(await usage()).toEqual([]);
    for (const path of ['record-1', 'record-2', 'record-1/similar', 'record-1/facts'])
      expect((await app.json(`/v1/tools/entities/${path}`, { headers })).status).toBe(200);
    clock = new Date(NOW.getTime() + 86_400_000);
    expect((await app.json('/v1/tools/entities/record-1', { headers })).status).toBe(200);
    const ledger = (await app.json('/v1/keys/me', { headers })).body['ledger'] as {
      kind: string;
      amount_eur: number;
    }[];
    const days = (await usage()) as { date: string; operation: string; calls: number; amount_eur: number }[];
    const charged = (list: { amount_eur: number }[]) => list.reduce((sum, { amount_eur }) => sum + amount_eur, 0);
    expect(charged(days)).toBeCloseTo(-charged(ledger.filter(({ kind }) => kind === 'charge')), 9);
    expect(days.map(({ date, operation, calls }) => `${date} ${operation} ${calls}`)).toEqual([
      '2026-11-20 entity_get 2',
      '2026-11-20 entity_history 1',
      '2026-11-20 entity_similar 1',
      '2026-11-21 entity_get 1',
    ]);
    expect(await usage('?days=1')).toEqual(days.slice(3));
    for (const wrong of ['0', '91', 'x'])
      expect(await callStatus(app, `/v1/keys/me/usage?days=${wrong}`, { headers })).toBe('422 validation_failed');
    const markdown = await app.ask('/v1/keys/me/usage.md', { headers });
    expect(await markdown.text()).toContain('|2026-11-21|tools|entity_get||1|');
    clock = NOW;
  });

  it('leave no internal error', () => expect([...stage.app.faults, ...stage.other.faults]).toEqual([]));
});

describeApps('the welcome credit of a day', { now, welcome_budget: 3_200_000 }, (stage) => {
  const total = async () => {
    const rows = await stage.app.state.db
      .selectFrom('entries')
      .select('amount')
      .where('account', '=', 'welcome')
      .where('at', '=', clock.getTime())
      .execute();
    return -rows.reduce((sum, { amount }) => sum + amount, 0);
  };

  it('is bounded over 100 creations at once in two processes; past it keys begin with 0 EUR and the answer says so', async () => {
    const { app, other } = stage;
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        post(i % 2 ? app : other, '/v1/keys', { email: `many${i}@example.org` }, { address: `192.0.2.${i}` }),
      ),
    );
    expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
    expect(answers.filter(({ body }) => body['balance_eur'] === 0.5)).toHaveLength(6);
    const without = answers.filter(({ body }) => body['balance_eur'] === 0);
    expect(without).toHaveLength(94);
    for (const { body } of without) expect(body['notice']).toMatch(/starts with 0 EUR/);
    expect(answers.filter(({ body }) => body['notice'] === undefined)).toHaveLength(6);
    expect(await total()).toBe(3_000_000);
    const headers = { Authorization: `Bearer ${without[0]?.body['key']}` };
    expect(await balance(app, headers)).toBe(0);
    expect(await callStatus(app, '/v1/tools/entities/record-1', { headers })).toBe('402 insufficient_credits');
    expect([...app.faults, ...other.faults]).toEqual([]);
  });

  it('begins anew at midnight UTC, and a refused creation takes none of it', async () => {
    const { app } = stage;
    clock = new Date(NOW.getTime() + 86_400_000);
    const make = (email: string) => post(app, '/v1/keys', { email }, { address: `2001:db8:${email.length}::1` });
    for (let i = 0; i < 6; i++) expect((await make('many1@example.org')).status).toBe(409);
    expect((await make('tomorrow@example.org')).body).toMatchObject({ balance_eur: 0.5 });
    expect(await total()).toBe(500_000);
    clock = NOW;
  });
});
