// The development server of a pack author: serves the packs, and brings into effect what changes in them.
import { existsSync, type FSWatcher, mkdirSync, readdirSync, rmSync, statSync, watch } from 'node:fs';
import { basename, join } from 'node:path';
import type { Config } from '../../config.ts';
import { currentRelease } from '../../data/model/manifest.ts';
import { lastRuns } from '../../data/releases/runs.ts';
import { Children, type Service } from './children.ts';
import { type DevProxy, openProxy } from './proxy.ts';
import type { SiteInput } from './site.ts';
import { type DevFolders, devFolders, updateView } from './view.ts';

export interface DevOptions {
  config: Config;
  /** The environment of the settings, for the children. */
  env: NodeJS.ProcessEnv;
  print: (text: string) => void;
}

const SITE = join(import.meta.dirname, '../../site');

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
  readonly #print: (line: string) => void;
  readonly #proxy: DevProxy;
  readonly #children: Children;
  readonly #folders: DevFolders;
  readonly #watcher: Watcher;
  /** Folders of packs that the last check refused. */
  readonly #broken = new Set<string>();
  #service: Service | null = null;
  /** Changes that wait. */
  #pending: Changes | null = null;
  #siteDue = false;
  #siteBuild: AbortController | null = null;
  /** One rebuild at a time. */
  #working = true;
  #closed = false;

  constructor({ config, env, print }: DevOptions, proxy: DevProxy) {
    const { DATA_DIR, DIST_DIR, PACK_DIRS, BASE_URL } = config;
    this.#config = config;
    this.#print = (line) => print(`${line}\n`);
    this.#proxy = proxy;
    this.#folders = devFolders(DIST_DIR);
    const settings = { DATA_DIR, DIST_DIR, PACK_DIRS: PACK_DIRS.join(), BASE_URL };
    this.#children = new Children({
      env: { ...env, ...settings },
      serviceEnv: { DIST_DIR: this.#folders.view, DRAIN_SECONDS: '0', LOG_LEVEL: env['LOG_LEVEL'] || 'warn' },
      print,
    });
    // Before the first build, so that no change is missed.
    this.#watcher = new Watcher(PACK_DIRS, SITE, (changes) => void this.#change(changes));
  }

  /** Builds what is missing and serves. Resolves when the first service listens, or failed to start. */
  async start(): Promise<void> {
    mkdirSync(this.#folders.root, { recursive: true });
    rmSync(this.#folders.site, { recursive: true, force: true });
    await this.#children.run(['build/nightly.ts', '--if-missing']);
    updateView(this.#folders);
    await this.#restart();
    if (this.#closed) return;
    if (this.#service === null) this.#print('The service did not start. It starts again after the next change.');
    else {
      this.#proxy.reload();
      await this.#printAddresses(this.#service);
    }
    this.#working = false;
    await this.#work();
  }

  /** Ends every child and stops listening. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#watcher.close();
    this.#proxy.close();
    await this.#children.close();
  }

  /** Adds changes to those that wait. They interrupt a build of the pages. */
  async #change({ texts, builds, site }: Changes): Promise<void> {
    const pending = this.#pending ?? { texts: new Set(), builds: new Set(), site: false };
    this.#pending = {
      texts: pending.texts.union(texts),
      builds: pending.builds.union(builds),
      site: pending.site || site,
    };
    this.#siteBuild?.abort();
    await this.#work();
  }

  /** Applies changes until none waits. */
  async #work(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    try {
      while (!this.#closed && (this.#pending !== null || this.#siteDue)) {
        const changes = this.#pending;
        this.#pending = null;
        await (changes === null ? this.#buildSite() : this.#apply(changes));
      }
    } finally {
      this.#working = false;
    }
  }

  async #apply(changes: Changes): Promise<void> {
    const from = performance.now();
    this.#siteDue ||= changes.site || changes.texts.size > 0;
    const { valid, builds, removed } = await this.#sort(changes);
    if (this.#broken.size > 0) this.#print(`Not valid: ${names(this.#broken)}. The last valid state is served.`);
    const serve = () => this.#serve(names(valid) || 'service', from);
    if (builds.length > 0) await this.#build(builds, serve);
    else if (valid.length > 0 || removed || this.#service === null) await serve();
  }

  /** Serves the packs as they are now, and reloads the pages. */
  async #serve(what: string, from: number): Promise<void> {
    if (this.#broken.size > 0) return;
    if (!(await this.#restart())) return this.#print('The service did not start; the last valid state is served.');
    this.#proxy.reload();
    this.#print(`${what}: reloaded after ${seconds(from)}`);
  }

  /** Checks the changed packs, and selects those that are built. A text of a pack without release is a build. */
  async #sort(changes: Changes) {
    const valid: string[] = [];
    const builds: string[] = [];
    let removed = false;
    for (const folder of new Set([...changes.texts, ...changes.builds])) {
      if (!existsSync(join(folder, 'pack.ts'))) {
        removed ||= this.#broken.delete(folder) || (await this.#released(folder));
        continue;
      }
      const { code, output } = await this.#children.check(folder);
      if (code !== 0) {
        this.#broken.add(folder);
        this.#print(output.trimEnd());
        continue;
      }
      this.#broken.delete(folder);
      valid.push(folder);
      if (changes.builds.has(folder) || !(await this.#released(folder))) builds.push(folder);
    }
    return { valid, builds, removed };
  }

  async #released(folder: string): Promise<boolean> {
    return (await currentRelease(this.#config.DATA_DIR, basename(folder)).catch(() => null)) !== null;
  }

  /**
   * Runs the nightly run for these packs alone. Calls `serve` when it has built the releases, before it renders
   * the static files, which takes longer.
   */
  async #build(folders: readonly string[], serve: () => Promise<void>): Promise<void> {
    const from = performance.now();
    const started = new Date().toISOString();
    const ids = folders.map((folder) => basename(folder));
    let served: Promise<boolean> | null = null;
    const serveBuilt = async () => {
      const built = await Promise.all(ids.map((id) => this.#isBuilt(id, started)));
      if (built.includes(false)) return false;
      await serve();
      return true;
    };
    const onOutput = (text: string) => {
      if (/: prerender$/m.test(text)) served ??= serveBuilt();
    };
    const args = ids.flatMap((id) => ['--only', id]);
    const { code, output } = await this.#children.run(['build/nightly.ts', ...args], { onOutput });
    // Its pages are newer than those of this server.
    rmSync(this.#folders.site, { recursive: true, force: true });
    this.#siteDue = false;
    const changed = updateView(this.#folders);
    if (!(await (served ?? serveBuilt()))) return this.#print('The build failed; the last valid state is served.');
    for (const id of ids.filter((candidate) => !output.includes(`${candidate}: collect\n`)))
      this.#print(`${id}: no reading was repeated. After a change of collect.ts or its data, increase \`revision\`.`);
    if (code !== 0 || changed === 0) return;
    this.#proxy.reload();
    this.#print(`static files: reloaded after ${seconds(from)}`);
  }

  /** Whether a nightly run since this time left the dataset with a release of its current sources. */
  async #isBuilt(id: string, since: string): Promise<boolean> {
    const [run] = await lastRuns(this.#config.DATA_DIR, id, 1);
    return run !== undefined && run.at >= since.slice(0, 19) && ['released', 'unchanged'].includes(run.outcome);
  }

  /** Starts a service with the packs as they are now; the old one serves until then, and stays on failure. */
  async #restart(): Promise<boolean> {
    const service = await this.#children.startService(() => {
      if (this.#service !== service || this.#closed) return;
      this.#service = null;
      this.#print('The service ended unexpectedly. It starts again after the next change.');
    });
    if (service === null) return false;
    this.#proxy.forwardTo(service.port);
    this.#service?.stop();
    this.#service = service;
    return true;
  }

  /** Renders the pages for people, unless their sources and data are unchanged. */
  async #buildSite(): Promise<void> {
    this.#siteDue = false;
    if (this.#service === null) return;
    const from = performance.now();
    const build = new AbortController();
    this.#siteBuild = build;
    const { address: service } = this.#service;
    const input: SiteInput = { config: this.#config, folders: this.#folders, service };
    const { code } = await this.#children.run(['build/dev/site.ts'], {
      input: JSON.stringify(input),
      signal: build.signal,
    });
    this.#siteBuild = null;
    if (build.signal.aborted) this.#siteDue = true;
    if (code !== 0 || updateView(this.#folders) === 0) return;
    this.#proxy.reload();
    this.#print(`site: reloaded after ${seconds(from)}`);
  }

  async #printAddresses({ address }: Service): Promise<void> {
    const base = this.#config.BASE_URL;
    const response = await fetch(`${address}/v1/datasets`);
    const { datasets } = (await response.json()) as { datasets: { id: string; title: string }[] };
    for (const { id, title } of datasets)
      this.#print(
        `${title}: ${base}/datasets/${id}/, guide ${base}/v1/${id}/llms.txt, samples ${base}/v1/${id}/samples`,
      );
    this.#print(`Serving ${base}/. Pages reload when a file in ${this.#config.PACK_DIRS.join(', ')} or site/ changes.`);
  }
}

const names = (folders: Iterable<string>): string => [...folders].map((folder) => basename(folder)).join(', ');

/** Changes that arrived together. */
interface Changes {
  /** Folders of packs whose texts changed (template, guide, samples): the service loads them again. */
  texts: Set<string>;
  /** Folders of packs with other changes: the dataset is built again. */
  builds: Set<string>;
  /** Whether a source of the pages for people changed. */
  site: boolean;
}

/** Milliseconds without a further change, since an editor and a checkout write several files. */
const QUIET = 100;

const TEXTS = ['record.md', 'guide.md', 'samples.json'];
/** Files of editors, and tests. */
const IGNORED = /(^|\/)(\.[^/]*|[^/]*~|4913|[^/]*\.(swp|tmp)|node_modules\/.*)$|\.test\.ts$|(^|\/)fixtures-test\//;

/** What a change below a folder of packs affects; null: nothing. `path` is relative, with `/`. */
function packChange(path: string): { dataset: string; kind: 'texts' | 'builds' } | null {
  const [dataset = '', ...rest] = path.split('/');
  const file = rest.join('/');
  return { dataset, kind: TEXTS.includes(file) ? 'texts' : 'builds' };
}

/** Collects changes below the folders of packs and of the pages, sorted by the work that they need. */
class Watcher {
  readonly #watchers: FSWatcher[] = [];
  /** Version of each watched file and folder, by path. */
  readonly #versions = new Map<string, string>();
  /** Paths of new events, by the folder that is watched. */
  readonly #events = new Map<string, Set<string>>();
  #timer: NodeJS.Timeout | null = null;
  readonly #site: string;
  readonly #onChange: (changes: Changes) => void;

  /** `onChange` receives changes when no further one arrived for a moment. */
  constructor(packDirs: readonly string[], site: string, onChange: (changes: Changes) => void) {
    this.#site = site;
    this.#onChange = onChange;
    for (const dir of [...packDirs, site]) {
      for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) this.#changed(join(dir, name));
      this.#events.set(dir, new Set());
      this.#watchers.push(watch(dir, { recursive: true }, (_event, name) => this.#note(dir, name)));
    }
  }

  /** Reports what the events changed, if anything. */
  #report(): void {
    const [texts, builds] = [new Set<string>(), new Set<string>()];
    let site = false;
    for (const [dir, paths] of this.#events) {
      for (const path of [...paths].filter(
        (candidate) => !IGNORED.test(candidate) && this.#changed(join(dir, candidate)),
      )) {
        const change = packChange(path);
        if (dir === this.#site) site = true;
        else if (change !== null) (change.kind === 'texts' ? texts : builds).add(join(dir, change.dataset));
      }
      paths.clear();
    }
    if (texts.size > 0 || builds.size > 0 || site) this.#onChange({ texts, builds, site });
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }

  #note(dir: string, name: string | null): void {
    if (name === null) return;
    this.#events.get(dir)?.add(name.replaceAll('\\', '/'));
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#report(), QUIET);
  }

  /** Whether a path has another version than at the last call. A file that came and went has not. */
  #changed(path: string): boolean {
    const stats = statSync(path, { throwIfNoEntry: false });
    const version = stats?.isDirectory() ? 'folder' : stats && `${stats.mtimeMs} ${stats.size}`;
    if (version === this.#versions.get(path)) return false;
    if (version === undefined) this.#versions.delete(path);
    else this.#versions.set(path, version);
    return true;
  }
}
