// The operators' keys: given as a setting, or made at first start, shown once and kept as a hash (contract section 1).
import { createHash, randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const Stored = z.object({ hashes: z.array(z.string().regex(/^[0-9a-f]{64}$/)).min(1) });

/** Hashes to compare credentials with, and a new key to show, once, when one was just made. */
export interface AdminKeys {
  hashes: string[];
  made: string | null;
}

const sha256 = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/**
 * The admin keys of this service. `configured` (ADMIN_KEYS) replaces the stored one. Processes that start at the same
 * moment agree: a whole file is linked into place, which only one can do, and the others read it.
 */
export async function adminKeys(folder: string, configured: readonly string[] | null): Promise<AdminKeys> {
  if (configured !== null) return { hashes: configured.map(sha256), made: null };
  const file = join(folder, 'admin-keys.json');
  const known = await stored(file);
  if (known !== null) return { hashes: known, made: null };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const key = `dsr_admin_${randomBytes(32).toString('base64url')}`;
  const draft = join(folder, `admin-keys.${randomBytes(6).toString('hex')}.tmp`);
  await writeFile(draft, `${JSON.stringify({ hashes: [sha256(key)] })}\n`, { flag: 'wx', mode: 0o600 });
  try {
    await link(draft, file);
    return { hashes: [sha256(key)], made: key };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return { hashes: (await stored(file)) ?? [], made: null };
  } finally {
    await rm(draft, { force: true });
  }
}

/** The hashes in the file, or null when there is none. */
async function stored(file: string): Promise<string[] | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  try {
    return Stored.parse(JSON.parse(text)).hashes;
  } catch {
    throw new Error(`${file} holds no admin key; delete it to have a new one made`);
  }
}
