// The command of pack authors: summaries, mistakes, skeletons, exit codes.
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { runPackCommand } from './pack.ts';
import { proposePrices } from './price.ts';

const temp = scratchOfAll();

/** Returns the exit code and the printed lines of a call from `cwd`. */
async function shell(args: string[], cwd = temp): Promise<[number, string]> {
  const lines: string[] = [];
  const code = await runPackCommand(args, { cwd, log: (line) => lines.push(line), environment: {} });
  return [code, lines.join('\n').replaceAll(temp, '<temp>')];
}

test('check summarises a valid pack', async () => {
  expect(await shell(['check', 'tests/packs/tools'], resolve('.'))).toEqual([
    0,
    'tools: no mistakes. 17 attributes (12 public), 2 sources (5 pins), 2 samples, 4 tests, collected at 0 3 * * * UTC.',
  ]);
});

test('new writes a pack that passes check and reads its own source; a second call of new is refused', async () => {
  const [code, printed] = await shell(['new', 'bell-towers']);
  expect([code, printed]).toEqual([0, expect.stringContaining('Wrote <temp>/packs/bell-towers')]);
  const folder = join(temp, 'packs', 'bell-towers');
  expect((await readdir(folder)).sort()).toEqual(
    ['collect.ts', 'fixtures', 'guide.md', 'pack.ts', 'record.md', 'samples.json'].sort(),
  );
  expect(await shell(['check', 'packs/bell-towers'])).toEqual([
    0,
    expect.stringMatching(
      /^bell-towers: no mistakes\..+\nNot replaced yet, still the text of the skeleton: description in pack\.ts, .+, guide\.md\.$/,
    ),
  ]);
  const [, guide] = /in collect\.ts: (\S+), "collect\.ts"/.exec(printed)!;
  expect(await readFile(guide!, 'utf8')).toContain('## collect.ts');

  const pack = await loadPack(folder);
  expect(pack.title).toBe('Bell towers');
  const pin = pack.sources[0]!.pins[1]!;
  const reading = { ...pin, source: 'example', folder: join(folder, 'fixtures', pin.package, pin.version) };
  const context = { folder: async () => '', log: () => {} };
  const names: unknown[] = [];
  for await (const observed of pack.collector.read(reading, context)) names.push(observed.identity['name']);
  expect(names).toEqual(['First thing', 'Second thing', 'Third thing']);

  await writeFile(join(folder, 'guide.md'), 'mine');
  expect((await shell(['check', 'packs/bell-towers']))[1]).not.toContain('guide.md');
  expect(await shell(['new', 'bell-towers'])).toEqual([
    1,
    '<temp>/packs/bell-towers already exists and was not changed',
  ]);
  expect(await readFile(join(folder, 'guide.md'), 'utf8')).toBe('mine');
});

test('new takes a path, and refuses names that cannot be a dataset', async () => {
  expect((await shell(['new', './elsewhere/gates']))[0]).toBe(0);
  expect((await shell(['check', 'elsewhere/gates']))[0]).toBe(0);
  for (const name of ['keys', 'My Pack', '9lives', '..']) expect((await shell(['new', name]))[0]).toBe(1);
});

test('check prints mistakes, those in templates included, and fails', async () => {
  await shell(['new', './wrong/gates']);
  await writeFile(join(temp, 'wrong/gates/record.md'), '{% if %}{% for %}');
  const [code, printed] = await shell(['check', 'wrong/gates']);
  expect(code).toBe(1);
  expect(printed).toContain('<temp>/wrong/gates/record.md: line 1, column 6\n  found');
  expect(await shell(['check', 'nowhere'])).toEqual([1, expect.stringContaining('no such folder')]);
});

test('check warns, and succeeds', async () => {
  await shell(['new', './warned/gates']);
  const file = join(temp, 'warned/gates/pack.ts');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace(/^ {2}gone: .+$/m, "  owner: { domain: 'name' },"));
  const [code, printed] = await shell(['check', 'warned/gates']);
  expect(code).toBe(0);
  expect(printed.match(/^Warning: .+$/gm)).toEqual([
    expect.stringContaining('owner.domain is set and no attribute is editable'),
    expect.stringContaining('sources.example.complete is true and gone is not set'),
  ]);
});

test('any other call prints the usage', async () => {
  for (const args of [[], ['check'], ['new'], ['chekc', 'x'], ['check', 'a', 'b']]) {
    expect(await shell(args)).toEqual([2, expect.stringContaining('npm run pack -- check <folder>')]);
  }
});

test('price needs a release, a target above 0 and calls', async () => {
  await shell(['new', 'bells']);
  expect(await shell(['price', 'bells', '--target', '20'])).toEqual([
    1,
    'bells has no release to count; npm run nightly -- --only bells builds one',
  ]);
  expect(await shell(['price', 'gongs', '--target', '20'])).toEqual([1, expect.stringContaining('<temp>/gongs')]);
  for (const flags of [[], ['--target', '0'], ['--target', '5', '--calls', '0.5'], ['--target', 'x'], ['--goal', '5']])
    expect((await shell(['price', 'bells', ...flags]))[0], flags.join(' ')).toBe(2);
});

