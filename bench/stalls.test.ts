// Every operation of the table is measured, about every dataset that has it.
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { DATASET_OPERATIONS } from '../api/operations/table.ts';
import { loadPack } from '../packs/define/load.ts';
import { misspeltSearches } from './misspelt.ts';
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

test('misspelt searches are equal for equal seeds, and differ from each other', () => {
  const shape = { group: 'country', area: 'admin1', texts: [], number: 'population', least: 1, geo: 'location' };
  const drawn = {
    names: ['san juan', 'amsterdam oost', 'zurich'],
    areas: [{ group: 'CH', area: 'Zurich' }],
    points: [{ lat: 47, lng: 8 }],
  };
  const draw = (seed: number) => misspeltSearches({ dataset: 'places', shape }, drawn, { count: 200, seed });
  expect(draw(1)).toEqual(draw(1));
  expect(new Set(draw(1)).size).toBeGreaterThan(180);
  expect(draw(1)).not.toEqual(draw(2));
  for (const path of draw(1)) expect(path).toMatch(/^\/v1\/places\/entities\?\w+=/);
});
