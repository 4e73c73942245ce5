// Mistakes of a publisher, each in a copy of a working pack: the complete message of the check or of the nightly
// run. `pack try` prints the same sentences, and none twice.
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runPackCommand } from '../../build/cli/pack.ts';
import { tryPack } from '../../build/cli/try.ts';
import { errorLine } from '../../build/collect/report.ts';
import { Web, type WebOptions } from '../../build/crawl/web.ts';
import type { Effects } from '../../build/effects/effects.ts';
import { DatasetStopped, datasetNight } from '../../build/night/dataset.ts';
import { publicOnly, WEB_PORTS } from '../../data/model/guard.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { still } from '../support/night-pack.ts';

type Files = Map<string, string | Buffer>;
type Change = (files: Files) => void;

const PACK = `import { csv, definePack, http, json, jsonl, postgres, sqlite } from 'dataset-register/pack';

export default definePack({
  title: 'Bell towers',
  description: 'Fictional bell towers.',
  license: { name: 'CC0-1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  attribution: 'The Ringers',
  sources: {
    survey: {
      title: 'Survey',
      url: 'https://survey.example/',
      license: 'CC0-1.0',
      trust: 0.9,
      complete: true,
      from: csv('towers.csv', { observed_at: { column: 'surveyed' }, attributes: { height: 'height_m' } }),
    },
  },
  attributes: {
    code: { type: 'string', description: 'Code', example: 'T1', public: true, filterable: true, sla: 1000 },
    name: { type: 'string', description: 'Name', example: 'Old Tom', searchable: true, sla: 1000 },
    town: { type: 'enum', description: 'Town', example: 'Ringham', public: true, filterable: true, sla: 1000 },
    status: { type: 'enum', description: 'Status', example: 'listed', values: ['listed', 'gone'], sla: 1000 },
    height: { type: 'number', unit: 'm', description: 'Height', example: 20.5, range: { min: 0, max: 500 }, sla: 1000 },
    built: { type: 'date', description: 'Built', example: '1910-05-17', range: { max: 'now' }, sla: 1000 },
    'price.visit': { type: 'price', unit: 'EUR/visit', currency: 'EUR', description: 'Fee', example: 3, sla: 1000 },
  },
  identity: { attributes: ['code'] },
  consolidation: { rule: () => ({ prefer: 'trust', trust: { survey: 0.8 } }) },
  gone: { attribute: 'status', value: 'gone', confidence: 0.8 },
  group_by: 'town',
  serving: { showcase: { per_group: 1 } },
  compare: ['height', 'town'],
  prices: { search: 0.008, get: 0.004, facts: 0.01, compare: 0.012, stats: 0.015 },
  schedule: '0 3 * * *',
  tests: [{ kind: 'fill', attribute: 'height', min: 0.5 }],
});
`;

/** Fictional towers, as rows of a file. */
const towers = Array.from({ length: 30 }, (_, i) => ({
  code: `T${i + 1}`,
  name: `Tower ${i + 1}`,
  town: ['Ringham', 'Bellford', 'Chimewick'][i % 3]!,
  status: 'listed',
  height_m: String(20.5 + i),
  built: `19${10 + i}-05-17`,
  'price.visit': '3.50',
  surveyed: '2026-10-01',
}));
type Tower = (typeof towers)[number];

/** Rows as CSV; texts with the delimiter are quoted. */
function csvOf(rows: readonly object[], delimiter = ','): string {
  const cell = (value: unknown) => (String(value).includes(delimiter) ? `"${value}"` : String(value));
  const lines = [Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))];
  return lines.map((line) => line.map(cell).join(delimiter)).join('\n');
}

/** The towers with other values in one of them. */
const withTower = (at: number, values: Partial<Tower>): Tower[] =>
  towers.map((tower, i) => (i === at ? { ...tower, ...values } : tower));

/** A pack that reads a CSV. */
const declaredFiles = (): Files =>
  new Map<string, string | Buffer>([
    ['pack.ts', PACK],
    ['towers.csv', csvOf(towers)],
    ['record.md', "# {{ record.name }}\n\n{{ values['town'] }}\n"],
    ['guide.md', 'Bell towers.\n'],
    ['samples.json', JSON.stringify([{ identity: { code: 'S1' }, values: { name: 'Sample', town: 'Ringham' } }])],
  ]);

const COLLECT = `import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineCollector } from 'dataset-register/pack';

export default defineCollector({
  async *read(reading, context) {
    const towers = JSON.parse(await readFile(join(reading.folder, 'towers.json'), 'utf8'));
    for (const { code, name, town } of towers) {
      yield {
        identity: { code },
        values: { code, name, town },
        source_url: 'https://survey.example/' + code,
      };
    }
  },
});
`;
const PIN =
  "{ package: 'towers', version: '1.0.0', integrity: '', observed_at: '2026-10-01T00:00:00Z', date_source: 'pin' }";
const FROM = "from: csv('towers.csv', { observed_at: { column: 'surveyed' }, attributes: { height: 'height_m' } })";

/** A pack whose collect.ts reads a pinned package. */
function collectedFiles(): Files {
  const files = declaredFiles();
  files.delete('towers.csv');
  files.set('collect.ts', COLLECT);
  files.set('fixtures/towers/1.0.0/towers.json', JSON.stringify(towers));
  edit('pack.ts', FROM, `pins: [${PIN}]`)(files);
  edit('pack.ts', "attribute: 'height', min", "attribute: 'name', min")(files);
  return files;
}

/** Replaces a text, which the file must contain. */
const edit =
  (file: string, from: string, to: string): Change =>
  (files) => {
    const text = String(files.get(file));
    if (!text.includes(from)) throw new Error(`${file} does not contain ${from}`);
    files.set(
      file,
      text.replace(from, () => to),
    );
  };
