// The router against Hono's TrieRouter: the same first route for every path.
import { TrieRouter } from 'hono/router/trie-router';
import { expect, test } from 'vitest';
import { FirstRouteRouter } from './router.ts';

const ROUTES = [
  ['OPTIONS', '/*'],
  ['GET', '/v1/:ds/parts/:part'],
  ['GET', '/ops'],
  ['GET', '/ops/'],
  ['GET', '/ops/review/:item_id'],
  ['GET', '/ops/review/decide'],
  ['ALL', '/ops/*'],
  ['GET', '/v1/datasets'],
  ['ALL', '/v1/datasets'],
  ['GET', '/v1/:ds'],
  ['GET', '/v1/:ds/entities'],
  ['POST', '/v1/:ds/entities'],
  ['ALL', '/v1/:ds/entities'],
  ['GET', '/v1/:ds/entities/:entity_id'],
  ['GET', '/v1/:ds/entities/batch'],
  ['GET', '/v1/keys/:key/children'],
  ['ALL', '/v1/*'],
  ['GET', '/*'],
  ['ALL', '/*'],
] as const;

const router = new FirstRouteRouter<string>();
const trie = new TrieRouter<string>();
for (const [method, path] of ROUTES) {
  router.add(method, path, `${method} ${path}`);
  trie.add(method, path, `${method} ${path}`);
}

test('finds the first route of a path, as TrieRouter sorts them', () => {
  const words = ['', 'v1', 'ops', 'datasets', 'entities', 'batch', 'review', 'decide', 'keys', 'children', 'x'];
  const tails = words.flatMap((a) => words.map((b) => `/${a}/${b}`));
  const paths = [
    '',
    ...words.map((word) => `/${word}`),
    ...tails,
    ...tails.flatMap((tail) => words.map((word) => `/v1${tail}/${word}`)),
  ];
  for (const path of paths.map((tail) => tail || '/'))
    for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
      const [[found]] = router.match(method, path);
      const [[expected]] = trie.match(method, path) as [[string, Record<string, string>][]];
      expect(found && [found[0], { ...found[1] }], `${method} ${path}`).toEqual(
        expected && [expected[0], { ...expected[1] }],
      );
    }
});

test('finds nothing without a route', () => {
  expect(new FirstRouteRouter().match('GET', '/v1')).toEqual([[]]);
});
