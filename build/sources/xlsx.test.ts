// Workbooks: sheets, dates of both systems, titles, formats, formulas, errors and mistakes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type WriteOptions, writeXlsx } from 'hucre/xlsx';
import { expect, test } from 'vitest';
import { xlsx } from '../../packs/define/sources.ts';
import { scratch } from '../../tests/support/night-pack.ts';
import { declaredAs, objectsOf, readAll, sourceContext } from '../../tests/support/source-context.ts';
import { READERS } from './readers.ts';

const at = (text: string) => new Date(`${text}Z`);

/** Reads a workbook that is written with these options. */
async function read(book: WriteOptions, options: Parameters<typeof xlsx>[1] = {}) {
  const folder = scratch();
  writeFileSync(join(folder, 'book.xlsx'), await writeXlsx(book));
  const { context } = sourceContext(folder);
  const versions = READERS.xlsx(declaredAs('xlsx', xlsx('book.xlsx', options)), context);
  const details: { formats: Record<string, string>; notes: readonly string[] }[] = [];
  async function* watched() {
    for await (const version of versions) {
      yield version;
      details.push({ formats: Object.fromEntries(version.formats ?? []), notes: version.notes ?? [] });
    }
  }
  const [version] = await readAll(watched());
  return {
    rows: objectsOf(version!),
    lines: version!.rows.map(({ line }) => line),
    columns: version!.columns,
    ...details[0]!,
  };
}

const PRICES = [
  ['Price list 2026', null, null],
  [null, null, null],
  ['product', 'price', 'from'],
  ['Sencha', 8.9, at('2026-11-20T00:00:00')],
  [null, null, null],
  ['Rooibos', 6.1, at('2026-11-12T09:15:00')],
];

test('a title above the table, blank rows, days and times; the line is the row of the sheet', async () => {
  const merges = [{ startRow: 0, startCol: 0, endRow: 0, endCol: 2 }];
  const columns = [{}, {}, { numFmt: 'yyyy-mm-dd hh:mm' }];
  const { rows, lines, notes } = await read({ sheets: [{ name: 'Prices', rows: PRICES, merges, columns }] });
  expect(rows).toEqual([
    { product: 'Sencha', price: 8.9, from: '2026-11-20' },
    { product: 'Rooibos', price: 6.1, from: '2026-11-12T09:15:00' },
  ]);
  expect(lines).toEqual([4, 6]);
  expect(notes).toEqual([]);
});

test('dates of the system of 1904 are the same days', async () => {
  const { rows } = await read({ dateSystem: '1904', sheets: [{ name: 'Prices', rows: PRICES }] });
  expect(rows.map((row) => row['from'])).toEqual(['2026-11-20', '2026-11-12T09:15:00']);
});

test('the first visible sheet with a table is read; others and hidden ones are named; a sheet is chosen by name', async () => {
  const sheets = [
    { name: 'Old', hidden: true, rows: [['id'], ['a']] },
    { name: 'About', rows: [] },
    { name: 'R&D', rows: [['id'], ['b']] },
    { name: 'More', rows: [['id'], ['c']] },
  ];
  const first = await read({ sheets });
  expect(first.rows).toEqual([{ id: 'b' }]);
  expect(first.notes).toEqual(['the sheet R&D of book.xlsx is read (not read: About, More; hidden and not read: Old)']);
  const chosen = await read({ sheets }, { sheet: 'Old' });
  expect([chosen.rows, chosen.notes]).toEqual([[{ id: 'a' }], []]);
  await expect(read({ sheets }, { sheet: 'Mor' })).rejects.toThrow("it has no sheet 'Mor'");
});

test('stored values of formulas are read; a formula without one is missing and named, and so are errors', async () => {
  const cells = new Map([
    ['1,1', { value: 3, type: 'formula' as const, formula: 'A2*3', formulaResult: 3 }],
    ['2,1', { value: null, type: 'formula' as const, formula: 'A3*3' }],
    ['3,1', { value: '#DIV/0!', type: 'error' as const }],
  ]);
  const rows = [
    ['n', 'triple'],
    [1, null],
    [2, null],
    [3, null],
  ];
  const result = await read({ sheets: [{ name: 'S', rows, cells }] });
  expect(result.rows).toEqual([{ n: 1, triple: 3 }, { n: 2 }, { n: 3 }]);
  expect(result.notes).toEqual([
    '1 formula in the sheet S of book.xlsx has no stored value and is missing, such as B3; open the file in a spreadsheet program and save it, so that values are stored',
    '1 cell of book.xlsx with an error is missing, such as #DIV/0! in column triple, row 4',
  ]);
});

test('number formats of columns that have one', async () => {
  const columns = [{}, { numFmt: '0%' }, { numFmt: '#,##0.00 "€"' }];
  const rows = [
    ['id', 'share', 'price'],
    ['a', 0.25, 4.5],
    ['b', 0.5, 5],
  ];
  const { formats } = await read({ sheets: [{ name: 'S', rows, columns }] });
  expect(formats).toEqual({ share: '0%', price: '#,##0.00 "€"' });
});

test('mistakes are named', async () => {
  await expect(
    read({
      sheets: [
        {
          name: 'S',
          rows: [
            ['a', 'a'],
            [1, 2],
          ],
        },
      ],
    }),
  ).rejects.toThrow("the header in row 1 of sheet S has two columns 'a'; rename one");
  await expect(read({ sheets: [{ name: 'S', rows: [] }] })).rejects.toThrow('no sheet has a header and a row');
  const folder = scratch();
  writeFileSync(join(folder, 'book.xlsx'), 'id,name');
  const versions = READERS.xlsx(declaredAs('xlsx', xlsx('book.xlsx')), sourceContext(folder).context);
  await expect(readAll(versions)).rejects.toThrow(
    'book.xlsx: it is no zip archive, or is incomplete; expected an .xlsx',
  );
  await expect(read({ sheets: [{ name: 'S', rows: PRICES }] }, { max_bytes: 100 })).rejects.toThrow(
    'more than 100 bytes when unpacked, the most that the source declares (max_bytes)',
  );
});
