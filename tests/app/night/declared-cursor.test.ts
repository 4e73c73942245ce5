// A query with a cursor through complete nights: newer rows, updated rows, and a run that stops.
import pg from 'pg';
import { expect, test } from 'vitest';
import { datasetNight } from '../../../build/night/dataset.ts';
import { DeclaredSourceShape, postgres } from '../../../packs/define/sources.ts';
import { factsOf } from '../../support/declared-stage.ts';
import { scratch, still, stonesPack } from '../../support/night-pack.ts';

const url = process.env['TEST_DATABASE_URL'];

test('rows of a run that stops are read by the next run, and updated rows are changes', async (context) => {
  if (url === undefined) return context.skip('TEST_DATABASE_URL is not set');
  const client = new pg.Client(url);
  await client.connect();
  const table = `cursor_${process.pid}`;
  const folder = scratch();
  const base = stonesPack(folder, { shop: { '01-01': [] } }, 1, { complete: false });
  const from = DeclaredSourceShape.parse(
    postgres({ query: `SELECT code, name, mass, changed FROM ${table}`, cursor: 'changed' }),
  );
  const pack = {
    ...base,
    collector: { read: ({ rows }: Parameters<typeof base.collector.read>[0]) => rows! },
    sources: base.sources.map((each) => ({ ...each, pins: [], from })),
  };
  const night = () => {
    const effects = { ...still(new Date().toISOString()), environment: () => url };
    return datasetNight(pack, folder, effects, { accept: true });
  };
  const masses = async () => (await factsOf(folder, 'mass')).map((row) => row.split(' ')[0]);
  try {
    await client.query(`CREATE TABLE ${table} (code text, name text, mass text, changed int)`);
    await client.query(`INSERT INTO ${table} VALUES ('a', 'Agate', '1', 1), ('b', 'Beryl', '5', 2)`);
    expect(await night()).toMatchObject({ outcome: 'released', records: 2 });
    expect(await night()).toMatchObject({ outcome: 'unchanged' });
    await client.query(`UPDATE ${table} SET mass = '2', changed = 3 WHERE code = 'a'`);
    await client.query(`INSERT INTO ${table} VALUES ('c', 'Citrine', 'heavy', 4)`);
    await expect(night()).rejects.toThrow('heavy');
    await client.query(`UPDATE ${table} SET mass = '7' WHERE code = 'c'`);
    expect(await night()).toMatchObject({ outcome: 'released', records: 3 });
    expect((await masses()).sort()).toEqual(['1', '2', '5', '7']);
    expect(await night()).toMatchObject({ outcome: 'unchanged' });
  } finally {
    await client.query(`DROP TABLE IF EXISTS ${table}`);
    await client.end();
  }
});
