// The store survives its connections: a restart of the database ends no process.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { describeStores } from '../../tests/support/stores.ts';
import { openStore, type Store } from './store.ts';

it('rejects the jobs that were sent to a ledger thread before another one replaced it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'replaced-'));
  const { port1: main, port2: threads } = new MessageChannel();
  const store = await openStore({ dataDir, writerPort: threads });
  /** Introduces a ledger thread, as the main thread does; returns its end of the port. */
  const introduce = () => {
    const { port1, port2 } = new MessageChannel();
    main.postMessage(port2, [port2]);
    return port1;
  };
  const take = () => store.writer!.run('take', { name: 'n', day: '2026-11-20', wanted: 1, quota: 9 });
  try {
    const first = introduce();
    const sent = once(first, 'message');
    const job = take();
    await sent;
    // The first thread never answers, and its port stays open.
    const second = introduce();
    second.on('message', (jobs: unknown[]) => second.postMessage(jobs.map(() => 7)));
    await expect(job).rejects.toMatchObject({ code: 'unavailable' });
    expect(await take()).toBe(7);
    for (const port of [first, second]) port.close();
  } finally {
    main.close();
    await store.close();
    rmSync(dataDir, { recursive: true });
  }
});

describeStores('the store', (under) => {
  const count = async ({ db }: Store) =>
    (
      await db
        .selectFrom('keys')
        .select((e) => e.fn.countAll<number>().as('n'))
        .executeTakeFirst()
    )?.n;

  const backend = async (db: Store['db']) =>
    (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid ?? 0;

  /** Ends a connection from another one, as a stopping server does, and waits until it is closed. */
  const end = async (pid: number, { db }: Store) => {
    await sql`select pg_terminate_backend(${pid}::int)`.execute(db);
    const there = async () => (await sql`select 1 from pg_stat_activity where pid = ${pid}::int`.execute(db)).rows;
    await expect.poll(there).toEqual([]);
  };

  it('goes on when the database ends its idle connections', async () => {
    const [one, two] = [await under.open(), await under.open()];
    expect(await count(one)).toBe(0);
    if (one.dialect === 'postgres') await end(await backend(one.db), two);
    // The message about the end may be late: a query before it fails, the next one gets another connection.
    await expect.poll(() => count(one).catch(String)).toBe(0);
  });

  // SQLite has no connections to end.
  if (under.options.databaseUrl)
    it('goes on when the database ends a connection that is held, and what held it fails', async () => {
      const [one, two] = [await under.open(), await under.open()];
      const held = one.db.transaction().execute(async (held) => {
        await end(await backend(held), two);
        // No query is running when the message arrives.
        await wait(100);
        await sql`select 1`.execute(held);
      });
      await expect(held).rejects.toThrow();
      expect(await count(one)).toBe(0);
    });
});
