// One record as Markdown, with the template of its dataset (record.md) and all external values escaped.

import { Liquid, type Template } from 'liquidjs';
import type { PublicRecord } from '../../data/model/record.ts';
import { derive } from '../../packs/define/derive.ts';
import type { Pack } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { isPlainAscii, linkTarget, markdown } from './markdown.ts';
import { printAge, printWithUnit } from './print.ts';
import { STATUS_MARK, statusLegend } from './status-mark.ts';
import { compilePage, type PageScope } from './template-compile.ts';

const WEB_ADDRESS = /^https?:\/\/\S+$/i;

/** Output of a template: a text that is a web address stays unchanged, anything else is escaped. */
function escapeOutput(value: unknown): string {
  if (typeof value === 'string' && WEB_ADDRESS.test(value)) return linkTarget(value) ?? markdown(value);
  return Array.isArray(value) ? value.map(escapeOutput).join(', ') : markdown(value);
}

/** Whether `escapeOutput` returns a text unchanged, when that is known quickly. */
const isPlain = (text: string): boolean => isPlainAscii(text) && !/^http/i.test(text);

const liquid = new Liquid({
  outputEscape: escapeOutput,
  ownPropertyOnly: true,
  strictFilters: true,
  // No partials: a template cannot read files.
  templates: {},
});

/** Parses record.md; throws LiquidJS's error with line and column for a mistake in it. */
export function parseTemplate(template: string): (scope: PageScope) => string {
  const parsed: Template[] = liquid.parse(template);
  return compilePage(liquid, parsed, isPlain);
}

/** Variables of record.md: `record`, `values` (text with unit), `rows` (value by value with provenance). */
export function recordScope(record: PublicRecord, pack: Pack): PageScope {
  const values: Record<string, string> = {};
  const rows: Record<string, unknown>[] = [];
  for (const { name, type, unit } of pack.attributes) {
    const value = record.attributes[name];
    const provenance = record.provenance[name];
    if (value === undefined || provenance === undefined) continue;
    const plain = printWithUnit(value, unit);
    const text = provenance.status === undefined ? plain : `${plain} ${STATUS_MARK}`;
    const hours = record.freshness[name];
    // Templates compare texts, such as those of an enum; numbers are only printed.
    values[name] = NUMERIC.includes(type) ? text : plain;
    rows.push({
      attribute: name,
      value: text,
      source_url: provenance.source_url,
      observed_at: provenance.observed_at,
      age: hours === undefined ? undefined : printAge(hours),
      confidence: provenance.confidence,
      evidence: provenance.evidence,
      kind: provenance.source.kind,
      status: provenance.status,
    });
  }
  const { id, slug, name, dataset, url, updated_at, quality_score, completeness, verified_owner } = record;
  const { license, attribution } = record;
  return {
    record: {
      id,
      slug,
      name,
      dataset,
      url,
      updated_at,
      quality_score,
      completeness,
      verified_owner,
      license,
      attribution,
      preview: record.preview ?? false,
      sample: record.sample ?? false,
    },
    values,
    rows,
  };
}

interface Compiled {
  print: (scope: PageScope) => string;
  /** The members that the template prints itself, so that the page need not add them. */
  names: { attribution: boolean; license: boolean };
}

/** A text without white space at the ends of its lines, and with at most one empty line between two others. */
function withoutGaps(text: string): string {
  // Most pages have none; `includes` finds that in a fraction of the time.
  const even = [' \n', '\t\n', '\r', '\u2028', '\u2029'].every((gap) => !text.includes(gap));
  const lines = even ? text : text.replace(/[ \t]+$/gm, '');
  return (lines.includes('\n\n\n') ? lines.replace(/\n{3,}/g, '\n\n') : lines).trim();
}

/**
 * A record in the template of its dataset: the paid answer with every value, the public page with the public
 * ones. Citation and licence follow if the template does not print them, and a sample is marked as fictional.
 */
export function recordMarkdown(record: PublicRecord, pack: Pack): string {
  const template = derive(pack, 'template', (): Compiled => {
    const names = (member: string) => new RegExp(`\\brecord\\.${member}\\b`).test(pack.template);
    const printedMembers = { attribution: names('attribution'), license: names('license') };
    return { print: parseTemplate(pack.template), names: printedMembers };
  });
  const body = withoutGaps(template.print(recordScope(record, pack)));
  const sample = record.sample === true ? 'Fictional sample: no value is real.\n\n' : '';
  const { attribution, license } = template.names;
  const legend = statusLegend(Object.values(record.provenance));
  const missing = [
    !attribution && escapeOutput(record.attribution),
    !license && `License: ${escapeOutput(record.license)}`,
  ];
  const blocks = [body, legend, missing.filter(Boolean).join(' ')].filter(Boolean);
  return `${sample}${blocks.join('\n\n').trim()}\n`;
}

/**
 * Records one after the other. Names repeat (one model at many providers), so each heading also has the slug,
 * and the value of the grouping attribute where it is shown. The citation of the answer follows once; a
 * record has the URL of its page.
 */
export function recordsMarkdown(records: readonly PublicRecord[], pack: Pack): string[] {
  return records.map((record) => recordSection(record, pack));
}

/** One of several records (`recordsMarkdown`). */
export function recordSection(record: PublicRecord, pack: Pack): string {
  const group = record.attributes[pack.group_by];
  const marks = [record.slug, ...(group === undefined ? [] : [escapeOutput(group)])].join(', ');
  const text = recordMarkdown({ ...record, attribution: record.url }, pack).trim();
  return text.replace(/^# .*$/m, (heading) => `${heading} (${marks})`);
}
