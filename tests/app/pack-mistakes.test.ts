// Mistakes of a publisher, each in a copy of a working pack: the complete message of the check or of the nightly
// run. `pack try` prints the same sentences, and none twice. The rules of definePack, of loading and of collection
// have their own tests, with more mistakes: packs/define, tests/process/pack-loading.test.ts, build/collect.
import { once } from 'node:events';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { runPackCommand } from '../../build/cli/pack.ts';
import { tryPack } from '../../build/cli/try.ts';
import { errorLine } from '../../build/collect/report.ts';
import { Web, type WebOptions } from '../../build/crawl/web.ts';
import type { Effects } from '../../build/effects/effects.ts';
import { DatasetStopped, datasetNight } from '../../build/night/dataset.ts';
import { publicOnly, WEB_PORTS } from '../../data/model/guard.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { scratchOfAll, still } from '../support/night-pack.ts';

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

const server = createServer((request, response) => {
  const status = Number(/^\/status\/(\d+)/.exec(request.url!)?.[1] ?? 404);
  response.writeHead(status, { 'retry-after': '0' }).end('{"error": "no"}');
});
const temp = scratchOfAll();
server.listen(0);
await once(server, 'listening');
const port = (server.address() as AddressInfo).port;
afterAll(() => server.close());

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
  const options = { rows: 40, source: null, dataDir: data };
  await tryPack(pack, options, effects(guard), (line) => void attempt.push(clean(line)));
  return { text, attempt: attempt.filter((line) => line.startsWith('! ')).map((line) => line.slice(2)) };
}

interface Options {
  /** Private addresses are refused. */
  guard?: boolean;
  later?: Change;
}
type Mistake = [name: string, change: Change, expected: string, options?: Options];

/** The output of the check about one mistake. */
const mistake = (place: string, value: string, expected: string, nearest?: string) =>
  `1 mistake in pack <pack>\n\n<pack>/${place}\n  found     ${value}\n  expected  ${expected}` +
  (nearest === undefined ? '' : `\n  nearest   '${nearest}'`);
const misspelt = (place: string, members: string, nearest?: string) =>
  mistake(place, `a member '${/\w+$/.exec(place)![0]}'`, `one of ${members}`, nearest);
const unknownAttribute = (place: string, name: string, nearest: string) =>
  mistake(place, `'${name}'`, 'the name of an attribute', nearest);

/** Lines of the nightly run about the source, and its last lines. */
const warnings = (...sentences: string[]) => sentences.map((sentence) => `bells: survey: ${sentence}`).join('\n');
const unread = (sentence: string) => `${warnings(sentence)}\nbells: no source could be read`;
const stopped = (...sentences: string[]) =>
  `${warnings(...sentences)}\nbells: stopped; nothing was added; there is no release yet`;
const rejected = (values: number, ...sentences: string[]) =>
  stopped(...sentences).replace(
    /(?=\nbells: stopped)/,
    `\nbells: ${values} value${values === 1 ? '' : 's'} rejected. See <data>/runs/bells.rejected.jsonl`,
  );
const leftOut = (...sentences: string[]) =>
  stopped(...sentences).replace(/(?=\nbells: stopped)/, '\nbells: Rows left out: see <data>/runs/bells.rejected.jsonl');
/** The last lines where the file contains no height. */
const UNFILLED =
  'bells: height: 0 % filled; the pack requires at least 50 %. If that is right, change the test `fill` of height in ' +
  'pack.ts; --accept does not skip it\nbells: refused; there is no release yet';

const SQL = `CREATE TABLE towers (code TEXT, name TEXT); INSERT INTO towers VALUES ('T1', 'Tower 1')`;

