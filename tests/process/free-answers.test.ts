// No free answer depends on a paid value: two registers that differ in one paid value give equal free
// answers.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runNight } from '../../build/night/run.ts';
import { readConfig } from '../../config.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { atOnce } from '../support/at-once.ts';
import { draws } from '../support/draws.ts';
import {
  type Answer,
  BASE,
  type Change,
  datasetProbes,
  documentProbes,
  ownAddress,
  type Probe,
  type Running,
} from '../support/free-probes.ts';
import { startApi } from '../support/money-processes.ts';
import { scratchOfAll, still } from '../support/night-pack.ts';
import { verifies } from '../support/verifies.ts';
import { withCopies } from '../support/whole-night.ts';

verifies('leak.free-answers');

/** Every edition of the Gazette. */
const ISSUES = ['1.0.0', '1.1.0', '2.0.0'];
const pilotbook = (version: string) => `harbours/fixtures/pilotbook/${version}/harbours.jsonl`;
const workbench = (version: string) => `tools/fixtures/@fictional/workbench/${version}/tools.jsonl`;
const toolshed = 'tools/fixtures/@fictional/toolshed/1.0.0/tools.tsv';

type Edit = Pick<Change, 'fixtures' | 'from' | 'to'>;

/**
 * Additions to the fixtures of every register: a paid enum without a list of values, a paid price of two
 * sources and one that is held.
 */
const EVERYWHERE: Edit[] = [
  {
    fixtures: ['tools/pack.ts'],
    from: "type: 'text',\n      description: 'A few sentences about the tool'",
    to: "type: 'enum',\n      description: 'A few sentences about the tool'",
  },
  { fixtures: ISSUES.map(workbench), from: '"runtime": 120,', to: '"runtime": 120, "about": "amber", "rental": 9,' },
  { fixtures: ISSUES.slice(0, 2).map(workbench), from: '"runtime": 600,', to: '"runtime": 600, "rental": 3,' },
  { fixtures: [workbench('2.0.0')], from: '"runtime": 600,', to: '"runtime": 600, "rental": 300,' },
  { fixtures: [toolshed], from: 'Leihgut\tHobel 9', to: 'Nordwerk\tAB-18\tdrill\t\t9\t1.8\t\nLeihgut\tHobel 9' },
];

const CHANGES: Change[] = [
  {
    dataset: 'harbours',
    slug: 'harbour-3',
    attribute: 'berths',
    fixtures: [pilotbook('2.0.0')],
    from: '"berths":14,',
    to: '"berths":15,',
    values: ['14', '15'],
  },
  {
    dataset: 'harbours',
    slug: 'harbour-3',
    attribute: 'languages',
    fixtures: [pilotbook('2.0.0')],
    from: '"Føroyskt"',
    to: '"Íslenska"',
    values: ['Føroyskt', 'Íslenska'],
  },
  {
    dataset: 'harbours',
    slug: 'harbour-3',
    attribute: 'surveyed',
    fixtures: [pilotbook('2.0.0')],
    from: '"surveyed":"2026-07-01"',
    to: '"surveyed":"2026-08-15"',
    values: ['2026-07-01', '2026-08-15'],
  },
  {
    dataset: 'tools',
    slug: 'nordwerk-ab-18',
    attribute: 'runtime',
    fixtures: ISSUES.map(workbench),
    from: '"runtime": 120,',
    to: '"runtime": 4000,',
    values: ['120', '4000'],
  },
  {
    dataset: 'tools',
    slug: 'nordwerk-ab-18',
    attribute: 'summary',
    fixtures: ISSUES.map(workbench),
    from: '"about": "amber"',
    to: '"about": "azure"',
    values: ['amber', 'azure'],
  },
  // The second source differs, and the value is contested.
  {
    dataset: 'tools',
    slug: 'nordwerk-ab-18',
    attribute: 'price.rental',
    fixtures: [toolshed],
    from: 'drill\t\t9\t1.8',
    to: 'drill\t\t11\t1.8',
    values: ['9', '11'],
  },
  // The newest reading is a jump, and is held: 3 stays published.
  {
    dataset: 'tools',
    slug: 'nordwerk-hl-1',
    attribute: 'price.rental',
    fixtures: [workbench('2.0.0')],
    from: '"rental": 300,',
    to: '"rental": 400,',
    values: ['300', '400'],
  },
];

