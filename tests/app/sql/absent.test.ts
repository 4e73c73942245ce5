// Statements about a record that was removed, or a value that was replaced, answer as about one that never existed.
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { makeTables } from '../../../data/sql/make-tables.ts';
import { SqlProcess } from '../../../data/sql/process.ts';
import { sqlSource, type Tier } from '../../../data/sql/tables.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { drawn, LONG } from '../../support/draws.ts';
import { scratchOfAll } from '../../support/night-pack.ts';
import { openWorld } from '../../support/overlay-world.ts';
import { FORMS, type Form, functionForms, placedForms, WHOLE } from './absent.ts';

const folder = scratchOfAll();
const times = { collect: { first: 0, next: 0 }, deferred: 600_000, refused: 600_000 };
const options = { folder: join(folder, 'sql'), memory: 256 * 2 ** 20, make: makeTables, log: () => {}, times };
const statements = new SqlProcess(options);
const world = await openWorld(folder, await loadPack('tests/packs/harbours'), '2026-11-20T00:00:00Z');
afterAll(async () => {
  statements.close();
  await world.close();
});

const NEVER = 'r-0123456789abcdef';
/** The tables of a dataset, and its records at a time, as `t`. */
const TABLES = ['harbours', 'harbours_history', 'harbours_provenance', "harbours_as_of('2026-11-01')"];

/** The whole answer or error of a statement over `table` as `t`, without its duration and the datasets' releases. */
async function answer(sql: string, parameters: string[], table = 'harbours', tier: Tier = 'public'): Promise<string> {
  const sources = [sqlSource(world.release(), tier)];
  const text = sql.startsWith('WITH ')
    ? `WITH t AS (SELECT * FROM ${table}), ${sql.slice(5)}`
    : `WITH t AS (SELECT * FROM ${table}) ${sql}`;
  const query = { sql: text, parameters, max_rows: 100, form: 'json', tier, seconds: 300, sources } as const;
  const call = { query, caller: 'a test', alone: false, keyed: false };
  const outcome = await statements.run(call, new AbortController().signal);
  if ('error' in outcome) return JSON.stringify(outcome.error);
  return `${JSON.stringify(outcome.answer.columns)} ${Buffer.from(outcome.answer.rows).toString()}`;
}

/** Until the tables have the newest change. */
const settled = (tier: Tier) =>
  vi.waitFor(async () => expect(await answer('SELECT count(*) FROM t', [], 'harbours', tier)).toMatch(/^\[/), {
    timeout: 600_000,
    interval: 50,
  });

/** Forms whose answers differ between two lists of parameters. */
async function compared(forms: readonly Form[], on: string, [one, other]: string[][], table?: string, tier?: Tier) {
  const different: string[] = [];
  for (const form of forms) {
    const sql = form(on);
    const [first, second] = [await answer(sql, one!, table, tier), await answer(sql, other!, table, tier)];
    if (first !== second) different.push(`${sql}: ${first.slice(0, 100)} | ${second.slice(0, 100)}`);
  }
  return different;
}

test('a removed record, and a replaced value, are absent from every table', { timeout: 1_800_000 }, async () => {
  const records = [...(await world.records()).values()];
  const [removed, edited] = records.filter(({ attributes }) => attributes['site'] && attributes['fuel'] !== undefined);
  // Every function is in a usual run, with one of its forms.
  const forms = [
    ...functionForms().filter((_, i) => LONG || i % FORMS === Math.floor(i / FORMS) % FORMS),
    ...drawn(placedForms()),
  ];
  const [ID, VALUE] = ['id = $1', 'id = $1 AND site = $2'];
  const pairs = [[removed!.id], [NEVER]];

  // With the record, conditions on it can be told: otherwise the forms would prove nothing.
  await settled('public');
  expect((await compared(drawn(placedForms()), ID, pairs)).length).toBeGreaterThan(5);

  await world.optOut(removed!.id, '2026-11-20T01:00:00Z');
  await settled('public');
  expect(await compared(forms, ID, pairs)).toEqual([]);
  // Each of the other tables has its part of the forms, also with the columns of plans.
  for (const [i, table] of TABLES.entries())
    for (const tier of ['public', 'all'] as const) {
      await settled(tier);
      const some = placedForms().filter((_, place) => place % (LONG ? 8 : 64) === i * 2 + (tier === 'all' ? 1 : 0));
      expect(await compared(some, ID, pairs, table, tier), `${table} ${tier}`).toEqual([]);
    }
  for (const table of TABLES) {
    const texts = await Promise.all(WHOLE.map((sql) => answer(sql, [], table)));
    expect(texts.join('\n')).not.toContain(removed!.id);
    expect(texts.join('\n')).not.toContain(removed!.name);
  }

  const site = String(edited!.attributes['site']);
  const values = [
    [edited!.id, site],
    [edited!.id, 'https://never.example/'],
  ];
  expect((await compared(drawn(placedForms()), VALUE, values)).length).toBeGreaterThan(5);
  await world.say(edited!.id, { site: 'https://other.example/' }, '2026-11-20T02:00:00Z');
  await settled('public');
  expect(await compared(drawn(placedForms()), VALUE, values)).toEqual([]);
});
