// The rows of a record page: one for each value, with its source, and one for each field that is not free.
import type { Provenance, PublicRecord } from '../../data/model/record.ts';
import { attributeLabel } from '../../packs/define/labels.ts';
import type { Attribute, Pack, Value } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { packPrice } from '../contract/pricing.ts';
import { plural, printDate, printWithUnit, webAddress } from '../render/print.ts';
import { STATUS_MEANING } from '../render/status-mark.ts';
import { minute } from '../render/times.ts';
import { type Html, html, joinHtml, raw } from './html.ts';
import { offerHtml } from './offer.ts';
import type { RelatedData, Step } from './related-data.ts';

/** Values in the history of one row; the newest ones. */
const LISTED = 20;
/** Characters of evidence on the page. */
const QUOTED = 400;

export interface RecordRows {
  record: PublicRecord;
  pack: Pack;
  related: RelatedData;
  /** Values that only a paid answer contains. */
  locked: number;
  /** Path of the base URL. */
  prefix: string;
}

/** The section with the values, and the fields that only paid answers contain. */
export function valuesSection(rows: RecordRows): Html {
  const { record, pack, locked } = rows;
  // Which of them have a value is paid too.
  const closed = pack.attributes.filter(
    ({ public: open, name }) => locked > 0 && !open && record.attributes[name] === undefined,
  );
  const { core } = pack.serving;
  const main = new Set([...pack.compare, ...core]);
  const more = closed.filter(({ name }) => !main.has(name));
  const isCore = ({ name }: Attribute) => core.includes(name);
  const lines = pack.attributes
    .toSorted((a, b) => Number(isCore(b)) - Number(isCore(a)))
    .flatMap((attribute) => {
      if (record.attributes[attribute.name] !== undefined) return [valueRow(attribute, rows)];
      return closed.includes(attribute) && main.has(attribute.name) ? [lockedRow(attribute)] : [];
    });
  const none = Object.keys(record.attributes).length === 0;
  return html`${keyNumbers(rows, closed)}<section aria-labelledby="values"><h2 id="values">Values</h2>
${none && html`<p class="empty">No public values.</p>`}
<dl class="facts">
${joinHtml(lines)}
</dl>
${locked > 0 && offer(rows, closed.length)}${more.length > 0 && html`<details class="more-fields"><summary>${plural(more.length, 'more field')}</summary><dl class="facts">\n${joinHtml(more.map(lockedRow))}\n</dl></details>`}
</section>`;
}

/** The main numbers of the record; a locked one leads to its offer. */
function keyNumbers({ record, pack }: RecordRows, closed: readonly Attribute[]): Html {
  const numbers = pack.attributes.flatMap((attribute) => {
    const { name, type, unit } = attribute;
    if (!pack.serving.core.includes(name) || !NUMERIC.includes(type)) return [];
    const value = record.attributes[name];
    if (value === undefined && !closed.includes(attribute)) return [];
    const text =
      value === undefined
        ? html`<a href="#load">Locked</a>`
        : html`<a href="#field-${name}">${printWithUnit(value, unit)}</a>`;
    return [html`<div><dt>${attributeLabel(attribute)}</dt><dd>${text}</dd></div>`];
  });
  return numbers.length > 0
    ? html`<dl class="key-numbers">${numbers.slice(0, 6)}</dl>
`
    : html``;
}

/** Allows line breaks in long names after a dot or an underscore. */
const breakable = (name: string): Html => raw(html`${name}`.replace(/[._](?=.)/g, '$&<wbr>'));

function valueRow(attribute: Attribute, { record, related }: RecordRows): Html {
  const { name, unit } = attribute;
  const value = record.attributes[name]!;
  const provenance = record.provenance[name]!;
  const { observed_at, confidence, status } = provenance;
  const steps = related.history[name] ?? [];
  const summary = steps.length > 1 ? `History (${steps.length})` : 'Evidence';
  const label = attributeLabel(attribute);
  return html`<div class="fact" id="field-${name}"><dt>${label}</dt><dd class="value-text">${linkedValue(value, unit)}${status !== undefined && html` <span class="quiet small">${status}: ${STATUS_MEANING[status]}</span>`}</dd><dd class="origin">${sourceLink(attribute, provenance, related)} <span>checked <time datetime="${observed_at}">${printDate(observed_at)}</time></span> <span>confidence ${confidence.toFixed(2)}</span></dd>
<dd class="proof"><details><summary>${summary}<span class="away"> of ${label}</span></summary>${proof(attribute, provenance, steps)}</details></dd></div>`;
}

