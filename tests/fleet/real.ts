// A real register through the store: what a night uploads, what three nodes with empty disks download, and the
// memory that both take.
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Machine, type Node, node, print, root, server, start, status, until } from './real-machines.ts';

const MB = 1e6;
const megabytes = (bytes: number) => `${(bytes / MB).toFixed(1)} MB`;

/** Peak and current resident memory of a process (Linux). */
function memoryOf({ child }: Machine): string {
  const text = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? 0);
  return `${megabytes(kilobytes('VmRSS') * 1024)}, at most ${megabytes(kilobytes('VmHWM') * 1024)}`;
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  return sizes.reduce((sum, each) => sum + each, 0);
}

/** Prints seconds, bytes through the store and memory of a step. */
async function measured<T>(what: string, work: () => Promise<T>): Promise<T> {
  const [began, before] = [performance.now(), server.traffic()];
  const result = await work();
  const after = server.traffic();
  const bytes = `${megabytes(after.received - before.received)} to the store, ${megabytes(after.sent - before.sent)} from it`;
  print(`  ${what}: ${((performance.now() - began) / 1000).toFixed(1)} s; ${bytes}`);
  return result;
}

/** Runs a night without sources; samples its memory. */
async function rewrite(machine: string, packs: string): Promise<void> {
  const run = start(machine, 'build/nightly.ts', { PACK_DIRS: packs }, ['--rewrite']);
  let memory = '';
  const sampling = setInterval(() => {
    try {
      memory = memoryOf(run);
    } catch {}
  }, 500);
  const code = await run.exited;
  clearInterval(sampling);
  print(`  night on ${machine}: exit ${code}, memory ${memory}`);
  if (code !== 0) throw new Error(run.output());
}

const ready = async ({ origin }: Node) => (await status(origin, '/readyz')) === 200;

/** Sends the releases of a DATA_DIR through the store; it is copied, and stays as it is. */
export async function measureReal(data: string): Promise<void> {
  const packs = join(import.meta.dirname, '../../packs');
  mkdirSync(join(root, 'A'));
  for (const part of ['facts', 'releases', 'runs', 'evidence'])
    await stat(join(data, part)).then(
      () => cpSync(join(data, part), join(root, 'A/data', part), { recursive: true }),
      () => {},
    );
  print('— the first night with a store: all of it is uploaded');
  await measured('night', () => rewrite('A', packs));
  print('— the same night again: what the store has is not sent again');
  await measured('night', () => rewrite('A', packs));

  print('— three nodes with empty disks, one after the other');
  const nodes: Node[] = [];
  for (const name of ['node 1', 'node 2', 'node 3']) {
    const fresh = await node(name, undefined, { PACK_DIRS: packs });
    await measured(`${name} ready`, () => until(async () => await ready(fresh)));
    nodes.push(fresh);
  }
  for (const [i, each] of nodes.entries())
    print(
      `  node ${i + 1}: memory ${memoryOf(each)}; cache ${megabytes(await sizeOf(join(root, `node ${i + 1}/data`)))}`,
    );

  print('— a node killed with SIGKILL in the middle of its download');
  const killed = await node('node 4', undefined, { PACK_DIRS: packs });
  const before = server.traffic().sent;
  await until(async () => server.traffic().sent - before > 400 * MB);
  killed.child.kill('SIGKILL');
  await killed.exited;
  print(`  killed after ${megabytes(server.traffic().sent - before)}`);
  const again = await node('node 4', undefined, { PACK_DIRS: packs });
  await until(async () => await ready(again));
  const size = await sizeOf(join(root, 'node 4/data'));
  print(
    `  both together: ${megabytes(server.traffic().sent - before)} from the store for a cache of ${megabytes(size)}`,
  );
  again.child.kill('SIGTERM');
  await again.exited;
}
