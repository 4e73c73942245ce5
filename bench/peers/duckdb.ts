// The same questions straight on DuckDB behind Hono: the release's Parquet in memory, one prepared statement a question, no gate.
// RELEASE names the release folder; `?sql=` is one of the statements that QUESTIONS (a JSON object) holds by name.
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBPreparedStatement } from '@duckdb/node-api';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const folder = process.env['RELEASE'] ?? '';
const questions = JSON.parse(process.env['QUESTIONS'] ?? '{}') as Record<string, string>;
const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
const connection = await instance.connect();
for (const table of ['engine', 'bodies', 'terms']) {
  await connection.run(`create table ${table} as from read_parquet('${join(folder, `${table}.parquet`)}')`);
}
await connection.run('create index by_id on bodies (id)');

const prepared = new Map<string, DuckDBPreparedStatement>();
for (const [name, sql] of Object.entries(questions)) prepared.set(name, await connection.prepare(sql));

const app = new Hono();
app.get('/ready', (c) => c.text('yes'));
app.get('/:question/:value?', async (c) => {
  const statement = prepared.get(c.req.param('question'));
  if (!statement) return c.notFound();
  const value = c.req.param('value');
  if (value !== undefined) statement.bindVarchar(1, value);
  const reader = await statement.runAndReadAll();
  const rows = reader.getRowsJS();
  // Bodies come as JSON text already: join them; anything else is serialised.
  const bodies = rows.every((row) => row.length === 1 && typeof row[0] === 'string');
  const text = bodies ? `{"items":[${rows.map((row) => row[0]).join(',')}]}` : JSON.stringify(rows, plain);
  return c.body(text, 200, { 'content-type': 'application/json; charset=utf-8' });
});

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
serve({ fetch: app.fetch, port: Number(process.env['PORT']), hostname: '127.0.0.1' });
