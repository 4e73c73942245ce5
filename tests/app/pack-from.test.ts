// `npm run pack -- from`: packs from generated files of each kind pass the check; errors name what to do.
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { runPackCommand } from '../../build/cli/pack.ts';
import { Web } from '../../build/crawl/web.ts';
import { loadPack } from '../../packs/define/load.ts';
import { zipOf } from '../support/dirty-tables.ts';

let temp: string;
beforeAll(async () => {
  temp = await mkdtemp(join(tmpdir(), 'pack-from-'));
});
afterAll(() => rm(temp, { recursive: true }));

const LEGAL = ['--license', 'CC-BY-4.0', '--attribution', 'The Society of Imaginary Ringers', '--yes'];

/** Exit code and output of `pack from` in the temporary folder. */
async function from(
  args: string[],
  prompt: ((question: string) => Promise<string>) | null = null,
  more: Record<string, string> = {},
) {
  const now = () => new Date('2026-11-20T00:00:00Z');
  const options = { allowed: () => true, ports: null, sign: null, base_url: 'https://register.example', now };
  const web = async () => new Web({ ...options, wait: async () => {}, random: () => 0.5 });
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const code = await runPackCommand(['from', ...args], {
    cwd: temp,
    log,
    environment: { API_KEY: 'geheim-4711', ...more },
    web,
    prompt,
  });
  return { code, printed: lines.join('\n').replaceAll(temp, '<temp>') };
}

/** Runs the command, which must succeed, and loads the pack. */
async function packFrom(args: string[], id: string) {
  const { code, printed } = await from([...args, ...LEGAL]);
  expect([code, code === 0 ? '' : printed]).toEqual([0, '']);
  return { pack: await loadPack(join(temp, 'packs', id)), printed };
}

/** Fictional bell towers as objects. */
const towers = Array.from({ length: 120 }, (_, i) => ({
  id: `T${1000 + i}`,
  name: `Tower ${i}`,
  town: ['Ringham', 'Bellford', 'Chimewick'][i % 3]!,
  height_m: 20 + (i % 40) + 0.5,
  steps: 100 + i,
  open: i % 2 === 0,
  built: `19${String(10 + (i % 80)).padStart(2, '0')}-05-17`,
}));

const TYPES = {
  status: 'enum',
  id: 'string',
  name: 'string',
  town: 'enum',
  height_m: 'number',
  steps: 'integer',
  open: 'boolean',
  built: 'date',
};

const typesOf = (pack: Awaited<ReturnType<typeof loadPack>>) =>
  Object.fromEntries(pack.attributes.map(({ name, type }) => [name, type]));

