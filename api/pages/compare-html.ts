// The comparison page: records side by side, a calculator, the overlaid history, and a search for more records.
import { ANALYSIS_BOUNDS } from '../../data/input/analysis-parameters.ts';
import { printable } from '../../data/input/parse-values.ts';
import { goneNote } from '../../data/queries/gone.ts';
import { endsOf, type TermResult, termAmount, totalAmount } from '../../packs/define/calculator.ts';
import { attributeLabel } from '../../packs/define/labels.ts';
import type { Attribute, Calculator, Pack } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { packPrice } from '../contract/pricing.ts';
import { amountText, BEST_LABEL, bestOf, rowState, totalText } from '../render/comparison.ts';
import { distinctionOf } from '../render/distinction.ts';
import { plural, printDate, printEuro, printWithUnit } from '../render/print.ts';
import { STATUS_MEANING } from '../render/status-mark.ts';
import { COMPARE_ASSET, PAGE_ASSETS } from './assets.ts';
import { type Candidate, type ComparedColumn, type ComparisonData, comparePath, labelOf } from './compare-data.ts';
import { footerHtml, headerHtml, headHtml, prefixOf } from './frame.ts';
import { type Html, html } from './html.ts';
import { offerHtml } from './offer.ts';
import { IMAGE_PATHS, openGraphHtml } from './open-graph.ts';
import { linkedValue, sourceLink, stepTable } from './record-values.ts';
import { type ChartLine, chartLinks, rangeSwitch, stepCharts } from './step-chart.ts';

/** Whether an attribute is locked: a paid column of the comparison, on the free page. */
const isLocked = ({ public: open, name }: Attribute, { pack, paid }: ComparisonData): boolean =>
  !open && !paid && pack.compare.includes(name);

/** Attributes that the page offers to load. */
const lockedAttributes = (page: ComparisonData): Attribute[] =>
  page.pack.attributes.filter((attribute) => isLocked(attribute, page));

/** The attributes with a row: those with a value or a lock; a row that repeats the names is left out. */
function shownAttributes(page: ComparisonData): Attribute[] {
  const { pack, columns, paid } = page;
  return pack.attributes.filter((attribute) => {
    const { name } = attribute;
    if (isLocked(attribute, page) || (paid && pack.compare.includes(name))) return true;
    const values = columns.map(({ record }) => record.attributes[name]);
    const repeats = columns.every(({ record }, i) => values[i] === record.name);
    return !repeats && values.some((value) => value !== undefined);
  });
}

/** Attributes by the group of their names: `price.input` is in `price`. Others are in runs without a name. */
function groupsOf(attributes: readonly Attribute[]): { group: string; attributes: Attribute[] }[] {
  const groups: { group: string; attributes: Attribute[] }[] = [];
  for (const attribute of attributes) {
    const dot = attribute.name.indexOf('.');
    const group = dot < 0 ? '' : attribute.name.slice(0, dot);
    const last = groups.at(-1);
    if (last?.group === group) last.attributes.push(attribute);
    else groups.push({ group, attributes: [attribute] });
  }
  return groups;
}

/** The table. `prefix`: the path of the base URL. */
function compareTable(page: ComparisonData, prefix: string): Html {
  const { columns, pack } = page;
  const bodies = groupsOf(shownAttributes(page)).map(
    ({ group, attributes }) => html`<tbody>
${group !== '' && html`<tr class="group"><th colspan="${columns.length + 1}" scope="rowgroup">${group}</th></tr>\n`}${attributes.map((attribute) => row(attribute, page))}</tbody>
`,
  );
  return html`<div class="scroll compare-scroll" role="region" aria-label="Comparison" tabindex="0"><table class="compare" id="comparison"><caption class="away">Records of ${pack.title} side by side</caption>
<thead><tr><td></td>${columns.map((column) => head(column, page, prefix))}</tr></thead>
${bodies}</table></div>`;
}

