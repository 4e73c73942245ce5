// Machines of a fleet, played on this one: processes with folders of their own, PostgreSQL at DATABASE_URL and a
// test server for S3. Lines of their logs that concern releases are printed.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { openStore } from '../../data/state/store.ts';
import { freePort } from '../support/free-port.ts';
import { S3_CREDENTIALS, startS3 } from '../support/s3-server.ts';

const ROOT = join(import.meta.dirname, '../..');
const url = process.env['DATABASE_URL'] || 'postgres://postgres@127.0.0.1:5432/postgres';
const schema = `fleet_${randomBytes(4).toString('hex')}`;
export const root = mkdtempSync(join(tmpdir(), 'fleet-'));
export const server = await startS3(['register'], join(root, 's3'));
const store = await openStore({ dataDir: root, databaseUrl: url, schema });
const children = new Set<ChildProcess>();

const began = performance.now();
export const print = (line: string) =>
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${line}`);

/** Lines of a process that concern releases. */
const SHOWN = /fetch|cache:|serving|stored:|published|lease|progress|corrupt|follow|stopping|wait/;

export interface Machine {
  child: ChildProcess;
  output: () => string;
  exited: Promise<number | null>;
}

/** Starts a program of the register, or of the checkout `from`, as a process of a machine. */
export function start(
  machine: string,
  program: string,
  more: Record<string, string> = {},
  args: readonly string[] = [],
  from = ROOT,
): Machine {
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...S3_CREDENTIALS,
    DATABASE_URL: `${url}?options=${encodeURIComponent(`-c search_path=${schema}`)}`,
    RELEASES_URL: 's3://register/prod',
    S3_ENDPOINT: server.endpoint,
    PACK_DIRS: join(root, 'packs'),
    DATA_DIR: join(root, machine, 'data'),
    DIST_DIR: join(root, machine, 'dist'),
    ...more,
  };
  const child = spawn(process.execPath, [join(from, program), ...args], { env });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (piece: Buffer) => {
      output += String(piece);
      for (const line of String(piece).split('\n'))
        if (SHOWN.test(line))
          print(`${machine}: ${line.startsWith('{') ? (JSON.parse(line) as { msg: string }).msg : line}`);
    });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, output: () => output, exited: exited.finally(() => children.delete(child)) };
}

export type Node = Machine & { origin: string };

/** Starts a process of the API. */
export async function node(name: string, port?: number, more: Record<string, string> = {}): Promise<Node> {
  const own = port ?? (await freePort());
  const started = start(name, 'api/server.ts', { PORT: String(own), DRAIN_SECONDS: '2', ...more });
  return { ...started, origin: `http://127.0.0.1:${own}` };
}

/** The status of an answer; 0 without one. */
export const status = (origin: string, path: string): Promise<number> =>
  fetch(origin + path).then(
    (answer) => answer.status,
    () => 0,
  );

export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(100);
}

/** Kills what runs, and removes all files and tables. */
export async function end(): Promise<void> {
  for (const child of children) child.kill('SIGKILL');
  await sql`drop schema ${sql.id(schema)} cascade`.execute(store.db);
  await store.close();
  await server.close().catch(() => {});
  rmSync(root, { recursive: true, force: true });
}
