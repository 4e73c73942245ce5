// A database that fails in the middle of work: no half transaction, 503 while it lasts, and a new ledger thread.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { expect, onTestFinished, type TestContext, test, vi } from 'vitest';
import { openReadiness } from '../../api/ops/state.ts';
import { paths } from '../../data/model/layout.ts';
import { openStorage } from '../../data/objects/open.ts';
import { openFollower } from '../../data/releases/follow.ts';
import { openRegister } from '../../data/releases/register.ts';
import { verify } from '../../data/state/money/ledger.ts';
import { storedQuotas } from '../../data/state/quotas.ts';
import { openStore, type Store } from '../../data/state/store.ts';
import { NOW, testApp } from '../support/app.ts';
import { faultyProxy } from '../support/faulty-proxy.ts';
import { callStatus, newKey } from '../support/money-on-stores.ts';

const database = process.env['TEST_DATABASE_URL'];

/** A store on PostgreSQL behind a proxy. The time limit is long, since a test machine may be busy. */
async function proxied(context: TestContext) {
  if (!database) context.skip('TEST_DATABASE_URL is not set');
  const url = new URL(database!);
  const proxy = await faultyProxy(Number(url.port || 5432));
  url.host = `127.0.0.1:${proxy.port}`;
  const schema = `faults_${randomBytes(6).toString('hex')}`;
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const store = await openStore({ dataDir: tmpdir(), databaseUrl: url.href, schema, statement_limit: 8_000, log });
  onTestFinished(async () => {
    await proxy.set('none');
    await sql`drop schema ${sql.id(schema)} cascade`.execute(store.db);
    await store.close();
    await proxy.close();
  });
  return { store, proxy, lines };
}

const days = async ({ db }: Store) => (await db.selectFrom('quotas').select('name').execute()).map(({ name }) => name);
const insert = (db: Store['db'], name: string) =>
  db.insertInto('quotas').values({ name, day: '2026-11-20', used: 1, last: 1 }).execute();

test('a transaction whose statement is not answered leaves nothing behind, also in its connection', async (context) => {
  const { store, proxy, lines } = await proxied(context);
  const cut = store.db.transaction().execute(async (transaction) => {
    await insert(transaction, 'first');
    await proxy.set('hangs');
    await insert(transaction, 'second');
  });
  await expect(cut).rejects.toMatchObject({ code: 'unavailable', retry_after_seconds: 5 });
  // Without a fault, 12 transactions at once would use every connection that the pool kept.
  await proxy.set('none');
  const later = Array.from({ length: 12 }, (_, i) =>
    store.db.transaction().execute((transaction) => insert(transaction, `later ${i}`)),
  );
  await Promise.all(later);
  expect((await days(store)).filter((name) => !name.startsWith('later'))).toEqual([]);
  expect(await days(store)).toHaveLength(12);
  expect(lines).toEqual([
    'the accounts database cannot be used: PostgreSQL does not answer (Query read timeout); calls that need it answer 503',
    'the accounts database can be used again',
  ]);
});

test('a statement that waits for a lock ends on the server, and its connection goes on', async (context) => {
  const { store } = await proxied(context);
  await insert(store.db, 'locked');
  await store.db.transaction().execute(async (transaction) => {
    await sql`update quotas set used = 2`.execute(transaction);
    const waiting = sql`update quotas set used = 3`.execute(store.db);
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
  });
  expect((await store.db.selectFrom('quotas').select('used').executeTakeFirst())?.used).toBe(2);
});

