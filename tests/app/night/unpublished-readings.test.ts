// Nights that are refused, stopped, failed or killed leave no trace: every value that anybody can read was in a release.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compose } from '../../../api/compose.ts';
import { datasetNight, type NightOptions } from '../../../build/night/dataset.ts';
import { Duck, quotedText } from '../../../data/duckdb/duck.ts';
import { paths } from '../../../data/model/layout.ts';
import { currentRelease } from '../../../data/model/manifest.ts';
import { listRuns, pendingRuns } from '../../../data/write/facts.ts';
import { loadPack } from '../../../packs/define/load.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { scratch, still } from '../../support/night-pack.ts';
import { verifies } from '../../support/verifies.ts';

verifies('fact.published-only');

const ROOT = join(import.meta.dirname, '../../..');
const ADMIN = 'an-admin-key-of-the-tests-0123456789';
const RECORDS = 240;

const PACK = (from: string) => `
import { csv, definePack } from 'dataset-register/pack';

const text = { type: 'string', description: 'A text', example: 'a', public: true, searchable: true, sla: 8760 } as const;
const price = { type: 'price', unit: 'EUR/piece', currency: 'EUR', description: 'Price', example: 5, public: true, filterable: true, sla: 8760 } as const;

export default definePack({
  title: 'Kites', description: 'Fictional kites.', attribution: 'Nobody',
  license: { name: 'CC0-1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  sources: {
    shop: {
      title: 'Shop', url: 'https://shop.example/', license: 'CC0-1.0', trust: 0.9, complete: true, max_drop: 0.5,
      from: csv(${from}),
    },
  },
  attributes: { code: { ...text, filterable: true }, label: text, state: { ...text, searchable: false, filterable: true }, price, weight: { ...price, description: 'Price of the weight' } },
  identity: { attributes: ['code'] },
  gone: { attribute: 'state', value: 'sold out' },
  group_by: 'state',
  serving: { showcase: { per_group: 1 } },
  compare: ['price'],
  prices: { search: 0.008, get: 0.004, facts: 0.01, compare: 0.012, stats: 0.015 },
  schedule: '0 3 * * *',
  tests: [{ kind: 'accepted', attribute: 'state', values: ['new', 'used', 'sold out'] }],
});
`;

interface Row {
  code: string;
  label: string;
  state: string;
  price: string;
  weight: string;
}

/** The rows of a file: the label of the first kite names the night. */
const rowsOf = (night: string, change: (row: Row, i: number) => Row | null = (row) => row): Row[] =>
  Array.from({ length: RECORDS }, (_, i) => {
    const code = `k${String(i).padStart(3, '0')}`;
    const label = i === 0 ? night : `Kite ${i}`;
    return change({ code, label, state: i % 2 ? 'new' : 'used', price: `${i + 1}.25`, weight: `${i + 2}.5` }, i);
  }).filter((row) => row !== null);

interface Night {
  outcome: string;
  messages: string[];
}

