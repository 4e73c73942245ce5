// Names and words: an exported name is a noun or a verb with one meaning, and comments use the field's words.
import { expect, test } from 'vitest';
import { isTest, MODULES, read } from './tree.ts';

const PRODUCT = MODULES.filter((path) => !isTest(path) && !path.startsWith('bench/') && !path.includes('/fixtures/'));

/** Exported functions, classes, constants and types of a module. */
function exportsOf(path: string): string[] {
  const found = read(path).matchAll(/\bexport (?:async )?(?:function\*?|const|class|interface|type|enum)\s+(\w+)/g);
  return [...found].map(([, name]) => name!);
}

/** Participles and adverbs that describe a thing without naming it. */
const BARE =
  /^(?:told|asked|found|given|kept|seen|sent|made|named|written|listed|fetched|taken|wanted|varied|encoded|stored|parked|chosen|shown|known|left|beside|under|over|later|once|whole|standing|sparing|fresh|directly|together)$/i;

test('no export is a bare participle or adverb', () => {
  const bare = PRODUCT.flatMap((path) =>
    exportsOf(path).flatMap((name) => (BARE.test(name) ? `${path}: ${name}` : [])),
  );
  expect(bare, 'name it after the thing that it holds, or by what it does').toEqual([]);
});

/** Exported names that may have several meanings. Lower it when you can; never raise it. */
const AMBIGUOUS = 4;

test(`at most ${AMBIGUOUS} exported names have several meanings`, () => {
  const modules = new Map<string, Set<string>>();
  // A package for programs of others has names of its own.
  for (const path of PRODUCT.filter((module) => !/^(?:clients|\.ci)\//.test(module)))
    for (const name of exportsOf(path)) modules.set(name, (modules.get(name) ?? new Set()).add(path));
  const ambiguous = [...modules]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name}: ${[...paths].join(', ')}`);
  expect(ambiguous.length, `one name, one meaning:\n${ambiguous.join('\n')}`).toBeLessThanOrEqual(AMBIGUOUS);
});

/** Comments of a module, and the module without them. */
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
/** Names in comments that are examples and no names of ours. */
const EXAMPLES = new Set([
  'countryCode',
  'EntitySearch',
  'getWellKnownAgentCardJson',
  'LlmModelsEntitySearch',
  'sourceUrl',
]);

test('a name in a comment is a name of the code', () => {
  const names = new Set(
    MODULES.flatMap(
      (path) =>
        read(path)
          .replace(COMMENT, '')
          .match(/[A-Za-z_$][\w$]*/g) ?? [],
    ),
  );
  const stale = PRODUCT.flatMap((path) =>
    [...(read(path).match(COMMENT) ?? []).join('\n').matchAll(/`#?([A-Za-z]+[a-z][A-Z]\w*)(?:\(\))?`/g)]
      .filter(([, name = '']) => !names.has(name) && !EXAMPLES.has(name))
      .map(([, name]) => `${path}: \`${name}\``),
  );
  expect(stale, 'after a rename, change the comments that name it').toEqual([]);
});

/** Words of a private English (CONTRIBUTING, "Write"). */
const AVOIDED = /\b(?:told|whoever|whomever|nobody|beside|asked|stands?|tells?|lies|bears?|says?)\b/i;

test('less than 3 % of the comments use an avoided word', () => {
  const comments = PRODUCT.flatMap((path) =>
    [...read(path).matchAll(/^\s*(?:\/\/|\*|\/\*\*)\s?(.*)$/gm)].map(([, text]) => `${path}: ${text}`),
  ).filter((comment) => comment.length - comment.indexOf(': ') > 10);
  const odd = comments.filter((comment) => AVOIDED.test(comment.slice(comment.indexOf(': '))));
  expect(comments.length).toBeGreaterThan(1000);
  expect(odd.length / comments.length, odd.slice(0, 20).join('\n')).toBeLessThan(0.03);
});

/** Folders whose modules are no entry points for others: pages, packs and scripts. */
const WITHOUT_ENTRY = /^(?:\.ci|deploy|build|build\/skeleton|packs\/(?!define).*|site.*|bin)$/;

test('the entry point of every folder has an example', () => {
  const folders = Map.groupBy(
    PRODUCT.filter((path) => path.includes('/') && path.endsWith('.ts')),
    (path) => path.slice(0, path.lastIndexOf('/')),
  );
  const silent = [...folders].filter(
    ([folder, paths]) => !WITHOUT_ENTRY.test(folder) && !paths.some((path) => read(path).includes(' * @example\n')),
  );
  expect(silent.map(([folder]) => folder)).toEqual([]);
});