const IN_PACK: Mistake[] = [
  [
    'a misspelt member of from',
    inPack('observed_at: {', 'observedAt: {'),
    misspelt(
      'pack.ts: sources.survey.from.observedAt',
      'kind, file, attributes, decimal, thousands, date, timezone, missing, columns, where, observed_at, source_url, evidence, inside, max_bytes, delimiter, encoding, skip_lines',
      'observed_at',
    ),
  ],
  [
    'a misspelt member of a column rule',
    inPack("height: 'height_m'", "height: { colum: 'height_m' }"),
    misspelt(
      'pack.ts: sources.survey.from.attributes.height.colum',
      'lat, lng, constant, column, decimal, thousands, date, trim, missing, truths, separator, multiply',
      'column',
    ),
  ],
  [
    'a misspelt member of a range',
    inPack('range: { min: 0, max', 'range: { minimum: 0, max'),
    misspelt('pack.ts: attributes.height.range.minimum', 'min, max'),
  ],
  [
    'a misspelt member of prices',
    inPack('prices: { search', 'prices: { serach'),
    misspelt('pack.ts: prices.serach', 'search, get, facts, prices, compare, stats', 'search'),
  ],
  [
    'a misspelt member of a test',
    inPack('min: 0.5', 'minn: 0.5'),
    misspelt('pack.ts: tests.0.minn', 'kind, attribute, min, max, values', 'min'),
  ],
  [
    'a text for a number',
    inPack('trust: 0.9', "trust: '0.9'"),
    mistake('pack.ts: sources.survey.trust', "'0.9'", 'a trust from 0 to 1'),
  ],
  [
    'a text for a list',
    inPack("compare: ['height', 'town']", "compare: 'height'"),
    mistake('pack.ts: compare', "'height'", 'a list of attribute names'),
  ],
  [
    'no licence of a source',
    inPack("      license: 'CC0-1.0',\n", ''),
    mistake('pack.ts: sources.survey.license', 'nothing', 'the licence of the source'),
  ],
  [
    'an address without a scheme',
    inPack("url: 'https://survey.example/'", "url: 'survey.example'"),
    mistake('pack.ts: sources.survey.url', "'survey.example'", 'an http or https address'),
  ],
  [
    'an unknown attribute in from.attributes',
    inPack("height: 'height_m'", "heigt: 'height_m'"),
    unknownAttribute('pack.ts: sources.survey.from.attributes.heigt', 'heigt', 'height'),
  ],
  [
    'an unknown attribute in gone',
    inPack("attribute: 'status', value", "attribute: 'state', value"),
    unknownAttribute('pack.ts: gone.attribute', 'state', 'status'),
  ],
  [
    'a reserved name of an attribute',
    inPack('    name: { type', '    limit: { type'),
    `2 mistakes in pack <pack>

<pack>/pack.ts: attributes.limit
  found     the name 'limit'
  expected  another name: this one is a search parameter, a sort key or a member of every object

<pack>/samples.json: 0.values.name
  found     a value for 'name'
  expected  the name of an attribute`,
  ],
  [
    'a bad schedule',
    inPack('0 3 * * *', '0 25 * * *'),
    mistake('pack.ts: schedule', "'0 25 * * *'", 'a cron expression in UTC: hour 0 to 23, such as *, 0, 0-23 or */2'),
  ],
  [
    'an example that does not fit',
    inPack("example: '1910-05-17'", "example: '17.05.1910'"),
    mistake('pack.ts: attributes.built.example', "'17.05.1910'", 'a date, YYYY-MM-DD'),
  ],
  [
    'sqlite without table',
    from("sqlite('towers.sqlite', {})"),
    mistake('pack.ts: sources.survey.from', 'no table and no query', 'a table or a query'),
  ],
  [
    'from and crawl together',
    inPack(FROM, `${FROM}, crawl: { urls: ['https://survey.example/'] }`),
    mistake('pack.ts: sources.survey.crawl', 'crawl and from', 'one of them'),
  ],
  [
    'pins with postgres',
    inPack(FROM, `from: postgres({ query: 'SELECT 1' }), pins: [${PIN}]`),
    mistake(
      'pack.ts: sources.survey.from',
      'postgres(…) and pins or newest',
      'no pins and no newest: only files are read from packages',
    ),
  ],
  [
    'an unknown encoding',
    inPack("csv('towers.csv', {", "csv('towers.csv', { encoding: 'latin-99',"),
    mistake(
      'pack.ts: sources.survey.from.encoding',
      "'latin-99'",
      'a label of the Encoding Standard, such as utf-8 or windows-1252',
    ),
  ],
  [
    'an unknown delimiter',
    inPack("csv('towers.csv', {", "csv('towers.csv', { delimiter: ':',"),
    mistake('pack.ts: sources.survey.from.delimiter', "':'", "one of ',', ';', '\\t' and '|'"),
  ],
  [
    'a pattern of dates without a year',
    inPack("csv('towers.csv', {", "csv('towers.csv', { date: 'TT.MM.JJJJ',"),
    mistake(
      'pack.ts: sources.survey.from.date',
      "'TT.MM.JJJJ'",
      "a pattern with YYYY, such as 'DD.MM.YYYY', or 'unix' or 'unix_ms', or a list of them",
    ),
  ],
  [
    'an import that does not exist',
    inPack("'dataset-register/pack'", "'dataset-registre/pack'"),
    mistake(
      'pack.ts: line 1',
      "Error: Cannot find package 'dataset-registre/pack' imported from <pack>/pack.ts",
      'a module that can be imported',
      'dataset-register/pack',
    ),
  ],
  [
    'no default export',
    inPack('export default definePack', 'export const pack = definePack'),
    mistake('pack.ts: default', 'nothing', 'export default definePack({ … })'),
  ],
];

