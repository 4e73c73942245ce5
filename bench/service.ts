// The complete service over a subject's releases, in a child process, called with an admin key.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServerProcess, startProcess } from './process.ts';
import { borrowed, type Subject } from './subject.ts';

const ADMIN = 'bench-admin-key-bench-admin-key-0000';

/** Headers of every request to the service: it passes the complete gate and is never charged. */
export const OPERATOR_HEADERS = { authorization: `Bearer ${ADMIN}` };

export interface Service extends ServerProcess {
  /** Milliseconds from spawn until all is loaded. */
  warm: number;
  /** DATA_DIR. */
  dataDir: string;
}

/** The arguments of node in `npm run serve`, so that its flags are measured too. */
function served(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
    scripts: Record<'serve', string>;
  };
  return scripts.serve.split(' ').slice(1);
}

/**
 * Starts `api/server.ts` and waits until it is warm. `datasets`: only these of the subject's data folder.
 * `dist`: DIST_DIR; default an empty folder.
 */
export async function startService(
  subject: Pick<Subject, 'dataDir' | 'dataset' | 'packDirs'>,
  scratch: string,
  { datasets, dist }: { datasets?: readonly string[]; dist?: string } = {},
): Promise<Service> {
  const dataDir = borrowed(subject.dataDir, scratch, datasets);
  const env = {
    DATA_DIR: dataDir,
    DIST_DIR: dist ?? join(dataDir, 'dist'),
    PACK_DIRS: subject.packDirs,
    ADMIN_KEYS: ADMIN,
    // The clock runs, so that ages are computed as in production.
    SOURCE_DATE_EPOCH: '',
  };
  const began = performance.now();
  const started = await startProcess(served(), env, `/v1/${subject.dataset}/entities?limit=1`, OPERATOR_HEADERS);
  while (!(await isWarm(started.base))) await new Promise((resolve) => setTimeout(resolve, 20));
  return { ...started, dataDir, warm: performance.now() - began };
}

async function isWarm(base: string): Promise<boolean> {
  const response = await fetch(`${base}/healthz`);
  const { cache_warm } = (await response.json()) as { cache_warm: boolean };
  return cache_warm;
}
