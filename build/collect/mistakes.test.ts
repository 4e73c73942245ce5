// Mistakes of a pack or of its sources: each is named, and nothing of the run is appended.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Duck, quotedText } from '../../data/duckdb/duck.ts';
import { listRuns } from '../../data/write/facts.ts';
import type { CollectContext, Observed, Pack } from '../../packs/define/model.ts';
import { collectAndPublish, scratch, still, stonesPack } from '../../tests/support/night-pack.ts';
import type { CollectionStopped, CollectOptions } from './collect.ts';
import { lineInPack } from './pack-lines.ts';

const STRICT = {};
const AT = 'https://quarry.example/a';

/** A pack with one pin on each of the given days, whose collector yields the rows of the day. */
function packOf(days: Record<string, unknown[]>, members: object = STRICT, folder = scratch()): Pack {
  const issues = Object.fromEntries(Object.keys(days).map((day) => [day, []]));
  const pack = stonesPack(folder, { quarry: issues }, 1, members);
  const read = async function* ({ observed_at }: { observed_at: string }) {
    yield* days[observed_at.slice(5, 10)] as Observed[];
  };
  return { ...pack, collector: { read } };
}

const row = (code: string, values: Record<string, unknown> = {}) => ({
  identity: { code },
  values: { code, ...values },
  source_url: AT,
});

const rows = (count: number, values: Record<string, unknown> = {}) =>
  Array.from({ length: count }, (_, i) => row(`c${i}`, values));

/** The mistakes that stop a run, after which no facts may exist. */
async function mistakesOf(pack: Pack, data = scratch(), before = 0): Promise<string[]> {
  const error = await collectAndPublish(pack, data, still()).catch((thrown: unknown) => thrown);
  expect(await listRuns(data, 'stones')).toHaveLength(before);
  expect(error).toBeInstanceOf(Error);
  return (error as CollectionStopped).mistakes;
}

async function reportsOf(pack: Pack, data = scratch(), options: CollectOptions = {}): Promise<string[]> {
  return (await collectAndPublish(pack, data, still(), options)).reports;
}

/** Writes program files of the pack, so that messages can name a line. */
function program(folder: string, text: string): string {
  writeFileSync(join(folder, 'collect.ts'), text);
  return folder;
}

describe('names that the pack lacks', () => {
  test('a value under an unknown name stops the run, with the line of the pack and the nearest name', async () => {
    const folder = program(scratch(), "\nyield { identity, values: { 'price.sele': 3 } };\n");
    const pack = packOf({ '01-01': rows(20, { 'price.sele': 12.5 }) }, STRICT, folder);
    expect(await mistakesOf(pack)).toEqual([
      "quarry: 20 values under 'price.sele', expected the name of an attribute; nearest 'price.sale' " +
        '(collect.ts:2), such as row 1 of quarry@1.1.1: 12.5',
    ]);
  });

  test('a name in another case is found, and a missing value under an unknown name is none', async () => {
    const pack = packOf({ '01-01': [row('a', { MASS: 1, other: undefined, more: null })] });
    expect(await mistakesOf(pack)).toEqual([
      "quarry: 1 value under 'MASS', expected the name of an attribute; nearest 'mass', such as row 1 of quarry@1.1.1: 1",
    ]);
  });

  test('unknown members of a row, of its identity and of its evidence', async () => {
    const row1 = { ...row('a'), source: 'nope', source_ulr: AT, evidence: { mas: 'weighed' } };
    const row2 = { ...row('b'), identity: { code: 'b', colour: 'red' } };
    expect(await mistakesOf(packOf({ '01-01': [row1, row2] }))).toEqual([
      "quarry: 1 row with the member 'source', expected only identity, values, source_url, evidence, confidence, " +
        'such as row 1 of quarry@1.1.1',
      "quarry: 1 row with the member 'source_ulr', expected only identity, values, source_url, evidence, confidence; " +
        "nearest 'source_url', such as row 1 of quarry@1.1.1",
      "quarry: 1 row with evidence for 'mas', expected the name of an attribute; nearest 'mass', such as row 1 of " +
        'quarry@1.1.1',
      "quarry: 1 row with the identity 'colour', expected only code, which identify a record, such as row 2 of " +
        'quarry@1.1.1',
    ]);
  });

  test('`source_ulr` for `source_url` is one mistake', async () => {
    const { source_url: source_ulr, ...rest } = row('a', { mass: 1 });
    expect(await mistakesOf(packOf({ '01-01': [{ ...rest, source_ulr }] }))).toEqual([
      "quarry: 1 row with the member 'source_ulr', expected only identity, values, source_url, evidence, confidence; " +
        "nearest 'source_url', such as row 1 of quarry@1.1.1",
    ]);
  });

  test('`value` for `values` is one mistake', async () => {
    const wrong = { identity: { code: 'a' }, value: { mass: 1 }, source_url: AT };
    expect(await mistakesOf(packOf({ '01-01': [wrong, wrong] }))).toEqual([
      "quarry: 2 rows with the member 'value', expected only identity, values, source_url, evidence, confidence; " +
        "nearest 'values', such as row 1 of quarry@1.1.1",
    ]);
  });

  test('many names are counted after the first 20', async () => {
    const names = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`other${i}`, i]));
    const mistakes = await mistakesOf(packOf({ '01-01': [row('a', names)] }));
    expect(mistakes).toHaveLength(21);
    expect(mistakes.at(-1)).toBe('quarry: 10 values under further unknown names');
  });
});

