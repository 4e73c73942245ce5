// Any text in every place where a source or a pack can put one: `pack from`, a night, files, formats and SQL give the
// stored form of contract section 5, "Text".
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { runPackCommand } from '../../../build/cli/pack.ts';
import { Duck, quotedText } from '../../../data/duckdb/duck.ts';
import { paths } from '../../../data/model/layout.ts';
import { testApp } from '../../support/app.ts';
import { scratch } from '../../support/night-pack.ts';

const LEGAL = ['--license', 'CC0-1.0', '--license-url', 'https://a.example/cc0', '--attribution', 'Someone', '--yes'];

/** The rule, by code points. */
function stored(text: string): string {
  let result = '';
  for (const letter of text.replaceAll('\r\n', '\n')) {
    const code = letter.codePointAt(0)!;
    if (code === 13) result += '\n';
    else if (code === 0 || (code >= 0xd800 && code <= 0xdfff)) result += '\ufffd';
    else if (code === 9 || code === 10 || (code >= 32 && code !== 127 && (code < 128 || code > 159))) result += letter;
  }
  return result.normalize('NFC').trim();
}

const CODES = [...Array.from({ length: 32 }, (_, code) => code), ...Array.from({ length: 33 }, (_, i) => 127 + i)];
const PARTS = [
  ...CODES.map((code) => String.fromCharCode(code)),
  ...[
    '\r\n',
    '\n\r',
    '\r\r\n',
    '\ud800',
    '\udc00',
    '\udc00\ud800',
    '\u200e',
    '\u200f',
    '\u202e',
    '\u2066\u2069',
    '\u061c',
  ],
  ...[
    '"',
    "'",
    '""',
    '\\',
    '\\n',
    ',',
    ';',
    '|',
    '\u2028',
    '\u2029',
    '\u200b',
    '\u00ad',
    'e\u0301',
    '\u1e9b\u0323',
    '😀',
  ],
  ...['<b>&amp;', '{{ x }}', '`', '\t\t', '\n\n', ' \n ', '${1}', '\u0001\u0002\u0003'],
];
const LONG = [999_999, 1_000_000].map((size) => `${'a\t"\n'.repeat(size / 4)}b`.slice(0, size - 1).concat('z'));
const NOTES = [...PARTS.map((part) => `a${part}b`), ...PARTS.map((part) => `=1${part}2`), ...LONG];
/** Members of a closed list: each is in more than 20 rows. */
const KINDS = ['Line one\r\nline\ttwo \u0007"', 'short\u200f', 'Null \0 and \ud800'];
const COLUMN = 'wei\rrd\u0001 "na|me"';
const FILE = 'ta\tb\u200fle.jsonl';

const rows = NOTES.map((note, i) => ({
  code: `k${i}`,
  [COLUMN]: note,
  kind: KINDS[i % KINDS.length]!,
  place: note.slice(0, 900),
  lat: 40 + i / 1000,
  lng: 8 + i / 1000,
}));

