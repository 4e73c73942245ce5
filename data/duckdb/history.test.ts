// History plans: their SQL text with values, and their rows over files of several row groups.
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { randomRecords } from '../../tests/support/random-records.ts';
import { spellSql } from '../../tests/support/spell-sql.ts';
import { writeRelease } from '../../tests/support/write-release.ts';
import type { StoredRecord } from '../model/record.ts';
import type { ChangelogPlan } from '../plan/plan.ts';
import { sql } from '../plan/sql.ts';
import { openRelease } from '../releases/release.ts';
import { countStatement, daysStatement, groupsStatement, pageStatement, placedFile } from './changelog.ts';
import { changesStatement, factsStatement, openItemsStatement, pastStatement } from './history.ts';
import type { Shape } from './shape.ts';

const dataDir = scratchOfAll();
const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));
const records: StoredRecord[] = randomRecords(pack, 200, 3);
const release = await openRelease(dataDir, pack, (await writeRelease(dataDir, pack, records)).release);
afterAll(() => release.engine.close());

const file = sql`read_parquet('f')`;
const hostile = "x'; DROP TABLE records; --";

/** A page of all changes, and the same of the records that match a condition. */
const every: ChangelogPlan = {
  ...{ since: 1, attributes: null, ordinal: null, type: 'all', where: [] },
  ...{ numbers: [hostile], shown: [hostile], direction: null },
  ...{ minPercent: null, first: [], byDay: false, limit: 3, offset: 4 },
};
const chosen: ChangelogPlan = { ...every, where: [{ kind: 'ids', refs: [hostile] }] };
const shape: Shape = { attributes: new Map(), enums: new Map() };
const grouping: Shape = {
  ...shape,
  attributes: new Map(pack.attributes.map((attribute) => [attribute.name, attribute])),
};