const inPack = (from: string, to: string) => edit('pack.ts', from, to);
const inCollector = (from: string, to: string) => edit('collect.ts', from, to);
const write =
  (file: string, content: string | Buffer): Change =>
  (files) =>
    void files.set(file, content);
const remove =
  (file: string): Change =>
  (files) =>
    void files.delete(file);
const all =
  (...changes: Change[]): Change =>
  (files) => {
    for (const change of changes) change(files);
  };
/** Reads another declared source. */
const from = (declared: string) => inPack(FROM, `from: ${declared}`);
const csvFile = (rows: readonly object[], delimiter?: string) => write('towers.csv', csvOf(rows, delimiter));

let temp: string;
let port: number;
const server = createServer((request, response) => {
  const status = Number(/^\/status\/(\d+)/.exec(request.url!)?.[1] ?? 404);
  response.writeHead(status, { 'retry-after': '0' }).end('{"error": "no"}');
});
beforeAll(async () => {
  temp = await mkdtemp(join(tmpdir(), 'pack-mistakes-'));
  server.listen(0);
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  server.close();
  await rm(temp, { recursive: true });
});

const NOW = '2026-11-20T00:00:00Z';

/** Effects with the real web client. This machine may be reached unless `guard` is true. */
function effects(guard: boolean): ReturnType<typeof still> {
  const open: Partial<WebOptions> = guard ? {} : { allowed: () => true, ports: null };
  const web = async () =>
    new Web({
      allowed: publicOnly,
      ports: WEB_PORTS,
      ...open,
      sign: null,
      base_url: 'https://register.example',
      now: () => new Date(NOW),
      wait: async () => {},
      random: () => 0.5,
    });
  return { ...still(NOW), web };
}

async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [name, content] of files) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    if (name.endsWith('.sqlite')) {
      const database = new DatabaseSync(path);
      database.exec(String(content));
      database.close();
    } else await writeFile(path, content);
    await utimes(path, new Date('2026-10-01T00:00:00Z'), new Date('2026-10-01T00:00:00Z'));
  }
}

/** What the nightly run prints about a dataset: warnings, and an error that it does not catch. */
async function nightLines(pack: Pack, data: string, run: Effects & { lines: string[] }): Promise<string[]> {
  const lines: string[] = [];
  try {
    await datasetNight(pack, data, run, { accept: false });
  } catch (error) {
    if (!(error instanceof DatasetStopped)) lines.push(`${pack.id}: ${errorLine(error)}`);
  }
  const warnings = run.lines.filter((line) => line.startsWith('! ')).map((line) => line.slice(2));
  return [...warnings, ...lines];
}

interface Printed {
  /** The output of the check, if it finds a mistake; else that of the nightly run. */
  text: string;
  /** Sentences of `pack try` about the run; null: not tried. */
  attempt: string[] | null;
}

let count = 0;

/** Writes the changed pack and returns what its author reads. `later`: a change after a first night. */
async function printed(files: Files, change: Change, { guard = false, later }: Options = {}): Promise<Printed> {
  const folder = join(temp, String(++count), 'bells');
  const data = join(temp, String(count), 'data');
  const clean = (text: string) =>
    text
      .replaceAll(folder, '<pack>')
      .replaceAll(data, '<data>')
      .replaceAll(String(port), '<port>')
      .replaceAll(/run_\w+|[0-9a-f]{12,}/g, '<id>');
  change(files);
  await writeFiles(folder, files);
  const checked: string[] = [];
  const code = await runPackCommand(['check', folder], {
    cwd: temp,
    log: (line) => checked.push(line),
    environment: {},
  });
  if (code !== 0) return { text: clean(checked.join('\n')), attempt: null };
  const pack = await loadPack(folder);
  const lines = await nightLines(pack, data, effects(guard));
  if (later !== undefined) {
    expect(lines).toEqual([]);
    later(files);
    await writeFiles(folder, files);
    lines.push(...(await nightLines(pack, data, effects(guard))));
  }
  const warnings = checked.filter((line) => line.startsWith('Warning'));
  const text = clean([...warnings, ...lines].join('\n'));
  if (later !== undefined) return { text, attempt: null };
  const attempt: string[] = [];
  const options = { rows: 40, source: null, dataDir: data, base_url: 'https://register.example' };
  await tryPack(pack, options, effects(guard), (line) => void attempt.push(clean(line)));
  return { text, attempt: attempt.filter((line) => line.startsWith('! ')).map((line) => line.slice(2)) };
}

interface Options {
  /** Private addresses are refused. */
  guard?: boolean;
  later?: Change;
}
type Mistake = [name: string, change: Change, assert: (text: string) => void, options?: Options];

const SQL = `CREATE TABLE towers (code TEXT, name TEXT); INSERT INTO towers VALUES ('T1', 'Tower 1')`;

