// Budgets of lines and names, and how each module begins. Biome warns about functions of more than 60 lines.
import { expect, test } from 'vitest';
import { isTest, MODULES, read } from './tree.ts';

/** The most of each figure. Lower a figure after a change that allows it; a commit that raises one names the reason. */
const BUDGET = JSON.parse(read('tests/structure/budget.json')) as {
  /** Product lines by top-level folder. */
  lines: Record<string, number>;
  /** Uses of VAGUE names in product code. */
  vague_names: number;
};

const PRODUCT = MODULES.filter(
  (path) =>
    !isTest(path) && !/^(?:bench|docs|clients|\.ci)\/|fixtures/.test(path) && !/\.config\.|^config\.ts$/.test(path),
);

test('no folder has more product lines than its budget', () => {
  const lines: Record<string, number> = {};
  for (const path of PRODUCT) {
    const folder = path.split('/')[0]!;
    lines[folder] = (lines[folder] ?? 0) + read(path).split('\n').length;
  }
  const over = Object.entries(lines).filter(([folder, count]) => count > (BUDGET.lines[folder] ?? 0));
  expect(over, 'find what can go, or raise the figure in budget.json and write what users get for it').toEqual([]);
});

/** Pronouns and participles that do not name what a variable holds, without property names and texts. */
const VAGUE = /(?<![.\w$'`-])(?:each|known|found|own|given|both|placed|strange)(?![\w$'-]|\s+\w)/g;
/** Words of earlier code that have left it; the stored column `told` of the audit log keeps its name. */
const FORMER = /\b(?:told|said|hear|stands|desk)\b/;
const FORMER_ALLOWED =
  /^(?:data\/state\/(?:audit|money\/refunds|tables\/owners|tables\/audit-people)|data\/releases\/runs)\.ts$/;

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
  expect(vague, 'use a noun: record, attribute, row, suggestion').toBeLessThanOrEqual(BUDGET.vague_names);
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