const IN_FILES: Mistake[] = [
  [
    'an unclosed tag in record.md',
    edit('record.md', '{{ record.name }}', '{% if record.name %}'),
    mistake('record.md: line 1, column 3', 'tag {% if record.name %} not closed', 'a LiquidJS template'),
  ],
  [
    'samples.json that is not JSON',
    edit('samples.json', '"code":"S1"', 'code:"S1"'),
    mistake('samples.json', "Expected property name or '}' in JSON at position 14 (line 1 column 15)", 'JSON'),
  ],
  [
    'no samples',
    write('samples.json', '[]'),
    mistake('samples.json', '[]', 'a list of at least one fictional record {identity, values}'),
  ],
];

const ROWS_SRC: Mistake[] = [
  [
    'a file that does not exist',
    from("csv('tower.csv')"),
    unread(
      'no file tower.csv in <pack>: the folder contains guide.md, pack.ts, record.md, samples.json, towers.csv; nearest: towers.csv',
    ),
  ],
  [
    'a pattern without a match',
    from("csv('exports/*.csv')"),
    unread(
      'no file exports/*.csv in <pack>: the folder contains guide.md, pack.ts, record.md, samples.json, towers.csv',
    ),
  ],
  [
    'a wrong name of a column',
    inPack('height_m', 'hight_m'),
    warnings(
      "towers.csv has no column 'hight_m' for height (nearest 'height_m'); its columns are 'code', 'name', 'town', 'status', 'height_m', 'built', 'price.visit', 'surveyed'",
    ),
  ],
  [
    'a wrong column of the time',
    inPack("column: 'surveyed'", "column: 'survey_date'"),
    warnings(
      "towers.csv has no column 'survey_date' for observed_at; its columns are 'code', 'name', 'town', 'status', 'height_m', 'built', 'price.visit', 'surveyed'",
    ),
  ],
  [
    'a wrong delimiter',
    inPack("csv('towers.csv', {", "csv('towers.csv', { delimiter: ';',"),
    warnings(
      "towers.csv has no column 'height_m' for height, no column 'surveyed' for observed_at; its columns are 'code,name,town,status,height_m,built,price.visit,surveyed'; is the delimiter right?",
    ),
  ],
  [
    'a file in Latin-1 read as UTF-8',
    write('towers.csv', Buffer.from(csvOf(withTower(3, { name: 'Glockenstühl' })), 'latin1')),
    rejected(
      1,
      '1 of 30 values of name in towers.csv (2026-10-01) is wrong (3.33 %; tolerate.values: 0.1 %), such as name in line 5, column name, is "Glockenst�hl", expected text in the encoding of the source; some bytes are not valid',
    ),
  ],
  [
    'an undeclared decimal comma',
    csvFile(
      towers.map((tower) => ({ ...tower, height_m: tower.height_m.replace('.', ',') })),
      ';',
    ),
    rejected(
      30,
      '30 of 30 values of height in towers.csv (2026-10-01) are wrong (100 %; tolerate.values: 0.1 %), such as height in line 2, column height_m, is "20,5", expected a number with \'.\' as decimal sign; height in line 3, column height_m, is "21,5", expected a number with \'.\' as decimal sign; height in line 4, column height_m, is "22,5", expected a number with \'.\' as decimal sign',
    ),
  ],
  [
    '1.000 without a declared decimal sign',
    csvFile(withTower(2, { 'price.visit': '1.000' })),
    rejected(
      1,
      "1 of 30 values of price.visit in towers.csv (2026-10-01) is wrong (3.33 %; tolerate.values: 0.1 %), such as price.visit in line 4, column price.visit, is \"1.000\", expected a number; it may mean thousands or decimals: set decimal to '.' or ','",
    ),
  ],
  [
    'a hexadecimal number',
    csvFile(withTower(2, { height_m: '0x10' })),
    rejected(
      1,
      '1 of 30 values of height in towers.csv (2026-10-01) is wrong (3.33 %; tolerate.values: 0.1 %), such as height in line 4, column height_m, is "0x10", expected a number with \'.\' as decimal sign',
    ),
  ],
  [
    'a number out of range',
    csvFile(withTower(2, { height_m: '5000' })),
    rejected(
      1,
      '1 of 30 values of height in towers.csv (2026-10-01) is wrong (3.33 %; tolerate.values: 0.1 %), such as height of t3 (line 4, column height_m) is 5000, expected a number of at most 500',
    ),
  ],
  [
    'a value outside of the list',
    csvFile(withTower(2, { status: 'lsited' })),
    rejected(
      1,
      '1 of 30 values of status in towers.csv (2026-10-01) is wrong (3.33 %; tolerate.values: 0.1 %), such as status of t3 (line 4) is "lsited", expected one of listed, gone; nearest \'listed\'',
    ),
  ],
  [
    'a wrong pattern of dates',
    inPack("height: 'height_m'", "height: 'height_m', built: { date: 'DD.MM.YYYY' }"),
    rejected(
      30,
      '30 of 30 values of built in towers.csv (2026-10-01) are wrong (100 %; tolerate.values: 0.1 %), such as built in line 2, column built, is "1910-05-17", expected a date, DD.MM.YYYY; built in line 3, column built, is "1911-05-17", expected a date, DD.MM.YYYY; built in line 4, column built, is "1912-05-17", expected a date, DD.MM.YYYY',
    ),
  ],
  [
    'a duplicate header',
    edit('towers.csv', 'code,name,town', 'code,name,name'),
    warnings(
      "towers.csv: the header has two columns 'name' (columns 2 and 3); rename one, or read the second as 'name (column 3)'",
    ),
  ],
  [
    'a short row',
    edit('towers.csv', 'T3,Tower 3,', 'T3,'),
    leftOut(
      '1 of 30 rows of towers.csv (2026-10-01) could not be read (3.33 %; tolerate.rows: 0 %), such as line 4 is "T3,Chimewick,listed,22.5,1912-05-17,3.50,2026-10-01", expected 8 fields, as the header has (the row has 7)',
    ),
  ],
  [
    'a long row',
    edit('towers.csv', 'T3,Tower 3,', 'T3,Tower 3,,'),
    leftOut(
      '1 of 30 rows of towers.csv (2026-10-01) could not be read (3.33 %; tolerate.rows: 0 %), such as line 4 is "T3,Tower 3,,Chimewick,listed,22.5,1912-05-17,3.50,2026-10-0…, expected 8 fields, as the header has (the row has 9)',
    ),
  ],
  [
    'an unclosed quote',
    edit('towers.csv', 'T3,Tower 3,', 'T3,"Tower 3,'),
    leftOut(
      '1 of 30 rows of towers.csv (2026-10-01) could not be read (3.33 %; tolerate.rows: 0 %), such as line 4 is "T3,\\"Tower 3,Chimewick,listed,22.5,1912-05-17,3.50,2026-10-…, expected a closing quote',
    ),
  ],
  ['an empty file', write('towers.csv', ''), unread('towers.csv has no header: it contains no row')],
  [
    'a header only',
    write('towers.csv', csvOf(towers).split('\n')[0]!),
    `${warnings('towers.csv has no rows')}\n${UNFILLED}`,
  ],
  [
    'an unread column where the columns are exact',
    all(
      inPack("csv('towers.csv', {", "csv('towers.csv', { columns: 'exact',"),
      csvFile(towers.map((tower) => ({ ...tower, Town: 'x' }))),
    ),
    warnings("towers.csv has columns that nothing reads: 'Town'"),
  ],
  [
    'a column that nothing reads',
    csvFile(towers.map(({ status, ...tower }) => ({ ...tower, state: status }))),
    warnings("nothing reads these columns of towers.csv: 'state' (nearest 'status')"),
  ],
  [
    'a function that throws',
    inPack("height: 'height_m'", 'height: (row) => row.height_m.metres.value'),
    stopped(
      "towers.csv (2026-10-01) could not be read: attributes.height of source survey throws at line 2 of towers.csv: Cannot read properties of undefined (reading 'value') (pack.ts:15)",
    ),
  ],
  [
    'a wrong path of the items',
    all(
      write('towers.json', JSON.stringify({ data: { items: towers } })),
      from("json('towers.json', { items: 'data.itms' })"),
    ),
    unread('towers.json has no list data.itms: its lists are data.items; nearest: data.items'),
  ],
  [
    'no items where the document is no list',
    all(write('towers.json', JSON.stringify({ data: { items: towers } })), from("json('towers.json')")),
    unread('towers.json is no list; set items to the path of its list: its lists are data.items'),
  ],
  [
    'a file that is not JSON',
    all(write('towers.json', JSON.stringify(towers, null, 1).replace('"T3"', 'T3')), from("json('towers.json')")),
    unread("towers.json is not JSON: line 23, column 11: Unexpected token 'T'"),
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
    leftOut(
      '1 of 30 rows of towers.jsonl (2026-10-01) could not be read (3.33 %; tolerate.rows: 0 %), such as line 3 is "{\\"code\\":T3,\\"name\\":\\"Tower 3\\",\\"town\\":\\"Chimewick\\",\\"…, expected a JSON object of at most 100 levels',
      "nothing reads these columns of towers.jsonl: 'height_m' (nearest 'height'), 'surveyed'",
    ),
  ],
  [
    'a name that no row of JSON lines has',
    all(
      write('towers.jsonl', towers.map((tower) => JSON.stringify(tower)).join('\n')),
      from("jsonl('towers.jsonl', { attributes: { height: 'heigth_m' } })"),
    ),
    `${warnings("nothing reads these columns of towers.jsonl: 'height_m' (nearest 'height'), 'surveyed'", "no row of towers.jsonl has these columns: 'heigth_m' (nearest 'height_m')")}\n${UNFILLED}`,
  ],
  [
    'a wrong table',
    all(write('towers.sqlite', SQL), from("sqlite('towers.sqlite', { table: 'tower' })")),
    unread('towers.sqlite has no table tower: its tables are towers; nearest: towers'),
  ],
  [
    'a wrong query',
    all(write('towers.sqlite', SQL), from("sqlite('towers.sqlite', { query: 'SELECT cod FROM towers' })")),
    unread('the query on towers.sqlite: no such column: cod'),
  ],
  [
    'a CSV declared as SQLite',
    from("sqlite('towers.csv', { table: 'towers' })"),
    unread('towers.csv cannot be read as a SQLite file: file is not a database'),
  ],
  [
    'an environment variable that is not set, for a database',
    from("postgres({ query: 'SELECT 1' })"),
    unread('the environment variable SOURCE_DATABASE_URL is not set, expected by from.url_env in pack.ts'),
  ],
  [
    'an environment variable that is not set, for a header',
    (files) =>
      from(`http('http://localhost:${port}/status/200', { headers: { authorization: 'Bearer $' + '{API_KEY}' } })`)(
        files,
      ),
    unread('the environment variable API_KEY is not set, expected by from.headers.authorization in pack.ts'),
  ],
  [
    'HTTP 401',
    (files) => from(`http('http://localhost:${port}/status/401/towers.json')`)(files),
    unread('http://localhost:<port>/status/401/towers.json answered 401; does the source need a key in a header?'),
  ],
  [
    'HTTP 404',
    (files) => from(`http('http://localhost:${port}/status/404/towers.json')`)(files),
    unread('http://localhost:<port>/status/404/towers.json answered 404, expected 200; is the address right?'),
  ],
  [
    'HTTP 500',
    (files) => from(`http('http://localhost:${port}/status/500/towers.json')`)(files),
    unread('http://localhost:<port>/status/500/towers.json answered 500 after 4 tries'),
  ],
  [
    'a private address',
    (files) => from(`http('http://localhost:${port}/status/200')`)(files),
    unread(
      'http://localhost:<port>/status/200 is not read: port <port> is not allowed; use 80 or 443; add its host and port to COLLECT_ALLOW_HOSTS if it is yours',
    ),
    { guard: true },
  ],
  [
    'a host that does not exist',
    from("http('http://no-such-host.invalid/towers.json')"),
    unread(
      'http://no-such-host.invalid/towers.json is not read, because robots.txt of no-such-host.invalid is not available: tests have no network: something tried to connect to no-such-host.invalid',
    ),
  ],
];