const IN_PACK: Mistake[] = [
  [
    'a misspelt member of the pack',
    inPack("title: 'Bell", "titel: 'Bell"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
        "1 mistake in pack <pack>

        <pack>/pack.ts: titel
          found     a member 'titel'
          expected  one of title, description, keywords, license, attribution, revision, sources, attributes, identity, consolidation, gone, quality, checks, group_by, serving, compare, calculator, prices, schedule, owner, tests
          nearest   'title'"
      `),
  ],
  [
    'a misspelt member of license',
    inPack('license: { name', 'license: { nmae'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: license.nmae
        found     a member 'nmae'
        expected  one of name, url
        nearest   'name'"
    `),
  ],
  [
    'a misspelt member of a source',
    inPack('trust: 0.9', 'trusst: 0.9'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.trusst
        found     a member 'trusst'
        expected  one of title, url, license, trust, pins, newest, crawl, from, complete, max_drop, tolerate, timeout_minutes
        nearest   'trust'"
    `),
  ],
  [
    'a misspelt member of from',
    inPack('observed_at: {', 'observedAt: {'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
        "1 mistake in pack <pack>

        <pack>/pack.ts: sources.survey.from.observedAt
          found     a member 'observedAt'
          expected  one of kind, file, attributes, decimal, thousands, date, timezone, missing, columns, where, observed_at, source_url, evidence, inside, max_bytes, delimiter, encoding, skip_lines
          nearest   'observed_at'"
      `),
  ],
  [
    'a misspelt member of a column rule',
    inPack("height: 'height_m'", "height: { colum: 'height_m' }"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.from.attributes.height.colum
        found     a member 'colum'
        expected  one of lat, lng, constant, column, decimal, thousands, date, trim, missing, truths, separator, multiply
        nearest   'column'"
    `),
  ],
  [
    'a misspelt member of an attribute',
    inPack('searchable: true', 'serchable: true'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
        "1 mistake in pack <pack>

        <pack>/pack.ts: attributes.name.serchable
          found     a member 'serchable'
          expected  one of type, unit, currency, description, example, public, filterable, searchable, search_weight, values, range, round, jump, group_jump, tolerance, sla, weight, volatile, once, aliases, vocabulary, better, editable, published_entries
          nearest   'searchable'"
      `),
  ],
  [
    'a misspelt member of a range',
    inPack('range: { min: 0, max', 'range: { minimum: 0, max'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: attributes.height.range.minimum
        found     a member 'minimum'
        expected  one of min, max"
    `),
  ],
  [
    'a misspelt member of prices',
    inPack('prices: { search', 'prices: { serach'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: prices.serach
        found     a member 'serach'
        expected  one of search, get, facts, prices, compare, stats
        nearest   'search'"
    `),
  ],
  [
    'a misspelt member of a test',
    inPack('min: 0.5', 'minn: 0.5'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: tests.0.minn
        found     a member 'minn'
        expected  one of kind, attribute, min, max, values
        nearest   'min'"
    `),
  ],
  [
    'a misspelt type',
    inPack("type: 'date'", "type: 'dat'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
        "1 mistake in pack <pack>

        <pack>/pack.ts: attributes.built.type
          found     'dat'
          expected  one of string, text, url, enum, boolean, integer, number, date, datetime, strings, geo, price
          nearest   'date'"
      `),
  ],
  [
    'a misspelt kind of test',
    inPack("kind: 'fill'", "kind: 'fil'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: tests.0.kind
        found     'fil'
        expected  one of rows, fill, unique, accepted
        nearest   'fill'"
    `),
  ],
  [
    'a text for a number',
    inPack('trust: 0.9', "trust: '0.9'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.trust
        found     '0.9'
        expected  a trust from 0 to 1"
    `),
  ],
  [
    'a text for a list',
    inPack("compare: ['height', 'town']", "compare: 'height'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: compare
        found     'height'
        expected  a list of attribute names"
    `),
  ],
  [
    'no licence',
    inPack(/ {2}license: .*\n/.exec(PACK)![0], ''),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: license
        found     nothing
        expected  an object with name, url"
    `),
  ],
  [
    'no licence of a source',
    inPack("      license: 'CC0-1.0',\n", ''),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.license
        found     nothing
        expected  the licence of the source"
    `),
  ],
  [
    'an address without a scheme',
    inPack("url: 'https://survey.example/'", "url: 'survey.example'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.url
        found     'survey.example'
        expected  an http or https address"
    `),
  ],
  [
    'an unknown attribute in identity',
    inPack("attributes: ['code']", "attributes: ['kode']"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: identity.attributes.0
        found     'kode'
        expected  the name of an attribute
        nearest   'code'"
    `),
  ],
  [
    'an unknown attribute in compare',
    inPack("compare: ['height'", "compare: ['hieght'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: compare.0
        found     'hieght'
        expected  the name of an attribute
        nearest   'height'"
    `),
  ],
  [
    'an unknown attribute in group_by',
    inPack("group_by: 'town'", "group_by: 'twon'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: group_by
        found     'twon'
        expected  the name of an attribute
        nearest   'town'"
    `),
  ],
  [
    'an unknown attribute in a test',
    inPack("attribute: 'height', min", "attribute: 'heigth', min"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: tests.0.attribute
        found     'heigth'
        expected  the name of an attribute
        nearest   'height'"
    `),
  ],
  [
    'an unknown attribute in from.attributes',
    inPack("height: 'height_m'", "heigt: 'height_m'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.from.attributes.heigt
        found     'heigt'
        expected  the name of an attribute
        nearest   'height'"
    `),
  ],
  [
    'an unknown attribute in gone',
    inPack("attribute: 'status', value", "attribute: 'state', value"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: gone.attribute
        found     'state'
        expected  the name of an attribute
        nearest   'status'"
    `),
  ],
  [
    'an unknown value in gone',
    inPack("value: 'gone'", "value: 'gon'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: gone.value
        found     'gon'
        expected  one of listed, gone
        nearest   'gone'"
    `),
  ],
  [
    'an unknown source in consolidation.rule',
    inPack('trust: { survey: 0.8', 'trust: { survay: 0.8'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: consolidation.rule
        found     trust for the source 'survay' for sample 0
        expected  one of the sources survey
        nearest   'survey'"
    `),
  ],
  [
    'a reserved name of an attribute',
    inPack('    name: { type', '    limit: { type'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "2 mistakes in pack <pack>

      <pack>/pack.ts: attributes.limit
        found     the name 'limit'
        expected  another name: this one is a search parameter, a sort key or a member of every object

      <pack>/samples.json: 0.values.name
        found     a value for 'name'
        expected  the name of an attribute"
    `),
  ],
  [
    'an invalid name of an attribute',
    inPack("'price.visit'", "'Price Visit'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: attributes.Price Visit
        found     the name 'Price Visit'
        expected  lower-case letters, digits and _, with dots for groups, such as 'price.input'"
    `),
  ],
  [
    'a reserved id of a source',
    inPack('    survey: {', '    owner: {'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.owner
        found     the id 'owner'
        expected  another id: owner names edits by owners"
    `),
  ],
  [
    'a price without currency',
    inPack(" currency: 'EUR',", ''),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: attributes.price.visit.currency
        found     nothing
        expected  a currency code such as USD: a price needs one"
    `),
  ],
  [
    'a bad schedule',
    inPack('0 3 * * *', '0 25 * * *'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: schedule
        found     '0 25 * * *'
        expected  a cron expression in UTC: hour 0 to 23, such as *, 0, 0-23 or */2"
    `),
  ],
  [
    'a bad price',
    inPack('search: 0.008', 'search: -1'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: prices.search
        found     -1
        expected  a price in EUR above 0, at most 100"
    `),
  ],
  [
    'an example that does not fit',
    inPack("example: '1910-05-17'", "example: '17.05.1910'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: attributes.built.example
        found     '17.05.1910'
        expected  a date, YYYY-MM-DD"
    `),
  ],
  [
    'sqlite without table',
    from("sqlite('towers.sqlite', {})"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.from
        found     no table and no query
        expected  a table or a query"
    `),
  ],
  [
    'from and crawl together',
    inPack(FROM, `${FROM}, crawl: { urls: ['https://survey.example/'] }`),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.crawl
        found     crawl and from
        expected  one of them"
    `),
  ],
  [
    'pins with postgres',
    inPack(FROM, `from: postgres({ query: 'SELECT 1' }), pins: [${PIN}]`),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.from
        found     postgres(…) and pins or newest
        expected  no pins and no newest: only files are read from packages"
    `),
  ],
  [
    'a source without anything to read',
    inPack(`      ${FROM},\n`, ''),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.from
        found     no from, no pins, no newest, no crawl
        expected  at least one of from, pins, newest and crawl"
    `),
  ],
  [
    'an unknown encoding',
    inPack("csv('towers.csv', {", "csv('towers.csv', { encoding: 'latin-99',"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.from.encoding
        found     'latin-99'
        expected  a label of the Encoding Standard, such as utf-8 or windows-1252"
    `),
  ],
  [
    'an unknown delimiter',
    inPack("csv('towers.csv', {", "csv('towers.csv', { delimiter: ':',"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.from.delimiter
        found     ':'
        expected  one of ',', ';', '\\t' and '|'"
    `),
  ],
  [
    'a pattern of dates without a year',
    inPack("csv('towers.csv', {", "csv('towers.csv', { date: 'TT.MM.JJJJ',"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
        "1 mistake in pack <pack>

        <pack>/pack.ts: sources.survey.from.date
          found     'TT.MM.JJJJ'
          expected  a pattern with YYYY, such as 'DD.MM.YYYY', or 'unix' or 'unix_ms', or a list of them"
      `),
  ],
  [
    'an import that does not exist',
    inPack("'dataset-register/pack'", "'dataset-registre/pack'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: line 1
        found     Error: Cannot find package 'dataset-registre/pack' imported from <pack>/pack.ts
        expected  a module that can be imported
        nearest   'dataset-register/pack'"
    `),
  ],
  [
    'no default export',
    inPack('export default definePack', 'export const pack = definePack'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: default
        found     nothing
        expected  export default definePack({ … })"
    `),
  ],
];

