// Rows that the build reads from DuckDB.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Duck, quotedText } from './duck.ts';

const TEXTS = ['', 'a,b]', '"quoted" \\', 'line\nand\ttab', '\u0000', '\u2028', 'Zürich 東京 🛫', "it's"];
const LIST = TEXTS.map(quotedText).join(', ').replaceAll(quotedText('\u0000'), 'chr(0)');

const folder = mkdtempSync(join(tmpdir(), 'duck-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('values returns any text, missing values, and more rows than one chunk has', async () => {
  const duck = await Duck.open(folder, 1);
  try {
    const rows: unknown[][] = [];
    const query = 'FROM range(5000) t(n) ORDER BY n';
    const cells = ['n', `[${LIST}][1 + n % ${TEXTS.length}]`, 'NULL::VARCHAR'];
    for await (const some of duck.values(cells, query)) rows.push(...some);
    expect(rows).toEqual(Array.from({ length: 5000 }, (_, n) => [n, TEXTS[n % TEXTS.length], null]));
  } finally {
    duck.close();
  }
});

test('ordered returns the values of all rows by ordinal, lists and missing ones too', async () => {
  const duck = await Duck.open(folder, 2);
  try {
    // The rows are in another order than their ordinals.
    const text = `[${LIST}][1 + ord % ${TEXTS.length}]`;
    const table = `(SELECT ord, if(ord % 3 = 0, NULL, [${text}, 'x']) AS list FROM (SELECT 19999 - n AS ord FROM range(20000) t(n)))`;
    const read = async (expression: string) => {
      const values: unknown[] = [];
      for await (const some of duck.ordered(expression, table)) values.push(...some);
      return values;
    };
    const lists = Array.from({ length: 20_000 }, (_, n) => (n % 3 === 0 ? null : [TEXTS[n % TEXTS.length], 'x']));
    expect(await read('list')).toEqual(lists);
    expect(await read('list[1]')).toEqual(lists.map((list) => list?.[0] ?? null));
    expect(await read('json_array(ord, list[2])')).toEqual(lists.map((list, n) => [n, list?.[1] ?? null]));
  } finally {
    duck.close();
  }
});
