// Import directions, as in docs/architecture.md; type imports count. Biome's noImportCycles rejects cycles of
// files.
import { describe, expect, test } from 'vitest';
import { importsOf, packageOf, target } from './imports.ts';
import { ENTRIES, LAYERS, layerOf, PACK_PACKAGES, RESTRICTED_PACKAGES } from './layers.ts';
import { exists, isTest, MODULES, read } from './tree.ts';

const imports = MODULES.flatMap((file) => importsOf(read(file)).map((found) => ({ file, ...found })));

describe('the scanner', () => {
  test('sees every form of import and no other text', () => {
    const text = [
      "import { a } from './a.ts';",
      "import type { B } from './b.ts';",
      'import {\n  c,\n  d,\n} from "./c.ts";',
      "import './e.ts';",
      "export { f } from './f.ts';",
      "export * from './g.ts';",
      "const h = await IMPORT('./h.ts');",
      "let i: IMPORT('./i.ts').I;",
      "// import { no } from './no.ts';",
      " * import { no } from './no.ts';",
      "export const from = 'nowhere';",
    ]
      .join('\n')
      .replaceAll('IMPORT', 'import');
    const found = importsOf(text).map((item) => item.specifier);
    expect(found).toEqual(['a', 'b', 'c', 'e', 'f', 'g', 'h', 'i'].map((name) => `./${name}.ts`));
    expect(importsOf(text)[3]?.line).toBe(7);
  });
});

/** The dataset of a file's folder; null for the files that all packs share. */
const packOf = (file: string) => /^packs\/(?!define\/)([^/]+)\//.exec(file)?.[1] ?? null;

/** The mistake of a file import, or null. */
function fileProblem(file: string, path: string, type: boolean): string | null {
  if (!exists(path)) return 'does not exist';
  if (path === 'config.ts') return type || ENTRIES.test(file) ? null : 'has the settings; only entries read them';
  const from = layerOf(file);
  const to = layerOf(path);
  if (isTest(file) || /\/fixtures-test\//.test(file) || from === null || from === 'bench') return null;
  if (to === null) return 'is a tool';
  if (to === 'clients/typescript' && from !== to) return 'is a package of its own';
  if (from === 'packs' && packOf(file) !== packOf(path))
    return packOf(path) === null ? 'is imported as dataset-register/pack' : 'belongs to another pack';
  return LAYERS.indexOf(to) <= LAYERS.indexOf(from) ? null : `is in ${to}, a layer after ${from}`;
}

/** The mistake of a package import, or null. */
function packageProblem(file: string, specifier: string): string | null {
  if (specifier.startsWith('node:')) return null;
  const name = packageOf(specifier);
  if (packOf(file) !== null && !isTest(file) && !PACK_PACKAGES.includes(name))
    return `is not among the packages of packs: ${PACK_PACKAGES.join(', ')}`;
  const folders = RESTRICTED_PACKAGES[name];
  return folders === undefined || folders.test(file) || isTest(file) ? null : `is imported in ${folders.source} only`;
}

/** The mistake of an import, or null. */
function problem(file: string, specifier: string, type = false): string | null {
  const path = target(file, specifier);
  return path === null ? packageProblem(file, specifier) : fileProblem(file, path, type);
}

describe('layers', () => {
  test.each([
    ['api/operations/record/search.ts', 'hono', 'is imported in'],
    ['api/operations/record/search.ts', '../../../tests/support/setup.ts', 'a layer after'],
    ['data/plan/plan.ts', '../../api/contract/errors.ts', 'a layer after'],
    ['data/plan/plan.ts', '../queries/search.ts', 'a layer after'],
    ['data/plan/plan.ts', '@duckdb/node-api', 'is imported in'],
    ['packs/define/model.ts', '../../data/plan/plan.ts', 'a layer after'],
    ['build/collect/collect.ts', '../night/run.ts', 'a layer after'],
    ['api/serve.ts', '../build/night/fleet.ts', 'a layer after'],
    ['api/oauth/server.ts', '../../build/night/rewrite.ts', 'a layer after'],
    ['packs/tools/collect.ts', '../define/model.ts', 'dataset-register/pack'],
    ['packs/airports/pack.ts', '../llm-models/pack.ts', 'another pack'],
    ['packs/tools/pack.ts', 'hono', 'packages of packs'],
    ['data/plan/plan.ts', '../../config.ts', 'only entries'],
    ['site/account/offer.ts', '../viewer/main.ts', 'a layer after'],
    ['data/plan/plan.ts', './nowhere.ts', 'does not exist'],
    ['api/serve.ts', '../clients/typescript/index.ts', 'a package of its own'],
    ['clients/typescript/index.ts', '../../api/contract/errors.ts', 'a layer after'],
  ])('%s may not import %s', (file, specifier, why) => {
    expect(problem(file, specifier)).toContain(why);
  });

  test.each([
    ['api/operations/record/search.ts', '../../../data/plan/plan.ts'],
    ['data/queries/search.ts', '../plan/plan.ts'],
    ['data/plan/plan.ts', '../../packs/define/model.ts'],
    ['data/duckdb/engine.ts', '@duckdb/node-api'],
    ['packs/tools/pack.ts', 'dataset-register/pack'],
    ['packs/tools/collect.ts', 'node:fs'],
    ['build/night/rewrite.ts', '../../api/rewrite.ts'],
    ['api/server.ts', '../config.ts'],
  ])('%s may import %s', (file, specifier) => {
    expect(problem(file, specifier)).toBeNull();
  });

  test('no module imports from a later layer', () => {
    const problems = imports.flatMap(({ file, specifier, line, type }) => {
      const wrong = problem(file, specifier, type);
      return wrong === null ? [] : [`${file}:${line} imports ${specifier}, which ${wrong} (docs/architecture.md)`];
    });
    expect(problems).toEqual([]);
  });

  test('the environment is read in one place; a child process may get PATH and HOME', () => {
    const reads = (file: string) =>
      read(file)
        .split('\n')
        .filter((line) => /process\.env/.test(line));
    const offences = MODULES.filter(
      (file) =>
        !isTest(file) &&
        !ENTRIES.test(file) &&
        !/^[^/]+\.(ts|mjs)$/.test(file) &&
        reads(file).some((line) => !/\b(PATH|HOME)\b/.test(line)),
    );
    expect(offences, 'settings come from config.ts, through the entries').toEqual([]);
  });

  test('docs/architecture.md has the same list, without deeper folders and those of the site', () => {
    const documented = [...read('docs/architecture.md').matchAll(/^\| `([a-z][a-z\d/-]*)` \|/gm)].map(
      ([, name]) => name,
    );
    const described = LAYERS.filter((layer) => !/^site\/|\/.*\//.test(layer));
    expect(documented).toEqual(described);
  });
});
