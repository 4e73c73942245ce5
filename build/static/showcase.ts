// HTML pages of showcase records.
import type { Operation } from '../../api/contract/operation.ts';
import { prerenderContext } from '../../api/discovery/prerender-context.ts';
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
  for (const { slug } of (body as { items: PublicRecord[] }).items) {
    const one = context(`/datasets/${pack.id}/${slug}`, 'html');
    const result = await entity_page.run(entity_page.parse({ ds: pack.id, entity_id: slug }, one), one);
    const { body: page } = await render(entity_page, result, one);
    output.write(htmlPath(pack.id, slug), String(page), key);
  }
}
