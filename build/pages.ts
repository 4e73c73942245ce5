// Goes over every record of a release once: its Markdown page where its version is new, and the text of all public values.
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { recordPage } from '../api/formats/page.ts';
import { dataset_full_text, fullTextHead, fullTextRecord } from '../api/operations/dataset_full_text.ts';
import { RELEASE_FILES } from '../data/layout.ts';
import type { StoredRecord } from '../data/model.ts';
import type { Release } from '../data/release.ts';
import { Duck, quoted } from '../data/write/duck.ts';
import type { Pack } from '../packs/model.ts';
import { codeFingerprint } from './pages-code.ts';
import type { Output } from './prerender-output.ts';
import { type Parts, writeParts } from './prerender-parts.ts';

/** Records looked at together: their bodies are in memory at once, some 40 MB. */
const CHUNK = 10_000;

/** Path of a record's page below DIST_DIR. */
export function pagePath(dataset: string, slug: string): string {
  return `datasets/${dataset}/${slug}.md`;
}

/** What a page is made from besides its record: the public side of the pack, the base address and the code. 16 hex digits. */
function pageFingerprint(pack: Pack, base: string): string {
  const { id, title, license, attribution, template, prices } = pack;
  const attributes = pack.attributes.map((attribute) => [attribute.name, attribute.unit, attribute.public]);
  const made = JSON.stringify([id, title, license, attribution, template, prices, attributes, base, codeFingerprint()]);
  return hash('sha256', made, 'hex').slice(0, 16);
}

export interface PagesOptions {
  release: Release;
  base: string;
  /** A folder that DuckDB may spill into. */
  scratch: string;
  /** Names what the full text is made from. */
  key: string;
  /** Told how many records are done. */
  progress: (done: number) => void;
}

/**
 * Writes the pages of a release and its full text. A record whose version is unchanged is not even read, unless the full text is due.
 */
export async function writePages(
  { release, base, scratch, key, progress }: PagesOptions,
  output: Output,
): Promise<void> {
  const { pack, manifest, folder } = release;
  const file = (name: string) => `read_parquet(${quoted(join(folder, name))})`;
  const fingerprint = pageFingerprint(pack, base);
  const full = output.keepAll(key) ? null : fullText(release, base, output, key);
  const duck = await Duck.open(scratch);
  try {
    for (let from = 0; from < manifest.records; from += CHUNK) {
      const between = `ord BETWEEN ${from} AND ${from + CHUNK - 1}`;
      const versions = await duck.rows(
        `SELECT ord, slug, version FROM (SELECT ord, slug FROM ${file(RELEASE_FILES.engine)} WHERE ${between})
         JOIN (SELECT ord, version FROM ${file(RELEASE_FILES.bodies)} WHERE ${between}) USING (ord)`,
      );
      const changed = new Map<number, string>();
      for (const [ord, slug, version] of versions as [number, string, string][]) {
        const key = `${version}.${fingerprint}`;
        if (!output.keep(pagePath(pack.id, slug), key)) changed.set(ord, key);
      }
      // Few changed records are picked out; many are read in one sweep.
      const all = full !== null || changed.size > CHUNK / 10;
      const wanted = all ? between : `ord IN (${[-1, ...changed.keys()].join(', ')})`;
      const bodies = `SELECT ord, body FROM ${file(RELEASE_FILES.bodies)} WHERE ${wanted} ORDER BY ord`;
      for (const [ord, body] of (await duck.rows(bodies)) as [number, string][]) {
        const key = changed.get(ord);
        if (full === null && key === undefined) continue;
        const record = JSON.parse(body) as StoredRecord;
        full?.write(fullTextRecord(record, pack, base));
        if (key !== undefined) output.write(pagePath(pack.id, record.slug), recordPage(record, pack, base), key);
      }
      progress(Math.min(from + CHUNK, manifest.records));
    }
    full?.end();
  } finally {
    duck.close();
  }
}

/** The text that the operation of this name would stream, begun. */
function fullText(release: Release, base: string, output: Output, key: string): Parts | null {
  const [declared] = dataset_full_text.prerender?.(release.pack) ?? [];
  if (!declared) return null;
  const parts = writeParts(declared.file, output, key);
  parts.write(fullTextHead(release, base));
  return parts;
}