function head(column: ComparedColumn, page: ComparisonData, prefix: string): Html {
  const { slug, name } = column.record;
  const { pack, columns } = page;
  const others = columns.flatMap(({ record }) => (record.slug === slug ? [] : [record.slug]));
  return html`<th scope="col" data-slug="${slug}"><a href="${prefix}/datasets/${pack.id}/${slug}">${name}</a><span>${distinctionOf(pack, column.record)}</span><a class="remove" data-swap href="${prefix}${comparePath(page, others)}" aria-label="Remove ${labelOf(page, column)}">Remove</a></th>`;
}

function row(attribute: Attribute, page: ComparisonData): Html {
  const { name, better, public: open, description } = attribute;
  const { columns, pack } = page;
  const locked = isLocked(attribute, page);
  const values = columns.map(({ record }) => record.attributes[name]);
  const texts = values.map((value) => (value === undefined ? null : printWithUnit(value, attribute.unit)));
  const state = locked ? 'locked' : rowState(texts);
  const best = bestOf(values.map(endsOf), locked ? undefined : better);
  const direction = better !== undefined && html` data-better="${better}"`;
  const cells = columns.map((column, i) =>
    locked ? lockedCell(column, attribute, pack) : cell(column, attribute, best[i]!),
  );
  return html`<tr class="${state}" data-attribute="${name}"${direction}><th scope="row" title="${description}">${attributeLabel(attribute)}${!open && html`<span class="tag paid">paid</span>`}</th>${cells}</tr>
`;
}

function cell({ record, sources }: ComparedColumn, attribute: Attribute, best: boolean): Html {
  const { name, unit, better } = attribute;
  const value = record.attributes[name];
  const provenance = record.provenance[name];
  if (value === undefined || provenance === undefined)
    return html`<td class="none" data-slug="${record.slug}"><span aria-hidden="true">–</span><span class="away">no value</span></td>`;
  const ends = endsOf(value);
  const data = ends !== null && html` data-min="${ends.min}" data-max="${ends.max}"`;
  const { observed_at, status } = provenance;
  const mark = best && better !== undefined && html` <span class="tag public best">${BEST_LABEL[better]}</span>`;
  return html`<td data-slug="${record.slug}"${data}><span class="value-text">${linkedValue(value, unit)}</span>${mark}${status !== undefined && html` <span class="quiet small">${status}: ${STATUS_MEANING[status]}</span>`}<span class="origin">${sourceLink(attribute, provenance, { sources })} <time datetime="${observed_at}">${printDate(observed_at)}</time></span></td>`;
}

function lockedCell({ record }: ComparedColumn, attribute: Attribute, pack: Pack): Html {
  const price = printEuro(packPrice(pack, 'compare'));
  return html`<td class="locked" data-slug="${record.slug}"><a href="#load" aria-label="${attributeLabel(attribute)} of ${record.name} is locked; one call loads all locked values for ${price}">Locked</a></td>`;
}

/** The section; nothing without a calculator. */
function calculatorSection(page: ComparisonData, prefix: string): Html {
  const { pack, columns, inputs, differences } = page;
  const { calculator } = pack;
  if (calculator === null || columns.length === 0) return html``;
  const fields = calculator.inputs.map(
    ({ name, label, unit }) =>
      html`<label>${label}<span><input type="number" name="${name}" value="${inputs[name]}" min="0" step="any" inputmode="decimal">${unit !== null && html` ${unit}`}</span></label>`,
  );
  const ids = columns.map(({ record }) => record.slug).join();
  return html`<section aria-labelledby="calculator" class="calculator" data-calculator="${JSON.stringify(calculator)}"><h2 id="calculator">${calculator.title}</h2>
<form id="calculator-form" action="${prefix}/compare/${pack.id}"><input type="hidden" name="ids" value="${ids}">${differences && html`<input type="hidden" name="differences" value="1">`}
${fields}
<button class="button plain" type="submit">Compute</button></form>
${amounts(page, calculator, prefix)}
</section>
`;
}

