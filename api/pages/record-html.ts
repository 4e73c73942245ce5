// The HTML page of a record: values with their sources, history, the same thing from other sources, citation
// and API calls.
import type { PublicRecord } from '../../data/model/record.ts';
import { goneNote } from '../../data/queries/gone.ts';
import { attributeLabel } from '../../packs/define/labels.ts';
import { datasetUrl, recordUrl } from '../../packs/define/links.ts';
import type { Attribute, Pack, Value } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { distinctionOf } from '../render/distinction.ts';
import { plural, printDate, printShare, printValue, printWithUnit } from '../render/print.ts';
import { PAGE_ASSETS, RECORD_ASSET } from './assets.ts';
import { followHtml } from './follow.ts';
import { footerHtml, headerHtml, headHtml, prefixOf } from './frame.ts';
import { type Html, html, joinHtml, raw } from './html.ts';
import { IMAGE_PATHS, openGraphHtml } from './open-graph.ts';
import { pointMap } from './point-map.ts';
import { stepTable, valuesSection } from './record-values.ts';
import type { RelatedData } from './related-data.ts';
import { reportForm } from './report.ts';
import { chartLinks, rangeSwitch, stepCharts } from './step-chart.ts';

export interface RecordPage {
  /** Exactly the values shown: public ones for everyone, all of them in a paid view. */
  record: PublicRecord;
  pack: Pack;
  base_url: string;
  related: RelatedData;
  /** The answer of a paid call: it contains every value and must not be cached. */
  paid: boolean;
  /** Values of the record that only a paid answer contains. */
  locked: number;
}

/** The complete page. */
export function recordHtml(page: RecordPage): string {
  const { record, pack, base_url, paid, related, locked } = page;
  const prefix = prefixOf(base_url);
  const path = `/datasets/${pack.id}/${record.slug}`;
  const url = recordUrl(base_url, pack.id, record.slug);
  const title = [record.name, distinctionOf(pack, record), pack.title].filter(Boolean).join(' · ');
  const valueCount = Object.keys(record.attributes).length;
  const about = `${record.name} in ${pack.title}: ${plural(valueCount, 'value')}, each with its source, the date of its last reading and a confidence.`;
  const links = [
    html`<link rel="canonical" href="${url}">`,
    html`<link rel="alternate" type="text/markdown" title="This record as Markdown" href="${prefix}${path}.md">`,
    ...(paid ? [html`<meta name="robots" content="noindex">`] : []),
  ];
  const rows = { record, pack, related, locked, prefix };
  const image = { url: base_url + IMAGE_PATHS.dataset(pack.id), alt: pack.title };
  return String(html`<!doctype html>
<html lang="en">
<head>
${headHtml(prefix, PAGE_ASSETS)}
<title>${title}</title>
<meta name="description" content="${about}">
${openGraphHtml({ title, description: about, url, image })}
${joinHtml(links)}
<script type="application/ld+json">${raw(recordJsonld(record, pack, base_url))}</script>
<script type="module" src="${prefix + RECORD_ASSET.path}"></script>
</head>
<body>
${headerHtml(prefix, path)}
<main id="main" class="record-page">
${head(page, prefix)}
<div class="two">
<div>
${valuesSection(rows)}
${historySection(page)}${same(page, prefix)}
</div>
<aside class="facts-side" aria-label="About this record">
${map(page)}${similar(page, prefix)}${citeSection(record, pack)}${!record.sample && reportForm(record, pack, prefix)}${calls(page, prefix)}
</aside>
</div>
</main>
${footerHtml(prefix)}
</body>
</html>
`);
}

