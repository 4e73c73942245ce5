// Raw parameters of search, get, batch and facets to typed input, with the split of 400 and 422 of contract section 4.
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { RECORD_MEMBERS } from '../../packs/define/record-schema.ts';
import { DataError, rewordError, validationError } from '../model/errors.ts';
import type { RawInput, Sort } from '../plan/plan.ts';
import { attributeSuggestion } from './attribute-names.ts';
import { type Cursor, type Cursors, EXAMPLE_CURSORS } from './cursor.ts';
import { FORMATS, type Format, formatNamed, formatParameters, SEARCH_FORMATS } from './formats.ts';
import { misspelt } from './names.ts';
import {
  countedAttribute,
  invalid,
  parseIds,
  parseSelection,
  questionOf,
  SELECTION,
  type Selection,
  single,
} from './parse-selection.ts';
import { BOUNDS, boolean, Issues, integer, list, oneOf, shown, text } from './parse-values.ts';
import { unknownParameter } from './unknown-parameter.ts';

/** What the parsers need to know of the request. */
export interface ParseOptions {
  /** Path parameters inside the raw input, which are not query parameters: `ds`, `entity_id`. */
  path?: readonly string[];
  /** The negotiated format, where the channel has found one; else the `format` parameter decides. */
  format?: Format;
  /** Reads the cursor of search; without it every cursor is invalid. */
  cursors?: Cursors | undefined;
}

/** Input of search. `names` holds also the attributes of `sort` and `fields`. */
export interface SearchInput extends Selection {
  sort: Sort;
  /** Whether an order was asked for; else `sort` is the usual one. */
  ordered: boolean;
  cursor: Cursor | null;
  limit: number;
  /** Attributes to keep, in the pack's order; null: all. */
  fields: string[] | null;
  total: boolean;
  format: Format;
}

export interface FacetsInput extends Selection {
  by: string;
  limit: number;
}

export interface GetInput {
  fields: string[] | null;
  names: string[];
}

export interface BatchInput extends GetInput {
  ids: string[];
}

const SEARCH = [...SELECTION, 'sort', 'cursor', 'limit', 'fields', 'total', 'format'] as const;
const FACETS = [...SELECTION, 'by', 'limit', 'format'] as const;

/**
 * The attributes that `fields` selects: names, or a group such as `price` for all of `price.*`. Of a group only the public
 * members count as named when it has any, so that a preview shows those.
 */
export function parseFields(raw: string[], pack: Pack): { fields: string[]; names: string[] } {
  const fields = new Set<string>();
  const names = new Set<string>();
  for (const wanted of list('fields', raw)) {
    const group = pack.attributes.filter((attribute) => attribute.name.startsWith(`${wanted}.`));
    const exact = pack.attributes.find((attribute) => attribute.name === wanted);
    if (!exact && group.length === 0) refuseField(pack, wanted);
    const open = group.filter((attribute) => attribute.public);
    for (const { name } of exact ? [exact, ...group] : group) fields.add(name);
    for (const { name } of exact ? [exact] : open.length > 0 ? open : group) names.add(name);
  }
  const ordered = pack.attributes.map((attribute) => attribute.name).filter((name) => fields.has(name));
  return { fields: ordered, names: [...names] };
}

/** Throws why `fields` cannot select something. */
function refuseField(pack: Pack, wanted: string): never {
  if (/^(?:\*|all)$/iu.test(wanted)) throw invalid(`fields: leave it out for all attributes (got "${wanted}").`);
  if (RECORD_MEMBERS.includes(wanted))
    throw invalid(`fields: ${wanted} is always part of a record; name attributes only, or leave fields out for all.`);
  const suggestion = attributeSuggestion(wanted, pack.attributes);
  throw invalid(`fields: ${pack.id} has no attribute "${shown(wanted)}".${suggestion}`);
}