const IN_COLLECTOR: Mistake[] = [
  [
    'a misspelt member of a pin',
    inPack('integrity:', 'integrety:'),
    misspelt(
      'pack.ts: sources.survey.pins.0.integrety',
      'package, version, integrity, observed_at, date_source',
      'integrity',
    ),
  ],
  [
    'an integrity that is no hash',
    inPack("integrity: ''", "integrity: 'abc'"),
    mistake(
      'pack.ts: sources.survey.pins.0.integrity',
      "'abc'",
      "a hash 'sha512-…', or '' for a folder under fixtures",
    ),
  ],
  [
    'yield null',
    inCollector('    for (', '    yield null;\n    for ('),
    leftOut(
      '1 of 31 rows of towers@1.0.0 could not be read (3.23 %; tolerate.rows: 0 %), such as row 1 is null, expected an object {identity, values, source_url, evidence, confidence} (collect.ts:8)',
    ),
  ],
  [
    'an exception',
    inCollector('identity: { code }', 'identity: { code: code.id.text }'),
    stopped("towers@1.0.0 could not be read: Cannot read properties of undefined (reading 'text') (collect.ts:10)"),
  ],
  [
    'a relative address',
    inCollector("'https://survey.example/' + code", "'/towers/' + code"),
    rejected(
      90,
      '30 of 30 values of each of code, name, town in towers@1.0.0 are wrong (100 %; tolerate.values: 0.1 %), such as code source_url of t1 is "/towers/T1", expected an http or https address; code source_url of t2 is "/towers/T2", expected an http or https address; code source_url of t3 is "/towers/T3", expected an http or https address',
    ),
  ],
  [
    'confidence 7',
    inCollector('source_url:', 'confidence: 7,\n        source_url:'),
    rejected(
      90,
      '30 of 30 values of each of code, name, town in towers@1.0.0 are wrong (100 %; tolerate.values: 0.1 %), such as code confidence of t1 is 7, expected a number from 0 to 1; code confidence of t2 is 7, expected a number from 0 to 1; code confidence of t3 is 7, expected a number from 0 to 1',
    ),
  ],
  [
    'a number as evidence',
    inCollector('source_url:', 'evidence: 12,\n        source_url:'),
    rejected(
      90,
      '30 of 30 values of each of code, name, town in towers@1.0.0 are wrong (100 %; tolerate.values: 0.1 %), such as code evidence of t1 is 12, expected a text; code evidence of t2 is 12, expected a text; code evidence of t3 is 12, expected a text',
    ),
  ],
  [
    'an unknown pin in context.folder',
    inCollector('    for (', "    await context.folder('tower', '1.0.0');\n    for ("),
    stopped('towers@1.0.0 could not be read: tower@1.0.0 is not a pin of this pack (collect.ts:8)'),
  ],
  [
    'a file that the package lacks',
    inCollector("'towers.json'", "'tower.json'"),
    stopped(
      "towers@1.0.0 could not be read: ENOENT: no such file or directory, open '<pack>/fixtures/towers/1.0.0/tower.json'",
    ),
  ],
  ['no collect.ts', remove('collect.ts'), mistake('collect.ts', 'no such file', 'collect.ts with a default export')],
  [
    'a module that is not installed',
    inCollector("'node:path'", "'left-pad'"),
    mistake(
      'collect.ts: line 2',
      "Error: Cannot find package 'left-pad' imported from <pack>/collect.ts",
      'a module that can be imported',
    ),
  ],
];

