// Parameters of a search and of facets, with the split of 400 and 422 of contract section 4.
import { z } from 'zod';
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { DataError, rewordError } from '../model/errors.ts';
import type { GroupPlan, Sort } from '../plan/plan.ts';
import { NAMING_WEIGHT } from '../plan/relevance.ts';
import { type Cursor, EXAMPLE_CURSORS } from './cursor.ts';
import { hasPlace, single } from './filters.ts';
import { FORMATS, type Format, formatNamed, formatParameters, SEARCH_FORMATS } from './formats.ts';
import { type Parameter, type ParameterContext, type Selection, selectingParameters } from './parameters.ts';
import { BOUNDS, parseInteger, parseOneOf, parseText, printable } from './parse-values.ts';
import {
  attributeParameter,
  attributesParameter,
  booleanParameter,
  integerParameter,
  invalid,
  LIST_FIELDS,
  optional,
  representation,
} from './rows.ts';
import { COUNTABLE, MOMENT, questionOf, SELECTION } from './selection.ts';
import { attributeSuggestion, closestNames } from './suggester.ts';

/** Input of search. `names` contains also the attributes of `sort` and `fields`. */
export interface SearchInput extends Selection {
  sort: Sort;
  /** Whether the client named an order; else `sort` is the usual one. */
  ordered: boolean;
  cursor: Cursor | null;
  /** Records of a page; with `group`, its groups. */
  limit: number;
  /** The first records of each value of an attribute; null: all records. */
  group: GroupPlan | null;
  /** Attributes to keep, in the pack's order; null: all. */
  fields: string[] | null;
  total: boolean;
  format: Format;
  /** CSV begins with a byte order mark, so that spreadsheets read it as UTF-8. */
  bom: boolean;
}

/** Input of facets: the attributes to count by, and the most values to answer for each. */
export interface FacetsInput extends Selection {
  by: string[];
  limit: number;
}

/** `sort`: a key, with `-` in front for descending order. */
const SORT: Parameter<SortKey | null> = {
  schema(pack) {
    const { prominence } = pack?.serving ?? {};
    const hint = prominence ? `; -${prominence}: best known first` : '';
    const near = pack === null || hasPlace(pack) ? '; distance with near' : '';
    return z
      .string()
      .min(1)
      .default('-quality')
      .describe(`relevance (with q), quality, updated or an attribute; - reverses${hint}${near}`);
  },
  parse: (values, { name, pack }) => parseSort(single(name, values), pack),
  fallback: null,
};

/** `limit`: larger pages in bulk formats. A tool has no tabular formats. */
const PAGE_SIZE: Parameter<number> = {
  schema: (_pack, as) =>
    z
      .number()
      .int()
      .min(1)
      .max(as === 'tool' ? BOUNDS.page : BOUNDS.limit)
      .default(20)
      .describe(`Records on a page${as === 'tool' ? '' : `; at most ${BOUNDS.page} in JSON and Markdown`}`),
  parse(values, { name, format = 'json' }) {
    try {
      return parseInteger(name, single(name, values), 1, BOUNDS.limit);
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      const most = FORMATS[format].bulk ? '' : ` At most ${BOUNDS.page} in ${PAGED}.`;
      throw rewordError(error, (msg) => `${msg}.${most} cursor=<next_cursor> returns the next page.`);
    }
  },
  fallback: 20,
};

/** `cursor`: read at the end, because it belongs to the whole query. */
export const CURSOR: Parameter<string | null> = {
  schema: () => z.string().max(BOUNDS.cursor).optional().describe('next_cursor of the page before'),
  parse: (values, { name }) => single(name, values),
  fallback: null,
};

/** `format`: used if the channel has not negotiated one. */
const SEARCH_FORMAT: Parameter<Format> = {
  schema: null,
  parse: (values, { name }) =>
    formatNamed(parseOneOf(name, single(name, values), formatParameters(SEARCH_FORMATS))) ?? 'json',
  fallback: 'json',
};