function head({ record, pack, paid, related }: RecordPage, prefix: string): Html {
  const detail = distinctionOf(pack, record);
  const checked = Object.values(record.provenance).map(({ observed_at }) => observed_at);
  const changed = Object.values(related.history).flatMap((steps) => steps.slice(1).map(({ at }) => at));
  const day = (word: string, times: readonly string[]) => {
    const newest = times.toSorted().at(-1);
    return newest === undefined
      ? []
      : [html`<span>${word} <time datetime="${newest}">${printDate(newest)}</time></span>`];
  };
  const facts = [
    ...day('checked', checked),
    ...day('last changed', changed),
    html`<span>quality ${record.quality_score.toFixed(2)}</span>`,
    html`<span>${printShare(record.completeness)} complete</span>`,
    ...(record.verified_owner ? [html`<span class="tag public">verified owner</span>`] : []),
    ...(record.sample ? [html`<span class="tag paid">fictional sample</span>`] : []),
    ...(paid ? [html`<span class="tag paid">paid view: every value</span>`] : []),
    html`<a href="${prefix}/datasets/${pack.id}/${record.slug}.md">as Markdown</a>`,
    ...(record.sample ? [] : [html`<a href="${prefix}/compare/${pack.id}?ids=${record.slug}">Compare with …</a>`]),
  ];
  const gone = goneNote(pack, record);
  return html`<nav class="crumbs" aria-label="Breadcrumb"><a href="${prefix}/">Register</a> <span aria-hidden="true">/</span> <a href="${prefix}/datasets/${pack.id}/">${pack.title}</a></nav>
<h1>${record.name}</h1>
${detail !== '' && html`<p class="lead distinction">${detail}</p>\n`}<p class="meta">${joinHtml(facts, ' ')}</p>${gone !== null && html`\n<p class="note">${gone}</p>`}`;
}

/** A value of another record; '–' without one. */
const cell = (value: Value | null): string => (value === null ? '–' : printValue(value));

/** The same thing from other sources, lowest price first. */
function same({ related, pack }: RecordPage, prefix: string): Html {
  if (related.same.length === 0) return html``;
  const attribute = (name: string | null | undefined) => pack.attributes.find((candidate) => candidate.name === name);
  const group = attribute(pack.serving.similar_differ_by)!;
  const price = attribute(pack.price_attributes.find((name) => attribute(name)?.public));
  const rows = related.same.map((otherRecord) => {
    const name = otherRecord.own
      ? html`<strong>${otherRecord.name}</strong>`
      : html`<a href="${prefix}/datasets/${pack.id}/${otherRecord.slug}">${otherRecord.name}</a>`;
    const cost =
      price &&
      html`<td class="figure">${cell(otherRecord.price)}</td><td>${otherRecord.checked === null ? '' : html`<time datetime="${otherRecord.checked}">${printDate(otherRecord.checked)}</time>`}</td>`;
    const box = html`<input type="checkbox" name="ids" value="${otherRecord.slug}"${otherRecord.own && html` checked`} aria-label="Compare ${otherRecord.name} (${cell(otherRecord.group)})">`;
    return html`<tr${otherRecord.own && html` class="own"`}><td>${box}</td><th scope="row">${cell(otherRecord.group)}</th><td>${name}${otherRecord.own && html` <span class="quiet">this record</span>`}</td>${cost}</tr>`;
  });
  const columns =
    price &&
    html`<th scope="col" class="figure">${attributeLabel(price)}<span>${price.unit}</span></th><th scope="col">Checked</th>`;
  return html`<section aria-labelledby="same"><h2 id="same">This record at another ${attributeLabel(group).toLowerCase()}</h2>
<form action="${prefix}/compare/${pack.id}"><div class="scroll" role="region" aria-label="The same from other sources" tabindex="0"><table><thead><tr><td></td><th scope="col">${attributeLabel(group)}</th><th scope="col">Name</th>${columns}</tr></thead><tbody>${rows}</tbody></table></div><button class="button plain" type="submit">Compare selected</button></form></section>
`;
}

function similar({ record, related, pack }: RecordPage, prefix: string): Html {
  if (related.similar.length === 0) return html``;
  const rows = related.similar.map(
    ({ slug, name, detail }) =>
      html`<li><a href="${prefix}/datasets/${pack.id}/${slug}">${name}</a> <span class="quiet">${detail}</span> <a class="small" href="${prefix}/compare/${pack.id}?ids=${record.slug},${slug}" aria-label="Compare with ${name}">Compare</a></li>`,
  );
  return html`<section aria-labelledby="similar"><h2 id="similar">Similar records</h2><ul>${rows}</ul></section>\n`;
}

/** The map of the first point that the page shows. */
function map({ record, pack }: RecordPage): Html {
  for (const { name, type } of pack.attributes) {
    const value = record.attributes[name];
    if (type === 'geo' && typeof value === 'object' && 'lat' in value) return pointMap(record.name, value);
  }
  return html``;
}