test('proposed prices yield the target within their rounding, are prices of a pack, and grow with the records', async () => {
  const pack = await loadPack(resolve('tests/packs/harbours'));
  for (const [target, calls] of [
    [20, 1],
    [50, 8000],
    [1000, 3_000_000],
    [0.5, 100_000],
  ] as const)
    for (const records of [0, 1, 400, 28_000, 5_000_000]) {
      const prices = proposePrices(pack, { records, target, calls });
      const yielded = prices.reduce((sum, { share, proposed }) => sum + share * calls * proposed, 0);
      expect(Math.abs(yielded / target - 1)).toBeLessThan(0.1);
      for (const { proposed } of prices) expect(Number(proposed.toFixed(6))).toBe(proposed);
    }
  const price = (records: number) =>
    Object.fromEntries(
      proposePrices(pack, { records, target: 100, calls: 10_000 }).map(({ name, proposed }) => [name, proposed]),
    );
  expect(price(100)).toEqual({ search: 0.0095, get: 0.0057, facts: 0.011, compare: 0.017, stats: 0.017 });
  const large = price(1_000_000);
  expect([large['search']! / large['get']!, large['stats']! / large['get']!].map(Math.round)).toEqual([3, 7]);
});

test('names that SQL or a later version uses are refused, unless the dataset has a release', async () => {
  await shell(['new', 'chimes']);
  const named = async (id: string) => {
    await cp(join(temp, 'packs', 'chimes'), join(temp, 'packs', id), { recursive: true });
    const answer = await shell(['check', `packs/${id}`]);
    await rm(join(temp, 'packs', id), { recursive: true });
    return answer;
  };
  expect(await named('chimes-history')).toEqual([1, expect.stringContaining('would be named like those of chimes')]);
  expect(await named('ogc')).toEqual([
    1,
    expect.stringContaining('sql, search, quote, fetch, account, ogc are reserved'),
  ]);
  expect(await shell(['new', 'quote'])).toEqual([1, expect.stringContaining("'quote' is not a valid dataset id")]);
  await mkdir(join(temp, 'data/var/releases/ogc'), { recursive: true });
  await writeFile(join(temp, 'data/var/releases/ogc/current'), '0123456789abcdef\n');
  expect(await named('ogc')).toEqual([
    0,
    expect.stringContaining('Warning: the name ogc is reserved; the dataset keeps it'),
  ]);
});

test('try shows a table of records, the provenance once, rejected values and the balance of cells', async () => {
  await shell(['new', 'chimes']);
  const folder = join(temp, 'packs', 'chimes');
  const settings = await readFile(join(folder, 'pack.ts'), 'utf8');
  const pins = settings.slice(
    settings.indexOf('      // Empty integrity'),
    settings.indexOf('    },\n  },\n  attributes'),
  );
  const from = "      from: csv('things.csv', { attributes: { 'price.list': { column: 'Price', decimal: ',' } } }),\n";
  const declared = settings.replace(pins, from).replace('{ definePack }', '{ csv, definePack }');
  await writeFile(join(folder, 'pack.ts'), declared);
  await rm(join(folder, 'collect.ts'));
  const rows = Array.from({ length: 50 }, (_, i) => `Thing ${i},small,listed,"${i},5"`);
  await writeFile(
    join(folder, 'things.csv'),
    ['name,kind,status,Price', 'Odd one,small,listed,cheap', ...rows].join('\n'),
  );
  const [code, printed] = await shell(['try', 'packs/chimes', '--rows', '5']);
  expect(code).toBe(1);
  expect(printed).toContain('Records: 5');
  expect(printed).toContain(`! example: 1 of 5 values of price.list in things.csv (`);
  expect(printed).toContain(`price.list in line 2, column Price, is "cheap", expected a number with ',' as decimal`);
  expect(printed.split('"cheap"').length).toBe(2);
  expect(printed).toContain('With these rows, the nightly run would stop');
  expect(printed).toMatch(/\n {2}price\.list \(EUR\/piece\) {2}2\.5 +1\.5 +0\.5\n/);
  // Where the values are from is printed once, for one record.
  expect(printed.match(/, confidence /g)).toHaveLength(1);
  expect(printed).toMatch(/\n {2}name, kind, status, price\.list: line 5 of things\.csv, https.*, confidence 0\.9\n/);
  expect(printed).toContain('example: 20 cells read = 19 published + 1 rejected');
  expect(printed).not.toContain('<scratch>');
  expect(await shell(['try', 'packs/chimes', '--source', 'nope'])).toEqual([
    2,
    "there is no source 'nope'; the pack has example",
  ]);
});
