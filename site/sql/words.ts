// Words of DuckDB for highlighting and completion. A test looks up every function in the engine.

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Keywords that people write in queries. */
export const KEYWORDS = words(`
  all and anti any as asc asof between by case cast columns cross cube current_date current_timestamp desc describe
  distinct else end escape except exclude exists explain false filter first following from full glob group grouping
  having if ignore ilike in inner intersect interval is join lateral last left like limit lateral materialized natural
  not null nulls offset on or order outer over partition percent pivot positional preceding qualify range recursive
  rename replace respect right rollup row rows sample select semi sets show similar some summarize table tablesample
  then ties to true try_cast unbounded union unique unpivot using values when where window with within without
`);

export const TYPES = words(`
  bigint blob boolean date decimal double enum float hugeint integer json list map real smallint struct time timestamp
  timestamptz tinyint ubigint uinteger union usmallint utinyint uuid varchar
`);

/** Functions for queries of public values; those for files, settings and internals are omitted. */
export const FUNCTIONS = words(`
  abs acos age any_value approx_count_distinct approx_quantile arg_max arg_min array_agg array_length array_to_string
  ascii asin atan atan2 avg bar bit_and bit_count bit_or bool_and bool_or cbrt ceil century chr concat
  concat_ws contains corr cos cot count count_if covar_pop covar_samp damerau_levenshtein date_add date_diff
  date_part date_sub date_trunc day dayname dayofmonth dayofweek dayofyear decade degrees ends_with entropy
  epoch epoch_ms even exp factorial flatten floor format format_bytes gcd generate_series generate_subscripts
  geometric_mean greatest group_concat hamming hash histogram hour instr isfinite isinf isnan isodow isoyear
  jaccard jaro_similarity jaro_winkler_similarity kurtosis last_day lcm least left len length
  levenshtein list list_aggregate list_append list_concat list_contains list_distinct list_extract list_filter
  list_has_all list_has_any list_intersect list_position list_reduce list_reverse list_slice list_sort list_sum
  list_transform list_unique list_value list_zip ln log log10 log2 lower lpad ltrim mad make_date make_timestamp map
  map_keys map_values max max_by md5 mean median millisecond min min_by minute mode month monthname  
  nullif pi position pow prefix printf product quantile quantile_cont quantile_disc quarter radians random
  range regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array
  regr_intercept regr_r2 regr_slope repeat replace reverse right round rpad rtrim second sha256 sign sin
  skewness split split_part sqrt starts_with stddev stddev_pop stddev_samp strftime string_agg string_split strip_accents
  strlen strptime struct_extract struct_pack substring suffix sum tan time_bucket translate trim trunc
  try_strptime typeof unicode unnest upper url_decode url_encode var_pop var_samp variance week weekday weekofyear year
  yearweek
`);

/** Functions that the parser handles: the list of the engine lacks them. */
export const SYNTAX_FUNCTIONS = words(`
  coalesce cume_dist dense_rank first_value ifnull lag last_value lead nth_value ntile percent_rank rank row_number
`);
