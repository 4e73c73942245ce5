// Pages, full text and GeoJSON file after edits of the same release: edited records are rendered, and the rest of
// both files is copied from the old ones.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataset_full_text, fullTextRecord } from '../../api/operations/dataset/dataset_full_text.ts';
import { recordPage } from '../../api/pages/record-markdown.ts';
import { publicPoint } from '../../api/render/data-files.ts';
import { geojsonFeature } from '../../api/render/geojson.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Release } from '../../data/releases/release.ts';
import { recordUrl } from '../../packs/define/links.ts';
import type { Output } from './output.ts';
import { noteOverlaid, overlaidBefore } from './overlaid.ts';
import { pageName } from './pages-render.ts';
import { writeParts } from './parts.ts';

export interface Patch {
  base: string;
  /** Key of both files, and its beginning, which is the same under every overlay; absent: nothing is copied. */
  key: string;
  stem: string | undefined;
  /** Folder of the pages, and the end of their keys. */
  folder: string;
  fingerprint: string;
  /** Path of the GeoJSON file. */
  geojson: string;
}

/** A record whose text differs from the old files, or may differ. */
interface EditedRecord {
  ord: number;
  record: StoredRecord;
  version: string;
}

/**
 * Changes pages, full text and GeoJSON file where records of the same release were edited. False: they have to
 * be made again, and nothing was written.
 */
export async function patchFiles(release: Release, patch: Patch, output: Output): Promise<boolean> {
  const { pack } = release;
  const [declared] = dataset_full_text.prerender?.(pack) ?? [];
  if (!declared) return false;
  const edited = await editedRecords(release, declared.file, patch, output);
  if (edited === null) return false;
  const text = patchedText(release, edited, declared.file, patch, output);
  const features = publicPoint(pack) === undefined ? [] : patchedFeatures(release, edited, patch, output);
  if (text === null || features === null || !patchPages(release, edited, patch, output)) return false;
  const full = writeParts(declared.file, output, patch.key);
  for (const piece of text) full.write(piece);
  full.end();
  if (features.length > 0) {
    const map = output.stream(patch.geojson, patch.key);
    for (const piece of features) map.write(piece);
    map.end();
  }
  noteOverlaid(release, 'texts', patch.key, output);
  return true;
}

/**
 * The records that the overlay changes now or changed in the output, by ordinal. Null when other records may
 * differ too: the full text at `path` is of another release or of other code, or records are missing from the
 * release.
 */
async function editedRecords(
  release: Release,
  path: string,
  { stem }: Patch,
  output: Output,
): Promise<EditedRecord[] | null> {
  const before = stem === undefined ? null : overlaidBefore(release, 'texts', { path, stem }, output);
  if (before === null) return null;
  const { engine, touched } = release;
  const ordinals = [...new Set([...before, ...(touched?.changed ?? [])])].sort((a, b) => a - b);
  const bodies = ordinals.length === 0 ? [] : await engine.bodies(ordinals);
  return ordinals.map((ord, i) => {
    const { body, version } = bodies[i]!;
    return { ord, version, record: JSON.parse(body) as StoredRecord };
  });
}

/** Writes the page of each edited record and keeps all others; false: a page of another record is missing. */
function patchPages(
  { pack, manifest }: Release,
  edited: readonly EditedRecord[],
  { folder, fingerprint, base }: Patch,
  output: Output,
): boolean {
  const own = new Map(edited.map((each) => [`${folder}/${pageName(each.record.slug)}`, each]));
  if (!output.keepFolder(folder, `.${fingerprint}`, manifest.records - own.size, own)) return false;
  for (const [path, { record, version }] of own) {
    const key = `${version}.${fingerprint}`;
    if (!output.keep(path, key)) output.write(path, recordPage(record, pack, base), key);
  }
  return true;
}

const RECORD = Buffer.from('\n## ');

/**
 * The full text at `path` in pieces: the heading, then one for each record. Null when the old file does not
 * have the expected records.
 */
function patchedText(
  { pack, manifest }: Release,
  edited: readonly EditedRecord[],
  path: string,
  { base }: Patch,
  output: Output,
): Uint8Array[] | null {
  const old = readFileSync(join(output.root, path));
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < old.length; ) {
    const next = old.indexOf(RECORD, from);
    const end = next < 0 ? old.length : next + 1;
    pieces.push(old.subarray(from, end));
    from = end;
  }
  if (pieces.length !== manifest.records + 1) return null;
  for (const { ord, record } of edited) {
    const [, address = ''] = fullTextRecord(record, pack, base).split('\n');
    if (!Buffer.from(pieces[ord + 1]!).includes(`\n${address}\n`)) return null;
    pieces[ord + 1] = Buffer.from(fullTextRecord(record, pack, base));
  }
  return pieces;
}

/** The GeoJSON file in pieces, which has one line for each record; null as above. */
function patchedFeatures(
  { pack, manifest }: Release,
  edited: readonly EditedRecord[],
  { geojson, base }: Patch,
  output: Output,
): Uint8Array[] | null {
  const attributes = pack.attributes.filter((attribute) => attribute.public);
  const old = readFileSync(join(output.root, geojson));
  const records = new Map(edited.map(({ ord, record }) => [ord, record]));
  const pieces: Uint8Array[] = [];
  let copied = 0;
  let from = old.indexOf(10) + 1;
  for (let ord = 0; ord < manifest.records; ord += 1) {
    const end = old.indexOf(10, from);
    if (end < 0) return null;
    const record = records.get(ord);
    if (record) {
      if (!old.subarray(from, end).includes(`"id":${JSON.stringify(record.id)}`)) return null;
      const feature = geojsonFeature({ attributes }, { ...record, url: recordUrl(base, pack.id, record.slug) });
      pieces.push(old.subarray(copied, from), Buffer.from(feature));
      // Features are separated by a comma; the last one has none.
      copied = ord === manifest.records - 1 ? end : end - 1;
    }
    from = end + 1;
  }
  if (old.subarray(from).toString() !== ']}\n') return null;
  pieces.push(old.subarray(copied));
  return pieces;
}
