// What a run appends to the facts of a dataset, reading by reading, and what it leaves out.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Duck, fromParquet } from '../../data/duckdb/duck.ts';
import { recordId } from '../../data/model/layout.ts';
import { allReadings, FACT_COLUMNS, listRuns, validReadings } from '../../data/write/facts.ts';
import type { Pack } from '../../packs/define/model.ts';
import { collectAndPublish, type Issues, scratch, still, stonesPack } from '../../tests/support/night-pack.ts';
import { verifies } from '../../tests/support/verifies.ts';

verifies('fact.shape', 'fact.append-only', 'fact.no-half-file', 'fact.confirmation', 'record.id', 'record.slug-fixed');
verifies('record.slug-not-id');

const codes = new Map(['a', 'b', 'c', 'd', 'half'].map((code) => [recordId('stones', code), code]));

/** Facts as short lines, ordered by time. */
async function factsOf(data: string, which = "attribute NOT LIKE '@%'"): Promise<string[]> {
  const duck = await Duck.open(join(data, 'spill'));
  try {
    const files = (await listRuns(data, 'stones')).map(({ facts }) => facts);
    const rows = await duck.rows(
      `SELECT source, strftime(observed_at, '%m-%d'), entity, attribute, value FROM ${fromParquet(files, FACT_COLUMNS)}` +
        ` WHERE ${which} AND attribute <> 'code' ORDER BY observed_at, source, run, entity, attribute`,
    );
    return rows.map(([source, date, id, name, value]) =>
      [source, date, codes.get(String(id)), name, value].join(' ').trim(),
    );
  } finally {
    duck.close();
  }
}

async function readingsOf(data: string) {
  const duck = await Duck.open(join(data, 'spill'));
  const made = await allReadings(duck, data, 'stones');
  duck.close();
  return made;
}

const run = (pack: Pack, data: string, now?: string) => collectAndPublish(pack, data, still(now));

/** The facts of one source that is read once for each issue, all in one run. */
async function told(issues: Issues, which?: string): Promise<string[]> {
  const data = scratch();
  await run(stonesPack(scratch(), { quarry: issues }), data);
  return factsOf(data, which);
}

describe('news', () => {
  test('a repeated value confirms a fact and adds none, whatever the white space around it', async () => {
    const data = scratch();
    const issues = { '01-01': [{ code: 'a', name: ' Big one\n' }], '02-01': [{ code: 'a', name: 'Big one' }] };
    const collected = await run(stonesPack(scratch(), { quarry: issues }), data);
    expect(await factsOf(data)).toEqual(['quarry 01-01 a name "Big one"']);
    expect(collected).toMatchObject({ readings: 2, rejected: 0, failures: [] });
    expect((await readingsOf(data)).map((row) => [row.package, row.version, row.revision])).toEqual([
      ['quarry', '1.1.1', 1],
      ['quarry', '1.2.1', 1],
    ]);
  });

  test('a change, a withdrawal, and a value that returns', async () => {
    const issue = (mass?: number) => [{ code: 'a', ...(mass === undefined ? {} : { mass }) }];
    const issues = { '01-01': issue(1), '02-01': issue(0.1 + 0.2), '03-01': issue(), '04-01': issue(0.3) };
    expect(await told(issues)).toEqual([
      'quarry 01-01 a mass 1',
      'quarry 02-01 a mass 0.30000000000000004',
      'quarry 03-01 a mass',
      'quarry 04-01 a mass 0.3',
    ]);
  });

  test('a record that a complete source drops and lists again', async () => {
    const both = [
      { code: 'a', status: 'here', mass: 1 },
      { code: 'b', status: 'here' },
    ];
    const issues = { '01-01': both, '02-01': [both[1]!], '03-01': [both[1]!], '04-01': both };
    expect(await told(issues)).toEqual([
      'quarry 01-01 a mass 1',
      'quarry 01-01 a status "here"',
      'quarry 01-01 b status "here"',
      'quarry 02-01 a status "gone"',
      'quarry 04-01 a status "here"',
    ]);
    expect(await told(issues, "attribute = '@listed'")).toEqual([
      'quarry 01-01 a @listed true',
      'quarry 01-01 b @listed true',
      'quarry 02-01 a @listed false',
      'quarry 04-01 a @listed true',
    ]);
  });

  test('a source that is not complete drops nothing', async () => {
    const data = scratch();
    const issues = { '01-01': [{ code: 'a', mass: 1 }], '02-01': [] };
    await run(stonesPack(scratch(), { rumour: issues }), data);
    expect(await factsOf(data, 'true')).not.toContain('rumour 02-01 a @listed false');
    expect(await factsOf(data)).toEqual(['rumour 01-01 a mass 1']);
  });

  test('once: the first value of each source, never withdrawn', async () => {
    const issues = {
      '01-01': [{ code: 'a', seen: '2026-01-01' }],
      '02-01': [{ code: 'a', seen: '2026-02-01' }],
      '03-01': [{ code: 'a' }],
    };
    expect(await told(issues)).toEqual(['quarry 01-01 a seen "2026-01-01"']);
  });

  test('of a record listed twice in a reading the first value of each attribute counts', async () => {
    const twice = [
      { code: 'a', mass: 1 },
      { code: 'A', mass: 2, name: 'Twin' },
    ];
    expect(await told({ '01-01': twice, '02-01': twice })).toEqual([
      'quarry 01-01 a mass 1',
      'quarry 01-01 a name "Twin"',
    ]);
  });
});

