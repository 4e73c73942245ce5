// The limit of product lines, names, and how each module begins. Biome warns about functions of more than 60 lines.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { exists, isTest, MODULES, read } from './tree.ts';

/** The limits of this checkout. Lower a figure after a change that allows it; only planners raise one. */
const LIMIT = JSON.parse(read('tests/structure/limit.json')) as {
  /** The last resolved step of the plan, by its name there; null before the first. */
  resolved: string | null;
  /** The most product lines: the figure of that step, or less. */
  lines: number;
  /** Uses of VAGUE names in product code. */
  vague_names: number;
};

/** The plan of sizes beside the checkout; absent in most clones. Steps are in order. */
const PLAN = '../shared/budget.json';
const planned = exists(PLAN)
  ? Object.entries((JSON.parse(read(PLAN)) as { lines_when_resolved: Record<string, number> }).lines_when_resolved)
  : [];

/** Files that are neither tests, bench, documents, clients, CI nor configuration. */
const isProduct = (path: string) =>
  !isTest(path) &&
  !/^(?:bench|docs|clients|\.ci)\/|fixtures|\.d\.ts$/.test(path) &&
  !/\.config\.|^config\.ts$/.test(path);

const PRODUCT = MODULES.filter(isProduct);

test('the product has at most as many lines as its limit', (context) => {
  if (!exists('.git')) context.skip('the lines of committed files are counted: needs a git checkout');
  const committed = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
  const modules = committed.filter((path) => /\.(ts|astro|mjs|js)$/.test(path) && isProduct(path) && exists(path));
  const lines = modules.reduce((sum, path) => sum + read(path).split('\n').length, 0);
  const step = planned.findIndex(([name]) => name === LIMIT.resolved);
  if (planned.length > 0 && LIMIT.resolved !== null) expect(planned.map(([name]) => name)).toContain(LIMIT.resolved);
  const [next, figure] = planned[step + 1] ?? [];
  if (figure !== undefined) console.info(`${lines} product lines, ${figure - lines} to the ${figure} of "${next}"`);
  const limit = Math.min(LIMIT.lines, planned[step]?.[1] ?? LIMIT.lines);
  expect(lines, 'find what can go: the product does not grow (docs/architecture.md, "Sizes")').toBeLessThanOrEqual(
    limit,
  );
});

/** Pronouns and participles that do not name what a variable holds, without property names and texts. */
const VAGUE = /(?<![.\w$'`-])(?:each|known|found|own|given|both|placed|strange)(?![\w$'-]|\s+\w)/g;
/** Words of earlier code that have left it; the stored column `told` of the audit log keeps its name. */
const FORMER = /\b(?:told|said|hear|stands|desk)\b/;
const FORMER_ALLOWED = /^(?:data\/state\/(?:audit|money\/refunds|tables\/owners|tables\/audit-people))\.ts$/;

test('variables are named after the thing that they hold', () => {
  const former = PRODUCT.filter((path) => !FORMER_ALLOWED.test(path) && FORMER.test(read(path)));
  expect(former).toEqual([]);
  const vague = PRODUCT.reduce(
    (sum, path) =>
      sum +
      (read(path)
        .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
        .match(VAGUE)?.length ?? 0),
    0,
  );
  expect(vague, 'use a noun: record, attribute, row, suggestion').toBeLessThanOrEqual(LIMIT.vague_names);
});

test('a file of more than 400 lines is a reason to think', () => {
  const long = PRODUCT.filter((path) => read(path).split('\n').length > 400);
  if (long.length > 0) console.warn(`more than 400 lines: ${long.join(', ')}`);
  expect(PRODUCT.length).toBeGreaterThan(100);
});

test('every module starts with a line on its purpose', () => {
  const silent = MODULES.filter((path) => {
    const [first = '', second = ''] = read(path).split('\n');
    const opening = first.startsWith('#!') || (path.endsWith('.astro') && first === '---') ? second : first;
    return !/^(\/\/|\/\*\*?) .*\w{2}/.test(opening);
  });
  expect(silent).toEqual([]);
});

test('a skipped test has a reason, inside the test', () => {
  const silent = MODULES.filter(isTest).filter((path) =>
    /\b(test|it|describe)\.(skip|skipIf|runIf|todo)\b|\.skip\(\)/.test(read(path).replace(/^.*RegExp.*$/gm, '')),
  );
  expect(
    silent.filter((path) => !path.startsWith('tests/structure/')),
    "use context.skip('why')",
  ).toEqual([]);
});
