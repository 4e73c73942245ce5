// The part of a question that selects records: filters, words, place, ids, age, quality (contract section 4).
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { words } from '../../packs/define/text.ts';
import { DataError, validationError } from '../model/errors.ts';
import { PROVENANCE_STATUSES, type ProvenanceStatus } from '../model/record.ts';
import type { Predicate, RawInput, Visibility } from '../plan/plan.ts';
import { attributeSuggestion } from './attribute-names.ts';
import { once, parseFilters } from './filters.ts';
import { BOUNDS, type Issues, list, listValues, numberBetween, oneOf, shown, text, time } from './parse-values.ts';

/** Parameters that select records, beside the filters. */
export const SELECTION = ['q', 'near', 'ids', 'updated_since', 'min_quality', 'provenance_status'] as const;

export const invalid = (message: string) => new DataError('invalid_parameter', message);

/** What selects records: the part that search shares with facets, similar, statistics. */
export interface Selection {
  /** Conditions in canonical order, without the words of `q`. */
  where: Predicate[];
  /** Distinct words of `q`; each must begin a word of the record. */
  words: string[];
  /** Some value of the record has one of these; empty: no condition. */
  statuses: ProvenanceStatus[];
  /** Attributes that filters and `near` name. */
  names: string[];
}

/** The only occurrence of a parameter, or undefined when it is absent. */
export function single(raw: RawInput, name: string): string | undefined {
  const given = raw[name];
  return given === undefined ? undefined : once(name, [given].flat());
}

/** An attribute by name; throws 400 naming the nearest of those that `may` stand there. */
export function attributeNamed(
  pack: Pack,
  parameter: string,
  name: string,
  may: (attribute: Attribute) => boolean = () => true,
): Attribute {
  const attribute = pack.attributes.find((candidate) => candidate.name === name);
  if (attribute) return attribute;
  const suggestion = attributeSuggestion(name, pack.attributes, may);
  throw invalid(`${parameter}: ${pack.id} has no attribute "${shown(name)}".${suggestion}`);
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
  const attribute = attributeNamed(pack, parameter, name, counted);
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
  const parts = raw.split(',').map((part) => (DECIMAL.test(part) ? Number(part) : NaN));
  const [lat = NaN, lng = NaN, km = NaN] = parts;
  const problem = parts.length === 3 && parts.every(Number.isFinite) ? outOfRange(lat, lng, km) : malformed(raw);
  if (problem !== null) throw invalid(`near: ${problem}`);
  return { kind: 'near', attribute: geo.name, lat, lng, km };
}

const DECIMAL = /^\s*[+-]?(\d+\.?\d*|\.\d+)\s*$/u;

/** What is wrong with a place or radius in degrees and kilometres; null where nothing is. */
function outOfRange(lat: number, lng: number, km: number): string | null {
  const swapped =
    Math.abs(lat) <= 180 && Math.abs(lng) <= 90 ? ` Latitude comes first: did you mean near=${lng},${lat},${km}?` : '';
  if (Math.abs(lat) > 90) return `the latitude must be between -90 and 90 (got ${lat}).${swapped}`;
  if (Math.abs(lng) > 180) return `the longitude must be between -180 and 180 (got ${lng}).`;
  return km < 0 ? `the radius in kilometres must be at least 0 (got ${km}).` : null;
}

/** What is wrong with a text that is not three numbers, with the numbers that stand in it. */
function malformed(raw: string): string {
  const problem = `must be "lat,lng,km", such as 52.52,13.405,25 (got "${shown(raw)}"; degrees, kilometres).`;
  const numbers = shown(raw).match(/[+-]?(?:\d+\.?\d*|\.\d+)/gu) ?? [];
  if (/[nsew]\b|mi\b|miles|\bm\b/iu.test(raw.replace(/(?<=\d)[NE]\b/gu, ''))) return problem;
  if (numbers.length === 2) return `${problem} Add the radius in kilometres: near=${numbers.join()},<km>.`;
  const [lat, lng, km] = numbers.map(Number);
  if (numbers.length !== 3 || outOfRange(lat!, lng!, km!) !== null) return problem;
  return `${problem} Did you mean near=${numbers.join()}?`;
}

/** Ids or slugs; too many are 400 `too_many_ids`. */
export function parseIds(raw: string[], most: number = BOUNDS.ids): string[] {
  const asked = raw.flatMap(listValues).length;
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

function parseStatuses(raw: string[]): ProvenanceStatus[] {
  return [
    ...new Set(list('provenance_status', raw).map((each) => oneOf('provenance_status', each, PROVENANCE_STATUSES))),
  ].sort();
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
  const given = raw['provenance_status'];
  const statuses = given === undefined ? [] : (issues.attempt(() => parseStatuses([given].flat())) ?? []);
  return { where, words: read('q', parseWords) ?? [], statuses, names: [...names] };
}

/**
 * Whether a question depends on public values alone: it names no other attribute, its words are in no other text, and it does
 * not filter by the status of values, which for a caller who pays is that of every attribute.
 */
export function isPublicQuestion(
  { names, words: found, statuses }: Pick<Selection, 'names' | 'words' | 'statuses'>,
  { attributes }: Pack,
): boolean {
  return !attributes.some(
    (each) =>
      !each.public && (names.includes(each.name) || statuses.length > 0 || (found.length > 0 && each.searchable)),
  );
}

/** All conditions of a selection, its words and statuses included; their scope is decided when the question is asked. */
export function questionOf({ where, words: found, statuses }: Selection, scope: Visibility = 'full'): Predicate[] {
  const scoped: Predicate[] = [];
  if (found.length > 0) scoped.push({ kind: 'words', words: found, scope });
  if (statuses.length > 0) scoped.push({ kind: 'status', statuses, scope });
  return scoped.length === 0 ? where : [...where, ...scoped];
}