describe('doubtful observations', () => {
  test('invalid values are rejected and reported, the others are kept', async () => {
    const data = scratch();
    const issue = [
      { code: 'a', mass: -1, name: 7, place: { lat: 91, lng: 0 }, 'price.sale': { min: 5, max: 1 }, status: 'here' },
      { code: 'b', mass: 1, as: { source_url: 'javascript:alert(1)' } },
      { code: 'c', as: { identity: {} } },
      { code: 'd', as: { confidence: 7 } },
    ];
    const collected = await run(stonesPack(scratch(), { quarry: { '01-01': issue } }), data);
    expect(await factsOf(data)).toEqual(['quarry 01-01 a status "here"']);
    expect(collected.failures).toEqual([]);
    const folder = join(data, 'facts/stones');
    const file = readdirSync(folder).find((name) => name.endsWith('.rejected.jsonl'))!;
    const lines = readFileSync(join(folder, file), 'utf8').trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { attribute: string }).attribute)).toEqual([
      ...['name', 'mass', 'place', 'price.sale'],
      ...['code source_url', 'mass source_url', 'code confidence'],
    ]);
    expect(collected.rejected).toBe(7);
    expect(collected.reports).toEqual([
      'quarry: 1 row without `code`, such as row 3 of quarry@1.1.1: left out',
      '7 values rejected, such as name of a is 7, expected a text; mass of a is -1, expected a number of at least 0; ' +
        'place of a is {"lat":91,"lng":0}, expected a latitude in degrees, -90 to 90; ' +
        'price.sale of a is {"min":5,"max":1}, expected a price range whose min is not above its max; ' +
        'code source_url of b is "javascript:alert(1)", expected an http or https address; ' +
        'mass source_url of b is "javascript:alert(1)", expected an http or https address; ' +
        `code confidence of d is 7, expected a number from 0 to 1. See ${join(folder, file)}`,
    ]);
  });

  test('rows that lack what identifies a record are left out and counted, and never become one record', async () => {
    const data = scratch();
    const nameless = [undefined, null, '', ' \u200b'].map((code) => ({
      code: 'b',
      mass: 2,
      as: { identity: { code } as never },
    }));
    const collected = await run(
      stonesPack(scratch(), { quarry: { '01-01': [{ code: 'a', mass: 1 }, ...nameless] } }),
      data,
    );
    expect(await factsOf(data)).toEqual(['quarry 01-01 a mass 1']);
    expect(collected.reports).toEqual(['quarry: 4 rows without `code`, such as row 2 of quarry@1.1.1: left out']);
  });

  test('a row whose identity is too long is left out, and the others are kept', async () => {
    const data = scratch();
    const code = 'x'.repeat(300_000);
    const issue = [
      { code: 'a', mass: 1 },
      { code, mass: -1 },
    ];
    const collected = await run(stonesPack(scratch(), { quarry: { '01-01': issue } }), data);
    expect(await factsOf(data)).toEqual(['quarry 01-01 a mass 1']);
    expect(await factsOf(data, "length(value) > 1000 OR attribute = '@identity'")).toHaveLength(1);
    expect(collected.reports).toEqual([
      'quarry: 1 row with a `code` of more than 1,000 characters, such as row 2 of quarry@1.1.1: left out',
    ]);
    const endless = stonesPack(scratch(), { quarry: { '01-01': [{ code, mass: 1 }] } });
    await expect(run(endless, scratch())).rejects.toThrow(
      'its one row lacks code of at most 1,000 characters, which identifies a record',
    );
  });

  test('a private-use character identifies a record as any letter does; joiners only do not', async () => {
    const data = scratch();
    const issue = [
      { code: '\ue000', mass: 1 },
      { code: '\u200d', mass: 2 },
    ];
    const collected = await run(stonesPack(scratch(), { quarry: { '01-01': issue } }), data);
    expect(await factsOf(data, "attribute IN ('@identity', 'mass')")).toEqual([
      'quarry 01-01  @identity {"code":"\ue000"}',
      'quarry 01-01  mass 1',
    ]);
    expect(collected.reports).toEqual(['quarry: 1 row without `code`, such as row 2 of quarry@1.1.1: left out']);
  });

  test('long identities and long values are reported and stored shortened', async () => {
    const data = scratch();
    const code = 'k'.repeat(900);
    const issue = [
      { code, mass: 1, place: { lat: 'y'.repeat(300_000), lng: 0 } },
      { code, mass: 2 },
    ];
    const { reports: told } = await run(stonesPack(scratch(), { quarry: { '01-01': issue } }), data);
    expect(told[0]).toMatch(/listed more than once in a reading; the first value counts: k{60}…$/);
    expect(told[1]).toMatch(/such as place of k{60}… is \{"lat":"y+…, expected/);
    const folder = join(data, 'facts/stones');
    const file = readdirSync(folder).find((name) => name.endsWith('.rejected.jsonl'))!;
    expect(readFileSync(join(folder, file), 'utf8').length).toBeLessThan(3000);
  });

  test('a reading without any identified row stops the run, also when another reading has some', async () => {
    const data = scratch();
    const nameless = [
      { code: 'a', as: { identity: {} } },
      { code: 'b', as: { identity: {} } },
    ];
    const why = 'quarry: quarry@1.1.1 could not be read: all of its 2 rows lack code, which identifies a record';
    await expect(run(stonesPack(scratch(), { quarry: { '01-01': nameless } }), data)).rejects.toThrow(why);
    const both = stonesPack(scratch(), { quarry: { '01-01': nameless, '02-01': [{ code: 'a', mass: 1 }] } });
    await expect(run(both, data)).rejects.toMatchObject({ mistakes: [why] });
    expect(await listRuns(data, 'stones')).toEqual([]);
  });

  test('a record listed again is reported, and its other values are rejected', async () => {
    const data = scratch();
    const issue = [
      { code: 'a', mass: 1 },
      { code: 'b', mass: 1, seen: '2026-01-01' },
      { code: 'a', mass: 2 },
      { code: 'b', mass: 1, name: 'More', seen: '2026-01-02' },
      { code: 'a', mass: 3 },
    ];
    const { reports, rejected } = await run(stonesPack(scratch(), { quarry: { '01-01': issue } }), data);
    expect(rejected).toBe(2);
    expect(reports).toEqual([
      'quarry: 2 records are listed more than once in a reading; the first value counts: a, b',
      expect.stringMatching(
        /^2 values rejected, such as mass of a is 2, expected one value in a reading: .+ \(2 such values\)\. See /,
      ),
    ]);
    expect(await factsOf(data, "attribute = 'mass'")).toEqual(['quarry 01-01 a mass 1', 'quarry 01-01 b mass 1']);
  });

  test('a failed collector is reported with its line, and one that fetches with the alternative', async () => {
    const folder = join(scratch(), 'stones');
    const stack = `TypeError: fetch failed\n    at node:internal/deps\n    at async Object.read (file://${folder}/collect.ts:4:11)`;
    const read = () => {
      throw Object.assign(new TypeError('fetch failed'), { stack });
    };
    const pack = { ...stonesPack(folder, { quarry: { '01-01': [{ code: 'a' }] } }), collector: { read } };
    const mistakes = [
      'quarry: quarry@1.1.1 could not be read: fetch failed (collect.ts:4); a collector must read the files in ' +
        'reading.folder; list web pages as `crawl` of the source in pack.ts',
    ];
    await expect(run(pack, scratch())).rejects.toMatchObject({ mistakes });
  });

  test('a too long text is rejected, and its beginning is kept', async () => {
    const data = scratch();
    const collected = await run(
      stonesPack(scratch(), { quarry: { '01-01': [{ code: 'a', name: 'x'.repeat(2_000_000) }] } }),
      data,
    );
    expect(await factsOf(data)).toEqual([]);
    expect(collected.reports.join()).toContain('expected a text of at most 1,000,000 bytes');
    const folder = join(data, 'facts/stones');
    const file = readdirSync(folder).find((name) => name.endsWith('.rejected.jsonl'))!;
    expect(readFileSync(join(folder, file), 'utf8').length).toBeLessThan(3000);
  });

  test('text keeps its tabs and line feeds, and loses other control characters', async () => {
    const evil = { code: 'a', name: 'one\ttwo\nthree\u0001four', as: { evidence: 'x\ty\n\u0001z' } };
    expect(await told({ '01-01': [evil] })).toEqual(['quarry 01-01 a name "one\\ttwo\\nthreefour"']);
  });
});