/** Changes of one register: one value of each dataset at a time. */
const VARIANTS: Record<string, Change[]> = {
  number: [CHANGES[0]!, CHANGES[3]!],
  words: [CHANGES[1]!, CHANGES[4]!],
  'date and doubts': [CHANGES[2]!, CHANGES[5]!, CHANGES[6]!],
};

const PACKS = join(import.meta.dirname, '../packs');
/** Calls of a key before another replaces it. */
const CALLS_A_KEY = 40;

/**
 * The quality of a record, which may depend on values of any attribute (contract section 3), as printed in
 * answers.
 */
async function qualityOf({ api }: Running, { dataset, slug }: Change): Promise<string> {
  const { body } = await api.ask(`/v1/${dataset}/entities?ids=${slug}`, ownAddress());
  const { items } = JSON.parse(body) as { items: { quality_score: number }[] };
  return String(items[0]!.quality_score);
}

/** Rows of the files for analysts, by file and table, without variable parts. */
async function tables({ dist }: Running): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const db = await DuckDBInstance.create(':memory:');
  const connection = await db.connect();
  const read = async (name: string, from: string) => {
    const rows = (await connection.runAndReadAll(`FROM ${from} ORDER BY ALL`)).getRowsJson();
    found[name] = stripped(JSON.stringify(rows, null, 1));
  };
  const paths = readdirSync(dist, { recursive: true, encoding: 'utf8' }).sort();
  for (const path of paths.filter((each) => each.endsWith('.parquet'))) await read(path, `'${join(dist, path)}'`);
  for (const path of paths.filter((each) => each.endsWith('.duckdb'))) {
    await connection.run(`ATTACH '${join(dist, path)}' AS file (READ_ONLY)`);
    const all = await connection.runAndReadAll(`SELECT table_name FROM duckdb_tables() WHERE database_name = 'file'`);
    for (const [table] of all.getRows()) await read(`${path} ${String(table)}`, `file."${String(table)}"`);
    await connection.run('DETACH file');
  }
  connection.closeSync();
  db.closeSync();
  return found;
}

/** Removes variable parts: times and ages, ids of requests and releases, tags, sums, keys and cursors. */
function stripped(text: string): string {
  return text
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UUID')
    .replace(/\b[0-9a-f]{64}\b/g, 'SUM')
    .replace(/(?<![\w-])[0-9a-f]{16}(?![\w-])/g, 'RELEASE')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, 'TIME')
    .replace(/(cursor\\?"?[=:]\s?\\?"?)[\w%-]{20,}/g, '$1CURSOR')
    .replace(/("?freshness"?:\s?)\{[^}]*\}/g, '$1AGES')
    .replace(/("?(?:median_age_hours|age_hours|lastUpdated|bytes)"?:\s?)[\d.]+/g, '$1NUMBER')
    .replace(/eyJ[\w-]+\.[\w-]*\.[\w-]+/g, 'JWS');
}

/** Makes a key without credit, since WELCOME_BUDGET_EUR is 0. */
async function changeKey(at: Running): Promise<void> {
  const headers = ownAddress();
  const email = `reader-${headers['X-Forwarded-For']}@example.org`;
  const made = await at.api.ask('/v1/keys', headers, 'POST', JSON.stringify({ email }));
  const { key, balance_eur } = JSON.parse(made.body) as { key: string; balance_eur: number };
  expect(balance_eur).toBe(0);
  at.key = key;
}

/** A register's answer to a caller, without variable parts. */
async function answerTo(at: Running, caller: 'anonymous' | 'key', probe: Probe): Promise<Answer> {
  const asked = `${caller} ${probe.name}`;
  const known = at.answers.get(asked);
  if (known !== undefined) return known;
  if (++at.calls % CALLS_A_KEY === 0) await changeKey(at);
  const { status, body, header } = await probe.ask(at, caller === 'key' ? { 'X-API-Key': at.key } : {});
  expect(status, `${probe.name}: ${body.slice(0, 200)}`).not.toBe(429);
  const headers = [header('x-charge-eur'), header('link') === undefined, header('x-ratelimit-limit')];
  const answer = {
    head: `${status} ${JSON.stringify(headers)}`,
    body: stripped(body.replaceAll(at.api.base, BASE)),
  };
  at.answers.set(asked, answer);
  return answer;
}