const IN_FILES: Mistake[] = [
  [
    'no record.md',
    remove('record.md'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/record.md
        found     no such file
        expected  a record.md with text"
    `),
  ],
  [
    'an unknown attribute in record.md',
    edit('record.md', "values['town']", "values['twon']"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/record.md: line 3: values['twon']
        found     'twon'
        expected  the name of an attribute
        nearest   'town'"
    `),
  ],
  [
    'an unclosed tag in record.md',
    edit('record.md', '{{ record.name }}', '{% if record.name %}'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/record.md: line 1, column 3
        found     tag {% if record.name %} not closed
        expected  a LiquidJS template"
    `),
  ],
  [
    'an empty guide.md',
    write('guide.md', '\n'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/guide.md
        found     an empty file
        expected  a guide.md with text"
    `),
  ],
  [
    'samples.json that is not JSON',
    edit('samples.json', '"code":"S1"', 'code:"S1"'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/samples.json
        found     Expected property name or '}' in JSON at position 14 (line 1 column 15)
        expected  JSON"
    `),
  ],
  [
    'an unknown attribute in samples.json',
    edit('samples.json', '"town"', '"twon"'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/samples.json: 0.values.twon
        found     a value for 'twon'
        expected  the name of an attribute
        nearest   'town'"
    `),
  ],
  [
    'a misspelt member in samples.json',
    edit('samples.json', '"values"', '"value"'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/samples.json: 0.value
        found     a member 'value'
        expected  one of identity, values, evidence
        nearest   'values'"
    `),
  ],
  [
    'a sample without identity',
    edit('samples.json', '"code":"S1"', ''),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/samples.json: 0.identity.code
        found     nothing
        expected  code, which identifies a record"
    `),
  ],
  [
    'a wrong value in samples.json',
    edit('samples.json', '"Ringham"', '7'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/samples.json: 0.values.town
        found     7
        expected  a text"
    `),
  ],
  [
    'no samples',
    write('samples.json', '[]'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/samples.json
        found     []
        expected  a list of at least one fictional record {identity, values}"
    `),
  ],
];

