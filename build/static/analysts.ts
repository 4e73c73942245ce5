// Files for analysts below `files/{ds}/`: public values as Parquet and as a database, a data dictionary,
// Croissant (docs/analysts.md).
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  fileList,
  fileListHtml,
  fileListJson,
  fileListsHtml,
  fileListsJson,
  LIST_FILES,
} from '../../api/pages/file-list.ts';
import { dictionaryJson, dictionaryMarkdown } from '../../api/render/dictionary.ts';
import { RELEASE_FILES } from '../../data/model/layout.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Release } from '../../data/releases/release.ts';
import { type OverlayDifferences, writePublicFiles } from '../../data/write/analysts-files.ts';
import { croissant } from './croissant.ts';
import type { Output } from './output.ts';

export interface AnalystOptions {
  release: Release;
  base: string;
  /** A folder for temporary files. */
  scratch: string;
  /** Fingerprint of the inputs: files with the same key are kept. */
  key: string;
}

/** The code that writes the files, which the key of the answers does not cover. */
const WRITERS = ['./analysts.ts', '../../data/write/analysts.ts', '../../data/write/analysts-files.ts'];
const code = () => WRITERS.map((path) => readFileSync(new URL(path, import.meta.url), 'utf8')).join();

/** Writes the files of a release, unless the output has them with the same key. */
export async function writeAnalystFiles(
  { release, base, scratch, key: made }: AnalystOptions,
  output: Output,
): Promise<void> {
  const key = `${made}.${hash('sha256', code(), 'hex').slice(0, 16)}`;
  if (output.keepAll(key)) return;
  const { pack, manifest, folder } = release;
  // A release of an earlier version lacks the file; the next night adds it.
  if (!manifest.files[RELEASE_FILES.public]) return;
  const at = (name: string) => `files/${pack.id}/${name}`;
  const telling = { release: manifest.release, created_at: manifest.created_at };
  const files = await writePublicFiles(pack, folder, telling, await differing(release), scratch);
  const parquet = output.take(at('public.parquet'), files.parquet, key);
  output.take(at('public.duckdb'), files.database, key);
  output.write(at('dictionary.json'), dictionaryJson(pack, manifest, base), key);
  output.write(at('dictionary.md'), dictionaryMarkdown(pack, manifest, base), key);
  output.write(at('croissant.jsonld'), croissant(pack, manifest, base, parquet), key);
  // Tables as CSV have no place for it: a copy of the folder has it beside them.
  if (pack.notice !== undefined) output.write(at('NOTICE.txt'), `${pack.notice}\n`, key);
}

/** Writes the lists `files/{ds}/` and `files/` of the files in the output. */
export function writeFileLists(releases: readonly Release[], base: string, output: Output): void {
  const names: readonly string[] = Object.values(LIST_FILES);
  const lists = releases.map(({ pack, manifest, overlay }) => {
    const folder = `files/${pack.id}/`;
    const files = [...output.files].flatMap(([path, { bytes, sha256 }]) => {
      const name = path.slice(folder.length);
      return path.startsWith(folder) && !names.includes(name) ? [{ name, bytes, sha256 }] : [];
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

/** The records that the overlay removes from the files of the release, or replaces. */
async function differing({ base, engine, touched }: Release): Promise<OverlayDifferences> {
  if (!touched || !base) return { without: [], instead: [] };
  const parsed = async (from: Release['engine'], ordinals: readonly number[]) =>
    ordinals.length === 0 ? [] : (await from.bodies([...ordinals])).map(({ body }) => JSON.parse(body) as StoredRecord);
  const gone = await parsed(base.engine, touched.gone);
  return { without: gone.map(({ id }) => id), instead: await parsed(engine, touched.changed) };
}