/** A value with its unit; an address is a link, also in a list. */
export function linkedValue(value: Value, unit: string | null): Html {
  if (Array.isArray(value))
    return joinHtml(
      value.map((entry) => linkedValue(entry, null)),
      ', ',
    );
  const address = typeof value === 'string' ? webAddress(value) : null;
  const text = printWithUnit(value, unit);
  return address === null ? html`${text}` : html`<a href="${address}" rel="nofollow">${text}</a>`;
}

/** The source by its title; the host of its address where the title is unknown. */
export function sourceLink(
  attribute: Pick<Attribute, 'name' | 'label'>,
  { source_url, source }: Provenance,
  { sources }: Pick<RelatedData, 'sources'>,
): Html {
  const { name } = attribute;
  const address = webAddress(source_url);
  if (source.kind === 'owner') return html`<span>verified owner</span>`;
  if (address === null) return html`<span>${sources[name] ?? 'no web page'}</span>`;
  const title = sources[name] ?? new URL(address).hostname.replace(/^www\./, '');
  return html`<a href="${address}" rel="nofollow" aria-label="Source of ${attributeLabel(attribute)}: ${title}">${title}</a>`;
}

/** Meaning, evidence, address and history of a value. */
function proof({ name, description, unit }: Attribute, provenance: Provenance, steps: readonly Step[]): Html {
  const { source_url, observed_at, evidence } = provenance;
  const address = webAddress(source_url);
  const quote = evidence.length > QUOTED ? `${evidence.slice(0, QUOTED)}…` : evidence;
  return html`<p>${description}.</p>
<dl class="origin-facts">${evidence !== '' && html`<div><dt>Evidence</dt><dd>“${quote}”</dd></div>`}${address !== null && html`<div><dt>Read from</dt><dd><a href="${address}" rel="nofollow">${source_url}</a></dd></div>`}<div><dt>Checked</dt><dd>${minute(observed_at)} UTC</dd></div><div><dt>In the API</dt><dd><code>${breakable(name)}</code></dd></div></dl>
${steps.length > 0 && stepTable(steps, unit)}`;
}

/** Published values of one attribute, newest first, each with its source. */
export function stepTable(steps: readonly Step[], unit: string | null): Html {
  const rows = steps
    .slice(-LISTED)
    .toReversed()
    .map(({ at, value, source_url }) => {
      const address = source_url === undefined ? null : webAddress(source_url);
      const text = value === null ? 'withdrawn' : printWithUnit(value, unit);
      return html`<tr><td><time datetime="${at}">${printDate(at)}</time></td><td>${text}</td><td>${address !== null && html`<a href="${address}" rel="nofollow" aria-label="Source on ${printDate(at)}">source</a>`}</td></tr>`;
    });
  const older = steps.length - rows.length;
  return html`<table class="steps"><thead><tr><th scope="col">Since</th><th scope="col">Value</th><th scope="col">Source</th></tr></thead><tbody>${rows}</tbody></table>${older > 0 && html`<p class="small quiet">${plural(older, 'older value')} not shown.</p>`}`;
}

function lockedRow(attribute: Attribute): Html {
  const { name, description } = attribute;
  const label = attributeLabel(attribute);
  return html`<div class="fact locked" id="field-${name}"><dt>${label}</dt><dd class="value-text quiet small">${description}</dd><dd class="origin"><a href="#load" aria-label="${label} is locked: load it">Locked</a></dd></div>`;
}

/** The offer of the locked values; `fields`: the attributes that may have one. */
function offer({ record, pack, locked, prefix }: RecordRows, fields: number): Html {
  return offerHtml({
    prefix,
    path: `/datasets/${pack.id}/${record.slug}`,
    what: plural(locked, 'value'),
    about: html`<strong>${plural(locked, 'more value')}</strong> in ${plural(fields, 'locked field')}, each with its source. Paid once for each release.`,
    price: packPrice(pack, 'get'),
    operation: 'entity_get',
    dataset: pack.id,
    args: { entity_id: record.slug, format: 'html' },
  });
}
