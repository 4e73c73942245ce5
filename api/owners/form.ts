// The form of an owner: a field for each attribute that owners may set, and what they wrote in it as values.
import type { ValidationIssue } from '../../data/model/errors.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Attribute, Pack, Value } from '../../packs/define/model.ts';
import { type Html, html, joinHtml } from '../pages/html.ts';

/** What stands in front of an attribute's name, as the name of its field: nothing else in the form can be mistaken for one. */
const FIELD = 'value.';

/** What was sent, by name of the field. */
export type FormInput = Pick<URLSearchParams, 'get'>;

/** Attributes that an owner sees in the form. */
const editable = (pack: Pack): Attribute[] => pack.attributes.filter((each) => each.editable);

/** A value as somebody would write it in its field. */
function written({ type }: Attribute, value: Value | undefined): string {
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.join('\n');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return String(value);
  return type === 'geo' && 'lat' in value
    ? `${value.lat}, ${value.lng}`
    : 'min' in value
      ? `${value.min} to ${value.max}`
      : '';
}

/** What was written as a value. What cannot be one stays a text, which the schema then refuses in its own words. */
function meant({ type }: Attribute, text: string): unknown {
  const number = (part: string): number | string =>
    part.trim() === '' || Number.isNaN(Number(part)) ? part : Number(part);
  if (type === 'boolean') return text === 'yes' ? true : text === 'no' ? false : text;
  if (type === 'integer' || type === 'number') return number(text);
  if (type === 'strings')
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  if (type === 'geo') {
    const [lat, lng, ...more] = text.split(',').map(number);
    return more.length === 0 && lng !== undefined ? { lat, lng } : text;
  }
  if (type === 'price') {
    const [min, max] = text.split(/\s+to\s+/).map(number);
    return max === undefined ? min : { min, max };
  }
  return text;
}

/** Line ends and blanks around are the browser's. */
const plain = (text: string): string => text.replace(/\r\n?/g, '\n').trim();

/**
 * The values that somebody changed in the form; null takes their own earlier value back. A value of the sources cannot be emptied: those are
 * told as issues.
 */
export function readFormValues(
  sent: FormInput,
  pack: Pack,
  record: StoredRecord,
): { values: Record<string, unknown>; issues: ValidationIssue[] } {
  const values: Record<string, unknown> = {};
  const issues: ValidationIssue[] = [];
  for (const attribute of editable(pack)) {
    const { name } = attribute;
    const text = sent.get(FIELD + name);
    if (text === null || plain(text) === plain(written(attribute, record.attributes[name]))) continue;
    const own = record.provenance[name]?.source.kind === 'owner';
    if (plain(text) !== '') values[name] = meant(attribute, plain(text));
    else if (own) values[name] = null;
    else {
      const msg = 'comes from our sources: you can replace it, and not take it away';
      issues.push({ loc: ['body', 'values', name], msg, type: 'not_yours' });
    }
  }
  return { values, issues };
}

const WORDS: Partial<Record<Attribute['type'], string>> = {
  strings: 'One a line.',
  geo: 'Latitude and longitude, with a comma between.',
  date: 'Year-month-day, such as 2026-11-20.',
  url: 'A whole address, with https:// in front.',
};

/** `runway_length` as people write it. */
const label = ({ name, unit }: Attribute): string => {
  const words = name.replace(/[._]/g, ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${unit === null || unit === words ? '' : ` (${unit})`}`;
};

function control(attribute: Attribute, value: string, about: Html): Html {
  const name = FIELD + attribute.name;
  const choice = (options: readonly (readonly [string, string])[]) => {
    const shown = options.map(
      ([key, word]) => html`<option value="${key}"${key === value && html` selected`}>${word}</option>`,
    );
    return html`<select name="${name}" ${about}>${shown}</select>`;
  };
  const unsaid = ['', 'Not said'] as const;
  switch (attribute.type) {
    case 'boolean':
      return choice([unsaid, ['yes', 'Yes'], ['no', 'No']]);
    case 'enum':
      if (attribute.values) return choice([unsaid, ...attribute.values.map((each) => [each, each] as const)]);
      break;
    case 'strings':
    case 'text':
      return html`<textarea name="${name}" ${about} rows="4">${value}</textarea>`;
    case 'integer':
      return html`<input name="${name}" ${about} inputmode="numeric" autocomplete="off" value="${value}">`;
    case 'number':
    case 'price':
      return html`<input name="${name}" ${about} inputmode="decimal" autocomplete="off" value="${value}">`;
    case 'url':
      return html`<input name="${name}" ${about} inputmode="url" autocomplete="off" value="${value}">`;
    default:
  }
  return html`<input name="${name}" ${about} autocomplete="off" value="${value}">`;
}

/** The fields, filled with what was sent, or with what the record says; each with what is wrong with it. */
export function ownerFields(
  pack: Pack,
  record: StoredRecord,
  sent: FormInput | null,
  issues: readonly ValidationIssue[],
): Html {
  const fields = editable(pack).map((attribute) => {
    const { name } = attribute;
    const id = `v-${name.replace(/[^a-z0-9]/gi, '-')}`;
    const wrong = issues.find(({ loc }) => loc[2] === name)?.msg;
    const now = written(attribute, record.attributes[name]);
    const own = record.provenance[name]?.source.kind === 'owner';
    const from = now === '' ? 'Nothing is said yet.' : own ? 'Set by you.' : 'From our sources.';
    const hint = [attribute.description.replace(/([^.!?])$/, '$1.'), WORDS[attribute.type], from]
      .filter(Boolean)
      .join(' ');
    const invalid = wrong !== undefined && html` aria-invalid="true"`;
    const about = html`id="${id}" aria-describedby="${id}-h${wrong === undefined ? '' : ` ${id}-e`}"${invalid}`;
    return html`<div class="field">
<label for="${id}">${label(attribute)}</label>
${control(attribute, plain(sent?.get(FIELD + name) ?? now), about)}
<p class="hint" id="${id}-h">${hint}</p>
${wrong !== undefined && html`<p class="wrong" id="${id}-e">${label(attribute)} ${wrong}.</p>`}</div>`;
  });
  return joinHtml(fields);
}