test('after a failed write only a committed one shows that the database works again', async (context) => {
  const { store, lines } = await proxied(context);
  const failing = store.db.transaction().execute(async (transaction) => {
    await sql`set transaction read only`.execute(transaction);
    await insert(transaction, 'refused');
  });
  await expect(failing).rejects.toMatchObject({ code: 'unavailable' });
  await store.db.transaction().execute((transaction) => transaction.selectFrom('quotas').selectAll().execute());
  await store.db.updateTable('quotas').set({ used: 2 }).where('name', '=', 'none').execute();
  const undone = store.db.transaction().execute(async (transaction) => {
    await insert(transaction, 'undone');
    expect(store.health.problem).not.toBeNull();
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(lines).toHaveLength(1);
  await store.db.transaction().execute((transaction) => insert(transaction, 'kept'));
  expect(lines.at(-1)).toBe('the accounts database can be used again');
});

/** A small file system in memory at a new folder; skips the test where none can be mounted. */
function smallDisk(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    rmSync(folder, { recursive: true });
    context.skip(`no file system can be mounted here: ${(error as Error).message.split('\n')[1] ?? ''}`);
  }
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
}

test('a full disk: 503 for what must be written, free answers go on, and nothing is lost', async (context) => {
  const disk = smallDisk(context);
  vi.stubEnv('TMPDIR', disk);
  const lines: string[] = [];
  const app = await testApp({ records: 3, log: (line) => lines.push(line) });
  vi.unstubAllEnvs();
  try {
    const { headers } = await newKey(app, 10);
    const paid = '/v1/tools/entities/record-1';
    expect(await callStatus(app, paid, { headers })).toBe('200');
    // The row of the check exists: a write that changes nothing would succeed on a full disk.
    expect(await callStatus(app, '/readyz')).toBe('200');
    const filler = join(disk, 'filler');
    fill(filler);
    // SQLite writes over old parts of its log before it needs new ones.
    let calls = 0;
    for (; calls < 5_000; calls += 1) if ((await callStatus(app, paid, { headers })) !== '200') break;
    expect(await callStatus(app, paid, { headers })).toBe('503 unavailable');
    const answers = await Promise.all([
      app.json('/v1/tools/entities?limit=1', { address: '192.0.2.9' }),
      app.json('/v1/keys', { method: 'POST', body: '{"email":"new@example.org"}', address: '192.0.2.9' }),
      app.json('/v1/datasets'),
    ]);
    expect(answers.map(({ status, headers: sent }) => [status, sent.get('retry-after')])).toEqual([
      [503, '5'],
      [503, '5'],
      [200, null],
    ]);
    // Its answer is used for a second.
    const reasons = async () => (await app.json('/readyz')).body['reasons'];
    await expect.poll(reasons, { timeout: 5_000 }).toEqual(['the accounts database cannot be written']);
    expect(app.faults).toEqual([]);
    rmSync(filler);
    await expect.poll(() => callStatus(app, paid, { headers })).toBe('200');
    await expect.poll(async () => (await app.ask('/readyz')).text(), { timeout: 5_000 }).toBe('{"status":"ready"}');
    const { unbalanced, wrong, sum } = await verify(app.state);
    expect({ unbalanced, wrong, sum }).toEqual({ unbalanced: [], wrong: [], sum: 0 });
    expect(lines.filter((line) => line.includes('accounts database')).map((line) => line.split(':')[0])).toEqual([
      'the accounts database cannot be used',
      'the accounts database can be used again',
    ]);
  } finally {
    await app.close();
  }
});

/** Writes until there is no room. */
function fill(file: string): void {
  const descriptor = openSync(file, 'w');
  for (let size = 1 << 20; size >= 1; size >>= 1)
    try {
      for (;;) writeSync(descriptor, Buffer.alloc(size));
    } catch {
      // The rest is smaller.
    }
  closeSync(descriptor);
}

test('the ledger thread ends: it is replaced, for this thread and for those that it serves', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'ledger-'));
  const lines: string[] = [];
  const store = await openStore({ dataDir, log: (line) => lines.push(line) });
  const joined = await openStore({ dataDir, writerPort: store.writer!.connect!() });
  onTestFinished(async () => {
    await joined.close();
    await store.close();
    rmSync(dataDir, { recursive: true });
  });
  const take = (of: Store) => storedQuotas(of).take({ name: 'calls', quota: 100 }, 1, NOW);
  const posted = vi.spyOn(Worker.prototype, 'postMessage');
  expect([await take(store), await take(joined)]).toEqual([1, 1]);
  for (let round = 1; round <= 2; round += 1) {
    const ledger = posted.mock.contexts.at(-1) as Worker;
    const flying = take(joined).catch((error: { code?: string }) => error.code);
    await ledger.terminate();
    expect(await flying).toBeOneOf([1, 'unavailable']);
    for (const of of [store, joined])
      await expect.poll(() => take(of).catch(() => 0), { timeout: 10_000, message: `round ${round}` }).toBe(1);
  }
  expect(lines.filter((line) => line.startsWith("the ledger's thread ended (code 1)"))).toHaveLength(2);
});

test('a damaged release and a database that cannot be written are reasons, a dataset never built is a warning', async () => {
  const app = await testApp({ records: 3 });
  try {
    const { packs } = app.register;
    const options = { dataDir: app.dataDir, packs: [...packs.values()], log: () => {}, limits: { retry: 0 } };
    truncateSync(join(paths.release(app.dataDir, 'harbours', app.releases['harbours']!), 'engine.parquet'), 100);
    const register = await openRegister(options);
    const parts = { register, store: app.state, follower: null, redisUp: () => null, now: () => NOW };
    expect(await openReadiness(parts).state()).toEqual({ reasons: ['harbours: the release is damaged'], warnings: [] });
    rmSync(join(app.dataDir, 'releases', 'harbours'), { recursive: true });
    await register.close();
    const second = await openRegister(options);
    expect(await openReadiness({ ...parts, register: second }).state()).toEqual({
      reasons: [],
      warnings: ['harbours: no release was built yet'],
    });
    await second.close();
    await app.state.close();
    expect((await openReadiness(parts).state()).reasons).toContain('the accounts database cannot be written');
  } finally {
    await app.close().catch(() => {});
  }
});

