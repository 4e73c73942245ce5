// Earlier states of a release: one is built at a time, others wait for the patience of the queue, and 8 are kept.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { randomRecords } from '../../tests/support/random-records.ts';
import { writeRelease } from '../../tests/support/write-release.ts';
import { DEFAULT_LIMITS } from '../plan/limits.ts';
import type { Engine } from '../plan/plan.ts';
import { createQueryQueue } from '../plan/query-queue.ts';
import { openEngine } from './engine.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'moments-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

let engine: Engine;
/** Opens the release with the default patience. */
let openPatient: () => Promise<Engine>;
/** Times of changes, each the begin of another state. */
let times: number[];
beforeAll(async () => {
  const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));
  const records = randomRecords(pack, 150, 5);
  const observed = records.flatMap(({ provenance }) => Object.values(provenance).map(({ observed_at }) => observed_at));
  times = [...new Set(observed)].sort().map((time) => Date.parse(time));
  const { folder, manifest } = await writeRelease(dataDir, pack, records);
  // A build runs several statements: it always takes longer than this patience.
  engine = await openEngine(folder, pack, manifest, { patience: 1 }, createQueryQueue(DEFAULT_LIMITS));
  openPatient = () => openEngine(folder, pack, manifest, { patience: 60_000 });
});
afterAll(() => engine.close());

const planAt = (at: number) => {
  const sort = { key: 'quality', descending: true };
  return { where: [{ kind: 'as_of' as const, at }], sort, after: null, limit: 1, total: true };
};
const totalAt = async (at: number) => (await engine.search(planAt(at))).total;

test('others wait 5 s for a build', () => expect(DEFAULT_LIMITS.patience).toBe(5_000));

test('while one moment is built, another is unavailable after the patience, and the same one is shared', async () => {
  expect(times.length).toBeGreaterThan(10);
  const [first, second] = [times.at(-1)!, times.at(-2)!];
  const [built, same, between, other] = await Promise.allSettled([
    totalAt(first),
    totalAt(first),
    // No change lies between: the same moment.
    totalAt(first + 1),
    totalAt(second),
  ]);
  expect(built).toEqual({ status: 'fulfilled', value: 150 });
  expect([same, between]).toEqual([built, built]);
  expect(other).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
  // The failed wait leaves nothing behind.
  expect(await totalAt(second)).toBeGreaterThan(0);
});

test('kept moments answer while another one is built; the oldest of nine is built again', async () => {
  const nine = times.slice(-9).reverse();
  const totals: (number | null)[] = [];
  for (const at of nine) totals.push(await totalAt(at));
  expect(totals.every((total, at) => at === 0 || total! <= totals[at - 1]!)).toBe(true);
  const [oldest, ...kept] = nine;
  // A second build waits in vain, and evicts none of those that are kept.
  const [rebuilt, late, ...answered] = await Promise.allSettled([oldest!, times.at(-10)!, ...kept].map(totalAt));
  expect(rebuilt).toEqual({ status: 'fulfilled', value: totals[0] });
  expect(late).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
  expect(answered).toEqual(totals.slice(1).map((value) => ({ status: 'fulfilled', value })));
});

test('builds of several callers take turns', async () => {
  const patient = await openPatient();
  const order: string[] = [];
  const callers = ['a1', 'a2', 'a3', 'b1'];
  const answers = callers.map(async (name, i) => {
    await patient.search(planAt(times.at(-1 - i)!), { holder: name[0] });
    order.push(name);
  });
  await Promise.all(answers);
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3']);
  await patient.close();
});
