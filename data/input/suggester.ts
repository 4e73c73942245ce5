// Suggestions for names and values that are not known: of parameters, filters, attributes, datasets and values.
import leven from 'leven';
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { fold } from '../../packs/define/text.ts';
import { type DataError, UnknownParameter } from '../model/errors.ts';
import type { WorkBudget } from '../plan/budget.ts';
import { printable } from './parse-values.ts';

/**
 * Names of each parameter in other APIs, without letter case and punctuation. If two parameters share one, the first
 * that the operation has is suggested.
 */
const PARAMETER_ALIASES: Readonly<Record<string, string>> = {
  offset: 'page pagenumber skip start startindex from cursor pagetoken after',
  since:
    'from after start startdate startingat datefrom fromdate updatedsince modifiedsince changedsince timestamp cursor',
  days: 'since window period range last lookback timespan duration from start startdate datefrom fromdate date months hours',
  cursor:
    'page pagenumber p offset skip start startindex after before next pagetoken nextpagetoken nexttoken continuation continuationtoken marker bookmark startingafter scrollid',
  total: 'count withcount includecount includetotal totalcount withtotal showtotal totals',
  limit:
    'perpage pagesize size pagelimit top take first count max maxresults maxitems num n k topk topn rows results numresults',
  direction:
    'change changes changed trend movement move moved going dir increase increased increases decrease decreased decreases rise rises rising fall falls falling up down drop drops delta',
  sort: 'order orderby sortby ordering sortorder sortdir sortkey dir direction asc desc rank rankby',
  fields: 'select columns column include field attributes properties props only projection returning keys cols',
  q: 'query search text keyword keywords term terms searchterm searchquery find fulltext s',
  filter: 'where expression expr cql cql2 cqlfilter predicate condition conditions criteria',
  near: 'lat lng lon long latitude longitude radius radiuskm distance center centre around point coordinate coordinates geo latlng latlon location nearby km',
  bbox: 'box bounds bound boundingbox boundingrect extent envelope viewbox viewport rectangle rect within intersects area region mapbounds west east north south minlat maxlat minlng maxlng minlon maxlon xmin ymin xmax ymax',
  ids: 'id slug slugs entityid entityids recordid recordids uuid uuids entities records items',
  entity: 'id slug ids entityid record recordid uuid',
  entity_id: 'id slug ids entity record recordid uuid',
  dataset: 'ds datasetid datasetname collection table index',
  updated_since:
    'since modifiedsince updatedafter modifiedafter changedsince changedafter lastmodified updatedat updated updatedfrom ifmodifiedsince from',
  min_quality: 'quality qualityscore minscore score minqualityscore minconfidence confidence threshold',
  group_by:
    'by group groups groupby groupings grouping dimension dimensions breakdown splitby segment segmentby facet partitionby',
  by: 'groupby group field attribute facet facets facetby facetfield dimension key column property',
  attribute:
    'metric metrics field fields column columns measure value variable attr attributes property indicator stat',
  step: 'interval granularity resolution bucket bucketsize freq frequency timeframe binsize every period',
  order: 'sort orderby sortby ordering rank rankby',
  from: 'after start startdate startsat begin fromdate',
  to: 'until before end enddate endsat till todate',
  as_of: 'at date asat ason on time timestamp when pointintime version snapshot',
  differ_by: 'differ different differentby diversify diversifyby distinct distinctby unlike',
  group: 'groupby by groups category',
  type: 'kind changetype event eventtype action',
  format: 'output outputformat responseformat fmt f accept mediatype mimetype contenttype alt',
};

/** Usage of a parameter for messages, where the name is not enough. */
const PARAMETER_USAGE: Readonly<Record<string, string>> = {
  since: 'since=<time>, such as 2026-11-20T00:00:00Z',
  days: 'days=<number>: the number of days before today',
  cursor: 'cursor=<next_cursor of the page before>',
  total: 'total=true',
  direction: 'direction=rise or direction=fall',
  sort: 'sort=<attribute>, or sort=-<attribute> for descending',
  fields: 'fields=<attribute>,<attribute>',
  q: 'q=<words>',
  filter: "filter=<expression>, such as filter=a > 5 OR b = 'c'",
  near: 'near=<latitude>,<longitude>,<kilometres>',
  bbox: 'bbox=<west>,<south>,<east>,<north>',
  ids: 'ids=<id or slug>,<id or slug>',
  updated_since: 'updated_since=<time>, such as 2026-11-20T00:00:00Z',
  group_by: 'group_by=<attribute>',
  by: 'by=<attribute>',
  attribute: 'attribute=<attribute>',
  as_of: 'as_of=<time>, such as 2026-11-20T00:00:00Z',
};

