// `npm run fleet`: a register on several machines, played on this one: three API processes and two machines for
// the night, PostgreSQL at DATABASE_URL, a test server for S3. Prints what happens and counts failed calls.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
const root = mkdtempSync(join(tmpdir(), 'fleet-'));
const packs = join(root, 'packs');
cpSync(join(ROOT, 'tests/packs/tools'), join(packs, 'tools'), { recursive: true });
const server = await startS3(['register'], join(root, 's3'));
const store = await openStore({ dataDir: root, databaseUrl: url, schema });
/** Calls with an operator's key have no rate limit. */
const ADMIN_KEY = randomBytes(24).toString('hex');
const children = new Set<ChildProcess>();

const environment = (machine: string) => ({
  PATH: process.env['PATH'] ?? '',
  ...S3_CREDENTIALS,
  DATABASE_URL: `${url}?options=${encodeURIComponent(`-c search_path=${schema}`)}`,
  RELEASES_URL: 's3://register/prod',
  S3_ENDPOINT: server.endpoint,
  PACK_DIRS: packs,
  ADMIN_KEYS: ADMIN_KEY,
  DATA_DIR: join(root, machine, 'data'),
  DIST_DIR: join(root, machine, 'dist'),
});

const began = performance.now();
const print = (line: string) =>
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${line}`);

/** Lines of a process that concern releases. */
const SHOWN = /fetch|cache:|serving|stored:|published|lease|progress|corrupt|follow|stopping|wait/;

interface Machine {
  child: ChildProcess;
  output: () => string;
  exited: Promise<number | null>;
}

function start(machine: string, program: string, more: Record<string, string> = {}): Machine {
  const child = spawn(process.execPath, [join(ROOT, program)], { env: { ...environment(machine), ...more } });
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

const night = (machine: string) => start(machine, 'build/nightly.ts');
const status = (origin: string, path: string) =>
  fetch(origin + path).then(
    (answer) => answer.status,
    () => 0,
  );

async function node(name: string, port: number): Promise<Machine & { origin: string }> {
  const started = start(name, 'api/server.ts', { PORT: String(port), DRAIN_SECONDS: '2' });
  return { ...started, origin: `http://127.0.0.1:${port}` };
}
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(100);
}
const releaseOf = async (origin: string) =>
  ((await (await fetch(`${origin}/healthz`)).json()) as { release: Record<string, string> }).release['tools'];

/** Calls all nodes that are ready, as a load balancer does, until `stop`. */
function load(origins: string[]) {
  const ready = new Set(origins);
  const headers = { Authorization: `Bearer ${ADMIN_KEY}` };
  const counts = { calls: 0, failed: 0, releases: new Set<string>() };
  let active = true;
  const probing = (async () => {
    while (active) {
      for (const origin of origins) {
        if ((await status(origin, '/readyz')) === 200) ready.add(origin);
        else ready.delete(origin);
      }
      await sleep(200);
    }
  })();
  const calling = Array.from({ length: 4 }, async () => {
    for (let i = 0; active; i += 1) {
      const list = [...ready];
      const origin = list[i % list.length];
      if (origin === undefined) continue;
      const answer = await fetch(`${origin}/v1/tools/status`, { headers }).catch(() => null);
      counts.calls += 1;
      if (answer?.status !== 200) {
        counts.failed += 1;
        print(`  failed: ${answer?.status ?? 'no answer'} from ${origin}`);
      }
      counts.releases.add(((await answer?.json()) as { snapshot: string } | undefined)?.snapshot ?? 'none');
      await sleep(5);
    }
  });
  return async () => {
    active = false;
    await Promise.all([probing, ...calling]);
    return counts;
  };
}

/** Changes the pack, so that the next night builds another release. */
function changePack(): void {
  const file = join(packs, 'tools/pack.ts');
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(/\bweight: (\d+)/, (_, weight) => `weight: ${Number(weight) + 1}`),
  );
}

try {
  print('— a night on machine A');
  await night('A').exited;
  print('— three nodes with empty disks');
  const ports = [await freePort(), await freePort(), await freePort()];
  const nodes = await Promise.all(ports.map((port, i) => node(`node ${i + 1}`, port)));
  const origins = nodes.map(({ origin }) => origin);
  for (const origin of origins) await until(async () => (await status(origin, '/readyz')) === 200);

  print('— two runners at once, a new release under load');
  changePack();
  const before = await releaseOf(origins[0]!);
  const stopFirst = load(origins);
  const runners = [night('A'), night('B')];
  await Promise.all(runners.map(({ exited }) => exited));
  const published = runners.filter(({ output }) => /published to/.test(output())).length;
  for (const origin of origins) await until(async () => (await releaseOf(origin)) !== before);
  const first = await stopFirst();
  print(`  runners that published: ${published} of 2`);
  print(`  ${first.calls} calls, ${first.failed} failed, releases seen: ${[...first.releases].join(', ')}`);

  print('— a rolling update under load');
  const stopSecond = load(origins);
  for (const [i, each] of nodes.entries()) {
    each.child.kill('SIGTERM');
    await each.exited;
    nodes[i] = await node(`node ${i + 1}`, ports[i]!);
    await until(async () => (await status(origins[i]!, '/readyz')) === 200);
  }
  const second = await stopSecond();
  print(`  ${second.calls} calls, ${second.failed} failed`);

  print('— a corrupted object, and a node with an empty disk');
  const objects = readdirSync(join(server.folder('register'), 'prod'), { recursive: true, withFileTypes: true })
    .filter((each) => each.name.endsWith('_object'))
    .map(({ parentPath, name }) => join(parentPath, name));
  const kept = new Map(
    objects.filter((path) => statSync(path).size > 20_000).map((path) => [path, readFileSync(path)]),
  );
  for (const [path, content] of kept)
    writeFileSync(path, Buffer.from(content.map((byte, at) => (at === 100 ? byte ^ 1 : byte))));
  const fourth = await node('node 4', await freePort());
  await until(async () => /corrupted/.test(fourth.output()));
  print(`  /readyz of node 4: ${await status(fourth.origin, '/readyz')}`);
  fourth.child.kill('SIGKILL');
  await fourth.exited;
  for (const [path, content] of kept) writeFileSync(path, content);
  print('  killed with SIGKILL; the object is repaired');
  const fifth = await node('node 4', Number(new URL(fourth.origin).port));
  await until(async () => (await status(fifth.origin, '/readyz')) === 200);

  print('— the storage goes away');
  await server.close();
  changePack();
  await until(async () => /"unavailable"/.test(await (await fetch(`${origins[0]}/healthz`)).text()));
  print(
    `  node 1: /readyz ${await status(origins[0]!, '/readyz')}, a call ${await status(origins[0]!, '/v1/tools/status')}`,
  );
} finally {
  for (const child of children) child.kill('SIGKILL');
  await sql`drop schema ${sql.id(schema)} cascade`.execute(store.db);
  await store.close();
  rmSync(root, { recursive: true, force: true });
}