/** A dataset of kites with one CSV source, and its nights. */
async function stage(from: string) {
  const folder = scratch();
  const at = join(folder, 'kites');
  mkdirSync(join(at, 'files'), { recursive: true });
  for (const [name, content] of [
    ['pack.ts', PACK(from)],
    [
      'samples.json',
      '[{ "identity": { "code": "s" }, "values": { "label": "Sample", "price": 5 }, "evidence": "invented" }]',
    ],
    ['record.md', '# {{ record.name }}\n'],
    ['guide.md', 'Kites.\n'],
  ] as const)
    writeFileSync(join(at, name), content);
  const data = join(folder, 'data');
  const pack = await loadPack(at);
  const time = (day: number) => new Date(Date.UTC(2026, 0, day));
  return {
    folder: at,
    data,
    pack,
    time,
    write(name: string, day: number, rows: readonly Row[]) {
      const path = join(at, 'files', name);
      const lines = rows.map(({ code, label, state, price, weight }) => [code, label, state, price, weight].join(','));
      writeFileSync(path, `code,label,state,price,weight\n${lines.join('\n')}\n`);
      utimesSync(path, time(day), time(day));
    },
    /** Runs the night of a day at 12:00. `fails`: the step in which it throws. */
    async night(
      day: number,
      options: Partial<NightOptions> & { fails?: string; as?: Partial<Pack> } = {},
    ): Promise<Night> {
      const { fails, as, ...rest } = options;
      const now = new Date(time(day).getTime() + 43_200_000).toISOString();
      const effects = still(now);
      const { progress } = effects;
      const step = (dataset: string, name: string) => {
        if (name === fails) throw new Error('the disk is full');
        progress.step(dataset, name);
      };
      try {
        const run = { ...effects, progress: { ...progress, step } };
        return await datasetNight({ ...pack, ...as }, data, run, { accept: false, ...rest });
      } catch (error) {
        return { outcome: 'failed', messages: [(error as Error).message] };
      }
    },
    /** Runs the night of a day in another process, which kills itself at a step. */
    killedNight(day: number, step: string) {
      const program = `
        const { loadPack } = await import('${ROOT}/packs/define/load.ts');
        const { datasetNight } = await import('${ROOT}/build/night/dataset.ts');
        const { silentProgress } = await import('${ROOT}/build/effects/progress.ts');
        const kill = (step) => { if (step === '${step}') process.kill(process.pid, 'SIGKILL'); };
        const progress = { ...silentProgress, step: (_, name) => kill(name) };
        const now = () => new Date(${time(day).getTime() + 43_200_000});
        const effects = { now, ticks: () => 0, web: () => Promise.reject(new Error('no web')), npm: {}, progress, environment: () => undefined };
        const publication = { announce: async () => kill('announce') };
        await datasetNight(await loadPack('${at}'), '${data}', effects, { accept: false, publication });`;
      const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', program]);
      expect(signal, step).toBe('SIGKILL');
    },
  };
}

type Stage = Awaited<ReturnType<typeof stage>>;

