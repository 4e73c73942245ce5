// /feeds/{ds}.atom: changes of a dataset, for feed readers (RFC 4287). Values of public attributes only, as
// in the changelog.
import { datasetUrl, recordUrl } from '../../packs/define/links.ts';
import type { Pack } from '../../packs/define/model.ts';
import { type Change, dataset_changelog } from '../operations/dataset/dataset_changelog.ts';
import { printWithUnit } from '../render/print.ts';
import { type Document, memoizeNewest, type View } from './document.ts';
import { prerenderContext, registerVersion } from './prerender-context.ts';

type Release = View['releases'][number];

/** Entries of a feed. */
const ENTRIES = 50;

const escaped = (text: string): string =>
  text
    .replace(/\p{Cc}/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** Describes a change in words. */
function describeChange({ type, attribute, old_value, new_value }: Change, pack: Pack): string {
  if (attribute === undefined) return 'the record was removed';
  const own = pack.attributes.find(({ name }) => name === attribute);
  if (!own?.public)
    return `${attribute} ${type === 'added' ? 'appeared' : 'changed'}; its value is part of paid answers`;
  const print = (value: NonNullable<Change['new_value']>) => printWithUnit(value, own.unit);
  if (new_value === undefined)
    return `${attribute} was withdrawn${old_value === undefined ? '' : `; it was ${print(old_value)}`}`;
  return `${attribute} is ${print(new_value)}${old_value === undefined ? '' : `; it was ${print(old_value)}`}`;
}

async function feed(view: View, release: Release): Promise<string> {
  const { pack, manifest } = release;
  const ctx = prerenderContext(view, { release, path: `/v1/${pack.id}/changelog`, format: 'json' });
  const raw = { ds: pack.id, days: '365', limit: String(ENTRIES) };
  const { body } = await dataset_changelog.run(dataset_changelog.parse(raw, ctx), ctx);
  const { items } = body as { items: Change[] };
  const home = datasetUrl(view.base_url, pack.id);
  const self = `${view.base_url}/feeds/${pack.id}.atom`;
  const entries = items.map((item) => {
    const page = recordUrl(view.base_url, pack.id, item.slug);
    const id = `${page}#${encodeURIComponent(item.attribute ?? '')}-${item.observed_at}`;
    return `<entry><id>${escaped(id)}</id><title>${escaped(`${item.name}: ${item.attribute ?? item.type}`)}</title><updated>${item.observed_at}</updated><link href="${escaped(page)}"/><summary>${escaped(describeChange(item, pack))}</summary></entry>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${escaped(self)}</id>
<title>${escaped(`Changes of ${pack.title}`)}</title>
<updated>${items[0]?.observed_at ?? manifest.created_at}</updated>
<author><name>${escaped(pack.title)}</name></author>
<rights>${escaped(`${pack.license.name} ${pack.license.url}`)}</rights>
<link rel="self" href="${escaped(self)}"/>
<link href="${escaped(home)}"/>
${entries.join('\n')}
</feed>
`;
}

const feedText = memoizeNewest(registerVersion, (view, { feed: name = '' }) => {
  const release = view.releases.find(({ pack }) => `${pack.id}.atom` === name);
  return release ? feed(view, release) : null;
});

export const feeds: Document = {
  path: '/feeds/:feed',
  title: 'Changes of one dataset, as a feed',
  content_type: 'application/atom+xml; charset=utf-8',
  each: ({ releases }) => releases.map(({ pack }) => ({ feed: `${pack.id}.atom` })),
  text: (view, params) => feedText(view, params),
};
