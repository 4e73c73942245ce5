// Watches the packs and the pages for people, and sorts changed files by the work that they need.
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Changes that arrived together. */
export interface Changes {
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

/** Collects changes below the folders of packs and of the pages. */
export class Watcher {
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
      for (const path of [...paths].filter((each) => !IGNORED.test(each) && this.#changed(join(dir, each)))) {
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