describe('each kind of file', () => {
  test('CSV with semicolons, decimal commas, German dates and an empty column', async () => {
    const rows = towers.map(({ id, name, town, height_m, built }, i) => {
      const [year, month, day] = built.split('-');
      const height = i % 10 === 0 ? 'k.A.' : String(height_m).replace('.', ',');
      return `${id};${name};${town};${height};${day}.${month}.${year};"1.${String(100 + i)},50 €";`;
    });
    await writeFile(join(temp, 'türme 2024.csv'), ['Nr;Name;Ort;Höhe (m);Gebaut;Preis;leer', ...rows].join('\r\n'));
    const { pack, printed } = await packFrom(['türme 2024.csv'], 'tuerme-2024');
    expect(typesOf(pack)).toEqual({
      ...{ nr: 'string', name: 'string', ort: 'enum', hoehe: 'number', gebaut: 'date', preis: 'price', status: 'enum' },
    });
    expect(pack.identity.attributes).toEqual(['nr']);
    expect(pack.group_by).toBe('ort');
    expect(pack.gone).toMatchObject({ attribute: 'status', value: 'gone' });
    expect(pack.tests).toContainEqual({ kind: 'rows', min: 108 });
    expect(pack.tests).toContainEqual({ kind: 'unique', attribute: 'nr' });
    expect(printed).toContain('Read all 120 rows of türme 2024.csv: 7 columns.');
    expect(printed).toMatch(/Höhe \(m\) +hoehe +number +m +90 % .*decimal comma; unit m; no value: k\.A\. \(12×\)/);
    expect(printed).toContain('leer: it has no values');
    expect(printed).toContain('npm run pack -- try <temp>/packs/tuerme-2024');
    expect(printed).toMatch(/npm run nightly -- --only tuerme-2024 {5}# builds it\n/);
    const template = await readFile(join(temp, 'packs/tuerme-2024/record.md'), 'utf8');
    expect(template).toContain("- Höhe: {{ values['hoehe'] }}");
  });

  test('CSV in windows-1252, without --encoding', async () => {
    const text = ['Nr;Name;Öffnung', ...towers.map(({ id }) => `${id};Glocke Süd ${id};täglich`)].join('\n');
    await writeFile(join(temp, 'alt.csv'), Buffer.from(text, 'latin1'));
    await writeFile(join(temp, 'neu.csv'), Buffer.concat([Buffer.from(text), Buffer.from(';\xff\n', 'latin1')]));
    const { pack, printed } = await packFrom(['alt.csv'], 'alt');
    expect(pack.sources[0]!.from).toMatchObject({ encoding: 'windows-1252' });
    expect(pack.attributes.map(({ name }) => name)).toContain('oeffnung');
    expect(printed).toContain("is not UTF-8 and is read as windows-1252, such as 'Öffnung'");
    // One broken byte between valid accents is damage.
    const utf8 = await packFrom(['neu.csv'], 'neu');
    expect(utf8.pack.sources[0]!.from).toMatchObject({ encoding: 'utf-8' });
  });

  test('JSON lines with nested objects and lists', async () => {
    const lines = towers.map(({ town, ...tower }, i) =>
      JSON.stringify({
        ...tower,
        at: { town, geo: { lat: 50 + i / 100, lng: 8 } },
        bells: ['Old Tom', 'Mary'].slice(i % 2),
      }),
    );
    await writeFile(join(temp, 'towers.jsonl'), lines.join('\n'));
    const { pack } = await packFrom(['towers.jsonl'], 'towers');
    const { town, ...types } = TYPES;
    expect(typesOf(pack)).toEqual({ ...types, 'at.town': town, bells: 'strings', at_geo: 'geo' });
    expect(pack.group_by).toBe('at.town');
  });

  test('JSON with a list in a document', async () => {
    await writeFile(join(temp, 'nested.json'), JSON.stringify({ data: { items: towers } }));
    const { pack } = await packFrom(['nested.json', '--items', 'data.items'], 'nested');
    expect(typesOf(pack)).toEqual(TYPES);
  });

  test('SQLite: the only table, or the one of --table', async () => {
    const database = new DatabaseSync(join(temp, 'shop.sqlite'));
    database.exec('CREATE TABLE products (id TEXT, name TEXT, town TEXT, height_m REAL, steps INTEGER, built TEXT)');
    const insert = database.prepare('INSERT INTO products VALUES (?, ?, ?, ?, ?, ?)');
    for (const { id, name, town, height_m, steps, built } of towers) insert.run(id, name, town, height_m, steps, built);
    const { open, ...types } = TYPES;
    expect(open).toBe('boolean');
    expect(typesOf((await packFrom(['shop.sqlite'], 'products')).pack)).toEqual(types);
    database.exec('CREATE TABLE orders (id INTEGER)');
    database.close();
    expect(await from(['shop.sqlite', ...LEGAL])).toEqual({
      code: 2,
      printed: 'shop.sqlite has the tables orders, products; choose one with --table',
    });
    const { pack } = await packFrom(['shop.sqlite', '--table', 'products', '--id', 'goods'], 'goods');
    expect(pack.sources[0]!.from).toMatchObject({ kind: 'sqlite', file: 'data/shop.sqlite', table: 'products' });
  });

  test('Parquet', async () => {
    await writeFile(join(temp, 'parquet.jsonl'), towers.map((tower) => JSON.stringify(tower)).join('\n'));
    const duck = await (await DuckDBInstance.create()).connect();
    await duck.run(`COPY (FROM read_json('${join(temp, 'parquet.jsonl')}')) TO '${join(temp, 'spires.parquet')}'`);
    duck.closeSync();
    const { pack } = await packFrom(['spires.parquet'], 'spires');
    expect(typesOf(pack)).toEqual(TYPES);
  });
});

describe('addresses', () => {
  /** Serves an answer on this machine for one test, and records the request headers. */
  async function served(body: string, type: string) {
    const requests: IncomingHttpHeaders[] = [];
    const server = createServer((request, response) => {
      if (request.url === '/robots.txt') return response.writeHead(404).end();
      requests.push(request.headers);
      return response.writeHead(200, { 'content-type': type }).end(body);
    }).listen(0);
    await once(server, 'listening');
    onTestFinished(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return { requests, base: `http://localhost:${(server.address() as AddressInfo).port}` };
  }

  test('a JSON API with a path and a secret header, which stays out of the pack', async () => {
    const { base, requests } = await served(JSON.stringify({ data: { items: towers } }), 'application/json');
    const bearer = 'Bearer $' + '{API_KEY}';
    const header = ['--header', `authorization: ${bearer}`];
    const { pack } = await packFrom([`${base}/v1/towers`, '--items', 'data.items', ...header, '--id', 'api'], 'api');
    expect(typesOf(pack)).toEqual(TYPES);
    expect(requests.at(-1)!.authorization).toBe('Bearer geheim-4711');
    const text = await readFile(join(temp, 'packs/api/pack.ts'), 'utf8');
    expect(text).toContain(`headers: { authorization: '${bearer}' }`);
    expect(text).not.toContain('geheim');
    expect(pack.sources[0]!.url).toBe(base);
  });

  test('every page of an API', async () => {
    const server = createServer((request, response) => {
      const page = Number(new URL(request.url!, 'http://localhost').searchParams.get('page') ?? 1);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(towers.slice((page - 1) * 50, page * 50)));
    });
    await new Promise<void>((resolve) => void server.listen(0, resolve));
    onTestFinished(() => void server.close());
    const base = `http://localhost:${(server.address() as AddressInfo).port}`;
    const first = await packFrom([`${base}/towers`, '--id', 'first'], 'first');
    expect(first.printed).toContain('one answer was read; if the API has pages, name how with --pages');
    const { pack, printed } = await packFrom([`${base}/towers`, '--pages', 'page', '--id', 'paged'], 'paged');
    expect(printed).not.toContain('one answer was read');
    expect(printed).toContain('Read all 120 rows');
    expect(pack.sources[0]!.from).toMatchObject({ pages: { by: 'query', parameter: 'page' } });
  });

  test('a CSV on the web', async () => {
    const { base } = await served(['id,town', ...towers.map(({ id, town }) => `${id},${town}`)].join('\n'), 'text/csv');
    const { pack } = await packFrom([`${base}/list.csv`], 'list');
    expect(pack.sources[0]!.from).toMatchObject({ kind: 'http', format: 'csv', urls: [`${base}/list.csv`] });
  });

  test('an answer that is no list is an error', async () => {
    const { base } = await served('{"data": 1}', 'application/json');
    const { code, printed } = await from([`${base}/x`, '--items', 'rows', ...LEGAL]);
    expect([code, printed]).toEqual([1, expect.stringContaining('rows')]);
  });
});

describe('the files of the pack', () => {
  test('samples are no rows of the file; data is copied with its time; a file in the folder stays there', async () => {
    const csv = ['id,town,steps', ...towers.map(({ id, town, steps }) => `${id},${town},${steps}`)].join('\n');
    await writeFile(join(temp, 'stairs.csv'), csv);
    await utimes(join(temp, 'stairs.csv'), new Date('2026-01-02T03:04:05Z'), new Date('2026-01-02T03:04:05Z'));
    const { pack } = await packFrom(['stairs.csv'], 'stairs');
    const rows = new Set(towers.map(({ id }) => id));
    expect(pack.samples.length).toBe(3);
    for (const { identity } of pack.samples) expect(rows.has(String(identity['id']))).toBe(false);
    const copy = await stat(join(temp, 'packs/stairs/data/stairs.csv'));
    expect(copy.mtime.toISOString()).toBe('2026-01-02T03:04:05.000Z');
    expect(copy.mode & 0o777).toBe(0o644);

    await mkdir(join(temp, 'packs/own'), { recursive: true });
    await writeFile(join(temp, 'packs/own/stairs.csv'), csv);
    const own = await packFrom(['packs/own/stairs.csv', '--id', 'own'], 'own');
    expect(own.pack.sources[0]!.from).toMatchObject({ file: 'stairs.csv' });
  });

  test('the guide has meaning, missing values and counts; values of paid attributes are not in it', async () => {
    const rows = towers.map(({ id, town }, i) => `${id},${town},${i % 4 === 0 ? '' : 7000 + i},${i % 7}`);
    await writeFile(join(temp, 'fees.csv'), ['id,town,price_eur,rooms', ...rows].join('\n'));
    await packFrom(['fees.csv'], 'fees');
    const guide = await readFile(join(temp, 'packs/fees/guide.md'), 'utf8');
    expect(guide).toContain('which had 120 rows when this guide was written');
    expect(guide).toContain('- `price_eur`: 25.0 %');
    expect(guide).toContain('- `town`: Town. One of Ringham, Bellford, Chimewick.');
    expect(guide).not.toContain('7,00');
  });

  test('records of one name are named by their identity too', async () => {
    const rows = towers.map(
      ({ town }, i) => `2024-0${1 + (i % 4)}-${10 + Math.floor(i / 12)},S${Math.floor(i / 4) % 3},${town},${i}`,
    );
    await writeFile(join(temp, 'series.csv'), ['date,station,station_name,rain_mm', ...rows].join('\n'));
    const { pack } = await packFrom(['series.csv'], 'series');
    expect(pack.identity.attributes).toEqual(['date', 'station']);
    const identity = { date: '2024-01-10', station: 'S1' };
    expect(pack.identity.name(identity, { station_name: 'Ringham' })).toBe('Ringham, 2024-01-10, S1');
    expect(pack.identity.name(identity, {})).toBe('2024-01-10, S1');
  });

  test('rejected cells and rows are counted, and tolerated in the pack', async () => {
    const rows = towers.map(({ id, town, steps }, i) => `${id},${town},${i === 7 ? 'many' : steps}`);
    await writeFile(join(temp, 'dirty.csv'), ['id,town,steps', ...rows, 'T9,too,many,fields'].join('\n'));
    const { pack, printed } = await packFrom(['dirty.csv'], 'dirty');
    expect(printed).toContain("steps: 1 cell left out, such as 'many'");
    expect(printed).toContain('1 row could not be read: line 122 of dirty.csv (expected 3 fields');
    expect(pack.sources[0]!.tolerate).toEqual({ values: 0.017, rows: 0.017 });
  });
});

describe('questions', () => {
  test('a pack is written to the first folder of PACK_DIRS', async () => {
    await writeFile(join(temp, 'mine.csv'), ['id,town', ...towers.map(({ id, town }) => `${id},${town}`)].join('\n'));
    const folders = { PACK_DIRS: `${join(temp, 'own')}, ${join(temp, 'packs')}` };
    const { code, printed } = await from(['mine.csv', ...LEGAL], null, folders);
    expect(code).toBe(0);
    expect(printed).toContain('Wrote <temp>/own/mine: pack.ts');
    expect(printed).not.toContain('PACK_DIRS must contain');
    const elsewhere = await from(['mine.csv', '--id', './other/mine', ...LEGAL], null, folders);
    expect(elsewhere.printed).toContain('# builds it; PACK_DIRS must contain <temp>/other');
  });

  test('what the flags lack is asked, with suggestions', async () => {
    await writeFile(join(temp, 'ask.csv'), ['id,town', ...towers.map(({ id, town }) => `${id},${town}`)].join('\n'));
    const questions: string[] = [];
    const answers = ['CC-BY-4.0', '', '', 'Ringers', 'not an address', 'https://ringers.example/'];
    const prompt = async (question: string) => {
      questions.push(question);
      return answers.shift()!;
    };
    expect((await from(['ask.csv'], prompt)).code).toBe(0);
    expect(questions.map((question) => question.split(/[,:[]/)[0]!.trim())).toEqual([
      'Licence of the data',
      'Title',
      'Attribution',
      'Attribution',
      'Home page of the source',
      'Home page of the source',
    ]);
    const pack = await loadPack(join(temp, 'packs/ask'));
    expect(pack).toMatchObject({ title: 'Ask', attribution: 'Ringers', license: { name: 'CC-BY-4.0' } });
    expect(pack.sources[0]!.url).toBe('https://ringers.example/');
  });

  test('without a terminal the missing flags are named', async () => {
    await writeFile(join(temp, 'mute.csv'), ['id,town', ...towers.map(({ id, town }) => `${id},${town}`)].join('\n'));
    const { code, printed } = await from(['mute.csv']);
    expect(code).toBe(2);
    expect(printed).toContain('add --license and --attribution');
    const unknown = await from(['mute.csv', '--license', 'Ours', '--attribution', 'We']);
    expect([unknown.code, unknown.printed]).toEqual([2, expect.stringContaining('add --license-url')]);
  });
});

test('a wrong setting is one line', async () => {
  const wrong = { COLLECT_ALLOW_HOSTS: '127.0.0.1' };
  const line = 'COLLECT_ALLOW_HOSTS: every entry is written like prices.internal:8080';
  expect(await from(['any.csv', ...LEGAL], null, wrong)).toEqual({ code: 2, printed: line });
});

describe('errors', () => {
  test.each([
    ['empty.csv', '', 1, /empty\.csv has no header/],
    ['header.csv', 'id,name\n', 1, /has a header and no rows/],
    [
      'repeated.csv',
      `kind,size\n${'a,1\nb,2\n'.repeat(3)}a,\nb,\n`,
      1,
      /no pair of columns identifies .*rows repeat a value/,
    ],
    ['letter.doc', 'x', 2, /has the suffix \.doc; supported are \.csv, /],
    ['plain', 'x', 2, /has no suffix; supported are/],
    ['shop.duckdb', 'x', 2, /export a table of it: COPY <table> TO 'table\.parquet'/],
    ['broken.jsonl', 'x\ny\n', 1, /has no columns/],
  ])('%s', async (name, text, code, message) => {
    await writeFile(join(temp, name), text);
    const result = await from([name, ...LEGAL]);
    expect([result.code, result.printed]).toEqual([code, expect.stringMatching(message)]);
  });

  test('a missing file, an existing folder, invalid ids and unknown flags', async () => {
    expect(await from(['nowhere.csv', ...LEGAL])).toEqual({ code: 1, printed: 'no such file: <temp>/nowhere.csv' });
    await writeFile(join(temp, 'again.csv'), 'id,town\na,x\nb,x\nc,y\nd,y\n');
    expect((await from(['again.csv', ...LEGAL])).code).toBe(0);
    const again = await from(['again.csv', ...LEGAL]);
    expect([again.code, again.printed]).toEqual([1, expect.stringContaining('already exists and was not changed')]);
    expect((await from(['again.csv', '--id', 'My Pack', ...LEGAL])).code).toBe(2);
    expect((await from(['again.csv', '--colour', 'red'])).printed).toContain("Unknown option '--colour'");
    expect((await from([])).code).toBe(2);
    expect((await from(['--help'])).printed).toContain('npm run pack -- from <source>');
    expect((await from(['again.csv', '--id', 'b', '--identity', 'kode', ...LEGAL])).printed).toContain(
      "no column 'kode'",
    );
    expect((await from(['postgres', ...LEGAL])).printed).toContain("postgres needs --query 'select …'");
    const unset = await from(['postgres', '--query', 'select 1', '--url-env', 'SHOP_URL', ...LEGAL]);
    expect([unset.code, unset.printed]).toEqual([1, expect.stringContaining('SHOP_URL')]);
  });
});

test('the records of the pack have the values of the file', async () => {
  const lines = towers.slice(0, 30).map(({ id, town }, i) =>
    JSON.stringify({
      id,
      at: { town, geo: { lat: 50.5, lng: 8 } },
      fee: `${i % 5},50 €`,
      mass: `${100 + i} kg`,
      seen: '7/31/2025',
    }),
  );
  await writeFile(join(temp, 'tried.jsonl'), lines.join('\n'));
  await packFrom(['tried.jsonl'], 'tried');
  const printed: string[] = [];
  const environment = { DATA_DIR: join(temp, 'var') };
  const context = { cwd: temp, log: (line: string) => void printed.push(line), environment };
  expect([
    await runPackCommand(['try', 'packs/tried', '--rows', '3'], context),
    printed.filter((line) => /^!/.test(line)),
  ]).toEqual([0, []]);
  const text = printed.join('\n');
  expect(text).toMatch(/at\.town +Bellford/);
  expect(text).toMatch(/at_geo \(degrees\) +50\.5, 8/);
  expect(text).toMatch(/fee \(EUR\) +(\S+ +)*1\.5/);
  expect(text).toMatch(/mass \(kg\) +(\S+ +)*101/);
  expect(text).toMatch(/seen +2025-07-31/);
  // The provenance is printed once, for one record.
  expect(text.match(/line \d+ of tried\.jsonl, /g)).toHaveLength(1);
});

test('any header and any cells give a pack that passes the check, or an error of one line', async () => {
  const cell = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom(
      '1,5',
      '1.234',
      '31.12.2024',
      'n/a',
      '',
      ' ',
      '€ 5',
      '12 kg',
      'yes',
      'a;b',
      'http://a.example/x',
      '007',
    ),
    fc.integer().map(String),
  );
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const name = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.constantFrom(
      'id',
      'limit',
      'min_id',
      'price',
      'price.list',
      'lat',
      'lng',
      'name',
      'constructor',
      'initial',
      '__proto__',
    ),
  );
  const file = fc.array(name, { minLength: 1, maxLength: 6 }).chain((header) =>
    fc.record({
      header: fc.constant(header),
      rows: fc.array(fc.array(cell, { minLength: header.length, maxLength: header.length }), { maxLength: 12 }),
      numbered: fc.boolean(),
    }),
  );
  // Names and cells that are members of every object.
  const inherited = ['constructor', 'toString', 'valueOf', '__proto__'];
  const examples: [{ header: string[]; rows: string[][]; numbered: boolean }][] = [
    [{ header: ['size', 'lat', 'toString'], rows: [['1,5', '1,5', '1,5 constructor']], numbered: true }],
    [{ header: ['price constructor', 'Width (valueOf)', 'x.__proto__'], rows: [['1', '2', '3']], numbered: true }],
    [{ header: inherited, rows: [['1,5', '2', '3.5', '4'], inherited], numbered: true }],
    [
      {
        header: ['lat', 'constructor', 'ऍ', 'constructor', '', 'min_id'],
        rows: [Array(6).fill('1,5')],
        numbered: true,
      },
    ],
  ];
  let run = 0;
  let passed = 0;
  await fc.assert(
    fc.asyncProperty(file, async ({ header, rows, numbered }) => {
      const id = `random-${run++}`;
      const lines = [header, ...rows].map((row, i) => [...(numbered ? [i === 0 ? 'key' : `k${i}`] : []), ...row]);
      await writeFile(join(temp, `${id}.csv`), lines.map((row) => row.map(quoted).join(',')).join('\n'));
      const { code, printed } = await from([`${id}.csv`, ...LEGAL]);
      if (code === 0) {
        passed++;
        return;
      }
      // A proposal that is not a valid pack is a mistake of the command, not of the file.
      expect([code, printed]).toEqual([1, expect.stringMatching(/^(?!the proposed pack)[^\n]+$/)]);
    }),
    { numRuns: 60, examples },
  );
  expect(passed).toBeGreaterThan(10);
}, 120_000);

