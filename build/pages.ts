// Writes the Markdown page of every record of a release; a record whose version is unchanged is not even read.
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { recordPage } from '../api/formats/page.ts';
import { RELEASE_FILES } from '../data/layout.ts';
import type { StoredRecord } from '../data/model.ts';
import type { Release } from '../data/release.ts';
import { Duck, quoted } from '../data/write/duck.ts';
import type { Pack } from '../packs/model.ts';
import { codeFingerprint } from './pages-code.ts';
import type { Output } from './prerender-output.ts';

/** Records looked at together: their bodies are in memory at once, some 40 MB. */
const CHUNK = 10_000;

/** Path of a record's page below DIST_DIR. */
export function pagePath(dataset: string, slug: string): string {
  return `datasets/${dataset}/${slug}.md`;
}

/** What a page is made from besides its record: the public side of the pack, the base address and the code. 16 hex digits. */
export function pageFingerprint(pack: Pack, base: string): string {
  const { id, title, license, attribution, template } = pack;
  const attributes = pack.attributes.map((attribute) => [attribute.name, attribute.unit, attribute.public]);
  const made = JSON.stringify([id, title, license, attribution, template, attributes, base, codeFingerprint()]);
  return hash('sha256', made, 'hex').slice(0, 16);
}

/**
 * Writes the pages of a release into `output`. `progress` is told how many records are done.
 * `scratch` is a folder DuckDB may spill into.
 */
export async function writePages(
  {
    release,
    base,
    scratch,
    progress,
  }: { release: Release; base: string; scratch: string; progress: (done: number) => void },
  output: Output,
): Promise<void> {
  const { pack, manifest, folder } = release;
  const file = (name: string) => `read_parquet(${quoted(join(folder, name))})`;
  const fingerprint = pageFingerprint(pack, base);
  const duck = await Duck.open(scratch);
  try {
    for (let from = 0; from < manifest.records; from += CHUNK) {
      const between = `ord BETWEEN ${from} AND ${from + CHUNK - 1}`;
      const versions = await duck.rows(
        `SELECT ord, slug, version FROM (SELECT ord, slug FROM ${file(RELEASE_FILES.engine)} WHERE ${between})
         JOIN (SELECT ord, version FROM ${file(RELEASE_FILES.bodies)} WHERE ${between}) USING (ord) ORDER BY ord`,
      );
      const changed = new Map<number, string>();
      for (const [ord, slug, version] of versions as [number, string, string][]) {
        const key = `${version}.${fingerprint}`;
        if (!output.keep(pagePath(pack.id, slug), key)) changed.set(ord, key);
      }
      // Few changed records are picked out; many are read in one sweep.
      const wanted = changed.size > CHUNK / 10 ? between : `ord IN (${[...changed.keys()].join(', ')})`;
      const bodies =
        changed.size === 0
          ? []
          : await duck.rows(`SELECT ord, body FROM ${file(RELEASE_FILES.bodies)} WHERE ${wanted}`);
      for (const [ord, body] of bodies as [number, string][]) {
        const key = changed.get(ord);
        if (key === undefined) continue;
        const record = JSON.parse(body) as StoredRecord;
        output.write(pagePath(pack.id, record.slug), recordPage(record, pack, base), key);
      }
      progress(Math.min(from + CHUNK, manifest.records));
    }
  } finally {
    duck.close();
  }
}
