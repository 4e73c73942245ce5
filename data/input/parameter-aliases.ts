// Names of parameters in other APIs, and how our parameters are written.

/**
 * Names of each parameter in other APIs, without letter case and punctuation. If two parameters share one, the first
 * that the operation has is suggested.
 */
export const PARAMETER_ALIASES: Readonly<Record<string, string>> = {
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
  as_of: 'at date asat ason on time timestamp when pointintime version snapshot',
  differ_by: 'differ different differentby diversify diversifyby distinct distinctby unlike',
  group: 'groupby by groups category',
  type: 'kind changetype event eventtype action',
  format: 'output outputformat responseformat fmt f accept mediatype mimetype contenttype alt',
};

/** Usage of a parameter for messages, where the name is not enough. */
export const PARAMETER_USAGE: Readonly<Record<string, string>> = {
  since: 'since=<time>, such as 2026-11-20T00:00:00Z',
  days: 'days=<number>: the number of days before today',
  cursor: 'cursor=<next_cursor of the page before>',
  total: 'total=true',
  direction: 'direction=rise or direction=fall',
  sort: 'sort=<attribute>, or sort=-<attribute> for descending',
  fields: 'fields=<attribute>,<attribute>',
  q: 'q=<words>',
  near: 'near=<latitude>,<longitude>,<kilometres>',
  bbox: 'bbox=<west>,<south>,<east>,<north>',
  ids: 'ids=<id or slug>,<id or slug>',
  updated_since: 'updated_since=<time>, such as 2026-11-20T00:00:00Z',
  group_by: 'group_by=<attribute>',
  by: 'by=<attribute>',
  attribute: 'attribute=<attribute>',
  as_of: 'as_of=<time>, such as 2026-11-20T00:00:00Z',
};
