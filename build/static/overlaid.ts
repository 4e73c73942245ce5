// Notes in DIST_DIR/.build about the records whose texts in the output are from an overlay, so that the next run
// changes only what was edited since.
import type { Release } from '../../data/releases/release.ts';
import type { Output } from './output.ts';

/** The files of one note: a dataset's texts, or its files for analysts. */
export type NotedFiles = 'texts' | 'files';

interface OverlaidNote {
  /** Key of the files. */
  key: string;
  /** Ordinals of the records. */
  ordinals: number[];
}

const noteName = (files: NotedFiles, dataset: string) => `overlaid-${files}-${dataset}.json`;

/** Notes the records of files with this key that are from the overlay. */
export function noteOverlaid({ pack, touched }: Release, files: NotedFiles, key: string, output: Output): void {
  const note: OverlaidNote = { key, ordinals: [...(touched?.changed ?? [])] };
  output.note(noteName(files, pack.id), JSON.stringify(note));
}

/**
 * Ordinals of the records that are from an overlay in the old file at `path`. Null when other records may differ
 * too: its key does not begin with `stem`, so it is of another release or of other code, or the overlay removes
 * records.
 */
export function overlaidBefore(
  { pack, manifest, base, touched }: Release,
  files: NotedFiles,
  { path, stem }: { path: string; stem: string },
  output: Output,
): number[] | null {
  const key = output.keyOf(path);
  const text = key?.startsWith(stem) ? output.readNote(noteName(files, pack.id)) : null;
  // Without a record, lines and rows do not correspond to ordinals.
  if (text === null || (touched?.gone.length ?? 0) > 0) return null;
  if ((base?.manifest.records ?? manifest.records) !== manifest.records) return null;
  const note = JSON.parse(text) as OverlaidNote;
  return note.key === key ? note.ordinals : null;
}
