// The command of pack authors: summaries, mistakes, skeletons, exit codes.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { runPackCommand } from './pack.ts';

let temp: string;
beforeAll(async () => {
  temp = await mkdtemp(join(tmpdir(), 'pack-'));
});
afterAll(() => rm(temp, { recursive: true }));

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
  expect(printed).toContain('docs/packs.md, "collect.ts"');

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

test('try shows records, provenance, rejected values, the answer of the API and the page', async () => {
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
  expect(printed).toMatch(
    /price\.list\s+0\.5 EUR\/piece {3}\(\d{4}-\d\d-\d\d, confidence 0\.9, line 3 of things\.csv, https/,
  );
  expect(printed).toMatch(/GET \/v1\/chimes\/entities\/\S+ answers:\n\{/);
  expect(printed).toMatch(/\n {2}"attributes": \{\n {4}"name": "Thing \d+",\n/);
  expect(printed).toMatch(/\n {4}"price\.list": \{"source_url":"https.*"line \d of things\.csv".*\},?\n/);
  expect(printed).not.toContain('<scratch>');
  expect(printed).toContain('The page of the record');
  expect(await shell(['try', 'packs/chimes', '--source', 'nope'])).toEqual([
    2,
    "there is no source 'nope'; the pack has example",
  ]);
});
