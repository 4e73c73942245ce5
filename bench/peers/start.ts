// Starts the SQLite peer over a subject, and fills its database first if it is missing.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServerProcess, startProcess } from '../process.ts';
import { cacheFolder, type Subject } from '../subject.ts';

/** Starts the peer; its database is reused while its inputs are unchanged. */
export async function startSqlite(
  { manifest, folder, packDirs, dataset, shape }: Subject,
  base_url: string,
): Promise<ServerProcess> {
  const filler = readFileSync(join(import.meta.dirname, 'sqlite-fill.ts'), 'utf8');
  const inputs = hash('sha256', manifest.release + filler, 'hex').slice(0, 16);
  const filling = { release: folder, pack: join(packDirs.split(',').at(-1) ?? '', dataset), base_url, shape };
  const env = { DATABASE: join(cacheFolder(), `${dataset}-${inputs}.sqlite`), FILLING: JSON.stringify(filling) };
  return startProcess([join(import.meta.dirname, 'sqlite.ts')], env, '/');
}
