// The peer to beat: Hono over node:sqlite with FTS5 and stored JSON answers, as a careful engineer would
// write it in a day. DATABASE is its file; FILLING (JSON) describes the copy that fills a missing file.
import { existsSync, renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { compress } from 'hono/compress';
import { type Filling, fill, quotedName } from './sqlite-fill.ts';

const filling = JSON.parse(process.env['FILLING'] ?? '{}') as Filling;
const { texts, number, geo: _ } = filling.shape;
const path = process.env['DATABASE'] ?? '';
if (!existsSync(path)) {
  const fresh = new DatabaseSync(`${path}.new`);
  await fill(fresh, filling);
  fresh.close();
  renameSync(`${path}.new`, path);
}
const db = new DatabaseSync(path, { readOnly: true });
// All data in memory: the pages of the file are mapped, not copied.
db.exec('pragma mmap_size = 17179869184; pragma cache_size = -65536; pragma temp_store = memory');

const json = (c: Context, text: string) => c.body(text, 200, { 'content-type': 'application/json; charset=utf-8' });
const page = (rows: unknown[]) => `{"items":[${(rows as { body: string }[]).map((row) => row.body).join(',')}]}`;
const app = new Hono();
app.get('/', (c) => c.text('yes'));

const byId = db.prepare('select body from record join body using (ord) where id = ?');
const bySlug = db.prepare('select body from record join body using (ord) where slug = ?');
app.get('/get/:ref', (c) => {
  const ref = c.req.param('ref');
  const row = (ref.startsWith('r-') ? byId : bySlug).get(ref) as { body: string } | undefined;
  return row ? json(c, row.body) : c.notFound();
});

const searches = new Map(
  texts.map((name) => [
    name,
    db.prepare(
      `select body from (select ord from record where ${quotedName(name)} = ? and ${quotedName(number)} >= ? order by quality desc, id limit 20) join body using (ord)`,
    ),
  ]),
);
const filters = new Map(
  texts.map((name) => {
    const where = `(${quotedName(name)} = ? or ${quotedName(name)} = ?) and not ${quotedName(number)} < ?`;
    const sql = `select body from (select ord from record where ${where} order by quality desc, id limit 20) join body using (ord)`;
    return [name, db.prepare(sql)] as const;
  }),
);
app.get(`/filter/:name/:a/:b/${number}/:least`, (c) => {
  const { name, a, b, least } = c.req.param();
  return json(c, page(filters.get(name)?.all(a, b, Number(least)) ?? []));
});

app.use('/gzip/*', compress());
for (const prefix of ['', '/gzip'])
  app.get(`${prefix}/search/:name/:value/${number}/:least`, (c) => {
    const { name, value, least } = c.req.param();
    return json(c, page(searches.get(name)?.all(value, Number(least)) ?? []));
  });

const text = db.prepare(
  `select body from (select record.ord from words join record on words.rowid = record.ord where words match ? order by quality desc, id limit 20)
   join body using (ord)`,
);
const matchOf = (words: string): string =>
  words
    .split(' ')
    .map((word) => `"${word}"*`)
    .join(' AND ');
app.get('/text/:words', (c) => json(c, page(text.all(matchOf(c.req.param('words'))))));

// Its rank is bm25() with the weights of the copy; FTS5 sorts faster by it than by the function.
const relevant = db.prepare(
  `select body from (select rowid as ord, rank as score from ranked where ranked match ? order by rank limit 20)
   join body using (ord) order by score`,
);
app.get('/relevant/:words', (c) => json(c, page(relevant.all(matchOf(c.req.param('words'))))));

/** Kilometres between a stored point and `$lat`, `$lng`. */
const KM = `2 * 6371.0088 * asin(sqrt(pow(sin(radians(lat - $lat) / 2), 2)
  + cos(radians(lat)) * cos(radians($lat)) * pow(sin(radians(lng - $lng) / 2), 2)))`;
const near = db.prepare(
  `select body from (select ord from (select ord, quality, id, ${KM} as km from record where lat between $south and $north and lng between $west and $east)
   where km <= $km order by quality desc, id limit 20) join body using (ord)`,
);
app.get('/near/:lat/:lng/:km', (c) => json(c, page(near.all(around(c)))));

/** A circle and the box around it. */
function around(c: Context): Record<'lat' | 'lng' | 'km' | 'south' | 'north' | 'west' | 'east', number> {
  const [lat, lng, km] = [Number(c.req.param('lat')), Number(c.req.param('lng')), Number(c.req.param('km'))];
  const dy = km / 111;
  const dx = dy / Math.max(0.01, Math.cos(((Math.abs(lat) + dy) * Math.PI) / 180));
  return { lat, lng, km, south: lat - dy, north: lat + dy, west: lng - dx, east: lng + dx };
}

const IN_BOX = 'north >= $south and south <= $north and east >= $west and west <= $east';

const nearest = db.prepare(
  `select body from (select ord, km from (select ord, ${KM} as km from point where ${IN_BOX}) where km <= $km order by km limit 20)
   join body using (ord) order by km`,
);
app.get('/nearest/:lat/:lng/:km', (c) => json(c, page(nearest.all(around(c)))));

const inBox = db.prepare(
  `select body from (select record.ord from point join record using (ord)
     where ${IN_BOX} and point.lat between $south and $north and point.lng between $west and $east
   order by quality desc, id limit 20) join body using (ord)`,
);
app.get('/box/:west/:south/:east/:north', (c) => {
  const { west, south, east, north } = c.req.param();
  return json(
    c,
    page(inBox.all({ west: Number(west), south: Number(south), east: Number(east), north: Number(north) })),
  );
});

const batch = db.prepare(
  'select body from json_each(?) as asked join record on record.id = asked.value join body using (ord) order by asked.key',
);
app.get('/batch/:ids', (c) => json(c, page(batch.all(JSON.stringify(c.req.param('ids').split(','))))));

const best = new Map(
  texts.map((name) => {
    const first = `select ord, id, ${quotedName(number)} as key, row_number() over (partition by ${quotedName(name)} order by ${quotedName(number)} desc, id) as n
      from record where ${quotedName(name)} is not null and quality >= ?`;
    const sql = `select body from (select ord, id, key from (${first}) where n = 1 order by key desc, id limit 20) join body using (ord) order by key desc, id`;
    return [name, db.prepare(sql)] as const;
  }),
);
app.get(`/best/:name/${number}/:least`, (c) => {
  const { name, least } = c.req.param();
  return json(c, page(best.get(name)?.all(Number(least)) ?? []));
});

// Stored answers do not help here, so the narrow columns are counted.
const counts = new Map(
  texts.flatMap((by) =>
    texts.map((name) => {
      const [value, filter] = [quotedName(by), quotedName(name)];
      const sql = `select ${value} as value, count(*) as count from record where ${filter} = ? and ${value} is not null group by 1 order by 2 desc, 1 limit 50`;
      return [`${by}/${name}`, db.prepare(sql)] as const;
    }),
  ),
);
app.get('/facets/:by/:name/:value', (c) => {
  const { by, name, value } = c.req.param();
  return json(c, JSON.stringify({ values: counts.get(`${by}/${name}`)?.all(value) ?? [] }));
});

// By relevance of all words of the record, which is the ranking of FTS5.
const similar = new Map(
  texts.map((name) => [
    name,
    db.prepare(
      `select body from (select record.ord, bm25(words) as score from words join record on words.rowid = record.ord
         where words match ? and ${quotedName(name)} <> ? order by score limit 10) join body using (ord) order by score`,
    ),
  ]),
);
const subjects = new Map(
  texts.map((name) => [name, db.prepare(`select terms, ${quotedName(name)} as own from record where id = ?`)]),
);
app.get('/similar/:name/:id', (c) => {
  const { name, id } = c.req.param();
  const subject = subjects.get(name)?.get(id) as { terms: string; own: string } | undefined;
  if (!subject) return c.notFound();
  const match = subject.terms.split(' ').map((word) => `"${word}"`);
  return json(c, page(similar.get(name)?.all(match.join(' OR '), subject.own) ?? []));
});

// SQLite has no quantile function: the values are sorted and picked by position.
const stats = new Map(
  texts.map((by) => {
    const [group, value] = [quotedName(by), quotedName(number)];
    const sql = `with v as (select ${group} as g, ${value} as x, row_number() over (partition by ${group} order by ${value}) - 1 as i,
        count(*) over (partition by ${group}) as n from record where ${value} is not null and ${group} is not null and quality >= ?)
      select g as "group", n as count, min(x) as min, max(case when i = (n - 1) / 4 then x end) as q1, max(case when i = (n - 1) / 2 then x end) as median,
        max(case when i = 3 * (n - 1) / 4 then x end) as q3, max(x) as max, avg(x) as mean from v group by g order by n desc, g`;
    return [by, db.prepare(sql)];
  }),
);
app.get(`/stats/${number}/:by/:least`, (c) => {
  const { by, least } = c.req.param();
  return json(c, JSON.stringify({ rows: stats.get(by)?.all(Number(least)) ?? [] }));
});

serve({ fetch: app.fetch, port: Number(process.env['PORT']), hostname: '127.0.0.1' });
