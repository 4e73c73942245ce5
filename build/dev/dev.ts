// The development server of a pack author: serves the packs, and brings into effect what changes in them.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { LOADER_OPTIONS, modulePath, STOP_WITH_PARENT } from '../../data/model/program.ts';
import { type DevProxy, openProxy } from './proxy.ts';

export interface DevOptions {
  config: Config;
  /** The environment of the settings, for the children. */
  env: NodeJS.ProcessEnv;
  print: (text: string) => void;
}

/** Changes that arrived together. */
interface Changes {
  /** Ids of packs that changed. */
  packs: Set<string>;
  /** Whether a source must be read: more changed than texts, and the pages for people. */
  collects: boolean;
}

const SITE = join(import.meta.dirname, '../../site');
const LOOPBACK = '127.0.0.1';
/** Milliseconds without a further change, since an editor and a checkout write several files. */
const QUIET = 100;
/** Milliseconds until a child that received SIGTERM is killed. */
const PATIENCE = 5_000;

/** Files of a pack that the service loads, and that no source is read for. */
const TEXTS = ['record.md', 'guide.md', 'samples.json'];
/** Files of editors, and tests. */
const IGNORED = /(^|\/)(\.[^/]*|[^/]*~|4913|[^/]*\.(swp|tmp)|node_modules\/.*)$|\.test\.ts$|(^|\/)fixtures-test\//;

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/**
 * Listens, and watches from now on. Throws when the port is taken.
 *
 * @example
 * ```ts
 * const server = await openDevServer({ config, env, print: (text) => process.stdout.write(text) });
 * ```
 */
export async function openDevServer(options: DevOptions): Promise<DevServer> {
  const { HOST, PORT } = options.config;
  return new DevServer(options, await openProxy(HOST, PORT));
}

class DevServer {
  readonly #config: Config;
  readonly #env: NodeJS.ProcessEnv;
  readonly #print: (text: string) => void;
  readonly #proxy: DevProxy;
  readonly #watchers: FSWatcher[];
  readonly #children = new Set<ChildProcess>();
  #service: ChildProcess | null = null;
  /** Changes that wait. */
  #pending: Changes | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** One rebuild at a time. */
  #working = true;
  #closed = false;

  constructor({ config, env, print }: DevOptions, proxy: DevProxy) {
    const { DATA_DIR, DIST_DIR, PACK_DIRS, BASE_URL } = config;
    const settings = { DATA_DIR, DIST_DIR, PACK_DIRS: PACK_DIRS.join(), BASE_URL };
    this.#config = config;
    this.#env = { ...env, ...settings, [STOP_WITH_PARENT]: '1' };
    this.#print = print;
    this.#proxy = proxy;
    // Before the first build, so that no change is missed.
    this.#watchers = [...PACK_DIRS, SITE].map((folder) =>
      watch(folder, { recursive: true }, (_event, path) => this.#note(folder, path)),
    );
  }