function amounts(page: ComparisonData, calculator: Calculator, prefix: string): Html {
  const { columns, inputs } = page;
  const locked = new Set(lockedAttributes(page).map(({ name }) => name));
  const reader =
    ({ record }: ComparedColumn) =>
    (name: string): TermResult =>
      endsOf(record.attributes[name]) ?? (locked.has(name) ? 'locked' : 'missing');
  const terms = calculator.terms.map((term, i) => {
    const label = calculator.inputs.find(({ name }) => name === term.input)?.label ?? term.input;
    const cells = columns.map((column) => {
      const amount = termAmount(term, inputs, reader(column));
      return html`<td data-slug="${column.record.slug}">${typeof amount === 'string' ? AMOUNT_STATE[amount] : amountText(amount, calculator.unit)}</td>`;
    });
    return html`<tr data-term="${i}"><th scope="row">${label}<span><code>${term.attribute}</code></span></th>${cells}</tr>\n`;
  });
  const totals = columns.map((column) => totalAmount(calculator, inputs, reader(column)));
  const complete = totals.map((total) => (total.locked.length + total.missing.length > 0 ? null : total));
  // A total that is not complete may be the best one.
  const best = complete.includes(null) ? [] : bestOf(complete, calculator.better);
  const total = columns.map(({ record }, i) => {
    const mark = best[i] && html` <span class="tag public best">${BEST_LABEL[calculator.better!]}</span>`;
    return html`<td data-slug="${record.slug}"><span class="value-text">${totalText(totals[i]!, calculator.unit)}</span>${mark}</td>`;
  });
  const order = columns
    .map(({ record }, i) => ({ slug: record.slug, total: complete[i]?.max ?? Infinity }))
    .sort((a, b) => (calculator.better === 'high' ? b.total - a.total : a.total - b.total));
  const sorted = comparePath(
    page,
    order.map(({ slug }) => slug),
  );
  const sort =
    columns.length > 1 && html`<p><a data-swap id="sort-total" href="${prefix}${sorted}">Sort by total</a></p>`;
  return html`${sort}<div class="scroll compare-scroll" role="region" aria-label="${calculator.title} by record" tabindex="0"><table class="compare amounts"><caption class="away">${calculator.title} by record, in ${calculator.unit}</caption>
<thead><tr><td></td>${columns.map((column) => html`<th scope="col">${labelOf(page, column)}</th>`)}</tr></thead>
<tbody>${terms}<tr class="total"><th scope="row">Total</th>${total}</tr></tbody></table></div>`;
}

/** The text of an amount that is not known. */
const AMOUNT_STATE: Readonly<Record<'locked' | 'missing', string>> = { locked: 'Locked', missing: 'No value' };

const MOST = ANALYSIS_BOUNDS.compare;

/** The complete page. */
export function compareHtml(page: ComparisonData): string {
  const { pack, base_url, columns, paid, search } = page;
  const prefix = prefixOf(base_url);
  const names = columns.map((column) => labelOf(page, column));
  const heading = columns.length === 0 ? 'Compare records' : listed(names);
  const title = `${columns.length < 2 ? `Compare ${names[0] ?? ''}`.trim() : names.join(' vs ')} · ${pack.title}`;
  const about = `${columns.length === 0 ? `Up to ${MOST} records` : heading} side by side in ${pack.title}: each value with its source and date.`;
  const plain = { ...page, inputs: {}, differences: false, pack: { ...pack, calculator: null } };
  const url = base_url + comparePath(plain, slugsOf(page));
  const image = { url: base_url + IMAGE_PATHS.dataset(pack.id), alt: pack.title };
  // Comparisons are as many as sets of records: search engines index the plain page only.
  const single = columns.length === 0 && search === '' && !paid;
  return String(html`<!doctype html>
<html lang="en">
<head>
${headHtml(prefix, PAGE_ASSETS)}
<title>${title}</title>
<meta name="description" content="${about}">
${openGraphHtml({ title, description: about, url, image })}
<link rel="canonical" href="${url}">
${!single && html`<meta name="robots" content="noindex">`}
<script type="module" src="${prefix + COMPARE_ASSET.path}"></script>
</head>
<body class="wide-page">
${headerHtml(prefix, `/datasets/${pack.id}/`)}
<main id="main" class="compare-page">
<p class="away" role="status" id="compare-status"></p>
<div id="compare-content">
<nav class="crumbs" aria-label="Breadcrumb"><a href="${prefix}/">Register</a> <span aria-hidden="true">/</span> <a href="${prefix}/datasets/${pack.id}/">${pack.title}</a> <span aria-hidden="true">/</span> <a href="${prefix}/compare/${pack.id}">Compare</a></nav>
<h1 tabindex="-1">${heading}</h1>
${columns.length === 0 && html`<p class="lead">Up to ${MOST} records of ${pack.title} side by side: each value with its source and date, differences and history.</p>`}
${notes(page)}
${columns.length > 0 ? comparison(page, prefix) : finder(page, prefix)}
</div>
</main>
${footerHtml(prefix)}
</body>
</html>
`);
}

