// Routes by path and method: first match, its parameters, and rejected patterns.
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { FirstMatch } from './router.ts';

const routes: [method: string, path: string][] = [
  ['GET', '/v1/:ds/entities/batch'],
  ['GET', '/v1/:ds/entities/:entity_id'],
  ['ALL', '/v1/:ds/entities/:entity_id'],
  ['ALL', '/v1/*'],
  ['GET', '/'],
  ['GET', '/a/b/*'],
  ['POST', '/*'],
  ['GET', '/message:send'],
];

function found(method: string, path: string): [number, Record<string, string>] | null {
  const router = new FirstMatch<number>();
  for (const [index, [own, pattern]] of routes.entries()) router.add(own, pattern, index);
  const [[match]] = router.match(method, path) as [[number, Record<string, string>][]];
  return match ? [match[0], { ...match[1] }] : null;
}

describe('the first route that fits', () => {
  test.each([
    ['GET', '/v1/tools/entities/batch', [0, { ds: 'tools' }]],
    ['GET', '/v1/tools/entities/saw', [1, { ds: 'tools', entity_id: 'saw' }]],
    ['PUT', '/v1/tools/entities/batch', [2, { ds: 'tools', entity_id: 'batch' }]],
    ['GET', '/v1/tools/entities/', [3, {}]],
    ['GET', '/v1//entities/saw', [3, {}]],
    ['GET', '/v1/tools', [3, {}]],
    ['GET', '/v1', [3, {}]],
    ['GET', '/v1/', [3, {}]],
    ['GET', `/v1/${'x/'.repeat(40)}`, [3, {}]],
    ['GET', '/', [4, {}]],
    ['GET', '/a/b', [5, {}]],
    ['GET', '/a/b/c/d', [5, {}]],
    ['GET', '/a', null],
    ['GET', '/message:send', [7, {}]],
    ['GET', '/message:stream', null],
    ['GET', '/v10', null],
    ['POST', '/', [6, {}]],
    ['POST', '/anything/at/all', [6, {}]],
    ['GET', '/__proto__/constructor', null],
  ])('%s %s', (method, path, expected) => {
    expect(found(method, path)).toEqual(expected);
  });
});

test('a parameter may be called and valued as nothing in an object is', () => {
  const router = new FirstMatch<string>();
  router.add('GET', '/:ds/:constructor', 'x');
  const [[match]] = router.match('GET', '/__proto__/toString') as [[string, Record<string, string>][]];
  expect(Object.entries(match![1])).toEqual([
    ['ds', '__proto__'],
    ['constructor', 'toString'],
  ]);
});

test.each(['/a/:b?', '/a/:b{[0-9]+}', '/a/:b:c', '/a/*/b', 'a', '/a*'])(
  '%s is a pattern it does not support',
  (path) => {
    expect(() => new FirstMatch<number>().add('GET', path, 1)).toThrow(/does not support/);
  },
);

test('in Hono: parameters are decoded, HEAD is GET without its body, what fits nothing is not found', async () => {
  const app = new Hono({ router: new FirstMatch() });
  app.get('/x/:name', (c) => c.text(c.req.param('name')));
  app.on('GET', '/y', async (c) => c.text('later'));
  expect(await (await app.request('/x/a%20b')).text()).toBe('a b');
  const head = await app.request('/y', { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect((await app.request('/z')).status).toBe(404);
  expect((await app.request('/y', { method: 'POST' })).status).toBe(404);
});
