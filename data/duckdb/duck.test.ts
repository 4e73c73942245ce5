// Rows that the build reads from DuckDB.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { batchMemory, Duck, memoryShortage, quotedText, rowGroup, setDuckMemory } from './duck.ts';

const TEXTS = ['', 'a,b]', '"quoted" \\', 'line\nand\ttab', '\u0000', '\u2028', 'Zürich 東京 🛫', "it's"];
const LIST = TEXTS.map(quotedText).join(', ').replaceAll(quotedText('\u0000'), 'chr(0)');

const folder = scratchOfAll();

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

  test('a batch of records needs memory for five copies', () => {
    expect(batchMemory(2000 * 50_000, 2000)).toBe(500_000_000);
    expect(batchMemory(20_000 * 50_000, 20_000)).toBe(512_000_000);
    expect(batchMemory(0, 0)).toBe(0);
  });

  test('a table that a night cannot hold gives both figures', () => {
    vi.spyOn(process, 'constrainedMemory').mockReturnValue(2 * 2 ** 30);
    expect(memoryShortage(60_000, 40, 20_000_000)).toBeNull();
    const [many, wide] = [memoryShortage(200_000, 400, 600_000_000), memoryShortage(20_000, 3, 20_000 * 200_000)];
    expect(many).toMatch(/^a night needs about [7-9]\.\d GB of memory, and this machine has 2\.0 GB/);
    expect(wide).toMatch(/^a night needs about [2-9]\.\d GB of memory/);
  });

  test('statements that lack memory run again with half of the memory, one after the other', async () => {
    const duck = await Duck.open(join(folder, 'spill'), 2);
    try {
      const limit = async () =>
        (await duck.rows("SELECT current_setting('memory_limit'), current_setting('threads')"))[0]!;
      const bytes = async () =>
        (await duck.rows(`SELECT sum(octet_length(content)) FROM read_blob('${join(folder, 'again-*')}')`))[0]![0];
      const write = (name: string) => duck.parquet(wide(100, 20_000), join(folder, `again-${name}`));
      expect(await write('0')).toBe(20_000);
      const once = await bytes();
      const before = await limit();
      await duck.run("SET memory_limit = '20MB'");
      expect(await Promise.all(['1', '2', '3'].map(write))).toEqual([20_000, 20_000, 20_000]);
      const after = await limit();
      expect(after).not.toEqual(before);
      expect(after[1]).toBe(1n);
      expect(await bytes()).toBeGreaterThan(Number(once) * 3);
      await duck.run("SET memory_limit = '12MB'");
      const lists: unknown[] = [];
      const table = `(SELECT c0, row_number() OVER () - 1 AS ord FROM (${wide(1, 20_000)}))`;
      for await (const values of duck.ordered('repeat(c0, 200)', table)) lists.push(...values);
      expect(lists).toHaveLength(20_000);
      expect(await limit()).toEqual(after);
    } finally {
      duck.close();
    }
  });

  test('row groups have at most 80 MB of rows, and whole vectors', () => {
    expect(rowGroup(3436 * 172_257, 172_257)).toBe(20_480);
    expect(rowGroup(8229 * 25_000, 25_000)).toBe(8192);
    expect(rowGroup(10 ** 9, 1000)).toBe(2048);
    expect(rowGroup(0, 0)).toBe(2048);
  });
});