const slugsOf = ({ columns }: ComparisonData): string[] => columns.map(({ record }) => record.slug);

/** `A, B and C`. */
const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

function comparison(page: ComparisonData, prefix: string): Html {
  const { columns, differences } = page;
  const locked = lockedAttributes(page);
  const only =
    columns.length > 1 &&
    html`<label class="only"><input type="checkbox" id="differences"${differences && html` checked`}> Differences only</label>`;
  const offer =
    locked.length > 0 &&
    html`<a href="#load">${plural(locked.length, 'locked attribute')}: ${printEuro(packPrice(page.pack, 'compare'))}</a>`;
  return html`<div class="compare-bar">${only}<a href="#add-record">Add a record</a>${offer}${page.pack.calculator && html`<a href="#calculator">${page.pack.calculator.title}</a>`}</div>
${compareTable(page, prefix)}
${locked.length > 0 && loadBox(page, prefix)}
${calculatorSection(page, prefix)}${finder(page, prefix)}${historySection(page)}${apiSection(page, prefix)}`;
}

/** Unknown and surplus ids, and records that no source lists any more. */
function notes({ pack, columns, missing, dropped }: ComparisonData): Html {
  const texts = [
    ...missing.map((id) => `“${printable(id)}” is not in this dataset: the id is wrong, or the record was removed.`),
    ...(dropped > 0
      ? [`A comparison has at most ${MOST} records; ${plural(dropped, 'more record')} of the address left out.`]
      : []),
    ...columns.flatMap(({ record }) => goneNote(pack, record) ?? []),
  ];
  return html`${texts.map((text) => html`<p class="note">${text}</p>\n`)}`;
}

/** What is locked, and the button that loads it for its price. */
function loadBox(page: ComparisonData, prefix: string): Html {
  const { pack, columns } = page;
  const locked = lockedAttributes(page);
  const about = html`<strong>${plural(locked.length, 'locked attribute')}:</strong> ${locked.map(attributeLabel).join(', ')}. One call loads ${columns.length === 1 ? 'them' : `them for ${columns.length === 2 ? 'both' : `all ${columns.length}`} records`}.`;
  const args = { ids: slugsOf(page).join(), format: 'html' };
  const path = comparePath(page, slugsOf(page));
  const what = 'the locked values';
  const price = packPrice(pack, 'compare');
  return offerHtml({ prefix, path, what, about, price, operation: 'entity_compare', dataset: pack.id, args });
}