function calls({ record, pack, base_url }: RecordPage, prefix: string): Html {
  const path = `/datasets/${pack.id}/${record.slug}`;
  const call = `${base_url}/v1/${pack.id}/entities/${record.slug}`;
  const all = html`<li><a href="${datasetUrl(prefix, pack.id)}/#call">All API calls of the dataset</a></li>`;
  const section = (links: readonly Html[], more = html``) =>
    html`<section aria-labelledby="call"><h2 id="call">API</h2><ul>${links}</ul>${more}</section>`;
  // Operations refuse a fictional sample, so its page links none.
  if (record.sample) return section([all]);
  // Without a domain no address proves who the owner is.
  const ownerLabel =
    pack.owner.domain === null ? 'Ask to remove this record' : 'Is this your record? Edit or remove it';
  const links = [
    html`<li><a href="${prefix}${path}.md">This page as Markdown</a>, free</li>`,
    html`<li><a href="${prefix}/v1/${pack.id}/entities/${record.slug}/audit.md">Data quality report</a></li>`,
    all,
    html`<li><a href="${prefix}/owners/${pack.id}/${record.slug}">${ownerLabel}</a></li>`,
  ];
  const every = html`<figure class="call"><figcaption>All values, with an API key</figcaption><button class="copy" type="button" data-copy="${call}">Copy</button><pre tabindex="0" role="group" aria-label="URL of all values"><code>${call}</code></pre></figure>`;
  const query = new URLSearchParams({ days: '365', ids: record.id });
  const follow = html`<details class="follow-view"><summary>Follow this record</summary>${followHtml({ base_url, prefix, dataset: pack.id, path, query })}</details>`;
  return section(links, html`${every}${follow}`);
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

/** The section of charts, and of numbers that never changed; nothing without either. */
export function historySection(page: Pick<RecordPage, 'record' | 'pack' | 'base_url' | 'related'>): Html {
  const { record, pack, related } = page;
  const numbers = pack.attributes.filter(({ name, type }) => NUMERIC.includes(type) && record.provenance[name]);
  const drawn: Html[] = [];
  const constant: Html[] = [];
  for (const attribute of numbers) {
    const { name, unit } = attribute;
    const steps = related.history[name] ?? [];
    const [first] = steps;
    if (first === undefined) continue;
    const values = new Set(steps.map(({ value }) => JSON.stringify(value)));
    if (values.size > 1) drawn.push(chart(attribute, page));
    else if (first.value !== null)
      constant.push(
        html`<li>${attributeLabel(attribute)} ${printWithUnit(first.value, unit)}, unchanged since <time datetime="${first.at}">${printDate(first.at)}</time></li>`,
      );
  }
  if (drawn.length + constant.length === 0) return html``;
  return html`<section aria-labelledby="history"><h2 id="history">History</h2>
${drawn.length > 0 && rangeSwitch()}${drawn}${constant.length > 0 && html`<ul class="constant">${constant}</ul>`}</section>
`;
}

function chart(attribute: Attribute, page: Parameters<typeof historySection>[0]): Html {
  const { name, unit } = attribute;
  const { record, related, pack, base_url } = page;
  const steps = related.history[name]!;
  const label = attributeLabel(attribute);
  const newest = steps.at(-1)!.value;
  const changes = steps.length - 1;
  const lines = [{ name: '', place: 1, steps, checked: record.provenance[name]!.observed_at }];
  const frame = `<iframe src="${recordUrl(base_url, pack.id, record.slug)}?embed=${name}" width="640" height="280" title="${label}"></iframe>`;
  const embed = html` <button class="copy" type="button" data-copy="${frame}">Copy embed code</button>`;
  return html`<figure class="course"><figcaption>${label} <strong>${newest === null ? 'withdrawn' : printWithUnit(newest, unit)}</strong> <span class="quiet">${changes} ${changes === 1 ? 'change' : 'changes'} since ${printDate(steps[0]!.at)}</span></figcaption>
${stepCharts(attribute, lines)}
${chartLinks(attribute, lines, embed)}
<details><summary>Show as table<span class="away"> ${label}</span></summary>${stepTable(steps, unit)}</details></figure>
`;
}

/** The chart of one attribute alone, for a frame of another site; null if the page has none of it. */
export function embedHtml(page: RecordPage, name: string): string | null {
  const { record, pack, base_url, related } = page;
  const attribute = pack.attributes.find((candidate) => candidate.name === name && NUMERIC.includes(candidate.type));
  const provenance = record.provenance[name];
  const steps = related.history[name] ?? [];
  if (attribute === undefined || provenance === undefined || steps.length === 0) return null;
  const lines = [{ name: '', place: 1, steps, checked: provenance.observed_at }];
  const url = recordUrl(base_url, pack.id, record.slug);
  const label = attributeLabel(attribute);
  return String(html`<!doctype html>
<html lang="en">
<head>
${headHtml(prefixOf(base_url), PAGE_ASSETS)}
<title>${label} · ${record.name}</title>
<link rel="canonical" href="${url}">
<meta name="robots" content="noindex">
<base target="_blank">
</head>
<body class="embed">
<main class="record-page"><figure class="course"><figcaption>${record.name}: ${label} <strong>${printWithUnit(steps.at(-1)!.value ?? 'withdrawn', attribute.unit)}</strong></figcaption>
${stepCharts(attribute, lines)}
<p class="chart-links"><a href="${url}">${pack.title}, Dataset Register</a></p></figure></main>
</body>
</html>
`);
}

// Citations of a record: text, BibTeX and CSL-JSON.

const PUBLISHER = 'Dataset Register';

/** Characters that LaTeX reads as commands, as text. */
const LATEX: Record<string, string> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
};
const latex = (text: string): string =>
  text.replace(/[\\~^]|[{}$&#_%]/g, (special) => LATEX[special] ?? `\\${special}`);

interface Citation {
  key: string;
  title: string;
  /** YYYY-MM-DD: when a source last confirmed a value. */
  date: string;
  url: string;
  dataset: string;
  /** Names of the sources, as their licences require. */
  note: string;
}

function citationOf(record: PublicRecord, pack: Pack): Citation {
  const detail = distinctionOf(pack, record);
  const times = Object.values(record.provenance).map(({ observed_at }) => observed_at);
  return {
    key: `${pack.id}-${record.slug}`,
    title: detail === '' ? record.name : `${record.name} (${detail})`,
    date: (times.toSorted().at(-1) ?? record.updated_at).slice(0, 10),
    url: record.url,
    dataset: pack.title,
    note: pack.attribution,
  };
}

/** An entry of type misc, which every style of BibTeX knows. */
export function bibtex(record: PublicRecord, pack: Pack): string {
  const { key, title, date, url, dataset, note } = citationOf(record, pack);
  const fields = [
    ['title', latex(title)],
    ['howpublished', `${latex(dataset)}, ${PUBLISHER}`],
    ['year', date.slice(0, 4)],
    // Braces and backslashes would end the field; an address has them only percent-encoded.
    ['url', encodeURI(decodeURI(url))],
    ['note', `Checked ${date}. ${latex(note)}`],
  ];
  return `@misc{${key},\n${fields.map(([name, value]) => `  ${name} = {${value}}`).join(',\n')}\n}`;
}

/** The item of the Citation Style Language, as Zotero and Pandoc import it. */
export function cslJson(record: PublicRecord, pack: Pack): string {
  const { key, title, date, url, dataset, note } = citationOf(record, pack);
  const item = {
    id: key,
    type: 'dataset',
    title,
    'container-title': dataset,
    publisher: PUBLISHER,
    issued: { 'date-parts': [date.split('-').map(Number)] },
    URL: url,
    note,
  };
  return JSON.stringify([item], null, 2);
}

/** The section with a copy button for each form. */
function citeSection(record: PublicRecord, pack: Pack): Html {
  const form = (name: string, text: string) =>
    html`<details><summary>${name}</summary><div class="call"><button class="copy" type="button" data-copy="${text}">Copy ${name}</button><pre tabindex="0" role="group" aria-label="Citation as ${name}"><code>${text}</code></pre></div></details>`;
  return html`<section aria-labelledby="cite"><h2 id="cite">Cite</h2>
<blockquote>${record.attribution}</blockquote>
<button class="copy" type="button" data-copy="${record.attribution}">Copy citation</button>
${form('BibTeX', bibtex(record, pack))}
${form('CSL-JSON', cslJson(record, pack))}
<p class="small">Licence: <a href="${pack.license.url}">${pack.license.name}</a>. Record <code>${record.id}</code>.</p></section>
`;
}
