// The error for an unknown parameter, with a suggestion of the parameter or filter that was probably meant.
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { type DataError, UnknownParameter } from '../model/errors.ts';
import { matchAttributes, nameParts, SAME_NAME } from './attribute-names.ts';
import { closestNames, nameSuggestion } from './name-suggestions.ts';
import { printable } from './parse-values.ts';

/** A kind of filter: its prefix, and the words that other APIs write for it. */
interface Comparison {
  prefix: string;
  synonyms: readonly string[];
}

type Filters = ReadonlyMap<string, { kind: Comparison; attribute: Attribute }>;

/**
 * Words around the name of an attribute that are ignored: `filter[country]`, `attributes.country`.
 */
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
/** Most names in one suggestion. */
const SUGGESTED = 3;

/**
 * `elevation>`, `price.input[gte]`, `filter[country]`, `countryCode`: the filters that such a name may mean,
 * best first.
 */
function filtersMeant(name: string, filters: Filters): string[] {
  const signed = SIGNS.reduce((text, [sign, word]) => text.replace(sign, word), name.slice(0, 80));
  const all = nameParts(signed).filter((part) => !JOINTS.has(part));
  const bare = all.filter((part) => !WRAPPERS.has(part));
  const parts = bare.length > 0 ? bare : all;
  const entries = [...filters];
  const attributes = [...new Set(entries.map(([, { attribute }]) => attribute))];
  const kinds = [...new Set(entries.map(([, { kind }]) => kind))];
  const readings = kinds.flatMap((kind) => {
    const words = new Set(kind.synonyms.flatMap(nameParts));
    const rest = parts.filter((part) => !words.has(part));
    const match = rest.length < parts.length ? matchAttributes(rest, attributes) : null;
    return match ? [{ ...match, kind }] : [];
  });
  const whole = matchAttributes(parts, attributes);
  const plain = kinds.find(({ prefix }) => prefix === '');
  const [best] = [...(whole ? [{ ...whole, kind: plain }] : []), ...readings].sort((a, b) => a.fit - b.fit);
  if (best === undefined) return [];
  return best.attributes.flatMap((attribute) => {
    const own = entries.filter(([, filter]) => filter.attribute === attribute);
    const exact = own.filter(([, { kind }]) => kind === best.kind);
    // A price has no filter by value; suggest its bounds.
    return (exact.length > 0 ? exact : own.slice(0, 2)).map(([filter]) => filter);
  });
}

const didYouMean = (names: readonly string[]): string =>
  `Did you mean ${names
    .slice(0, SUGGESTED)
    .map((name) => `"${name}"`)
    .join(' or ')}?`;

const named = (names: readonly string[], parameters: readonly string[]): string =>
  names.length === 1 && parameters.includes(names[0]!) ? usageOf(names[0]!) : didYouMean(names);

/** A suggestion of parameters and filters for `name`; null without a similar one. */
function suggestionFor(name: string, parameters: readonly string[], filters: Filters): string | null {
  const attributes = [...new Set([...filters.values()].map(({ attribute }) => attribute))];
  const [example] = filters.keys();
  if (example !== undefined && /^(?:filters?|where)$/iu.test(name))
    return `Each filter is a separate parameter, such as "${example}".`;
  const same = matchAttributes(nameParts(name), attributes);
  const parameter = parameterMeant(name, parameters);
  if (same !== null && same.fit <= SAME_NAME) return didYouMean(filtersMeant(name, filters));
  if (parameter !== null) return usageOf(parameter);
  const known = [...parameters, ...filters.keys()];
  // A parameter of another operation is not a misspelling.
  const slips = isParameter(name) ? [] : closestNames(name, known, name.length < 8 ? 1 : 2);
  if (slips.length > 0) return named(slips, parameters);
  const meant = filtersMeant(name, filters);
  if (meant.length > 0) return didYouMean(meant);
  const near = isParameter(name) ? [] : closestNames(name, known);
  return near.length === 0 ? null : named(near, parameters);
}