describe('names', () => {
  const slugs = async (data: string) =>
    (await factsOf(data, "attribute = '@slug'")).map((line) => line.split(' ').slice(2).join(' '));

  test('a duplicate slug gets six digits of the key, an id is no slug, and a slug survives a new name', async () => {
    const data = scratch();
    const first = [
      { code: 'a', name: 'Rock' },
      { code: 'b', name: 'rock!' },
      { code: 'c', name: 'r-0123456789abcdef' },
      { code: 'd', name: '石' },
    ];
    const folder = scratch();
    await run(stonesPack(folder, { quarry: { '01-01': first } }), data);
    const given = await slugs(data);
    expect(given).toHaveLength(4);
    expect(given.filter((line) => /@slug "rock"$/.test(line))).toHaveLength(1);
    expect(given.filter((line) => /@slug "rock-[0-9a-f]{6}"$/.test(line))).toHaveLength(1);
    expect(given.filter((line) => /@slug "r-0123456789abcdef-[0-9a-f]{6}"$/.test(line))).toHaveLength(1);
    expect(given.filter((line) => /@slug "[0-9a-f]{6}"$/.test(line))).toHaveLength(1);
    const renamed = first.map(({ code }) => ({ code, name: 'Renamed' }));
    await run(stonesPack(folder, { quarry: { '01-01': first, '02-01': renamed } }), data);
    expect(await slugs(data)).toEqual(given);
  });
});

