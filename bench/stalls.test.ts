// Every operation of the table is measured, about every dataset that has it.
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { DATASET_OPERATIONS } from '../api/operations/table.ts';
import { loadPack } from '../packs/define/load.ts';
import { operationCases } from './stalls.ts';

test('every operation has a case with complete addresses', async () => {
  const packs = await Promise.all(['places', 'llm-models'].map((name) => loadPack(resolve('packs', name))));
  const cases = operationCases(packs.map((pack) => ({ pack, slugs: ['first', 'second', 'third'] })));
  expect(cases.map(({ name }) => name)).toEqual(DATASET_OPERATIONS.map(({ name }) => `${name}, examples`));
  for (const { paths } of cases) {
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) expect(path).toMatch(/^\/v1\/[^{}:]+$/);
  }
});