/** Parses the input of search: `GET /v1/{ds}/entities` (specification section 4). */
export function parseSearch(raw: RawInput, pack: Pack, options: ParseOptions = {}): SearchInput {
  const issues = new Issues();
  const selection = parseSelection(raw, pack, [...SEARCH, ...(options.path ?? [])], issues);
  const read = <T>(name: string, fallback: T, parse: (value: string) => T): T =>
    issues.attempt(() => {
      const value = single(raw, name);
      return value === undefined ? fallback : parse(value);
    }) ?? fallback;
  const named = read<Format>('format', 'json', (value) => searchFormat(value));
  const format = options.format ?? named;
  const limit = read('limit', 20, (value) => pageSize(value, format));
  const total = read('total', false, (value) => boolean('total', value));
  const { sort, type } = read('sort', parseSort('-quality', pack), (value) => parseSort(value, pack));
  const given = raw['fields'];
  const picked = given === undefined ? null : issues.attempt(() => parseFields([given].flat(), pack));
  const token = issues.attempt(() => single(raw, 'cursor'));
  issues.settle();
  if (limit > BOUNDS.page && !FORMATS[format].bulk)
    throw invalid(`limit: at most ${BOUNDS.page} in ${PAGED} (got ${limit}); up to ${BOUNDS.limit} in ${BULK}.`);
  const points = pointsOf(format, pack);
  const where = questionOf(selection);
  const { cursors = EXAMPLE_CURSORS } = options;
  const cursor = token === undefined ? null : cursors.read({ dataset: pack.id, where, sort }, token, type);
  const sorted = sort.key === 'quality' || sort.key === 'updated' ? [] : [sort.key];
  const names = [...new Set([...selection.names, ...sorted, ...(picked?.names ?? [])])];
  const ordered = raw['sort'] !== undefined;
  // A feature has its point, whatever fields were chosen.
  const fields =
    picked && points !== undefined
      ? pack.attributes.flatMap(({ name }) => (name === points || picked.fields.includes(name) ? name : []))
      : (picked?.fields ?? null);
  return { ...selection, names, sort, ordered, cursor, limit, fields, total, format };
}

/** `limit` of a search: a refusal says where further records come from. */
function pageSize(raw: string, format: Format): number {
  try {
    return integer('limit', raw, 1, BOUNDS.limit);
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    const most = FORMATS[format].bulk ? '' : ` At most ${BOUNDS.page} in ${PAGED}.`;
    throw rewordError(error, (msg) => `${msg}.${most} cursor=<next_cursor> leads to the next page.`);
  }
}

/** Values of `format` by page size, as a refusal lists them. */
const [PAGED, BULK] = [false, true].map((bulk) =>
  listed(formatParameters(SEARCH_FORMATS.filter((format) => (FORMATS[format].bulk ?? false) === bulk))),
);

function listed(names: string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

const searchFormat = (value: string): Format =>
  formatNamed(oneOf('format', value, formatParameters(SEARCH_FORMATS))) ?? 'json';

/** The attribute with the points of a geographic format; undefined for other formats. Throws where there is none. */
function pointsOf(format: Format, pack: Pack): string | undefined {
  if (!FORMATS[format].geographic) return undefined;
  const points = pack.attributes.find(({ type }) => type === 'geo');
  if (!points) throw invalid(`format: ${pack.id} has no geography for ${FORMATS[format].parameter}; use json.`);
  return points.name;
}

/** Parses the input of facets: `by`, `limit` 1..200 and any search filters. */
export function parseFacets(raw: RawInput, pack: Pack, options: ParseOptions = {}): FacetsInput {
  const issues = new Issues();
  const selection = parseSelection(raw, pack, [...FACETS, ...(options.path ?? [])], issues);
  const limit = issues.attempt(() => integer('limit', single(raw, 'limit') ?? '50', 1, BOUNDS.facets)) ?? 50;
  issues.attempt(() => oneOf('format', single(raw, 'format') ?? 'json', ['json', 'md']));
  const by = issues.attempt(() => {
    const wanted = single(raw, 'by');
    if (wanted === undefined) throw validationError('by', 'is required', 'missing');
    return countedAttribute(pack, 'by', text('by', wanted)).name;
  });
  issues.settle();
  return { ...selection, by: by!, limit, names: [...new Set([...selection.names, by!])] };
}

/** Refuses every parameter but these (contract section 4: nothing is ignored silently). */
export function onlyParameters(raw: RawInput, allowed: readonly string[], path: readonly string[] = []): void {
  for (const name of Object.keys(raw))
    if (!allowed.includes(name) && !path.includes(name)) throw unknownParameter(name, allowed);
}

/** Parses the input of one record: `fields`. */
export function parseGet(raw: RawInput, pack: Pack, options: ParseOptions = {}): GetInput {
  onlyParameters(raw, ['fields', 'format'], options.path);
  const issues = new Issues();
  issues.attempt(() => oneOf('format', single(raw, 'format') ?? 'json', ['json', 'md']));
  const given = raw['fields'];
  const picked = given === undefined ? null : issues.attempt(() => parseFields([given].flat(), pack));
  issues.settle();
  return { fields: picked?.fields ?? null, names: picked?.names ?? [] };
}

/** Parses the input of batch: `ids` (required, up to 100) and `fields`. */
export function parseBatch(raw: RawInput, pack: Pack, options: ParseOptions = {}): BatchInput {
  const { ids: given, ...rest } = raw;
  onlyParameters(raw, ['ids', 'fields', 'format'], options.path);
  if (given === undefined) throw validationError('ids', 'is required', 'missing');
  const ids = parseIds([given].flat());
  return { ...parseGet(rest, pack, options), ids };
}

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
function parseSort(raw: string, pack: Pack): { sort: Sort; type: KeyType } {
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
