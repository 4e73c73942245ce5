// The store outlives its connections: a database that starts again ends no process.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { describeStores } from '../../tests/stores.ts';

describeStores('the store', (under) => {
  it('goes on when the database ends its idle connections', async () => {
    const [one, two] = [await under.open(), await under.open()];
    const count = () =>
      one.db
        .selectFrom('keys')
        .select((e) => e.fn.countAll<number>().as('n'))
        .executeTakeFirst();
    expect(await count()).toEqual({ n: 0 });
    if (one.dialect === 'postgres') {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(one.db);
      const pid = rows[0]?.pid ?? 0;
      await sql`select pg_terminate_backend(${pid}::int)`.execute(two.db);
      const there = async () =>
        (await sql`select 1 from pg_stat_activity where pid = ${pid}::int`.execute(two.db)).rows;
      await expect.poll(there).toEqual([]);
    }
    expect(await count()).toEqual({ n: 0 });
  });
});
