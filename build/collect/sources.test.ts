// Sources on disk: fetched once, verified, unpacked completely, and never outside their folder.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Header } from 'tar';
import { describe, expect, test } from 'vitest';
import type { Pack } from '../../packs/define/model.ts';
import { scratch } from '../../tests/support/night-pack.ts';
import { integrity, npmOf, pax, type TarEntry, tarball } from '../../tests/support/night-tar.ts';
import { verifies } from '../../tests/support/verifies.ts';
import { hasIntegrity, obtain, unpackTarball } from './sources.ts';

verifies('collect.npm');

const file = (name: string, content = 'x'): TarEntry => ({ name: `package/${name}`, content });
const good = tarball([file('package.json', '{}'), file('data/a.json', '[1]')]);
const pack = { folder: '/nowhere' } as Pack;
const wanted = { package: '@some/data', version: '1.0.0', integrity: integrity(good) };

describe('obtain', () => {
  test('fetches, verifies and unpacks; the second call finds it on disk', async () => {
    const data = scratch();
    const { npm, calls: asked } = npmOf({ '@some/data@1.0.0': good });
    const folder = await obtain(npm, data, pack, wanted);
    expect(folder).toBe(join(data, 'sources/@some/data/1.0.0'));
    expect(readFileSync(join(folder, 'data/a.json'), 'utf8')).toBe('[1]');
    expect(await obtain(npm, data, pack, wanted)).toBe(folder);
    expect(asked).toEqual(['@some/data@1.0.0']);
  });

  test('refuses a tarball with another hash and leaves nothing behind', async () => {
    const data = scratch();
    const { npm } = npmOf({ '@some/data@1.0.0': tarball([file('package.json', '{"evil":1}')]) });
    await expect(obtain(npm, data, pack, wanted)).rejects.toThrow('the tarball does not match its integrity');
    expect(readdirSync(join(data, 'sources')).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(existsSync(join(data, 'sources/@some/data/1.0.0'))).toBe(false);
  });

  test('a pin with another integrity is fetched again; a folder without a note too', async () => {
    const data = scratch();
    const other = tarball([file('package.json', '{"v":2}')]);
    const { npm, calls: asked } = npmOf({ '@some/data@1.0.0': other });
    const folder = join(data, 'sources/@some/data/1.0.0');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'half'), 'half');
    await obtain(npm, data, pack, { ...wanted, integrity: integrity(other) });
    expect(readdirSync(folder)).toEqual(['package.json']);
    await expect(obtain(npm, data, pack, wanted)).rejects.toThrow('integrity');
    expect(asked).toHaveLength(2);
  });

  test('a source in the pack is used in place; without it an empty integrity is an error', async () => {
    const folder = scratch();
    mkdirSync(join(folder, 'fixtures/@some/data/1.0.0'), { recursive: true });
    const { npm, calls: asked } = npmOf({});
    const shipped = { ...wanted, integrity: '' };
    const found = await obtain(npm, scratch(), { folder } as Pack, shipped);
    expect(found).toBe(join(folder, 'fixtures/@some/data/1.0.0'));
    await expect(obtain(npm, scratch(), pack, shipped)).rejects.toThrow('no integrity');
    expect(asked).toEqual([]);
  });
});

test('only SHA-512 counts as integrity', () => {
  expect(hasIntegrity(good, `sha1-abc ${integrity(good)}?x`)).toBe(true);
  expect(hasIntegrity(good, 'sha1-abc')).toBe(false);
  expect(hasIntegrity(good, '')).toBe(false);
});

describe('unpack', () => {
  const open = async (entries: TarEntry[]) => {
    const folder = scratch();
    await unpackTarball(tarball(entries), folder);
    return readdirSync(folder, { recursive: true }).map(String).sort();
  };

  test('long names of pax and GNU tar, folders, and any name of the top folder', async () => {
    const long = `top/${'a'.repeat(60)}/${'b'.repeat(60)}.json`;
    const entries = [
      { name: 'top/', type: '5' },
      pax(long),
      { name: 'short', content: '1' },
      { name: '././@LongLink', type: 'L', content: `${long}.gnu\0` },
      { name: 'short', content: '2' },
      { name: 'pax_global_header', type: 'g', content: '20 comment=x\n' },
    ];
    expect(await open(entries)).toEqual(['a'.repeat(60), long.slice(4), `${long.slice(4)}.gnu`]);
  });

  const HOSTILE: [about: string, entries: TarEntry[], said: string][] = [
    ['a path upwards', [file('../../evil')], 'outside its folder'],
    ['an absolute path', [{ name: '/etc/evil' }], 'outside its folder'],
    ['a path upwards in a pax header', [pax('package/../../evil'), file('a')], 'outside its folder'],
    ['a Windows path', [file('..\\evil')], 'outside its folder'],
    ['a drive', [file('C:evil')], 'outside its folder'],
    ['a device', [{ name: 'package/null', type: '3' }], 'not a plain file'],
    ['a damaged header', [{ ...file('a'), damaged: true }], 'checksum failure'],
    ['a file cut short', [{ ...file('a'), size: 1e6 }], 'Truncated input'],
    ['no files at all', [{ name: 'package/', type: '5' }], 'contains no files'],
  ];
  test.each(HOSTILE)('refuses %s', async (_, entries, said) => {
    await expect(open(entries)).rejects.toThrow(said);
  });

  test.each(['SymbolicLink', 'Link'] as const)('refuses a %s', async (type) => {
    const header = new Header({ path: 'package/link', type, linkpath: '../../evil', size: 0, mode: 0o644 });
    const tar = Buffer.alloc(3 * 512);
    header.encode(tar);
    await expect(unpackTarball(gzipSync(tar), scratch())).rejects.toThrow('not a plain file');
  });

  test('refuses a file that is not gzip', async () => {
    await expect(unpackTarball(Buffer.from('<html>'), scratch())).rejects.toThrow();
  });
});
