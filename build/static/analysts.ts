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
import type { StoredRecord } from '../../data/model/record.ts';
import type { Release } from '../../data/releases/release.ts';
import { contextAt, settledHistory, settlePast } from '../../data/releases/settled.ts';
import { type OldFiles, writePublicFiles } from '../../data/write/analysts-files.ts';
import type { OverlayDifferences } from '../../data/write/history-file.ts';
import type { Pack } from '../../packs/define/model.ts';
import { croissant } from './croissant.ts';
import type { Output } from './output.ts';
import { noteOverlaid, overlaidBefore } from './overlaid.ts';

export interface AnalystOptions {
  release: Release;
  base: string;
  /** A folder for temporary files. */
  scratch: string;
  /** Fingerprint of the inputs: files with the same key are kept. */
  key: string;
  /** The GeoJSON file, whose hash the metadata contain, is in the output after this; absent: it is there. */
  pages?: Promise<void>;
  /** The same without the overlay. */
  stem: string;
}

/** The code that writes the files, which the key of the answers does not cover. */
const WRITERS = [
  './analysts.ts',
  ...['analysts.ts', 'analysts-files.ts', 'history-file.ts', 'replaced-rows.ts', 'sql-tables.ts'].map(
    (name) => `../../data/write/${name}`,
  ),
];
const code = () => WRITERS.map((path) => readFileSync(new URL(path, import.meta.url), 'utf8')).join();

/** Writes the files of a release, unless the output has them with the same key. */
export async function writeAnalystFiles(
  { release, base, scratch, pages, ...made }: AnalystOptions,
  output: Output,
): Promise<void> {
  const stem = `${made.stem}.${hash('sha256', code(), 'hex').slice(0, 16)}.`;
  const key = stem + made.key;
  if (output.keepAll(key)) return;
  const { pack, manifest, folder } = release;
  // A release of an earlier version lacks the file; the next night adds it.
  if (!manifest.files[RELEASE_FILES.public]) return;
  const at = (name: string) => `files/${pack.id}/${name}`;
  const telling = { release: manifest.release, created_at: manifest.created_at };
  const old = oldFiles(release, stem, output);
  const files = await writePublicFiles(pack, folder, telling, await differing(release), scratch, old);
  output.take(at('public.parquet'), files.parquet, key);
  output.take(at('public.duckdb'), files.database, key);
  output.take(at('history.parquet'), files.history, key);
  output.take(at('history.duckdb'), files.historyDatabase, key);
  output.take(at('provenance.duckdb'), files.provenanceDatabase, key);
  await pages;
  output.write(at('dictionary.json'), dictionaryJson(pack, manifest, base), key);
  output.write(at('dictionary.md'), dictionaryMarkdown(pack, manifest, base), key);
  const present = bulkFiles(pack).flatMap(([name, about]) => {
    const entry = output.files.get(at(name));
    return entry === undefined ? [] : [{ name, ...about, ...entry }];
  });
  output.write(at('croissant.jsonld'), croissant(pack, manifest, base, present), key);
  // CSV has no place for a notice: a copy of the folder contains it as a file.
  if (pack.notice !== undefined) output.write(at('NOTICE.txt'), `${pack.notice}\n`, key);
  noteOverlaid(release, 'files', key, output);
}

/**
 * Files of the output, if those of this release differ from them only in records that the overlay changes; else
 * null.
 */
function oldFiles(release: Release, stem: string, output: Output): OldFiles | null {
  const names = ['public.duckdb', 'history.parquet', 'history.duckdb', 'provenance.duckdb'];
  const paths = names.map((name) => `files/${release.pack.id}/${name}`);
  const before = paths.map((path) => overlaidBefore(release, 'files', { path, stem }, output));
  const changed = new Set(release.touched?.changed);
  if (!before.every((ordinals) => ordinals?.every((ord) => changed.has(ord)))) return null;
  const [database = '', history = '', historyDatabase = '', provenanceDatabase = ''] = paths.map((path) =>
    join(output.root, path),
  );
  return { database, history, historyDatabase, provenanceDatabase };
}

/** Writes the lists `files/{ds}/` and `files/` of the files in the output. DuckDB may spill to `scratch`. */
export async function writeFileLists(
  releases: readonly Release[],
  base: string,
  scratch: string,
  output: Output,
): Promise<void> {
  const names: readonly string[] = Object.values(LIST_FILES);
  const counts = await rowCounts(scratch, output);
  const lists = releases.map(({ pack, manifest, overlay }) => {
    const folder = `files/${pack.id}/`;
    const files = [...output.files].flatMap(([path, { bytes, sha256 }]) => {
      const name = path.slice(folder.length);
      if (!path.startsWith(folder) || names.includes(name)) return [];
      const rows = bulkFileDataset(path) === null ? {} : { rows: counts.get(path) ?? manifest.records };
      return [{ name, bytes, ...rows, sha256 }];
    });
    // An owner's edit changes the files of a release (`differing`).
    const edited = (overlay?.feed.at(-1)?.recorded_at ?? 0) / 1000;
    const last_modified = new Date(Math.max(edited, Date.parse(manifest.created_at))).toISOString();
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

/** The records that the overlay removes from the files of the release, or replaces. */
async function differing({ base, engine, pack, touched }: Release): Promise<OverlayDifferences> {
  if (!touched || !base) return { without: [], instead: [], history: [] };
  const parsed = async (from: Release['engine'], ordinals: readonly number[]) =>
    ordinals.length === 0 ? [] : (await from.bodies([...ordinals])).map(({ body }) => JSON.parse(body) as StoredRecord);
  const gone = await parsed(base.engine, touched.gone);
  return {
    without: gone.map(({ id }) => id),
    instead: await parsed(engine, touched.changed),
    history: await changedHistory(pack, engine, touched.changed),
  };
}

/** The history of records with the changes of the overlay. */
async function changedHistory(
  pack: Pack,
  engine: Release['engine'],
  ordinals: readonly number[],
): Promise<OverlayDifferences['history']> {
  if (ordinals.length === 0) return [];
  const { records, readings } = await engine.past([...ordinals]);
  const context = contextAt(pack, readings, Number.POSITIVE_INFINITY);
  return records.flatMap((record) =>
    settledHistory(settlePast(pack, record, context, Number.POSITIVE_INFINITY)).map((row) => ({
      id: record.id,
      ...row,
    })),
  );
}