describe('as text', () => {
  test('every value is bound', () => {
    const plans = [
      factsStatement({ entity: hostile, attribute: hostile, since: 5, limit: 10 }, file),
      factsStatement({ entity: 'r', attribute: null, since: null, limit: 10 }, file),
      pastStatement([hostile, 'r'], file),
      openItemsStatement(hostile, file),
      countStatement({ ...every, attributes: [hostile], ordinal: 7, type: 'added' }, file, shape),
      pageStatement(every, file, shape),
      pageStatement({ ...every, first: [hostile, 'a'], direction: 'rise', minPercent: 5 }, file, shape),
      pageStatement(chosen, placedFile(sql`'f'`), shape),
      daysStatement(every, file, shape),
      groupsStatement({ ...every, until: 8 }, 'kind', file, grouping),
      changesStatement({ since: 6, limit: 9 }, file),
    ];
    expect(plans.map(spellSql)).toMatchInlineSnapshot(`
      [
        "SELECT entity, attribute, value, source, source_url, source_kind, epoch_ms(observed_at), epoch_ms(confirmed_at), confidence, evidence, run, won, reason, group_median FROM read_parquet('f') WHERE entity = ? AND attribute = ? AND observed_at >= make_timestamp_ms(?) ORDER BY observed_at DESC, attribute, run DESC, source, value LIMIT 10 -- ["x'; DROP TABLE records; --","x'; DROP TABLE records; --",5]",
        "SELECT entity, attribute, value, source, source_url, source_kind, epoch_ms(observed_at), epoch_ms(confirmed_at), confidence, evidence, run, won, reason, group_median FROM read_parquet('f') WHERE entity = ? ORDER BY observed_at DESC, attribute, run DESC, source, value LIMIT 10 -- ["r"]",
        "SELECT entity, attribute, value, source, source_url, source_kind, epoch_ms(observed_at), epoch_ms(confirmed_at), confidence, evidence, run, won, reason, group_median FROM read_parquet('f') WHERE entity IN (?, ?) ORDER BY entity, attribute, observed_at, run, source, value -- ["x'; DROP TABLE records; --","r"]",
        "SELECT kind, attribute, epoch_ms(opened_at) FROM read_parquet('f') WHERE entity_id = ? AND confirmed_at IS NULL ORDER BY opened_at, attribute, id -- ["x'; DROP TABLE records; --"]",
        "SELECT count(*) FROM read_parquet('f') WHERE observed_at >= make_timestamp_ms(?) AND list_contains(from_json(?, '["VARCHAR"]'), attribute) AND ord = ?::UINTEGER AND type = ? -- [1,"[\\"x'; DROP TABLE records; --\\"]",7,"added"]",
        "SELECT entity_id, slug, name, attribute, type, old_value, new_value, epoch_ms(observed_at), source_url FROM read_parquet('f') WHERE place IN (SELECT place FROM read_parquet('f') WHERE observed_at >= make_timestamp_ms(?) ORDER BY observed_at DESC, place LIMIT 3 OFFSET 4) ORDER BY observed_at DESC, place -- [1]",
        "SELECT entity_id, slug, name, attribute, type, old_value, new_value, epoch_ms(observed_at), source_url FROM read_parquet('f') WHERE place IN (SELECT place FROM read_parquet('f') WHERE observed_at >= make_timestamp_ms(?) AND CASE WHEN list_contains(from_json(?, '["VARCHAR"]'), attribute) THEN coalesce(coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) >= coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) AND coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) >= coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) AND (coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) > coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) OR coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) > coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))), false) ELSE false END AND coalesce(abs(CASE WHEN list_contains(from_json(?, '["VARCHAR"]'), attribute) THEN CASE WHEN sign((coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)))) * sign((coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)))) < 0 THEN round(100 * 0 / abs(nullif(coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)), 0)), 2) WHEN (coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))) = 0 OR ((coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))) <> 0 AND abs((coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)))) <= abs((coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))))) THEN round(100 * (coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))) / abs(nullif(coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)), 0)), 2) ELSE round(100 * (coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))) / abs(nullif(coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)), 0)), 2) END END) >= ?::DOUBLE, false) ORDER BY observed_at DESC, CASE attribute WHEN ? THEN ?::INTEGER WHEN ? THEN ?::INTEGER ELSE ?::INTEGER END, place LIMIT 3 OFFSET 4) ORDER BY observed_at DESC, CASE attribute WHEN ? THEN ?::INTEGER WHEN ? THEN ?::INTEGER ELSE ?::INTEGER END, place -- [1,"[\\"x'; DROP TABLE records; --\\"]","$.min","$.min","$.max","$.max","$.min","$.min","$.max","$.max","[\\"x'; DROP TABLE records; --\\"]","$.min","$.min","$.max","$.max","$.min","$.max","$.max","$.min","$.min","$.min","$.min","$.max","$.max","$.min","$.min","$.min","$.max","$.max","$.max",5,"x'; DROP TABLE records; --",0,"a",1,2,"x'; DROP TABLE records; --",0,"a",1,2]",
        "SELECT entity_id, slug, name, attribute, type, old_value, new_value, epoch_ms(observed_at), source_url FROM (SELECT *, file_row_number AS place FROM read_parquet('f', file_row_number = true)) WHERE place IN (SELECT place FROM (SELECT *, file_row_number AS place FROM read_parquet('f', file_row_number = true)) WHERE observed_at >= make_timestamp_ms(?) AND ord IN (SELECT ord FROM records WHERE ord IN (SELECT ord FROM refs WHERE ref IN (?))) ORDER BY observed_at DESC, place LIMIT 3 OFFSET 4) ORDER BY observed_at DESC, place -- [1,"x'; DROP TABLE records; --"]",
        "SELECT strftime(observed_at, '%Y-%m-%d') AS day, count(*), count(*) FILTER (CASE WHEN list_contains(from_json(?, '["VARCHAR"]'), attribute) THEN coalesce(coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) >= coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) AND coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) >= coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) AND (coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) > coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) OR coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) > coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))), false) ELSE false END), count(*) FILTER (CASE WHEN list_contains(from_json(?, '["VARCHAR"]'), attribute) THEN coalesce(coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) <= coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) AND coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) <= coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) AND (coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) < coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) OR coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) < coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))), false) ELSE false END), count(*) FILTER (CASE WHEN list_contains(from_json(?, '["VARCHAR"]'), attribute) THEN coalesce((coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) > coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) AND coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) < coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))) OR (coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) < coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) AND coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) > coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))), false) ELSE false END), count(*) FILTER ((new_value IS NULL AND old_value IS NOT NULL AND list_contains(from_json(?, '["VARCHAR"]'), attribute))) FROM read_parquet('f') WHERE observed_at >= make_timestamp_ms(?) GROUP BY day ORDER BY day DESC -- ["[\\"x'; DROP TABLE records; --\\"]","$.min","$.min","$.max","$.max","$.min","$.min","$.max","$.max","[\\"x'; DROP TABLE records; --\\"]","$.min","$.min","$.max","$.max","$.min","$.min","$.max","$.max","[\\"x'; DROP TABLE records; --\\"]","$.min","$.min","$.max","$.max","$.min","$.min","$.max","$.max","[\\"x'; DROP TABLE records; --\\"]",1]",
        "SELECT key, count(*) AS n, quantile_cont(CASE WHEN list_contains(from_json(?, '["VARCHAR"]'), attribute) THEN CASE WHEN sign((coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)))) * sign((coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)))) < 0 THEN round(100 * 0 / abs(nullif(coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)), 0)), 2) WHEN (coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))) = 0 OR ((coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))) <> 0 AND abs((coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)))) <= abs((coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))))) THEN round(100 * (coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))) / abs(nullif(coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)), 0)), 2) ELSE round(100 * (coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) - coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))) / abs(nullif(coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)), 0)), 2) END END, 0.5), count(*) FILTER (CASE WHEN list_contains(from_json(?, '["VARCHAR"]'), attribute) THEN coalesce(coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) >= coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) AND coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) >= coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) AND (coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) > coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) OR coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) > coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))), false) ELSE false END), count(*) FILTER (CASE WHEN list_contains(from_json(?, '["VARCHAR"]'), attribute) THEN coalesce(coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) <= coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) AND coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) <= coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) AND (coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) < coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) OR coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) < coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))), false) ELSE false END), count(*) FILTER (CASE WHEN list_contains(from_json(?, '["VARCHAR"]'), attribute) THEN coalesce((coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) > coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) AND coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) < coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))) OR (coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) < coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE)) AND coalesce(TRY_CAST(new_value AS DOUBLE), TRY_CAST(json_extract_string(new_value, ?) AS DOUBLE)) > coalesce(TRY_CAST(old_value AS DOUBLE), TRY_CAST(json_extract_string(old_value, ?) AS DOUBLE))), false) ELSE false END), count(*) FILTER ((new_value IS NULL AND old_value IS NOT NULL AND list_contains(from_json(?, '["VARCHAR"]'), attribute))) FROM (SELECT * FROM read_parquet('f') WHERE observed_at >= make_timestamp_ms(?) AND observed_at < make_timestamp_ms(?)) JOIN (SELECT ord, "kind:value" AS key FROM records) USING (ord) WHERE key IS NOT NULL GROUP BY key ORDER BY n DESC, key LIMIT 1001 -- ["[\\"x'; DROP TABLE records; --\\"]","$.min","$.min","$.max","$.max","$.min","$.max","$.max","$.min","$.min","$.min","$.min","$.max","$.max","$.min","$.min","$.min","$.max","$.max","$.max","[\\"x'; DROP TABLE records; --\\"]","$.min","$.min","$.max","$.max","$.min","$.min","$.max","$.max","[\\"x'; DROP TABLE records; --\\"]","$.min","$.min","$.max","$.max","$.min","$.min","$.max","$.max","[\\"x'; DROP TABLE records; --\\"]","$.min","$.min","$.max","$.max","$.min","$.min","$.max","$.max","[\\"x'; DROP TABLE records; --\\"]",1,8]",
        "SELECT entity_id, slug, name, attribute, type, old_value, new_value, epoch_ms(observed_at), source_url, epoch_us(recorded_at) FROM (SELECT * FROM read_parquet('f') WHERE recorded_at > make_timestamp(?) LIMIT 9) ORDER BY recorded_at -- [6]",
      ]
    `);
    for (const { text } of plans) expect(text).not.toContain('DROP');
    expect(() => changesStatement({ since: 1, limit: 0.5 }, file)).toThrow('must be an integer');
  });
});

