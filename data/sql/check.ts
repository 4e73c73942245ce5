// Which statements may run: one SELECT over the listed tables with the functions of an allow-list, checked on the tree
// of DuckDB's own parser. Everything that is not listed is refused.
import { closestNames } from '../input/suggester.ts';
import { DataError } from '../model/errors.ts';

/** Position in a statement, from 1, and the nearest known name. */
export interface SqlErrorDetail {
  line: number;
  column: number;
  nearest?: string;
}

/** The 400 for a statement. `at`: offset in bytes of its UTF-8 text, as DuckDB counts. */
export function invalidSql(message: string, sql: string, at: unknown = 0, nearest?: string): DataError {
  const offset = Number(at);
  const bytes = Buffer.from(sql);
  const before = bytes.subarray(0, offset >= 0 && offset <= bytes.length ? offset : 0).toString();
  const line = before.split('\n').length;
  const column = before.length - before.lastIndexOf('\n');
  const detail: SqlErrorDetail = { line, column, ...(nearest === undefined ? {} : { nearest }) };
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  return new DataError('invalid_sql', `Line ${line}, column ${column}: ${message}${hint}`, detail);
}

const words = (text: string) => text.trim().split(/\s+/);

/**
 * Scalar, aggregate and window functions. Left out: those that take the name of a table, function, setting, sequence or
 * file as text, show the state of the process, wait, or raise errors with values.
 */
export const ALLOWED_FUNCTIONS: ReadonlySet<string> = new Set(
  words(`
! !~~ !~~* % & && * ** + - -> ->> / // <-> << <=> <@ >> @ @> ^ ^@ | || ~ ~~ ~~* ~~~ __postfix
ilike_escape like_escape not_ilike_escape not_like_escape
abs acos acosh add asin asinh atan atan2 atanh bit_count cbrt ceil ceiling cos cosh cot degrees divide even exp factorial fdiv floor
fmod gamma gcd greatest greatest_common_divisor isfinite isinf isnan lcm least least_common_multiple lgamma ln log log10 log2 mod
multiply nextafter pi pow power radians random round round_even roundbankers sign signbit sin sinh sqrt subtract tan tanh trunc xor
equi_width_bins bar hash md5 sha1 sha256 uuid gen_random_uuid nullif ifnull coalesce if typeof constant_or_null
ascii bin bit_length char_length character_length chr concat concat_ws contains damerau_levenshtein editdist3 ends_with format
formatReadableDecimalSize formatreadabledecimalsize formatReadableSize formatreadablesize format_bytes from_base64 hamming hex instr
jaccard jaro_similarity jaro_winkler_similarity lcase left left_grapheme len length length_grapheme levenshtein lower lpad ltrim
mismatches nfc_normalize octet_length ord position prefix printf regexp_escape regexp_extract regexp_extract_all regexp_full_match
regexp_matches regexp_replace regexp_split_to_array repeat replace reverse right right_grapheme rpad rtrim split split_part starts_with
str_split str_split_regex string_split string_split_regex string_to_array strip_accents strlen strpos substr substring
substring_grapheme suffix to_base to_base64 to_hex translate trim ucase unhex unicode upper url_decode url_encode array_to_string
age century date_add date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek
dayofyear days_in_month decade epoch epoch_ms epoch_ns epoch_us era hour isodow isoyear julian last_day make_date make_time
make_timestamp microsecond millennium millisecond minute month monthname nanosecond now current_date current_timestamp get_current_timestamp
today quarter second strftime strptime time_bucket timezone to_centuries to_days to_decades to_hours to_microseconds to_millennia
to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years try_strptime week weekday weekofyear year
yearweek
array_append array_cat array_concat array_contains array_cosine_distance array_cosine_similarity array_distance array_distinct
array_extract array_filter array_has array_has_all array_has_any array_indexof array_intersect array_length array_position array_prepend
array_reverse array_reverse_sort array_select array_slice array_sort array_transform array_unique array_value array_where array_zip
cardinality element element_at flatten generate_series list_any_value list_append list_avg list_cat list_concat list_contains
list_cosine_distance list_cosine_similarity list_count list_distance list_distinct list_extract list_element list_filter list_first
list_has list_has_all list_has_any list_histogram list_indexof list_inner_product list_intersect list_last list_max list_median list_min
list_mode list_pack list_position list_prepend list_product list_reduce list_reverse list_reverse_sort list_select list_slice list_sort
list_stddev_pop list_stddev_samp list_sum list_transform list_unique list_value list_var_pop list_var_samp list_where list_zip map
map_concat map_contains map_entries map_extract map_extract_value map_from_entries map_keys map_values range row struct_concat
struct_extract struct_extract_at struct_insert struct_pack unnest unpivot_list
json_array json_array_length json_contains json_exists json_extract json_extract_path json_extract_path_text json_extract_string
json_group_array json_group_object json_keys json_object json_quote json_type json_valid json_value row_to_json to_json array_to_json
any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_min arg_min_null argmax argmin array_agg avg
bit_and bit_or bit_xor bool_and bool_or corr count count_if count_star countif covar_pop covar_samp entropy favg first fsum geomean
geometric_mean group_concat grouping grouping_id histogram kahan_sum kurtosis kurtosis_pop last list listagg mad max max_by mean median
min min_by mode product quantile quantile_cont quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
regr_sxy regr_syy reservoir_quantile sem skewness stddev stddev_pop stddev_samp string_agg sum sumkahan var_pop var_samp variance wavg
weighted_avg cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank rank_dense row_number
distance_km`),
);

