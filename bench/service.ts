// The complete service over a subject's releases, in a process of its own, asked with an admin key.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Served, serve } from './process.ts';
import { borrowed, type Subject } from './subject.ts';

const ADMIN = 'bench-admin-key-bench-admin-key-0000';

/** What every request to the service carries: it passes the whole gate and is never charged. */
export const OPERATOR = { authorization: `Bearer ${ADMIN}` };

export interface Service extends Served {
  /** Milliseconds from spawn until all is loaded. */
  warm: number;
}

/** What `npm run serve` gives to node: its flags are measured with it. */
function served(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
    scripts: Record<'serve', string>;
  };
  return scripts.serve.split(' ').slice(1);
}

/**
 * Starts `api/server.ts` and waits until it is warm. `datasets`: only these, of those that the subject's data folder has. `dist`: DIST_DIR; an
 * empty folder without it.
 */
export async function startService(
  subject: Subject,
  scratch: string,
  { datasets, dist }: { datasets?: readonly string[]; dist?: string } = {},
): Promise<Service> {
  const dataDir = borrowed(subject.dataDir, scratch, datasets);
  const env = {
    DATA_DIR: dataDir,
    DIST_DIR: dist ?? join(dataDir, 'dist'),
    PACK_DIRS: subject.packDirs,
    ADMIN_KEYS: ADMIN,
    // No clock that stands still: ages are told as in production.
    SOURCE_DATE_EPOCH: '',
  };
  const began = performance.now();
  const started = await serve(served(), env, `/v1/${subject.dataset}/entities?limit=1`, OPERATOR);
  while (!(await isWarm(started.base))) await new Promise((resolve) => setTimeout(resolve, 20));
  return { ...started, warm: performance.now() - began };
}

async function isWarm(base: string): Promise<boolean> {
  const response = await fetch(`${base}/healthz`);
  const { cache_warm } = (await response.json()) as { cache_warm: boolean };
  return cache_warm;
}
