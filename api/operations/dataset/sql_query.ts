// POST /v1/sql and POST /v1/{ds}/sql: one SELECT over the tables of all datasets, or of one (contract section 9, "SQL").
import { z } from 'zod';
import type { StoredRecord } from '../../../data/model/record.ts';
import type { RawInput } from '../../../data/plan/plan.ts';
import { mapSlices } from '../../../data/plan/slices.ts';
import type { Release } from '../../../data/releases/release.ts';
import type { SqlParameter } from '../../../data/sql/engine.ts';
import { sqlSource } from '../../../data/sql/tables.ts';
import { recordColumn } from '../../../data/write/csv.ts';
import { dictionary } from '../../../data/write/dictionary.ts';
import { ApiError } from '../../contract/errors.ts';
import { type Context, jsonResult, type Operation, operation } from '../../contract/operation.ts';
import { blocks, escapeText, tableOf, tableRow } from '../../render/markdown.ts';
import { sourceLine } from '../../render/record-table.ts';
import { columnNames } from '../../render/sql-guide.ts';
import { type About, aboutDataset, aboutRegister } from '../common/about.ts';
import { bodyInput, parseJsonMember, serviceOf } from '../common/account.ts';
import { ABOUT_OUTPUT, count } from '../common/outputs.ts';

/** Most rows of an answer, the default, and most characters of a statement. */
const [MOST_ROWS, ROWS, LONGEST] = [10_000, 1_000, 10_000];
/** Most rows whose sources are named. */
const SOURCED = 20;
/** Rows written as Markdown between two turns of the event loop: some 2 ms. */
const ROWS_A_SLICE = 100;

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const Value = z.union([Scalar, z.array(Scalar)]);
const Statement = z.strictObject({
  sql: z.string().min(1).max(LONGEST).describe('One SELECT of DuckDB'),
  parameters: z
    .union([z.array(Value).max(100), z.record(z.string(), Value)])
    .optional()
    .describe('Values for ? by position, or for $name by name'),
  max_rows: z.int().min(1).max(MOST_ROWS).default(ROWS).describe('Most rows'),
});
/** The same for tools, short; hosts refuse schemas with alternatives. */
const ToolStatement = z.object({
  sql: z.string(),
  parameters: z.array(z.any()).optional().describe('For ?'),
  max_rows: z.int().min(1).optional(),
});

type StatementInput = z.infer<typeof Statement>;
const { parse: parseBody } = bodyInput(Statement, { sql: 'SELECT count(*) FROM …' });

const output = () =>
  z.object({
    columns: z.array(z.object({ name: z.string(), type: z.string().describe('Type of DuckDB') })),
    rows: z.array(z.array(z.unknown())).describe('Values in the order of the columns'),
    row_count: count('Rows of this answer'),
    truncated: z.boolean().describe('Whether there are more than max_rows'),
    releases: z.record(z.string(), z.string()).describe('Release of each dataset that was read'),
    ...ABOUT_OUTPUT,
  });
type Answer = z.infer<ReturnType<typeof output>>;

/** The arguments of a call by name as the body of a request. */
function namedBody(raw: RawInput): unknown {
  const { max_rows, ...members } = parseJsonMember(raw, 'parameters');
  return { ...members, ...(max_rows === undefined ? {} : { max_rows: Number(max_rows) }) };
}

function parse({ format: _, ...raw }: RawInput, ctx: Context): StatementInput {
  return ctx.by_name ? parseBody({}, { ...ctx, body: namedBody(raw) }) : parseBody(raw, ctx);
}

const releasesOf = ({ release, register }: Context): readonly Release[] => (release ? [release] : register.releases);

/** Citations and licences of the datasets that were read. */
function aboutRead(read: readonly Release[], base_url: string): About {
  const [about = aboutRegister(base_url), ...others] = read.map(({ pack }) => aboutDataset(pack, base_url));
  if (others.length === 0) return about;
  const joined = (texts: string[], by: string) => [...new Set(texts)].join(by);
  return {
    attribution: joined(
      [about, ...others].map(({ attribution }) => attribution),
      ' ',
    ),
    license: joined(
      [about, ...others].map(({ license }) => license),
      '; ',
    ),
  };
}

/** An error about a statement, with the columns of the tables that it names. */
function withColumns(error: unknown, sql: string, tier: 'public' | 'all', releases: readonly Release[]): unknown {
  if (!(error instanceof ApiError) || error.code !== 'invalid_sql') return error;
  const packs = releases.map(({ pack }) => pack);
  const named = packs.filter(({ id }) => new RegExp(`\\b${id.replaceAll('-', '_')}`, 'i').test(sql));
  const shown = named.length === 0 && packs.length > 1 ? [] : named.length === 0 ? packs : named;
  const text =
    shown.length > 0
      ? `Columns: ${shown.map((pack) => columnNames(pack, tier)).join('. ')}.`
      : `Tables: ${packs.map(({ id }) => id.replaceAll('-', '_')).join(', ')}; dataset_guide lists their columns.`;
  return new ApiError(error.code, error.message, { ...error.extras, alternative_action: text });
}

