// Statements that tell whether a condition holds on one record, by an error, a result or the order of rows.
import { ALLOWED_FUNCTIONS } from '../../../data/sql/check.ts';

/** A statement about the record `$1`; `on` is a condition on its row. */
export type Form = (on: string) => string;

/** Values at which functions fail, or answer something else than for ordinary ones. */
const NUMBERS = ['-5', '9223372036854775807', '1e308', '0', '-2147483648'];
const TEXTS = ["'\\'", "'['", "''", "'2026-13-45'", "repeat('(', 200)"];

const numberIf = (on: string, value: string) => `CASE WHEN ${on} THEN ${value} ELSE 2 END`;
const textIf = (on: string, value: string) => `CASE WHEN ${on} THEN ${value} ELSE 'a' END`;

/** Arguments in which a value depends on the condition: of a number, of a text. */
const OF_NUMBER: readonly ((value: string) => string)[] = [
  (value) => value,
  (value) => `${value}, 2`,
  (value) => `2, ${value}`,
  (value) => `'abc', ${value}`,
  (value) => `'abc', ${value}, 2`,
  (value) => `[1, 2], ${value}`,
  (value) => `[${value}, 2]`,
  (value) => `DATE '2026-01-01', (${value})::INTEGER`,
  (value) => `'day', make_timestamp((${value})::BIGINT)`,
  (value) => `make_timestamp((${value})::BIGINT)`,
];
const OF_TEXT: readonly ((value: string) => string)[] = [
  (value) => value,
  (value) => `${value}, 'a'`,
  (value) => `'abc', ${value}`,
  (value) => `'abc', ${value}, 'x'`,
  (value) => `${value}, 'a', 'b'`,
  (value) => `(${value})::JSON, '$.a'`,
  (value) => `DATE '2026-01-01', ${value}`,
  (value) => `[${value}], 'a'`,
];

/** Forms of each function. */
export const FORMS = OF_NUMBER.length + OF_TEXT.length;

/** Names that the grammar writes between or around its arguments. */
const isOperator = (name: string) => !/^[a-z_]/i.test(name) || name === 'if' || name.startsWith('__');

/** A call of a function or an operator with these arguments. */
function called(name: string, args: string): string {
  if (!isOperator(name) || name === 'if') return `"${name}"(${args})`;
  return args.includes(', ') ? `(${args.replace(', ', `) ${name} (`)})` : `${name} (${args})`;
}

const places = (call: string): string[] => [
  `SELECT count(*) FROM t WHERE (${call}) IS NOT NULL`,
  `SELECT count(x) FROM (SELECT ${call} AS x FROM t)`,
];

/** For each function of the allow-list: every form of arguments, with values in turn. */
export function functionForms(): Form[] {
  let turn = 0;
  return [...ALLOWED_FUNCTIONS].flatMap((name) =>
    [...OF_NUMBER.map((args) => ({ args, text: false })), ...OF_TEXT.map((args) => ({ args, text: true }))].map(
      ({ args, text }): Form => {
        turn += 1;
        const i = turn;
        const value = (on: string) =>
          text ? textIf(on, TEXTS[i % TEXTS.length]!) : numberIf(on, NUMBERS[i % NUMBERS.length]!);
        return (on) => places(called(name, args(value(on))))[i % 2]!;
      },
    ),
  );
}

/** What makes a statement fail where the condition holds. */
const FAILURES: readonly ((on: string) => string)[] = [
  (on) => `chr(${numberIf(on, '-5')})`,
  (on) => `('x' || ${textIf(on, "'y'")})::INTEGER`,
  (on) => `CAST(${textIf(on, "'no'")} AS DATE)`,
  (on) => `(${numberIf(on, '9223372036854775807')})::BIGINT + 1`,
  (on) => `(${numberIf(on, '300')})::TINYINT`,
  (on) => `sqrt(${numberIf(on, '-1')})`,
  (on) => `ln(${numberIf(on, '0')})`,
  (on) => `'abc' LIKE ${textIf(on, "'a\\'")} ESCAPE '\\'`,
  (on) => `'abc' ~ ${textIf(on, "'('")}`,
  (on) => `'abc' SIMILAR TO ${textIf(on, "'['")}`,
  (on) => `substring('abc', (${numberIf(on, '9223372036854775807')})::BIGINT, 3)`,
  (on) => `(SELECT count(*) FROM range((${numberIf(on, '300000')})::BIGINT)) > 3`,
  (on) => `(SELECT x FROM (VALUES (1), (2)) v(x) WHERE ${on} OR x = 1)`,
  (on) => `list_extract([1], (${numberIf(on, '-9223372036854775808')})::BIGINT)`,
  (on) => `to_timestamp(${numberIf(on, '1e300')})`,
];

