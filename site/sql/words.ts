// Words of DuckDB for highlighting and completion, besides the functions that the service allows (data/sql/check.ts).

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Keywords that people write in queries. */
export const KEYWORDS = words(`
  all and anti any as asc asof between by case cast columns cross cube current_date current_timestamp desc
  distinct else end escape except exclude exists false filter first following from full glob group grouping
  having if ignore ilike in inner intersect interval is join lateral last left like limit lateral materialized natural
  not null nulls offset on or order outer over partition percent pivot positional preceding qualify range recursive
  rename replace respect right rollup row rows sample select semi sets similar some table tablesample
  then ties to true try_cast unbounded union unique unpivot using values when where window with within without
`);

export const TYPES = words(`
  bigint blob boolean date decimal double enum float hugeint integer json list map real smallint struct time timestamp
  timestamptz tinyint ubigint uinteger union usmallint utinyint uuid varchar
`);