test(`${NOTES.length * 2 + KINDS.length} texts are the same in every file, format and query`, async () => {
  const folder = scratch();
  const long = ['a'.repeat(998), 'a'.repeat(999), 'a'.repeat(1000)].map((text) => ({
    code: `${text}b`,
    kind: 'short\u200f',
  }));
  writeFileSync(join(folder, FILE), [...rows, ...long].map((row) => `${JSON.stringify(row)}\n`).join(''));
  const lines: string[] = [];
  const environment = { PACK_DIRS: join(folder, 'packs') };
  const title = ['--title', 'A\r\ntitle\u0007 "x"', '--id', 'table', '--identity', 'code'];
  const context = { cwd: folder, log: (line: string) => void lines.push(line), environment };
  const code = await runPackCommand(['from', FILE, ...title, ...LEGAL], context);
  expect([code, code === 0 ? '' : lines.join('\n')]).toEqual([0, '']);
  const pack = readFileSync(join(folder, 'packs/table/pack.ts'), 'utf8');
  const name = /^ {4}(wei\w+): \{/m.exec(pack)![1]!;
  const tests = join(import.meta.dirname, '../..');
  const app = await testApp({ nights: true, packs: [relative(tests, join(folder, 'packs/table'))] });
  try {
    const expected = new Map(
      rows.map((row) => [row.code, { note: stored(row[COLUMN]!), kind: stored(row.kind), place: stored(row.place) }]),
    );
    for (const text of ['a'.repeat(998), 'a'.repeat(999)])
      expected.set(`${text}b`, { note: '', kind: 'short\u200f', place: '' });
    /** Compares without printing texts of 1 MB. */
    const compare = (channel: string, found: Iterable<[unknown, unknown, unknown, unknown]>) => {
      let count = 0;
      for (const [key, note, kind, place] of found) {
        const row = expected.get(String(key));
        const same =
          row !== undefined &&
          [note ?? '', kind ?? '', place ?? ''].join('\u0000') === [row.note, row.kind, row.place].join('\u0000');
        expect(same, `${channel}: ${String(key).slice(0, 9)} ${JSON.stringify(String(note ?? '').slice(0, 40))}`).toBe(
          true,
        );
        count++;
      }
      expect(count, channel).toBe(expected.size);
    };
    const records = app.records['table']!;
    compare(
      'records.jsonl',
      records.map(({ attributes }) => [attributes['code'], attributes[name], attributes['kind'], attributes['place']]),
    );
    const release = paths.release(app.dataDir, 'table', app.releases['table']!);
    const cells = (text: string) => text.replace(/^'/, '');
    const csv = parse(readFileSync(join(release, 'records.csv')), {
      columns: true,
      record_delimiter: '\r\n',
    }) as Record<string, string>[];
    compare(
      'records.csv',
      csv.map((row) => [row['code'], cells(row[name]!), cells(row['kind']!), cells(row['place']!)]),
    );
    const duck = await Duck.open(join(folder, 'spill'));
    const columns = ['code', name, 'kind', 'place'];
    for (const [file, part] of [
      ['records.parquet', ''],
      ['engine.parquet', ':value'],
    ]) {
      const list = columns.map((column) => `"${column}${part}"`).join();
      compare(
        file!,
        (await duck.rows(`SELECT ${list} FROM read_parquet(${quotedText(join(release, file!))})`)) as never,
      );
    }
    duck.close();
    const ask = async (path: string, init = {}) => {
      const response = await app.ask(path, { admin: true, ...init });
      expect(response.status, path).toBe(200);
      return response;
    };
    const page = `/v1/table/entities?limit=1000&fields=${columns}`;
    const ndjson = (await (await ask(`${page}&format=ndjson`)).text()).trimEnd().split('\n');
    const attributesOf = (line: string) => (JSON.parse(line) as { attributes: Record<string, string> }).attributes;
    compare(
      'ndjson',
      ndjson.map(attributesOf).map((row) => [row['code'], row[name], row['kind'], row['place']]),
    );
    const features: { properties: Record<string, string> }[] = [];
    for (let cursor = ''; ; ) {
      const part = (await (await ask(`${page.replace('1000', '100')}&format=geojson${cursor}`)).json()) as {
        features: typeof features;
        next_cursor: string | null;
      };
      features.push(...part.features);
      if (part.next_cursor === null) break;
      cursor = `&cursor=${part.next_cursor}`;
    }
    compare(
      'geojson',
      features.map(({ properties: row }) => [row['code'], row[name], row['kind'], row['place']]),
    );
    const table = tableFromIPC(new Uint8Array(await (await ask(`${page}&format=arrow`)).arrayBuffer()));
    compare(
      'arrow',
      table
        .toArray()
        .map((row: Record<string, string>) => [row['code'], row[name], row['kind'], row['place']] as never),
    );
    const sql = `SELECT code, "${name}", kind, place FROM "table"`;
    const body = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sql, max_rows: 1000 }),
    };
    compare('sql', ((await (await ask('/v1/table/sql', body)).json()) as { rows: never[] }).rows);
    // Every member of the closed list is found by its value, and pages and Markdown of each record are answered.
    for (const kind of KINDS) {
      const found = (await (
        await ask(`/v1/table/entities?kind=${encodeURIComponent(stored(kind))}&total=true&limit=1`)
      ).json()) as { total: number };
      expect(found.total, kind).toBe([...expected.values()].filter((row) => row.kind === stored(kind)).length);
    }
    for (const { slug, attributes } of records.filter(({ attributes }) => String(attributes[name] ?? '').length < 1000))
      for (const path of [`/v1/table/entities/${slug}.md`, `/datasets/table/${slug}`]) {
        const text = await (await ask(path)).text();
        expect(text.isWellFormed() && !/[\0-\x08\x0b-\x1f\x7f-\x9f]/.test(text), `${path} ${attributes['code']}`).toBe(
          true,
        );
      }
    expect(app.faults).toEqual([]);
  } finally {
    await app.close();
  }
}, 300_000);
