// `npm run bench`: the service beside its baselines, in one run, printed as ratios. Needs releases in DATA_DIR (`npm run nightly`).
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { paths as layout } from '../data/layout.ts';
import { generator, type Load, load } from './load.ts';
import { benchNight } from './night.ts';
import { type Served, serve } from './process.ts';
import { type Question, questionsFor, releaseFolder } from './questions.ts';

/** Dataset, and the attribute to filter and count by. */
const DATASETS: [string, string][] = [
  ['llm-models', 'provider'],
  ['airports', 'country'],
];
const ADMIN = 'bench-admin-key-bench-admin-key-0000';
const { values: args } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '3' },
    night: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const seconds = Number(args.seconds);
const connections = Number(args.connections);
const config = readConfig(process.env);
const scratch = mkdtempSync(join(tmpdir(), 'bench-'));

interface Row {
  question: string;
  service: Load;
  bare: Load;
  duckdb: Load;
}

console.log(
  `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}, ${generator}, ` +
    `${connections} connections, median of ${args.rounds} alternated rounds of ${seconds} s`,
);
try {
  for (const [dataset, group] of DATASETS) {
    if (!existsSync(layout.current(config.DATA_DIR, dataset))) {
      console.log(`\n${dataset}: no release in ${config.DATA_DIR}; run \`npm run nightly\` first`);
      continue;
    }
    print(dataset, await benchDataset(dataset, group));
  }
  if (args.night) await benchNight(scratch);
} finally {
  rmSync(scratch, { recursive: true });
}

async function benchDataset(dataset: string, group: string): Promise<Row[]> {
  const questions = await questionsFor(config.DATA_DIR, dataset, group);
  const service = await serve(
    ['api/server.ts'],
    18_787,
    { ADMIN_KEYS: ADMIN, BASE_URL: 'http://127.0.0.1:18787' },
    '/healthz',
  );
  const sql = JSON.stringify(Object.fromEntries(questions.map((q) => [q.peer[0]?.split('/')[1], q.sql])));
  const env = { RELEASE: releaseFolder(config.DATA_DIR, dataset), QUESTIONS: sql };
  const peer = await serve(['bench/peers/duckdb.ts'], 18_788, env, '/ready');
  const rows: Row[] = [];
  try {
    for (const question of questions) rows.push(await benchQuestion(question, service, peer));
  } finally {
    await service.stop();
    await peer.stop();
  }
  return rows;
}

async function benchQuestion(question: Question, service: Served, peer: Served): Promise<Row> {
  const headers = { authorization: `Bearer ${ADMIN}` };
  const answer = await fetch(service.base + question.service[0], { headers });
  if (!answer.ok) throw new Error(`${question.service[0]}: ${answer.status} ${await answer.text()}`);
  const body = join(scratch, 'body');
  writeFileSync(body, Buffer.from(await answer.arrayBuffer()));
  const bare = await serve(['bench/peers/bare.ts'], 18_789, { BODY: body }, '/');
  const found: { service: Load[]; bare: Load[]; duckdb: Load[] } = { service: [], bare: [], duckdb: [] };
  try {
    for (let round = 0; round < Number(args.rounds); round += 1) {
      found.service.push(await load({ base: service.base, paths: question.service, headers, connections, seconds }));
      found.bare.push(await load({ base: bare.base, paths: ['/'], connections, seconds }));
      found.duckdb.push(await load({ base: peer.base, paths: question.peer, connections, seconds }));
    }
  } finally {
    await bare.stop();
  }
  return {
    question: question.name,
    service: median(found.service),
    bare: median(found.bare),
    duckdb: median(found.duckdb),
  };
}

function median(loads: Load[]): Load {
  const sorted = [...loads].sort((a, b) => a.rps - b.rps);
  return sorted[Math.floor(sorted.length / 2)] as Load;
}

function print(dataset: string, rows: Row[]): void {
  const per = (value: number) => Math.round(value).toLocaleString('en');
  console.log(`\n${dataset} | requests/s | p50 ms | p99 ms | × bare Hono, same body | × the query straight on DuckDB`);
  for (const { question, service, bare, duckdb } of rows) {
    const failed =
      service.bad + bare.bad + duckdb.bad > 0 ? `  (failed answers: ${service.bad}/${bare.bad}/${duckdb.bad})` : '';
    const ratio = (other: Load) => `${(service.rps / other.rps).toFixed(2)} of ${per(other.rps)}`;
    const latency = `${service.p50.toFixed(2)} | ${service.p99.toFixed(2)}`;
    console.log(`${question} | ${per(service.rps)} | ${latency} | ${ratio(bare)} | ${ratio(duckdb)}${failed}`);
  }
}