/** The search for a record to add, with its results or suggestions. */
function finder(page: ComparisonData, prefix: string): Html {
  const { pack, columns, search, candidates, differences, inputs, paid } = page;
  if (paid) return html``;
  const slugs = slugsOf(page);
  const title = columns.length === 0 ? 'Choose records' : 'Add a record';
  if (slugs.length >= MOST)
    return html`<section aria-labelledby="add-record"><h2 id="add-record">${title}</h2><p>A comparison has at most ${MOST} records. Remove one to add another.</p></section>`;
  const kept = [
    ...(slugs.length > 0 ? [['ids', slugs.join()]] : []),
    ...(pack.calculator?.inputs ?? []).map(({ name }) => [name, String(inputs[name])]),
    ...(differences ? [['differences', '1']] : []),
  ];
  const rows = candidates.map(
    (candidate: Candidate) =>
      html`<li><input type="checkbox" name="ids" value="${candidate.slug}" form="add-several" aria-label="Choose ${candidate.name}"><a data-swap href="${prefix}${comparePath(page, [...slugs, candidate.slug])}"><b>Add ${candidate.name}</b> <span class="quiet">${candidate.detail}</span></a></li>`,
  );
  const fields = kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  const several =
    rows.length > 1 &&
    html`<form id="add-several" action="${prefix}/compare/${pack.id}">${fields}<button class="button plain" type="submit">Add the chosen records</button></form>`;
  const status =
    search === ''
      ? ''
      : candidates.length === 0
        ? `No other record has “${printable(search)}”.`
        : plural(candidates.length, 'result');
  return html`<section aria-labelledby="add-record"><h2 id="add-record"${slugs.length === 0 && html` class="away"`}>${title}</h2>
<search><form id="add-form" class="add-form" action="${prefix}/compare/${pack.id}">${fields}
<label for="add-text">Search ${pack.title}</label><div><input id="add-text" name="add" type="search" value="${search}" autocomplete="off" spellcheck="false" placeholder="Name or code"><button class="button" type="submit">Search</button></div></form></search>
<p class="small quiet" role="status" id="add-status">${status}</p>
<div id="add-results">${search === '' && rows.length > 0 && html`<h3>${columns.length === 0 ? 'Best known' : 'Similar'}</h3>`}<ul class="candidates">${rows}</ul>${several}</div>
</section>
`;
}

/** One chart for each public number that changed in a record, with a line for each record. */
function historySection(page: ComparisonData): Html {
  const { pack, columns } = page;
  const charts = pack.attributes.flatMap((attribute) => {
    const { name, type, public: open } = attribute;
    if (!open || !NUMERIC.includes(type)) return [];
    const lines = columns.flatMap((column, i): ChartLine[] => {
      const steps = column.history[name] ?? [];
      const checked = column.record.provenance[name]?.observed_at;
      const label = labelOf(page, column);
      return steps.length === 0 || checked === undefined ? [] : [{ name: label, place: i + 1, steps, checked }];
    });
    if (!lines.some(({ steps }) => steps.length > 1)) return [];
    return [chart(attribute, lines)];
  });
  if (charts.length === 0) return html``;
  return html`<section aria-labelledby="history" class="history"><h2 id="history">History</h2>
${rangeSwitch()}${charts}</section>
`;
}

function chart(attribute: Attribute, lines: readonly ChartLine[]): Html {
  const { unit } = attribute;
  const title = attributeLabel(attribute);
  const legend = lines.map(({ name: label, place, steps }) => {
    const newest = steps.at(-1)!;
    const value = newest.value === null ? 'withdrawn' : printWithUnit(newest.value, unit);
    return html`<li><svg viewBox="0 0 32 8" aria-hidden="true" class="line-${place}"><path class="line" d="M1 4H31"/></svg>${label} <strong>${value}</strong> <span class="quiet">since ${printDate(newest.at)}</span></li>`;
  });
  const tables = lines.map(({ name: label, steps }) => html`<h4>${label}</h4>${stepTable(steps, unit)}`);
  return html`<figure class="course"><figcaption>${title}</figcaption>
<ul class="legend">${legend}</ul>
${stepCharts(attribute, lines)}
${chartLinks(attribute, lines)}
<details><summary>Show as table<span class="away"> ${title}</span></summary>${tables}</details></figure>
`;
}

/** The same from a program. */
function apiSection(page: ComparisonData, prefix: string): Html {
  const { pack, base_url } = page;
  const slugs = slugsOf(page);
  const call = `${base_url}/v1/${pack.id}/compare?ids=${slugs.join()}`;
  return html`<section aria-labelledby="call"><h2 id="call">API</h2>
<figure class="call"><figcaption>This comparison with all its values: ${printEuro(packPrice(pack, 'compare'))} a call, with an API key</figcaption><button class="copy" type="button" data-copy="${call}">Copy</button><pre tabindex="0" role="group" aria-label="URL of the comparison"><code>${call}</code></pre></figure>
<p><a href="${prefix}/compare/${pack.id}.md?ids=${slugs.join()}">Public values as Markdown</a>, free</p></section>
`;
}
