// HTML pages of showcase records. After owners' edits only those are rendered that may differ.
import { hash } from 'node:crypto';
import type { Operation } from '../../api/contract/operation.ts';
import { prerenderContext } from '../../api/discovery/prerender-context.ts';
import { loadOthers } from '../../api/operations/common/related.ts';
import { dataset_examples } from '../../api/operations/dataset/dataset_examples.ts';
import { entity_page } from '../../api/operations/record/entity_page.ts';
import { SCRIPT_ASSET, STYLE_ASSET } from '../../api/pages/assets.ts';
import { render } from '../../api/render/render.ts';
import type { PublicRecord } from '../../data/model/record.ts';
import type { Release } from '../../data/releases/release.ts';
import type { Output } from './output.ts';

export interface Showing {
  release: Release;
  base: string;
  eur_usd: number;
  operations: readonly Operation[];
  /** Fingerprint of the pages' inputs. */
  made: string;
  /** The same without the overlay. */
  stem: string;
}

/** Fingerprint of each page by its path, and the key of the pages that it is about. */
interface ShowcaseNote {
  key: string;
  pages: Record<string, string>;
}

/** Path of a record's HTML page below DIST_DIR; any host serves it at the record's address. */
function htmlPath(dataset: string, slug: string): string {
  return `datasets/${dataset}/${slug}/index.html`;
}

/** Writes the pages of all showcase records, unless they exist with the same key. */
export async function writeShowcase(showing: Showing, output: Output): Promise<void> {
  const { release, base, eur_usd, operations, made } = showing;
  const { pack } = release;
  const key = `html.${made}.${[STYLE_ASSET, SCRIPT_ASSET].map(({ path }) => path.split('.')[1]).join('.')}`;
  if (output.keepAll(key)) return;
  const view = { releases: [release], base_url: base, eur_usd, operations };
  const context = (path: string, format: 'json' | 'html') => prerenderContext(view, { release, path, format });
  const ctx = context(`/v1/${pack.id}/examples`, 'json');
  const { body } = await dataset_examples.run(dataset_examples.parse({ ds: pack.id }, ctx), ctx);
  const name = `showcase-${pack.id}.json`;
  const before = JSON.parse(output.readNote(name) ?? '{"key":"","pages":{}}') as ShowcaseNote;
  const pages: ShowcaseNote['pages'] = {};
  for (const { slug } of (body as { items: PublicRecord[] }).items) {
    const path = htmlPath(pack.id, slug);
    pages[path] = await pageFingerprint(showing, slug);
    if (before.pages[path] === pages[path] && output.keep(path, key, before.key)) continue;
    const one = context(`/datasets/${pack.id}/${slug}`, 'html');
    const result = await entity_page.run(entity_page.parse({ ds: pack.id, entity_id: slug }, one), one);
    const { body: page } = await render(entity_page, result, one);
    output.write(path, String(page), key);
  }
  const note: ShowcaseNote = { key, pages };
  output.note(name, JSON.stringify(note));
}

/**
 * Fingerprint of what a page shows (`entity_page`): the release, similar records, and the record with its
 * history. The last two are those of the release, unless the overlay changes the record.
 */
async function pageFingerprint({ release, made, stem }: Showing, slug: string): Promise<string> {
  const [ordinal] = await release.engine.resolve([slug]);
  const own = release.touched?.changed.includes(ordinal!) ? made : stem;
  const others = await loadOthers(release, ordinal!, {});
  const assets = [STYLE_ASSET, SCRIPT_ASSET].map(({ path }) => path);
  return hash('sha256', JSON.stringify([own, others, assets]), 'hex').slice(0, 16);
}