const ROWS_SRC: Mistake[] = [
  [
    'a file that does not exist',
    from("csv('tower.csv')"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: no file tower.csv in <pack>: the folder contains guide.md, pack.ts, record.md, samples.json, towers.csv; nearest: towers.csv
      bells: no source could be read"
    `),
  ],
  [
    'a pattern without a match',
    from("csv('exports/*.csv')"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: no file exports/*.csv in <pack>: the folder contains guide.md, pack.ts, record.md, samples.json, towers.csv
      bells: no source could be read"
    `),
  ],
  [
    'a wrong name of a column',
    inPack('height_m', 'hight_m'),
    (text) =>
      expect(text).toMatchInlineSnapshot(
        `"bells: survey: towers.csv has no column 'hight_m' for height (nearest 'height_m'); its columns are 'code', 'name', 'town', 'status', 'height_m', 'built', 'price.visit', 'surveyed'"`,
      ),
  ],
  [
    'a wrong column of the time',
    inPack("column: 'surveyed'", "column: 'survey_date'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(
        `"bells: survey: towers.csv has no column 'survey_date' for observed_at; its columns are 'code', 'name', 'town', 'status', 'height_m', 'built', 'price.visit', 'surveyed'"`,
      ),
  ],
  [
    'a wrong delimiter',
    inPack("csv('towers.csv', {", "csv('towers.csv', { delimiter: ';',"),
    (text) =>
      expect(text).toMatchInlineSnapshot(
        `"bells: survey: towers.csv has no column 'height_m' for height, no column 'surveyed' for observed_at; its columns are 'code,name,town,status,height_m,built,price.visit,surveyed'; is the delimiter right?"`,
      ),
  ],
  [
    'a file in Latin-1 read as UTF-8',
    write('towers.csv', Buffer.from(csvOf(withTower(3, { name: 'Glockenstühl' })), 'latin1')),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 1 of 30 values of name in towers.csv (2026-10-01) is wrong (3.33 %; tolerate.values: 0.1 %), such as name in line 5, column name, is "Glockenst�hl", expected text in the encoding of the source; some bytes are not valid
      bells: 1 value rejected. See <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'an undeclared decimal comma',
    csvFile(
      towers.map((tower) => ({ ...tower, height_m: tower.height_m.replace('.', ',') })),
      ';',
    ),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 30 of 30 values of height in towers.csv (2026-10-01) are wrong (100 %; tolerate.values: 0.1 %), such as height in line 2, column height_m, is "20,5", expected a number with '.' as decimal sign; height in line 3, column height_m, is "21,5", expected a number with '.' as decimal sign; height in line 4, column height_m, is "22,5", expected a number with '.' as decimal sign
      bells: 30 values rejected. See <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    '1.000 without a declared decimal sign',
    csvFile(withTower(2, { 'price.visit': '1.000' })),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 1 of 30 values of price.visit in towers.csv (2026-10-01) is wrong (3.33 %; tolerate.values: 0.1 %), such as price.visit in line 4, column price.visit, is "1.000", expected a number; it may mean thousands or decimals: set decimal to '.' or ','
      bells: 1 value rejected. See <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a hexadecimal number',
    csvFile(withTower(2, { height_m: '0x10' })),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 1 of 30 values of height in towers.csv (2026-10-01) is wrong (3.33 %; tolerate.values: 0.1 %), such as height in line 4, column height_m, is "0x10", expected a number with '.' as decimal sign
      bells: 1 value rejected. See <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a number out of range',
    csvFile(withTower(2, { height_m: '5000' })),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 1 of 30 values of height in towers.csv (2026-10-01) is wrong (3.33 %; tolerate.values: 0.1 %), such as height of t3 (line 4, column height_m) is 5000, expected a number of at most 500
      bells: 1 value rejected. See <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a value outside of the list',
    csvFile(withTower(2, { status: 'lsited' })),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 1 of 30 values of status in towers.csv (2026-10-01) is wrong (3.33 %; tolerate.values: 0.1 %), such as status of t3 (line 4) is "lsited", expected one of listed, gone; nearest 'listed'
      bells: 1 value rejected. See <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a wrong pattern of dates',
    inPack("height: 'height_m'", "height: 'height_m', built: { date: 'DD.MM.YYYY' }"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 30 of 30 values of built in towers.csv (2026-10-01) are wrong (100 %; tolerate.values: 0.1 %), such as built in line 2, column built, is "1910-05-17", expected a date, DD.MM.YYYY; built in line 3, column built, is "1911-05-17", expected a date, DD.MM.YYYY; built in line 4, column built, is "1912-05-17", expected a date, DD.MM.YYYY
      bells: 30 values rejected. See <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a duplicate header',
    edit('towers.csv', 'code,name,town', 'code,name,name'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: towers.csv: the header has two columns 'name' (columns 2 and 3); rename one
      bells: no source could be read"
    `),
  ],
  [
    'a short row',
    edit('towers.csv', 'T3,Tower 3,', 'T3,'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 1 of 30 rows of towers.csv (2026-10-01) could not be read (3.33 %; tolerate.rows: 0 %), such as line 4 is "T3,Chimewick,listed,22.5,1912-05-17,3.50,2026-10-01", expected 8 fields, as the header has (the row has 7)
      bells: Rows left out: see <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a long row',
    edit('towers.csv', 'T3,Tower 3,', 'T3,Tower 3,,'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 1 of 30 rows of towers.csv (2026-10-01) could not be read (3.33 %; tolerate.rows: 0 %), such as line 4 is "T3,Tower 3,,Chimewick,listed,22.5,1912-05-17,3.50,2026-10-0…, expected 8 fields, as the header has (the row has 9)
      bells: Rows left out: see <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'an unclosed quote',
    edit('towers.csv', 'T3,Tower 3,', 'T3,"Tower 3,'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 1 of 30 rows of towers.csv (2026-10-01) could not be read (3.33 %; tolerate.rows: 0 %), such as line 4 is "T3,\\"Tower 3,Chimewick,listed,22.5,1912-05-17,3.50,2026-10-…, expected a closing quote
      bells: Rows left out: see <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'an empty file',
    write('towers.csv', ''),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: towers.csv has no header: it contains no row
      bells: no source could be read"
    `),
  ],
  [
    'a header only',
    write('towers.csv', csvOf(towers).split('\n')[0]!),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
        "bells: survey: towers.csv has no rows
        bells: height: 0 % filled; the pack requires at least 50 %. If that is right, change the test \`fill\` of height in pack.ts; --accept does not skip it
        bells: refused; there is no release yet"
      `),
  ],
  [
    'an unread column where the columns are exact',
    all(
      inPack("csv('towers.csv', {", "csv('towers.csv', { columns: 'exact',"),
      csvFile(towers.map((tower) => ({ ...tower, Town: 'x' }))),
    ),
    (text) => expect(text).toMatchInlineSnapshot(`"bells: survey: towers.csv has columns that nothing reads: 'Town'"`),
  ],
  [
    'a column that nothing reads',
    csvFile(towers.map(({ status, ...tower }) => ({ ...tower, state: status }))),
    (text) =>
      expect(text).toMatchInlineSnapshot(
        `"bells: survey: nothing reads these columns of towers.csv: 'state' (nearest 'status')"`,
      ),
  ],
  [
    'a function that throws',
    inPack("height: 'height_m'", 'height: (row) => row.height_m.metres.value'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: towers.csv (2026-10-01) could not be read: attributes.height of source survey throws at line 2 of towers.csv: Cannot read properties of undefined (reading 'value') (pack.ts:15)
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a wrong path of the items',
    all(
      write('towers.json', JSON.stringify({ data: { items: towers } })),
      from("json('towers.json', { items: 'data.itms' })"),
    ),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: towers.json has no list data.itms: its lists are data.items; nearest: data.items
      bells: no source could be read"
    `),
  ],
  [
    'no items where the document is no list',
    all(write('towers.json', JSON.stringify({ data: { items: towers } })), from("json('towers.json')")),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: towers.json is no list; set items to the path of its list: its lists are data.items
      bells: no source could be read"
    `),
  ],
  [
    'a file that is not JSON',
    all(write('towers.json', JSON.stringify(towers, null, 1).replace('"T3"', 'T3')), from("json('towers.json')")),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: towers.json is not JSON: line 23, column 11: Unexpected token 'T'
      bells: no source could be read"
    `),
  ],
  [
    'a line that is not JSON',
    all(
      write(
        'towers.jsonl',
        towers
          .map((tower) => JSON.stringify(tower))
          .join('\n')
          .replace('"T3"', 'T3'),
      ),
      from("jsonl('towers.jsonl')"),
    ),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 1 of 30 rows of towers.jsonl (2026-10-01) could not be read (3.33 %; tolerate.rows: 0 %), such as line 3 is "{\\"code\\":T3,\\"name\\":\\"Tower 3\\",\\"town\\":\\"Chimewick\\",\\"…, expected a JSON object
      bells: survey: nothing reads these columns of towers.jsonl: 'height_m' (nearest 'height'), 'surveyed'
      bells: Rows left out: see <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a name that no row of JSON lines has',
    all(
      write('towers.jsonl', towers.map((tower) => JSON.stringify(tower)).join('\n')),
      from("jsonl('towers.jsonl', { attributes: { height: 'heigth_m' } })"),
    ),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
        "bells: survey: nothing reads these columns of towers.jsonl: 'height_m' (nearest 'height'), 'surveyed'
        bells: survey: no row of towers.jsonl has these columns: 'heigth_m' (nearest 'height_m')
        bells: height: 0 % filled; the pack requires at least 50 %. If that is right, change the test \`fill\` of height in pack.ts; --accept does not skip it
        bells: refused; there is no release yet"
      `),
  ],
  [
    'a wrong table',
    all(write('towers.sqlite', SQL), from("sqlite('towers.sqlite', { table: 'tower' })")),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: towers.sqlite has no table tower: its tables are towers; nearest: towers
      bells: no source could be read"
    `),
  ],
  [
    'a wrong query',
    all(write('towers.sqlite', SQL), from("sqlite('towers.sqlite', { query: 'SELECT cod FROM towers' })")),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: the query on towers.sqlite: no such column: cod
      bells: no source could be read"
    `),
  ],
  [
    'a CSV declared as SQLite',
    from("sqlite('towers.csv', { table: 'towers' })"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: towers.csv cannot be read as a SQLite file: file is not a database
      bells: no source could be read"
    `),
  ],
  [
    'an environment variable that is not set, for a database',
    from("postgres({ query: 'SELECT 1' })"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: the environment variable SOURCE_DATABASE_URL is not set, expected by from.url_env in pack.ts
      bells: no source could be read"
    `),
  ],
  [
    'an environment variable that is not set, for a header',
    (files) =>
      from(`http('http://localhost:${port}/status/200', { headers: { authorization: 'Bearer $' + '{API_KEY}' } })`)(
        files,
      ),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: the environment variable API_KEY is not set, expected by from.headers.authorization in pack.ts
      bells: no source could be read"
    `),
  ],
  [
    'HTTP 401',
    (files) => from(`http('http://localhost:${port}/status/401/towers.json')`)(files),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: http://localhost:<port>/status/401/towers.json answered 401; does the source need a key in a header?
      bells: no source could be read"
    `),
  ],
  [
    'HTTP 404',
    (files) => from(`http('http://localhost:${port}/status/404/towers.json')`)(files),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: http://localhost:<port>/status/404/towers.json answered 404, expected 200; is the address right?
      bells: no source could be read"
    `),
  ],
  [
    'HTTP 500',
    (files) => from(`http('http://localhost:${port}/status/500/towers.json')`)(files),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: http://localhost:<port>/status/500/towers.json answered 500 after 4 tries
      bells: no source could be read"
    `),
  ],
  [
    'a private address',
    (files) => from(`http('http://localhost:${port}/status/200')`)(files),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: http://localhost:<port>/status/200 is not read: port <port> is not allowed; use 80 or 443; add its host and port to COLLECT_ALLOW_HOSTS if it is yours
      bells: no source could be read"
    `),
    { guard: true },
  ],
  [
    'a host that does not exist',
    from("http('http://no-such-host.invalid/towers.json')"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: http://no-such-host.invalid/towers.json is not read, because robots.txt of no-such-host.invalid is not available: tests have no network: something tried to connect to no-such-host.invalid
      bells: no source could be read"
    `),
  ],
];

