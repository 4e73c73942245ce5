// Checks of a release: the pack's own tests, and too large a difference from the last release.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Duck, quotedText } from '../../data/duckdb/duck.ts';
import type { Pack, PackTest } from '../../packs/define/model.ts';
import { scratch, stonesPack } from '../../tests/support/night-pack.ts';
import { verifies } from '../../tests/support/verifies.ts';
import { checkRelease } from './check.ts';

verifies('release.last-good');

/** Rows of an engine table: id, name, status, mass and tags; null where there is no value. */
type Row = { name?: string; status?: string; mass?: number | undefined; tags?: string[] };

const text = (value: string | undefined) => (value === undefined ? 'NULL' : quotedText(value));

/** A release folder with an engine table of these rows; ids count from 0. */
async function release(rows: Row[]): Promise<string> {
  const folder = join(scratch(), 'out');
  mkdirSync(folder);
  const duck = await Duck.open(join(folder, '..', 'spill'));
  const values = rows.map(({ name, status, mass, tags }, i) => {
    const list = tags === undefined ? 'NULL' : `[${tags.map(quotedText).join(', ')}]`;
    return `('r-${i}', ${text(name)}, ${text(status)}, ${mass ?? 'NULL'}::DOUBLE, ${list}::VARCHAR[])`;
  });
  const columns = '"id", "name:fold", "status:fold", "mass:value", "tags:fold"';
  await duck.parquet(`SELECT * FROM (VALUES ${values.join(', ')}) t(${columns})`, join(folder, 'engine.parquet'));
  duck.close();
  return folder;
}

const pack = (tests: PackTest[] = []): Pack => {
  const whole = stonesPack(scratch(), { quarry: { '01-01': [] } });
  const attributes = whole.attributes.filter(({ name }) => ['name', 'status', 'mass', 'tags'].includes(name));
  return { ...whole, attributes, tests };
};

const many = (n: number, row: (i: number) => Row): Row[] => Array.from({ length: n }, (_, i) => row(i));
const full = (i: number): Row => ({ name: `stone ${i}`, status: 'here', mass: i + 1, tags: ['a', 'b'] });

describe('the pack’s tests', () => {
  const rows = [
    full(0),
    { ...full(1), name: 'stone 0' },
    { name: 'stone 2', status: 'lost', tags: ['c'] },
    { mass: 1 },
  ];
  const CASES: [test: PackTest, said: string | null][] = [
    [{ kind: 'rows', min: 4, max: 4 }, null],
    [{ kind: 'rows', min: 5 }, '4 records; the pack requires at least 5'],
    [{ kind: 'rows', max: 3 }, '4 records; the pack allows at most 3'],
    [{ kind: 'fill', attribute: 'name', min: 0.75 }, null],
    [{ kind: 'fill', attribute: 'name', min: 0.76 }, 'name: 75 % filled; the pack requires at least 76 %'],
    [{ kind: 'fill', attribute: 'mass', max: 0.5 }, 'mass: 75 % filled; the pack allows at most 50 %'],
    [{ kind: 'unique', attribute: 'name' }, 'name: 1 values are not unique'],
    [{ kind: 'unique', attribute: 'status' }, 'status: 1 values are not unique'],
    [{ kind: 'accepted', attribute: 'status', values: ['Here', 'LOST'] }, null],
    [{ kind: 'accepted', attribute: 'status', values: ['here'] }, 'status: lost is not among the accepted values'],
    [{ kind: 'accepted', attribute: 'tags', values: ['a', 'b'] }, 'tags: c is not among the accepted values'],
  ];
  test('a share that is not 100 % is not printed as such', async () => {
    const some = many(5000, (i) => ({ ...full(i), mass: i < 2 ? undefined : 1 }));
    const [sentence] = await checkRelease(
      pack([{ kind: 'fill', attribute: 'mass', min: 1 }]),
      await release(some),
      null,
    );
    expect(sentence).toContain('mass: 99.96 % filled; the pack requires at least 100 %');
  });

  test.each(CASES)('%j', async (tested, mistake) => {
    const named = `the test \`${tested.kind}\`${tested.attribute ? ` of ${tested.attribute}` : ''}`;
    const remedy = `If that is right, change ${named} in pack.ts; --accept does not skip it`;
    expect(await checkRelease(pack([tested]), await release(rows), null)).toEqual(
      mistake === null ? [] : [`${mistake}. ${remedy}`],
    );
  });
});

