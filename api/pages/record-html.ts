// The HTML page of a record: values with their sources, similar records, timelines, citation and API calls.
import type { PublicRecord } from '../../data/model/record.ts';
import { datasetUrl, recordUrl } from '../../packs/define/links.ts';
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { packPrice } from '../contract/pricing.ts';
import { plural, printDate, printEuro, printShare, printValue, printWithUnit, webAddress } from '../render/print.ts';
import { STATUS_MEANING } from '../render/status-mark.ts';
import { SCRIPT_ASSET, STYLE_ASSET } from './assets.ts';
import { escapeHtml as esc, footerHtml, headerHtml, headHtml, prefixOf } from './frame.ts';
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
  const about = `${record.name} in ${pack.title}: ${plural(valueCount, 'value')}, each with its source, the date it was seen there and a confidence.`;
  const links = [
    `<link rel="canonical" href="${esc(url)}">`,
    `<link rel="alternate" type="text/markdown" title="This record as Markdown" href="${esc(`${prefix}${path}.md`)}">`,
    ...(paid ? ['<meta name="robots" content="noindex">'] : []),
  ];
  return `<!doctype html>
<html lang="en">
<head>
${headHtml(prefix, ASSETS)}
<title>${esc(title)}</title>
<meta name="description" content="${esc(about)}">
${links.join('\n')}
<script type="application/ld+json">${recordJsonld(record, pack, base_url)}</script>
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
`;
}

function head({ record, pack, paid }: RecordPage, prefix: string): string {
  const facts = [
    `<span>changed <time datetime="${esc(record.updated_at)}">${printDate(record.updated_at)}</time></span>`,
    `<span>quality ${record.quality_score.toFixed(2)}</span>`,
    `<span>${printShare(record.completeness)} complete</span>`,
    ...(record.verified_owner ? ['<span class="tag public">verified owner</span>'] : []),
    ...(record.sample ? ['<span class="tag paid">fictional sample</span>'] : []),
    ...(paid ? ['<span class="tag paid">paid view: every value</span>'] : []),
    `<a href="${esc(`${prefix}/datasets/${pack.id}/${record.slug}.md`)}">as Markdown</a>`,
  ];
  return `<nav class="crumbs" aria-label="Where you are"><a href="${prefix}/">Register</a> <span aria-hidden="true">/</span> <a href="${esc(`${prefix}/datasets/${pack.id}/`)}">${esc(pack.title)}</a></nav>
<h1>${esc(record.name)}</h1>
<p class="meta">${facts.join(' ')}</p>`;
}

/** Allows line breaks in long names after a dot or an underscore. */
const breakable = (name: string): string => esc(name).replace(/[._](?=.)/g, '$&<wbr>');

function values({ record, pack }: RecordPage): string {
  const shown = pack.attributes.filter(({ name }) => record.attributes[name] !== undefined);
  const section = (body: string) => `<section aria-labelledby="values"><h2 id="values">Values</h2>\n${body}</section>`;
  if (shown.length === 0)
    return section('<p class="empty">No source says anything public of this record. Paid answers may know more.</p>');
  const rows = shown.map((attribute) => row(attribute, record));
  return section(`<div class="record sheet"><dl>\n${rows.join('\n')}\n</dl></div>`);
}

/**
 * One value. The link to its source is always visible; date, confidence and evidence appear on hover, on
 * focus, in print and on small screens.
 */
function row({ name, unit, description }: Attribute, record: PublicRecord): string {
  const value = record.attributes[name]!;
  const { source_url, observed_at, confidence, evidence, source, status } = record.provenance[name]!;
  const text = esc(printWithUnit(value, unit));
  const own = typeof value === 'string' ? webAddress(value) : null;
  const content = own === null ? text : `<a href="${esc(own)}" rel="nofollow">${text}</a>`;
  const address = webAddress(source_url);
  const host = address === null ? '' : new URL(address).hostname.replace(/^www\./, '');
  const from =
    address === null
      ? `<span>${source.kind === 'owner' ? 'the verified owner' : 'no page to open'}</span>`
      : `<a href="${esc(address)}" rel="nofollow" aria-label="${esc(`Source of ${name}: ${host}`)}">${esc(host)}</a>`;
  const more = [
    `<time datetime="${esc(observed_at)}">seen ${printDate(observed_at)}</time>`,
    `<span>confidence ${confidence.toFixed(2)}</span>`,
    ...(evidence === '' ? [] : [`<span>“${esc(evidence.slice(0, 160))}”</span>`]),
  ];
  return `<div class="value"><dt title="${esc(description)}">${breakable(name)}</dt><dd><span class="said">${content}</span>${status === undefined ? '' : ` <span class="quiet">${esc(`${status}: ${STATUS_MEANING[status]}`)}</span>`}<span class="provenance">${from}<span class="more">${more.join('')}</span></span></dd></div>`;
}

