// The questions of the bench: the same one in the form of the service and of each peer, and the parts of the
// answers that must be equal.
import type { Drawn } from './draw.ts';
import type { Subject } from './subject.ts';

export interface BenchQuestion {
  id: string;
  name: string;
  /** Paths on each server, in the same order, requested in turn. */
  service: string[];
  sqlite: string[];
  duckdb: string[];
  /** Statement of the DuckDB peer; `$1` and so on are its path's values, as text. Absent: not measured there. */
  sql?: string;
  /** The part of the answer that must be equal. */
  gist: Gist;
  /** Why a peer's answer differs by its nature. */
  differs?: Partial<Record<Peer, string>>;
  /** Whether the bare server is a fair limit: the answer is constant bytes. */
  bare?: boolean;
  /** Request headers, sent to every server. */
  headers?: Record<string, string>;
}

export type Peer = 'bare' | 'sqlite' | 'duckdb';
export type Gist = 'ids' | 'values' | 'rows' | 'series';

/**
 * The most processor time of a call by question, in milliseconds on one core of the machine of the results: a get
 * leaves room for 1,500 a second.
 */
export const BUDGETS: Readonly<Record<string, number>> = {
  ...{ get: 0.66, search: 0.66, 'search-once': 2, 'search-gzip': 0.66, text: 1, radius: 3, nearest: 3, box: 2 },
  ...{ relevance: 4, 'relevance-name': 1, 'relevance-word': 5, batch: 1, best: 30, facets: 0.5, similar: 1 },
  ...{ stats: 20, 'stats-again': 0.5, series: 6 },
};

/** The part of a parsed answer for a gist; computed figures to nine digits. */
export function gistOf(gist: Gist, answer: Record<string, unknown>): unknown {
  const list = (name: string) => (answer[name] ?? []) as Record<string, unknown>[];
  const figure = (value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(9)) : (value ?? null));
  const only = (row: Record<string, unknown>, names: string[]) => names.map((name) => figure(row[name]));
  switch (gist) {
    case 'ids':
      return 'items' in answer ? list('items').map(({ id }) => id) : [answer['id']];
    case 'values':
      return list('values').map((row) => only(row, ['value', 'count']));
    case 'rows':
      return list('rows')
        .map((row) => only(row, ['group', 'count', 'min', 'max', 'mean']))
        .sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
    case 'series':
      return list('series').map((row) => only(row, ['date', 'count', 'min', 'median', 'max', 'mean']));
  }
}