/** All texts of the current release and of the published facts. */
async function stored({ data, folder }: Stage): Promise<string> {
  const release = paths.release(data, 'kites', (await currentRelease(data, 'kites'))!);
  const duck = await Duck.open(join(folder, 'spill'));
  const texts: string[] = [];
  const files = readdirSync(release, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const facts = (await listRuns(data, 'kites')).flatMap((run) => [run.facts, run.readings]);
  for (const path of [...files.map((entry) => join(entry.parentPath, entry.name)), ...facts]) {
    if (!path.endsWith('.parquet')) texts.push(readFileSync(path, 'utf8'));
    else texts.push(...(await duck.rows(`SELECT r::VARCHAR FROM read_parquet(${quotedText(path)}) r`)).map(String));
  }
  duck.close();
  return texts.join('\n');
}

/** What callers read of the dataset through every channel. */
async function serve({ data, pack, time }: Stage) {
  const { app, close } = await compose({
    ...{
      packs: [pack],
      dataDir: data,
      dist: join(data, 'dist'),
      adminKeys: [ADMIN],
      base_url: 'https://kites.example',
    },
    ...{ eur_usd: 1.1, x402: null, now: () => time(60), log: () => {}, host: '127.0.0.1', trust_proxy: 0 },
    ...{
      checkout: undefined,
      welcome_budget: undefined,
      repeat_patience: undefined,
      smtpUrl: undefined,
      mcp_origins: [],
    },
    ...{ sql_memory: 2 ** 29, fast_path: true, fetch: undefined, report: () => {} },
  });
  const read = async (path: string, body?: unknown) => {
    const headers = { Authorization: `Bearer ${ADMIN}`, 'Content-Type': 'application/json' };
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await app.request(path, init);
    return { status: response.status, text: await response.text() };
  };
  return { read, close };
}

const SQL = ['kites', 'kites_history', 'kites_provenance', "kites_as_of(TIMESTAMP '2026-01-12')"];

/** Paths whose answers together show every value. */
const PATHS = [
  '/v1/kites/entities/k000/facts',
  '/v1/kites/changelog?days=90&limit=100',
  '/v1/kites/changes?since=2000-01-01T00:00:00Z&limit=10000',
  '/v1/kites/facets?by=state',
  '/v1/kites/timeseries?attribute=price&days=90',
  '/datasets/kites/k000.md',
  '/datasets/kites/k000',
];

/** Label, state and price of the first kite on a day. */
async function asOf(read: Awaited<ReturnType<typeof serve>>['read'], day: string): Promise<string> {
  const { text } = await read(`/v1/kites/entities?code=k000&as_of=2026-01-${day}T23:00:00Z`);
  const [item] = (JSON.parse(text) as { items: { attributes: Record<string, unknown> }[] }).items;
  return `${String(item?.attributes['label'])} ${JSON.stringify(item?.attributes['price'])}`;
}

test('the values of nights that were refused, failed or killed are nowhere', { timeout: 900_000 }, async () => {
  const kites = await stage("'files/kites.csv'");
  const good = (night: string) => rowsOf(night);
  const file = (day: number, rows: Row[]) => kites.write('kites.csv', day, rows);
  file(1, good('Served-1'));
  expect(await kites.night(1)).toMatchObject({ outcome: 'released' });
  const [first] = await Promise.all([currentRelease(kites.data, 'kites')]);

  // Refused by each rule.
  file(
    2,
    rowsOf('Refused-values', (row, i) => (i % 3 === 1 ? { ...row, price: '' } : row)),
  );
  expect((await kites.night(2)).messages.join()).toContain('price: 80 of 240 values are missing');
  file(
    3,
    rowsOf('Refused-changes', (row) => ({ ...row, price: `${row.price}9`.replace('.', '') })),
  );
  expect((await kites.night(3)).messages.join()).toContain('price: 240 of 240 values changed in one night');
  file(
    4,
    rowsOf('Refused-gone', (row, i) => (i % 3 === 1 ? null : row)),
  );
  expect((await kites.night(4)).messages.join()).toContain('records are newly sold out');
  file(
    5,
    rowsOf('Refused-test', (row) => ({ ...row, state: 'torn' })),
  );
  expect((await kites.night(5)).messages.join()).toContain('torn is not among the accepted values');
  // Stopped: too many records are missing, and too many cells are wrong.
  file(
    6,
    rowsOf('Stopped-drop', (row, i) => (i > 20 ? null : row)),
  );
  expect(await kites.night(6)).toMatchObject({ outcome: 'failed' });
  file(
    7,
    rowsOf('Stopped-cells', (row) => ({ ...row, price: 'dear' })),
  );
  expect(await kites.night(7)).toMatchObject({ outcome: 'failed' });
  // Failed before, while and after facts were appended.
  for (const [day, fails] of [
    [8, 'collect'],
    [9, 'append facts'],
    [10, 'consolidate'],
    [11, 'index and release'],
  ] as const) {
    file(day, good(`Failed-${fails}`));
    expect(await kites.night(day, { fails })).toMatchObject({ outcome: 'failed', messages: ['the disk is full'] });
  }
  // Killed before and after facts were appended, and with a complete release that is not current.
  for (const [day, step] of [
    [12, 'collect'],
    [13, 'append facts'],
    [14, 'consolidate'],
    [15, 'announce'],
  ] as const) {
    file(day, good(`Killed-${step}`));
    kites.killedNight(day, step);
  }
  expect(await currentRelease(kites.data, 'kites')).toBe(first);
  expect(await stored(kites)).not.toMatch(/Refused|Stopped|Failed|Killed/);
  expect(await listRuns(kites.data, 'kites')).toHaveLength(1);
  // A removal builds a release while the readings wait.
  expect(await kites.night(16, { collects: false })).toMatchObject({ outcome: 'unchanged' });

  file(17, good('Served-17'));
  const next = await kites.night(17);
  expect(next).toMatchObject({ outcome: 'released' });
  expect(next.messages).toContain('1 reading of a run that was not released left no trace: shop of 2026-01-15');
  expect(await kites.night(18)).toMatchObject({ outcome: 'unchanged' });

  // A refused reading waits until it is accepted, and has its own time then.
  file(
    19,
    rowsOf('Accepted-19', (row) => ({ ...row, price: `9${row.price}` })),
  );
  expect(await kites.night(19)).toMatchObject({ outcome: 'refused' });
  expect(await kites.night(20)).toMatchObject({ outcome: 'refused' });
  expect(await stored(kites)).not.toContain('Accepted');
  expect(await kites.night(21, { accept: true })).toMatchObject({ outcome: 'released' });
  // As after a kill between the release and the rename of the readings.
  const last = (await listRuns(kites.data, 'kites')).at(-1)!;
  renameSync(last.readings, last.readings.replace('.readings.', '.pending.'));
  file(
    22,
    rowsOf('Served-22', (row) => ({ ...row, price: `9${row.price}` })),
  );
  expect(await kites.night(22)).toMatchObject({ outcome: 'released' });
  expect(await pendingRuns(kites.data, 'kites')).toEqual([]);
  expect(await listRuns(kites.data, 'kites')).toHaveLength(4);

  const bad = /Refused|Stopped|Failed|Killed/;
  expect(await stored(kites)).not.toMatch(bad);
  const { read, close } = await serve(kites);
  onTestFinished(close);
  for (const path of PATHS) {
    const { status, text } = await read(path);
    expect.soft([path, status, status === 200 ? '' : text]).toEqual([path, 200, '']);
    expect.soft(text, path).not.toMatch(bad);
  }
  for (const table of SQL) {
    const { status, text } = await read('/v1/sql', { sql: `SELECT * FROM ${table}`, max_rows: 10_000 });
    expect.soft([table, status, status === 200 ? '' : text]).toEqual([table, 200, '']);
    expect.soft(text, table).not.toMatch(bad);
  }
  for (const [day, expected] of [
    ['01', 'Served-1 1.25'],
    ['03', 'Served-1 1.25'],
    ['16', 'Served-1 1.25'],
    ['18', 'Served-17 1.25'],
    ['20', 'Accepted-19 91.25'],
    ['23', 'Served-22 91.25'],
  ] as const)
    expect.soft([day, await asOf(read, day)]).toEqual([day, expected]);
  // The feed has the changes of the releases, at their times, and the changelog the same changes.
  const { items } = JSON.parse((await read('/v1/kites/changes?since=2026-01-02T00:00:00Z&limit=10000')).text) as {
    items: { attribute: string; new_value: unknown; recorded_at: string }[];
  };
  const labels = items.filter(({ attribute }) => attribute === 'label');
  expect
    .soft(labels.map((item) => `${item.recorded_at.slice(0, 10)} ${String(item.new_value)}`))
    .toEqual(['2026-01-17 Served-17', '2026-01-21 Accepted-19', '2026-01-22 Served-22']);
  const { total } = JSON.parse((await read('/v1/kites/changelog?days=58&limit=1')).text) as { total: number };
  expect.soft(total).toBe(items.length);
});

test('a file of a refused night is not read again beside the next one', { timeout: 300_000 }, async () => {
  const kites = await stage("'files/kites-*.csv', { observed_at: { file_name: 'YYYY-MM-DD' } }");
  const file = (day: number, rows: Row[]) =>
    kites.write(`kites-2026-01-${String(day).padStart(2, '0')}.csv`, day, rows);
  // Before anything was published, all that the source has is its history.
  file(
    1,
    rowsOf('Served-1', (row) => ({ ...row, state: 'torn' })),
  );
  expect(await kites.night(1)).toMatchObject({ outcome: 'refused', release: null });
  file(1, rowsOf('Served-1'));
  file(2, rowsOf('Served-2'));
  expect(await kites.night(2)).toMatchObject({ outcome: 'released' });
  expect(await stored(kites)).toContain('Served-1');
  file(
    3,
    rowsOf('Refused-3', (row) => ({ ...row, state: 'torn' })),
  );
  expect(await kites.night(3)).toMatchObject({ outcome: 'refused' });
  // The next reading is refused, too; then a good one follows, and the source is read from its start.
  file(
    4,
    rowsOf('Refused-4', (row) => ({ ...row, state: 'torn' })),
  );
  expect(await kites.night(4)).toMatchObject({ outcome: 'refused' });
  file(5, rowsOf('Served-5'));
  expect(await kites.night(5)).toMatchObject({ outcome: 'released' });
  expect(await kites.night(6, { as: { revision: 2 } })).toMatchObject({ outcome: 'released' });
  expect(await stored(kites)).not.toMatch(/Refused|torn/);
  expect(await stored(kites)).toMatch(/Served-1/);
});
