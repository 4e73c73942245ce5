// The form in which owners edit a record: a field for each editable attribute, and the values of a submitted
// form.
import type { ValidationIssue } from '../../data/model/errors.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import { hasTooManyDigits } from '../../packs/define/digits.ts';
import type { Attribute, Pack, Value } from '../../packs/define/model.ts';
import { type Html, html, joinHtml } from '../pages/html.ts';

/** Prefix of the fields of attributes, so that no attribute's name is that of another field. */
const FIELD = 'value.';

/** The submitted fields by name. */
export type FormInput = Pick<URLSearchParams, 'get'>;

/** Attributes that owners may edit. */
const editable = (pack: Pack): Attribute[] => pack.attributes.filter((attribute) => attribute.editable);

/** A value as the text of its field. */
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

/** The value of a field's text. Text that cannot be parsed is returned as it is; the schema rejects it. */
function meant({ type }: Attribute, text: string): unknown {
  const number = (part: string): number | string =>
    part.trim() === '' || Number.isNaN(Number(part)) || hasTooManyDigits(part.trim()) ? part.trim() : Number(part);
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

/** Browsers send CRLF; surrounding white space is dropped. */
const plain = (text: string): string => text.replace(/\r\n?/g, '\n').trim();

/**
 * The changed values of a submitted form; null withdraws a value that the owner set. Emptying a value of the
 * sources is an issue.
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
    const isOwners = record.provenance[name]?.source.kind === 'owner';
    if (plain(text) !== '') values[name] = meant(attribute, plain(text));
    else if (isOwners) values[name] = null;
    else {
      const msg = 'is from our sources; it can be replaced but not removed';
      issues.push({ loc: ['body', 'values', name], msg, type: 'not_yours' });
    }
  }
  return { values, issues };
}

const WORDS: Partial<Record<Attribute['type'], string>> = {
  strings: 'One per line.',
  geo: 'Latitude and longitude, separated by a comma.',
  date: 'Year-month-day, such as 2026-11-20.',
  url: 'A complete URL, starting with https://.',
};

/** The label of a field: `Runway length (ft)` for `runway_length`. */
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
  const unset = ['', 'Not set'] as const;
  switch (attribute.type) {
    case 'boolean':
      return choice([unset, ['yes', 'Yes'], ['no', 'No']]);
    case 'enum':
      if (attribute.values) return choice([unset, ...attribute.values.map((option) => [option, option] as const)]);
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

/** The fields with the submitted input, or else the record's values; each with its error. */
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
    const isOwners = record.provenance[name]?.source.kind === 'owner';
    const from = now === '' ? 'No value yet.' : isOwners ? 'Set by you.' : 'From our sources.';
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
