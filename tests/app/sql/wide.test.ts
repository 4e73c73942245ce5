// Tables of a dataset with 120 attributes are made with default settings, for callers without and with a plan, and what
// cannot be made says so once. tests/process/wide.test.ts has more records, and the other channels.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { datasetNight } from '../../../build/night/dataset.ts';
import { paths } from '../../../data/model/layout.ts';
import { currentRelease, readManifest } from '../../../data/model/manifest.ts';
import { type MakeTables, makeTables } from '../../../data/sql/make-tables.ts';
import { SqlProcess } from '../../../data/sql/process.ts';
import { sqlSource, type Tier } from '../../../data/sql/tables.ts';
import { scratch, still } from '../../support/night-pack.ts';
import { WIDE, widePack } from '../../support/wide-stage.ts';

const SIZE = { ...WIDE, records: 500 };

test('all columns of a wide dataset can be queried', { timeout: 1_800_000 }, async () => {
  const folder = scratch();
  const pack = await widePack(folder, SIZE);
  expect((await datasetNight(pack, folder, still(), { accept: false })).records).toBe(SIZE.records);
  const release = paths.release(folder, 'wide', (await currentRelease(folder, 'wide'))!);
  const manifest = await readManifest(release);
  const run = async (statements: SqlProcess, tier: Tier, sql: string) => {
    const sources = [sqlSource({ pack, folder: release, manifest } as Parameters<typeof sqlSource>[0], tier)];
    const query = { sql, parameters: [], max_rows: 10, form: 'json', tier, seconds: 900, sources } as const;
    const call = { query, caller: 'a test', alone: false, keyed: true };
    const outcome = await statements.run(call, new AbortController().signal);
    return 'answer' in outcome ? Buffer.from(outcome.answer.rows).toString() : outcome.error;
  };
  let made = 0;
  const open = (memory: number) => {
    const make: MakeTables = (...args) => {
      made += 1;
      return makeTables(...args);
    };
    return new SqlProcess({ folder: join(folder, `sql ${memory}`), memory, make, log: () => {} });
  };

  const statements = open(512 * 2 ** 20);
  for (const tier of ['public', 'all'] as const) {
    expect(await run(statements, tier, 'SELECT count(*), count(DISTINCT name) FROM wide')).toBe(
      `[[${SIZE.records},${SIZE.records}]]`,
    );
    expect(await run(statements, tier, 'SELECT * FROM wide ORDER BY name LIMIT 1')).toContain('Wide 0');
    const values = await run(statements, tier, 'SELECT count(DISTINCT attribute) FROM wide_provenance');
    expect(values).toBe(tier === 'all' ? '[[120]]' : '[[91]]');
  }
  statements.close();

  const small = open(16 * 2 ** 20);
  const refused = { code: 'invalid_sql', message: expect.stringContaining('SQL_MEMORY') as string };
  expect(await run(small, 'all', 'SELECT count(*) FROM wide')).toMatchObject(refused);
  // It is not tried again.
  const tries = made;
  expect(await run(small, 'all', 'SELECT count(*) FROM wide')).toMatchObject(refused);
  expect(made).toBe(tries);
  small.close();
});
