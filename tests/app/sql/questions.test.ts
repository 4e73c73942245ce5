// Twenty questions that took several calls: one statement each, compared with the records; and the statements of docs/sql.md.
import { expect, test } from 'vitest';
import { distanceKm } from '../../../data/model/geography.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import type { Geo } from '../../../packs/define/model.ts';
import { appOfAll } from '../../support/app.ts';
import { blocksOf } from '../../support/docs-page.ts';

const app = await appOfAll({ nights: true });
const harbours = app.records['harbours']!;
const tools = app.records['tools']!;

async function rows(sql: string): Promise<unknown[][]> {
  const body = JSON.stringify({ sql });
  const answer = await app.json('/v1/sql', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body['rows'] as unknown[][];
}

const number = (record: StoredRecord, name: string) => record.attributes[name] as number | undefined;
const text = (record: StoredRecord, name: string) => record.attributes[name] as string | undefined;
const point = (record: StoredRecord, name: string) => record.attributes[name] as Geo | undefined;
const deep = harbours.filter((record) => number(record, 'depth') !== undefined);
const depths = deep.map((record) => number(record, 'depth')!).sort((a, b) => a - b);
const coasts = [...Map.groupBy(harbours, (record) => text(record, 'coast'))].filter(([coast]) => coast !== undefined);
const priced = tools.flatMap((record) => {
  const price = record.attributes['price.list'] as number | { min: number; max: number } | undefined;
  if (price === undefined) return [];
  const { min, max } = typeof price === 'number' ? { min: price, max: price } : price;
  return [{ record, min, max }];
});
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const place = (record: StoredRecord) => point(record, 'position');
const pairs = harbours.flatMap((harbour) =>
  tools.flatMap((tool) => {
    const [a, b] = [place(harbour), point(tool, 'workshop')];
    return a && b ? [{ harbour, tool, km: distanceKm(a.lat, a.lng, b.lat, b.lng) }] : [];
  }),
);
const byCode = (list: readonly StoredRecord[]) => list.map((record) => number(record, 'code')!).sort((a, b) => a - b);
const ones = (values: readonly unknown[]) => values.map((value) => [value]);

const QUESTIONS: readonly (readonly [question: string, sql: string, expected: unknown[][]])[] = [
  [
    'How many harbours are on each coast?',
    'SELECT coast, count(*) FROM harbours WHERE coast IS NOT NULL GROUP BY coast ORDER BY coast',
    coasts.map(([coast, list]) => [coast, list.length]).sort(),
  ],
  [
    'Which harbours are deeper than the mean?',
    'SELECT code FROM harbours WHERE depth > (SELECT avg(depth) FROM harbours) ORDER BY code',
    ones(byCode(deep.filter((record) => number(record, 'depth')! > sum(depths) / depths.length))),
  ],
  [
    'What is the deepest harbour of each coast?',
    'SELECT coast, max(depth) FROM harbours WHERE depth IS NOT NULL GROUP BY coast ORDER BY coast',
    coasts
      .map(([coast, list]) => [coast, Math.max(...list.map((record) => number(record, 'depth') ?? -9))])
      .filter(([, depth]) => depth !== -9)
      .sort(),
  ],
  [
    'What share of the harbours sells fuel?',
    'SELECT count(*) FILTER (WHERE fuel) / count(*) FROM harbours',
    [[harbours.filter((record) => record.attributes['fuel'] === true).length / harbours.length]],
  ],
  [
    'Which harbour is nearest to a workshop?',
    'SELECT round(min(distance_km(h."position.lat", h."position.lng", t."workshop.lat", t."workshop.lng")), 3) FROM harbours h, tools t',
    [[Math.round(Math.min(...pairs.map(({ km }) => km)) * 1000) / 1000]],
  ],
  [
    'How many workshops are within 1,000 km of any harbour?',
    'SELECT count(DISTINCT t.id) FROM tools t, harbours h WHERE distance_km(h."position.lat", h."position.lng", t."workshop.lat", t."workshop.lng") < 1000',
    [[new Set(pairs.filter(({ km }) => km < 1_000).map(({ tool }) => tool.id)).size]],
  ],
  [
    'What is the median depth?',
    'SELECT median(depth) FROM harbours',
    [
      [
        depths.length % 2
          ? depths[(depths.length - 1) / 2]!
          : (depths[depths.length / 2 - 1]! + depths[depths.length / 2]!) / 2,
      ],
    ],
  ],
  [
    'Which makers have more than one tool?',
    'SELECT maker FROM tools GROUP BY maker HAVING count(*) > 1 ORDER BY maker',
    ones(
      [...Map.groupBy(tools, (record) => text(record, 'maker'))]
        .filter(([, list]) => list.length > 1)
        .map(([maker]) => maker)
        .sort(),
    ),
  ],
  [
    'Which tools cost at most 50 EUR and are cordless?',
    'SELECT slug FROM tools WHERE cordless AND "price.list.min" <= 50 ORDER BY slug',
    ones(
      priced
        .filter(({ record, min }) => record.attributes['cordless'] === true && min <= 50)
        .map(({ record }) => record.slug)
        .sort(),
    ),
  ],
  [
    'What does one of each kind cost at least?',
    'SELECT sum(cheapest) FROM (SELECT min("price.list.min") AS cheapest FROM tools GROUP BY kind)',
    [
      [
        expect.closeTo(
          sum(
            [...Map.groupBy(priced, ({ record }) => text(record, 'kind'))].map(([, list]) =>
              Math.min(...list.map(({ min }) => min)),
            ),
          ),
          6,
        ),
      ],
    ],
  ],
  [
    'Which prices are ranges?',
    'SELECT slug FROM tools WHERE "price.list.max" > "price.list.min" ORDER BY slug',
    ones(
      priced
        .filter(({ min, max }) => max > min)
        .map(({ record }) => record.slug)
        .sort(),
    ),
  ],
  [
    'What is the price per kilogram of the dearest by weight?',
    'SELECT round(max("price.list.min" / mass), 3) FROM tools',
    [
      [
        Math.round(
          1000 *
            Math.max(
              ...priced.flatMap(({ record, min }) => (number(record, 'mass') ? [min / number(record, 'mass')!] : [])),
            ),
        ) / 1000,
      ],
    ],
  ],
  [
    'How many materials are there?',
    'SELECT count(DISTINCT material) FROM (SELECT unnest(materials) AS material FROM tools)',
    [[new Set(tools.flatMap((record) => (record.attributes['materials'] as string[] | undefined) ?? [])).size]],
  ],
  [
    'Which tools are made of steel?',
    "SELECT slug FROM tools WHERE list_contains(materials, 'steel') ORDER BY slug",
    ones(
      tools
        .filter((record) => (record.attributes['materials'] as string[] | undefined)?.includes('steel'))
        .map(({ slug }) => slug)
        .sort(),
    ),
  ],
  [
    'Which names occur in both datasets?',
    'SELECT name FROM harbours INTERSECT SELECT name FROM tools',
    ones(harbours.map(({ name }) => name).filter((name) => tools.some((tool) => tool.name === name))),
  ],
  [
    'Which attributes are filled least?',
    "SELECT attribute, count(*) FROM harbours_provenance WHERE attribute IN ('depth', 'fuel') GROUP BY attribute ORDER BY attribute",
    ['depth', 'fuel'].map((name) => [name, harbours.filter((record) => record.attributes[name] !== undefined).length]),
  ],
  [
    'Which values are contested or held?',
    'SELECT count(*) FROM tools_provenance WHERE status IS NOT NULL',
    [
      [
        tools
          .flatMap(({ provenance }) => Object.entries(provenance))
          .filter(
            ([name, { status }]) =>
              status !== undefined && !['runtime', 'summary', 'tested_on', 'domain', 'price.rental'].includes(name),
          ).length,
      ],
    ],
  ],
  [
    'Which depths are new since July?',
    "SELECT h.code FROM harbours h JOIN harbours_as_of('2026-07-01') p USING (id) WHERE h.depth <> p.depth ORDER BY h.code",
    [[3]],
  ],
  [
    'When did each harbour first have a depth?',
    "SELECT count(DISTINCT id), min(valid_from) FROM harbours_history WHERE attribute = 'depth'",
    [[deep.length, '2026-05-01T00:00:00Z']],
  ],
  [
    'Which three records have the best quality, of both?',
    'SELECT slug FROM (SELECT slug, quality_score FROM harbours UNION ALL SELECT slug, quality_score FROM tools) ORDER BY quality_score DESC, slug LIMIT 3',
    ones(
      [...harbours, ...tools]
        .sort((a, b) => b.quality_score - a.quality_score || (a.slug < b.slug ? -1 : 1))
        .slice(0, 3)
        .map(({ slug }) => slug),
    ),
  ],
];

test('there are twenty', () => expect(QUESTIONS).toHaveLength(20));

test.each(QUESTIONS)('%s', async (_, sql, expected) => {
  expect(await rows(sql)).toEqual(expected);
});

test.each(blocksOf('docs/sql.md').filter(({ language }) => language === 'sql'))(
  'docs/sql.md, line $line',
  async ({ text: sql }) => {
    expect((await rows(sql)).length).toBeGreaterThan(0);
  },
);

test('the first call of docs/sql.md has the answer that it shows', async () => {
  const [call, answer] = blocksOf('docs/sql.md').filter(({ language }) => language === 'sh' || language === 'json');
  const { sql } = JSON.parse(/--json '([\s\S]*)'/.exec(call!.text)![1]!) as { sql: string };
  const shown = JSON.parse(answer!.text) as { rows: unknown[][] };
  expect(await rows(sql)).toEqual(shown.rows);
});
