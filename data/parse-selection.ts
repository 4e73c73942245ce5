// The part of a question that selects records: filters, words, place, ids, age, quality (contract section 4).
import type { Attribute, Pack } from '../packs/model.ts';
import { words } from '../packs/text.ts';
import { DataError, validationError } from './errors.ts';
import { once, parseFilters } from './filters.ts';
import { hint } from './names.ts';
import { BOUNDS, type Issues, list, numberBetween, shown, splitList, text, time } from './parse-values.ts';
import type { Predicate, RawInput } from './plan.ts';

/** Parameters that select records, beside the filters. */
export const SELECTION = ['q', 'near', 'ids', 'updated_since', 'min_quality'] as const;

export const invalid = (message: string) => new DataError('invalid_parameter', message);

/** What selects records: the part that search shares with facets, similar, statistics. */
export interface Selection {
  /** Conditions in canonical order, without the words of `q`. */
  where: Predicate[];
  /** Distinct words of `q`; each must begin a word of the record. */
  words: string[];
  /** Attributes that filters and `near` name. */
  names: string[];
}

/** The only occurrence of a parameter, or undefined when it is absent. */
export function single(raw: RawInput, name: string): string | undefined {
  const given = raw[name];
  return given === undefined ? undefined : once(name, [given].flat());
}

/** An attribute by name; throws 400 naming the nearest. */
export function attributeNamed(pack: Pack, parameter: string, name: string): Attribute {
  const attribute = pack.attributes.find((candidate) => candidate.name === name);
  if (attribute) return attribute;
  const names = pack.attributes.map((candidate) => candidate.name);
  const member = names.find((each) => each.startsWith(`${name}.`));
  const instead = member ? ` Did you mean "${member}"?` : hint(name, names);
  throw invalid(`${parameter}: ${pack.id} has no attribute "${shown(name)}".${instead}`);
}

/** Attribute types that records can be counted or grouped by. */
const COUNTED: readonly Attribute['type'][] = [
  'string',
  'url',
  'enum',
  'boolean',
  'integer',
  'number',
  'date',
  'strings',
];

/** Whether records can be counted or grouped by an attribute. */
export const counted = (one: Attribute): boolean => one.filterable && COUNTED.includes(one.type);

/** An attribute to count or group by; throws 400 naming those that can be. */
export function countedAttribute(pack: Pack, parameter: string, name: string): Attribute {
  const attribute = attributeNamed(pack, parameter, name);
  if (counted(attribute)) return attribute;
  const can = pack.attributes.filter(counted).map((one) => one.name);
  throw invalid(
    `${parameter}: ${name} (${attribute.type}) cannot be counted or grouped by; choose one of ${can.join(', ')}.`,
  );
}

/** `near=lat,lng,km`; malformed or without geography it is 400 (specification section 4). */
function parseNear(raw: string, pack: Pack): Predicate {
  const [geo, second] = pack.attributes.filter((attribute) => attribute.type === 'geo');
  if (!geo || second)
    throw invalid(`near: ${pack.id} has ${second ? 'more than one' : 'no'} geographic attribute to search around.`);
  const numbers = raw.split(',').map((part) => (/^\s*[+-]?(\d+\.?\d*|\.\d+)\s*$/u.test(part) ? Number(part) : NaN));
  const [lat = NaN, lng = NaN, km = NaN] = numbers;
  const valid = numbers.length === 3 && Math.abs(lat) <= 90 && Math.abs(lng) <= 180 && km >= 0 && Number.isFinite(km);
  if (!valid)
    throw invalid(`near: expected "lat,lng,km" such as 52.52,13.405,25, found "${shown(raw)}" (degrees, kilometres).`);
  return { kind: 'near', attribute: geo.name, lat, lng, km };
}

/** Ids or slugs; too many are 400 `too_many_ids`. */
export function parseIds(raw: string[], most: number = BOUNDS.ids): string[] {
  const asked = raw.flatMap(splitList).length;
  if (asked > most) throw new DataError('too_many_ids', `ids: at most ${most} at once, found ${asked}.`);
  return list('ids', raw);
}

function parseWords(raw: string): string[] {
  const found = [...new Set(words(text('q', raw, BOUNDS.q)))];
  if (found.length === 0) throw validationError('q', 'must hold a word to search for', 'string_too_short', shown(raw));
  if (found.length > BOUNDS.words)
    throw validationError('q', `takes at most ${BOUNDS.words} different words`, 'too_long', `${found.length} words`);
  return found.sort();
}

/** Reads what selects records. Names outside `parameters` are filters; unknown ones are 400. */
export function parseSelection(raw: RawInput, pack: Pack, parameters: readonly string[], issues: Issues): Selection {
  const filters = issues.attempt(() => parseFilters(raw, pack, parameters)) ?? { where: [], names: [] };
  const where = [...filters.where];
  const names = new Set(filters.names);
  const read = <T>(name: string, parse: (value: string) => T): T | undefined =>
    issues.attempt(() => {
      const value = single(raw, name);
      return value === undefined ? undefined : parse(value);
    });
  const near = read('near', (value) => parseNear(value, pack));
  if (near?.kind === 'near') {
    where.push(near);
    names.add(near.attribute);
  }
  const ids = raw['ids'];
  const refs = ids === undefined ? undefined : issues.attempt(() => parseIds([ids].flat()));
  if (refs) where.push({ kind: 'ids', refs: refs.map((ref) => ref.toLowerCase()).sort() });
  const at = read('updated_since', (value) => time('updated_since', value));
  if (at !== undefined) where.push({ kind: 'updated_since', at });
  const quality = read('min_quality', (value) => numberBetween('min_quality', value, 0, 1));
  if (quality !== undefined) where.push({ kind: 'min_quality', value: quality });
  return { where, words: read('q', parseWords) ?? [], names: [...names] };
}

/** All conditions of a selection, its words included; their scope is decided when the question is asked. */
export function questionOf({ where, words: found }: Selection, scope: 'public' | 'full' = 'full'): Predicate[] {
  return found.length === 0 ? where : [...where, { kind: 'words', words: found, scope }];
}
