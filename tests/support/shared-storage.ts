// What processes on several machines share: a schema of PostgreSQL and an object store.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { openStore, type Store } from '../../data/state/store.ts';
import { removeS3, S3_CREDENTIALS, type S3Server, startS3 } from './s3-server.ts';

export interface SharedStorage {
  store: Store;
  schema: string;
  server: S3Server;
  /** Settings of a process that uses both. */
  settings: Record<'DATABASE_URL' | 'RELEASES_URL' | 'S3_ENDPOINT', string> & Record<string, string>;
  remove(): Promise<void>;
}

/** Opens a new schema of the database at `url` and an empty object store. `dataDir`: for the store's files. */
export async function openSharedStorage(url: string, dataDir: string): Promise<SharedStorage> {
  const schema = `shared_${randomBytes(6).toString('hex')}`;
  const server = await startS3(['register']);
  const store = await openStore({ dataDir, databaseUrl: url, schema });
  return {
    store,
    schema,
    server,
    settings: {
      ...S3_CREDENTIALS,
      DATABASE_URL: `${url}?options=${encodeURIComponent(`-c search_path=${schema}`)}`,
      RELEASES_URL: 's3://register/prod',
      S3_ENDPOINT: server.endpoint,
    },
    async remove() {
      await sql`drop schema ${sql.id(schema)} cascade`.execute(store.db);
      await store.close();
      await server.close();
      removeS3(server);
    },
  };
}
