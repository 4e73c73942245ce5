// The peer to beat: Hono over node:sqlite with FTS5 and stored JSON bodies, as a careful engineer would write it in a day.
// RELEASE names the release folder it loads from, DATABASE its file, SPEC the columns it filters and counts by.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import { serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { fold } from '../../packs/text.ts';

interface Spec {
  /** Text columns kept narrow and indexed; numbers likewise; the point, if any. */
  texts: string[];
  numbers: string[];
  geo: string | null;
}

const spec = JSON.parse(process.env['SPEC'] ?? '{}') as Spec;
const db = new DatabaseSync(process.env['DATABASE'] ?? '');
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
await fill(process.env['RELEASE'] ?? '');

/** Copies a release into SQLite once: narrow columns, bodies, words, points. */
async function fill(release: string): Promise<void> {
  const present = db.prepare("select count(*) as n from sqlite_master where name = 'record'").get() as { n: number };
  if (present.n > 0) return;
  db.exec('pragma journal_mode = wal; pragma synchronous = off');
  const columns = [...spec.texts.map((n) => `${quoted(n)} text`), ...spec.numbers.map((n) => `${quoted(n)} real`)];
  db.exec(
    `create table record (ord integer primary key, id text, slug text, quality real, body text, lat real, lng real, ${columns.join(', ')})`,
  );
  db.exec(
    "create virtual table words using fts5(text, content='', tokenize='unicode61 remove_diacritics 2', prefix='2 3')",
  );
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const table = (file: string) => `read_parquet('${join(release, file)}')`;
  const chosen = [
    ...spec.texts.map((n) => `e.${quoted(`${n}:value`)}`),
    ...spec.numbers.map((n) => `e.${quoted(`${n}:value`)}`),
  ];
  const point = spec.geo ? `e.${quoted(`${spec.geo}:lat`)}, e.${quoted(`${spec.geo}:lng`)}` : 'null, null';
  const result = await connection.stream(
    `select e.ord, e.id, e.slug, e.quality, b.body, ${point}, ${chosen.join(', ')}, t.text from ${table('engine.parquet')} e
     join ${table('bodies.parquet')} b using (ord)
     left join (select ord, string_agg(term, ' ') as text from ${table('terms.parquet')} group by ord) t using (ord)`,
  );
  const marks = Array.from({ length: 7 + chosen.length }, () => '?').join(', ');
  const insert = db.prepare(`insert into record values (${marks})`);
  const index = db.prepare('insert into words (rowid, text) values (?, ?)');
  db.exec('begin');
  for await (const rows of result.yieldRowsJs()) {
    for (const row of rows) {
      insert.run(...(row.slice(0, -1) as (string | number | null)[]));
      index.run(row[0] as number, fold(String(row.at(-1) ?? '')));
    }
  }
  db.exec('commit');
  for (const name of [...spec.texts, ...spec.numbers])
    db.exec(`create index ${quoted(`by ${name}`)} on record (${quoted(name)}, quality desc, id)`);
  db.exec(
    'create unique index by_id on record (id); create unique index by_slug on record (slug); create index by_quality on record (quality desc, id); create index by_point on record (lat, lng); analyze',
  );
}

const json = (c: Context, text: string) => c.body(text, 200, { 'content-type': 'application/json; charset=utf-8' });
const page = (rows: unknown[]) => `{"items":[${(rows as { body: string }[]).map((row) => row.body).join(',')}]}`;
const app = new Hono();
app.get('/ready', (c) => c.text('yes'));

const byId = db.prepare('select body from record where id = ? or slug = ?');
app.get('/get/:id', (c) => {
  const row = byId.get(c.req.param('id'), c.req.param('id')) as { body: string } | undefined;
  return row ? json(c, row.body) : c.notFound();
});

const searches = new Map(
  spec.texts.map((n) => [
    n,
    db.prepare(`select body from record where ${quoted(n)} = ? order by quality desc, id limit 20`),
  ]),
);
app.get('/search/:name/:value', (c) =>
  json(c, page(searches.get(c.req.param('name'))?.all(c.req.param('value')) ?? [])),
);

