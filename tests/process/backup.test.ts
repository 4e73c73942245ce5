// Backup and restore: a register on an empty disk has everything again, from nothing but the backup.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { waitForLock } from '../../data/model/lock.ts';
import { openStore } from '../../data/state/store.ts';
import { ADMIN } from '../support/app.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { type Api, richKey, startApi } from '../support/money-processes.ts';
import { linkIn } from '../support/owners-stage.ts';
import { random } from '../support/random-records.ts';
import { wholeNight } from '../support/whole-night.ts';

const ROOT = join(import.meta.dirname, '../..');
const DATASETS = ['harbours', 'tools'];
const operator = { Authorization: `Bearer ${ADMIN}` };
const url = process.env['TEST_DATABASE_URL'];

/** Runs a command of the register to its end. */
function run(program: string, words: string[], env: Record<string, string>): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(ROOT, program), ...words], { env: { ...CHILD_ENV, ...env } }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, text: out + err }),
    );
  });
}

/** Every row of every table, in a fixed order; without what a start of a process writes. */
async function rows(env: Record<string, string>): Promise<Record<string, string[]>> {
  const store = await openStore({ dataDir: env['DATA_DIR']!, databaseUrl: env['DATABASE_URL'], existing: true });
  try {
    const tables = await store.db.introspection.getTables();
    const all: Record<string, string[]> = {};
    for (const { name } of tables.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const { rows: found } = await sql`select * from ${sql.table(name)}`.execute(store.db);
      all[name] = found.map((row) => JSON.stringify(row)).sort();
    }
    return all;
  } finally {
    await store.close();
  }
}

const current = (dataDir: string) =>
  Object.fromEntries(DATASETS.map((id) => [id, readFileSync(join(dataDir, 'releases', id, 'current'), 'utf8')]));

/** Answers of a service with its address and the caller's clock left out. */
async function answers(api: Api, key: string, record: string): Promise<Record<string, string>> {
  const own = { Authorization: `Bearer ${key}` };
  const asked: [string, Record<string, string>][] = [
    ...DATASETS.flatMap((id): [string, Record<string, string>][] => [
      [`/v1/${id}/status`, {}],
      [`/v1/${id}/entities?limit=50`, operator],
      [`/v1/${id}/changes?since=2020-01-01T00:00:00Z&limit=500`, operator],
    ]),
    [`/v1/harbours/entities/${record}`, operator],
    ['/v1/harbours/entities/harbour-13', operator],
    [`/v1/harbours/entities/${record}?as_of=2026-11-19T00:00:00Z`, operator],
    ['/v1/keys/me', own],
    ['/v1/keys/me/ledger', own],
    ['/v1/keys/me/subscriptions', own],
    ['/ops/review.json?status=all', operator],
    ['/.well-known/http-message-signatures-directory', {}],
  ];
  const all: Record<string, string> = {};
  for (const [path, headers] of asked) {
    const { status, body } = await api.ask(path, headers);
    const fixed = body.replace(
      /"(request_id|generated_at|age_hours|next_collection|retry_at)":("[^"]*"|[\d.]+)/g,
      '"$1":0',
    );
    all[path] = `${status} ${fixed}`;
  }
  return all;
}

