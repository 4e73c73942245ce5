// Faults of nightly runs on several machines: a run killed during an upload or a download continues with what was
// transferred, and a run that stalls past its lease publishes nothing.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPointers } from '../../data/state/pointers.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { scratchOfAll } from '../support/night-pack.ts';
import { openSharedStorage, type SharedStorage } from '../support/shared-storage.ts';
import { PACKS, withCopies } from '../support/whole-night.ts';

const ROOT = join(import.meta.dirname, '../..');
const url = process.env['TEST_DATABASE_URL'];

/** A stored page of a crawl: long enough for five parts of an upload. */
const LARGE = { path: 'sources/crawl/tools/large', bytes: 40 << 20 };
const PART = 8 << 20;
/** Bytes of all other files and headers of a night, at most. */
const REST = 4 << 20;

if (url) describe('nightly runs on two machines', onTwoMachines);
else test('nightly runs on two machines', (context) => context.skip('TEST_DATABASE_URL is not set'));

function onTwoMachines(): void {
  const root = scratchOfAll();
  let shared: SharedStorage;
  let content: Buffer;
  const running = new Set<ChildProcess>();
  const dataDir = (machine: string) => join(root, machine, 'data');

  beforeAll(async () => {
    shared = await openSharedStorage(url!, root);
    content = randomBytes(LARGE.bytes);
    for (const machine of ['A', 'B']) {
      cpSync(join(PACKS, 'tools'), join(root, machine, 'packs/tools'), { recursive: true });
      await withCopies(join(root, machine, 'dist'));
    }
    mkdirSync(join(dataDir('A'), LARGE.path, '..'), { recursive: true });
    writeFileSync(join(dataDir('A'), LARGE.path), content);
  }, 120_000);
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL');
    await shared.remove();
  });

  /** Starts a nightly run of a machine in a process of its own. */
  function night(machine: string) {
    const child = spawn(process.execPath, [join(ROOT, 'build/nightly.ts')], {
      env: {
        ...CHILD_ENV,
        ...shared.settings,
        PACK_DIRS: join(root, machine, 'packs'),
        DATA_DIR: dataDir(machine),
        DIST_DIR: join(root, machine, 'dist'),
      },
    });
    running.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (output += String(text)));
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    return { child, exited: exited.finally(() => running.delete(child)), output: () => output };
  }
  async function until(run: ReturnType<typeof night>, condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (run.child.exitCode !== null) throw new Error(`the run ended early:\n${run.output()}`);
      await sleep(2);
    }
  }
  /** What a minute without a renewal does. */
  const expireLease = () => shared.store.db.updateTable('leases').set({ expires_at: 0 }).execute();
  const parts = () => shared.server.requests.filter((line) => /partNumber=/.test(line)).length;
  const pointer = async () => (await readPointers(shared.store)).get('tools');

  test('a run killed in an upload sends at most one part of it again', async () => {
    shared.server.slowDown(100);
    const killed = night('A');
    await until(killed, () => parts() === 4);
    killed.child.kill('SIGKILL');
    await killed.exited;
    shared.server.slowDown(0);
    expect(await pointer()).toBeUndefined();
    await expireLease();
    const again = night('A');
    expect(await again.exited, again.output()).toBe(0);
    expect(parts()).toBeLessThanOrEqual(6);
    const twice = shared.server.traffic().received - LARGE.bytes;
    expect(twice).toBeLessThan(PART + REST);
    console.info(`upload of ${LARGE.bytes >> 20} MB: ${parts()} parts sent of 5, ${twice} bytes more than the file`);
  }, 120_000);

  test('a run killed in a download reads the rest of the file only', async () => {
    const before = shared.server.traffic().sent;
    shared.server.slowDown(5);
    const killed = night('B');
    await until(killed, () => shared.server.traffic().sent - before > 20 << 20);
    killed.child.kill('SIGKILL');
    await killed.exited;
    shared.server.slowDown(0);
    await expireLease();
    const again = night('B');
    expect(await again.exited, again.output()).toBe(0);
    const twice = shared.server.traffic().sent - before - LARGE.bytes;
    expect(twice).toBeLessThan(PART + REST);
    const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    expect(sha256(readFileSync(join(dataDir('B'), LARGE.path)))).toBe(sha256(content));
    console.info(`download of ${LARGE.bytes >> 20} MB: ${twice} bytes more than the file`);
  }, 120_000);

  test('a run that stalls past its lease publishes nothing when it goes on', async () => {
    const before = await pointer();
    for (const [i, machine] of ['A', 'B'].entries()) {
      const pack = join(root, machine, 'packs/tools/pack.ts');
      writeFileSync(pack, readFileSync(pack, 'utf8').replace(/\bweight: \d+/, `weight: ${7 + i}`));
    }
    const sent = shared.server.requests.length;
    shared.server.slowDown(200);
    const stalled = night('A');
    await until(stalled, () => shared.server.requests.slice(sent).some((line) => line.startsWith('PUT')));
    stalled.child.kill('SIGSTOP');
    shared.server.slowDown(0);
    await expireLease();
    const next = night('B');
    expect(await next.exited, next.output()).toBe(0);
    const published = await pointer();
    expect(published?.release).not.toBe(before?.release);
    const feed = () => shared.store.db.selectFrom('overlays').selectAll().execute();
    const reserved = await feed();

    stalled.child.kill('SIGCONT');
    expect(await stalled.exited).toBe(1);
    expect(stalled.output()).toMatch(/lost its lease to .*nothing more is published/);
    expect(stalled.output()).not.toContain('published to');
    expect(await pointer()).toEqual(published);
    expect(await feed()).toEqual(reserved);
  }, 120_000);
}