  /** Builds what is missing and serves. Resolves when the first service listens, or failed to start. */
  async start(): Promise<void> {
    await this.#run(['--if-missing']);
    if (await this.#serve()) await this.#printAddresses();
    else if (!this.#closed) this.#print('The service did not start. It starts again after the next change.\n');
    this.#working = false;
    await this.#work();
  }

  /** Ends every child and stops listening. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const watcher of this.#watchers) watcher.close();
    this.#proxy.close();
    const ended = [...this.#children].map((child) => once(child, 'exit'));
    for (const child of this.#children) child.kill('SIGTERM');
    const late = setTimeout(() => {
      for (const child of this.#children) child.kill('SIGKILL');
    }, PATIENCE);
    await Promise.all(ended);
    clearTimeout(late);
  }

  /** Adds a change to those that wait. `path` is relative to a folder of packs, or of the pages for people. */
  #note(folder: string, path: string | null): void {
    const [pack = '', ...rest] = (path ?? '').replaceAll('\\', '/').split('/');
    const file = rest.join('/');
    if (path === null || IGNORED.test(path.replaceAll('\\', '/'))) return;
    this.#pending ??= { packs: new Set(), collects: false };
    if (folder !== SITE) {
      this.#pending.packs.add(pack);
      this.#pending.collects ||= !TEXTS.includes(file);
    }
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#work(), QUIET);
  }

  /** Applies changes until none waits. */
  async #work(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    while (!this.#closed && this.#pending !== null) {
      const changes = this.#pending;
      this.#pending = null;
      await this.#apply(changes);
    }
    this.#working = false;
  }

  /**
   * Runs the nightly run for the changed packs, and serves them as they are now. A service shows changed texts before
   * that, in what it renders itself.
   */
  async #apply({ packs, collects }: Changes): Promise<void> {
    const from = performance.now();
    const names = [...packs].join(', ') || 'site';
    if (packs.size > 0 && !collects && !(await this.#serve())) return;
    // A pack that was removed has no run; its files are deleted in any.
    const ids = [...packs].filter((id) => this.#config.PACK_DIRS.some((dir) => existsSync(join(dir, id, 'pack.ts'))));
    const rewrite = collects && ids.length > 0 ? [] : ['--rewrite'];
    const { code, output } = await this.#run([...ids.flatMap((id) => ['--only', id]), ...rewrite]);
    if (this.#closed) return;
    if (code !== 0) return this.#print(`${names}: the nightly run failed; the last valid state is served.\n`);
    for (const id of rewrite.length > 0 ? [] : ids)
      if (!output.includes(`${id}: collect\n`))
        this.#print(
          `${id}: no reading was repeated. After a change of collect.ts or its data, increase \`revision\`.\n`,
        );
    if (await this.#serve()) this.#print(`${names}: reloaded after ${seconds(from)}\n`);
  }

  /** Runs the nightly run to its end. */
  async #run(args: readonly string[]): Promise<{ code: number | null; output: string }> {
    const child = this.#spawn('build/nightly.ts', args, this.#env);
    let output = '';
    child.stdout?.on('data', (piece: Buffer) => {
      output += piece.toString();
      this.#print(piece.toString());
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  }

  /**
   * Starts a service with the packs as they are now, and reloads the pages; the old service answers until then, and
   * stays when the new one does not start. It has printed why then.
   */
  async #serve(): Promise<boolean> {
    const env = {
      ...this.#env,
      HOST: LOOPBACK,
      PORT: '0',
      DRAIN_SECONDS: '0',
      LOG_LEVEL: this.#env['LOG_LEVEL'] || 'warn',
    };
    const child = this.#spawn('api/server.ts', [], env);
    const port = await new Promise<number | null>((resolve) => {
      child.once('exit', () => resolve(null));
      child.stdout?.on('data', (piece: Buffer) => {
        const [, found] = /listening on [^\s]*:(\d+)/.exec(piece.toString()) ?? [];
        if (found === undefined) this.#print(piece.toString());
        else resolve(Number(found));
      });
    });
    if (port === null) {
      if (!this.#closed) this.#print('The service did not start; the last valid state is served.\n');
      return false;
    }
    child.once('exit', () => {
      if (this.#service === child && !this.#closed)
        this.#print('The service ended unexpectedly. It starts again after the next change.\n');
    });
    const old = this.#service;
    this.#service = child;
    this.#proxy.forwardTo(port);
    this.#proxy.reload();
    old?.kill('SIGTERM');
    return true;
  }

  #spawn(program: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
    const command = [...LOADER_OPTIONS, modulePath(program), ...args];
    const child = spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stderr.on('data', (piece: Buffer) => this.#print(piece.toString()));
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }

  async #printAddresses(): Promise<void> {
    const { BASE_URL: base, HOST, PORT, PACK_DIRS } = this.#config;
    const response = await fetch(`http://${HOST}:${PORT}/v1/datasets`);
    const { datasets } = (await response.json()) as { datasets: { id: string; title: string }[] };
    for (const { id, title } of datasets)
      this.#print(
        `${title}: ${base}/datasets/${id}/, guide ${base}/v1/${id}/llms.txt, samples ${base}/v1/${id}/samples\n`,
      );
    this.#print(`Serving ${base}/. Pages reload when a file in ${PACK_DIRS.join(', ')} or site/ changes.\n`);
  }
}
