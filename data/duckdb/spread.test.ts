// The distribution of a number over many bins, with an overlay and little memory.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { randomRecords } from '../../tests/support/random-records.ts';
import { writeRelease } from '../../tests/support/write-release.ts';
import { FIXED_EDGES } from '../queries/profile.ts';
import { openEngine } from './engine.ts';

const dataDir = scratchOfAll();

test('a profile of many bins under an overlay needs 16 MB at most', async () => {
  const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));
  const records = randomRecords(pack, 60, 5);
  const { folder, manifest } = await writeRelease(dataDir, pack, records);
  const { name } = pack.attributes.find(({ type }) => type === 'number')!;
  const [gone, ...others] = records;
  const engine = await openEngine(folder, pack, manifest, { working_memory: 16 * 2 ** 20 });
  const overlay = { version: 1, removed: new Set([gone!.id]), changed: [], decided: new Map() };
  const view = engine.withOverlay(overlay);
  try {
    const values = others.flatMap(({ attributes }) => (attributes[name] as number | undefined) ?? []);
    const { count, bins } = await view.spread({ attribute: name, edges: FIXED_EDGES, cell: 1 });
    expect(count).toBe(values.length);
    const last = FIXED_EDGES.length - 2;
    const inBin = (i: number) => (value: number) =>
      value >= FIXED_EDGES[i]! && (i === last ? value <= FIXED_EDGES[i + 1]! : value < FIXED_EDGES[i + 1]!);
    expect(bins).toEqual(bins.map((_, i) => values.filter(inBin(i)).length));
    expect(bins.filter((n) => n > 0).length).toBeGreaterThan(1);
  } finally {
    await view.close();
    await engine.close();
  }
});
