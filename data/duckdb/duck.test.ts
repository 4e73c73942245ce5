// Rows that the build reads from DuckDB.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { Duck, quotedText, rowGroup, setDuckMemory } from './duck.ts';

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

describe('memory', () => {
  const MIB = 2 ** 20;
  afterEach(() => setDuckMemory(undefined));

  /** Runs `use` in a database with this many MiB. */
  async function withMemory<T>(mebibytes: number, use: (duck: Duck) => Promise<T>): Promise<T> {
    setDuckMemory(mebibytes * MIB);
    const duck = await Duck.open(join(folder, 'spill'), 1);
    try {
      return await use(duck);
    } finally {
      duck.close();
    }
  }

  /** Rows of many columns of texts, as a wide dataset has with its provenance. */
  const wide = (columns: number, rows: number) => {
    const cells = Array.from({ length: columns }, (_, i) => `'text ' || (n * ${i + 7} % 997) AS c${i}`);
    return `SELECT ${cells.join(', ')} FROM range(${rows}) t(n)`;
  };

  test('a file of 300 columns of texts is written with 256 MB, with equal bytes whatever the memory', async () => {
    const write = (mebibytes: number) =>
      withMemory(mebibytes, async (duck) => {
        const path = join(folder, `wide-${mebibytes}.parquet`);
        expect(await duck.parquet(wide(300, 10_000), path)).toBe(10_000);
        return (await duck.rows(`SELECT sha256(content) FROM read_blob(${quotedText(path)})`))[0]![0];
      });
    expect(await write(256)).toBe(await write(1024));
  });

  test('a sort that does not fit is spilled, and leaves no file behind', async () => {
    const rows = await withMemory(128, (duck) =>
      duck.lines(
        "SELECT hash(n)::VARCHAR || repeat('x', 100) FROM range(3000000) t(n) ORDER BY 1",
        join(folder, 'sorted'),
      ),
    );
    expect(rows).toBe(3_000_000);
    expect(readdirSync(join(folder, 'spill'))).toEqual([]);
  });

  test('an error names the file, the limit, the setting', async () => {
    const path = join(folder, 'few.parquet');
    const limit = 'needs more than 8 MB, the bound of one database of a nightly run: set DUCKDB_MEMORY to more';
    const written = withMemory(8, (duck) => duck.parquet(wide(300, 4096), path));
    await expect(written).rejects.toThrow(`writing few.parquet ${limit}, or use more memory`);
    await withMemory(256, (duck) => duck.parquet(wide(40, 100_000), path));
    const read = withMemory(8, (duck) => duck.rows(`SELECT list(t) FROM read_parquet(${quotedText(path)}) t`));
    await expect(read).rejects.toThrow(`a query of few.parquet ${limit}`);
  });

  test('row groups have at most 80 MB of rows, and whole vectors', () => {
    expect(rowGroup(3436 * 172_257, 172_257)).toBe(20_480);
    expect(rowGroup(8229 * 25_000, 25_000)).toBe(8192);
    expect(rowGroup(10 ** 9, 1000)).toBe(2048);
    expect(rowGroup(0, 0)).toBe(2048);
  });
});
