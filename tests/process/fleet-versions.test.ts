// Two versions of the program on one PostgreSQL and one store. The newer one is a copy of this one with another
// format of the index and one more migration.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { CHILD_ENV } from '../support/child-env.ts';
import { freePort } from '../support/free-port.ts';
import { scratch } from '../support/night-pack.ts';
import { openSharedStorage } from '../support/shared-storage.ts';
import { PACKS, withCopies } from '../support/whole-night.ts';

const OLDER = join(import.meta.dirname, '../..');
const ADMIN_KEY = randomBytes(24).toString('hex');
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

/** Replaces a text of a file that contains it once. */
function replaceIn(file: string, text: string, by: string): void {
  const content = readFileSync(file, 'utf8');
  expect(content.split(text), `${text} in ${file}`).toHaveLength(2);
  writeFileSync(file, content.replace(text, by));
}

/** The program with the index format DSRIDX99 and the migration 0099_newer. */
function newerProgram(): string {
  const folder = scratch();
  const left = new Set(['node_modules', '.git', 'tests', 'bench', 'dist']);
  for (const name of readdirSync(OLDER))
    if (!left.has(name))
      cpSync(join(OLDER, name), join(folder, name), {
        recursive: true,
        filter: (path) => path !== join(OLDER, 'data/var'),
      });
  symlinkSync(join(OLDER, 'node_modules'), join(folder, 'node_modules'));
  const container = join(folder, 'data/index/container.ts');
  const [format = ''] = /DSRIDX\d\d/.exec(readFileSync(container, 'utf8')) ?? [];
  writeFileSync(container, readFileSync(container, 'utf8').replaceAll(format, 'DSRIDX99'));
  replaceIn(
    join(folder, 'data/state/tables/migrations.ts'),
    '    [FIRST]: {',
    "    '0099_newer': { up: async (db) => void (await db.schema.createTable('newer').addColumn('id', 'text').execute()) },\n    [FIRST]: {",
  );
  return folder;
}

test('an older and a newer version serve together, whichever built the release', async (context) => {
  const url = process.env['TEST_DATABASE_URL'];
  if (!url) return context.skip('TEST_DATABASE_URL is not set');
  const { store, schema, settings, remove } = await openSharedStorage(url, scratch());
  onTestFinished(remove);
  const root = scratch();
  cpSync(join(PACKS, 'tools'), join(root, 'packs/tools'), { recursive: true });
  const newer = newerProgram();

  /** Starts a program of one of the versions on a machine. */
  const start = (program: string, machine: string, more: Record<string, string> = {}) => {
    const child = spawn(process.execPath, [program], {
      env: {
        ...CHILD_ENV,
        ...settings,
        PACK_DIRS: join(root, 'packs'),
        DATA_DIR: join(root, machine, 'data'),
        DIST_DIR: join(root, machine, 'dist'),
        ADMIN_KEYS: ADMIN_KEY,
        ...more,
      },
    });
    running.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (output += String(text)));
    return {
      child,
      output: () => output,
      exited: new Promise<number | null>((resolve) => child.once('exit', resolve)),
    };
  };
  type Running = ReturnType<typeof start>;
  const until = async (run: Running, condition: () => Promise<boolean> | boolean) => {
    while (!(await condition())) {
      if (run.child.exitCode !== null) throw new Error(`it ended early:\n${run.output()}`);
      await sleep(50);
    }
  };
  const night = async (version: string) => {
    await withCopies(join(root, 'builder/dist'));
    const run = start(join(version, 'build/nightly.ts'), 'builder');
    expect(await run.exited, run.output()).toBe(0);
  };
  const node = async (version: string, machine: string) => {
    const port = String(await freePort());
    const run = start(join(version, 'api/server.ts'), machine, { PORT: port });
    const headers = { Authorization: `Bearer ${ADMIN_KEY}` };
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`, { headers });
    const ready = () =>
      get('/readyz').then(
        ({ status }) => status === 200,
        () => false,
      );
    await until(run, ready);
    const release = async () =>
      ((await (await get('/healthz')).json()) as { release: { tools: string } }).release.tools;
    const ids = async () => {
      const answer = await get('/v1/tools/entities?limit=20&sort=name');
      expect(answer.status).toBe(200);
      return ((await answer.json()) as { items: { id: string }[] }).items.map(({ id }) => id);
    };
    return { ...run, release, ids };
  };

  // A release of the older version, served by both, while the newer one migrates the database.
  await night(OLDER);
  const old = await node(OLDER, 'old');
  const first = await old.release();
  const fresh = await node(newer, 'new');
  expect(await fresh.release()).toBe(first);
  const records = await old.ids();
  expect(records.length).toBeGreaterThan(5);
  expect(await fresh.ids()).toEqual(records);
  const { rows } = await sql<{ name: string }>`select name from ${sql.id(schema, 'kysely_migration')}`.execute(
    store.db,
  );
  expect(rows.map(({ name }) => name)).toContain('0099_newer');

  // The older version starts on the newer database.
  old.child.kill('SIGTERM');
  expect(await old.exited).toBe(0);
  const again = await node(OLDER, 'old');
  expect(await again.ids()).toEqual(records);

  // A release of the newer version: served by the newer one, named and refused by the older one.
  const pack = join(root, 'packs/tools/pack.ts');
  writeFileSync(pack, readFileSync(pack, 'utf8').replace(/\bweight: \d+/, 'weight: 7'));
  await night(newer);
  await until(fresh, async () => (await fresh.release()) !== first);
  await until(again, () => again.output().includes('start the newer version'));
  expect(again.output()).toMatch(/its index has the format DSRIDX99 and this version of the program reads DSRIDX\d\d/);
  expect(await again.release()).toBe(first);
  expect(await again.ids()).toEqual(records);
  expect(await fresh.ids()).toEqual(records);

  // A migration with which the older version cannot work.
  await sql`insert into ${sql.id(schema, 'kysely_migration')} values ('0100_gone_breaking', '2026-11-23')`.execute(
    store.db,
  );
  const refused = start(join(OLDER, 'api/server.ts'), 'old', { PORT: String(await freePort()) });
  expect(await refused.exited).toBe(1);
  expect(refused.output()).toContain('has the migration 0100_gone_breaking');
}, 480_000);
