// The log: what a line contains, and what it never contains.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loggedPath, openLog, redactSecrets } from '../../api/http/log.ts';
import { ADMIN } from '../support/app.ts';
import { type Api, richKey, smallData, startApi } from '../support/money-processes.ts';

/** Lines of a log as objects. */
function lines(level: 'info' | 'error' = 'info') {
  const written: string[] = [];
  const log = openLog({ level, write: (line) => void written.push(line) });
  return { log, told: () => written.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('a line', () => {
  test('is JSON with time, level and request id; a fault has its stack, and no other properties of the error', () => {
    const { log, told } = lines();
    log.info('tools: serving release 1');
    log.answered({ request_id: 'r-1', method: 'GET', path: '/v1/tools/status', status: 200, ms: 1.5 });
    log.answered({ request_id: 'r-2', method: 'GET', path: '/v1/tools/status', status: 503, ms: 1 });
    const cause = Object.assign(new Error('refused'), { request: { headers: { cookie: 'abc' } } });
    log.failed(Object.assign(new Error('broken', { cause }), { config: { auth: 'hidden' } }), 'r-3');
    const [first, second, third, fourth] = told();
    expect(first).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      msg: 'tools: serving release 1',
    });
    expect(second).toMatchObject({ level: 'info', request_id: 'r-1', status: 200, ms: 1.5, msg: 'request' });
    expect(third).toMatchObject({ level: 'error', request_id: 'r-2', status: 503 });
    expect(fourth).toMatchObject({ level: 'error', request_id: 'r-3', err: { type: 'Error', message: 'broken' } });
    expect(fourth!['err']).toMatchObject({
      stack: expect.stringContaining('log.test.ts'),
      cause: { message: 'refused' },
    });
    expect(JSON.stringify(told())).not.toMatch(/hidden|abc/);
  });

  test('below the level is not written', () => {
    const { log, told } = lines('error');
    log.info('quiet');
    log.failed('loud', 'r-1');
    expect(told()).toMatchObject([{ level: 'error', err: { message: 'loud' } }]);
  });

  test('at a terminal is plain text', () => {
    const written: string[] = [];
    const log = openLog({ level: 'info', write: (line) => void written.push(line), terminal: true });
    log.info('tools: serving release 1');
    log.answered({ request_id: 'r-1', method: 'GET', path: '/v1/tools', status: 200, ms: 1.5 });
    log.failed(new Error('broken by ana@example.org'), 'r-2');
    expect(written[0]).toMatch(/^\d\d:\d\d:\d\d tools: serving release 1\n$/);
    expect(written[1]).toMatch(/^\d\d:\d\d:\d\d GET \/v1\/tools 200 1.5 ms\n$/);
    expect(written[2]).toMatch(/^\d\d:\d\d:\d\d error: request r-2: Error: broken by \[e-mail\]\n/);
  });
});

describe('never contains', () => {
  test.each([
    ['a key', 'key ', 'dsr_0123456789abcdefghijABCDEFGHIJ0123456789abcdefg', ''],
    ['an operator’s key', '', 'dsr_admin_h-sMJ0_V4v3Tn5uC0lE6o4wF8yq2k1a9bQxZpR7sT3U', ''],
    ['a key of Stripe', '', 'sk_test_51Habcdefgh', ''],
    ['a secret of a webhook', '', 'whsec_abcdefghijkl', ''],
    ['an access token', '', 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhYmMifQ.c2lnbmF0dXJl', ''],
    ['a credential of a header', 'Authorization: Bearer ', 's3cr3t-s3cr3t', ''],
    ['a token of a link', 'https://register.example/v1/claim/verify?token=', 'T0kenT0kenT0ken', '&x=1'],
    ['a cookie', 'register_ops_session=', 'c00kiec00kie', '; other'],
    ['a password in an address', 'postgres://', 'register:s3cret', '@db.example/register'],
    ['an e-mail address', 'mail to "', 'Ana.B+c@sub.example.org', '" failed'],
    ['an e-mail address in an address', '/v1/keys?email=', 'ana%40example.org', ''],
  ])('%s', (_, before, secret, after) => {
    const text = before + secret + after;
    const { log, told } = lines();
    log.info(`it says ${text}, and more`);
    log.failed(new Error(text), 'r-1');
    const all = JSON.stringify(told());
    expect(all).not.toContain(secret);
    expect(all).toContain('and more');
    expect(redactSecrets(text)).toMatch(/\[(key|token|credential|secret|e-mail)\]/);
  });

  test('secret addresses: only their first segment is logged', () => {
    expect(loggedPath('/checkout/sandbox/sandbox_0123456789')).toBe('/checkout/…');
    expect(loggedPath('/oauth/approve/uid0123456789')).toBe('/oauth/…');
    expect(loggedPath('/v1/tools/entities/record-1')).toBe('/v1/tools/entities/record-1');
    expect(loggedPath('/datasets/tools/record-1.md')).toBe('/datasets/tools/record-1.md');
    expect(loggedPath('/')).toBe('/');
    expect(loggedPath('/llms.txt')).toBe('/llms.txt');
  });
});

describe('a process', () => {
  let api: Api;
  let remove: () => void;
  beforeAll(async () => {
    const small = await smallData();
    remove = small.remove;
    api = await startApi(small.dataDir);
  }, 60_000);
  afterAll(() => remove());

  test('logs each request under the id of its answer, without its credentials and body', async () => {
    const { key } = await richKey(api, 'logged@example.org', 'payg', 1);
    await api.ask('/v1/tools/status?x=1&api_key=nothing-at-all', {
      'X-Request-Id': 'mine-1',
      Cookie: 'a=cookie-value',
    });
    await api.ask('/v1/keys/me', { Authorization: `Bearer ${key}`, 'X-Request-Id': 'mine-2' });
    await api.ask('/checkout/sandbox/sandbox_secret0123', { 'X-Request-Id': 'mine-3' });
    const mails = JSON.stringify({ email: 'logged@example.org' });
    await api.ask('/v1/keys/recover', { 'X-Request-Id': 'mine-4' }, 'POST', mails);
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: api.base };
    const signed = await api.ask('/ops/login', { ...form, 'X-Request-Id': 'mine-5' }, 'POST', `key=${ADMIN}`);
    const cookie = /=([\w-]{43});/.exec(signed.header('set-cookie') ?? '')?.[1] ?? 'there is no cookie';
    await api.ask('/ops/keys?q=logged@example.org', { Cookie: `register_ops=${cookie}`, 'X-Request-Id': 'mine-6' });
    await api.ask('/ops/login', form, 'POST', 'key=a-wrong-key-that-somebody-typed-0123');
    await api.ask(`/ops/stats.json?api_key=${ADMIN}`);
    await api.kill('SIGTERM');
    const logged = api
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const of = (id: string) => logged.find(({ request_id }) => request_id === id);
    expect(of('mine-1')).toMatchObject({ level: 'info', method: 'GET', path: '/v1/tools/status', msg: 'request' });
    expect(of('mine-2')).toMatchObject({ path: '/v1/keys/me', status: 200, ms: expect.any(Number) });
    expect(of('mine-3')).toMatchObject({ path: '/checkout/…' });
    expect(of('mine-4')).toMatchObject({ method: 'POST', path: '/v1/keys/recover' });
    for (const secret of [
      key.slice(4, 30),
      'cookie-value',
      'nothing-at-all',
      'logged@example.org',
      'secret0123',
      ADMIN,
    ])
      expect(api.output()).not.toContain(secret);
  }, 60_000);
});