describe('rows that are no observations', () => {
  test('null, a number and a row without values are named by their number, with the line of `yield null`', async () => {
    const folder = program(scratch(), 'read() {\n  yield null;\n}\n');
    const broken = [row('a'), null, 7, { identity: { code: 'b' }, source_url: AT }];
    expect(await mistakesOf(packOf({ '01-01': broken }, STRICT, folder))).toEqual([
      'quarry: 3 of 4 rows of quarry@1.1.1 could not be read (75 %; tolerate.rows: 0 %), such as row 2 is null, expected ' +
        'an object {identity, values, source_url, evidence, confidence} (collect.ts:2); row 3 is 7, expected an object ' +
        '{identity, values, source_url, evidence, confidence}; row 4 has no `values`, expected an object of values by ' +
        'attribute',
    ]);
  });

  test('a tolerated share is left out and reported, and then no missing record counts as removed', async () => {
    const data = scratch();
    const members = { tolerate: { rows: 0.5 } };
    const folder = scratch();
    await reportsOf(packOf({ '01-01': rows(3, { status: 'here' }) }, members, folder), data);
    const days = { '01-01': [], '02-01': [row('c0'), row('c1'), null] };
    expect(await reportsOf(packOf(days, members, folder), data)).toEqual([
      'quarry: 1 of 3 rows of quarry@1.2.1 could not be read, such as row 3 is null, expected an object {identity, ' +
        'values, source_url, evidence, confidence}: left out; missing records stay',
      expect.stringMatching(/^Rows left out: see .+\.rejected\.jsonl$/),
    ]);
    const days3 = { ...days, '03-01': [row('c0'), row('c1')] };
    const { facts } = await collectAndPublish(packOf(days3, members, folder), data, still());
    // `@listed: false`, and the value of `gone`.
    expect(facts).toBe(2);
  });

  test('an identity key that throws, or is no text', async () => {
    const pack = packOf({ '01-01': [row('a')] });
    const withKey = (key: () => string): Pack => ({ ...pack, identity: { ...pack.identity, key } });
    const [thrown] = await mistakesOf(
      withKey(() => {
        throw new Error('no town');
      }),
    );
    expect(thrown).toContain('row 1 has the identity {"code":"a"}: identity.key of the pack throws: no town');
    const [empty] = await mistakesOf(withKey(() => ''));
    expect(empty).toContain('identity.key of the pack returns "", expected a text');
  });

  test('a `read` that is no generator', async () => {
    const pack = packOf({ '01-01': [] });
    const read = (async () => [row('a')]) as unknown as Pack['collector']['read'];
    expect(await mistakesOf({ ...pack, collector: { read } })).toEqual([
      'quarry: quarry@1.1.1 could not be read: `read` returns no rows: write `async *read(reading, context)`, with ' +
        'the asterisk, and `yield` each row',
    ]);
  });
});

