// Content names, verification of release files, and the pointer to the current release.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { scratch } from '../../tests/support/night-pack.ts';
import { verifies } from '../../tests/support/verifies.ts';
import { putInPlace, replaceFile, UNFINISHED } from './atomic.ts';
import { type Manifest, paths } from './layout.ts';
import { contentName, currentRelease, makeCurrent, measureFile, readManifest, verifyRelease } from './manifest.ts';

verifies('release.manifest', 'release.atomic', 'release.immutable');

/** Writes a release folder of two files with its manifest. */
async function release(folder: string, text = 'a\n1\n', created_at = '2026-11-20T00:00:00Z'): Promise<Manifest> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'a.csv'), text);
  writeFileSync(join(folder, 'changes.parquet'), 'not really');
  const files: Manifest['files'] = {
    'a.csv': { ...(await measureFile(join(folder, 'a.csv'))), rows: 1 },
    'changes.parquet': { ...(await measureFile(join(folder, 'changes.parquet'))), rows: null },
  };
  const manifest: Manifest = {
    schema_version: 1,
    dataset: 'stones',
    release: contentName(files),
    created_at,
    title: 'Stones',
    records: 1,
    facts: 1,
    confirmed: {},
    last_collection: '2026-11-20T00:00:00Z',
    files,
    enums: {},
    ages: [],
  };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  return manifest;
}

describe('a content name', () => {
  const file = (sha256: string) => ({ bytes: 1, sha256, rows: null });

  test('covers file names and contents in any order, without the change feed', () => {
    const name = contentName({ b: file('2'), a: file('1') });
    expect(name).toMatch(/^[0-9a-f]{16}$/);
    expect(contentName({ a: file('1'), b: file('2'), 'changes.parquet': file('3') })).toBe(name);
    const others = [{ a: file('1') }, { a: file('2'), b: file('1') }, { a: file('1'), c: file('2') }];
    expect(others.map((files) => contentName(files))).not.toContain(name);
  });
});

describe('a release', () => {
  test('is complete', async () => {
    const folder = scratch();
    const manifest = await release(folder);
    expect(await readManifest(folder)).toEqual(manifest);
    expect(await verifyRelease(folder)).toEqual([]);
  });

  test('with a changed, longer or missing file or another name is incomplete', async () => {
    const folder = scratch();
    const manifest = await release(folder);
    writeFileSync(join(folder, 'a.csv'), 'a\n2\n');
    expect(await verifyRelease(folder)).toEqual(['a.csv does not have the SHA-256 of the manifest']);
    appendFileSync(join(folder, 'a.csv'), '3\n');
    expect(await verifyRelease(folder)).toEqual(['a.csv has 6 bytes (expected 4)']);
    rmSync(join(folder, 'a.csv'));
    expect(await verifyRelease(folder)).toEqual(['a.csv is missing']);
    writeFileSync(join(folder, 'a.csv'), 'a\n1\n');
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, release: '0'.repeat(16) }));
    expect(await verifyRelease(folder)).toEqual([`the content does not have the name ${'0'.repeat(16)}`]);
  });

  test('without a valid manifest is an error', async () => {
    const folder = scratch();
    await expect(readManifest(folder)).rejects.toThrow('manifest.json');
    writeFileSync(join(folder, 'manifest.json'), '{"schema_version":1}');
    await expect(readManifest(folder)).rejects.toThrow('no valid manifest');
    writeFileSync(join(folder, 'manifest.json'), '{"schema_version":2}');
    await expect(readManifest(folder)).rejects.toThrow('has the format 2 and this version of the program reads 1');
  });
});

