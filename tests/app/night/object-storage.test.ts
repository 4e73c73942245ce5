// Listings in a bucket and in a shared folder: sent once, continued after an interruption, verified.
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CorruptObject,
  download,
  type FileListing,
  type FileSum,
  readListing,
  upload,
} from '../../../data/objects/listing.ts';
import type { ObjectStorage } from '../../../data/objects/objects.ts';
import { openStorage } from '../../../data/objects/open.ts';
import { scratch, scratchOfAll } from '../../support/night-pack.ts';
import { removeS3, S3_CREDENTIALS, type S3Server, startS3 } from '../../support/s3-server.ts';

const before = { ...process.env };
Object.assign(process.env, S3_CREDENTIALS);
const server = await startS3(['register']);
afterAll(async () => {
  process.env = before;
  await server.close();
  removeS3(server);
});

/** A folder with files of these sizes, and their listing. */
function folderOf(sizes: Record<string, number>): { folder: string; listing: FileListing } {
  const folder = scratch();
  const files = new Map<string, FileSum>();
  for (const [path, bytes] of Object.entries(sizes)) {
    const content = randomBytes(bytes);
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
    files.set(path, { bytes, sha256: createHash('sha256').update(content).digest('hex') });
  }
  return { folder, listing: { kind: 'release', dataset: 'tools', release: '0123456789abcdef', files } };
}

const KINDS = ['bucket', 'folder'] as const;

describe.each(KINDS)('a %s', (kind) => {
  const root = scratchOfAll();
  let storage: ObjectStorage;
  const objectPath = (sha256: string) =>
    kind === 'folder'
      ? join(root, 'objects', sha256.slice(0, 2), sha256)
      : join(server.folder('register'), 'a/b/objects', sha256.slice(0, 2), `${sha256}._S3rver_object`);
  beforeAll(async () => {
    const url = kind === 'folder' ? pathToFileURL(root).href : 's3://register/a/b';
    storage = await openStorage(url, { endpoint: server.endpoint, scratch: scratchOfAll() });
  });
  afterAll(() => storage.close());

  test('gets each file once, and gives the same files back', async () => {
    const { folder, listing } = folderOf({ 'manifest.json': 100, 'index/columns.bin': 70_000, empty: 0 });
    const from = (path: string) => join(folder, path);
    const first = await upload(storage, listing, from, scratch());
    expect(first).toMatchObject({ files: 4, present: 0 });
    expect(await upload(storage, listing, from, scratch())).toMatchObject({ files: 0, present: 4, name: first.name });
    expect(await readListing(storage, first.name)).toEqual({ ...listing, files: new Map([...listing.files].sort()) });
    const to = scratch();
    expect(await download(storage, listing.files, to)).toMatchObject({ files: 3, bytes: 70_100, present: 0 });
    for (const path of listing.files.keys()) expect(readFileSync(join(to, path))).toEqual(readFileSync(from(path)));
    expect(await download(storage, listing.files, to)).toMatchObject({ files: 0, present: 3 });
  });

  test('continues a download, also after damaged bytes', async () => {
    const { folder, listing } = folderOf({ whole: 50_000, damaged: 50_000 });
    await upload(storage, listing, (path) => join(folder, path), scratch());
    const to = scratch();
    writeFileSync(join(to, 'whole.arriving'), readFileSync(join(folder, 'whole')).subarray(0, 30_000));
    writeFileSync(join(to, 'damaged.arriving'), randomBytes(30_000));
    // The missing bytes of each, and then the whole of the damaged one.
    const done = await download(storage, listing.files, to);
    expect(done.files).toBe(2);
    expect(done.bytes).toBe(20_000 + 20_000 + 50_000);
    for (const path of listing.files.keys())
      expect(readFileSync(join(to, path))).toEqual(readFileSync(join(folder, path)));
  });

  test('a corrupted object and a corrupted listing are refused', async () => {
    const { folder, listing } = folderOf({ data: 1_000 });
    const { name } = await upload(storage, listing, (path) => join(folder, path), scratch());
    const { sha256 } = listing.files.get('data') as FileSum;
    const path = objectPath(sha256);
    const content = readFileSync(path);
    content[500] = (content[500] ?? 0) ^ 1;
    writeFileSync(path, content);
    const to = scratch();
    await expect(download(storage, listing.files, to)).rejects.toThrow(CorruptObject);
    await expect(download(storage, listing.files, to)).rejects.toThrow(`the object ${sha256} is corrupted`);
    truncateSync(objectPath(name), 10);
    await expect(readListing(storage, name)).rejects.toThrow(CorruptObject);
  });
});

test('an interrupted upload in parts continues with the part that was not sent', async () => {
  const own = await startS3(['register']);
  const { folder, listing } = folderOf({ large: 20 << 20 });
  const settings = { endpoint: own.endpoint, scratch: scratch() };
  const content = { file: join(folder, 'large'), ...(listing.files.get('large') as FileSum) };
  const parts = (each: S3Server) => each.requests.filter((line) => line.includes('partNumber=')).length;
  const first = await openStorage('s3://register', settings);
  const stopping = first.put('large', content);
  stopping.catch(() => {});
  while (parts(own) < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  first.close();
  await own.close();
  await expect(stopping).rejects.toThrow('s3://register');
  const again = await startS3(['register'], join(own.folder('register'), '..'), own.port);
  const second = await openStorage('s3://register', settings);
  await second.put('large', content);
  expect(parts(again)).toBeLessThan(3);
  expect(again.requests.filter((line) => line.includes('?uploads'))).toEqual([]);
  expect(await second.size('large')).toBe(20 << 20);
  const to = scratch();
  writeFileSync(join(to, 'large'), Buffer.concat(await Array.fromAsync(await second.read('large'))));
  expect(readFileSync(join(to, 'large')).equals(readFileSync(content.file))).toBe(true);
  second.close();
  await again.close();
  removeS3(again);
});

test('storage that does not answer is named with its address, without credentials', async () => {
  const settings = { endpoint: 'http://127.0.0.1:1', scratch: scratch() };
  const away = await openStorage('s3://register/prod', settings);
  await expect(away.size('x')).rejects.toThrow(/^s3:\/\/register\/prod does not answer: .*ECONNREFUSED/);
  const missing = await openStorage('file:///no/such/mount', settings);
  await expect(missing.size('x')).rejects.toThrow(/^file:\/\/\/no\/such\/mount: ENOENT/);
});