const IN_COLLECTOR: Mistake[] = [
  [
    'a misspelt member of a pin',
    inPack('integrity:', 'integrety:'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.pins.0.integrety
        found     a member 'integrety'
        expected  one of package, version, integrity, observed_at, date_source
        nearest   'integrity'"
    `),
  ],
  [
    'an integrity that is no hash',
    inPack("integrity: ''", "integrity: 'abc'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.pins.0.integrity
        found     'abc'
        expected  a hash 'sha512-…', or '' for a folder under fixtures"
    `),
  ],
  [
    'a pin without its folder',
    inPack("version: '1.0.0'", "version: '1.1.0'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/pack.ts: sources.survey.pins.0.integrity
        found     '' and no folder fixtures/towers/1.1.0
        expected  a hash 'sha512-…', or the source shipped in that folder"
    `),
  ],
  [
    'a misspelt name of a value',
    inCollector('values: { code, name, town }', 'values: { code, name, twon: town }'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 30 values under 'twon', expected the name of an attribute; nearest 'town' (collect.ts:11), such as row 1 of towers@1.0.0: "Ringham"
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a misspelt member',
    inCollector('source_url:', 'sourceUrl:'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 30 rows with the member 'sourceUrl', expected only identity, values, source_url, evidence, confidence; nearest 'source_url' (collect.ts:12), such as row 1 of towers@1.0.0
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'value for values',
    inCollector('values:', 'value:'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 30 rows with the member 'value', expected only identity, values, source_url, evidence, confidence; nearest 'values' (collect.ts:11), such as row 1 of towers@1.0.0
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'yield null',
    inCollector('    for (', '    yield null;\n    for ('),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 1 of 31 rows of towers@1.0.0 could not be read (3.23 %; tolerate.rows: 0 %), such as row 1 is null, expected an object {identity, values, source_url, evidence, confidence} (collect.ts:8)
      bells: Rows left out: see <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'yield a string',
    inCollector('    for (', "    yield 'T1';\n    for ("),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 1 of 31 rows of towers@1.0.0 could not be read (3.23 %; tolerate.rows: 0 %), such as row 1 is "T1", expected an object {identity, values, source_url, evidence, confidence}
      bells: Rows left out: see <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'an exception',
    inCollector('identity: { code }', 'identity: { code: code.id.text }'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: towers@1.0.0 could not be read: Cannot read properties of undefined (reading 'text') (collect.ts:10)
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'no end',
    all(
      inPack('trust: 0.9,', 'trust: 0.9, timeout_minutes: 0.001,'),
      inCollector('    for (', '    await new Promise(() => {});\n    for ('),
    ),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: towers@1.0.0 could not be read: no observation for 0.001 minutes (timeout_minutes of the source)
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'no asterisk',
    write('collect.ts', COLLECT.replace('async *read', 'async read').replace('yield {', 'void {')),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: towers@1.0.0 could not be read: \`read\` returns no rows: write \`async *read(reading, context)\`, with the asterisk, and \`yield\` each row
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'no identity in a row',
    inCollector('        identity: { code },\n', ''),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: towers@1.0.0 could not be read: all of its 30 rows lack code, which identifies a record
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'an empty identity in one row',
    inCollector('identity: { code }', "identity: { code: code === 'T3' ? '' : code }"),
    (text) =>
      expect(text).toMatchInlineSnapshot(
        `"bells: survey: 1 row without \`code\`, such as row 3 of towers@1.0.0: left out"`,
      ),
  ],
  [
    'an unknown name in the identity',
    inCollector('identity: { code }', 'identity: { code, nam: name }'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 30 rows with the identity 'nam', expected only code, which identify a record (collect.ts:10), such as row 1 of towers@1.0.0
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a relative address',
    inCollector("'https://survey.example/' + code", "'/towers/' + code"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 30 of 30 values of each of code, name, town in towers@1.0.0 are wrong (100 %; tolerate.values: 0.1 %), such as code source_url of t1 is "/towers/T1", expected an http or https address; code source_url of t2 is "/towers/T2", expected an http or https address; code source_url of t3 is "/towers/T3", expected an http or https address
      bells: 90 values rejected. See <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'confidence 7',
    inCollector('source_url:', 'confidence: 7,\n        source_url:'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 30 of 30 values of each of code, name, town in towers@1.0.0 are wrong (100 %; tolerate.values: 0.1 %), such as code confidence of t1 is 7, expected a number from 0 to 1; code confidence of t2 is 7, expected a number from 0 to 1; code confidence of t3 is 7, expected a number from 0 to 1
      bells: 90 values rejected. See <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a number as evidence',
    inCollector('source_url:', 'evidence: 12,\n        source_url:'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 30 of 30 values of each of code, name, town in towers@1.0.0 are wrong (100 %; tolerate.values: 0.1 %), such as code evidence of t1 is 12, expected a text; code evidence of t2 is 12, expected a text; code evidence of t3 is 12, expected a text
      bells: 90 values rejected. See <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'an unknown pin in context.folder',
    inCollector('    for (', "    await context.folder('tower', '1.0.0');\n    for ("),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: towers@1.0.0 could not be read: tower@1.0.0 is not a pin of this pack (collect.ts:8)
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a file that the package lacks',
    inCollector("'towers.json'", "'tower.json'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: towers@1.0.0 could not be read: ENOENT: no such file or directory, open '<pack>/fixtures/towers/1.0.0/tower.json'
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'no collect.ts',
    remove('collect.ts'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/collect.ts
        found     no such file
        expected  collect.ts with a default export"
    `),
  ],
  [
    'a collector without read',
    inCollector('async *read', 'async *reed'),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/collect.ts: default.read
        found     nothing
        expected  export default defineCollector({ async *read(reading, context) { … } })"
    `),
  ],
  [
    'a module that is not installed',
    inCollector("'node:path'", "'left-pad'"),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "1 mistake in pack <pack>

      <pack>/collect.ts: line 2
        found     Error: Cannot find package 'left-pad' imported from <pack>/collect.ts
        expected  a module that can be imported"
    `),
  ],
];

