// The HTML page of a record: values with their sources, similar records, timelines, citation and API calls.
import type { PublicRecord } from '../../data/model/record.ts';
import { datasetUrl, recordUrl } from '../../packs/define/links.ts';
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { packPrice } from '../contract/pricing.ts';
import { plural, printDate, printEuro, printShare, printValue, printWithUnit, webAddress } from '../render/print.ts';
import { STATUS_MEANING } from '../render/status-mark.ts';
import { SCRIPT_ASSET, STYLE_ASSET } from './assets.ts';
import { footerHtml, headerHtml, headHtml, prefixOf } from './frame.ts';
import { type Html, html, joinHtml, raw } from './html.ts';
import { sparkline, type Timeline } from './sparkline.ts';

/** Data of a record page other than the record's own values. */
export interface RelatedData {
  /** The most similar records. */
  similar: readonly { id: string; slug: string; name: string; group: string }[];
  /** Timelines of its public numbers. */
  timelines: readonly Timeline[];
}

export interface RecordPage {
  /** Exactly the values shown: public ones for everyone, all of them in a paid view. */
  record: PublicRecord;
  pack: Pack;
  base_url: string;
  related: RelatedData;
  /** The answer of a paid call: it contains every value and must not be cached. */
  paid: boolean;
}

const ASSETS = { style: STYLE_ASSET.path, script: SCRIPT_ASSET.path };

/** The complete page. */
export function recordHtml(page: RecordPage): string {
  const { record, pack, base_url, paid } = page;
  const prefix = prefixOf(base_url);
  const path = `/datasets/${pack.id}/${record.slug}`;
  const url = recordUrl(base_url, pack.id, record.slug);
  const title = `${record.name} · ${pack.title}`;
  const valueCount = Object.keys(record.attributes).length;
  const about = `${record.name} in ${pack.title}: ${plural(valueCount, 'value')}, each with its source, the date of its last reading and a confidence.`;
  const links = [
    html`<link rel="canonical" href="${url}">`,
    html`<link rel="alternate" type="text/markdown" title="This record as Markdown" href="${prefix}${path}.md">`,
    ...(paid ? [html`<meta name="robots" content="noindex">`] : []),
  ];
  return String(html`<!doctype html>
<html lang="en">
<head>
${headHtml(prefix, ASSETS)}
<title>${title}</title>
<meta name="description" content="${about}">
${joinHtml(links)}
<script type="application/ld+json">${raw(recordJsonld(record, pack, base_url))}</script>
</head>
<body>
${headerHtml(prefix, path)}
<main id="main">
${head(page, prefix)}
<div class="two">
<div>
${values(page)}
${missing(page)}
</div>
<aside class="facts-side" aria-label="About this record">
${cite(page)}${timelineList(page)}${similar(page, prefix)}${calls(page, prefix)}
</aside>
</div>
</main>
${footerHtml(prefix)}
</body>
</html>
`);
}

function head({ record, pack, paid }: RecordPage, prefix: string): Html {
  const facts = [
    html`<span>changed <time datetime="${record.updated_at}">${printDate(record.updated_at)}</time></span>`,
    html`<span>quality ${record.quality_score.toFixed(2)}</span>`,
    html`<span>${printShare(record.completeness)} complete</span>`,
    ...(record.verified_owner ? [html`<span class="tag public">verified owner</span>`] : []),
    ...(record.sample ? [html`<span class="tag paid">fictional sample</span>`] : []),
    ...(paid ? [html`<span class="tag paid">paid view: every value</span>`] : []),
    html`<a href="${prefix}/datasets/${pack.id}/${record.slug}.md">as Markdown</a>`,
  ];
  return html`<nav class="crumbs" aria-label="Where you are"><a href="${prefix}/">Register</a> <span aria-hidden="true">/</span> <a href="${prefix}/datasets/${pack.id}/">${pack.title}</a></nav>
<h1>${record.name}</h1>
<p class="meta">${joinHtml(facts, ' ')}</p>`;
}

/** Allows line breaks in long names after a dot or an underscore. */
const breakable = (name: string): Html => raw(html`${name}`.replace(/[._](?=.)/g, '$&<wbr>'));

function values({ record, pack }: RecordPage): Html {
  const shown = pack.attributes.filter(({ name }) => record.attributes[name] !== undefined);
  const section = (body: Html) =>
    html`<section aria-labelledby="values"><h2 id="values">Values</h2>\n${body}</section>`;
  if (shown.length === 0) return section(html`<p class="empty">No public values. Paid answers may contain more.</p>`);
  const rows = shown.map((attribute) => row(attribute, record));
  return section(html`<div class="record sheet"><dl>\n${joinHtml(rows)}\n</dl></div>`);
}

/**
 * One value. The link to its source is always visible; date, confidence and evidence appear on hover, on
 * focus, in print and on small screens.
 */