test('a database that only reads, as a replica does: not ready and 503 for what is written, and free answers go on', async (context) => {
  const { store } = await proxied(context);
  const name = `read_only_${randomBytes(6).toString('hex')}`;
  await sql`create database ${sql.id(name)}`.execute(store.db);
  const url = new URL(database!);
  url.pathname = name;
  const app = await testApp({ records: 3, now: () => new Date(), store: { databaseUrl: url.href } });
  const setting = async (value: 'on' | 'off') => {
    await sql`alter database ${sql.id(name)} set default_transaction_read_only = ${sql.lit(value)}`.execute(store.db);
    // Only new connections have it.
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`.execute(store.db);
  };
  const status = (path: string) => callStatus(app, path, { headers });
  const { headers } = await newKey(app, 10);
  try {
    expect(await status('/v1/tools/entities/record-1')).toBe('200');
    await setting('on');
    await expect
      .poll(async () => (await app.ask('/readyz')).text(), { timeout: 20_000 })
      .toContain('cannot be written');
    expect((await app.ask('/readyz')).status).toBe(503);
    await expect.poll(() => status('/v1/tools/entities/record-1'), { timeout: 20_000 }).toBe('503 unavailable');
    const added = await app.json('/v1/keys', { method: 'POST', body: '{"email":"new@example.org"}' });
    expect([added.status, added.headers.get('retry-after')]).toEqual([503, '5']);
    expect([(await app.ask('/healthz')).status, (await app.ask('/v1/datasets')).status]).toEqual([200, 200]);
    await setting('off');
    await expect.poll(() => status('/v1/tools/entities/record-1'), { timeout: 20_000 }).toBe('200');
    await expect.poll(() => status('/readyz'), { timeout: 20_000 }).toBe('200');
    expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
  } finally {
    await app.close();
    await sql`drop database ${sql.id(name)} with (force)`.execute(store.db);
  }
}, 120_000);

test('a clock that differs from that of PostgreSQL by more than a minute is a reason, and none when it is right again', async (context) => {
  const { store } = await proxied(context);
  const parts = { register: { packs: new Map(), state: () => 'open' as const }, follower: null, redisUp: () => null };
  const reasons = async (shift: number) => {
    const now = () => new Date(Date.now() + shift);
    return (await openReadiness({ ...parts, store, now }).state()).reasons.filter((reason) => reason.includes('clock'));
  };
  expect(await reasons(0)).toEqual([]);
  expect(await reasons(50_000)).toEqual([]);
  const [ahead, behind] = [await reasons(600_000), await reasons(-600_000)];
  expect(ahead).toEqual([
    expect.stringMatching(/^the clock of this machine is (599|600) s ahead of that of the database$/),
  ]);
  expect(behind).toEqual([
    expect.stringMatching(/^the clock of this machine is (600|601) s behind that of the database$/),
  ]);
});

test('a process that was stopped is not ready until it has read what changed', async () => {
  const app = await testApp({ records: 3 });
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const parts = { register: app.register, store: app.state, follower: null, redisUp: () => null, now: () => NOW };
    const readiness = openReadiness(parts);
    const reasons = async () => (await readiness.state()).reasons;
    const early = readiness.looking();
    vi.advanceTimersByTime(2_900);
    expect(await reasons()).toEqual([]);
    vi.advanceTimersByTime(200);
    const stopped = ['the process was stopped and reads what changed'];
    expect(await reasons()).toEqual(stopped);
    const look = readiness.looking();
    early();
    expect(await reasons()).toEqual(stopped);
    look();
    expect(await reasons()).toEqual([]);
  } finally {
    vi.useRealTimers();
    await app.close();
  }
});

test('a process fetches a release at once when the database answers again, however long it did not', async (context) => {
  const { store, proxy } = await proxied(context);
  const dataDir = mkdtempSync(join(tmpdir(), 'follow-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const storage = await openStorage(pathToFileURL(dataDir).href, { scratch: dataDir });
  const pointer = { dataset: 'tools', release: 'f00d', listing: 'ab'.repeat(32), work: null, token: 1, changed_at: 0 };
  await store.db.insertInto('release_pointers').values(pointer).execute();
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const follower = openFollower({ storage, store, dataDir, keep: 3, datasets: () => ['tools'], log, now: () => NOW });
  await proxy.set('refuses');
  for (let look = 0; look < 8; look += 1) await follower.look();
  expect(lines.filter((line) => line.includes('fetching release'))).toEqual([]);
  await proxy.set('none');
  await follower.look();
  expect(lines.filter((line) => line.includes('fetching release'))).toHaveLength(1);
});