describe('wrong values', () => {
  test('above the tolerated share stop the run, with NaN and infinity as they are', async () => {
    const data = scratch();
    const wrong = [row('a', { mass: Number.NaN }), row('b', { mass: Number.POSITIVE_INFINITY }), row('c', { mass: 1 })];
    expect(await mistakesOf(packOf({ '01-01': wrong }), data)).toEqual([
      'quarry: 2 of 3 values of mass in quarry@1.1.1 are wrong (66.7 %; tolerate.values: 0.1 %), such as mass of a is NaN, ' +
        'expected a number; mass of b is Infinity, expected a number',
    ]);
    const file = join(data, 'runs/stones.rejected.jsonl');
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { value: unknown }).value)).toEqual(['NaN', 'Infinity']);
  });

  test('within it are left out and reported; in several readings they are counted once', async () => {
    const wrong = [...rows(9, { mass: 1 }), row('x', { mass: -1 })];
    const [line] = await reportsOf(packOf({ '01-01': wrong }, { tolerate: 0.1 }));
    expect(line).toMatch(/^1 value rejected, such as mass of x is -1, expected a number of at least 0\. See /);
    const mistakes = await mistakesOf(packOf({ '01-01': wrong, '02-01': wrong }, { tolerate: 0.09 }));
    expect(mistakes).toEqual([expect.stringMatching(/^quarry: 1 of 10 values of mass .+; so in 2 readings$/)]);
  });

  test('a value with a wrong address is rejected and not published', async () => {
    const data = scratch();
    const wrong = [...rows(9, { mass: 1 }), { ...row('x', { mass: 2 }), source_url: 'quarry.example' }];
    const { rejected, reports } = await collectAndPublish(packOf({ '01-01': wrong }, { tolerate: 0.1 }), data, still());
    expect(rejected).toBe(2);
    expect(reports.join()).toContain('mass source_url of x is "quarry.example", expected an http or https address');
  });

  test('a value without an address has that of its source', async () => {
    const data = scratch();
    const { source_url: _, ...plain } = row('a', { mass: 1 });
    const some = { ...row('b', { mass: 2 }), source_url: { mass: 'https://other.example/b' } };
    expect(await collectAndPublish(packOf({ '01-01': [plain, some] }), data, still())).toMatchObject({
      rejected: 0,
      reports: [],
    });
    const [run] = await listRuns(data, 'stones');
    const duck = await Duck.open(join(data, 'spill'));
    const rows = await duck.rows(
      `SELECT attribute, source_url FROM read_parquet(${quotedText(run!.facts)}) WHERE attribute IN ('code', 'mass') ORDER BY ALL`,
    );
    duck.close();
    expect(rows).toEqual([
      ['code', 'https://quarry.example/'],
      ['code', 'https://quarry.example/'],
      ['mass', 'https://other.example/b'],
      ['mass', 'https://quarry.example/'],
    ]);
  });

  test('values that JSON cannot write', async () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    const wrong = [row('a', { mass: 10n }), row('b', { mass: loop }), row('c', { mass: () => 1 })];
    const [mistake] = await mistakesOf(packOf({ '01-01': wrong }));
    expect(mistake).toContain('mass of a is 10, expected a number; mass of b is a value that contains itself');
    expect(mistake).toContain('mass of c is "a function"');
  });

  test('a date in the future, where the attribute refuses it', async () => {
    const pack = packOf({ '01-01': [row('a', { seen: '3026-01-01' })] });
    expect(await reportsOf(pack)).toEqual([]);
    const attributes = pack.attributes.map((each) =>
      each.name === 'seen' ? { ...each, date_range: { min: null, max: 'now' } } : each,
    );
    expect(await mistakesOf({ ...pack, attributes })).toEqual([
      expect.stringContaining(
        'seen of a is "3026-01-01", expected a date that is not in the future (today is 2026-11-20)',
      ),
    ]);
  });
});

