// Builds releases and files again: at once after a removal or restoration, and some time after an edit (contract
// section 5, "Overlay").
import { type ChildProcess, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Config } from '../config.ts';
import { EXIT_BUSY } from '../data/model/lock.ts';
import { isInstalled, LOADER_OPTIONS, modulePath } from '../data/model/program.ts';
import { rebuildDue } from '../data/plan/overlay.ts';
import type { Register } from '../data/releases/register.ts';

const PROGRAM = modulePath('build/night/rewrite.ts');

/** What build/night/rewrite.ts reads from stdin: the settings, and the dataset to build again. */
export interface RewriteInput {
  config: Config;
  dataset: string;
}

/**
 * Milliseconds until the next try: while a night runs, and after a failure, doubled each time up to the
 * maximum.
 */
const WAIT = { busy: 3_000, failed: 5_000, most: 600_000 };

export interface Rewriter {
  /** Checks for a release that is to be built again, and builds it. Call it after every refresh of the overlays. */
  look(): void;
  /** Stops the running rebuild; the next `look` of any process starts it again. */
  stop(): Promise<void>;
}

interface Parts {
  config: Config;
  /** Environment variables from which the SDK of the object storage reads its credentials. */
  credentials?: NodeJS.ProcessEnv;
  register: Pick<Register, 'packs' | 'current' | 'refresh'>;
  log(line: string): void;
}

/**
 * Whether this installation can rebuild: an image of the API alone has no Astro. `npm run nightly -- --daemon`
 * rebuilds too.
 */
export const canRewrite = (): boolean => isInstalled('astro');

/** State of one dataset's rebuild. */
interface Work {
  child: ChildProcess | null;
  /**
   * Overlay version of the last successful run: if the release is outdated still, another run would not help.
   */
  done: number;
  /** Earliest time of the next run (ms of this process). */
  next: number;
  wait: number;
}

/**
 * Every process of the service may have one: the night's lock admits a single run, and the others find
 * nothing to do.
 */
export function openRewriter({ config, credentials = {}, register, log }: Parts): Rewriter {
  const works = new Map<string, Work>();
  let stopped = false;

  const run = async (dataset: string, work: Work, version: number): Promise<void> => {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(process.execPath, [...LOADER_OPTIONS, PROGRAM], {
      env: { ...credentials, PATH, HOME },
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    work.child = child;
    const input: RewriteInput = { config, dataset };
    child.stdin.on('error', () => {}).end(JSON.stringify(input));
    const stderr = text(child.stderr).catch(() => '');
    const code = await new Promise<number | null>((resolve) => {
      child.on('error', () => resolve(null));
      child.on('close', resolve);
    });
    work.child = null;
    if (stopped) return;
    if (code === 0) {
      Object.assign(work, { done: version, wait: WAIT.failed });
      log(`${dataset}: release and files are made again`);
      await register.refresh();
      return;
    }
    if (code !== EXIT_BUSY) log(`${dataset}: could not be made again: ${(await stderr).trim()}`);
    work.next = performance.now() + (code === EXIT_BUSY ? WAIT.busy : work.wait);
    if (code !== EXIT_BUSY) work.wait = Math.min(WAIT.most, work.wait * 2);
  };

  return {
    look() {
      if (stopped) return;
      for (const dataset of register.packs.keys()) {
        const release = register.current(dataset);
        if (!release?.overlay) continue;
        const { version } = release.overlay;
        const due = rebuildDue(release.overlay, release.manifest.overlay ?? 0);
        if (due === null || due > Date.now()) continue;
        const work = works.get(dataset) ?? { child: null, done: 0, next: 0, wait: WAIT.failed };
        works.set(dataset, work);
        if (work.child !== null || work.done === version || performance.now() < work.next) continue;
        // One run at a time: they all use the same lock.
        if ([...works.values()].some(({ child }) => child !== null)) return;
        run(dataset, work, version).catch((error: Error) => {
          // Without a handler, the rejection would end the process.
          Object.assign(work, { child: null, next: performance.now() + work.wait });
          log(`${dataset}: could not be made again: ${error.message}`);
        });
      }
    },
    async stop() {
      stopped = true;
      const running = [...works.values()].flatMap(({ child }) => child ?? []);
      await Promise.all(
        running.map((child) => {
          const closed = new Promise((resolve) => child.once('close', resolve));
          child.kill('SIGTERM');
          return closed;
        }),
      );
    },
  };
}
