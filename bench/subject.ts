// The subject of the bench: a release in a data folder, and the attributes of its questions.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ensureIndex } from '../data/index/build.ts';
import { isContainer } from '../data/index/container.ts';
import { INDEX_FILE, INDEX_FOLDER, paths as layout, type Manifest } from '../data/model/layout.ts';
import { loadPack } from '../packs/define/load.ts';

/** A dataset, its release folder, and the folders of packs for a service over it. */
export interface Subject {
  dataDir: string;
  dataset: string;
  folder: string;
  manifest: Manifest;
  packDirs: string;
  shape: SubjectShape;
}

/** Attributes of the questions. Peers store texts narrowly; the first groups, the second counts within it. */
export interface SubjectShape {
  group: string;
  area: string;
  texts: string[];
  number: string;
  /** A lower bound of `number` that about half of the records exceed. */
  least: number;
  geo: string;
}

const PLACES: SubjectShape = {
  group: 'country',
  area: 'admin1',
  texts: ['country', 'admin1', 'feature', 'timezone', 'status'],
  number: 'population',
  least: 3000,
  geo: 'location',
};

/** Datasets with the required attributes: a group, an area, a number and a position. */
const SHAPES: Record<string, SubjectShape> = {
  places: PLACES,
  atlas: PLACES,
  airports: {
    group: 'country',
    area: 'type',
    texts: ['country', 'type', 'timezone'],
    number: 'elevation',
    least: 500,
    geo: 'location',
  },
};

/**
 * The same releases with an index of this version: the folder itself when they have one, else a temporary one
 * that links to the other files. Without an index DuckDB would be measured.
 */
export async function indexed(dataDir: string): Promise<string> {
  const releases = join(dataDir, 'releases');
  const datasets = existsSync(releases) ? readdirSync(releases) : [];
  const current = datasets.flatMap((dataset) => {
    if (!existsSync(layout.current(dataDir, dataset))) return [];
    const release = readFileSync(layout.current(dataDir, dataset), 'utf8').trim();
    return { dataset, release, folder: layout.release(dataDir, dataset, release) };
  });
  const columns = (folder: string) => join(folder, INDEX_FOLDER, INDEX_FILE);
  if (current.every(({ folder }) => existsSync(columns(folder)) && isContainer(columns(folder)))) return dataDir;
  const own = join(cacheFolder(), 'indexed');
  for (const { dataset, release, folder } of current) {
    const copy = layout.release(own, dataset, release);
    mkdirSync(copy, { recursive: true });
    writeFileSync(layout.current(own, dataset), release);
    for (const file of readdirSync(folder))
      if (file !== INDEX_FOLDER && !existsSync(join(copy, file))) symlinkSync(join(folder, file), join(copy, file));
    if (existsSync(resolve('packs', dataset))) await ensureIndex(copy, await loadPack(resolve('packs', dataset)));
  }
  return own;
}

/** Reads the current release of a dataset; null where there is none. */
export function subjectAt(dataDir: string, dataset: string, packDirs = resolve('packs')): Subject | null {
  const current = layout.current(dataDir, dataset);
  const shape = SHAPES[dataset];
  if (shape === undefined || !existsSync(current)) return null;
  const folder = layout.release(dataDir, dataset, readFileSync(current, 'utf8').trim());
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  return { dataDir, dataset, folder, manifest, packDirs, shape };
}

/** The largest release in a data folder that the questions fit; null when there is none. */
export function largest(dataDir: string): Subject | null {
  const found = Object.keys(SHAPES).flatMap((dataset) => subjectAt(dataDir, dataset) ?? []);
  return found.sort((a, b) => b.manifest.records - a.manifest.records)[0] ?? null;
}

/**
 * A temporary data folder with the same releases, so that a service over it has separate keys and ledger.
 * `datasets`: only these.
 */
export function borrowed(dataDir: string, scratch: string, datasets?: readonly string[]): string {
  const own = mkdtempSync(join(scratch, 'data-'));
  mkdirSync(join(own, 'releases'));
  for (const name of datasets ?? readdirSync(join(dataDir, 'releases')))
    symlinkSync(join(dataDir, 'releases', name), join(own, 'releases', name));
  return own;
}

/** Folder for results of long preparations between runs. */
export function cacheFolder(): string {
  const folder = join(tmpdir(), 'dataset-register-bench');
  mkdirSync(folder, { recursive: true });
  return folder;
}