async function run({ sql, parameters = [], max_rows }: StatementInput, ctx: Context) {
  const { sql: runStatement } = serviceOf(ctx);
  if (!runStatement) throw new ApiError('not_found', 'SQL is turned off on this service.');
  const releases = releasesOf(ctx);
  const form = ctx.format === 'csv' || ctx.format === 'ndjson' ? ctx.format : 'json';
  let columnsOf: 'public' | 'all' = 'public';
  const sources = (tier: 'public' | 'all') => {
    columnsOf = tier;
    return releases.map((release) => sqlSource(release, tier));
  };
  const values = parameters as readonly SqlParameter[] | Record<string, SqlParameter>;
  const {
    rows,
    columns,
    row_count,
    truncated,
    datasets,
    releases: names,
  } = await runStatement({ sql, parameters: values, max_rows, form, sources }, ctx.signal).catch((error: unknown) => {
    throw withColumns(error, sql, columnsOf, releases);
  });
  const read = releases.filter(({ pack }) => datasets.includes(pack.id));
  const end = JSON.stringify({ row_count, truncated, releases: names, ...aboutRead(read, ctx.base_url) });
  const parts = [`{"columns":${JSON.stringify(columns)},"rows":`, rows, `,${end.slice(1)}`];
  const buffers = parts.map((part) => Buffer.from(part as string));
  if (form !== 'json') return jsonResult<Answer>(buffers, { text: rows, truncated });
  const result = jsonResult<Answer>(buffers, { truncated });
  if (ctx.format === 'arrow') {
    const { arrowOfCells } = await import('../../render/arrow.ts');
    result.text = await arrowOfCells(columns, result.body.rows, new Map(Object.entries(names)), ctx);
  }
  return result;
}

/** A value as a cell of a table: nested ones as JSON. */
const cellOf = (value: unknown) =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : (value as string | number | boolean);

/** The sources of the columns of rows that keep the id of a record, one line for each dataset; from public values. */
async function sourcesOf({ columns, rows, releases }: Answer, ctx: Context): Promise<string> {
  if (rows.length > SOURCED) return '';
  const lines = releasesOf(ctx).map(async ({ pack, engine, manifest }) => {
    const place = columns.findIndex(({ name }) => name === 'id' || name === recordColumn(pack, 'id'));
    if (place < 0 || releases[pack.id] !== manifest.release) return '';
    const ids = rows.map((row) => row[place]).filter((id) => typeof id === 'string');
    const ordinals = (await engine.resolve(ids, ctx)).filter((ordinal) => ordinal !== null);
    const records = (await engine.bodies(ordinals, ctx)).map(({ body }) => JSON.parse(body) as StoredRecord);
    const publicColumns = dictionary(pack, 'public', false);
    const named = columns.flatMap(({ name }) => publicColumns.find((column) => column.name === name)?.attribute ?? []);
    return sourceLine(
      pack,
      [...new Set(named)],
      records.map(({ provenance }) => provenance),
    );
  });
  return (await Promise.all(lines)).filter(Boolean).join(' ');
}

async function markdown(answer: Answer, ctx: Context): Promise<string> {
  const { columns, rows, row_count, truncated, releases, attribution, license } = answer;
  const cells = await mapSlices(rows, ROWS_A_SLICE, (row) => tableRow(row.map(cellOf)), ctx);
  const read = Object.entries(releases).map((release) => release.join(' '));
  const more = truncated
    ? `The first ${row_count} rows; there are more.`
    : `${row_count} ${row_count === 1 ? 'row' : 'rows'}.`;
  return blocks(
    tableOf(
      columns.map(({ name }) => name),
      cells,
    ),
    `${more}${read.length > 0 ? ` Releases: ${read.join(', ')}.` : ''}`,
    await sourcesOf(answer, ctx),
    `${escapeText(attribution)} License: ${escapeText(license)}`,
  );
}

const shared = {
  charge: { access: 'free', bucket: 'sql' },
  formats: ['json', 'markdown', 'csv', 'ndjson', 'arrow'],
  parse,
  run,
  markdown,
  output,
} satisfies Partial<Operation<StatementInput, Answer>>;

/**
 * @example
 * ```
 * POST /v1/sql {"sql": "SELECT country, count(*) FROM airports GROUP BY country"}
 * ```
 */
export const sql_query = operation<StatementInput, Answer>({
  ...shared,
  name: 'sql_query',
  title: 'Query with SQL',
  description: 'One SELECT (DuckDB) over all datasets and their history: joins, groups. Tables: dataset_guide. Free.',
  rest: { method: 'POST', path: '/v1/sql', reads: true },
  tool: {
    core: true,
    markdown: true,
    long: { part: 'rows', more: 'Select fewer columns, aggregate, or use LIMIT and OFFSET.' },
  },
  docs: {
    group: 'register',
    tasks: [{ want: 'any other question over all records, their history or several datasets, in one statement' }],
    errors: ['invalid_sql', 'query_timeout', 'not_found'],
  },
  input: (_pack, as) => (as === 'tool' ? ToolStatement : Statement),
});

export const dataset_sql = operation<StatementInput, Answer>({
  ...shared,
  name: 'dataset_sql',
  title: 'Query one dataset with SQL',
  description: 'As sql_query, over the tables of one dataset. Free.',
  rest: { method: 'POST', path: '/v1/:ds/sql', reads: true },
  docs: { group: 'dataset', errors: ['invalid_sql', 'query_timeout', 'not_found'] },
  input: () => Statement,
});