describe('files in other forms', () => {
  const lines = (count: number, from = 0) =>
    towers.slice(from, from + count).map(({ id, name, town }) => `${id};${name};${town}`);

  test('a time of the last change becomes observed_at, with the time zone that a column states', async () => {
    const write = (name: string, time: (i: number) => string) => {
      const rows = towers.map(({ id, town }, i) => `${id},${town},${time(i)},Europe/Berlin`);
      return writeFile(join(temp, `${name}.csv`), ['id,town,updated_at,time_zone', ...rows].join('\n'));
    };
    await write('timed', (i) => `2026-0${1 + (i % 9)}-10 08:30:00`);
    const timed = await packFrom(['timed.csv'], 'timed');
    expect(timed.pack.sources[0]!.from).toMatchObject({
      observed_at: { column: 'updated_at' },
      timezone: 'Europe/Berlin',
    });
    expect(timed.printed).toContain('times without an offset are read in Europe/Berlin');
    // Values of years ago would not count as up to date, and the night leaves out rows of the future.
    await write('aged', (i) => `20${10 + (i % 9)}-01-10 08:30:00`);
    await write('future', (i) => (i === 7 ? '2999-01-10 08:30:00' : '2998-09-01 08:30:00'));
    for (const name of ['aged', 'future']) {
      const { pack, printed } = await packFrom([`${name}.csv`], name);
      expect(pack.sources[0]!.from).not.toHaveProperty('observed_at');
      expect(printed).toContain('comments in pack.ts show how it becomes `observed_at`');
      expect(await readFile(join(temp, `packs/${name}/pack.ts`), 'utf8')).toContain('// observed_at: {');
    }
  });

  test('columns that a file of a folder lacks are named', async () => {
    await mkdir(join(temp, 'years'));
    const write = (year: string, columns: string) => {
      const rows = towers.map(({ id, town, steps }) => `${id},${town},${steps},${steps}`);
      return writeFile(join(temp, `years/stairs-${year}.csv`), [`id,town,${columns}`, ...rows].join('\n'));
    };
    await write('2024', 'old_steps,old');
    await write('2025', 'steps,Steps (m)');
    const { pack, printed } = await packFrom(['years'], 'years');
    expect(Object.keys(typesOf(pack))).toEqual(['id', 'town', 'steps', 'status']);
    expect(printed).toContain('steps: no values in files that lack the column: years/stairs-2024.csv');
    expect(printed).toContain(
      'Steps (m): years/stairs-2024.csv lacks it; with only the files that have it, it is read',
    );
    const former = 'old_steps (years/stairs-2024.csv), old (years/stairs-2024.csv)';
    expect(printed).toContain(`years/stairs-2025.csv lacks columns of older files, which are not read: ${former}`);
  });

  test('files without a line of names, which share no column, are refused with the reason', async () => {
    await mkdir(join(temp, 'ranges'), { recursive: true });
    await writeFile(join(temp, 'ranges/a.csv'), 'K1,Ringham\nK2,Bellford\nK3,Chimewick\n');
    await writeFile(join(temp, 'ranges/b.csv'), 'L1,Bellford\nL2,Ringham\nL3,Bellford\n');
    const { code, printed } = await from(['ranges', ...LEGAL]);
    expect(code).toBe(1);
    expect(printed).toContain('no column of ranges/b.csv has a value that can be read; ');
    expect(printed).toContain('ranges/a.csv lacks it');
  });

  test('a folder of monthly files, a zip archive, sep= and titles above the header', async () => {
    await mkdir(join(temp, 'months'));
    for (const month of ['2026-01', '2026-02'])
      await writeFile(join(temp, `months/towers-${month}.csv`), ['id;name;town', ...lines(60)].join('\n'));
    const { pack, printed } = await packFrom(['months'], 'months');
    expect(pack.sources[0]).toMatchObject({ complete: true, from: { observed_at: { file_name: 'YYYY-MM' } } });
    expect(printed).toContain('2 files are read as versions, oldest first; each lists all records');
    await writeFile(join(temp, 'months/towers-2026-03.csv'), ['id;name;town', ...lines(50, 60)].join('\n'));
    const parts = await packFrom(['months/*.csv', '--id', 'parts'], 'parts');
    expect(parts.pack.sources[0]).toMatchObject({ complete: false });
    await writeFile(join(temp, 'packed.zip'), zipOf({ 'data/towers.csv': ['id;name;town', ...lines(60)].join('\n') }));
    expect((await packFrom(['packed.zip'], 'packed')).pack.sources[0]!.from).toMatchObject({
      kind: 'csv',
      file: 'data/packed.zip',
      inside: 'data/towers.csv',
    });
    await writeFile(join(temp, 'sep.csv'), ['sep=;', 'id;name;town', ...lines(60)].join('\r\n'));
    expect(typesOf((await packFrom(['sep.csv'], 'sep')).pack)).toMatchObject({ id: 'string', town: 'enum' });
    await writeFile(join(temp, 'titled.csv'), ['All towers; 2026', '', 'id;name;town', ...lines(60)].join('\n'));
    const titled = await packFrom(['titled.csv'], 'titled');
    expect(titled.pack.sources[0]!.from).toMatchObject({ skip_lines: 2 });
    expect(titled.printed).toContain('2 lines above the header are skipped');
  });

  test('objects keyed by name, and GeoJSON', async () => {
    const named = Object.fromEntries(towers.map(({ id, ...rest }) => [id, rest]));
    await writeFile(join(temp, 'named.json'), JSON.stringify({ towers: named }));
    const { pack } = await packFrom(['named.json'], 'named');
    expect(pack.sources[0]!.from).toMatchObject({ items: 'towers', entries: 'key' });
    expect(pack.identity.attributes).toEqual(['key']);
    const features = towers.map(({ id, name }, i) => ({
      type: 'Feature',
      properties: { id, name },
      geometry: { type: 'Point', coordinates: [8 + i / 100, 47] },
    }));
    await writeFile(join(temp, 'map.geojson'), JSON.stringify({ type: 'FeatureCollection', features }));
    expect(typesOf((await packFrom(['map.geojson'], 'map')).pack)).toMatchObject({ location: 'geo' });
  });
});