describe.each(url ? ['SQLite', 'PostgreSQL'] : ['SQLite'])('a register on %s', (kind) => {
  const folder = mkdtempSync(join(tmpdir(), 'backup-'));
  const backups = join(folder, 'backups');
  const databases: string[] = [];
  const apis: Api[] = [];
  let key = '';
  let before: Record<string, string>;
  let saved: Record<string, string[]>;
  let env: Record<string, string>;

  /** Settings of a machine of its own: an empty disk, and on PostgreSQL an empty database. */
  async function machine(name: string): Promise<Record<string, string>> {
    const own = {
      BASE_URL: 'http://register.example',
      DATA_DIR: join(folder, name),
      DIST_DIR: join(folder, `${name}-dist`),
      PACK_DIRS: join(folder, `${name}-packs`),
    };
    if (kind === 'SQLite') return own;
    const database = `backup_${process.pid}_${name}`;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`create database ${database}`);
    await client.end();
    databases.push(database);
    return { ...own, DATABASE_URL: Object.assign(new URL(url!), { pathname: `/${database}` }).href };
  }

  const start = async (settings: Record<string, string>) => {
    const api = await startApi(settings['DATA_DIR']!, settings);
    apis.push(api);
    return api;
  };

  beforeAll(async () => {
    env = await machine('first');
    await wholeNight(folder);
    cpSync(join(folder, 'data'), env['DATA_DIR']!, { recursive: true, preserveTimestamps: true });
    cpSync(join(ROOT, 'tests/packs'), env['PACK_DIRS']!, { recursive: true });
    const api = await start(env);
    const json = { 'Content-Type': 'application/json' };
    key = (await richKey(api, 'reader@example.org', 'pro', 5)).key;
    const own = { Authorization: `Bearer ${key}`, ...json };
    const hook = await api.ask(
      '/v1/keys/me/subscriptions',
      own,
      'POST',
      JSON.stringify({ dataset: 'tools', url: 'https://hook.example.org/' }),
    );
    expect(hook.status).toBe(201);
    expect((await api.ask('/v1/harbours/entities?limit=5', own)).status).toBe(200);
    const claim = { dataset: 'harbours', entity_id: 'harbour-8', email: 'office@null.example' };
    expect((await api.ask('/v1/claim', json, 'POST', JSON.stringify(claim))).status).toBe(200);
    const token = linkIn(env['DATA_DIR']!, 'office@null.example', /token=([\w-]+)$/m);
    expect((await api.ask(`/v1/claim/verify?token=${token}`)).status).toBe(200);
    const edited = await api.ask('/v1/claim', json, 'PUT', JSON.stringify({ token, values: { fuel: true } }));
    expect(edited.status).toBe(200);
    const removal = { dataset: 'harbours', entity_id: 'harbour-13', contact: 'office@neu.example' };
    const text = JSON.stringify(removal);
    // Node sends the body of a DELETE only with Content-Length.
    const removing = { ...json, 'Content-Length': String(Buffer.byteLength(text)) };
    expect((await api.ask('/v1/optout', removing, 'DELETE', text)).status).toBe(200);
    // The service starts a run that removes the record from the files; the run has the lock until its end.
    const harbours = readFileSync(join(env['DATA_DIR']!, 'releases/harbours/current'), 'utf8');
    await vi.waitFor(() => expect(current(env['DATA_DIR']!)['harbours']).not.toBe(harbours), 60_000);
    (await waitForLock(env['DATA_DIR']!, 'nightly'))();
    before = await answers(api, key, 'harbour-8');
    const made = await run('build/cli/backup.ts', ['backup', backups], env);
    expect(made).toEqual({ code: 0, text: expect.stringContaining('backed up to ') });
    await api.kill('SIGTERM');
    saved = await rows(env);
  }, 180_000);

  afterAll(async () => {
    for (const api of apis) await api.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
    if (databases.length === 0) return;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const database of databases) await client.query(`drop database ${database} with (force)`);
    await client.end();
  });

  test('has after a restore on an empty machine every row and gives every answer', async () => {
    const second = await machine('second');
    expect(await run('build/cli/backup.ts', ['restore', backups], second)).toMatchObject({ code: 0 });
    const restored = await rows(second);
    // Traffic and sessions of the running service are written after the backup.
    for (const [table, list] of Object.entries(saved))
      if (!['nodes', 'leases'].includes(table)) expect(restored[table], table).toEqual(list);
    expect(current(second['DATA_DIR']!)).toEqual(current(env['DATA_DIR']!));
    expect((await run('build/cli/ledger.ts', ['verify'], second)).code).toBe(0);
    const api = await start(second);
    expect(await answers(api, key, 'harbour-8')).toEqual(before);
    await api.kill('SIGTERM');
  }, 120_000);

  test('can be read by its user alone', () => {
    const made = readdirSync(backups).find((name) => /^\d{4}/.test(name))!;
    const database = kind === 'SQLite' ? 'register.db' : 'register.pgdump';
    for (const file of ['', database, 'data']) expect(statSync(join(backups, made, file)).mode & 0o077, file).toBe(0);
  });

  test('is not overwritten by a restore', async () => {
    const { code, text } = await run('build/cli/backup.ts', ['restore', backups], env);
    expect(code).toBe(1);
    expect(text).toMatch(/^DATA_DIR: .* is not empty; restore into an empty folder\n$/);
  });

  test('builds the same release from its facts alone, at the clock of its manifest', async () => {
    const third: Record<string, string> = { ...(await machine('third')), PACK_DIRS: join(ROOT, 'tests/packs') };
    expect(await run('build/nightly.ts', [], third)).toMatchObject({ code: 0 });
    const releases = current(third['DATA_DIR']!);
    const own = join(folder, 'backups-of-third');
    expect(await run('build/cli/backup.ts', ['backup', own], third)).toMatchObject({ code: 0 });
    const fourth = await machine('fourth');
    expect(await run('build/cli/backup.ts', ['restore', own], fourth)).toMatchObject({ code: 0 });
    const data = fourth['DATA_DIR']!;
    const clocks = DATASETS.map((id) => {
      const manifest = join(data, 'releases', id, releases[id]!.trim(), 'manifest.json');
      return (JSON.parse(readFileSync(manifest, 'utf8')) as { created_at: string }).created_at;
    });
    for (const name of ['releases', 'sources', 'evidence']) rmSync(join(data, name), { recursive: true, force: true });
    for (const [i, id] of DATASETS.entries()) {
      const epoch = { SOURCE_DATE_EPOCH: String(Date.parse(clocks[i]!) / 1000) };
      const built = await run('build/nightly.ts', ['--rewrite', '--only', id], { ...fourth, ...epoch });
      expect(built).toMatchObject({ code: 0 });
    }
    expect(current(data)).toEqual(releases);
    expect(existsSync(join(fourth['DIST_DIR']!, 'index.html'))).toBe(true);
  }, 240_000);

  test('keeps its last backup when another is killed at any moment', async () => {
    const names = () =>
      readdirSync(backups)
        .filter((name) => name.startsWith('20'))
        .sort();
    const [kept] = names();
    // A file of the register that changed needs a copy of its own.
    const pointer = join(env['DATA_DIR']!, 'runs/added.jsonl');
    mkdirSync(join(env['DATA_DIR']!, 'runs'), { recursive: true });
    const pick = random(7);
    let killed = 0;
    for (let kill = 0; kill < 5; kill += 1) {
      writeFileSync(pointer, `{"kill":${kill}}\n`);
      utimesSync(pointer, kill, kill);
      const child = spawn(process.execPath, [join(ROOT, 'build/cli/backup.ts'), 'backup', backups], {
        env: { ...CHILD_ENV, ...env },
        stdio: 'ignore',
      });
      const exit = once(child, 'exit') as Promise<[number | null, string | null]>;
      // From before the draft exists until most of the copies are there.
      while (child.exitCode === null && !readdirSync(backups).some((name) => name.startsWith('.unfinished-')))
        await wait(2);
      await wait(pick() * 150);
      child.kill('SIGKILL');
      if ((await exit)[1] === 'SIGKILL') killed += 1;
    }
    expect(killed).toBeGreaterThan(0);
    const fifth = await machine('fifth');
    expect(await run('build/cli/backup.ts', ['restore', join(backups, kept!)], fifth)).toMatchObject({ code: 0 });
    expect((await rows(fifth))['entries']).toEqual(saved['entries']);
    expect(existsSync(join(fifth['DATA_DIR']!, 'runs/added.jsonl'))).toBe(false);
    expect(await run('build/cli/backup.ts', ['backup', backups], env)).toMatchObject({ code: 0 });
    expect(readdirSync(backups).filter((name) => name.startsWith('.unfinished-'))).toEqual([]);
    const newest = join(backups, names().at(-1)!);
    expect(readFileSync(join(newest, 'data/runs/added.jsonl'), 'utf8')).toBe('{"kill":4}\n');
    // What did not change is one file on the disk.
    const release = `data/releases/tools/${current(env['DATA_DIR']!)['tools']!.trim()}/facts.parquet`;
    expect(statSync(join(newest, release)).ino).toBe(statSync(join(backups, kept!, release)).ino);
  }, 120_000);
});