/** Characters of a typed name or value that are compared. */
const LONGEST = 80;
/** Edits that a shared word outweighs: `longest_runway` is nearer to `runway_length` than to `country`. */
const SHARED_WORD = 6;
/** Most names of a list, attributes of a suggestion, and parameters or values of a suggestion. */
const [LISTED, ATTRIBUTES, SUGGESTED] = [40, 6, 3];

/** Levenshtein distance; two exchanged letters count as one edit. Case-sensitive. */
function editDistance(a: string, b: string): number {
  const distance = leven(a, b);
  const sorted = (text: string) => [...text].sort().join('');
  return distance === 2 && a.length === b.length && sorted(a) === sorted(b) ? 1 : distance;
}

/**
 * The names with the smallest edit distance to `typed`, when that is at most `most`: by default one edit for
 * every three letters, at least one. Ignores case. Empty: no name is that near.
 */
export function closestNames(
  typed: string,
  names: readonly string[],
  most: number = Math.round(Math.min(typed.length, LONGEST) / 3),
): string[] {
  const lowerCase = typed.slice(0, LONGEST).toLowerCase();
  const distances = names.map((name) => editDistance(lowerCase, name.toLowerCase()));
  const least = Math.min(...distances);
  return least <= Math.max(1, most) ? names.filter((_, i) => distances[i] === least) : [];
}

/**
 * End of an error message about an unknown name, with a leading space: ` Did you mean "x"?`, or, when no name
 * is near, ` Known, the nearest first: x, …` with `listed` (default: all names), at most 40. Empty without
 * names.
 */
export function nameSuggestion(name: string, names: Iterable<string>, listed?: Iterable<string>): string {
  const written = name.slice(0, LONGEST).toLowerCase();
  const partsOf = (text: string) => text.split(/[^a-z0-9]+/);
  const words = new Set(partsOf(written).filter((word) => word.length > 2));
  const ranked = [...names].map((candidate) => {
    const shared = partsOf(candidate.toLowerCase()).filter((word) => words.has(word)).length;
    return { candidate, distance: leven(written, candidate.toLowerCase()) - SHARED_WORD * shared };
  });
  const best = ranked.toSorted((a, b) => a.distance - b.distance)[0];
  if (best === undefined) return '';
  if (best.distance <= Math.max(2, name.length / 2)) return ` Did you mean "${best.candidate}"?`;
  const list = [...new Set([best.candidate, ...(listed ?? ranked.map(({ candidate }) => candidate))])];
  return ` Known, the nearest first: ${list.slice(0, LISTED).join(', ')}${list.length > LISTED ? ', …' : ''}.`;
}

/**
 * `contextWindow`, `context-window` and `Context Windows` have the same parts: words in lower case and the
 * singular.
 */
function nameParts(name: string): string[] {
  const split = name.slice(0, LONGEST).replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2');
  const parts = split.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return parts.map((word) => {
    if (word.length < 4 || word.endsWith('ss')) return word;
    return word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/s$/, '');
  });
}

/** Distance of a typed name from an attribute's name, and what an alias adds to it; smaller is better. */
const FIT = { spelling: 0, order: 1, contains: 2, part: 3, alias: 0.5 } as const;
/** Up to this distance two names mean the same attribute; above it they only share a part. */
const SAME_NAME = FIT.order + FIT.alias;

/** Distance between the parts of two names; of `iata_code`, the first part is the attribute. */
function fitOf(typed: readonly string[], name: string): { fit: number; at: number } | null {
  const parts = nameParts(name);
  if (typed.join('') === parts.join('')) return { fit: FIT.spelling, at: 0 };
  if (parts.every((part) => typed.includes(part)))
    return typed.length === parts.length
      ? { fit: FIT.order, at: 0 }
      : { fit: FIT.contains, at: typed.indexOf(parts[0] ?? '') };
  return typed.every((part) => parts.includes(part)) ? { fit: FIT.part, at: 0 } : null;
}