const GROUP_BY = optional(attributeParameter('First records of each value; limit counts groups', COUNTABLE));

/** Parameters of `GET /v1/{ds}/entities` (specification section 4). */
export const searchParameters = selectingParameters(
  {
    ...SELECTION,
    q: {
      ...SELECTION.q,
      schema: (_pack, as) => {
        const q = SELECTION.q.schema!(null);
        // Searches of tools by words are ordered by relevance.
        return as === 'tool' ? q : q.describe(`${q.description}; for the best first, sort=relevance`);
      },
    },
    ...MOMENT,
    fields: LIST_FIELDS,
    sort: SORT,
    limit: PAGE_SIZE,
    // A tool does not list the attributes, of which there may be hundreds.
    group_by: { ...GROUP_BY, schema: (pack, as) => GROUP_BY.schema!(as === 'tool' ? null : pack) },
    group_limit: optional(integerParameter('Records of each group', { min: 1, max: BOUNDS.group, fallback: 1 })),
    cursor: CURSOR,
    total: booleanParameter('Also count all matches'),
    bom: booleanParameter('With format=csv: begin with a byte order mark, for spreadsheets'),
    format: SEARCH_FORMAT,
  },
  (values, selected, place): SearchInput => {
    const { limit, total, bom, fields: picked } = values;
    const format = place.format ?? values.format;
    const group = groupPlan(values, format);
    const selection = group === null ? selected : ofGroups(selected, group);
    const { sort: key, type } = values.sort ?? DEFAULT_SORT;
    const sort = completeSort(key, selection, place.pack);
    if (limit > BOUNDS.page && !FORMATS[format].bulk)
      throw invalid(`limit: at most ${BOUNDS.page} in ${PAGED} (got ${limit}); up to ${BOUNDS.limit} in ${BULK}.`);
    if (bom && format !== 'csv') throw invalid('bom: only a CSV has a byte order mark; add format=csv or omit bom.');
    const fields = withPoints(picked?.fields ?? null, format, place.pack);
    const sorted = sort.key in KEYS ? [] : [sort.key];
    const cursor = values.cursor === null ? null : readCursor(values.cursor, selection, sort, group, type, place);
    const { point } = cursor ?? {};
    return {
      ...selection,
      conditions: selection.names,
      where: point ? selection.where.map((one) => (one.kind === 'near' ? { ...one, ...point } : one)) : selection.where,
      names: [...new Set([...selection.names, ...sorted, ...(picked?.names ?? [])])],
      sort: point && sort.distance ? { ...sort, distance: { ...sort.distance, ...point } } : sort,
      ordered: values.sort !== null,
      cursor,
      limit,
      group,
      fields,
      total,
      format,
      bom,
    };
  },
);

/** The order by relevance, which needs words, or by distance, which needs a point: without them it is 400. */
function completeSort(
  sort: Sort,
  { words, text, where, any }: Selection,
  { attributes, serving: { prominence } }: Pack,
): Sort {
  if (sort.key === RELEVANCE) {
    if (words.length === 0)
      throw invalid(
        'sort: relevance is the order by the words of q. Add q, or sort by quality, updated or an attribute.',
      );
    const naming = attributes.filter(
      (attribute) => attribute.searchable && attribute.search_weight === NAMING_WEIGHT && attribute.type !== 'text',
    );
    const names = naming.map(({ name }) => name);
    const relevance = { text, words, names, scope: 'full' as const, ...(any ? { any } : {}), prominence };
    return { ...sort, descending: true, relevance };
  }
  if (sort.key === DISTANCE) {
    const near = where.find((predicate) => predicate.kind === 'near');
    if (near === undefined)
      throw invalid('sort: distance needs a point; add near=<latitude>,<longitude>,<kilometres>.');
    const { attribute, lat, lng } = near;
    return { ...sort, distance: { attribute, lat, lng } };
  }
  return sort;
}

