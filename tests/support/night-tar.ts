// Tarballs, valid and hostile, and an npm client that serves them.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Npm } from '../../build/effects/npm.ts';

export interface TarEntry {
  name: string;
  content?: string;
  /** Type flag of the header; '0' is a plain file. */
  type?: string;
  /** A header whose checksum is wrong. */
  damaged?: boolean;
  /** Size in the header, where it differs from the true one. */
  size?: number;
}

/** A gzipped ustar archive. */
export function tarball(entries: TarEntry[]): Buffer {
  const blocks: Buffer[] = [];
  for (const { name, content = '', type = '0', damaged = false, size } of entries) {
    const data = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(name, 0, 100);
    header.write('0000644\0', 100);
    header.write(`${(size ?? data.length).toString(8).padStart(11, '0')}\0`, 124);
    header.write('        ', 148);
    header.write(type, 156);
    header.write('ustar\x0000', 257, 'latin1');
    const sum = header.reduce((total, byte) => total + byte, 0) + (damaged ? 1 : 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    blocks.push(header, data, Buffer.alloc((512 - (data.length % 512)) % 512));
  }
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

/** A pax header that sets another path for the next entry. */
export function pax(path: string): TarEntry {
  const record = (length: number) => `${length} path=${path}\n`;
  let length = Buffer.byteLength(record(10));
  if (Buffer.byteLength(record(length)) !== length) length++;
  return { name: 'PaxHeader', type: 'x', content: record(length) };
}

/** Subresource integrity of a tarball. */
export function integrity(bytes: Buffer): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}

/** An npm client over tarballs by `name@version`; `newest` by package name. Records the calls. */
export function npmOf(
  tarballs: Record<string, Buffer>,
  newest: Record<string, Awaited<ReturnType<Npm['newest']>>> = {},
) {
  const calls: string[] = [];
  const npm: Npm = {
    pack: async (pkg, version, into) => {
      calls.push(`${pkg}@${version}`);
      const bytes = tarballs[`${pkg}@${version}`];
      if (bytes === undefined) throw new Error(`npm: E404 ${pkg}@${version} is not here`);
      const path = join(into, 'package.tgz');
      writeFileSync(path, bytes);
      return path;
    },
    newest: async (pkg) => {
      calls.push(pkg);
      const found = newest[pkg];
      if (found === undefined) throw new Error(`npm: E404 ${pkg} is not here`);
      return found;
    },
  };
  return { npm, calls };
}