describe('runs', () => {
  const a = (mass: number) => [{ code: 'a', mass }];

  test('a second run reads only new readings and compares with earlier values', async () => {
    const [data, folder] = [scratch(), scratch()];
    await run(stonesPack(folder, { quarry: { '01-01': a(1) } }), data);
    const [before] = await listRuns(data, 'stones');
    const bytes = readFileSync(before!.facts);
    expect(await run(stonesPack(folder, { quarry: { '01-01': a(1) } }), data)).toMatchObject({ readings: 0 });
    const more = stonesPack(folder, { quarry: { '01-01': a(1), '02-01': a(1), '03-01': a(2) } });
    expect(await run(more, data)).toMatchObject({ readings: 2 });
    expect(await factsOf(data)).toEqual(['quarry 01-01 a mass 1', 'quarry 03-01 a mass 2']);
    expect(readFileSync(before!.facts).equals(bytes)).toBe(true);
    const ids = (await listRuns(data, 'stones')).map(({ run: id }) => id);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(2);
  });

  test('the same inputs give the same bytes', async () => {
    const issues = { quarry: { '01-01': a(1), '02-01': a(2) }, rumour: { '01-15': a(3) } };
    const [one, two] = [scratch(), scratch()];
    await run(stonesPack(scratch(), issues), one);
    await run(stonesPack(scratch(), issues), two);
    const files = async (data: string) =>
      (await listRuns(data, 'stones')).flatMap(({ facts, readings }) => [facts, readings]);
    const [left, right] = [await files(one), await files(two)];
    expect(left.map((path) => path.slice(one.length))).toEqual(right.map((path) => path.slice(two.length)));
    left.forEach((path, i) => {
      expect(readFileSync(path).equals(readFileSync(right[i]!)), path).toBe(true);
    });
  });

  test('a pin that is added later is read in its place and restarts the source', async () => {
    const [data, folder] = [scratch(), scratch()];
    await run(stonesPack(folder, { quarry: { '01-01': a(1), '03-01': a(1) }, rumour: { '02-10': a(5) } }), data);
    const all = { quarry: { '01-01': a(1), '02-01': a(2), '03-01': a(1) }, rumour: { '02-10': a(5) } };
    await run(stonesPack(folder, all), data);
    const made = await readingsOf(data);
    const standing = validReadings(made);
    expect(made).toHaveLength(6);
    expect(standing.map(({ source, version }) => [source, version]).sort()).toEqual([
      ['quarry', '1.1.1'],
      ['quarry', '1.2.1'],
      ['quarry', '1.3.1'],
      ['rumour', '1.2.10'],
    ]);
    const latest = (await listRuns(data, 'stones')).at(-1)!.run;
    expect(await factsOf(data, `run = '${latest}' AND attribute = 'mass'`)).toEqual([
      'quarry 01-01 a mass 1',
      'quarry 02-01 a mass 2',
      'quarry 03-01 a mass 1',
    ]);
    expect(await factsOf(data, "attribute = '@slug'")).toHaveLength(1);
  });

  test('a new revision reads everything again', async () => {
    const [data, folder] = [scratch(), scratch()];
    const issues = { quarry: { '01-01': a(1), '02-01': a(2) } };
    await run(stonesPack(folder, issues), data);
    expect(await run(stonesPack(folder, issues, 2), data)).toMatchObject({ readings: 2 });
    expect(validReadings(await readingsOf(data)).map(({ revision }) => revision)).toEqual([2, 2]);
    expect(await run(stonesPack(folder, issues, 2), data)).toMatchObject({ readings: 0 });
  });

  test('a pin that cannot be read stops the run, which names what is wrong in the others too', async () => {
    const data = scratch();
    const issues = { quarry: { '01-01': a(1), '02-01': 'broken' as const, '03-01': [{ code: 'a', mas: 3 }] } };
    const pack = stonesPack(scratch(), issues);
    const mistakes = [
      'quarry: quarry@1.2.1 could not be read: the page is torn',
      "quarry: 1 value under 'mas', expected the name of an attribute; nearest 'mass', such as row 1 of quarry@1.3.1: 3",
    ];
    await expect(run(pack, data)).rejects.toMatchObject({ mistakes });
    expect(await listRuns(data, 'stones')).toEqual([]);
  });

  test('a broken pin stops each run without new facts, and is read once it is repaired', async () => {
    const [data, folder] = [scratch(), scratch()];
    await run(stonesPack(folder, { quarry: { '01-01': a(1) } }), data);
    const broken = { quarry: { '01-01': a(1), '02-01': 'broken' as const } };
    await expect(run(stonesPack(folder, broken), data)).rejects.toThrow('the page is torn');
    await expect(run(stonesPack(folder, broken), data)).rejects.toThrow('the page is torn');
    expect(await listRuns(data, 'stones')).toHaveLength(1);
    await run(stonesPack(folder, { quarry: { ...broken.quarry, '02-01': a(2) } }), data);
    expect(validReadings(await readingsOf(data))).toHaveLength(2);
  });

  test('leftovers of a killed run are removed: unfinished files, and facts without readings', async () => {
    const data = scratch();
    const pack = stonesPack(scratch(), { quarry: { '01-01': a(1) } });
    await run(pack, data);
    const folder = join(data, 'facts/stones');
    writeFileSync(join(folder, '20991231T000000000Z-00000000.facts.parquet'), 'half');
    writeFileSync(join(folder, '.unfinished-x'), 'half');
    expect(await run(pack, data)).toMatchObject({ readings: 0 });
    expect(existsSync(join(folder, '20991231T000000000Z-00000000.facts.parquet'))).toBe(false);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(await factsOf(data)).toEqual(['quarry 01-01 a mass 1']);
  });
});