describe('a complete source that shrinks', () => {
  const days = { '01-01': rows(20), '02-01': rows(10) };
  const fewer =
    'quarry: quarry@1.2.1 lists 10 records, and the reading before listed 20: 50 % fewer (max_drop: 10 %). If that ' +
    'is right, run `npm run nightly -- --only stones --accept` once, or set max_drop of the source';

  test('stops the run, also without `gone`', async () => {
    const pack = packOf(days);
    expect(await mistakesOf({ ...pack, gone: null })).toEqual([fewer]);
    const [data, folder] = [scratch(), scratch()];
    await collectAndPublish(packOf({ '01-01': rows(20) }, STRICT, folder), data, still());
    expect(await mistakesOf(packOf(days, STRICT, folder), data, 1)).toEqual([fewer]);
  });

  test('is accepted within max_drop, with --accept, and when it is not complete', async () => {
    expect(await reportsOf(packOf(days, { max_drop: 0.5 }))).toEqual([]);
    expect(await reportsOf(packOf(days), scratch(), { accept: true })).toEqual([]);
    expect(await reportsOf(packOf(days, { complete: false }))).toEqual([]);
  });

  test('may drop one record unless max_drop is 0, and may drop none to an empty reading', async () => {
    const one = { '01-01': rows(3), '02-01': rows(2) };
    expect(await reportsOf(packOf(one))).toEqual([]);
    expect(await mistakesOf(packOf(one, { max_drop: 0 }))).toHaveLength(1);
    expect(await mistakesOf(packOf({ '01-01': rows(3), '02-01': [] }))).toHaveLength(1);
  });
});

describe('time', () => {
  test('a pin in the future stops the run', async () => {
    expect(await mistakesOf(packOf({ '01-01': rows(1), '12-01': rows(1) }))).toEqual([
      'quarry: pins.1.observed_at of quarry@1.12.1 is 2026-12-01T00:00:00Z, expected a time in the past (it is ' +
        '2026-11-20T00:00:00.000Z)',
    ]);
  });

  test('a collector without progress is stopped, also after some rows', async () => {
    const pack = packOf({ '01-01': [] }, { timeout_minutes: 0.002 });
    const read = async function* () {
      yield row('a') as Observed;
      await new Promise(() => undefined);
    };
    const data = scratch();
    expect(await mistakesOf({ ...pack, collector: { read } }, data)).toEqual([
      'quarry: quarry@1.1.1 could not be read: no observation for 0.002 minutes (timeout_minutes of the source)',
    ]);
    expect(existsSync(join(data, 'facts/stones/.unfinished-run'))).toBe(false);
  });

  test('after a collector was stopped, the other readings are not tried', async () => {
    const pack = packOf({ '01-01': [], '02-01': [] }, { timeout_minutes: 0.002 });
    let readings = 0;
    const read = async function* () {
      readings++;
      await new Promise(() => undefined);
      yield row('a') as Observed;
    };
    expect(await mistakesOf({ ...pack, collector: { read } })).toHaveLength(1);
    expect(readings).toBe(1);
  });

  test('a slow collector that yields in time is not stopped', async () => {
    const pack = packOf({ '01-01': [] }, { timeout_minutes: 0.002 });
    const read = async function* () {
      for (let i = 0; i < 5; i++) {
        await new Promise((resolve) => setTimeout(resolve, 40));
        yield row(`c${i}`) as Observed;
      }
    };
    expect((await collectAndPublish({ ...pack, collector: { read } }, scratch(), still())).readings).toBe(1);
  });
});

test('lines of the collector are in the report, each once', async () => {
  const pack = packOf({ '01-01': [], '02-01': [] });
  const read = async function* (_: unknown, { log }: CollectContext) {
    log('3 rows without a name');
    log('3 rows without a name');
    yield row('a') as Observed;
  };
  const effects = still();
  const { logs } = await collectAndPublish({ ...pack, collector: { read } }, scratch(), effects);
  const lines = ['quarry: quarry@1.1.1: 3 rows without a name', 'quarry: quarry@1.2.1: 3 rows without a name'];
  expect(logs).toEqual(lines);
  expect(effects.lines.filter((line) => line.includes('3 rows'))).toEqual(lines.map((line) => `stones: ${line}`));
});

test('the line of a name in a pack: collect.ts first, whole names only, no tests', () => {
  const folder = scratch();
  mkdirSync(join(folder, 'sub.ts'));
  expect(lineInPack(join(folder, 'missing'), 'mass')).toBeUndefined();
  writeFileSync(join(folder, 'a.test.ts'), 'mass\n');
  writeFileSync(join(folder, 'a.ts'), "\n'mass'\n");
  writeFileSync(join(folder, 'pack.ts'), 'mass\n');
  expect(lineInPack(folder, 'mass')).toBe('a.ts:2');
  program(folder, 'price.mass masses\n\n\nmass: 1');
  expect(lineInPack(folder, 'mass')).toBe('collect.ts:4');
  expect(lineInPack(folder, 'price')).toBeUndefined();
});