/** The error for a name that is not a filter of this dataset. */
export function unknownFilter(name: string, pack: Pack, parameters: readonly string[], filters: Filters): DataError {
  const prefixes = new Set([...filters.values()].map(({ kind }) => kind.prefix));
  const stems = [...prefixes].map((prefix) => name.slice(name.startsWith(prefix) ? prefix.length : 0));
  const attribute = pack.attributes.find((candidate) => stems.includes(candidate.name));
  const own = [...filters].filter(([, filter]) => filter.attribute === attribute).map(([filter]) => filter);
  const sent = printable(name);
  if (attribute && own[0] !== undefined) {
    const near = attribute.type === 'geo' && parameters.includes('near');
    const problem = `"${sent}" is not a filter. Filters of ${attribute.name} (${attribute.type}): ${own.join(', ')}.`;
    return new UnknownParameter(name, problem, near ? usageOf('near') : didYouMean([own[0]]), '');
  }
  if (attribute)
    return new UnknownParameter(name, `"${sent}" is not a filter: ${attribute.name} cannot be filtered.`, '', '');
  const problem = `"${sent}" is not a filter or parameter of this operation.`;
  const attributes = new Set([...filters.values()].map((filter) => filter.attribute.name));
  const known = nameSuggestion(name, [...filters.keys(), ...parameters], [...parameters, ...attributes]).trim();
  return new UnknownParameter(name, problem, suggestionFor(name, parameters, filters), known);
}

/** The error for a name that is not a parameter of an operation without filters. */
export function unknownParameter(name: string, parameters: readonly string[]): DataError {
  const sent = printable(name);
  if (parameters.length === 0)
    return new UnknownParameter(name, `"${sent}" is not a parameter: this operation has no parameters.`, '', '');
  const list = `Its parameters are ${parameters.join(', ')}.`;
  return new UnknownParameter(
    name,
    `"${sent}" is not a parameter of this operation.`,
    suggestionFor(name, parameters, new Map()),
    list,
  );
}

interface Parameter {
  /** Names of this parameter in other APIs, without letter case and punctuation. */
  aliases: readonly string[];
  /** Usage for messages; absent if the name is enough. */
  usage?: string;
}

const words = (text: string) => text.split(' ');