describe('compared with the release before', () => {
  const compared = async (earlier: Row[], now: Row[], { revision = 1, change = (checked: Pack) => checked } = {}) =>
    checkRelease(change(pack()), await release(now), { folder: await release(earlier), revision });
  const before = many(1000, full);
  /** The whole sentence of a rule: figure, rule, command, setting. */
  const sentence = (figure: string, rule: string, most: string, setting = '') =>
    `${figure}; checks.${rule}: ${most} %). If that is right, run ` +
    `\`npm run nightly -- --only stones --accept\` once, or set ${setting}checks.${rule} in pack.ts`;

  test('nothing changed', async () => {
    expect(await compared(before, before)).toEqual([]);
  });

  test('lost records: two in a hundred', async () => {
    const lost = (n: number) => sentence(`${n} of 1000 records are missing (${n / 10} %`, 'lost_records', '2');
    expect(await compared(before, before.slice(0, 980))).toEqual([]);
    expect(await compared(before, before.slice(0, 979))).toEqual([lost(21)]);
  });

  const emptied = (rows: Row[], n: number) => rows.map((row, i) => (i < n ? { ...row, mass: undefined } : row));

  test('emptied attributes: a fifth of their values', async () => {
    const lost = sentence('mass: 201 of 1000 values are missing (20.1 %', 'lost_values', '20');
    expect(await compared(before, emptied(before, 200))).toEqual([]);
    expect(await compared(before, emptied(before, 201))).toEqual([lost]);
  });

  const shifted = (rows: Row[], n: number) => rows.map((row, i) => (i < n ? { ...row, mass: row.mass! * 100 } : row));

  test('shifted values: more than half, unless the revision changed or the attribute is volatile', async () => {
    const setting = 'attributes.mass.volatile or ';
    const changed = 'mass: 501 of 1000 values changed in one night (50.1 %';
    expect(await compared(before, shifted(before, 500))).toEqual([]);
    expect(await compared(before, shifted(before, 501))).toEqual([sentence(changed, 'changed_values', '50', setting)]);
    expect(await compared(before, shifted(before, 1000), { revision: 0 })).toEqual([]);
    const volatile = (checked: Pack) => ({
      ...checked,
      attributes: checked.attributes.map((attribute) => ({ ...attribute, volatile: attribute.name === 'mass' })),
    });
    expect(await compared(before, shifted(before, 1000), { change: volatile })).toEqual([]);
    // Only changes are expected of a volatile attribute.
    expect(await compared(before, emptied(before, 201), { change: volatile })).toHaveLength(1);
  });

  test('records with a new `gone` value: a fifth', async () => {
    const gone = (n: number) => before.map((row, i) => (i < n ? { ...row, status: 'gone' } : row));
    const left = sentence('201 of 1000 records are newly gone (20.1 %', 'gone_records', '20');
    expect(await compared(before, gone(200))).toEqual([]);
    expect(await compared(before, gone(201))).toEqual([left]);
    expect(await compared(gone(900), gone(950))).toEqual([]);
  });

  test('shares count from 200 values or records on; of fewer, from 20 on, only the loss of all', async () => {
    for (const [rows, refused] of [
      [200, 1],
      [199, 0],
    ] as const) {
      const some = before.slice(0, rows);
      expect(await compared(some, emptied(some, rows - 1))).toHaveLength(refused);
      expect(await compared(some, shifted(some, rows))).toHaveLength(refused);
      expect(await compared(some, some.slice(0, 150))).toHaveLength(refused);
    }
    const others = (rows: Row[]) => rows.map((row) => ({ ...row, mass: undefined }));
    const all = sentence('mass: 35 of 35 values are missing (100 %', 'lost_values', '20');
    expect(await compared(before.slice(0, 35), others(before.slice(0, 35)))).toEqual([all]);
    expect(await compared(before.slice(0, 19), others(before.slice(0, 19)))).toEqual([]);
  });

  test('the pack sets the shares', async () => {
    const change = (checked: Pack) => ({
      ...checked,
      checks: { ...checked.checks, lost_values: 1, lost_records: 0.5 },
    });
    expect(await compared(before, emptied(before, 1000), { change })).toEqual([]);
    expect(await compared(before, before.slice(0, 500), { change })).toEqual([]);
    const most = sentence('501 of 1000 records are missing (50.1 %', 'lost_records', '50');
    expect(await compared(before, before.slice(0, 499), { change })).toEqual([most]);
  });

  test('new records and a new attribute raise no alarm', async () => {
    const plain = before.slice(0, 50);
    const now = await release(before);
    const narrow = join(scratch(), 'out');
    mkdirSync(narrow);
    const duck = await Duck.open(join(narrow, '..', 'spill'));
    const engine = quotedText(join(await release(plain), 'engine.parquet'));
    await duck.parquet(`SELECT * EXCLUDE ("mass:value") FROM read_parquet(${engine})`, join(narrow, 'engine.parquet'));
    duck.close();
    expect(await checkRelease(pack(), now, { folder: narrow, revision: 1 })).toEqual([]);
  });
});
