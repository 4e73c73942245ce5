// docs/caches.md has every cache: the bounded ones by name, derived values by name, and all others by file.
import { expect, test } from 'vitest';
import { isTest, MODULES, read } from './tree.ts';

const PAGE = read('docs/caches.md');
const [BOUNDED = '', DERIVED = '', OTHERS = ''] = PAGE.split(/^## .*$/m).slice(1);
const PRODUCT = MODULES.filter((path) => /^(packs|data|api|build|site)\//.test(path) && !isTest(path));
/** The two modules that all other caches are made of. */
const MADE_OF = ['packs/define/derive.ts', 'data/model/bounded-cache.ts'];

const codeWithoutComments = (path: string) => read(path).replace(/^\s*(\/\/|\/?\*).*$/gm, '');

/** All texts of a file that the pattern captures, with `…` in place of inserted values. */
const captured = (path: string, pattern: RegExp) =>
  [...codeWithoutComments(path).matchAll(pattern)].map(([, name = '']) => name.replace(/\$\{[^}]*\}/g, '…').trim());

/** Names in code type in the first column of a table. */
const firstColumn = (text: string) =>
  [...text.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );

const sorted = (names: readonly (string | undefined)[]) => [...new Set(names)].sort();

test('docs/caches.md has each bounded cache and no others', () => {
  const pattern = /(?:new BoundedCache(?:<[^(]*>)?|extends BoundedCache[\s\S]*?super)\(\s*'([^']+)'/g;
  expect(sorted(firstColumn(BOUNDED))).toEqual(sorted(PRODUCT.flatMap((path) => captured(path, pattern))));
});

test('every bounded cache has a name in its source', () => {
  const unnamed = PRODUCT.filter((path) => /new BoundedCache(<[^(]*>)?\((?!\s*')/.test(codeWithoutComments(path)));
  expect(unnamed).toEqual([]);
});

test('docs/caches.md has each derived value and no others', () => {
  const inUse = PRODUCT.filter((path) => /import .*define\/derive\.ts'|'\.\/derive\.ts'/.test(read(path)));
  const names = inUse.flatMap((path) => captured(path, /\bderived?(?:<.*>)?\(\s*[\w.]+,\s*['`]([^'`]+)['`]/g));
  expect(sorted(firstColumn(DERIVED))).toEqual(sorted(names));
});

test('docs/caches.md has each file with another map that may be a cache', () => {
  const kinds = /new WeakMap\b|from 'lru-cache'|^(?:export )?(?:const|let) \w+(?:: [^=]*)? = new Map(?:<.*>)?\(\);/m;
  const files = PRODUCT.filter((path) => !MADE_OF.includes(path) && kinds.test(codeWithoutComments(path)));
  const listed = [...OTHERS.matchAll(/`([\w/-]+\.ts)`/g)].map(([, path]) => path);
  const newest = ['api/render/tools.ts', 'api/discovery/openapi.ts', 'data/index/packed-index.ts'];
  expect(sorted(listed)).toEqual(sorted([...files, ...newest]));
});

test('no map is cleared when it is full', () => {
  const cleared = PRODUCT.filter((path) => /\.size >=? .*\.clear\(\)/.test(codeWithoutComments(path)));
  expect(cleared).toEqual([]);
});

test('docs/caches.md is one page', () => {
  expect(PAGE.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});