const text = db.prepare(
  'select body from record join words on words.rowid = record.ord where words match ? order by quality desc, id limit 20',
);
app.get('/text/:words', (c) => {
  const match = fold(c.req.param('words'))
    .split(' ')
    .map((word) => `"${word}"*`)
    .join(' AND ');
  return json(c, page(text.all(match)));
});

const near = db.prepare(
  `select body from (select body, quality, id,
     2 * 6371.0088 * asin(sqrt(pow(sin(radians(lat - $lat) / 2), 2) + cos(radians(lat)) * cos(radians($lat)) * pow(sin(radians(lng - $lng) / 2), 2))) as km
   from record where lat between $south and $north and lng between $west and $east)
   where km <= $km order by quality desc, id limit 20`,
);
app.get('/near/:lat/:lng/:km', (c) => {
  const [lat, lng, km] = [Number(c.req.param('lat')), Number(c.req.param('lng')), Number(c.req.param('km'))];
  const dy = km / 111;
  const dx = dy / Math.max(0.01, Math.cos((lat * Math.PI) / 180));
  return json(c, page(near.all({ lat, lng, km, south: lat - dy, north: lat + dy, west: lng - dx, east: lng + dx })));
});

const batch = db.prepare('select body from record where id in (select value from json_each(?))');
app.get('/batch/:ids', (c) => json(c, page(batch.all(JSON.stringify(c.req.param('ids').split(','))))));

// The columns form: no stored answer helps, so the narrow columns are counted.
const counts = new Map(
  spec.texts.flatMap((by) =>
    spec.texts.map(
      (n) =>
        [
          `${by}/${n}`,
          db.prepare(
            `select ${quoted(by)} as value, count(*) as count from record where ${quoted(n)} = ? group by 1 order by 2 desc limit 50`,
          ),
        ] as const,
    ),
  ),
);
app.get('/facets/:by/:name/:value', (c) => {
  const rows = counts.get(`${c.req.param('by')}/${c.req.param('name')}`)?.all(c.req.param('value')) ?? [];
  return json(c, JSON.stringify({ values: rows }));
});

const similar = db.prepare(
  'select body from record join (select rowid, bm25(words) as score from words where words match ? order by score limit 11) w on w.rowid = record.ord order by score',
);
const named = db.prepare('select body from record where id = ?');
app.get('/similar/:id', (c) => {
  const row = named.get(c.req.param('id')) as { body: string } | undefined;
  if (!row) return c.notFound();
  const { name } = JSON.parse(row.body) as { name: string };
  const words = [...new Set(fold(name).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])];
  return json(c, page(similar.all(words.map((word) => `"${word}"`).join(' OR '))));
});

// Quartiles by group: SQLite has no quantile, so the values are ordered and picked by position.
const stats = new Map(
  spec.texts.flatMap((by) =>
    spec.numbers.map(
      (n) =>
        [
          `${n}/${by}`,
          db.prepare(
            `with v as (select ${quoted(by)} as g, ${quoted(n)} as x, row_number() over (partition by ${quoted(by)} order by ${quoted(n)}) - 1 as i,
           count(*) over (partition by ${quoted(by)}) as n from record where ${quoted(n)} is not null)
         select g, n as count, avg(x) as mean, min(x) as min, max(x) as max,
           max(case when i = (n - 1) / 4 then x end) as q1, max(case when i = (n - 1) / 2 then x end) as median,
           max(case when i = 3 * (n - 1) / 4 then x end) as q3 from v group by g order by g`,
          ),
        ] as const,
    ),
  ),
);
app.get('/stats/:name/:by', (c) =>
  json(c, JSON.stringify(stats.get(`${c.req.param('name')}/${c.req.param('by')}`)?.all() ?? [])),
);

serve({ fetch: app.fetch, port: Number(process.env['PORT']), hostname: '127.0.0.1' });