function readCursor(
  token: string,
  selection: Selection,
  sort: Sort,
  group: GroupPlan | null,
  type: KeyType,
  { pack, cursors = EXAMPLE_CURSORS }: Omit<ParameterContext, 'name'>,
): Cursor {
  const question = { dataset: pack.id, where: questionOf(selection), sort, group_by: group?.by ?? null };
  return cursors.read(question, token, type);
}

/** The groups of a search; null without `group_by`. Throws 400 for more records than a page may have. */
function groupPlan(
  { limit, group_by: by, group_limit }: { limit: number; group_by: string | null; group_limit: number | null },
  format: Format,
): GroupPlan | null {
  if (by === null) {
    if (group_limit === null) return null;
    throw invalid('group_limit: counts the records of a group; add group_by=<attribute> or omit group_limit.');
  }
  const { bulk, geographic, parameter } = FORMATS[format];
  if (geographic) throw invalid(`format: ${parameter} has no groups; use json, or omit group_by.`);
  const [most, size] = [bulk ? BOUNDS.limit : BOUNDS.page, group_limit ?? 1];
  if (limit * size > most) {
    const problem = `limit × group_limit must be at most ${most} records${bulk ? '' : `, or ${BOUNDS.limit} in ${BULK}`}`;
    throw invalid(`limit: ${problem} (got ${limit} × ${size}); use limit=${Math.floor(most / size)} or less.`);
  }
  return { by, limit: size };
}

/** The selection of the records that have a group. */
const ofGroups = (selection: Selection, { by }: GroupPlan): Selection => ({
  ...selection,
  where: [...selection.where, { kind: 'has', attribute: by, present: true }],
  names: [...selection.names, by],
});

/** Values of `format` by page size, as an error lists them. */
const [PAGED, BULK] = [false, true].map((bulk) =>
  wordList(formatParameters(SEARCH_FORMATS.filter((format) => (FORMATS[format].bulk ?? false) === bulk))),
);

