// Runs the same tests on every store: SQLite always, PostgreSQL where TEST_DATABASE_URL names one.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, describe, test } from 'vitest';
import { openStore, type Store, type StoreOptions } from '../../data/state/store.ts';

const url = process.env['TEST_DATABASE_URL'];

export interface StoreUnderTest {
  name: string;
  options: StoreOptions;
  /**
   * Another connection to the same store, like that of a second process; on SQLite the same one, since two
   * writers in one thread would wait for each other forever. Closed after the suite.
   */
  open: () => Promise<Store>;
}

/** One `describe` per store; on PostgreSQL each suite has its own schema, dropped afterwards. */
export function describeStores(title: string, body: (store: StoreUnderTest) => void): void {
  suite(`${title} on SQLite`, { dataDir: mkdtempSync(join(tmpdir(), 'store-')) }, body);
  const schema = `test_${randomBytes(6).toString('hex')}`;
  if (url) suite(`${title} on PostgreSQL`, { dataDir: tmpdir(), databaseUrl: url, schema }, body);
  else test(`${title} on PostgreSQL`, (context) => context.skip('TEST_DATABASE_URL is not set'));
}

function suite(name: string, options: StoreOptions, body: (store: StoreUnderTest) => void): void {
  describe(name, () => {
    const opened: Store[] = [];
    body({
      name,
      options,
      open: async () => {
        if (!options.databaseUrl && opened[0]) return opened[0];
        const store = await openStore(options);
        opened.push(store);
        return store;
      },
    });
    afterAll(async () => {
      const [first] = opened;
      if (first && options.schema) await sql`drop schema ${sql.id(options.schema)} cascade`.execute(first.db);
      for (const store of opened) await store.close();
      if (!options.databaseUrl) rmSync(options.dataDir, { recursive: true, force: true });
    });
  });
}