/** The attributes that a paid answer would add: names and meanings, never a value. */
function missing({ record, pack, paid }: RecordPage): string {
  const more = paid ? [] : pack.attributes.filter((attribute) => !attribute.public);
  if (more.length === 0) return '';
  const rows = more.map(
    ({ name, description }) =>
      `<li><code>${breakable(name)}</code> <span class="quiet">${esc(description)}</span></li>`,
  );
  return `<section aria-labelledby="more"><h2 id="more">Only in paid answers</h2>
<p>${plural(more.length, 'further attribute')}, where they are known of this record, for ${printEuro(packPrice(pack, 'get'))} a call: ask <code>/v1/${pack.id}/entities/${esc(record.slug)}</code> with a key or a payment.</p>
<details><summary>What they are</summary><ul class="links">${rows.join('')}</ul></details></section>`;
}

function cite({ record, pack }: RecordPage): string {
  return `<section aria-labelledby="cite"><h2 id="cite">Cite</h2>
<blockquote>${esc(record.attribution)}</blockquote>
<button class="copy" type="button" data-copy="${esc(record.attribution)}">Copy the citation</button>
<p class="small">Licence: <a href="${esc(pack.license.url)}">${esc(pack.license.name)}</a>. Record <code>${esc(record.id)}</code>.</p></section>
`;
}

function timelineList({ related, pack }: RecordPage): string {
  if (related.timelines.length === 0) return '';
  const units = new Map(pack.attributes.map(({ name, unit }) => [name, unit]));
  const rows = related.timelines.map((timeline) => sparkline(timeline, units.get(timeline.attribute) ?? null));
  return `<section aria-labelledby="history"><h2 id="history">How values went</h2>\n${rows.join('\n')}</section>\n`;
}

function similar({ related, pack }: RecordPage, prefix: string): string {
  if (related.similar.length === 0) return '';
  const rows = related.similar.map(
    ({ slug, name, group }) =>
      `<li><a href="${esc(`${prefix}/datasets/${pack.id}/${slug}`)}">${esc(name)}</a> <span class="quiet">${esc(group)}</span></li>`,
  );
  return `<section aria-labelledby="similar"><h2 id="similar">Similar records</h2><ul>${rows.join('')}</ul></section>\n`;
}

function calls({ record, pack, base_url }: RecordPage, prefix: string): string {
  const path = `/datasets/${pack.id}/${record.slug}`;
  const call = `${base_url}/v1/${pack.id}/entities/${record.slug}`;
  const all = `<li><a href="${esc(datasetUrl(prefix, pack.id))}/#call">All ways to call the dataset</a></li>`;
  const section = (links: string, more = '') =>
    `<section aria-labelledby="call"><h2 id="call">Use it</h2><ul>${links}</ul>${more}</section>`;
  // Operations refuse a fictional sample, so its page links none.
  if (record.sample) return section(all);
  const links = [
    `<li><a href="${esc(`${prefix}${path}.md`)}">This page as Markdown</a>, free</li>`,
    `<li><a href="${esc(`${prefix}/v1/${pack.id}/entities/${record.slug}/audit.md`)}">What is known, how old, and why the rest is missing</a></li>`,
    all,
    `<li><a href="${esc(`${prefix}/owners/${pack.id}/${record.slug}`)}">Is this yours? Correct or remove it</a></li>`,
  ];
  const every = `<figure class="call"><figcaption>Every value, with a key</figcaption><button class="copy" type="button" data-copy="${esc(call)}">Copy</button><pre tabindex="0" role="group" aria-label="Address of every value"><code>${esc(call)}</code></pre></figure>`;
  return section(links.join(''), every);
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