const TABLE_FUNCTIONS = new Set(['generate_series', 'range', 'unnest']);

/** Kinds of table references. */
const REFERENCES = new Set(['BASE_TABLE', 'EMPTY', 'EXPRESSION_LIST', 'JOIN', 'PIVOT', 'SUBQUERY', 'TABLE_FUNCTION']);
/** Classes of expressions. */
const EXPRESSIONS = new Set([
  ...words('BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION LAMBDA OPERATOR PARAMETER'),
  ...words('POSITIONAL_REFERENCE STAR SUBQUERY WINDOW'),
]);
/** Kinds of query nodes. */
const NODES = new Set(['CTE_NODE', 'RECURSIVE_CTE_NODE', 'SELECT_NODE', 'SET_OPERATION_NODE', 'VALUES_NODE']);

/** What a statement may name. */
export interface AllowedNames {
  /** Tables by their lower-case name, with their dataset. */
  tables: ReadonlyMap<string, string>;
  /** Table macros, in the same way. */
  macros: ReadonlyMap<string, string>;
  /** Names of views that the database itself has: no common table expression may have one. */
  system: ReadonlySet<string>;
}

/** Most levels of the tree of a statement; an operator between two values is one, and each `+` after it another. */
const LEVELS = 300;

type Tree = { [member: string]: unknown };

/**
 * Checks the JSON text that `json_serialize_sql` made of a statement. Returns the datasets that it reads. Throws
 * `invalid_sql`.
 */
export function checkStatement(sql: string, serialized: string, allowed: AllowedNames): Set<string> {
  let parsed: Tree & { statements?: Tree[] };
  try {
    parsed = JSON.parse(serialized) as typeof parsed;
  } catch {
    throw invalidSql('The statement is nested too deeply.', sql);
  }
  if (parsed['error'] === true) throw syntaxError(sql, parsed);
  const { statements = [] } = parsed;
  const [statement] = statements;
  if (statement === undefined || statements.length !== 1)
    throw invalidSql(`Send one SELECT statement (got ${statements.length}).`, sql);
  const check = new Check(sql, allowed);
  check.node(statement['node'], new Set());
  return check.datasets;
}

/** The text near a position comes from the statement, not from the message of DuckDB. */
function syntaxError(sql: string, { error_type, position }: Tree): DataError {
  if (error_type !== 'parser' && error_type !== 'syntax')
    return invalidSql('Only one SELECT statement is accepted; it may begin with WITH or FROM.', sql);
  const word = Buffer.from(sql)
    .subarray(Number(position))
    .toString()
    .match(/^\S{1,40}/)?.[0];
  return invalidSql(word === undefined ? 'The statement ends too early.' : `Syntax error at ${word}.`, sql, position);
}

class Check {
  readonly datasets = new Set<string>();
  readonly #sql: string;
  readonly #allowed: AllowedNames;

  constructor(sql: string, allowed: AllowedNames) {
    this.#sql = sql;
    this.#allowed = allowed;
  }

