// Rows of a declared source as observations: points, functions, templates, times, and mistakes with their line.
import { expect, test } from 'vitest';
import type { Pack } from '../../packs/define/model.ts';
import { csv, DeclaredSourceShape } from '../../packs/define/sources.ts';
import { scratch, stonesPack } from '../../tests/support/night-pack.ts';
import { type DeclaringSource, RowParser, refuseUnread, unreadColumns } from './rows.ts';

const NOW = Date.UTC(2026, 10, 20);
const COLUMNS = ['code', 'name', 'mass', 'lat', 'lon', 'checked'];

function stage(options: Parameters<typeof csv>[1], columns = COLUMNS) {
  const pack: Pack = stonesPack(scratch(), { shop: { '01-01': [] } });
  const source = {
    ...pack.sources[0]!,
    from: DeclaredSourceShape.parse(csv('a/stones.csv', options)),
  } as DeclaringSource;
  const reports: unknown[] = [];
  const report = { reject: (each: unknown) => reports.push(each), brokenRow: (each: unknown) => reports.push(each) };
  const parser = new RowParser(pack, source, { name: 'a/stones.csv', columns, now: NOW }, report);
  const observe = (...cells: unknown[]) => parser.observation({ line: 7, cells });
  return { pack, source, observe, reports };
}

test('columns, a point and a function give values; the page and the evidence are templates', () => {
  const { observe, reports } = stage({
    attributes: {
      place: { lat: 'lat', lng: 'lon' },
      tags: (row) => [String(row['name']), 'stone'],
      status: { constant: 'here' },
    },
    source_url: 'https://stones.example/{code}?q={name}',
    evidence: 'entry {code}, {nothing}seen',
  });
  expect(observe('a/1', 'Blue agate', '2', '1.5', '-2', '')).toEqual({
    identity: { code: 'a/1' },
    values: {
      code: 'a/1',
      name: 'Blue agate',
      mass: 2,
      place: { lat: 1.5, lng: -2 },
      tags: ['Blue agate', 'stone'],
      status: 'here',
    },
    source_url: 'https://stones.example/a%2F1?q=Blue%20agate',
    evidence: 'entry a/1, seen',
    line: 7,
  });
  expect(reports).toEqual([]);
});

test('a cell that is no value is reported with line, column and text; the rest of the row counts', () => {
  const { observe, reports } = stage({ attributes: { place: { lat: 'lat', lng: 'lon' } } });
  const observed = observe('a', 'Agate', '0x10', '1.5', '', '');
  expect(observed).toMatchObject({ values: { code: 'a', name: 'Agate' }, evidence: 'line 7 of stones.csv' });
  expect(Object.keys(observed!.values)).toEqual(['code', 'name']);
  expect(reports).toEqual([
    { attribute: 'mass', line: 7, column: 'mass', text: '0x10', expected: "a number with '.' as decimal sign" },
    { attribute: 'place', line: 7, column: 'lat, lon', text: '1.5, ', expected: 'both coordinates of a point' },
  ]);
});

test('a row has its own time; one in the future, or none, is a broken row', () => {
  const { observe, reports } = stage({ observed_at: { column: 'checked', date: 'DD.MM.YYYY' } });
  expect(observe('a', '', '', '', '', '19.11.2026')?.observed_at).toBe(Date.UTC(2026, 10, 19));
  expect(observe('a', '', '', '', '', '21.11.2026')).toBeNull();
  expect(observe('a', '', '', '', '', 'soon')).toBeNull();
  expect(observe('a', '', '', '', '', undefined)).toBeNull();
  expect(reports).toEqual([
    { line: 7, text: 'checked: 21.11.2026', expected: 'a time that is not in the future' },
    { line: 7, text: 'checked: soon', expected: 'a time, DD.MM.YYYY' },
    { line: 7, text: 'checked: ', expected: 'a time, DD.MM.YYYY' },
  ]);
});

test('a function that throws is a mistake of the pack, with attribute and line', () => {
  const { observe } = stage({
    attributes: {
      mass: () => {
        throw new Error('no scales');
      },
    },
  });
  expect(() => observe('a', 'Agate')).toThrow(
    'attributes.mass of source shop throws at line 7 of a/stones.csv: no scales',
  );
});

test('unread columns are named, and refused only when the columns must be exact', () => {
  const { pack, source } = stage({ columns: 'exact' });
  const version = { name: 'stones.csv', columns: [...COLUMNS, 'Stock'] };
  const unread = unreadColumns(pack, source, version);
  expect(unread).toEqual(['lat', 'lon', 'checked', 'Stock']);
  expect(() => refuseUnread(source, 'stones.csv', unread)).toThrow("stones.csv has columns that nothing reads: 'lat'");
  expect(() => refuseUnread(source, 'stones.csv', [])).not.toThrow();
});

test('declared columns that are missing are named together, each with the nearest', () => {
  const { pack, source } = stage({ attributes: { name: 'nmae', mass: { column: 'weight' } } });
  expect(() => unreadColumns(pack, source, { name: 'stones.csv', columns: COLUMNS })).toThrow(
    "stones.csv has no column 'nmae' for name (nearest 'name'), no column 'weight' for mass; its columns are 'code'",
  );
});

test('damaged letters in the names of columns mean another encoding', () => {
  const { pack, source } = stage({ attributes: { name: 'Größe' } });
  const columns = ['code', 'Gr\uFFFD\uFFFDe'];
  expect(() => unreadColumns(pack, source, { name: 'stones.csv', columns })).toThrow(
    "; the file is not utf-8: set encoding, such as 'windows-1252', or save it as utf-8",
  );
});