/** The attributes nearest to the parts of a name, in the order of the pack; null without a match. */
function matchAttributes(
  parts: readonly string[],
  attributes: readonly Attribute[],
): { attributes: Attribute[]; fit: number } | null {
  if (parts.length === 0) return null;
  const fits = attributes.flatMap((attribute) =>
    [attribute.name, ...attribute.aliases].flatMap((name, i) => {
      const { fit, at } = fitOf(parts, name) ?? {};
      return fit === undefined || at === undefined ? [] : [{ attribute, at, fit: fit + (i === 0 ? 0 : FIT.alias) }];
    }),
  );
  const [best] = fits.toSorted((a, b) => a.fit - b.fit || a.at - b.at);
  if (best === undefined) return null;
  const equal = fits.filter(({ fit, at }) => fit === best.fit && at === best.at);
  return { attributes: [...new Set(equal.map(({ attribute }) => attribute))], fit: best.fit };
}

/**
 * A sentence that suggests attributes for `name`, among those that `may` be named: the members of a group, a
 * similar name, or all of them.
 */
export function attributeSuggestion(
  name: string,
  all: readonly Attribute[],
  may: (attribute: Attribute) => boolean = () => true,
): string {
  const attributes = all.filter(may);
  const names = attributes.map((attribute) => attribute.name);
  const group = all.filter((attribute) => attribute.name.startsWith(`${name}.`));
  const members = group.filter(may).map((attribute) => attribute.name);
  if (members.length > 0) {
    const list = `${members.slice(0, ATTRIBUTES).join(', ')}${members.length > ATTRIBUTES ? ', …' : ''}`;
    return ` ${printable(name)} is a group: name one of its members, ${list}.`;
  }
  if (group.length > 0)
    return ` ${printable(name)} is a group, and none of its members can be named here.${nameSuggestion(name, names)}`;
  const parts = nameParts(name);
  // `attributes.name` is `name`.
  const match = matchAttributes(parts[0] === 'attribute' ? parts.slice(1) : parts, attributes);
  const slips = match === null || match.fit > SAME_NAME ? closestNames(name, names, name.length < 8 ? 1 : 2) : [];
  const matched = match?.attributes.map((attribute) => attribute.name) ?? closestNames(name, names);
  const suggestions = slips.length > 0 ? slips : matched;
  return suggestions.length > 0 ? ` ${didYouMean(suggestions, ATTRIBUTES)}` : nameSuggestion(name, names);
}

const didYouMean = (names: readonly string[], most: number = SUGGESTED): string =>
  `Did you mean ${names
    .slice(0, most)
    .map((name) => `"${name}"`)
    .join(' or ')}?`;

/** The filters of a dataset by name, each with its kind: the prefix, and the words that other APIs write for it. */
type Filters = ReadonlyMap<string, { kind: { prefix: string; synonyms: readonly string[] }; attribute: Attribute }>;

/** Words around the name of an attribute that are ignored: `filter[country]`, `attributes.country`. */
const WRAPPERS: ReadonlySet<string> = new Set(['filter', 'where', 'attribute', 'param']);
/** Words of a comparison that are ignored: `greater_than_or_equal`. */
const JOINTS: ReadonlySet<string> = new Set(['than', 'or', 'equal', 'then']);
/** Signs of comparison, and synonyms with the same meaning. */
const SIGNS: readonly [RegExp, string][] = [
  [/>=?/g, ' gte '],
  [/<=?/g, ' lte '],
  [/^-|!=?/g, ' ne '],
  [/[~*%]/g, ' like '],
];

/**
 * `elevation>`, `price.input[gte]`, `filter[country]`, `countryCode`: the filters that such a name may mean,
 * best first.
 */
