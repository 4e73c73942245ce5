// Admin keys: made once, stored hashed, replaced by the setting.
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../tests/verifies.ts';
import { adminKeys } from './admin-keys.ts';

verifies('setting.admin-key-generated');

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'admin-keys-')), 'state');
});
afterEach(() => rm(dirname(folder), { recursive: true, force: true }));

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test('the first start makes a key, shows it and keeps only its hash, for the owner alone', async () => {
  const first = await adminKeys(folder, null);
  expect(first.made).toMatch(/^dsr_admin_[\w-]{43}$/);
  expect(first.hashes).toEqual([sha256(first.made ?? '')]);
  const [file = ''] = await readdir(folder);
  expect(await readFile(join(folder, file), 'utf8')).not.toContain(first.made);
  expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
});

test('the second start knows the same key and shows nothing', async () => {
  const first = await adminKeys(folder, null);
  expect(await adminKeys(folder, null)).toEqual({ hashes: first.hashes, made: null });
});

test('starts at the same moment agree on one key', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => adminKeys(folder, null)));
  expect(new Set(all.flatMap(({ hashes }) => hashes)).size).toBe(1);
  expect(all.filter(({ made }) => made !== null)).toHaveLength(1);
});

test('configured keys replace the stored one and touch no file', async () => {
  const key = 'k'.repeat(32);
  expect(await adminKeys(folder, [key])).toEqual({ hashes: [sha256(key)], made: null });
  await expect(readdir(folder)).rejects.toThrow('ENOENT');
});

test('a broken file stops the start and names itself', async () => {
  await adminKeys(folder, null);
  await writeFile(join(folder, 'admin-keys.json'), '{"hashes":[]}');
  await expect(adminKeys(folder, null)).rejects.toThrow(/admin-keys\.json holds no admin key/);
});
