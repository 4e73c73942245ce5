// Files for analysts below `files/{ds}/`: public values as Parquet and as a database, their history, a data
// dictionary, Croissant (docs/analysts.md). pages.ts writes the GeoJSON file.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  fileList,
  fileListHtml,
  fileListJson,
  fileListsHtml,
  fileListsJson,
  LIST_FILES,
} from '../../api/pages/file-list.ts';
import { bulkFileDataset, bulkFiles } from '../../api/render/data-files.ts';
import { dictionaryJson, dictionaryMarkdown } from '../../api/render/dictionary.ts';
import { Duck, quotedText } from '../../data/duckdb/duck.ts';
import { RELEASE_FILES } from '../../data/model/layout.ts';
import type { Release } from '../../data/releases/release.ts';
import { PUBLIC_FILES, type PublicSource, writePublicFiles } from '../../data/write/analysts-files.ts';
import { croissant } from './croissant.ts';
import type { Output } from './output.ts';

export interface AnalystOptions {
  release: Release;
  base: string;
  /** A folder for temporary files. */
  scratch: string;
  /** Fingerprint of the inputs: files with the same key are kept. */
  key: string;
  /** The GeoJSON file, whose hash the metadata contain, is in the output after this; absent: it is there. */
  pages?: Promise<void>;
}

/** The code that writes the files, which the key of the answers does not cover. */
const WRITERS = [
  './analysts.ts',
  ...['analysts.ts', 'analysts-files.ts', 'sql-tables.ts'].map((name) => `../../data/write/${name}`),
];
const code = () => WRITERS.map((path) => readFileSync(new URL(path, import.meta.url), 'utf8')).join();

/** Writes the files of a release, unless the output has them with the same key. */
export async function writeAnalystFiles(
  { release, base, scratch, pages, ...made }: AnalystOptions,
  output: Output,
): Promise<void> {
  const key = `${made.key}.${hash('sha256', code(), 'hex').slice(0, 16)}`;
  if (output.keepAll(key)) return;
  const { pack, manifest } = release;
  // A release of an earlier version lacks the file; the next night adds it.
  if (!manifest.files[RELEASE_FILES.public]) return;
  const at = (name: string) => `files/${pack.id}/${name}`;
  const files = await writePublicFiles(publicSource(release), scratch);
  for (const name of PUBLIC_FILES) output.take(at(name), files[name], key);
  await pages;
  output.write(at('dictionary.json'), dictionaryJson(pack, manifest, base), key);
  output.write(at('dictionary.md'), dictionaryMarkdown(pack, manifest, base), key);
  writeCroissant(release, base, output, key);
  // CSV has no place for a notice: a copy of the folder contains it as a file.
  if (pack.notice !== undefined) output.write(at('NOTICE.txt'), `${pack.notice}\n`, key);
}

/** A test of whether a file below DIST_DIR has values of all records of one of these datasets. */
export function isOfAllRecords(datasets: readonly string[]): (path: string) => boolean {
  const starts = datasets.flatMap((id) => [`files/${id}/`, `v1/${id}/llms-full`]);
  return (path) => starts.some((start) => path.startsWith(start));
}

/** Writes the description of the bulk files in the output, which contains their hashes. */
export function writeCroissant(
  { pack, manifest }: Pick<Release, 'pack' | 'manifest'>,
  base: string,
  output: Output,
  key: string,
): void {
  const present = bulkFiles(pack).flatMap(([name, about]) => {
    const entry = output.files.get(`files/${pack.id}/${name}`);
    return entry === undefined ? [] : [{ name, ...about, ...entry }];
  });
  output.write(`files/${pack.id}/croissant.jsonld`, croissant(pack, manifest, base, present), key);
}

/** What the public files of a release are made from: the release without the records that its overlay removes. */
export function publicSource({ pack, manifest, folder, overlay }: Omit<Release, 'engine'>): PublicSource {
  const { release, created_at } = manifest;
  return { pack, folder, info: { release, created_at }, removed: [...(overlay?.removed.keys() ?? [])].sort() };
}

/** Writes the lists `files/{ds}/` and `files/` of the files in the output. DuckDB may spill to `scratch`. */
export async function writeFileLists(
  releases: readonly Pick<Release, 'pack' | 'manifest'>[],
  base: string,
  scratch: string,
  output: Output,
): Promise<void> {
  const names: readonly string[] = Object.values(LIST_FILES);
  const counts = await rowCounts(scratch, output);
  const lists = releases.map(({ pack, manifest }) => {
    const folder = `files/${pack.id}/`;
    const files = [...output.files].flatMap(([path, { bytes, sha256 }]) => {
      const name = path.slice(folder.length);
      if (!path.startsWith(folder) || names.includes(name)) return [];
      const rows = bulkFileDataset(path) === null ? {} : { rows: counts.get(path) ?? manifest.records };
      return [{ name, bytes, ...rows, sha256 }];
    });
    const last_modified = new Date(manifest.created_at).toISOString();
    return fileList(pack, { release: manifest.release, last_modified, base_url: base }, files);
  });
  const listed = lists.filter(({ files }) => files.length > 0);
  for (const list of listed) {
    output.write(`files/${list.dataset}/${LIST_FILES.json}`, fileListJson(list));
    output.write(`files/${list.dataset}/${LIST_FILES.html}`, fileListHtml(list, base));
  }
  output.write(`files/${LIST_FILES.json}`, fileListsJson(listed, base));
  output.write(`files/${LIST_FILES.html}`, fileListsHtml(listed, base));
}

/** The note of the numbers of rows by the SHA-256 of their files. */
const ROWS_NOTE = 'rows.json';

/**
 * Numbers of rows of the files in the output that may have another number than the release has records, by
 * path. Files that the last run counted are not opened.
 */
async function rowCounts(scratch: string, output: Output): Promise<Map<string, number>> {
  const known = JSON.parse(output.readNote(ROWS_NOTE) ?? '{}') as Record<string, number>;
  const files = [...output.files].filter(
    ([path]) => bulkFileDataset(path) !== null && (path.endsWith('.parquet') || SQL_FILES.has(basename(path))),
  );
  const noted: Record<string, number> = {};
  const counts = new Map<string, number>();
  let duck: Duck | null = null;
  try {
    for (const [path, { sha256 }] of files) {
      if (known[sha256] === undefined) duck ??= await Duck.open(scratch);
      const rows = known[sha256] ?? (await countRows(duck!, join(output.root, path)));
      noted[sha256] = rows;
      counts.set(path, rows);
    }
  } finally {
    duck?.close();
  }
  // In order of the hashes: files come in the order in which they were made.
  const sorted = Object.entries(noted).sort(([one], [other]) => (one < other ? -1 : 1));
  output.note(ROWS_NOTE, JSON.stringify(Object.fromEntries(sorted)));
  return counts;
}

async function countRows(duck: Duck, path: string): Promise<number> {
  const file = quotedText(path);
  if (path.endsWith('.parquet')) return duck.count(`SELECT num_rows FROM parquet_file_metadata(${file})`);
  await duck.run(`ATTACH ${file} AS counted (READ_ONLY)`);
  const rows = await duck.count('SELECT count(*) FROM counted.rows');
  await duck.run('DETACH counted');
  return rows;
}

/** Databases with the table `rows`. */
const SQL_FILES = new Set(['history.duckdb', 'provenance.duckdb']);