function similarFilters(name: string, filters: Filters): string[] {
  const signed = SIGNS.reduce((text, [sign, word]) => text.replace(sign, word), name.slice(0, LONGEST));
  const all = nameParts(signed).filter((part) => !JOINTS.has(part));
  const bare = all.filter((part) => !WRAPPERS.has(part));
  const parts = bare.length > 0 ? bare : all;
  const entries = [...filters];
  const attributes = attributesOf(filters);
  const plain = entries.find(([, { kind }]) => kind.prefix === '')?.[1].kind;
  const kinds = [...new Set(entries.map(([, { kind }]) => kind))];
  const readings = [{ kind: plain, rest: parts }].concat(
    kinds.flatMap((kind) => {
      const words = new Set(kind.synonyms.flatMap(nameParts));
      const rest = parts.filter((part) => !words.has(part));
      return rest.length < parts.length ? [{ kind, rest }] : [];
    }),
  );
  const matches = readings.flatMap(({ kind, rest }) => {
    const match = matchAttributes(rest, attributes);
    return match === null ? [] : [{ ...match, kind }];
  });
  const [best] = matches.sort((a, b) => a.fit - b.fit);
  return (best?.attributes ?? []).flatMap((attribute) => {
    const ofAttribute = entries.filter(([, filter]) => filter.attribute === attribute);
    const ofKind = ofAttribute.filter(([, { kind }]) => kind === best?.kind);
    // A price has no filter by value; suggest its bounds.
    return (ofKind.length > 0 ? ofKind : ofAttribute.slice(0, 2)).map(([filter]) => filter);
  });
}

const attributesOf = (filters: Filters): Attribute[] => [
  ...new Set([...filters.values()].map(({ attribute }) => attribute)),
];

/** A suggestion of parameters and filters for `name`; null without a similar one. */
function parameterSuggestion(name: string, parameters: readonly string[], filters: Filters): string | null {
  const [example] = filters.keys();
  if (example !== undefined && /^filters$/iu.test(name))
    return `Each filter is a separate parameter, such as "${example}".`;
  const same = matchAttributes(nameParts(name), attributesOf(filters));
  if (same !== null && same.fit <= SAME_NAME) return didYouMean(similarFilters(name, filters));
  const parameter = similarParameter(name, parameters);
  if (parameter !== null) return usageOf(parameter);
  const suggest = (names: readonly string[]) =>
    names.length === 1 && parameters.includes(names[0]!) ? usageOf(names[0]!) : didYouMean(names);
  // A parameter of another operation is not a misspelling.
  const spellings = Object.hasOwn(PARAMETER_ALIASES, name) ? [] : [...parameters, ...filters.keys()];
  const slips = closestNames(name, spellings, name.length < 8 ? 1 : 2);
  if (slips.length > 0) return suggest(slips);
  const similar = similarFilters(name, filters);
  if (similar.length > 0) return didYouMean(similar);
  const near = closestNames(name, spellings);
  return near.length === 0 ? null : suggest(near);
}

/** The parameter that a name means by its spelling or as an alias; null without one. */
function similarParameter(name: string, parameters: readonly string[]): string | null {
  const plain = (text: string) =>
    text
      .slice(0, LONGEST)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, '');
  const typed = plain(name);
  const spelled = parameters.find((parameter) => [typed, `${typed}s`].includes(plain(parameter)));
  if (spelled !== undefined) return spelled;
  const aliased = Object.keys(PARAMETER_ALIASES).filter((parameter) => parameters.includes(parameter));
  return aliased.find((parameter) => PARAMETER_ALIASES[parameter]?.split(' ').includes(typed)) ?? null;
}

/** The usage of a parameter, as the last sentence of a message. */
function usageOf(parameter: string): string {
  const usage = PARAMETER_USAGE[parameter];
  return `Did you mean "${parameter}"?${usage === undefined ? '' : ` Write ${usage}.`}`;
}

/** Functions over the values of an attribute. */
const STATISTIC = /^(?:avg|average|mean|median|sum|total|count|min|max|minimum|maximum|p\d\d|q[123]|std(?:dev)?)$/iu;

