// The same questions on DuckDB behind Hono: the release's Parquet in memory with an index on ids, a prepared
// statement for each question, no gate. RELEASE is the release folder, NUMBER the attribute whose history is
// loaded; QUESTIONS (a JSON object) contains the statements by name.
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBPreparedStatement } from '@duckdb/node-api';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const folder = process.env['RELEASE'] ?? '';
const questions = JSON.parse(process.env['QUESTIONS'] ?? '{}') as Record<string, string>;
const instance = await DuckDBInstance.create(':memory:');
/** Parallel statements. */
const CONNECTIONS = 4;

const first = await instance.connect();
const file = (name: string) => `read_parquet('${join(folder, `${name}.parquet`)}')`;
for (const table of ['engine', 'bodies', 'terms', 'moments'])
  await first.run(`create table ${table} as from ${file(table)}`);
await first.run(
  `create table history as select ord, "from", min as value from ${file('history')} where attribute = '${process.env['NUMBER']}' order by ord, "from"`,
);
await first.run('create table words as select ord, count(*) as n from terms group by ord');
await first.run('create index by_id on bodies (id)');

type Prepared = Map<string, DuckDBPreparedStatement>;
const idle: Prepared[] = [];
const waiting: ((connection: Prepared) => void)[] = [];
for (let i = 0; i < CONNECTIONS; i += 1) {
  const connection = await instance.connect();
  const prepared: Prepared = new Map();
  for (const [name, sql] of Object.entries(questions)) prepared.set(name, await connection.prepare(sql));
  idle.push(prepared);
}

const app = new Hono();
app.get('/', (c) => c.text('yes'));
app.get('/:question', async (c) => {
  const name = c.req.param('question');
  const connection = idle.pop() ?? (await new Promise<Prepared>((resolve) => void waiting.push(resolve)));
  try {
    const statement = connection.get(name);
    if (!statement) return c.notFound();
    for (const [i, value] of (c.req.queries('v') ?? []).entries()) statement.bindVarchar(i + 1, value);
    const reader = await statement.runAndReadAll();
    return c.body(answer(name, reader.getRowObjectsJS()), 200, { 'content-type': 'application/json; charset=utf-8' });
  } finally {
    const next = waiting.shift();
    if (next) next(connection);
    else idle.push(connection);
  }
});

/** Bodies are JSON text already and are joined; anything else is serialised. */
function answer(name: string, rows: Record<string, unknown>[]): string {
  if (name === 'get') return String(rows[0]?.['body']);
  if (rows.every((row) => 'body' in row)) return `{"items":[${rows.map((row) => row['body']).join(',')}]}`;
  const member = { facets: 'values', series: 'series' }[name] ?? 'rows';
  return JSON.stringify({ [member]: rows });
}

serve({ fetch: app.fetch, port: Number(process.env['PORT']), hostname: '127.0.0.1' });
