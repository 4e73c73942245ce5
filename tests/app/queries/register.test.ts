// The register: leases, switching under load, earlier releases, damaged ones, closing.
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { searchParameters } from '../../../data/input/search-parameters.ts';
import { paths } from '../../../data/model/layout.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import type { PresentOptions } from '../../../data/queries/present.ts';
import { pageRecords } from '../../../data/queries/record-page.ts';
import { releaseFor, search } from '../../../data/queries/search.ts';
import { openRegister, type Register } from '../../../data/releases/register.ts';
import type { Release } from '../../../data/releases/release.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { cursors } from '../../support/cursors.ts';
import { randomRecords } from '../../support/random-records.ts';
import { verifies } from '../../support/verifies.ts';
import { writeRelease } from '../../support/write-release.ts';

verifies('release.reload');

let dataDir: string;
let register: Register;
let log: string[];

const packs = join(import.meta.dirname, '../../packs');
const tools = await loadPack(join(packs, 'tools'));
const harbours = await loadPack(join(packs, 'harbours'));
const old: StoredRecord[] = randomRecords(tools, 60, 1);
const young: StoredRecord[] = [...old.slice(10), ...randomRecords(tools, 20, 2)].map((record, index) => ({
  ...record,
  slug: `tool-${index}`,
}));
young.sort((a, b) => b.quality_score - a.quality_score || (a.id < b.id ? -1 : 1));
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'register-'));
  log = [];
});
afterEach(async () => {
  await register?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const open = async (limits = {}) => {
  register = await openRegister({ dataDir, packs: [tools, harbours], log: (line) => log.push(line), limits });
};
const full: PresentOptions = {
  now: new Date('2026-11-20T00:00:00Z'),
  base_url: 'https://r.example',
  visibility: 'full',
};
/** Records of an open release; null when it is closed. */
const count = (release: Release) =>
  search(release, searchParameters.parse({ total: 'true', limit: '1' }, release.pack), { ...full, admin: false }).then(
    ({ total }) => total,
    (error) => {
      expect(error.code).toBe('unavailable');
      return null;
    },
  );

test('datasets without a release are missing, the others are served', async () => {
  const { release } = await writeRelease(dataDir, tools, old);
  await open();
  expect(register.current('tools')?.manifest.release).toBe(release);
  expect([register.state('tools'), register.state('harbours'), register.state('nothing')]).toEqual([
    'open',
    'missing',
    'unknown',
  ]);
  expect([await register.lease('harbours'), await register.lease('nothing'), register.current('harbours')]).toEqual([
    null,
    null,
    null,
  ]);
  expect(log).toEqual([`tools: serving release ${release}, 60 records`]);
});

test('a damaged release does not affect the others, and is retried after its repair', async () => {
  const damaged = await writeRelease(dataDir, harbours, randomRecords(harbours, 5, 1));
  await writeRelease(dataDir, tools, old);
  const file = join(damaged.folder, 'engine.parquet');
  const whole = readFileSync(file);
  truncateSync(file, 100);
  await open({ retry: 0 });
  expect([register.state('tools'), register.state('harbours')]).toEqual(['open', 'damaged']);
  expect(log.find((line) => line.startsWith('harbours'))).toMatch(
    /cannot be opened, the dataset is not served: engine.parquet has 100 bytes/u,
  );
  writeFileSync(file, whole);
  expect(await register.refresh()).toEqual(['harbours']);
  expect(register.state('harbours')).toBe('open');
});

test('one changed byte in loaded files is detected', async () => {
  const { folder } = await writeRelease(dataDir, tools, old);
  const file = join(folder, 'terms.parquet');
  const bytes = readFileSync(file);
  bytes[200]! ^= 1;
  writeFileSync(file, bytes);
  await open();
  expect(register.state('tools')).toBe('damaged');
  expect(log[0]).toContain('terms.parquet does not have the SHA-256 of the manifest');
});

test('a new release is opened, and one that fails keeps the old one', async () => {
  const first = await writeRelease(dataDir, tools, old);
  await open();
  expect(await register.refresh(), 'nothing new').toEqual([]);
  const second = await writeRelease(dataDir, tools, young);
  expect(await Promise.all([register.refresh(), register.refresh()])).toEqual([['tools'], ['tools']]);
  expect(register.current('tools')?.manifest.release).toBe(second.release);
  const third = await writeRelease(dataDir, tools, old.slice(0, 5));
  rmSync(join(third.folder, 'bodies.parquet'));
  expect(await register.refresh()).toEqual([]);
  expect(register.current('tools')?.manifest.release).toBe(second.release);
  expect(log.at(-1)).toMatch(
    new RegExp(`bodies.parquet has no bytes \\(expected \\d+\\); using release ${second.release}$`),
  );
  writeFileSync(paths.current(dataDir, 'tools'), '../../../etc');
  expect(await register.refresh()).toEqual([]);
  expect(first.release).not.toBe(second.release);
});

test('a start finds the newest release that opens when the current one is incomplete, has other content, or unknown', async () => {
  const first = await writeRelease(dataDir, tools, old);
  const second = await writeRelease(dataDir, tools, young);
  const pointer = paths.current(dataDir, 'tools');
  const served = async () => {
    await open();
    const id = register.current('tools')?.manifest.release;
    await register.close();
    return id;
  };
  writeFileSync(pointer, '');
  expect(await served()).toBe(second.release);
  expect(log[0]).toMatch(/^tools: .* does not name a release \(""\); using release /);
  writeFileSync(pointer, `${second.release}\n`);
  const file = join(second.folder, 'terms.parquet');
  const bytes = readFileSync(file);
  bytes[200]! ^= 1;
  writeFileSync(file, bytes);
  log = [];
  expect(await served()).toBe(first.release);
  expect(log[0]).toContain(`release ${second.release} cannot be opened, ${first.release} is served: terms.parquet`);
  truncateSync(file, 100);
  log = [];
  expect(await served()).toBe(first.release);
  expect(log[0]).toContain('terms.parquet has 100 bytes (expected');
});

test('a lease keeps its release open over a switch; the last one closes it', async () => {
  await writeRelease(dataDir, tools, old);
  await open({ idle: 0 });
  const lease = (await register.lease('tools'))!;
  const other = (await register.lease('tools'))!;
  await writeRelease(dataDir, tools, young);
  await register.refresh();
  expect(await count(lease.release)).toBe(60);
  other.done();
  other.done();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await count(lease.release), 'a lease given back twice counts once').toBe(60);
  lease.done();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await count(lease.release), 'closed').toBeNull();
  expect(await count((await register.lease('tools'))!.release)).toBe(young.length);
});

