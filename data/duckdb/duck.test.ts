// Rows that the build reads from DuckDB.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Duck, quotedText } from './duck.ts';

const folder = mkdtempSync(join(tmpdir(), 'duck-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('values returns any text, missing values, and more rows than one chunk has', async () => {
  const texts = ['', 'a,b]', '"quoted" \\', 'line\nand\ttab', '\u2028', 'Zürich 東京 🛫', "it's"];
  const duck = await Duck.open(folder, 1);
  try {
    const list = texts.map(quotedText).join(', ');
    const rows: unknown[][] = [];
    const query = 'FROM range(5000) t(n) ORDER BY n';
    const cells = ['n', `[${list}][1 + n % ${texts.length}]`, 'NULL::VARCHAR'];
    for await (const some of duck.values(cells, query)) rows.push(...some);
    expect(rows).toEqual(Array.from({ length: 5000 }, (_, n) => [n, texts[n % texts.length], null]));
  } finally {
    duck.close();
  }
});
