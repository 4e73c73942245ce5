// `npm run fleet`: a register on several machines, played on this one: three API processes and two machines for
// the night, PostgreSQL at DATABASE_URL, a test server for S3. Prints what happens and counts failed calls.
// `npm run fleet -- --data <DATA_DIR>` stores the releases of a real register instead, and measures them.
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '../support/free-port.ts';
import { ADMIN_KEY, end, node, print, releaseOf, root, server, start, status, store, until } from './machines.ts';
import { measureReal } from './real.ts';

const { values } = parseArgs({ options: { data: { type: 'string' } } });
const ROOT = join(import.meta.dirname, '../..');
const packs = join(root, 'packs');
const night = (machine: string) => start(machine, 'build/nightly.ts');

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

async function play(): Promise<void> {
  cpSync(join(ROOT, 'tests/packs/tools'), join(packs, 'tools'), { recursive: true });
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

  print('— a runner that stalls past its lease');
  changePack();
  const stalled = night('A');
  await until(async () => /stored:/.test(stalled.output()));
  stalled.child.kill('SIGSTOP');
  changePack();
  print('  A is stopped with SIGSTOP; B tries until the lease expires');
  for (let code: number | null = 1; code !== 0; await sleep(2_000)) code = await night('B').exited;
  const pointers = () => store.db.selectFrom('release_pointers').selectAll().execute();
  const byB = JSON.stringify(await pointers());
  stalled.child.kill('SIGCONT');
  print(`  A goes on and exits with ${await stalled.exited}`);
  print(`  pointers changed by A: ${JSON.stringify(await pointers()) === byB ? 'none' : 'some'}`);

  print('— the storage goes away');
  await server.close();
  changePack();
  await until(async () => /"unavailable"/.test(await (await fetch(`${origins[0]}/healthz`)).text()));
  print(
    `  node 1: /readyz ${await status(origins[0]!, '/readyz')}, a call ${await status(origins[0]!, '/v1/tools/status')}`,
  );
}

try {
  await (values.data === undefined ? play() : measureReal(values.data));
} finally {
  await end();
}