const IN_DATA: Mistake[] = [
  [
    'a complete source that shrinks',
    all(),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
        "bells: survey: towers.csv (2026-11-01) lists 20 records, and the reading before listed 30: 33.3 % fewer (max_drop: 10 %). If that is right, run \`npm run nightly -- --only bells --accept\` once, or set max_drop of the source
        bells: stopped; nothing was added; release <id> stays current"
      `),
    { later: csvFile(towers.slice(0, 20).map((tower) => ({ ...tower, surveyed: '2026-11-01' }))) },
  ],
  [
    'a date in the future',
    csvFile(withTower(2, { built: '2027-01-01' })),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 1 of 30 values of built in towers.csv (2026-10-01) is wrong (3.33 %; tolerate.values: 0.1 %), such as built of t3 (line 4) is "2027-01-01", expected a date that is not in the future (today is 2026-11-20)
      bells: 1 value rejected. See <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a time of observation in the future',
    csvFile(withTower(2, { surveyed: '2027-01-01' })),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 1 of 30 rows of towers.csv (2026-10-01) could not be read (3.33 %; tolerate.rows: 0 %), such as line 4 is "surveyed: 2027-01-01", expected a time that is not in the future
      bells: Rows left out: see <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a record listed twice',
    all(inPack("observed_at: { column: 'surveyed' }, ", ''), csvFile(withTower(2, { code: 'T2' }))),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
      "bells: survey: 1 of 30 values of each of name, town, height, built in towers.csv (2026-10-01) is wrong (3.33 %; tolerate.values: 0.1 %), such as name of t2 (line 4) is "Tower 3", expected one value in a reading: an earlier row of this record has another, which counts
      bells: survey: nothing reads these columns of towers.csv: 'surveyed'
      bells: survey: 1 record is listed more than once in a reading; the first value counts: t2
      bells: 4 values rejected. See <data>/runs/bells.rejected.jsonl
      bells: stopped; nothing was added; there is no release yet"
    `),
  ],
  [
    'a column that disappears',
    all(),
    (text) =>
      expect(text).toMatchInlineSnapshot(
        `"bells: survey: towers.csv has no column 'height_m' for height; its columns are 'code', 'name', 'town', 'status', 'built', 'price.visit', 'surveyed'"`,
      ),
    { later: csvFile(towers.map(({ height_m, ...tower }) => tower)) },
  ],
  [
    'a test of the pack that fails',
    csvFile(towers.map((tower) => ({ ...tower, height_m: '' }))),
    (text) =>
      expect(text).toMatchInlineSnapshot(`
        "bells: height: 0 % filled; the pack requires at least 50 %. If that is right, change the test \`fill\` of height in pack.ts; --accept does not skip it
        bells: refused; there is no release yet"
      `),
  ],
];

