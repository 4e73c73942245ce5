// Search by relevance as one statement: the scores of data/plan/relevance.ts in integer arithmetic.
import { nameWords } from '../consolidate/engine-values.ts';
import type { Position, RelevanceSort, SearchPlan } from '../plan/plan.ts';
import { NAME_SCORES, SATURATION, STEPS, WHOLE_WORD } from '../plan/relevance.ts';
import { countLiteral, identifier, join, type Sql, sql } from '../plan/sql.ts';
import { type Shape, sortColumn, tableSql, wholeTableSql } from './shape.ts';
import { conditions, prefixRange } from './where.ts';

const ORDER = sql`key DESC, prominence DESC NULLS LAST, quality DESC, id`;

/** Rows `[ord, id, key, total, prominence, quality]`, one more than the page; `total` is null unless requested. */
export function relevanceStatement(plan: SearchPlan, sort: RelevanceSort, shape: Shape): Sql {
  const { rows, tables } = scoredRecords(plan, sort, shape);
  const rest = plan.after === null ? sql`` : sql` WHERE ${beyond(plan.after)}`;
  const page = sql`SELECT * FROM (${rows})${rest} ORDER BY ${ORDER} LIMIT ${countLiteral(plan.limit + 1)}`;
  const total = plan.total ? sql`(SELECT count(*) FROM matched)` : sql`NULL`;
  return sql`WITH ${tables} SELECT ord, id, key, total, prominence, quality FROM (SELECT ${total} AS total) LEFT JOIN (${page}) ON true ORDER BY ${ORDER}`;
}

/** The matches with their scores: tables that `rows` reads, the order of the rows, and those after a position. */
export function scoredRecords(plan: SearchPlan, sort: RelevanceSort, shape: Shape) {
  return {
    tables: sql`matched AS MATERIALIZED (${matched(plan, sort, shape)}), inverse AS MATERIALIZED (${inverse(sort, shape)})`,
    rows: sql`SELECT ord, id, prominence, quality, ${score(sort)} AS key FROM matched ${frequencies(sort, shape)}, inverse`,
    order: ORDER,
    beyond: (_plan: SearchPlan, after: Position) => beyond(after),
  };
}

/** `other_name`: a naming attribute has the query as a value. */
function matched({ where }: SearchPlan, { prominence, names, text }: RelevanceSort, shape: Shape): Sql {
  const value = prominence === null ? sql`NULL::DOUBLE` : sql`${identifier(sortColumn(shape, prominence))}::DOUBLE`;
  const equal = names.map((attribute) => conditions([{ kind: 'any', attribute, values: [text] }], shape));
  const other = equal.length === 0 ? sql`false` : sql`coalesce(${join(equal, ' OR ')}, false)`;
  return sql`SELECT ord, id, name_words, quality, ${other} AS other_name, ${value} AS prominence FROM ${tableSql(shape, 'records')} WHERE ${conditions(where, shape)}`;
}

/** The inverse frequency of each word in the release without its overlay. */
function inverse({ words, scope }: RelevanceSort, shape: Shape): Sql {
  const [records, terms] = [wholeTableSql(shape, 'records'), wholeTableSql(shape, 'terms')];
  const visible = scope === 'full' ? sql`` : sql` AND public`;
  const postings = words.map(
    (word, i) =>
      sql`(SELECT least(count(*), (SELECT count(*) FROM ${records})) FROM ${terms} WHERE ${prefixRange(word)}${visible}) AS ${numbered('postings', i)}`,
  );
  const counts = sql`SELECT (SELECT count(*) FROM ${records}) AS records, ${join(postings, ', ')}`;
  const rounded = words.map((_, i) => {
    const count = numbered('postings', i);
    return sql`round(1000 * ln(1 + (records - ${count} + 0.5::DOUBLE) / (${count} + 0.5::DOUBLE)))::BIGINT AS ${numbered('inverse', i)}`;
  });
  return sql`SELECT ${join(rounded, ', ')} FROM (${counts})`;
}

/** The weighted frequency of each word by record. */
function frequencies({ words, scope, any }: RelevanceSort, shape: Shape): Sql {
  const weight = scope === 'full' ? sql`weight` : sql`public_weight`;
  return words.reduce(
    (tables, word, i) =>
      sql`${tables}LEFT JOIN (SELECT ord, sum(${weight} * CASE WHEN term = ${word} THEN ${WHOLE_WORD} ELSE 1 END)::BIGINT AS ${numbered('frequency', i)}${any ? sql`, max(${scope === 'full' ? sql`1` : sql`public::INTEGER`})::BIGINT AS ${numbered('found', i)}` : sql``} FROM ${tableSql(shape, 'terms')} WHERE ${prefixRange(word)} AND ord IN (SELECT ord FROM matched) GROUP BY ord) USING (ord) `,
    sql``,
  );
}

function score({ text, words, any }: RelevanceSort): Sql {
  const phrase = nameWords(text);
  const parts = words.map((_, i) => {
    const frequency = numbered('frequency', i);
    const part = sql`(${numbered('inverse', i)} * ${frequency} * 10) // (${frequency} * 10 + ${SATURATION}::BIGINT)`;
    return any ? sql`coalesce(${part}, 0)` : part;
  });
  const sum = parts.reduce((all, part) => sql`${all} + ${part}`);
  const highest = words.map((_, i) => numbered('inverse', i)).reduce((all, part) => sql`${all} + ${part}`);
  const share = sql`coalesce(((${sum}) * ${STEPS}::BIGINT) // nullif(${highest}, 0), 0)`;
  const hits = words
    .map((_, i) => sql`coalesce(${numbered('found', i)}, 0)`)
    .reduce((all, part) => sql`${all} + ${part}`);
  const other = any ? sql`(${hits}) * ${STEPS + 1}::BIGINT + ${share}` : share;
  return sql`CASE WHEN name_words = ${phrase} AND prominence IS DISTINCT FROM 0 THEN ${NAME_SCORES.exact}::BIGINT WHEN other_name OR name_words = ${phrase} THEN ${NAME_SCORES.other}::BIGINT WHEN starts_with(name_words, ${phrase}) THEN ${NAME_SCORES.prefix}::BIGINT ELSE ${other} END`;
}

/** Records after a position. */
function beyond({ value, ties = [], id }: Position): Sql {
  const [prominence = null, quality = null] = ties;
  const last = sql`(quality < ${quality} OR (quality = ${quality} AND id > ${id}))`;
  const tied =
    prominence === null
      ? sql`(prominence IS NULL AND ${last})`
      : sql`(prominence < ${prominence} OR prominence IS NULL OR (prominence = ${prominence} AND ${last}))`;
  return sql`(key < ${value} OR (key = ${value} AND ${tied}))`;
}

const numbered = (name: string, i: number): Sql => identifier(`${name}${i}`);
