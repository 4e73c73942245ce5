// Access to the operators' pages: the login, its session, and attempts from other sites, with stolen cookies
// and by guessing.
import { describe, expect, test } from 'vitest';
import { THEME_ELEMENT, THEME_SOURCE } from '../../../api/pages/frame.ts';
import { hashSecret } from '../../../data/state/key-format.ts';
import { SESSION_LIFETIME } from '../../../data/state/sessions.ts';
import { ADMIN, appOfAll, BASE, NOW, testApp } from '../../support/app.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies('credential.ops-login', 'auth.admin', 'body.ops-login', 'ops.login-page', 'ops.login', 'ops.logout');

const HTML = { Accept: 'text/html,application/xhtml+xml' };
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const OWN = { Origin: BASE, 'Sec-Fetch-Site': 'same-origin' };
const WHO = hashSecret(ADMIN).slice(0, 8);

let clock = NOW;
const app = await appOfAll({ records: 5, now: () => clock });

const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = OWN, address?: string) =>
  app.ask(path, {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    headers: { ...HTML, ...FORM, ...headers },
    ...(address === undefined ? {} : { address }),
  });

const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(';')[0] ?? '';

/** Signs in; returns the cookie as a browser sends it. */
const signIn = async (headers: Record<string, string> = {}) =>
  cookieOf(await post('/ops/login', { key: ADMIN }, { ...OWN, ...headers }));

