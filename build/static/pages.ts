// Writes the Markdown page of each changed record of a release, and all public values as full text and as
// GeoJSON.
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { aboutDataset } from '../../api/operations/common/about.ts';
import { dataset_full_text, fullTextHead } from '../../api/operations/dataset/dataset_full_text.ts';
import { publicPoint } from '../../api/render/data-files.ts';
import { Duck, quotedText } from '../../data/duckdb/duck.ts';
import { codeFingerprint } from '../../data/model/code.ts';
import { RELEASE_FILES } from '../../data/model/layout.ts';
import type { Release } from '../../data/releases/release.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Output } from './output.ts';
import { pageName, type RenderTask, renderRecords } from './pages-render.ts';
import { startThreads, usefulThreads } from './pages-threads.ts';
import { type TextParts, writeParts } from './parts.ts';
import { lineStarts } from './record-lines.ts';

/** Default number of records rendered together: a few megabytes. */
const PIECE = 2_048;
/** From this number of records on, threads are faster. */
const LARGE = 20_000;

/** Folder of the pages of a dataset below DIST_DIR. */
const pagesFolder = (dataset: string): string => `datasets/${dataset}`;

const geojsonPath = (dataset: string): string => `files/${dataset}/public.geojson`;

/** Path of a record's page below DIST_DIR. */
function pagePath(dataset: string, slug: string): string {
  return `${pagesFolder(dataset)}/${pageName(slug)}`;
}

/**
 * Fingerprint of a page's inputs besides its record: the public part of the pack, the base address and the
 * code. 16 hex digits.
 */
function pageFingerprint(pack: Pack, base: string): string {
  const { id, title, license, attribution, notice, template, prices } = pack;
  const attributes = pack.attributes.map((attribute) => [attribute.name, attribute.unit, attribute.public]);
  const about = [id, title, license, attribution, notice, template, prices];
  const made = JSON.stringify([...about, attributes, base, codeFingerprint()]);
  return hash('sha256', made, 'hex').slice(0, 16);
}

export interface PagesOptions {
  release: Release;
  base: string;
  /** A folder to which DuckDB may spill. */
  scratch: string;
  /** Fingerprint of the inputs of the full text and the GeoJSON file. */
  key: string;
  /** Called with the number of finished records. */
  progress: (done: number) => void;
  /** False: only the full text and the GeoJSON file are written; pages of an earlier run are deleted. */
  pages?: boolean;
  /** Number of threads that render; none for small datasets. */
  threads?: number;
  /** Records rendered together. */
  piece?: number;
}

/**
 * Writes the pages of a release, its full text and its GeoJSON file. Reads only records whose version changed,
 * unless the two files are due.
 */
export async function writePages(options: PagesOptions, output: Output): Promise<void> {
  const { release, base, scratch, key, progress, piece = PIECE } = options;
  const { pack, manifest, folder } = release;
  const due = !output.keepAll(key);
  const { pages: all = true } = options;
  if (!due && !all) return;
  const fingerprint = pageFingerprint(pack, base);
  const records = release.base?.manifest.records ?? manifest.records;
  // The run that wrote the full text of the same release also wrote its pages.
  const count = records - (release.touched?.gone.length ?? 0);
  if (!due && output.keepFolder(pagesFolder(pack.id), `.${fingerprint}`, count)) return;
  const full = due ? fullText(release, base, output, key) : null;
  const map = due ? geojsonFile(release, base, output, key) : null;
  const duck = await Duck.open(scratch);
  const changed = all ? await changedPages(release, fingerprint, duck, output) : new Map<number, string>();
  const pages = changed.size > 0 ? output.freshFolder(pagesFolder(pack.id)) : null;
  const planned = tasksOf(records, changed, due, piece);
  const starts = planned.length > 0 ? lineStarts(join(folder, RELEASE_FILES.jsonl), records) : new Float64Array();
  const tasks = planned.map((task): RenderTask => {
    return {
      ...task,
      starts: starts.slice(task.from, task.to + 1),
      folder: pages,
      removed: release.touched?.gone.filter((ord) => ord >= task.from && ord < task.to) ?? [],
    };
  });
  const { threads = tasks.length * piece < LARGE ? 0 : usefulThreads() } = options;
  const pool = threads === 0 ? null : startThreads({ pack: pack.folder, release: folder, base }, threads);
  const render = pool?.render ?? (async (task: RenderTask) => renderRecords(pack, folder, base, task));
  try {
    // Some tasks run ahead while earlier results are written in order.
    const ahead = pool === null ? 1 : 2 * pool.count;
    const begun = tasks.slice(0, ahead).map(render);
    for (const [i, task] of tasks.entries()) {
      const rendered = await begun[i]!;
      const following = tasks[i + ahead];
      if (following) begun.push(render(following));
      delete begun[i];
      for (const piece of rendered.text) full?.write(piece);
      for (const feature of rendered.features) map?.write(feature);
      for (const { ord, slug, page, bytes, sha256 } of rendered.pages) {
        const [path, key] = [pagePath(pack.id, slug), changed.get(ord)!];
        if (page === null) output.add(path, { bytes, sha256, key });
        else output.write(path, page, key);
      }
      progress(task.to);
    }
    full?.end();
    map?.end();
  } finally {
    await pool?.close();
    duck.close();
  }
}