const DECLARED: Mistake[] = [...IN_PACK, ...IN_FILES, ...ROWS_SRC, ...IN_DATA];

test('the packs without a mistake', async () => {
  for (const files of [declaredFiles, collectedFiles])
    expect(await printed(files(), () => {})).toEqual({ text: '', attempt: [] });
});

/** Sentences of the nightly run that `pack try` need not print: about files, and what happens to the release. */
const OF_THE_NIGHT =
  /^(\d+ values? rejected\. See|Rows left out: see|stopped;|refused;|\w+: .* % filled; the pack requires|no source could be read$)/;

/** Asserts that a text has no line, and no example or list of members, twice. */
function expectOnce(text: string): void {
  const parts = text.split(/\n|; |, such as /).filter((part) => part.length > 25);
  expect(parts.filter((part, i) => parts.indexOf(part) < i)).toEqual([]);
}

/** Asserts that each sentence has a file and a path in it, a source, or an attribute. */
function expectPlace(text: string): void {
  const checked = text.startsWith('1 mistake') || /^\d+ mistakes/.test(text);
  const parts = checked ? text.split('\n\n').slice(1) : text.split('\n').map((line) => line.replace(/^bells: /, ''));
  const place = checked
    ? /^<pack>\/[\w.]+(: .+)?\n {2}found {5}.+\n {2}expected {2}./
    : /^(survey: .|height: |\d+ values? rejected\. See|Rows left out: see|no source could|stopped|refused)/;
  for (const part of parts) expect(part).toMatch(place);
}

describe.each([
  ['a declared source', DECLARED, declaredFiles],
  ['a collector', IN_COLLECTOR, collectedFiles],
] as const)('%s', (_, mistakes, files) => {
  test.each(mistakes)('%s', async (_name, change, assert, options) => {
    const { text, attempt } = await printed(files(), change, options);
    assert(text);
    expectPlace(text);
    expectOnce(text);
    if (attempt === null) return;
    const night = text.split('\n').map((line) => line.replace(/^bells: /, ''));
    const sentences = night.filter((line) => !OF_THE_NIGHT.test(line));
    expect(attempt.filter((line) => !OF_THE_NIGHT.test(line)).sort()).toEqual(sentences.sort());
  });
});