/** If two parameters share an alias, the first that the operation has is suggested. */
const PARAMETERS: Record<string, Parameter> = {
  offset: { aliases: words('page pagenumber skip start startindex from cursor pagetoken after') },
  since: {
    aliases: words(
      'from after start startdate startingat datefrom fromdate updatedsince modifiedsince changedsince timestamp cursor',
    ),
    usage: 'since=<time>, such as 2026-11-20T00:00:00Z',
  },
  days: {
    aliases: words(
      'since window period range last lookback timespan duration from start startdate datefrom fromdate date months hours',
    ),
    usage: 'days=<number>: the number of days before today',
  },
  cursor: {
    aliases: words(
      'page pagenumber p offset skip start startindex after before next pagetoken nextpagetoken nexttoken continuation continuationtoken marker bookmark startingafter scrollid',
    ),
    usage: 'cursor=<next_cursor of the page before>',
  },
  total: {
    aliases: words('count withcount includecount includetotal totalcount withtotal showtotal totals'),
    usage: 'total=true',
  },
  limit: {
    aliases: words(
      'perpage pagesize size pagelimit top take first count max maxresults maxitems num n k topk topn rows results numresults',
    ),
  },
  direction: {
    aliases: words(
      'change changes changed trend movement move moved going dir increase increased increases decrease decreased decreases rise rises rising fall falls falling up down drop drops delta',
    ),
    usage: 'direction=rise or direction=fall',
  },
  sort: {
    aliases: words('order orderby sortby ordering sortorder sortdir sortkey dir direction asc desc rank rankby'),
    usage: 'sort=<attribute>, or sort=-<attribute> for descending',
  },
  fields: {
    aliases: words(
      'select columns column include field attributes properties props only projection returning keys cols',
    ),
    usage: 'fields=<attribute>,<attribute>',
  },
  q: {
    aliases: words('query search text keyword keywords term terms searchterm searchquery find fulltext s'),
    usage: 'q=<words>',
  },
  near: {
    aliases: words(
      'lat lng lon long latitude longitude radius radiuskm distance center centre around point coordinate coordinates geo latlng latlon location nearby km',
    ),
    usage: 'near=<latitude>,<longitude>,<kilometres>',
  },
  bbox: {
    aliases: words(
      'box bounds bound boundingbox boundingrect extent envelope viewbox viewport rectangle rect within intersects area region mapbounds west east north south minlat maxlat minlng maxlng minlon maxlon xmin ymin xmax ymax',
    ),
    usage: 'bbox=<west>,<south>,<east>,<north>',
  },
  ids: {
    aliases: words('id slug slugs entityid entityids recordid recordids uuid uuids entities records items'),
    usage: 'ids=<id or slug>,<id or slug>',
  },
  entity: { aliases: words('id slug ids entityid record recordid uuid') },
  entity_id: { aliases: words('id slug ids entity record recordid uuid') },
  dataset: { aliases: words('ds datasetid datasetname collection table index') },
  updated_since: {
    aliases: words(
      'since modifiedsince updatedafter modifiedafter changedsince changedafter lastmodified updatedat updated updatedfrom ifmodifiedsince from',
    ),
    usage: 'updated_since=<time>, such as 2026-11-20T00:00:00Z',
  },
  min_quality: {
    aliases: words('quality qualityscore minscore score minqualityscore minconfidence confidence threshold'),
  },
  group_by: {
    aliases: words(
      'by group groups groupby groupings grouping dimension dimensions breakdown splitby segment segmentby facet partitionby',
    ),
    usage: 'group_by=<attribute>',
  },
  by: {
    aliases: words('groupby group field attribute facet facets facetby facetfield dimension key column property'),
    usage: 'by=<attribute>',
  },
  attribute: {
    aliases: words(
      'metric metrics field fields column columns measure value variable attr attributes property indicator stat',
    ),
    usage: 'attribute=<attribute>',
  },
  step: {
    aliases: words('interval granularity resolution bucket bucketsize freq frequency timeframe binsize every period'),
  },
  as_of: {
    aliases: words('at date asat ason on time timestamp when pointintime version snapshot'),
    usage: 'as_of=<time>, such as 2026-11-20T00:00:00Z',
  },
  differ_by: { aliases: words('differ different differentby diversify diversifyby distinct distinctby unlike') },
  group: { aliases: words('groupby by groups category') },
  type: { aliases: words('kind changetype event eventtype action') },
  format: { aliases: words('output outputformat responseformat fmt f accept mediatype mimetype contenttype alt') },
};

const plain = (name: string): string =>
  name
    .slice(0, 80)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '');

/** The parameter among `known` that a name means by its spelling or as an alias; null without one. */
function parameterMeant(name: string, known: readonly string[]): string | null {
  const typed = plain(name);
  const spelled = known.find((parameter) => plain(parameter) === typed || plain(parameter) === `${typed}s`);
  if (spelled !== undefined) return spelled;
  const parameters = Object.keys(PARAMETERS).filter((parameter) => known.includes(parameter));
  return parameters.find((parameter) => PARAMETERS[parameter]?.aliases.includes(typed)) ?? null;
}

/** Whether any operation has a parameter of this name. */
const isParameter = (name: string): boolean => Object.hasOwn(PARAMETERS, name);

/** The usage of a parameter, as the last sentence of a message. */
function usageOf(parameter: string): string {
  const { usage } = PARAMETERS[parameter] ?? {};
  return `Did you mean "${parameter}"?${usage === undefined ? '' : ` Write ${usage}.`}`;
}
