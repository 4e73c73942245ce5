// Changes of values as an Atom feed (RFC 4287) with links to its other pages (RFC 5005 section 3).

import { attributesOf, type Change } from '../../data/queries/changelog.ts';
import { recordUrl } from '../../packs/define/links.ts';
import type { Pack, Value } from '../../packs/define/model.ts';
import { printPercent, printWithUnit } from '../render/print.ts';
import { html, joinHtml } from './html.ts';

export const FEED_TYPE = 'application/atom+xml';

export interface ChangeFeed {
  pack: Pack;
  base_url: string;
  items: readonly Change[];
  /** What the feed contains, after the title of the dataset; '' for all changes. */
  selection: string;
  /** Its own URL, the page with the same changes, and its other pages by relation (`next`). */
  links: { self: string; alternate: string } & Readonly<Record<string, string>>;
  /** ISO 8601: the time of a feed without entries. */
  updated: string;
}

/** The feed as XML. Entries keep their id, so that readers show each change once. */
export function changeFeed({ pack, base_url, items, selection, links, updated }: ChangeFeed): string {
  const attributes = attributesOf(pack);
  const entries = items.map((item) => {
    const page = recordUrl(base_url, pack.id, item.slug);
    const attribute = attributes.get(item.attribute ?? '');
    const unit = attribute?.unit ?? null;
    const shown = attribute?.public === true;
    return html`<entry><id>${page}#${encodeURIComponent(item.attribute ?? '')}-${item.observed_at}</id><title>${clean(`${item.name}: ${item.attribute ?? item.type}${percentText(item)}`)}</title><updated>${item.observed_at}</updated><link href="${page}"/>${item.source_url && html`<link rel="via" href="${clean(item.source_url)}"/>`}${item.attribute && html`<category term="${item.attribute}"/>`}<summary>${clean(describeChange(item, shown, unit))}</summary></entry>`;
  });
  return String(html`<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${links.self}</id>
<title>${clean(`Changes of ${pack.title}${selection === '' ? '' : `: ${selection}`}`)}</title>
<updated>${items[0]?.observed_at ?? updated}</updated>
<author><name>${clean(pack.title)}</name></author>
<rights>${clean(`${pack.license.name} ${pack.license.url}`)}</rights>
${joinHtml(
  Object.entries(links).map(
    ([rel, href]) => html`<link rel="${rel}" type="${rel === 'alternate' ? 'text/html' : FEED_TYPE}" href="${href}"/>`,
  ),
  '\n',
)}
${joinHtml(entries, '\n')}
</feed>
`);
}

/** Text without the characters that XML 1.0 forbids. */
const clean = (text: string): string => text.toWellFormed().replace(/[\p{Cc}\uFFFE\uFFFF]/gu, ' ');

/** ` +4.2 %` for a number that changed by a percentage; else ''. */
const percentText = ({ change_percent }: Change): string =>
  change_percent === undefined || change_percent === 0 ? '' : ` ${printPercent(change_percent)}`;

/** Describes a change in words. */
function describeChange(change: Change, shown: boolean, unit: string | null): string {
  const { type, attribute, old_value, new_value } = change;
  if (attribute === undefined) return 'the record was removed';
  if (!shown) return `${attribute} ${type === 'added' ? 'appeared' : 'changed'}; its value is part of paid answers`;
  const print = (value: Value) => printWithUnit(value, unit);
  const percent = percentText(change).trim();
  if (new_value === undefined)
    return `${attribute} was withdrawn${old_value === undefined ? '' : `; it was ${print(old_value)}`}`;
  return `${attribute} is ${print(new_value)}${old_value === undefined ? '' : `; it was ${print(old_value)}`}${percent && ` (${percent})`}`;
}