/** The questions of the table in docs/performance.md, about one release. */
export function benchQuestionsFor({ dataset, shape }: Subject, drawn: Drawn): BenchQuestion[] {
  const { group, area, number, least, geo } = shape;
  const v1 = `/v1/${dataset}`;
  const uri = encodeURIComponent;
  const asked = (id: string, ...values: string[]) => `/${id}?${values.map((value) => `v=${value}`).join('&')}`;
  const { ids, slugs, groups, serial, prefixes, names, points, moments } = drawn;
  const boxes = points
    .filter(({ lat, lng }) => Math.abs(lat) < 89 && Math.abs(lng) < 179)
    .map(({ lat, lng }) => [lng - 0.5, lat - 0.5, lng + 0.5, lat + 0.5].map((edge) => Number(edge.toFixed(4))));
  const batches = [0, 1].map((odd) => ids.filter((_, i) => i % 2 === odd).slice(0, 100));
  const pairs = groups.map((each, i) => [each, groups[(i + 1) % groups.length]!] as const);
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
  const column = (name: string) => `"${name}:value"`;
  const page = (hits: string) => `with hit as (${hits}) select body from hit join bodies using (ord) order by ord`;
  // Always true, but makes every question unique.
  const unlike = '0.0{n}';
  const figures = (value: string) =>
    `count(${value})::DOUBLE as count, min(${value}) as min, max(${value}) as max, avg(${value}) as mean`;
  /** The peer orders by BM25 alone, the service by names before it. */
  const relevance = (id: string, name: string, texts: string[]): BenchQuestion => ({
    id,
    name,
    service: texts.map((text) => `${v1}/entities?q=${uri(text)}&sort=relevance`),
    sqlite: texts.map((text) => `/relevant/${uri(text)}`),
    duckdb: [],
    gist: 'ids',
    differs: { sqlite: 'bm25 alone' },
  });
  return [
    {
      id: 'get',
      name: 'get by id or slug, full record',
      service: ids.map((id, i) => `${v1}/entities/${i % 2 ? id : slugs[i]}`),
      sqlite: ids.map((id, i) => `/get/${i % 2 ? id : slugs[i]}`),
      duckdb: ids.map((id) => asked('get', id)),
      sql: 'select body from bodies where id = $1',
      gist: 'ids',
      bare: true,
    },
    {
      id: 'search',
      name: 'filtered search, 20 full records',
      service: groups.map((each) => `${v1}/entities?${group}=${uri(each)}&min_${number}=${least}`),
      sqlite: groups.map((each) => `/search/${group}/${uri(each)}/${number}/${least}`),
      duckdb: groups.map((each) => asked('search', uri(each), String(least))),
      sql: page(
        `select ord from engine where ${column(group)} = $1 and ${column(number)} >= $2::DOUBLE order by ord limit 20`,
      ),
      gist: 'ids',
      bare: true,
    },
    {
      // The peers keep no answers, so for them this is the question before.
      id: 'search-once',
      name: 'filtered search, 20 full records, each made once',
      service: groups.map(
        (each) => `${v1}/entities?${group}=${uri(each)}&min_${number}=${least}&min_quality=${unlike}`,
      ),
      sqlite: groups.map((each) => `/search/${group}/${uri(each)}/${number}/${least}`),
      duckdb: groups.map((each) => asked('search', uri(each), String(least))),
      gist: 'ids',
    },
    {
      id: 'filter',
      name: 'expression with OR and NOT, 20 full records',
      service: pairs.map(
        ([a, b]) =>
          `${v1}/entities?filter=${uri(`(${group} = ${quoted(a)} OR ${group} = ${quoted(b)}) AND NOT ${number} < ${least}`)}&min_quality=${unlike}`,
      ),
      sqlite: pairs.map(([a, b]) => `/filter/${group}/${uri(a)}/${uri(b)}/${number}/${least}`),
      duckdb: pairs.map(([a, b]) => asked('filter', uri(a), uri(b), String(least))),
      sql: page(
        `select ord from engine where (${column(group)} = $1 or ${column(group)} = $2) and not ${column(number)} < $3::DOUBLE order by ord limit 20`,
      ),
      gist: 'ids',
    },
    {
      // SQLite has no earlier states, and DuckDB returns the records of now.
      id: 'as-of',
      name: 'filtered search as of an earlier moment, 20 full records',
      service: moments.flatMap((at) =>
        groups
          .slice(0, 10)
          .map(
            (each) => `${v1}/entities?as_of=${at}&${group}=${uri(each)}&min_${number}=${least}&min_quality=${unlike}`,
          ),
      ),
      sqlite: [],
      duckdb: moments.flatMap((at) => groups.slice(0, 10).map((each) => asked('as-of', at, uri(each), String(least)))),
      sql: `with hit as (select ord, moments.quality as quality, id from moments join engine using (ord)
          where since <= $1::TIMESTAMP and (until is null or until > $1::TIMESTAMP)
            and case when "${group}:kept" then engine.${column(group)} else moments.${column(group)} end = $2
            and case when "${number}:kept" then engine.${column(number)} else moments.${column(number)} end >= $3::DOUBLE
          order by quality desc, id limit 20)
        select body from hit join bodies using (ord) order by quality desc, hit.id`,
      gist: 'ids',
    },
    {
      // Nearly all clients but the load generator accept gzip. The bare server and SQLite have Hono's `compress`.
      id: 'search-gzip',
      name: 'filtered search, 20 full records, gzip',
      service: groups.map((each) => `${v1}/entities?${group}=${uri(each)}&min_${number}=${least}`),
      sqlite: groups.map((each) => `/gzip/search/${group}/${uri(each)}/${number}/${least}`),
      duckdb: [],
      gist: 'ids',
      bare: true,
      headers: { 'accept-encoding': 'gzip, deflate' },
    },
    {
      id: 'text',
      name: 'two-word prefix search',
      service: prefixes.map(([a, b]) => `${v1}/entities?q=${uri(`${a} ${b}`)}`),
      sqlite: prefixes.map(([a, b]) => `/text/${uri(`${a} ${b}`)}`),
      duckdb: prefixes.map(([a, b]) => asked('text', uri(a), uri(b))),
      sql: page(
        [1, 2].map((n) => `select ord from terms where starts_with(term, $${n})`).join(' intersect ') +
          ' order by ord limit 20',
      ),
      gist: 'ids',
    },
    relevance(
      'relevance',
      'two-word prefix search by relevance',
      prefixes.map((pair) => pair.join(' ')),
    ),
    relevance('relevance-name', 'whole names by relevance', names),
    relevance(
      'relevance-word',
      'one-word prefix search by relevance',
      prefixes.map(([word]) => word),
    ),
    {
      id: 'radius',
      name: 'radius search, 50 km',
      service: points.map(({ lat, lng }) => `${v1}/entities?near=${lat},${lng},50`),
      sqlite: points.map(({ lat, lng }) => `/near/${lat}/${lng}/50`),
      duckdb: points.map(({ lat, lng }) => asked('radius', String(lat), String(lng), '50')),
      sql: page(
        `select ord from engine where ${distance(`"${geo}:lat"`, `"${geo}:lng"`)} <= $3::DOUBLE order by ord limit 20`,
      ),
      gist: 'ids',
    },
    {
      id: 'nearest',
      name: 'the 20 nearest within 50 km',
      service: points.map(({ lat, lng }) => `${v1}/entities?near=${lat},${lng},50&sort=distance`),
      sqlite: points.map(({ lat, lng }) => `/nearest/${lat}/${lng}/50`),
      duckdb: points.map(({ lat, lng }) => asked('nearest', String(lat), String(lng), '50')),
      sql: `with hit as (select ord, ${distance(`"${geo}:lat"`, `"${geo}:lng"`)} as km from engine where km <= $3::DOUBLE order by km, ord limit 20)
        select body from hit join bodies using (ord) order by km, ord`,
      gist: 'ids',
    },
    {
      id: 'box',
      name: 'search in a box of 1 by 1 degree',
      service: boxes.map((edges) => `${v1}/entities?bbox=${edges.join(',')}`),
      sqlite: boxes.map((edges) => `/box/${edges.join('/')}`),
      duckdb: boxes.map((edges) => asked('box', ...edges.map(String))),
      sql: page(
        `select ord from engine where "${geo}:lng" between $1::DOUBLE and $3::DOUBLE and "${geo}:lat" between $2::DOUBLE and $4::DOUBLE
         order by ord limit 20`,
      ),
      gist: 'ids',
    },
    {
      id: 'batch',
      name: 'batch of 100',
      service: batches.map((batch) => `${v1}/entities/batch?ids=${batch.join(',')}`),
      sqlite: batches.map((batch) => `/batch/${batch.join(',')}`),
      duckdb: batches.map((batch) => asked('batch', batch.join(','))),
      sql: `select body from (select unnest(string_split($1, ',')) as id, generate_subscripts(string_split($1, ','), 1) as i) join bodies using (id) order by i`,
      gist: 'ids',
    },
    {
      id: 'best',
      name: 'best of each group, 20 groups',
      service: [`${v1}/entities?group_by=${group}&sort=-${number}&min_quality=${unlike}`],
      sqlite: [`/best/${group}/${number}/${unlike}`],
      duckdb: [asked('best', unlike)],
      sql: `with best as (select ord, id, ${column(number)} as key from engine where ${column(group)} is not null and quality >= $1::DOUBLE
          qualify row_number() over (partition by ${column(group)} order by key desc nulls last, id) = 1),
        hit as (select * from best order by key desc nulls last, id limit 20)
        select body from hit join bodies using (ord) order by key desc nulls last, hit.id`,
      gist: 'ids',
    },
    {
      id: 'facets',
      name: 'facets over a filtered set',
      service: groups.map((each) => `${v1}/facets?by=${area}&${group}=${uri(each)}`),
      sqlite: groups.map((each) => `/facets/${area}/${group}/${uri(each)}`),
      duckdb: groups.map((each) => asked('facets', uri(each))),
      sql: `select ${column(area)} as value, count(*)::DOUBLE as count from engine where ${column(group)} = $1 and ${column(area)} is not null
        group by 1 order by 2 desc, 1 limit 50`,
      gist: 'values',
    },
    {
      id: 'similar',
      name: 'similar, 10 full records',
      service: ids.map((id) => `${v1}/entities/${id}/similar`),
      sqlite: ids.map((id) => `/similar/${group}/${id}`),
      duckdb: ids.map((id) => asked('similar', id)),
      sql: `with subject as (select ord, ${column(group)} as g from engine where id = $1),
        mine as (select term from terms where ord = (select ord from subject)),
        shared as (select ord, count(*) as n from terms where term in (select term from mine) group by ord),
        hit as (select ord, n / (words.n + (select count(*) from mine) - shared.n) as score from shared join words using (ord) join engine using (ord)
          where ${column(group)} <> (select g from subject) order by score desc, id limit 10)
        select body from hit join bodies using (ord) order by score desc, id`.replace(
        'select ord, n /',
        'select ord, shared.n /',
      ),
      gist: 'ids',
      differs: { sqlite: 'ranks by bm25' },
    },
    {
      id: 'stats',
      name: 'statistics by group, uncached',
      service: [`${v1}/stats?attribute=${number}&group_by=${group}&min_quality=${unlike}`],
      sqlite: [`/stats/${number}/${group}/${unlike}`],
      duckdb: [asked('stats', unlike)],
      sql: stats(figures(column(number)), column(group), column(number)),
      gist: 'rows',
    },
    {
      id: 'stats-again',
      name: 'statistics by group, repeated',
      service: [`${v1}/stats?attribute=${number}&group_by=${group}`],
      sqlite: [`/stats/${number}/${group}/0`],
      duckdb: [asked('stats-again', '0')],
      sql: stats(figures(column(number)), column(group), column(number)),
      gist: 'rows',
      bare: true,
    },
    {
      id: 'series',
      name: 'time series, up to 5,000 records, 90 days',
      service: serial.map(
        (each) => `${v1}/timeseries?attribute=${number}&days=90&${group}=${uri(each)}&min_quality=${unlike}`,
      ),
      sqlite: [],
      duckdb: serial.map((each) => asked('series', uri(each), unlike)),
      sql: `select strftime(day, '%Y-%m-%d') as date, ${figures('value')}, median(value) as median from
        (select ord, day from engine, (select unnest(range(current_date::TIMESTAMP - interval 89 day, current_date::TIMESTAMP + interval 1 day, interval 1 day)) as day)
          where ${column(group)} = $1 and quality >= $2::DOUBLE) as grid
        asof join history on grid.ord = history.ord and grid.day + interval '86399.999999 seconds' >= history."from" group by day order by day`,
      gist: 'series',
    },
  ];
}

function stats(figures: string, group: string, number: string): string {
  return (
    `select ${group} as "group", ${figures}, quantile_cont(${number}, [0.25, 0.5, 0.75]) as quartiles from engine ` +
    `where ${number} is not null and ${group} is not null and quality >= $1::DOUBLE group by 1 order by count desc, 1`
  );
}

/** Kilometres from `$1,$2` on a sphere, computed alike by every server of the bench. */
function distance(lat: string, lng: string): string {
  const half = (a: string, b: string) => `pow(sin(radians(${a} - ${b}::DOUBLE) / 2), 2)`;
  return `2 * 6371.0088 * asin(sqrt(${half(lat, '$1')} + cos(radians(${lat})) * cos(radians($1::DOUBLE)) * ${half(lng, '$2')}))`;
}
