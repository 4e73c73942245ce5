// /feeds/{ds}.atom: changes of a dataset, for feed readers (RFC 4287). Values of public attributes only, as
// in the changelog.

import { releaseHistory } from '../../data/releases/runs.ts';
import { derive } from '../../packs/define/derive.ts';
import { type Change, dataset_changelog } from '../operations/dataset/dataset_changelog.ts';
import { changeFeed, FEED_TYPE } from '../pages/change-feed.ts';
import { html, joinHtml } from '../pages/html.ts';
import { incidentText } from '../render/run-history.ts';
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

/** Name of the feed of incidents, which a dataset with this id would have otherwise. */
const STATUS_FEED = 'status.atom';

/** Refused and failed nightly runs of all datasets, newest first. */
async function statusFeed({ releases, base_url }: View): Promise<string> {
  const histories = await Promise.all(
    releases.map(async (release) =>
      (await releaseHistory(release)).incidents.map((incident) => ({ incident, pack: release.pack })),
    ),
  );
  const entries = histories
    .flat()
    .sort((a, b) => (a.incident.from < b.incident.from ? 1 : -1))
    .slice(0, ENTRIES)
    .map(({ incident, pack }) => {
      const updated = `${incident.solved ?? incident.from}T00:00:00Z`;
      const title = `${pack.title}: ${incident.solved === null ? 'not updated' : 'updated again'}`;
      return html`<entry><id>${base_url}/status/#${pack.id}-${incident.from}</id><title>${title}</title><updated>${updated}</updated><link href="${base_url}/status/"/><summary>${incidentText(incident)}</summary></entry>`;
    });
  const newest =
    releases
      .map(({ manifest }) => manifest.created_at)
      .sort()
      .at(-1) ?? '1970-01-01T00:00:00Z';
  return String(html`<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${base_url}/feeds/${STATUS_FEED}</id>
<title>Status of the Dataset Register</title>
<updated>${newest}</updated>
<author><name>Dataset Register</name></author>
<link rel="self" type="${FEED_TYPE}" href="${base_url}/feeds/${STATUS_FEED}"/>
<link rel="alternate" type="text/html" href="${base_url}/status/"/>
${joinHtml(entries)}
</feed>
`);
}

export const feeds: Document = {
  path: '/feeds/:feed',
  title: 'Changes of one dataset, or incidents of the register, as a feed',
  content_type: `${FEED_TYPE}; charset=utf-8`,
  each: ({ releases }) =>
    [STATUS_FEED, ...releases.map(({ pack }) => `${pack.id}.atom`)].map((name) => ({ feed: name })),
  text: (view, { feed: name }) => {
    const release = view.releases.find(({ pack }) => `${pack.id}.atom` === name);
    if (release === undefined && name === STATUS_FEED) return statusFeed(view);
    return release ? derive(release, `feed of ${view.base_url}`, () => feed(view, release)) : null;
  },
};