function row({ name, unit, description }: Attribute, record: PublicRecord): Html {
  const value = record.attributes[name]!;
  const { source_url, observed_at, confidence, evidence, source, status } = record.provenance[name]!;
  const text = printWithUnit(value, unit);
  const own = typeof value === 'string' ? webAddress(value) : null;
  const content = own === null ? text : html`<a href="${own}" rel="nofollow">${text}</a>`;
  const address = webAddress(source_url);
  const host = address === null ? '' : new URL(address).hostname.replace(/^www\./, '');
  const from =
    address === null
      ? html`<span>${source.kind === 'owner' ? 'verified owner' : 'no web page'}</span>`
      : html`<a href="${address}" rel="nofollow" aria-label="Source of ${name}: ${host}">${host}</a>`;
  const more = [
    html`<time datetime="${observed_at}">seen ${printDate(observed_at)}</time>`,
    html`<span>confidence ${confidence.toFixed(2)}</span>`,
    ...(evidence === '' ? [] : [html`<span>“${evidence.slice(0, 160)}”</span>`]),
  ];
  return html`<div class="value"><dt title="${description}">${breakable(name)}</dt><dd><span class="said">${content}</span>${status !== undefined && html` <span class="quiet">${status}: ${STATUS_MEANING[status]}</span>`}<span class="provenance">${from}<span class="more">${more}</span></span></dd></div>`;
}

/** The attributes that a paid answer would add: names and meanings, never a value. */
function missing({ record, pack, paid }: RecordPage): Html {
  const more = paid ? [] : pack.attributes.filter((attribute) => !attribute.public);
  if (more.length === 0) return html``;
  const rows = more.map(
    ({ name, description }) => html`<li><code>${breakable(name)}</code> <span class="quiet">${description}</span></li>`,
  );
  return html`<section aria-labelledby="more"><h2 id="more">${plural(more.length, 'more field')} with an API key</h2>
<p>Where known for this record, at ${printEuro(packPrice(pack, 'get'))} per call: <code>GET /v1/${pack.id}/entities/${record.slug}</code> with an API key or an x402 payment.</p>
<details><summary>Show fields</summary><ul class="links">${rows}</ul></details></section>`;
}

function cite({ record, pack }: RecordPage): Html {
  return html`<section aria-labelledby="cite"><h2 id="cite">Cite</h2>
<blockquote>${record.attribution}</blockquote>
<button class="copy" type="button" data-copy="${record.attribution}">Copy citation</button>
<p class="small">Licence: <a href="${pack.license.url}">${pack.license.name}</a>. Record <code>${record.id}</code>.</p></section>
`;
}

function timelineList({ related, pack }: RecordPage): Html {
  if (related.timelines.length === 0) return html``;
  const units = new Map(pack.attributes.map(({ name, unit }) => [name, unit]));
  const rows = related.timelines.map((timeline) => sparkline(timeline, units.get(timeline.attribute) ?? null));
  return html`<section aria-labelledby="history"><h2 id="history">History</h2>\n${joinHtml(rows)}</section>\n`;
}

function similar({ related, pack }: RecordPage, prefix: string): Html {
  if (related.similar.length === 0) return html``;
  const rows = related.similar.map(
    ({ slug, name, group }) =>
      html`<li><a href="${prefix}/datasets/${pack.id}/${slug}">${name}</a> <span class="quiet">${group}</span></li>`,
  );
  return html`<section aria-labelledby="similar"><h2 id="similar">Similar records</h2><ul>${rows}</ul></section>\n`;
}

function calls({ record, pack, base_url }: RecordPage, prefix: string): Html {
  const path = `/datasets/${pack.id}/${record.slug}`;
  const call = `${base_url}/v1/${pack.id}/entities/${record.slug}`;
  const all = html`<li><a href="${datasetUrl(prefix, pack.id)}/#call">All API calls of the dataset</a></li>`;
  const section = (links: readonly Html[], more = html``) =>
    html`<section aria-labelledby="call"><h2 id="call">API</h2><ul>${links}</ul>${more}</section>`;
  // Operations refuse a fictional sample, so its page links none.
  if (record.sample) return section([all]);
  const links = [
    html`<li><a href="${prefix}${path}.md">This page as Markdown</a>, free</li>`,
    html`<li><a href="${prefix}/v1/${pack.id}/entities/${record.slug}/audit.md">Data quality report</a></li>`,
    all,
    html`<li><a href="${prefix}/owners/${pack.id}/${record.slug}">Is this your record? Edit or remove it</a></li>`,
  ];
  const every = html`<figure class="call"><figcaption>All values, with an API key</figcaption><button class="copy" type="button" data-copy="${call}">Copy</button><pre tabindex="0" role="group" aria-label="URL of all values"><code>${call}</code></pre></figure>`;
  return section(links, every);
}

/** JSON-LD, escaped for a script element of HTML. */
function recordJsonld(record: PublicRecord, pack: Pack, base_url: string): string {
  const url = recordUrl(base_url, pack.id, record.slug);
  const properties = pack.attributes.flatMap(({ name, unit }) => {
    const value = record.attributes[name];
    if (value === undefined) return [];
    const plain = typeof value === 'number' || typeof value === 'string' ? value : printValue(value);
    return [{ '@type': 'PropertyValue', name, value: plain, ...(unit === null ? {} : { unitText: unit }) }];
  });
  const text = JSON.stringify({
    '@context': 'https://schema.org',
    '@type': 'ItemPage',
    '@id': url,
    url,
    name: record.name,
    dateModified: record.updated_at,
    license: pack.license.url,
    creditText: record.attribution,
    isPartOf: { '@type': 'Dataset', '@id': datasetUrl(base_url, pack.id), name: pack.title },
    mainEntity: { '@type': 'Thing', name: record.name, identifier: record.id, additionalProperty: properties },
  });
  // No value may end the script element or begin a comment in it.
  return text.replaceAll('<', '\\u003c');
}
