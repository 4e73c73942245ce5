// /feeds/{ds}.atom: changes of a dataset, for feed readers (RFC 4287). Values of public attributes only, as
// in the changelog.
import { derive } from '../../packs/define/derive.ts';
import { type Change, dataset_changelog } from '../operations/dataset/dataset_changelog.ts';
import { changeFeed, FEED_TYPE } from '../pages/change-feed.ts';
import type { Document, View } from './document.ts';
import { prerenderContext } from './prerender-context.ts';

type Release = View['releases'][number];

/** Entries of a feed. */
const ENTRIES = 50;

async function feed(view: View, release: Release): Promise<Buffer<ArrayBuffer>> {
  const { pack, manifest } = release;
  const ctx = prerenderContext(view, { release, path: `/v1/${pack.id}/changelog`, format: 'json' });
  const raw = { ds: pack.id, days: '365', limit: String(ENTRIES) };
  const { body } = await dataset_changelog.run(dataset_changelog.parse(raw, ctx), ctx);
  const { base_url } = view;
  const text = changeFeed({
    ...{ pack, base_url, items: (body as { items: Change[] }).items, selection: '', updated: manifest.created_at },
    links: {
      self: `${base_url}/feeds/${pack.id}.atom`,
      alternate: `${base_url}/changes/${pack.id}/`,
      next: `${base_url}/v1/${pack.id}/changelog?days=365&format=atom&offset=${ENTRIES}`,
    },
  });
  return Buffer.from(text);
}

export const feeds: Document = {
  path: '/feeds/:feed',
  title: 'Changes of one dataset, as a feed',
  content_type: `${FEED_TYPE}; charset=utf-8`,
  each: ({ releases }) => releases.map(({ pack }) => ({ feed: `${pack.id}.atom` })),
  text: (view, { feed: name }) => {
    const release = view.releases.find(({ pack }) => `${pack.id}.atom` === name);
    return release ? derive(release, `feed of ${view.base_url}`, () => feed(view, release)) : null;
  },
};
