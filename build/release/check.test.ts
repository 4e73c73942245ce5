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
type Row = { name?: string; status?: string; mass?: number; tags?: string[] };

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
  test.each(CASES)('%j', async (asked, said) => {
    expect(await checkRelease(pack([asked]), await release(rows), null)).toEqual(said === null ? [] : [said]);
  });
});

describe('compared with the release before', () => {
  const compared = async (earlier: Row[], now: Row[], revision = 1) =>
    checkRelease(pack(), await release(now), { folder: await release(earlier), revision });
  const before = many(100, full);

  test('nothing changed', async () => {
    expect(await compared(before, before)).toEqual([]);
  });

  test('lost records: up to three, or two in a hundred', async () => {
    expect(await compared(before, before.slice(0, 97))).toEqual([]);
    expect(await compared(before, before.slice(0, 96))).toEqual(['4 of 100 records are missing']);
    const thousand = many(1000, full);
    expect(await compared(thousand, thousand.slice(0, 980))).toEqual([]);
    expect(await compared(thousand, thousand.slice(0, 979))).toEqual(['21 of 1000 records are missing']);
  });

  test('emptied attributes: a fifth of their values', async () => {
    const emptied = (n: number) => before.map((row, i) => (i < n ? { ...row, mass: undefined } : row)) as Row[];
    expect(await compared(before, emptied(20))).toEqual([]);
    expect(await compared(before, emptied(21))).toEqual(['mass: 21 of 100 values are missing']);
    const few = many(4, full);
    expect(
      await compared(
        few,
        few.map((row, i) => (i < 3 ? { name: row.name! } : row)),
      ),
    ).toEqual([]);
  });

  test('shifted values: more than half of at least twenty, unless the revision of the pack changed', async () => {
    const shifted = (n: number) => before.map((row, i) => (i < n ? { ...row, mass: row.mass! * 100 } : row));
    expect(await compared(before, shifted(50))).toEqual([]);
    expect(await compared(before, shifted(51))).toEqual(['mass: 51 of 100 values changed in one night']);
    expect(await compared(before, shifted(100), 0)).toEqual([]);
    expect(await compared(before.slice(0, 19), shifted(19).slice(0, 19))).toEqual([]);
  });

  test('records with a new `gone` value: a fifth', async () => {
    const gone = (n: number) => before.map((row, i) => (i < n ? { ...row, status: 'gone' } : row));
    expect(await compared(before, gone(20))).toEqual([]);
    expect(await compared(before, gone(21))).toEqual(['21 of 100 records are newly gone']);
    expect(await compared(gone(90), gone(95))).toEqual([]);
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
