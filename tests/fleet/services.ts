// The services that the machines of the fleet share: PostgreSQL, Redis and the S3 server, each behind a TCP proxy that
// can make it hang. PostgreSQL and Redis are our own processes, or those of TEST_DATABASE_URL and TEST_REDIS_URL.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { openStore, type Store } from '../../data/state/store.ts';
import { type FaultyProxy, faultyProxy } from '../support/faulty-proxy.ts';
import { freePort } from '../support/free-port.ts';
import { S3_CREDENTIALS } from '../support/s3-server.ts';
import { Program } from './programs.ts';

/** A part that faults are applied to. */
export interface Part {
  name: string;
  kill(): Promise<void>;
  /** Starts it again after `kill`. */
  start(): Promise<void>;
  /** It is there, and answers nothing. */
  hang(): Promise<void>;
  /** The end of `hang`. */
  resume(): Promise<void>;
}

export interface Services {
  postgres: Part;
  redis: Part;
  s3: Part & { program: Program; proxy: FaultyProxy; folder: string };
  /** Addresses for a machine, whose links to the services are its own: they can be cut. */
  link(address?: string): Promise<MachineLinks>;
  /** The connection of the test itself, past all proxies. */
  store: Store;
  /** What PostgreSQL and Redis are, for the report. */
  described: string;
  close(): Promise<void>;
}

/** Proxies of one machine to the services, and its settings. */
export interface MachineLinks {
  env: Record<string, string>;
  proxies: FaultyProxy[];
}

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.setTimeout(500, () => socket.destroy());
    socket.once('connect', () => {
      resolve(true);
      socket.destroy();
    });
    socket.once('close', () => resolve(false));
    socket.once('error', () => resolve(false));
  });

const answersSql = async (url: string) => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
};

/** The folder of PostgreSQL's programs, where `initdb` is; null without one. */
function postgresPrograms(): string | null {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql').sort() : [];
  const folder = `/usr/lib/postgresql/${versions.at(-1) ?? ''}/bin`;
  return existsSync(join(folder, 'initdb')) ? folder : null;
}

/** A part that is a program of ours: killed and stopped with signals. */
const partOf = (program: Program, family = program): Part => ({
  name: program.name,
  kill: () => program.kill(),
  start: () => program.start(),
  hang: async () => family.stop(),
  resume: async () => family.resume(),
});

/** A part that others use too: its proxy refuses, and hangs. */
const proxied = (name: string, proxy: FaultyProxy): Part => ({
  name,
  kill: () => proxy.set('refuses'),
  start: () => proxy.set('none'),
  hang: () => proxy.set('hangs'),
  resume: () => proxy.set('none'),
});

/** A new PostgreSQL; it refuses to run as root. */
async function ownPostgres(root: string, programs: string): Promise<{ program: Program; url: string; port: number }> {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const user = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {};
  const folder = join(root, 'postgres');
  mkdirSync(folder);
  chmodSync(root, 0o711);
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  execFileSync(join(programs, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8'], {
    ...user,
    stdio: 'ignore',
    cwd: folder,
  });
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const settings = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: folder };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const program = new Program({
    name: 'PostgreSQL',
    launch: () => ({ command: join(programs, 'postgres'), args: ['-D', data, ...args], ...user }),
    isReady: () => answersSql(url),
    logFile: join(root, 'postgres.log'),
    family: true,
  });
  await program.start();
  return { program, url, port };
}

async function ownRedis(root: string): Promise<{ program: Program; port: number }> {
  const port = await freePort();
  const program = new Program({
    name: 'Redis',
    launch: () => ({ command: 'redis-server', args: ['--port', String(port), '--save', '', '--dir', root] }),
    isReady: () => isListening(port),
    logFile: join(root, 'redis.log'),
  });
  await program.start();
  return { program, port };
}

/** Starts or connects the services below the folder `root`. */
export async function openServices(root: string): Promise<Services> {
  const { TEST_DATABASE_URL: givenDatabase, TEST_REDIS_URL: givenRedis } = process.env;
  const programs = postgresPrograms();
  if (!givenDatabase && programs === null) throw new Error('set TEST_DATABASE_URL, or install PostgreSQL');
  const postgres = givenDatabase ? null : await ownPostgres(root, programs!);
  const redis = givenRedis ? null : await ownRedis(root);
  const databaseUrl = new URL(givenDatabase ?? postgres!.url);
  const redisUrl = new URL(givenRedis ?? `redis://127.0.0.1:${redis!.port}`);
  const schema = `fleet_${randomBytes(4).toString('hex')}`;

  const s3Port = await freePort();
  const folder = join(root, 's3');
  const s3 = new Program({
    name: 'the object store',
    launch: () => ({
      command: process.execPath,
      args: [join(import.meta.dirname, 's3.ts'), folder, String(s3Port)],
      env: { PATH: process.env['PATH'] ?? '' },
      channel: true,
    }),
    isReady: () => isListening(s3Port),
    logFile: join(root, 's3.log'),
  });
  await s3.start();

  const store = await openStore({ dataDir: root, databaseUrl: databaseUrl.href, schema });
  const portOf = (url: URL, usual: number) => (url.port === '' ? usual : Number(url.port));
  const shared = {
    postgres: await faultyProxy(portOf(databaseUrl, 5432), { host: databaseUrl.hostname }),
    redis: await faultyProxy(portOf(redisUrl, 6379), { host: redisUrl.hostname }),
    s3: await faultyProxy(s3Port),
  };
  return {
    postgres: postgres ? partOf(postgres.program) : proxied('PostgreSQL', shared.postgres),
    redis: redis ? partOf(redis.program) : proxied('Redis', shared.redis),
    s3: { ...partOf(s3), program: s3, proxy: shared.s3, folder: join(folder, 'register') },
    store,
    described: `PostgreSQL ${postgres ? 'of our own' : 'of TEST_DATABASE_URL'}, Redis ${redis ? 'of our own' : 'of TEST_REDIS_URL'}`,
    async link(address = '127.0.0.1') {
      const opened = {
        postgres: await faultyProxy(shared.postgres.port, { address }),
        redis: await faultyProxy(shared.redis.port, { address }),
        s3: await faultyProxy(shared.s3.port, { address }),
      };
      const at = (url: URL, { port }: FaultyProxy) => {
        const moved = new URL(url);
        moved.hostname = address;
        moved.port = String(port);
        return moved;
      };
      const database = at(databaseUrl, opened.postgres);
      database.searchParams.set('options', `-c search_path=${schema}`);
      return {
        proxies: Object.values(opened),
        env: {
          ...S3_CREDENTIALS,
          DATABASE_URL: database.href.replace(/\+/g, '%20'),
          REDIS_URL: at(redisUrl, opened.redis).href,
          RELEASES_URL: 's3://register/prod',
          S3_ENDPOINT: `http://${address}:${opened.s3.port}`,
        },
      };
    },
    async close() {
      if (givenDatabase) await sql`drop schema ${sql.id(schema)} cascade`.execute(store.db).catch(() => {});
      await store.close();
      for (const proxy of Object.values(shared)) await proxy.close();
    },
  };
}