describe('the current release', () => {
  const id = (n: number) => n.toString(16).padStart(16, '0');

  test('is null before the first switch and for a damaged pointer without releases', async () => {
    const data = scratch();
    expect(await currentRelease(data, 'stones')).toBe(null);
    mkdirSync(paths.releases(data, 'stones'), { recursive: true });
    await makeCurrent(data, 'stones', id(1), 3);
    expect(await currentRelease(data, 'stones')).toBe(id(1));
    writeFileSync(paths.current(data, 'stones'), '../../etc/passwd');
    expect(await currentRelease(data, 'stones')).toBe(null);
  });

  function replaceByFolder(path: string): void {
    rmSync(path);
    mkdirSync(path);
  }

  /** Three complete releases, the newest is current. */
  async function three(): Promise<{
    data: string;
    ids: string[];
    warned: string[];
    current: () => Promise<string | null>;
  }> {
    const data = scratch();
    const ids: string[] = [];
    for (const n of [1, 2, 3]) {
      const draft = join(data, `draft-${n}`);
      mkdirSync(draft, { recursive: true });
      const { release: made } = await release(draft, `a\n${n}\n`, `2026-11-2${n}T00:00:00Z`);
      mkdirSync(paths.releases(data, 'stones'), { recursive: true });
      renameSync(draft, paths.release(data, 'stones', made));
      ids.push(made);
    }
    await makeCurrent(data, 'stones', ids[2]!, 3);
    const warned: string[] = [];
    return { data, ids, warned, current: () => currentRelease(data, 'stones', (problem) => warned.push(problem)) };
  }

  test.each([
    ['is empty', (pointer: string) => writeFileSync(pointer, '')],
    ['holds something else', (pointer: string) => writeFileSync(pointer, '\0\0\0\0')],
    ['cannot be read', (pointer: string) => replaceByFolder(pointer)],
    ['names a release that is not there', (pointer: string) => writeFileSync(pointer, `${id(9)}\n`)],
  ])('is the newest complete one when the pointer %s', async (_, damage) => {
    const { data, ids, warned, current } = await three();
    expect(await current()).toBe(ids[2]);
    damage(paths.current(data, 'stones'));
    expect(await current()).toBe(ids[2]);
    expect(warned).toEqual([expect.stringMatching(new RegExp(`^stones: .*; using release ${ids[2]}$`))]);
  });

  test.each([
    ['a file is cut off', (folder: string) => writeFileSync(join(folder, 'a.csv'), 'a')],
    ['a file is missing', (folder: string) => rmSync(join(folder, 'a.csv'))],
    ['the manifest is empty', (folder: string) => writeFileSync(join(folder, 'manifest.json'), '')],
  ])('is the one before when of the one that is pointed to %s', async (_, damage) => {
    const { data, ids, warned, current } = await three();
    damage(paths.release(data, 'stones', ids[2]!));
    expect(await current()).toBe(ids[1]);
    damage(paths.release(data, 'stones', ids[1]!));
    expect(await current()).toBe(ids[0]);
    expect(warned).toHaveLength(2);
  });

  test('a removed release leaves its manifest, without values of records', async () => {
    const { data, ids } = await three();
    const folder = paths.release(data, 'stones', ids[0]!);
    const manifest = { ...(await readManifest(folder)), enums: { kind: ['held by one record'] } };
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
    utimesSync(join(folder, 'manifest.json'), 1, 1);
    await makeCurrent(data, 'stones', ids[2]!, 2);
    expect(readdirSync(paths.releases(data, 'stones')).sort()).toEqual(
      [...ids.slice(1), 'current', 'manifests'].sort(),
    );
    const kept = readFileSync(paths.keptManifest(data, 'stones', ids[0]!), 'utf8');
    expect(JSON.parse(kept)).toEqual({ ...manifest, enums: {} });
    expect(await currentRelease(data, 'stones')).toBe(ids[2]);
  });

  test('keeps the newest two others and removes the rest', async () => {
    const data = scratch();
    for (const n of [1, 2, 3, 4, 5]) {
      mkdirSync(paths.release(data, 'stones', id(n)), { recursive: true });
      const manifest = join(paths.release(data, 'stones', id(n)), 'manifest.json');
      writeFileSync(manifest, '{}');
      utimesSync(manifest, n, n);
    }
    mkdirSync(join(paths.releases(data, 'stones'), 'notes'));
    await makeCurrent(data, 'stones', id(2), 3);
    expect(readdirSync(paths.releases(data, 'stones')).sort()).toEqual([id(2), id(4), id(5), 'current', 'notes']);
  });
});

describe('a disk that cannot write', () => {
  /** Makes every flush of a path that matches fail as on a broken disk. */
  async function broken<T>(path: RegExp, code: string, during: () => Promise<T>): Promise<T> {
    const some = await open(import.meta.filename);
    const prototype = Object.getPrototypeOf(some) as typeof some;
    await some.close();
    const real = prototype.sync;
    prototype.sync = async function (this: typeof some) {
      if (path.test(readlinkSync(`/proc/self/fd/${this.fd}`)))
        throw Object.assign(new Error(`${code}: i/o error, fsync`), { code });
      return real.call(this);
    };
    return during().finally(() => {
      prototype.sync = real;
    });
  }

  test('fails the move of a folder and moves nothing', async (context) => {
    if (process.platform !== 'linux') context.skip('paths of open files are read from /proc');
    const folder = scratch();
    const [from, to] = [join(folder, 'draft'), join(folder, 'place')];
    mkdirSync(join(from, 'index'), { recursive: true });
    writeFileSync(join(from, 'index', 'columns.bin'), 'bytes');
    await expect(broken(/columns\.bin$/, 'EIO', () => putInPlace(from, to))).rejects.toThrow(
      /cannot write .*columns\.bin to the disk: EIO/,
    );
    expect([existsSync(from), existsSync(to)]).toEqual([true, false]);
    // Systems that cannot flush a folder order renames themselves.
    await broken(/(index|draft)$/, 'EINVAL', () => putInPlace(from, to));
    expect([existsSync(from), existsSync(to)]).toEqual([false, true]);
  });

  test('leaves the pointer unchanged', async (context) => {
    if (process.platform !== 'linux') context.skip('paths of open files are read from /proc');
    const data = scratch();
    mkdirSync(paths.releases(data, 'stones'), { recursive: true });
    await makeCurrent(data, 'stones', '1'.repeat(16), 3);
    await expect(broken(/unfinished/, 'EIO', () => makeCurrent(data, 'stones', '2'.repeat(16), 3))).rejects.toThrow(
      'EIO',
    );
    expect(readFileSync(paths.current(data, 'stones'), 'utf8')).toBe(`${'1'.repeat(16)}\n`);
    expect(readdirSync(paths.releases(data, 'stones'))).toEqual(['current']);
  });
});

test('a replaced file is the old or the new one, and no temporary file remains', async () => {
  const folder = scratch();
  const path = join(folder, 'file');
  await replaceFile(path, 'one');
  await replaceFile(path, 'two');
  expect(readFileSync(path, 'utf8')).toBe('two');
  expect(readdirSync(folder)).toEqual(['file']);
  await expect(replaceFile(join(folder, 'no/such/folder'), 'x')).rejects.toThrow();
  expect(existsSync(join(folder, 'no'))).toBe(false);
  expect(readdirSync(folder).filter((name) => name.startsWith(UNFINISHED))).toEqual([]);
});