/** The error for a name that is not a filter of this dataset; `values` were sent with it. */
export function unknownFilter(
  name: string,
  values: readonly string[],
  pack: Pack,
  parameters: readonly string[],
  filters: Filters,
): DataError {
  const prefixes = new Set([...filters.values()].map(({ kind }) => kind.prefix));
  const stems = [...prefixes].map((prefix) => name.slice(name.startsWith(prefix) ? prefix.length : 0));
  const attribute = pack.attributes.find((candidate) => stems.includes(candidate.name));
  const ofAttribute = [...filters].filter(([, filter]) => filter.attribute === attribute).map(([filter]) => filter);
  const sent = printable(name);
  if (attribute && ofAttribute[0] !== undefined) {
    const near = attribute.type === 'geo' && parameters.includes('near');
    const problem = `"${sent}" is not a filter. Filters of ${attribute.name} (${attribute.type}): ${ofAttribute.join(', ')}.`;
    return new UnknownParameter(name, problem, near ? usageOf('near') : didYouMean([ofAttribute[0]]), '');
  }
  if (attribute)
    return new UnknownParameter(name, `"${sent}" is not a filter: ${attribute.name} cannot be filtered.`, '', '');
  const problem = `"${sent}" is not a filter or parameter of this operation.`;
  const attributes = new Set(attributesOf(filters).map((candidate) => candidate.name));
  const listed = nameSuggestion(name, [...filters.keys(), ...parameters], [...parameters, ...attributes]).trim();
  // The value of `metric=avg` is a function, which no parameter of an attribute takes.
  const computed = values.some((value) => STATISTIC.test(value.trim()));
  const candidates = computed ? parameters.filter((parameter) => parameter !== 'attribute') : parameters;
  const suggestion =
    computed && parameters.includes('buckets')
      ? 'Answers contain every statistic: omit it.'
      : parameterSuggestion(name, candidates, filters);
  return new UnknownParameter(name, problem, suggestion, listed);
}

/** The error for a name that is not a parameter of an operation without filters. */
export function unknownParameter(name: string, parameters: readonly string[]): DataError {
  const sent = printable(name);
  if (parameters.length === 0)
    return new UnknownParameter(name, `"${sent}" is not a parameter: this operation has no parameters.`, '', '');
  const problem = `"${sent}" is not a parameter of this operation.`;
  const list = `Its parameters are ${parameters.join(', ')}.`;
  return new UnknownParameter(name, problem, parameterSuggestion(name, parameters, new Map()), list);
}

const plainText = (text: string): string => fold(text).replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '');

/**
 * Known values nearest to `typed`, at most three: other punctuation, a typing error for every three letters, or a
 * part in common. Empty when no value is near enough, or the budget ends before all of them were compared.
 */
export function nearestValues(typed: string, values: readonly string[], budget: WorkBudget): string[] {
  const letters = plainText(typed.slice(0, LONGEST));
  if (letters === '') return [];
  const most = Math.floor(letters.length / 3);
  const words = new Set(partsOf(typed.slice(0, LONGEST)));
  const ranks: { value: string; rank: number }[] = [];
  for (const value of values) {
    if (budget.spent) return [];
    const other = plainText(value.slice(0, LONGEST));
    const slips = leven(letters, other, { maxDistance: most + 2 }) > most + 1 ? most + 1 : editDistance(letters, other);
    // Errors in the first letter are rare in short words.
    const misspelt = slips <= most && (letters.length > 4 || other.startsWith(letters.charAt(0)));
    if (slips === 0) ranks.push({ value, rank: 0 });
    else if (misspelt) ranks.push({ value, rank: slips });
    else if (letters.length > 3 && sharesPart(letters, words, other, value)) ranks.push({ value, rank: LONGEST });
  }
  const least = Math.min(...ranks.map(({ rank }) => rank));
  return ranks.flatMap(({ value, rank }) => (rank === least ? [value] : [])).slice(0, SUGGESTED);
}

const partsOf = (text: string): string[] => fold(text).split(/[^\p{L}\p{M}\p{N}]+/u);

/**
 * `large` is a word of `large_airport`, `mistral` is the beginning of `mistralai`; also in the other direction.
 */
function sharesPart(letters: string, words: ReadonlySet<string>, other: string, value: string): boolean {
  if (other.startsWith(letters) || (other.length >= 4 && letters.startsWith(other))) return true;
  return partsOf(value).some((word) => word === letters || (word.length > 3 && words.has(word)));
}
