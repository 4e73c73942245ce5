// The folder of static files that the service of `npm run dev` serves: links to those files of DIST_DIR that the
// service cannot generate. Record pages, guides and samples are left out, so that it renders them with the pack
// that it loaded.
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { BUILD_NOTES } from '../static/output.ts';
import { SITE_KEY } from '../static/pages-site.ts';
import { parseManifest } from '../static/publish-manifest.ts';

/** Folders of a development server, below DIST_DIR and never published. */
export interface DevFolders {
  dist: string;
  /** The folder of the others. */
  root: string;
  /** DIST_DIR of the service. */
  view: string;
  /** Pages for people that are newer than those in DIST_DIR; absent after a nightly run. */
  site: string;
}

export function devFolders(dist: string): DevFolders {
  const root = join(dist, BUILD_NOTES, 'dev');
  return { dist, root, view: join(root, 'view'), site: join(root, 'site') };
}

/** Files that the service generates when they are missing. */
const GENERATED = /^(v1\/(?![^/]+\/llms-full\/)|datasets\/[^/]+\/(?!index\.html$))/;

/**
 * Brings the view to the state of DIST_DIR and of newer pages. Returns the number of files that changed. Each
 * file is replaced at once, so the service may run.
 */
export function updateView({ dist, view, site }: DevFolders): number {
  const files = new Map<string, string>();
  const newer = existsSync(site);
  for (const [path, { key }] of listed(dist))
    if (!GENERATED.test(path) && !(newer && key.startsWith(SITE_KEY))) files.set(path, join(dist, path));
  for (const path of listed(site).keys()) files.set(path, join(site, path));
  const published = join(dist, BUILD_NOTES, 'published');
  if (existsSync(published)) files.set(`${BUILD_NOTES}/published`, published);
  let changed = 0;
  for (const [path, from] of files) if (existsSync(from) && linkFile(from, join(view, path))) changed += 1;
  for (const path of filesBelow(view)) {
    if (files.has(path)) continue;
    rmSync(join(view, path));
    changed += 1;
  }
  return changed;
}

/** The files of a folder that the build wrote. */
function listed(folder: string) {
  const list = join(folder, BUILD_NOTES, 'manifest.tsv');
  return parseManifest(existsSync(list) ? readFileSync(list, 'utf8') : '');
}

/** Whether the file was another one before. */
function linkFile(from: string, to: string): boolean {
  const source = statSync(from);
  const before = statSync(to, { throwIfNoEntry: false });
  if (before?.size === source.size && before.mtimeMs === source.mtimeMs) return false;
  mkdirSync(dirname(to), { recursive: true });
  const temporary = `${to}.new`;
  rmSync(temporary, { force: true });
  try {
    linkSync(from, temporary);
  } catch {
    // A file system without hard links, or a file of another user.
    copyFileSync(from, temporary);
    utimesSync(temporary, source.atime, source.mtime);
  }
  renameSync(temporary, to);
  return true;
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => !entry.isDirectory());
  return entries.map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll(sep, '/'));
}
