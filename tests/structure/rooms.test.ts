// Import directions and cycles, as docs/architecture.md has them; type imports count.
import { describe, expect, test } from 'vitest';
import { cycles, importsOf, packageOf, target } from './imports.ts';
import { allows, BUILD_LAYERS, ENTRIES, inOrder, LAYERS, ROOMS, type Room, roomOf } from './rooms.ts';
import { isTest, MODULES, present, read, tableRows } from './tree.ts';

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

  test('finds a cycle through type imports', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['a', 'd']],
      ['d', []],
    ]);
    expect(cycles(graph)).toEqual([['a', 'b', 'c', 'a']]);
  });
});

/** What is wrong with one import, or null. */
function offence(file: string, specifier: string, type = false): string | null {
  const room = roomOf(file);
  const path = target(file, specifier);
  if (path === null) return packageOffence(room, specifier);
  if (!present(path)) return `names ${path}, which is not there`;
  const other = roomOf(path);
  if (other.name === 'config.ts') return type || ENTRIES.test(file) ? null : 'reads the settings; only entries do';
  if (other === room) {
    if (room.name === 'build') return inOrder(file, path) ? null : 'is in a later folder of build';
    return room.name !== 'packs/<dataset>' || samePack(file, path) ? null : 'reaches into another pack';
  }
  if (other.name === 'tests') return room.may.includes('tests') || room.name === 'tests' ? null : 'imports tests';
  if (allows(room, other)) return null;
  if (room.may.includes('*') && other.name !== 'bench') return null;
  return `(${other.name}); ${room.name} may import ${room.may.join(', ') || 'no other room'}`;
}

function packageOffence(room: Room, specifier: string): string | null {
  if (specifier.startsWith('node:')) return null;
  const name = packageOf(specifier);
  if ('only' in room.packages) {
    return room.packages.only.includes(name) ? null : `; ${room.name} may import only ${room.packages.only.join(', ')}`;
  }
  return room.packages.never.includes(name) ? `; ${room.name} never imports ${name}` : null;
}

/** Whether both files stand in the folder of one dataset. */
function samePack(file: string, path: string): boolean {
  return file.split('/')[1] === path.split('/')[1];
}

describe('rooms', () => {
  test.each([
    ['api/operations/search.ts', 'hono', 'never imports hono'],
    ['api/operations/search.ts', '../../tests/support/setup.ts', 'imports tests'],
    ['data/plan/plan.ts', '../../api/contract/errors.ts', 'data/plan may import'],
    ['data/plan/plan.ts', '../queries/search.ts', 'data/plan may import'],
    ['data/plan/plan.ts', '@duckdb/node-api', 'never imports @duckdb/node-api'],
    ['packs/model.ts', '../data/plan/plan.ts', 'packs may import no other room'],
    ['build/collect/collect.ts', '../night/run.ts', 'later folder of build'],
    ['packs/tools/collect.ts', '../../tests/packs/tools/pack.ts', 'imports tests'],
    ['packs/airports/pack.ts', '../llm-models/pack.ts', 'reaches into another pack'],
    ['packs/tools/pack.ts', 'hono', 'may import only'],
    ['data/plan/plan.ts', '../../config.ts', 'only entries do'],
    ['data/plan/plan.ts', './nowhere.ts', 'is not there'],
  ])('%s may not import %s', (file, specifier, why) => {
    expect(offence(file, specifier)).toContain(why);
  });

  test.each([
    ['api/operations/search.ts', '../../data/plan/plan.ts'],
    ['data/queries/search.ts', '../plan/plan.ts'],
    ['data/plan/plan.ts', '../../packs/model.ts'],
    ['data/duckdb/engine.ts', '@duckdb/node-api'],
    ['packs/tools/pack.ts', 'dataset-register/pack'],
    ['packs/tools/collect.ts', 'node:fs'],
    ['api/server.ts', '../config.ts'],
  ])('%s may import %s', (file, specifier) => {
    expect(offence(file, specifier)).toBeNull();
  });

  test('no module imports what its room may not', () => {
    const offences = imports.flatMap(({ file, specifier, line, type }) => {
      const wrong = offence(file, specifier, type);
      return wrong === null ? [] : [`${file}:${line} imports ${specifier} ${wrong} (docs/architecture.md)`];
    });
    expect(offences).toEqual([]);
  });

  test('no cycles, type imports included', () => {
    const graph = new Map<string, string[]>(MODULES.filter((file) => !isTest(file)).map((file) => [file, []]));
    for (const { file, specifier } of imports) {
      const path = target(file, specifier);
      if (path !== null && graph.has(path)) graph.get(file)?.push(path);
    }
    expect(cycles(graph).map((path) => path.join(' → '))).toEqual([]);
  });

  test('the environment is read in one place; a child process may be handed PATH and HOME', () => {
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

  test('docs/architecture.md has the same table', () => {
    const documented = new Map(tableRows('docs/architecture.md').map(([room, may]) => [room, may]));
    for (const room of ROOMS.filter(({ name }) => !/^(tests|bench|tools|api|data\/.*)$/.test(name))) {
      expect(documented.get(room.name), room.name).toBe(room.may.join(', ') || 'no other room');
    }
    for (const layers of [LAYERS, BUILD_LAYERS])
      expect(read('docs/architecture.md')).toContain(layers.map((name) => `\`${name}\``).join(', '));
  });
});