describe('the login', () => {
  test('is a page with a form, and every page redirects to it', async () => {
    const page = await app.ask('/ops/login', { headers: HTML });
    expect([page.status, page.headers.get('content-type'), page.headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(await page.text()).toMatch(/<form[^>]* method="post" action="\/ops\/login"/);
    for (const [path, next] of [
      ['/ops', ''],
      ['/ops/', ''],
      ['/ops/review', '?next=/ops/review'],
      ['/ops/keys?q=ana@example.org', '?next=/ops/keys'],
    ]) {
      const answer = await app.ask(path!, { headers: HTML });
      expect([path, answer.status, answer.headers.get('location')]).toEqual([path, 303, `/ops/login${next}`]);
    }
  });

  test('accepts an operator’s key, and redirects to the requested page', async () => {
    const answer = await post('/ops/login', { key: ` ${ADMIN} `, next: '/ops/review' });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/ops/review']);
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^__Secure-register_ops=[\w-]{43}; /);
    for (const part of [
      'HttpOnly',
      'SameSite=Strict',
      'Secure',
      'Path=/ops',
      `Max-Age=${SESSION_LIFETIME.life / 1000}`,
    ])
      expect(cookie.split('; ')).toContain(part);
    const page = await app.ask('/ops', { headers: { ...HTML, Cookie: cookieOf(answer) } });
    expect(page.status).toBe(200);
    expect(await page.text()).toContain(`operator ${WHO}`);
  });

  test('sends the cookie without Secure only on one machine', async () => {
    const local = await testApp({ records: 5, base: 'http://localhost:8787' });
    const answer = await local.ask('/ops/login', {
      method: 'POST',
      body: `key=${ADMIN}`,
      headers: { ...FORM, Origin: 'http://localhost:8787' },
    });
    expect(answer.headers.getSetCookie()[0]).toMatch(/^register_ops=/);
    expect(answer.headers.getSetCookie()[0]).not.toContain('Secure');
    await local.close();
  });

  test.each([
    'https://elsewhere.example/ops',
    '//elsewhere.example',
    '/ops/../../elsewhere',
    '/opsx',
    'javascript:alert(1)',
    '/ops/login',
    '/ops?x=//elsewhere',
    '/v1/keys',
  ])('does not lead to %s', async (next) => {
    expect((await post('/ops/login', { key: ADMIN, next })).headers.get('location')).toBe('/ops');
  });

  test('shows the error: no key, another’s key, an invalid key; and never the typed text', async () => {
    const { key } = await newKey(app);
    for (const [typed, status] of [
      ['', 422],
      [key, 401],
      [`${ADMIN}x`, 401],
      ['"><script>alert(1)</script>', 401],
    ] as const) {
      const answer = await post('/ops/login', { key: typed });
      const text = await answer.text();
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([status, []]);
      expect(text).toContain('role="alert"');
      if (typed !== '') expect(text).not.toContain(typed);
    }
    const told = await app.json('/ops/login', { method: 'POST', body: 'key=', headers: { ...FORM, ...OWN } });
    expect([told.status, told.body['detail']]).toEqual([
      422,
      [{ loc: ['body', 'key'], msg: 'is required', type: 'missing' }],
    ]);
  });

  test('is logged with operator and time', async () => {
    await signIn();
    const [last] = await app.state.db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(1).execute();
    expect(last).toMatchObject({ who: `operator ${WHO}`, action: 'sign in', at: clock.getTime() });
  });
});

describe('a session', () => {
  test('ends with the logout, everywhere and at once', async () => {
    const cookie = await signIn();
    const out = await post('/ops/logout', {}, { ...OWN, Cookie: cookie });
    expect([out.status, out.headers.get('location')]).toEqual([303, '/ops/login']);
    expect(out.headers.getSetCookie()[0]).toMatch(/Max-Age=0/);
    expect((await app.ask('/ops', { headers: { ...HTML, Cookie: cookie } })).status).toBe(303);
    expect((await app.json('/ops/stats.json', { headers: { Cookie: cookie } })).status).toBe(401);
  });

  test('has another token after each login, and an earlier one is useless (fixation)', async () => {
    const planted = '__Secure-register_ops=planted-by-somebody-else-0123456789abcdefghi';
    const first = await signIn({ Cookie: planted });
    expect(first).not.toBe(planted);
    expect((await app.ask('/ops', { headers: { ...HTML, Cookie: planted } })).status).toBe(303);
    const second = await signIn({ Cookie: first });
    expect(second).not.toBe(first);
    expect((await app.ask('/ops', { headers: { ...HTML, Cookie: first } })).status).toBe(303);
    expect((await app.ask('/ops', { headers: { ...HTML, Cookie: second } })).status).toBe(200);
  });

  test('ends after an hour without a page, however often a page polls, and after half a day', async () => {
    const cookie = await signIn();
    const at = async (ms: number, path = '/ops') => {
      clock = new Date(NOW.getTime() + ms);
      return (await app.ask(path, { headers: { Accept: 'text/html', Cookie: cookie } })).status;
    };
    for (let ms = 0; ms < SESSION_LIFETIME.idle; ms += 600_000) expect(await at(ms, '/ops/partials/review')).toBe(200);
    expect(await at(SESSION_LIFETIME.idle)).toBe(303);
    clock = NOW;
    const other = await signIn();
    for (let ms = 0; ms < SESSION_LIFETIME.life; ms += SESSION_LIFETIME.idle - 1) {
      clock = new Date(NOW.getTime() + ms);
      expect((await app.ask('/ops/nights', { headers: { ...HTML, Cookie: other } })).status).toBe(200);
    }
    clock = new Date(NOW.getTime() + SESSION_LIFETIME.life);
    expect((await app.ask('/ops/nights', { headers: { ...HTML, Cookie: other } })).status).toBe(303);
    clock = NOW;
  });

  test('a page that polls afterwards leads to the login', async () => {
    const answer = await app.ask('/ops/partials/review', { headers: { Accept: 'text/html', 'HX-Request': 'true' } });
    expect([answer.status, answer.headers.get('hx-redirect')]).toEqual([401, '/ops/login']);
  });

  test('of a key that is no longer an operator’s is invalid', async () => {
    const cookie = await signIn();
    await app.state.db
      .updateTable('ops_sessions')
      .set({ admin: hashSecret('another-key-that-was-one-once') })
      .execute();
    expect((await app.ask('/ops', { headers: { ...HTML, Cookie: cookie } })).status).toBe(303);
  });
});

describe('a form', () => {
  const FOREIGN: [string, Record<string, string>][] = [
    ['from another site', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }],
    ['from another subdomain', { Origin: 'https://evil.register.example', 'Sec-Fetch-Site': 'same-site' }],
    ['from another scheme', { Origin: 'http://register.example' }],
    ['from nowhere', { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' }],
    ['that says nothing of where it came from', {}],
    ['whose two words differ', { Origin: BASE, 'Sec-Fetch-Site': 'cross-site' }],
  ];
  const PATHS = [
    '/ops/review/00000000-0000-4000-8000-000000000000/approve',
    '/ops/keys/00000000-0000-4000-8000-000000000000/grant',
    '/ops/keys/00000000-0000-4000-8000-000000000000/revoke',
    '/ops/logout',
    '/ops/login',
  ];

  test.each(FOREIGN)('%s changes nothing', async (_, headers) => {
    const cookie = await signIn();
    for (const path of PATHS) {
      const answer = await post(path, { key: ADMIN }, { ...headers, Cookie: cookie });
      expect([path, answer.status, answer.headers.getSetCookie()]).toEqual([path, 403, []]);
      expect(await answer.text()).toContain('came from another site');
    }
    // The operator is still signed in.
    expect((await app.ask('/ops', { headers: { ...HTML, Cookie: cookie } })).status).toBe(200);
  });

  test('of ours works with Origin, and with Sec-Fetch-Site only', async () => {
    const cookie = await signIn();
    for (const headers of [{ Origin: BASE }, { 'Sec-Fetch-Site': 'same-origin' }]) {
      const answer = await post(PATHS[0]!, {}, { ...headers, Cookie: cookie });
      expect(answer.status).toBe(404);
    }
  });
});

describe('guessing', () => {
  test('is stopped after ten attempts a minute from one address, and an operator elsewhere is not', async () => {
    const limited = await testApp({ records: 5, calls: { signin: 10 } });
    const attempt = (address: string, key: string) =>
      limited.ask('/ops/login', {
        method: 'POST',
        body: new URLSearchParams({ key }).toString(),
        headers: { ...HTML, ...FORM, ...OWN },
        address,
      });
    const seen = [];
    for (let i = 0; i < 12; i++)
      seen.push((await attempt('203.0.113.7', `guess-number-${i}-0123456789abcdefgh`)).status);
    expect(seen).toEqual([...Array<number>(10).fill(401), 429, 429]);
    const last = await attempt('203.0.113.7', ADMIN);
    expect([last.status, last.headers.getSetCookie(), last.headers.get('retry-after')]).toEqual([
      429,
      [],
      expect.stringMatching(/^\d+$/),
    ]);
    expect(await last.text()).toContain('Too many attempts');
    expect((await attempt('203.0.113.8', ADMIN)).status).toBe(303);
    await limited.close();
  });
});

describe('a program', () => {
  test('shows an operator’s key; no key is 401, another’s 403, a wrong one 401', async () => {
    const { headers } = await newKey(app);
    for (const path of ['/ops', '/ops/stats.json', '/ops/review.json', '/ops/partials/review', '/ops/log']) {
      expect([path, (await app.ask(path, { admin: true })).status]).toEqual([path, 200]);
      expect((await app.json(path)).body['error']).toBe('key_required');
      expect((await app.json(path, { headers })).body['error']).toBe('admin_required');
      expect((await app.json(path, { headers: { Authorization: 'Bearer nonsense' } })).body['error']).toBe(
        'invalid_key',
      );
    }
    const id = '00000000-0000-4000-8000-000000000000';
    const approve = `/ops/review/${id}/approve`;
    expect((await app.json(approve, { method: 'POST', headers })).body['error']).toBe('admin_required');
    expect((await app.json(approve, { method: 'POST' })).body['error']).toBe('key_required');
    expect((await app.json(approve, { method: 'POST', admin: true })).body['error']).toBe('not_found');
  });

  test('that puts the key into an address is refused, whatever the key', async () => {
    const { key } = await newKey(app);
    for (const secret of [ADMIN, key]) {
      const answer = await app.ask(`/ops/stats.json?api_key=${secret}`);
      expect(answer.status).toBe(401);
      expect(await answer.text()).not.toContain(secret);
    }
  });

  test('gets the methods of an address, and 404 for others', async () => {
    const wrong = await app.json('/ops/login', { method: 'DELETE', admin: true });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
    expect((await app.json('/ops/nowhere', { admin: true })).body['error']).toBe('not_found');
    const page = await app.ask('/ops/nowhere', { admin: true, headers: HTML });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  });
});

describe('every page', () => {
  test('has a policy that allows only its own files, and cannot be framed, stored or read by other sites', async () => {
    for (const path of [
      '/ops/login',
      '/ops',
      '/ops/review',
      '/ops/nights',
      '/ops/money',
      '/ops/keys',
      '/ops/opt-outs',
      '/ops/log',
    ]) {
      const answer = await app.ask(path, { admin: true, headers: HTML });
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect([path, answer.status]).toEqual([path, 200]);
      for (const part of [
        "default-src 'none'",
        `script-src 'self' ${THEME_SOURCE}`,
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
      ])
        expect(policy.split('; '), path).toContain(part);
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      const text = (await answer.text()).replace(String(THEME_ELEMENT), '');
      expect(text).not.toMatch(/<script(?![^>]* src="\/)|\son\w+=|\sstyle=/);
      for (const [, src] of text.matchAll(/<script[^>]* src="([^"]*)"/g)) {
        const script = await app.ask(src!);
        expect([src, script.status]).toEqual([src, 200]);
        expect(script.headers.get('content-type')).toMatch(/^text\/javascript/);
      }
    }
  });
});
