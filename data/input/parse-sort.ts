// `sort`: one key and a direction, with what was meant where it is written as elsewhere.
import type { Attribute, Pack } from '../../packs/define/model.ts';
import type { Sort } from '../plan/plan.ts';
import { attributeSuggestion } from './attribute-names.ts';
import { misspelt } from './names.ts';
import { invalid } from './parse-selection.ts';
import { shown, text } from './parse-values.ts';

type KeyType = 'string' | 'number' | 'boolean';

const KEY_TYPES: Partial<Record<Attribute['type'], KeyType>> = {
  boolean: 'boolean',
  integer: 'number',
  number: 'number',
  price: 'number',
};

/** Keys that are no attributes, with their names elsewhere. */
const KEYS: Record<string, readonly string[]> = {
  quality: ['quality_score', 'score', 'best'],
  updated: ['updated_at', 'modified', 'last_modified', 'last_updated', 'changed', 'recent', 'newest'],
};

/** `price desc`, `price:asc`, `desc(price)`, `+price`. */
const DIRECTED =
  /^(?:(?<before>asc|desc)\((?<inner>.+)\)|\+(?<plus>.+)|(?<key>.+?)[\s:._,|]+(?<after>asc|desc)(?:ending)?)$/iu;

/** `quality`, `updated` or an attribute with one value to order by, `-` for descending; and the type of its values. */
export function parseSort(raw: string, pack: Pack): { sort: Sort; type: KeyType } {
  const wanted = text('sort', raw);
  const descending = wanted.startsWith('-');
  const key = descending ? wanted.slice(1) : wanted;
  if (key in KEYS) return { sort: { key, descending }, type: 'number' };
  const attribute = pack.attributes.find(({ name }) => name === key);
  if (attribute === undefined) throw invalid(`sort: ${unknownKey(wanted, pack)}`);
  const { type } = attribute;
  if (type === 'strings' || type === 'geo')
    throw invalid(`sort: ${key} (${type}) has no order; sort by quality, updated or an attribute with a single value.`);
  return { sort: { key, descending }, type: KEY_TYPES[type] ?? 'string' };
}

/** What is wrong with a key, and which key was meant. */
function unknownKey(wanted: string, pack: Pack): string {
  const { before, inner, plus, key, after } = DIRECTED.exec(wanted)?.groups ?? {};
  const bare = inner ?? plus ?? key;
  if (bare !== undefined && !bare.includes(',')) {
    const minus = /desc/iu.test(before ?? after ?? '') ? '-' : '';
    return `"${shown(wanted)}" is not a key: a "-" in front makes the order descending.${keyMeant(bare, minus, pack)}`;
  }
  const [first = '', ...more] = wanted.split(',').map((part) => part.trim());
  if (more.length > 0 && first !== '')
    return `takes one key (got "${shown(wanted)}").${keyMeant(first.replace(/^-/, ''), first.startsWith('-') ? '-' : '', pack)}`;
  const minus = wanted.startsWith('-') ? '-' : '';
  const unknown = wanted.slice(minus.length);
  return `${pack.id} has no attribute "${shown(unknown)}".${keyMeant(unknown, minus, pack)}`;
}

function keyMeant(typed: string, minus: string, { attributes }: Pack): string {
  const plain = typed.toLowerCase();
  const exact = [...Object.keys(KEYS), ...attributes.map(({ name }) => name)].find((name) => name === plain);
  const key = exact ?? Object.keys(KEYS).find((name) => KEYS[name]?.includes(plain));
  if (key !== undefined) return ` Did you mean "${minus}${key}"?`;
  const [near] = misspelt(plain, Object.keys(KEYS), 2);
  if (near !== undefined) return ` Did you mean "${minus}${near}"?`;
  const ordered = attributes.filter(({ type }) => type !== 'strings' && type !== 'geo');
  return attributeSuggestion(typed, ordered).replaceAll(/"(?=\w)/g, `"${minus}`);
}