/** Ordinals of the records whose page is missing, with the page's key; the other pages are kept. */
async function changedPages(
  { pack, folder, touched }: Release,
  fingerprint: string,
  duck: Duck,
  output: Output,
): Promise<Map<number, string>> {
  const file = (name: string) => `read_parquet(${quotedText(join(folder, name))})`;
  const changed = new Map<number, string>();
  const without = new Set(touched?.gone);
  const versions = `SELECT ord, slug, version FROM ${file(RELEASE_FILES.engine)}
    JOIN (SELECT ord, version FROM ${file(RELEASE_FILES.bodies)}) USING (ord)`;
  for await (const rows of duck.batches(versions)) {
    for (const [ord, slug, version] of rows as [number, string, string][]) {
      if (without.has(ord)) continue;
      const key = `${version}.${fingerprint}`;
      if (!output.keep(pagePath(pack.id, slug), key)) changed.set(ord, key);
    }
  }
  return changed;
}

/** The tasks in order of rank, without empty ones. */
function tasksOf(
  records: number,
  changed: ReadonlyMap<number, string>,
  text: boolean,
  piece: number,
): Omit<RenderTask, 'removed' | 'folder' | 'starts'>[] {
  const due = [...changed.keys()].sort((a, b) => a - b);
  const tasks: Omit<RenderTask, 'removed' | 'folder' | 'starts'>[] = [];
  let at = 0;
  for (let from = 0; from < records; from += piece) {
    const to = Math.min(from + piece, records);
    const pages: number[] = [];
    while (at < due.length && due[at]! < to) pages.push(due[at++]!);
    if (text || pages.length > 0) tasks.push({ from, to, pages, text });
  }
  return tasks;
}

/** Opens the file of the full text that the operation of this name would stream. */
function fullText(release: Release, base: string, output: Output, key: string): TextParts | null {
  const [declared] = dataset_full_text.rest.prerender?.(release.pack) ?? [];
  if (!declared) return null;
  const parts = writeParts(declared.file, output, key);
  parts.write(fullTextHead(release, base));
  return parts;
}

/**
 * Opens the GeoJSON file: a FeatureCollection as search answers it, with release and licence notice, one
 * Feature a line. null: the dataset has no public point.
 */
function geojsonFile({ pack, manifest }: Release, base: string, output: Output, key: string): TextParts | null {
  if (publicPoint(pack) === undefined) return null;
  const { attribution, license } = aboutDataset(pack, base);
  const head = {
    type: 'FeatureCollection',
    attribution,
    license,
    ...(pack.notice === undefined ? {} : { notice: pack.notice }),
    release: manifest.release,
    next_cursor: null,
    total: manifest.records,
  };
  const { write, end } = output.stream(geojsonPath(pack.id), key);
  write(`${JSON.stringify(head).slice(0, -1)},"features":[`);
  let separator = '\n';
  return {
    write(feature) {
      write(separator + feature);
      separator = ',\n';
    },
    end() {
      write('\n]}\n');
      end();
    },
  };
}
