// The table of a comparison: one column for each record, one row for each attribute.

import { endsOf } from '../../packs/define/calculator.ts';
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { packPrice } from '../contract/pricing.ts';
import { BEST_LABEL, bestOf, rowState } from '../render/comparison.ts';
import { distinctionOf } from '../render/distinction.ts';
import { printDate, printEuro, printWithUnit, webAddress } from '../render/print.ts';
import { STATUS_MEANING } from '../render/status-mark.ts';
import { type ComparedColumn, type ComparisonData, comparePath, labelOf } from './compare-data.ts';
import { type Html, html } from './html.ts';
import { breakable, sourceLink } from './record-values.ts';

/** Whether an attribute is locked: a paid column of the comparison, on the free page. */
const isLocked = ({ public: open, name }: Attribute, { pack, paid }: ComparisonData): boolean =>
  !open && !paid && pack.compare.includes(name);

/** Attributes that the page offers to load. */
export const lockedAttributes = (page: ComparisonData): Attribute[] =>
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
export function compareTable(page: ComparisonData, prefix: string): Html {
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
  return html`<tr class="${state}" data-attribute="${name}"${direction}><th scope="row" title="${description}"><code>${breakable(name)}</code>${!open && html`<span class="tag paid">paid</span>`}</th>${cells}</tr>
`;
}

function cell({ record, sources }: ComparedColumn, { name, unit, better }: Attribute, best: boolean): Html {
  const value = record.attributes[name];
  const provenance = record.provenance[name];
  if (value === undefined || provenance === undefined)
    return html`<td class="none" data-slug="${record.slug}"><span aria-hidden="true">–</span><span class="away">no value</span></td>`;
  const ends = endsOf(value);
  const data = ends !== null && html` data-min="${ends.min}" data-max="${ends.max}"`;
  const text = printWithUnit(value, unit);
  const own = typeof value === 'string' ? webAddress(value) : null;
  const { observed_at, status } = provenance;
  const mark = best && better !== undefined && html` <span class="tag public best">${BEST_LABEL[better]}</span>`;
  return html`<td data-slug="${record.slug}"${data}><span class="said">${own === null ? text : html`<a href="${own}" rel="nofollow">${text}</a>`}</span>${mark}${status !== undefined && html` <span class="quiet small">${status}: ${STATUS_MEANING[status]}</span>`}<span class="origin">${sourceLink(name, provenance, { sources })} <time datetime="${observed_at}">${printDate(observed_at)}</time></span></td>`;
}

function lockedCell({ record }: ComparedColumn, { name }: Attribute, pack: Pack): Html {
  const price = printEuro(packPrice(pack, 'compare'));
  return html`<td class="locked" data-slug="${record.slug}"><a href="#load" aria-label="${name} of ${record.name} is locked; one call loads all locked values for ${price}">Locked</a></td>`;
}