describe('as rows', () => {
  /** Every value of every record, as in tests/support/write-past.ts. */
  const values = () =>
    records.flatMap(({ id, attributes }, ord) =>
      Object.entries(attributes).map(([attribute, value]) => ({ ord, id, attribute, value: JSON.stringify(value) })),
    );

  test('the feed in its order, in pages of any size', async () => {
    const every = await release.engine.changes({ since: 0, limit: 10_000 });
    expect(every.length).toBe(values().length);
    expect(every.length).toBeGreaterThan(2048);
    const times = every.map(({ recorded_at }) => recorded_at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    for (const limit of [1, 7, 2048, 2049]) {
      const some = await release.engine.changes({ since: times[2040]!, limit });
      expect(some).toEqual(every.slice(2041, 2041 + limit));
    }
    expect(await release.engine.changes({ since: times.at(-1)!, limit: 5 })).toEqual([]);
  });

  test('the changelog newest first, in complete pages', async () => {
    const plan = { ...every, since: 0 };
    const { rows, total } = await release.engine.changelog({ ...plan, limit: 10_000, offset: 0 });
    expect([rows.length, total]).toEqual([values().length, values().length]);
    const times = rows.map(({ observed_at }) => observed_at);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    for (const offset of [0, 500, 2000, 2047, total - 3, total, total + 9]) {
      const page = await release.engine.changelog({ ...plan, limit: 100, offset });
      expect(page).toEqual({ rows: rows.slice(offset, offset + 100), total, days: null, groups: null });
    }
    const own = await release.engine.changelog({ ...plan, ordinal: 3, limit: 500, offset: 0 });
    expect(own.rows).toEqual(rows.filter(({ entity_id }) => entity_id === records[3]!.id));
  });

  test('facts of one record, the past of several, and an empty list for no record', async () => {
    const { id } = records[5]!;
    const facts = await release.engine.facts({ entity: id, attribute: null, since: null, limit: 100 });
    const mine = values().filter((each) => each.id === id);
    expect(new Set(facts.map(({ attribute, value }) => `${attribute} ${value}`))).toEqual(
      new Set(mine.map(({ attribute, value }) => `${attribute} ${value}`)),
    );
    expect(await release.engine.facts({ entity: id, attribute: null, since: null, limit: 2 })).toEqual(
      facts.slice(0, 2),
    );
    expect(await release.engine.facts({ entity: hostile, attribute: null, since: null, limit: 2 })).toEqual([]);
    const { records: past, readings } = await release.engine.past([5, 9, 150]);
    expect(past.map(({ ordinal }) => ordinal).toSorted((a, b) => a - b)).toEqual([5, 9, 150]);
    for (const { ordinal, id: found, slug, identity, facts: own, listings } of past) {
      expect([found, slug]).toEqual([records[ordinal]!.id, records[ordinal]!.slug]);
      expect(JSON.parse(identity)).toHaveProperty('maker');
      expect(own.length).toBe(values().filter((each) => each.ord === ordinal).length);
      expect(listings).toHaveLength(1);
    }
    expect(readings.length).toBeGreaterThan(1);
    expect((await release.engine.past([])).records).toEqual([]);
    expect(await release.engine.openItems(id)).toEqual([]);
  });

  test('an aborted query leaves the queue', async () => {
    const signal = AbortSignal.abort();
    await expect(release.engine.changes({ since: 0, limit: 10 }, { signal })).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});