const IN_DATA: Mistake[] = [
  [
    'a time of observation in the future',
    csvFile(withTower(2, { surveyed: '2027-01-01' })),
    leftOut(
      '1 of 30 rows of towers.csv (2026-10-01) could not be read (3.33 %; tolerate.rows: 0 %), such as line 4 is "surveyed: 2027-01-01", expected a time that is not in the future',
    ),
  ],
  [
    'a record listed twice',
    all(inPack("observed_at: { column: 'surveyed' }, ", ''), csvFile(withTower(2, { code: 'T2' }))),
    rejected(
      4,
      '1 of 30 values of each of name, town, height, built in towers.csv (2026-10-01) is wrong (3.33 %; tolerate.values: 0.1 %), such as name of t2 (line 4) is "Tower 3", expected one value in a reading: an earlier row of this record has another, which counts',
      "nothing reads these columns of towers.csv: 'surveyed'",
      '1 record is listed more than once in a reading; the first value counts: t2',
    ),
  ],
  [
    'a column that disappears',
    all(),
    warnings(
      "towers.csv has no column 'height_m' for height; its columns are 'code', 'name', 'town', 'status', 'built', 'price.visit', 'surveyed'",
    ),
    { later: csvFile(towers.map(({ height_m, ...tower }) => tower)) },
  ],
  ['a test of the pack that fails', csvFile(towers.map((tower) => ({ ...tower, height_m: '' }))), UNFILLED],
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
  test.each(mistakes)('%s', async (_name, change, expected, options) => {
    const { text, attempt } = await printed(files(), change, options);
    expect(text).toBe(expected);
    expectPlace(text);
    expectOnce(text);
    if (attempt === null) return;
    const night = text.split('\n').map((line) => line.replace(/^bells: /, ''));
    const sentences = night.filter((line) => !OF_THE_NIGHT.test(line));
    expect(attempt.filter((line) => !OF_THE_NIGHT.test(line)).sort()).toEqual(sentences.sort());
  });
});
