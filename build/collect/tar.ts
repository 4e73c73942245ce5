// Unpacks an npm tarball: plain files below one top folder, and nothing that could reach outside of it.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzip } from 'node:zlib';

/** Bytes that an unpacked source may have, so that a small tarball cannot fill the disk. */
const LARGEST = 2 ** 30;

const BLOCK = 512;

interface Entry {
  name: string;
  type: string;
  data: Buffer;
}

/**
 * Unpacks the gzipped tarball into an empty folder, without the top folder that every npm tarball has. Throws on absolute paths, `..`, links,
 * devices, and more than a gigabyte.
 */
export async function unpack(tarball: Buffer, folder: string): Promise<number> {
  const tar = await new Promise<Buffer>((resolve, reject) => {
    gunzip(tarball, { maxOutputLength: LARGEST }, (error, data) => (error ? reject(error) : resolve(data)));
  });
  const made = new Set<string>();
  let files = 0;
  for (const { name, type, data } of entries(tar)) {
    const inside = safePath(name);
    if (type === '5' || inside === null) continue;
    if (type !== '0' && type !== '\0' && type !== '7')
      throw new Error(`the tarball holds ${name}, which is not a plain file`);
    const path = join(folder, inside);
    if (!made.has(dirname(path))) await mkdir(dirname(path), { recursive: true });
    made.add(dirname(path));
    await writeFile(path, data, { mode: 0o444 });
    files++;
  }
  if (files === 0) throw new Error('the tarball holds no files');
  return files;
}

/** The path below the top folder; null for the top folder itself. Throws when it would lead elsewhere. */
function safePath(name: string): string | null {
  const steps = name.split('/').filter((step) => step !== '' && step !== '.');
  const wrong = name.startsWith('/') || /[\\\0:]/.test(name) || steps.includes('..');
  if (wrong) throw new Error(`the tarball holds a path that leads elsewhere: ${JSON.stringify(name)}`);
  return steps.length < 2 ? null : steps.slice(1).join('/');
}

/** The entries of a tar in the ustar, pax or GNU form. */
function* entries(tar: Buffer): Generator<Entry> {
  let longName: string | null = null;
  for (let at = 0; at + BLOCK <= tar.length; ) {
    const header = tar.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) return;
    checkSum(header);
    const size = octal(header, 124, 12);
    const type = String.fromCharCode(header[156]!);
    const data = tar.subarray(at + BLOCK, at + BLOCK + size);
    if (data.length < size) throw new Error('the tarball ends in the middle of a file');
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    if (type === 'x') longName = paxPath(data) ?? longName;
    else if (type === 'L') longName = data.toString('utf8').replace(/\0+$/, '');
    else if (type !== 'g') {
      const prefix = header.toString('latin1', 257, 262) === 'ustar' ? text(header, 345, 155) : '';
      yield { name: longName ?? (prefix === '' ? '' : `${prefix}/`) + text(header, 0, 100), type, data };
      longName = null;
    }
  }
}

function text(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

function octal(header: Buffer, start: number, length: number): number {
  const digits = text(header, start, length).trim();
  if (!/^[0-7]+$/.test(digits)) throw new Error('the tarball has a damaged header');
  return Number.parseInt(digits, 8);
}

function checkSum(header: Buffer): void {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? 32 : header[i]!;
  if (sum !== octal(header, 148, 8)) throw new Error('the tarball has a damaged header');
}

/** The `path` record of a pax header: `<length> path=<name>\n`. */
function paxPath(data: Buffer): string | null {
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(32, at);
    const length = Number(data.toString('latin1', at, space));
    if (space < 0 || !Number.isInteger(length) || length <= 0) throw new Error('the tarball has a damaged header');
    const [key, ...value] = data.toString('utf8', space + 1, at + length - 1).split('=');
    if (key === 'path') return value.join('=');
    at += length;
  }
  return null;
}
