// Dirty tables of every kind of source: the pack that `from` proposes has a first night without any editing, and
// each cell of the release is the one of the table.
import { once } from 'node:events';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { runPackCommand } from '../../../build/cli/pack.ts';
import { Web } from '../../../build/crawl/web.ts';
import { datasetNight } from '../../../build/night/dataset.ts';
import { Duck, quotedText } from '../../../data/duckdb/duck.ts';
import { RELEASE_FILES } from '../../../data/model/layout.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { openRelease } from '../../../data/releases/release.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { DIRTY_TABLES, type DirtyPlace, type DirtyTable } from '../../support/dirty-tables.ts';
import { drawn, LONG } from '../../support/draws.ts';
import { scratch, still } from '../../support/night-pack.ts';

const LEGAL = ['--license', 'CC-BY-4.0', '--attribution', 'The Society of Imaginary Kiosks', '--yes'];
const NOW = '2027-01-20T00:00:00Z';

const web = async () =>
  new Web({
    ...{ allowed: () => true, ports: null, sign: null, base_url: 'https://register.example' },
    ...{ now: () => new Date(NOW), wait: async () => {}, random: () => 0.5 },
  });

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

const DATABASE = process.env['TEST_DATABASE_URL'];

async function sql(text: string): Promise<string> {
  const client = new pg.Client(DATABASE!);
  await client.connect();
  const name = `dirty_${process.pid}`;
  await client.query(`CREATE SCHEMA ${name}`);
  onTestFinished(async () => {
    await client.query(`DROP SCHEMA ${name} CASCADE`);
    await client.end();
  });
  await client.query(text.replaceAll('{s}', name));
  return name;
}

/** Runs `pack from` on a table; returns what was printed, the pack, and its nights. */
async function packOf({ write }: Pick<DirtyTable, 'write'>) {
  const folder = scratch();
  const place: DirtyPlace = { folder, serve, sql };
  const args = await write(place);
  const lines: string[] = [];
  const environment = { SOURCE_DATABASE_URL: DATABASE, PACK_DIRS: join(folder, 'packs') };
  const log = (line: string) => void lines.push(line);
  const id = args.includes('--id') ? [] : ['--id', 'table'];
  const code = await runPackCommand(['from', ...args, ...id, ...LEGAL], { cwd: folder, log, environment, web });
  const printed = lines.join('\n');
  expect([code, code === 0 ? '' : printed]).toEqual([0, '']);
  const pack = await loadPack(join(folder, 'packs/table'));
  const data = join(folder, 'var');
  mkdirSync(data);
  const effects = { ...still(NOW), web, environment: (name: string) => environment[name as 'PACK_DIRS'] };
  return { folder, data, printed, pack, night: () => datasetNight(pack, data, effects, { accept: false }) };
}

/** Runs `pack from` on a table, then a night; returns what was printed, the night and the records. */
async function published(table: DirtyTable) {
  const { folder, data, printed, pack, night: run } = await packOf(table);
  const night = await run();
  expect([night.outcome, night.outcome === 'released' ? '' : night.messages]).toEqual(['released', '']);
  const release = await openRelease(data, pack, night.release!);
  const duck = await Duck.open(join(folder, 'spill'));
  const bodies = quotedText(join(release.folder, RELEASE_FILES.bodies));
  const rows = await duck.rows(`SELECT body FROM read_parquet(${bodies})`);
  duck.close();
  await release.engine.close();
  const generated = ['initial', pack.gone?.attribute];
  const records = rows.map(([body]) => {
    const { attributes } = JSON.parse(String(body)) as StoredRecord;
    return Object.fromEntries(Object.entries(attributes).filter(([name]) => !generated.includes(name)));
  });
  return { printed, pack, night, records };
}

/** Records as sorted lines with sorted members, so that lists of them can be compared. */
const linesOf = (records: readonly Record<string, unknown>[]) =>
  records
    .map((record) => JSON.stringify(Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))))
    .sort();

test.for(drawn(DIRTY_TABLES).map((table) => [table.name, table] as const))('%s', async ([, table], context) => {
  if (table.postgres && !DATABASE) context.skip('no PostgreSQL at TEST_DATABASE_URL');
  const { printed, pack, night, records } = await published(table);
  const [made, expected] = [linesOf(records), linesOf(table.records)];
  // The first differences say more than all of them.
  const missing = expected.filter((line) => !made.includes(line)).slice(0, 2);
  const wrong = made.filter((line) => !expected.includes(line)).slice(0, 2);
  expect({ count: made.length, missing, wrong }).toEqual({ count: expected.length, missing: [], wrong: [] });
  const balance = (night.balance ?? []).join('\n');
  expect(Number(/(\d+) rejected/.exec(balance)?.[1] ?? 0), balance).toBe(table.rejected ?? 0);
  const types = Object.fromEntries(pack.attributes.map(({ name, type }) => [name, type]));
  expect(types).toMatchObject(table.types ?? {});
  if (table.printed) expect(printed).toMatch(table.printed);
});

const tableOf = (lines: readonly string[]) => ({
  write({ folder }: DirtyPlace) {
    writeFileSync(join(folder, 'table.csv'), `${lines.join('\n')}\n`);
    return ['table.csv'];
  },
});

test('a new value of an open list is published, and one of a closed list stops the run', async () => {
  const rows = Array.from(
    { length: 120 },
    (_, i) => `K-${i},${['Ringham', 'Bellford'][i % 2]},${['good', 'bad'][i % 2]}`,
  );
  const { folder, pack, printed, night } = await packOf(tableOf(['id,town,condition', ...rows]));
  const lists = Object.fromEntries(pack.attributes.map(({ name, values }) => [name, values]));
  expect(lists).toMatchObject({ town: null, condition: ['good', 'bad'] });
  expect(printed).toMatch(/condition .*a closed list: new values are refused/);
  expect((await night()).outcome).toBe('released');
  const file = join(folder, 'packs/table/data/table.csv');
  appendFileSync(file, 'K-120,Chimewick,good\n');
  expect(await night()).toMatchObject({ outcome: 'released', records: 121 });
  appendFileSync(file, 'K-121,Ringham,odd\n');
  await expect(night()).rejects.toThrow(/condition of k-121 \(line 123\) is "odd", expected one of good, bad/);
});

test('rows after the sample weaken the proposal, each with its reason', async () => {
  const rows = Array.from(
    { length: 100_000 },
    (_, i) => `K-${i},Kiosk ${i},${['good', 'bad'][i % 2]},${i % 1000 ? '' : i}`,
  );
  const late = Array.from({ length: 60 }, (_, i) => `K-${i},Kiosk late ${i},odd,not measured ${i}`);
  const { pack, printed, night } = await packOf(tableOf(['id,name,condition,depth', ...rows, ...late]));
  expect(printed).toContain('Read the first 100,000 rows of 100,060 of table.csv');
  expect(printed).toMatch(/condition: no closed list, because 60 of 100,060 cells do not fit, such as 'odd'/);
  expect(printed).toMatch(
    /depth: a string and no integer, because 60 of 160 cells do not fit, such as 'not measured 0'/,
  );
  expect(printed).toContain('of all rows, 60 rows repeat the id of an earlier row');
  expect(pack.identity.attributes).toEqual(['name']);
  if (LONG) expect(await night()).toMatchObject({ outcome: 'released', records: 100_060 });
});
