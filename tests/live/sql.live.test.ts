// SQL on the real packs: questions that took several calls, one statement each, within the limits of callers without a key.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LiveServer, startServer } from './serve.ts';

let server: LiveServer;

const post = (sql: string) =>
  fetch(`${server.base}/v1/sql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ sql }),
  });

beforeAll(async () => {
  server = await startServer();
  // The first statements make the databases.
  for (const table of ['airports', 'places', 'llm_models'])
    while ((await post(`SELECT count(*) FROM ${table}`)).status === 503)
      await new Promise((retried) => setTimeout(retried, 5_000));
  // Those counted as calls of this minute.
  await new Promise((done) => setTimeout(done, 60_000));
}, 900_000);
afterAll(() => server.stop());

const QUESTIONS: readonly (readonly [question: string, sql: string])[] = [
  ['airports by country', 'SELECT country, count(*) FROM airports GROUP BY country ORDER BY 2 DESC LIMIT 10'],
  [
    'the longest runway of each continent',
    'SELECT continent, arg_max(name, runway_length), max(runway_length) FROM airports GROUP BY continent',
  ],
  [
    'cities of a million without an airport within 50 km',
    `SELECT p.name, p.population FROM places p WHERE p.population > 1000000 AND NOT EXISTS (SELECT 1 FROM airports a WHERE a.scheduled_service AND a."location.lat" BETWEEN p."location.lat" - 0.5 AND p."location.lat" + 0.5 AND distance_km(a."location.lat", a."location.lng", p."location.lat", p."location.lng") < 50) ORDER BY p.population DESC LIMIT 10`,
  ],
  [
    'people for each airport with scheduled service',
    'SELECT country, sum(population) / any_value(airports) FROM places JOIN (SELECT country, count(*) AS airports FROM airports WHERE scheduled_service GROUP BY country) USING (country) GROUP BY country ORDER BY 2 DESC LIMIT 10',
  ],
  [
    'the nearest airport to Null Island',
    'SELECT code, distance_km("location.lat", "location.lng", 0, 0) AS km FROM airports WHERE km IS NOT NULL ORDER BY km LIMIT 1',
  ],
  [
    'the share of places by size',
    "SELECT CASE WHEN population >= 1000000 THEN 'a million' WHEN population >= 100000 THEN 'large' ELSE 'small' END AS size, count(*) FROM places GROUP BY size",
  ],
  [
    'the three largest places of each country',
    'SELECT country, name, population FROM places QUALIFY row_number() OVER (PARTITION BY country ORDER BY population DESC NULLS LAST) <= 3 ORDER BY country LIMIT 30',
  ],
  [
    'the cheapest models with a large context',
    'SELECT name, "price.input.min" FROM llm_models WHERE context_window >= 200000 AND "price.input.min" > 0 ORDER BY 2 LIMIT 10',
  ],
  [
    'median prices by provider',
    'SELECT provider, count(*), median("price.input.min") FROM llm_models GROUP BY provider HAVING count(*) > 5 ORDER BY 3',
  ],
  [
    'prices that changed',
    "SELECT count(*) FROM llm_models_history WHERE attribute = 'price.input' AND valid_until IS NOT NULL",
  ],
  [
    'sources of the values of airports',
    "SELECT regexp_extract(source_url, 'https?://([^/]+)', 1) AS host, count(*) FROM airports_provenance GROUP BY host ORDER BY 2 DESC",
  ],
];

test.each(QUESTIONS)('%s', async (_, sql) => {
  const response = await post(sql);
  const body = (await response.json()) as { rows: unknown[][] };
  expect(response.status, JSON.stringify(body)).toBe(200);
  expect(body.rows.length).toBeGreaterThan(0);
});
