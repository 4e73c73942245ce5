// The tarball of dataset-register-client: unpacked into node_modules, its types compile with those of a dataset, and its
// command runs.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { extract } from 'tar';
import { expect, test } from 'vitest';
import { packClient } from '../../.ci/client-package.ts';
import { datasetTypes, Register } from '../../clients/typescript/index.ts';
import { appOfAll } from '../support/app.ts';
import { scratchOfAll } from '../support/night-pack.ts';

const app = await appOfAll({ records: 12 });
const folder = scratchOfAll();
const installed = join(folder, 'node_modules/dataset-register-client');

/** The module of types that the generator writes. */
const DATASETS = './datasets.ts';
const USE = `
import '${DATASETS}';
import { type RecordOf, Register } from 'dataset-register-client';
const register = new Register({ url: 'http://localhost:8787' });
const tools = register.dataset('tools');
export async function use() {
  for await (const tool of tools.search({ kind: ['drill', 'saw'], 'max_price.list': 1000, fields: ['maker'], sort: 'mass' })) {
    const mass: number | undefined = tool.attributes.mass;
    const source: string | undefined = tool.provenance.maker?.source_url;
    // @ts-expect-error: no such attribute
    console.log(mass, source, tool.attributes.colour);
  }
  // @ts-expect-error: no such filter
  tools.search({ colour: 'red' });
  // @ts-expect-error: a number is wanted
  tools.search({ min_mass: 'heavy' });
  const record: RecordOf<'tools'> = await tools.get('one', { fields: ['maker'] });
  const open = await register.dataset('other').search({ anything: 1 }).first(1);
  const value: unknown = open[0]?.attributes['x'];
  return { record, value };
}
`;

test('has JavaScript and types, and no sources', { timeout: 180_000 }, async () => {
  mkdirSync(installed, { recursive: true });
  await extract({ file: packClient(folder), cwd: installed, strip: 1 });
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<string, unknown>;
  expect([manifest['name'], manifest['private'], manifest['dependencies']]).toEqual([
    'dataset-register-client',
    undefined,
    undefined,
  ]);
  const run = (program: string, args: string[] = []) =>
    execFileSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' });
  expect(run(join(installed, 'dist/cli/main.js'), ['--version'])).toBe(`${manifest['version']}\n`);

  const fetch = (address: URL | Request | string) => app.ask(String(address).replace('http://h.example', ''));
  writeFileSync(join(folder, 'datasets.ts'), await datasetTypes(new Register({ url: 'http://h.example', fetch })));
  writeFileSync(join(folder, 'use.ts'), USE);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, target: 'esnext', module: 'nodenext', noEmit: true },
    ...{ lib: ['esnext', 'dom'], types: [], allowImportingTsExtensions: true },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['use.ts'] }));
  expect(run(join(import.meta.dirname, '../../node_modules/typescript/bin/tsc'), ['-p', folder])).toBe('');
});
