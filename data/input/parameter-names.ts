// The parameters of all operations: what other APIs call them, and how they are used.

interface Parameter {
  /** Names of the same thing in other APIs, without regard to letter case and punctuation. */
  aliases: readonly string[];
  /** How it is written, for messages; absent where the name alone is enough. */
  usage?: string;
}

const words = (text: string) => text.split(' ');

/** Where two parameters share an alias, the first that the operation takes is meant. */
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
    usage: 'days=<number>: how many days to look back',
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
      'lat lng lon long latitude longitude radius radiuskm distance center centre around point coordinate coordinates geo latlng latlon within location nearby km',
    ),
    usage: 'near=<latitude>,<longitude>,<kilometres>',
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

/** The parameter among `known` that a name means in other words or spelling; null where there is none. */
export function parameterMeant(name: string, known: readonly string[]): string | null {
  const typed = plain(name);
  const spelled = known.find((parameter) => plain(parameter) === typed || plain(parameter) === `${typed}s`);
  if (spelled !== undefined) return spelled;
  const parameters = Object.keys(PARAMETERS).filter((parameter) => known.includes(parameter));
  return parameters.find((parameter) => PARAMETERS[parameter]?.aliases.includes(typed)) ?? null;
}

/** Whether some operation has a parameter of this name. */
export const isParameter = (name: string): boolean => Object.hasOwn(PARAMETERS, name);

/** How a parameter is written, as a sentence that a message ends with. */
export function usageOf(parameter: string): string {
  const { usage } = PARAMETERS[parameter] ?? {};
  return `Did you mean "${parameter}"?${usage === undefined ? '' : ` Write ${usage}.`}`;
}