/** Where a statement may have an expression. */
const POSITIONS: readonly ((x: string) => string)[] = [
  (x) => `SELECT count(*) FROM t WHERE (${x}) IS NOT NULL`,
  (x) => `SELECT ${x} AS x FROM t ORDER BY x LIMIT 50`,
  (x) => `SELECT name FROM t ORDER BY ${x}, name LIMIT 5`,
  (x) => `SELECT name FROM t ORDER BY ${x} DESC, name LIMIT 1`,
  (x) => `SELECT count(*) FROM t GROUP BY ${x} ORDER BY 1`,
  (x) => `SELECT name, count(*) FROM t GROUP BY name HAVING max(${x}) IS NOT NULL ORDER BY 1`,
  (x) => `SELECT max(${x}) FROM t`,
  (x) => `SELECT min(${x}), count(DISTINCT ${x}) FROM t`,
  (x) => `SELECT approx_count_distinct(${x}) FROM t`,
  (x) => `SELECT approx_top_k(${x}, 3) FROM t`,
  (x) => `SELECT mode(${x}) FROM t`,
  (x) => `SELECT list(${x} ORDER BY name) FROM t`,
  (x) => `SELECT string_agg(CAST(${x} AS VARCHAR), ',' ORDER BY name) FROM t`,
  (x) => `SELECT count(*) FILTER (WHERE (${x}) IS NOT NULL) FROM t`,
  (x) => `SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY ${x}) AS r FROM t)`,
  (x) => `SELECT sum(r) FROM (SELECT dense_rank() OVER (PARTITION BY ${x} ORDER BY name) AS r FROM t)`,
  (x) => `SELECT count(l) FROM (SELECT lag(${x}) OVER (ORDER BY name) AS l FROM t)`,
  (x) => `SELECT name FROM t QUALIFY row_number() OVER (ORDER BY ${x}, name) = 1`,
  (x) => `SELECT count(*) FROM t a JOIN t b ON a.id = b.id AND (SELECT (${x}) IS NOT NULL FROM t LIMIT 1)`,
  (x) => `SELECT count(*) FROM t a WHERE EXISTS (SELECT 1 FROM t WHERE (${x}) IS NOT NULL)`,
  (x) => `WITH c AS MATERIALIZED (SELECT ${x} AS x FROM t) SELECT count(x) FROM c`,
  (x) => `SELECT count(*) FROM (SELECT ${x} AS x FROM t UNION SELECT NULL)`,
  (x) => `SELECT DISTINCT ${x} AS x FROM t ORDER BY 1 LIMIT 50`,
  (x) => `SELECT DISTINCT ON (${x}) name FROM t ORDER BY ${x}, name`,
  (x) => `SELECT CASE WHEN count(${x}) > 0 THEN 1 ELSE 2 END FROM t`,
  (x) => `SELECT quantile_cont(length(CAST(${x} AS VARCHAR)), 0.5) FROM t`,
  (x) => `SELECT histogram(CAST(${x} AS VARCHAR)) FROM t`,
];

/** Every failure in every place. */
export const placedForms = (): Form[] =>
  POSITIONS.flatMap((position) =>
    FAILURES.map(
      (failure): Form =>
        (on) =>
          position(failure(on)),
    ),
  );

/** Statements over whole columns: types, statistics, minima, orders and texts of errors. */
export const WHOLE: readonly string[] = [
  'SELECT count(*), count(DISTINCT id), min(id), max(id), min(name), max(name) FROM t',
  'SELECT approx_count_distinct(id), approx_count_distinct(name) FROM t',
  'SELECT DISTINCT typeof(COLUMNS(*)) FROM t',
  'SELECT name FROM t ORDER BY name',
  'SELECT name::INTEGER FROM t',
  'SELECT sum(length(COLUMNS(*)::VARCHAR)) FROM t',
  'SELECT md5(string_agg(CAST(t AS VARCHAR), chr(10) ORDER BY CAST(t AS VARCHAR))) FROM t',
];