describe('free answers', () => {
  const folder = scratchOfAll();
  const running: Running[] = [];
  let packs: Pack[] = [];

  /** Builds a register with these changes, and starts it. */
  async function start(name: string, changes: readonly Change[]): Promise<Running> {
    const own = join(folder, name);
    cpSync(PACKS, join(own, 'packs'), { recursive: true });
    for (const { fixtures, from, to } of [...EVERYWHERE, ...changes])
      for (const fixture of fixtures) {
        const path = join(own, 'packs', fixture);
        const text = readFileSync(path, 'utf8');
        expect(text.split(from).length, `${from} in ${fixture}`).toBe(2);
        writeFileSync(path, text.replace(from, to));
      }
    const [data, dist] = [join(own, 'data'), join(own, 'dist')];
    const PACK_DIRS = join(own, 'packs');
    const config = readConfig({ DATA_DIR: data, DIST_DIR: dist, PACK_DIRS, BASE_URL: BASE });
    await withCopies(dist);
    expect((await runNight(config, still(), { only: null, accept: false })).failures).toEqual([]);
    const env = { DIST_DIR: dist, PACK_DIRS, TRUST_PROXY: '1', WELCOME_BUDGET_EUR: '0', BASE_URL: BASE };
    const api = await startApi(data, env);
    const started = { api, dist, key: '', calls: 0, answers: new Map() };
    await changeKey(started);
    running.push(started);
    return started;
  }

  let first: Running;
  beforeAll(async () => {
    first = await start('first', []);
    packs = await Promise.all(['harbours', 'tools'].map((name) => loadPack(join(PACKS, name))));
  }, 240_000);
  afterAll(async () => {
    for (const { api } of running) await api.kill('SIGTERM');
  });

  test.each(Object.entries(VARIANTS).slice(0, draws(3)))(
    'are the same when a paid value differs: %s',
    async (name, changes) => {
      const other = await start(name, changes);
      const differing: string[] = [];
      let compared = 0;
      const compare = (asked: string, one: string, two: string) => {
        compared += 1;
        if (one !== two) differing.push(`${asked}\n${difference(one, two)}`);
      };
      const registers = [first, other] as const;
      // Answers contain ages, so only those of the same minute are compared.
      first.answers.clear();
      const qualities = await Promise.all(registers.flatMap((at) => changes.map((change) => qualityOf(at, change))));
      const unscored = (text: string) =>
        qualities.reduce(
          (rest, quality) =>
            rest
              .replaceAll(quality, 'QUALITY')
              .replaceAll(`quality ${Number(quality).toFixed(2)}<`, 'quality QUALITY<'),
          text,
        );
      const files = await Promise.all(registers.map(tables));
      expect(Object.keys(files[1]!)).toEqual(Object.keys(files[0]!));
      expect(Object.keys(files[0]!).length).toBeGreaterThan(3);
      for (const [name, rows] of Object.entries(files[0]!)) compare(name, unscored(rows), unscored(files[1]![name]!));
      for (const change of changes) {
        const pack = packs.find(({ id }) => id === change.dataset)!;
        const examples = await first.api.ask(`/v1/${pack.id}/examples`, ownAddress());
        expect(examples.body, 'no example shows the record').not.toContain(`"slug":"${change.slug}"`);
        const probes = [...datasetProbes(pack, change), ...documentProbes(first, change.slug, pack.id)];
        const asked = probes.flatMap((probe) => (['anonymous', 'key'] as const).map((caller) => ({ probe, caller })));
        await atOnce(asked, async ({ probe, caller }) => {
          const both = await Promise.all(registers.map((at) => answerTo(at, caller, probe)));
          const [one = '', two = ''] = both.map(({ head, body }) => `${head} ${unscored(body)}`);
          compare(`${caller} ${probe.name}`, one, two);
        });
      }
      expect(compared).toBeGreaterThan(4_000);
      expect(differing.slice(0, 20).join('\n\n'), `${differing.length} of ${compared} answers differ`).toBe('');
    },
    400_000,
  );
});

/** The context of the first difference. */
function difference(one: string, two: string): string {
  let at = 0;
  while (one[at] === two[at] && at < one.length) at += 1;
  const cut = (text: string) => text.slice(Math.max(0, at - 120), at + 120);
  return `- ${cut(one)}\n+ ${cut(two)}`;
}