function wordList(names: string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/**
 * The fields of a geographic format include the point, whatever the client selects. Throws 400 without
 * geography.
 */
function withPoints(fields: string[] | null, format: Format, pack: Pack): string[] | null {
  if (!FORMATS[format].geographic) return fields;
  const points = pack.attributes.find(({ type }) => type === 'geo');
  if (!points) throw invalid(`format: ${pack.id} has no geography for ${FORMATS[format].parameter}; use json.`);
  return (
    fields && pack.attributes.map(({ name }) => name).filter((name) => name === points.name || fields.includes(name))
  );
}

/** Parameters of `GET /v1/{ds}/facets`. */
export const facetsParameters = selectingParameters(
  {
    by: attributesParameter(`Attributes to count by, at most ${BOUNDS.by}`, { rule: COUNTABLE, most: BOUNDS.by }),
    limit: integerParameter('Values of each', {
      min: 1,
      max: BOUNDS.facets,
      fallback: 50,
    }),
    ...SELECTION,
    ...MOMENT,
    format: representation('json', 'md'),
  },
  ({ by, limit }, selection): FacetsInput => ({
    ...selection,
    conditions: selection.names,
    by,
    limit,
    names: [...new Set([...selection.names, ...by])],
  }),
);

const [RELEVANCE, DISTANCE] = ['relevance', 'distance'];

type KeyType = 'string' | 'number' | 'boolean';

/** An order, and the type of the values of its key. */
interface SortKey {
  sort: Sort;
  type: KeyType;
}

/** The order of a search that names none. */
export const DEFAULT_SORT: SortKey = { sort: { key: 'quality', descending: true }, type: 'number' };

const KEY_TYPES: Partial<Record<Attribute['type'], KeyType>> = {
  boolean: 'boolean',
  integer: 'number',
  number: 'number',
  price: 'number',
};

/** Sort keys that are not attributes, with their names in other APIs. */
const KEYS: Record<string, readonly string[]> = {
  relevance: ['relevancy', 'match', 'rank', '_score'],
  quality: ['quality_score', 'score', 'best'],
  updated: ['updated_at', 'modified', 'last_modified', 'last_updated', 'changed', 'recent', 'newest'],
  distance: ['distance_km', 'dist', 'proximity', 'nearest', 'closest', 'near', 'km'],
};

/** The keys of a dataset: no distance without geography. */
const keysOf = (pack: Pack): string[] => Object.keys(KEYS).filter((key) => key !== DISTANCE || hasPlace(pack));

/** `price desc`, `price:asc`, `desc(price)`, `+price`. */
const DIRECTED =
  /^(?:(?<before>asc|desc)\((?<inner>.+)\)|\+(?<plus>.+)|(?<key>.+?)[\s:._,|]+(?<after>asc|desc)(?:ending)?)$/iu;

/**
 * `relevance`, `quality`, `updated` or an attribute with one value to order by, `-` for descending; and the
 * type of its values.
 */
function parseSort(raw: string, pack: Pack): SortKey {
  const wanted = parseText('sort', raw);
  const descending = wanted.startsWith('-');
  const key = descending ? wanted.slice(1) : wanted;
  if (key === RELEVANCE && descending)
    throw invalid('sort: relevance has one direction, best first; use sort=relevance.');
  if (key === DISTANCE && descending)
    throw invalid('sort: distance has one direction, nearest first; use sort=distance.');
  if (keysOf(pack).includes(key)) return { sort: { key, descending }, type: 'number' };
  const attribute = pack.attributes.find(({ name }) => name === key);
  if (attribute === undefined) throw invalid(`sort: ${unknownKey(wanted, pack)}`);
  const { type } = attribute;
  if (type === 'geo' && hasPlace(pack))
    throw invalid(`sort: ${key} (geo) has no order; near=<lat>,<lng>,<km> with sort=distance lists the nearest first.`);
  if (type === 'strings' || type === 'geo')
    throw invalid(`sort: ${key} (${type}) has no order; sort by quality, updated or an attribute with a single value.`);
  return { sort: { key, descending }, type: KEY_TYPES[type] ?? 'string' };
}

/** The error of an unknown sort key, with a suggestion. */
function unknownKey(wanted: string, pack: Pack): string {
  const { before, inner, plus, key, after } = DIRECTED.exec(wanted)?.groups ?? {};
  const bare = inner ?? plus ?? key;
  if (bare !== undefined && !bare.includes(',')) {
    const minus = /desc/iu.test(before ?? after ?? '') ? '-' : '';
    return `"${printable(wanted)}" is not a key: a leading "-" makes the order descending.${keyMeant(bare, minus, pack)}`;
  }
  const [first = '', ...more] = wanted.split(',').map((part) => part.trim());
  if (more.length > 0 && first !== '')
    return `must be one key (got "${printable(wanted)}").${keyMeant(first.replace(/^-/, ''), first.startsWith('-') ? '-' : '', pack)}`;
  const minus = wanted.startsWith('-') ? '-' : '';
  const unknown = wanted.slice(minus.length);
  return `${pack.id} has no attribute "${printable(unknown)}".${keyMeant(unknown, minus, pack)}`;
}

function keyMeant(typed: string, minus: string, pack: Pack): string {
  const { attributes } = pack;
  const keys = keysOf(pack);
  const plain = typed.toLowerCase();
  const exact = [...keys, ...attributes.map(({ name }) => name)].find((name) => name === plain);
  const key = exact ?? keys.find((name) => KEYS[name]?.includes(plain)) ?? closestNames(plain, keys, 2)[0];
  if (key !== undefined) return ` Did you mean "${key === RELEVANCE || key === DISTANCE ? '' : minus}${key}"?`;
  const ordered = attributes.filter(({ type }) => type !== 'strings' && type !== 'geo');
  return attributeSuggestion(typed, ordered).replaceAll(/"(?=\w)/g, `"${minus}`);
}