  /** A node of the tree with all below it. `names`: the common table expressions that it can see. */
  node(value: unknown, names: ReadonlySet<string>, level = 0): void {
    if (level > LEVELS) throw invalidSql('The statement is nested too deeply.', this.#sql);
    if (Array.isArray(value)) for (const item of value) this.node(item, names, level);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const tree = value as Tree;
    this.#kind(tree);
    let visible = names;
    if (tree['cte_map']) visible = this.#expressions((tree['cte_map'] as { map: Tree[] }).map, names, level);
    if (typeof tree['cte_name'] === 'string') visible = new Set(visible).add(this.#cteName(tree['cte_name']));
    if (tree['type'] === 'BASE_TABLE') this.#table(tree, visible);
    else if (tree['type'] === 'TABLE_FUNCTION') this.#tableFunction(tree);
    else if (tree['class'] === 'FUNCTION' || tree['class'] === 'WINDOW') this.#function(tree);
    for (const [member, child] of Object.entries(tree)) {
      // Checked above, like the function of a table reference.
      if (member === 'cte_map') continue;
      const below = tree['type'] === 'TABLE_FUNCTION' && member === 'function' ? (child as Tree)['children'] : child;
      this.node(below, visible, level + 1);
    }
  }

  #kind(tree: Tree): void {
    const { class: expression, type } = tree as { class?: string; type?: string };
    const isReference = 'sample' in tree && 'alias' in tree && expression === undefined;
    const isNode = 'cte_map' in tree;
    const isListed =
      expression !== undefined
        ? EXPRESSIONS.has(expression)
        : isReference
          ? REFERENCES.has(type ?? '')
          : !isNode || NODES.has(type ?? '');
    if (!isListed || (expression === undefined && type === 'SHOW_REF'))
      throw this.#refuse(
        'This part of SQL is not available here; use SELECT with joins, groups, windows and CTEs.',
        tree,
      );
  }

  /** The names that a node sees: an expression sees those before it, and itself if it is recursive. */
  #expressions(map: Tree[], names: ReadonlySet<string>, level: number): ReadonlySet<string> {
    const visible = new Set(names);
    for (const { key, value } of map) {
      this.node(value, visible, level + 1);
      visible.add(this.#cteName(String(key)));
    }
    return visible;
  }

  #cteName(name: string): string {
    const folded = name.toLowerCase();
    if (this.#allowed.system.has(folded) || /[./\\]/.test(folded))
      throw this.#refuse('This name of a common table expression is reserved; use another one.', {});
    return folded;
  }

  #table(tree: Tree, names: ReadonlySet<string>): void {
    if (tree['schema_name'] !== '' || tree['catalog_name'] !== '')
      throw this.#refuse('Tables have no schema or database here: write the name alone.', tree);
    if (tree['at_clause']) throw this.#refuse('AT is not available; use <table>_as_of(time).', tree);
    const name = String(tree['table_name']).toLowerCase();
    const dataset = this.#allowed.tables.get(name);
    if (names.has(name)) return;
    if (dataset === undefined)
      throw this.#unknown('There is no such table.', tree, name, [...this.#allowed.tables.keys()]);
    this.datasets.add(dataset);
  }

  #tableFunction(tree: Tree): void {
    const call = tree['function'] as Tree;
    const name = this.#plainName(call);
    const dataset = this.#allowed.macros.get(name);
    if (dataset !== undefined) this.datasets.add(dataset);
    else if (!TABLE_FUNCTIONS.has(name))
      throw this.#unknown('There is no such table function.', tree, name, [
        ...this.#allowed.macros.keys(),
        ...TABLE_FUNCTIONS,
      ]);
  }

  #function(tree: Tree): void {
    const name = this.#plainName(tree);
    if (!ALLOWED_FUNCTIONS.has(name))
      throw this.#unknown('This function does not exist or is not available.', tree, name, [...ALLOWED_FUNCTIONS]);
  }

  #plainName(call: Tree): string {
    // The parser itself writes the schema of functions behind syntax such as `[1, 2]` and EXTRACT.
    const isQualified =
      !['', 'main'].includes(String(call['schema'])) || !['', 'system'].includes(String(call['catalog']));
    if (isQualified) throw this.#refuse('Functions have no schema here: write the name alone.', call);
    return String(call['function_name']).toLowerCase();
  }

  #unknown(message: string, tree: Tree, name: string, names: readonly string[]): DataError {
    return invalidSql(message, this.#sql, tree['query_location'], closestNames(name, names)[0]);
  }

  #refuse(message: string, tree: Tree): DataError {
    return invalidSql(message, this.#sql, tree['query_location']);
  }
}
