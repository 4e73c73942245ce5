// The clients against the table of operations.
import { expect, test } from 'vitest';
import { OPERATIONS } from '../../api/operations/table.ts';
import { importsOf, target } from './imports.ts';
import { MODULES, read } from './tree.ts';

test('the operations of the clients are generated from the table, and not committed', () => {
  const ignored = read('.gitignore').split('\n');
  for (const path of ['clients/typescript/operations.ts', 'clients/python/dataset_register/_operations.py']) {
    expect(ignored).toContain(`/${path}`);
    for (const { name } of OPERATIONS)
      expect(read(path), 'run `npm run client`').toMatch(new RegExp(`^ +"?${name}"?:`, 'm'));
  }
});

test('the TypeScript client has no dependency, and imports nothing of the service', () => {
  const manifest = JSON.parse(read('clients/typescript/package.json')) as Record<string, unknown>;
  for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies'])
    expect(manifest[kind]).toBeUndefined();
  const foreign = MODULES.filter((path) => path.startsWith('clients/typescript/')).flatMap((path) =>
    importsOf(read(path))
      .filter(({ specifier }) => !specifier.startsWith('node:') && !target(path, specifier)?.startsWith('clients/'))
      .map(({ specifier, line }) => `${path}:${line} imports ${specifier}`),
  );
  expect(foreign.filter((line) => !line.endsWith(' dataset-register-client'))).toEqual([]);
});

test('the library runs where there is no Node: only the command line uses its modules', () => {
  const modules = MODULES.filter((path) => /^clients\/typescript\/[^/]+\.ts$/.test(path));
  expect(modules.length).toBeGreaterThan(5);
  expect(
    modules.filter((path) => /['"]node:|\bprocess\b|\bBuffer\b/.test(read(path).replace(/\/\*[\s\S]*?\*\//g, ''))),
  ).toEqual([]);
});