test('an earlier release is opened while its folder exists, and never anything else', async () => {
  const first = await writeRelease(dataDir, tools, old);
  await writeRelease(dataDir, tools, young);
  await open({ idle: 0 });
  const lease = (await register.leaseById('tools', first.release))!;
  expect(await count(lease.release)).toBe(60);
  lease.done();
  for (const id of ['..', '../../facts', 'f'.repeat(16), ''])
    expect(await register.leaseById('tools', id), id).toBeNull();
  rmSync(first.folder, { recursive: true });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await register.leaseById('tools', first.release)).toBeNull();
});

test('no request is dropped during switches', async () => {
  await writeRelease(dataDir, tools, old);
  await open({ idle: 0 });
  let asked = 0;
  let switching = true;
  const client = async () => {
    while (switching) {
      const lease = (await register.lease('tools'))!;
      const size = lease.release.manifest.records;
      const page = await search(lease.release, searchParameters.parse({ total: 'true', limit: '5' }, tools), {
        ...full,
        admin: false,
      });
      expect(page.total).toBe(size);
      lease.done();
      asked += 1;
      await new Promise((resolve) => setImmediate(resolve));
      // The index answers without waiting; the switch needs a turn of the event loop.
      await new Promise(setImmediate);
    }
  };
  const clients = Promise.all([client(), client(), client()]);
  for (let i = 0; i < 6; i++) {
    await writeRelease(dataDir, tools, i % 2 === 0 ? young : old);
    expect(await register.refresh()).toEqual(['tools']);
  }
  switching = false;
  await clients;
  expect(asked).toBeGreaterThan(20);
});

test.each([true, false])(
  'a walk over a switch repeats and loses nothing that is in both (old release kept: %s)',
  async (kept) => {
    const first = await writeRelease(dataDir, tools, old);
    await open({ idle: 0 });
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const input = searchParameters.parse(
        { limit: '7', sort: 'name', ...(cursor === null ? {} : { cursor }) },
        tools,
        {
          cursors,
        },
      );
      const current = (await register.lease('tools'))!;
      const leases = [current];
      const release = await releaseFor(input, current.release, async (id) => {
        const lease = await register.leaseById('tools', id);
        if (lease) leases.push(lease);
        return lease?.release ?? null;
      });
      const page = await search(release, input, { ...full, admin: false, cursors });
      seen.push(...(await pageRecords(page.list, full)).map(({ id }) => id));
      cursor = page.next_cursor;
      for (const lease of leases) lease.done();
      if (seen.length === 14) {
        await writeRelease(dataDir, tools, young);
        await register.refresh();
        if (!kept) rmSync(first.folder, { recursive: true });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    } while (cursor !== null);
    expect(new Set(seen).size).toBe(seen.length);
    const both = old.filter(({ id }) => young.some((record) => record.id === id));
    expect(both.filter(({ id }) => !seen.includes(id))).toEqual([]);
    if (kept) expect(seen).toHaveLength(60);
  },
);

test('close releases everything', async () => {
  await writeRelease(dataDir, tools, old);
  await open();
  const lease = (await register.lease('tools'))!;
  await register.close();
  expect(await count(lease.release)).toBeNull();
  expect(await register.lease('tools')).toBeNull();
  expect(await register.load()).toEqual({ running: 0, waiting: 0 });
});
