// `npm run bench -- rank`: how often the record that a person means comes first, for each order of a search, with
// 300 names of each dataset in DATA_DIR.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { readConfig } from '../../config.ts';
import { paths as layout, RELEASE_FILES } from '../../data/model/layout.ts';
import { currentRelease } from '../../data/model/manifest.ts';
import { OPERATOR_HEADERS, startService } from '../service.ts';
import { KINDS, type RankQuery, type RankRecord, rankQueries, sampleRecords, sharesOf } from './names.ts';

/** Expressions over engine.parquet: prominence, the word added to a name, and other names, the best one first. */
interface Naming {
  prominence: string;
  place: string;
  others: string;
}

const NAMINGS: Record<string, Naming> = {
  airports: { prominence: 'prominence', place: '"country_name:value"', others: '[upper("iata:value")]' },
  'llm-models': {
    prominence: 'prominence',
    place: '"provider:value"',
    others: `[string_split("model_id:value", '/')[-1], "model_id:value"]`,
  },
  places: {
    prominence: 'population',
    place: '"country_name:value"',
    // Names in Latin letters that are no codes come first.
    others: `list_concat(list_filter("alternate_names:value", lambda each: regexp_matches(each, '^\\p{Latin}{4}')), "alternate_names:value")`,
  },
};

const NAMES = 300;
const SHOWN = 5;
const PARALLEL = 8;

async function recordsOf(folder: string, { prominence, place, others }: Naming): Promise<RankRecord[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const rows = await connection.runAndReadAll(
      `select id, name, coalesce("${prominence}:value", -1)::DOUBLE as prominence, ${place} as place,
         list_filter(${others}, lambda each: each is not null) as others
       from read_parquet('${join(folder, RELEASE_FILES.engine)}')`,
    );
    return rows.getRowObjectsJson() as unknown as RankRecord[];
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** Position of the first meant record, -1 without one; null when the service does not know the order. */
async function positionOf(search: string, { text, meant }: RankQuery, sort: string | null): Promise<number | null> {
  const parameters = new URLSearchParams({ q: text, limit: String(SHOWN), fields: 'name', ...(sort ? { sort } : {}) });
  const response = await fetch(`${search}?${parameters}`, { headers: OPERATOR_HEADERS });
  const body = (await response.json()) as { items?: { id: string }[]; message?: string };
  if (response.status === 400 && sort === 'relevance') return null;
  if (body.items === undefined) throw new Error(`${text}: ${response.status} ${body.message}`);
  return body.items.findIndex(({ id }) => meant.has(id));
}

/** Positions for one order; null when the service does not know it. */
async function positionsOf(search: string, queries: RankQuery[], sort: string | null): Promise<number[] | null> {
  const positions: number[] = [];
  for (let at = 0; at < queries.length; at += PARALLEL) {
    const batch = queries.slice(at, at + PARALLEL);
    for (const position of await Promise.all(batch.map((query) => positionOf(search, query, sort)))) {
      if (position === null) return null;
      positions.push(position);
    }
  }
  return positions;
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

function print(dataset: string, queries: RankQuery[], orders: [name: string, positions: number[] | null][]): void {
  const available = orders.filter((order): order is [string, number[]] => order[1] !== null);
  const cells = (of: (query: RankQuery) => boolean) =>
    available.flatMap(([, positions]) => {
      const { first, five } = sharesOf(positions.filter((_, i) => of(queries[i] as RankQuery)));
      return `${percent(first)} / ${percent(five)}`;
    });
  const rows = [...KINDS, null].map((kind) => {
    const count = queries.filter((query) => kind === null || query.kind === kind).length;
    return [kind ?? 'all', String(count), ...cells((query) => kind === null || query.kind === kind)];
  });
  const head = ['query', 'queries', ...available.map(([name]) => name)];
  console.log(`\n${dataset}: share with the meant record first / among the first five`);
  for (const row of [head, head.map(() => '---'), ...rows]) console.log(`| ${row.join(' | ')} |`);
  if (process.env['MISSES'] !== undefined) printMisses(queries, available.at(-1));
}

/** With MISSES set: the queries that the last order misses. */
function printMisses(queries: RankQuery[], order: [name: string, positions: number[]] | undefined): void {
  for (const [i, { kind, text, meant }] of queries.entries())
    if (order?.[1][i] !== 0) console.log(`${order?.[0]} ${order?.[1][i]}: ${kind}: ${text} (${[...meant].join(', ')})`);
}

const { DATA_DIR } = readConfig(process.env);
const scratch = mkdtempSync(join(tmpdir(), 'bench-rank-'));
const datasets = Object.keys(NAMINGS).filter((dataset) => existsSync(layout.current(DATA_DIR, dataset)));
const [first] = datasets;
if (first === undefined) throw new Error(`${DATA_DIR} has none of ${Object.keys(NAMINGS).join(', ')}`);
const subject = { dataDir: DATA_DIR, dataset: first, packDirs: 'packs' };
const service = await startService(subject, scratch, { datasets });
try {
  for (const [dataset, naming] of Object.entries(NAMINGS).filter(([name]) => datasets.includes(name))) {
    const release = (await currentRelease(DATA_DIR, dataset)) ?? '';
    const records = await recordsOf(layout.release(DATA_DIR, dataset, release), naming);
    const queries = rankQueries(records, sampleRecords(records, NAMES));
    const search = `${service.base}/v1/${dataset}/entities`;
    const orders: [string, number[] | null][] = [];
    for (const sort of [null, `-${naming.prominence}`, 'relevance'])
      orders.push([sort ?? '-quality', await positionsOf(search, queries, sort)]);
    print(dataset, queries, orders);
  }
} finally {
  await service.stop();
  rmSync(scratch, { recursive: true, force: true });
}
