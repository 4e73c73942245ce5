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

/** Up to this many changed records are picked out by number. */
const FEW = 2_000;

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
  const { pack, folder } = release;
  const file = (name: string) => `read_parquet(${quoted(join(folder, name))})`;
  const [engine, bodies] = [file(RELEASE_FILES.engine), file(RELEASE_FILES.bodies)];
  const fingerprint = pageFingerprint(pack, base);
  const full = output.keepAll(key) ? null : fullText(release, base, output, key);
  const duck = await Duck.open(scratch);
  try {
    const changed = new Map<number, string>();
    const versions = `SELECT ord, slug, version FROM ${engine} JOIN (SELECT ord, version FROM ${bodies}) USING (ord)`;
    for await (const rows of duck.batches(versions)) {
      for (const [ord, slug, version] of rows as [number, string, string][]) {
        const key = `${version}.${fingerprint}`;
        if (!output.keep(pagePath(pack.id, slug), key)) changed.set(ord, key);
      }
    }
    if (full === null && changed.size === 0) return;
    // The file lies in order of rank. Few changed records are picked out of it; otherwise it is read from end to end.
    const some = full === null && changed.size < FEW;
    const wanted = some ? `WHERE ord IN (${[...changed.keys()].join(', ')})` : '';
    let done = 0;
    for await (const rows of duck.batches(`SELECT ord, body FROM ${bodies} ${wanted}`)) {
      for (const [ord, body] of rows as [number, string][]) {
        const key = changed.get(ord);
        if (full === null && key === undefined) continue;
        const record = JSON.parse(body) as StoredRecord;
        full?.write(fullTextRecord(record, pack, base));
        if (key !== undefined) output.write(pagePath(pack.id, record.slug), recordPage(record, pack, base), key);
      }
      done += rows.length;
      progress(done);
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
