// What pages said, kept by the hash of their bytes: the same page seen twice is one file, and a fact's evidence can be shown later.
import { createHash } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { putInPlace, unfinished } from '../../data/model/atomic.ts';
import { paths } from '../../data/model/layout.ts';

/** Path of a kept page. */
export function evidencePath(dataDir: string, sha256: string): string {
  return join(paths.evidence(dataDir), sha256.slice(0, 2), sha256);
}

/** Keeps a page; answers its hash, 64 hex digits. It appears as a whole. */
export async function keepEvidence(dataDir: string, body: Buffer): Promise<string> {
  const sha256 = createHash('sha256').update(body).digest('hex');
  const path = evidencePath(dataDir, sha256);
  if ((await stat(path).catch(() => null))?.size === body.length) return sha256;
  await mkdir(dirname(path), { recursive: true });
  const temporary = unfinished(path);
  await writeFile(temporary, body);
  await putInPlace(temporary, path);
  return sha256;
}

/** A kept page, or null when it is gone or no longer what it was. */
export async function readEvidence(dataDir: string, sha256: string): Promise<Buffer | null> {
  const body = await readFile(evidencePath(dataDir, sha256)).catch(() => null);
  return body !== null && createHash('sha256').update(body).digest('hex') === sha256 ? body : null;
}
