// The console without a browser: addresses, suggested charts, texts and files of results, history.
import { describe, expect, test } from 'vitest';
import { consoleFragment, readConsole } from './address.ts';
import type { ResultColumn, ResultRow } from './cells.ts';
import { fittingChart, suggestChart } from './chart.ts';
import { fileOf, resultText } from './export.ts';
import { QueryHistory } from './history.ts';

const column = (name: string, kind: ResultColumn['kind'], more: Partial<ResultColumn> = {}): ResultColumn => {
  return { name, kind, integer: false, day: false, ...more };
};

test('a query and its chart in the fragment are read back unchanged', () => {
  for (const sql of ['SELECT 1', 'SELECT \'#&=+%\' AS "a b"\nFROM records -- ü'])
    for (const chart of [null, { kind: 'line', x: 'a b', y: '#&', color: '' } as const])
      expect(readConsole(consoleFragment({ sql, chart }))).toEqual({ sql, chart });
  expect(readConsole('')).toBeNull();
  expect(readConsole('#q=1&chart=cake')).toEqual({ sql: '1', chart: null });
});

describe('the suggested chart', () => {
  const suggestion = (columns: ResultColumn[], rows: ResultRow[] = []) => {
    const { kind, x, y, color } = suggestChart(columns, rows) ?? { kind: null, x: '', y: '', color: '' };
    return [kind, x, y, color];
  };
  const [name, height, depth, day] = [
    column('name', 'text'),
    column('height', 'number'),
    column('depth', 'number'),
    column('day', 'time'),
  ];
  test.for([
    ['a time and a number', [day, height], ['line', 'day', 'height', '']],
    ['a category and a number', [name, height], ['bar', 'name', 'height', 'none']],
    ['one number', [height], ['histogram', 'height', '', '']],
    ['two numbers', [height, depth], ['dot', 'height', 'depth', '']],
    [
      'coordinates',
      [column('location.lat', 'number'), column('location.lng', 'number')],
      ['map', 'location.lng', 'location.lat', ''],
    ],
    ['no number', [name], [null, '', '', '']],
  ] as const)('%s', ([, columns, expected]) => {
    expect(suggestion([...columns])).toEqual(expected.map((part) => (part === 'none' ? '' : part)));
  });
  test('lines by series when times repeat', () => {
    const rows: ResultRow[] = Array.from({ length: 40 }, (_, at) => ['2026-01-01', `name ${at}`, at]);
    expect(suggestion([day, name, height], rows)).toEqual(['line', 'day', 'height', 'name']);
  });
  test('a chart of the address whose columns are missing becomes one that fits', () => {
    const choice = { kind: 'line', x: 'gone', y: 'height', color: '' } as const;
    expect(fittingChart(choice, [name, height], [])).toMatchObject({ kind: 'bar', x: 'name', y: 'height' });
  });
});

describe('a result', () => {
  const columns = [
    column('name', 'text'),
    column('height', 'number', { integer: true }),
    column('day', 'time', { day: true }),
    column('at', 'time'),
    column('tags', 'other'),
  ];
  const rows: ResultRow[] = [
    ['a | b', 3, '2026-01-02', '2026-01-02 03:04:05', ['x']],
    [null, null, null, null, null],
  ];
  test('as Markdown, CSV and JSON text', () => {
    expect(resultText('markdown', columns, rows)).toBe(
      '| name | height | day | at | tags |\n| --- | --: | --- | --- | --- |\n| a \\| b | 3 | 2026-01-02 | 2026-01-02 03:04:05 | ["x"] |\n|  |  |  |  |  |\n',
    );
    expect(resultText('csv', columns, rows).split('\r\n')[1]).toBe('a | b,3,2026-01-02,2026-01-02 03:04:05,"[""x""]"');
    expect(JSON.parse(resultText('json', columns, rows))).toEqual(
      rows.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at]]))),
    );
  });

  test('as files', async () => {
    const json = fileOf('json', columns, rows);
    expect([json.type, JSON.parse(await json.text())]).toEqual(['application/json', expect.any(Array)]);
    const csv = await fileOf('csv', columns, [['a, "b"', 12, null, null, [1, 2]]]).text();
    expect(csv).toBe('name,height,day,at,tags\r\n"a, ""b""",12,,,"[1,2]"\r\n');
  });
});

test('the history has the newest 50 queries once each, and works without storage', () => {
  const history = new QueryHistory('lanterns');
  for (let at = 0; at < 60; at++) history.add({ sql: `SELECT ${at % 55}`, at, rows: 1 });
  expect(history.queries).toHaveLength(50);
  expect(history.queries[0]).toEqual({ sql: 'SELECT 4', at: 59, rows: 1 });
  expect(history.queries.filter(({ sql }) => sql === 'SELECT 4')).toHaveLength(1);
  history.remove('SELECT 4');
  expect(history.queries).toHaveLength(49);
  history.clear();
  expect(history.queries).toEqual([]);
});
