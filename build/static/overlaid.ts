// Notes in DIST_DIR/.build with which a run after owners' edits changes only what was edited: the records whose texts in
// the output are from an overlay, and the profiles of releases without one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { knownProfiles, type Profile } from '../../api/operations/dataset/dataset_profile.ts';
import type { Release } from '../../data/releases/release.ts';
import type { Output } from './output.ts';

/** The files of one note: a dataset's texts, or its files for analysts. */
export type NotedFiles = 'texts' | 'files';

interface OverlaidNote {
  /** Key of the files. */
  key: string;
  /** Ordinals of the records; null: the overlay also removes records, so that lines and rows do not correspond to them. */
  ordinals: number[] | null;
}

const noteName = (files: NotedFiles, dataset: string) => `overlaid-${files}-${dataset}.json`;

/** Notes the records of files with this key that are from the overlay. */
export function noteOverlaid({ pack, touched }: Release, files: NotedFiles, key: string, output: Output): void {
  const ordinals = touched && touched.gone.length > 0 ? null : [...(touched?.changed ?? [])];
  const note: OverlaidNote = { key, ordinals };
  output.note(noteName(files, pack.id), JSON.stringify(note));
}

/**
 * Ordinals of the records that are from an overlay in the old file at `path`. Null when other records may differ
 * too: its key does not begin with `stem`, so it is of another release or of other code, or that overlay or this one
 * removes records.
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

interface ProfilesNote extends Pick<Profile, 'attributes'> {
  /** Fingerprint of the release and the code. */
  key: string;
}

const profilesNote = (dataset: string) => `profiles-${dataset}.json`;

/** Before the answers are written: takes the profiles of the release without its overlay from the note. */
export function takeProfiles({ pack, base }: Release, key: string, output: Output): void {
  const note = JSON.parse(output.readNote(profilesNote(pack.id)) ?? 'null') as ProfilesNote | null;
  if (base && note?.key === key) knownProfiles(base, note.attributes);
}

/** Afterwards: notes the profiles of a release without an overlay. */
export function noteProfiles(release: Release, key: string, output: Output): void {
  if (release.touched) return;
  const note: ProfilesNote = { key, attributes: writtenProfiles(release, output) };
  output.note(profilesNote(release.pack.id), JSON.stringify(note));
}

/** Takes the profiles of a release from its answers in the output, which this run wrote or kept. */
export function useWrittenProfiles(release: Release, output: Output): void {
  knownProfiles(release, writtenProfiles(release, output));
}

function writtenProfiles({ pack }: Release, output: Output): Profile['attributes'] {
  return (JSON.parse(readFileSync(join(output.root, 'v1', pack.id, 'profile'), 'utf8')) as Profile).attributes;
}
