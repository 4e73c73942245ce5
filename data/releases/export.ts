// Signed links to the snapshot files of releases: valid for an hour, for any holder, while the release
// exists.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EXPORT_FORMATS, type ExportFormat } from '../input/history-parameters.ts';
import { DataError } from '../model/errors.ts';
import { type Manifest, paths, RELEASE_FILES } from '../model/layout.ts';
import { readManifest } from '../model/manifest.ts';
import type { Release } from './release.ts';

/** The files on offer (specification section 4, "export"). */
const FILES: Record<ExportFormat, { file: string; content_type: string }> = {
  csv: { file: RELEASE_FILES.csv, content_type: 'text/csv; charset=utf-8; header=present' },
  jsonl: { file: RELEASE_FILES.jsonl, content_type: 'application/x-ndjson' },
  parquet: { file: RELEASE_FILES.records, content_type: 'application/vnd.apache.parquet' },
};

/** Lifetime of a link in milliseconds. */
const LASTS = 3_600_000;

/** A snapshot file on disk. */
export interface Snapshot {
  path: string;
  /** File name for the download. */
  name: string;
  bytes: number;
  sha256: string;
  content_type: string;
  made_at: Date;
}

/** Why a link has no file. */
export type NoSnapshot = 'forged' | 'expired' | 'gone';

/** Error message while no file may be sent. */
export const WITHHELD_MESSAGE =
  'The file contains a record that was just opted out. A file without it is being written; retry in a minute.';

export interface Exports {
  /** Path and query of a new link to a file, and its expiry. Paths begin with `/v1/<dataset>/export/`. */
  link(dataset: string, release: string, format: ExportFormat, now: Date): { path: string; expires_at: Date };
  /**
   * The file of a link, by the last segment of its path and its query. Throws `unavailable` while it is
   * withheld.
   */
  open(
    dataset: string,
    name: string,
    query: { expires: string; signature: string },
    now: Date,
  ): Promise<Snapshot | NoSnapshot>;
}

/** Size and hash of a snapshot file from the manifest of its release. */
export function snapshotOf({ files }: Manifest, format: ExportFormat): { bytes: number; sha256: string } {
  const named = files[FILES[format].file];
  if (!named) throw new Error(`the manifest of the release has no file ${FILES[format].file}`);
  return { bytes: named.bytes, sha256: named.sha256 };
}

const NAME = new RegExp(`^(?<dataset>.+)-(?<release>[0-9a-f]{16})\\.(?<format>${EXPORT_FORMATS.join('|')})$`, 'u');

/**
 * Whether links to a release are no longer valid, because it may contain an opted-out record. Throws
 * `unavailable` for the current release, which is replaced soon.
 */
function over(served: ServedReleases, dataset: string, manifest: Manifest): boolean {
  const current = served.current(dataset);
  if (current?.manifest.release === manifest.release) {
    if (current.withheld) throw new DataError('unavailable', WITHHELD_MESSAGE);
    return false;
  }
  const held = manifest.overlay ?? 0;
  return [...(current?.overlay?.removed.values() ?? [])].some(({ version }) => version > held);
}

/** The releases served now, so that links to withheld files stop working. */
export interface ServedReleases {
  current(dataset: string): Pick<Release, 'manifest' | 'overlay' | 'withheld'> | null;
}

/** Creates and verifies links with a secret that all processes of the service share. */
export function exportLinks(dataDir: string, secret: string, served: ServedReleases): Exports {
  const sign = (dataset: string, name: string, expires: string) =>
    createHmac('sha256', secret).update(`export\n${dataset}\n${name}\n${expires}`).digest();
  return {
    link(dataset, release, format, now) {
      const seconds = Math.floor((now.getTime() + LASTS) / 1000);
      const name = `${dataset}-${release}.${format}`;
      const signature = sign(dataset, name, String(seconds)).toString('base64url');
      return {
        path: `/v1/${dataset}/export/${name}?expires=${seconds}&signature=${signature}`,
        expires_at: new Date(seconds * 1000),
      };
    },
    async open(dataset, name, { expires, signature }, now) {
      const digest = Buffer.from(signature, 'base64url');
      const right = sign(dataset, name, expires);
      if (digest.length !== right.length || !timingSafeEqual(digest, right)) return 'forged';
      if (Number(expires) * 1000 <= now.getTime()) return 'expired';
      const { release = '', format } = NAME.exec(name)?.groups ?? {};
      const { file, content_type } = FILES[format as ExportFormat];
      const folder = paths.release(dataDir, dataset, release);
      const manifest = await readManifest(folder).catch(() => null);
      const path = join(folder, file);
      const stats = await stat(path).catch(() => null);
      const named = manifest?.files[file];
      if (!manifest || !named || stats?.size !== named.bytes) return 'gone';
      if (over(served, dataset, manifest)) return 'gone';
      return {
        path,
        name,
        bytes: named.bytes,
        sha256: named.sha256,
        content_type,
        made_at: new Date(manifest.created_at),
      };
    },
  };
}
