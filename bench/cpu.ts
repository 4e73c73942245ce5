// `npm run bench -- cpu`: processor time of a call beside bare Hono with the same body and response headers and beside
// the SQLite peer, alternated in one run. The caller has a key of plan `internal`; a get by a key that pays is a row of
// its own.
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKey } from '../data/state/keys/keys.ts';
import { move } from '../data/state/money/ledger.ts';
import { openStore } from '../data/state/store.ts';
import { drawValues } from './draw.ts';
import { alternate, type BenchServer, type Rounds } from './measure.ts';
import { startSqlite } from './peers/start.ts';
import { type ServerProcess, startProcess } from './process.ts';
import { borrowed, type Subject } from './subject.ts';

/** One question: paths or bodies for the service, and its form for the SQLite peer. */
interface CpuQuestion {
  id: string;
  name: string;
  subject: Subject;
  paths: string[];
  bodies?: string[];
  headers: Record<string, string>;
  sqlite?: string[];
  /** Milliseconds are printed instead of microseconds, and the bare server is left out: the answer is computed. */
  computed?: boolean;
}

/** Processor microseconds of a call on each server. */
interface CpuRow {
  question: CpuQuestion;
  bytes: number;
  service: number;
  bare?: number | undefined;
  sqlite?: number | undefined;
}

const MCP_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
};

/** Response headers that the server of Node writes itself. */
const WRITTEN_BY_NODE = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'];

/**
 * Measures and returns the table. `records`: dataset of gets and searches; `figures`: that of statistics. `only`: ids of
 * questions; null: all.
 */
export async function benchCpu(
  records: Subject,
  figures: Subject,
  scratch: string,
  { only, ...rounds }: Rounds & { only: readonly string[] | null },
): Promise<string> {
  const datasets = [...new Set([records.dataset, figures.dataset])];
  const dataDir = borrowed(records.dataDir, scratch, datasets);
  const keys = await createKeys(dataDir);
  const env = {
    DATA_DIR: dataDir,
    DIST_DIR: join(dataDir, 'dist'),
    PACK_DIRS: records.packDirs,
    SOURCE_DATE_EPOCH: '',
  };
  const service = await startProcess(
    ['--max-semi-space-size=8', 'bench/server.ts'],
    env,
    `/v1/${records.dataset}/entities?limit=1`,
    keys.internal,
  );
  const peers: ServerProcess[] = [];
  try {
    const questions = (await questionsOf(records, figures, keys)).filter(({ id }) => only?.includes(id) ?? true);
    const bodies = join(scratch, 'cpu-bodies');
    const bytes = await keepAnswers(questions, service, bodies);
    const bare = await startProcess(['bench/peers/bare.ts'], { BODIES: bodies }, '/');
    peers.push(bare);
    const sqlite = new Map<Subject, ServerProcess>();
    for (const subject of new Set(questions.flatMap((question) => (question.sqlite ? question.subject : [])))) {
      const peer = await startSqlite(subject, service.base);
      peers.push(peer);
      sqlite.set(subject, peer);
    }
    const rows: CpuRow[] = [];
    for (const question of questions) {
      const { id, paths, bodies: posted, headers, computed } = question;
      const sides: Record<string, BenchServer> = {
        service: { base: service.base, cpu: service.cpu, paths, headers, ...(posted && { bodies: posted }) },
      };
      if (!computed)
        sides['bare'] = {
          base: bare.base,
          cpu: bare.cpu,
          paths: [`/${id}`],
          headers,
          ...(posted && { bodies: posted }),
        };
      const peer = sqlite.get(question.subject);
      if (peer && question.sqlite) sides['sqlite'] = { base: peer.base, cpu: peer.cpu, paths: question.sqlite };
      const loads = await alternate(sides, rounds);
      const bad = Object.values(loads).reduce((sum, load) => sum + load.bad, 0);
      if (bad > 0) throw new Error(`${question.name}: ${bad} failed answers`);
      const cpu = (side: string) => loads[side]?.cpu;
      rows.push({
        question,
        bytes: bytes.get(id) ?? 0,
        service: cpu('service') ?? Number.NaN,
        bare: cpu('bare'),
        sqlite: cpu('sqlite'),
      });
    }
    return tableOf(rows);
  } finally {
    for (const server of [service, ...peers]) await server.stop();
  }
}

/** Keys of plan `internal` and of a customer with credit, as request headers. */
async function createKeys(dataDir: string): Promise<Record<'internal' | 'charged', Record<string, string>>> {
  const store = await openStore({ dataDir });
  const newKey = async () => {
    const email = `${randomUUID()}@example.org`;
    const created = await createKey(store, { email, email_normal: email, request_id: 'bench', now: Date.now() });
    if (created === null) throw new Error(`the address ${email} has a key already`);
    return { id: created.key.id, headers: { authorization: `Bearer ${created.secret}` } };
  };
  try {
    const [internal, charged] = [await newKey(), await newKey()];
    await store.db.updateTable('keys').set({ plan: 'internal' }).where('id', '=', internal.id).execute();
    await move(store, { key_id: charged.id, amount: 1e12, kind: 'grant', against: 'grant', now: Date.now() });
    return { internal: internal.headers, charged: charged.headers };
  } finally {
    await store.close();
  }
}

async function questionsOf(
  records: Subject,
  figures: Subject,
  { internal, charged }: Awaited<ReturnType<typeof createKeys>>,
): Promise<CpuQuestion[]> {
  const { ids, slugs, groups } = await drawValues(records);
  const { dataset, shape } = records;
  const get = {
    subject: records,
    paths: ids.map((id, i) => `/v1/${dataset}/entities/${i % 2 ? id : slugs[i]}`),
    sqlite: ids.map((id, i) => `/get/${i % 2 ? id : slugs[i]}`),
  };
  const { group, number, least } = shape;
  const stats = `/v1/${figures.dataset}/stats?attribute=${figures.shape.number}&group_by=${figures.shape.group}`;
  const peerStats = `/stats/${figures.shape.number}/${figures.shape.group}`;
  const call = (entity_id: string) => ({ name: 'entity_get', arguments: { dataset, entity_id, format: 'json' } });
  return [
    { id: 'get', name: 'get', headers: internal, ...get },
    { id: 'charged', name: 'get, charged', headers: charged, ...get },
    {
      id: 'search',
      name: 'search, 20 records',
      subject: records,
      paths: groups.map((value) => `/v1/${dataset}/entities?${group}=${value}&min_${number}=${least}`),
      headers: internal,
      sqlite: groups.map((value) => `/search/${group}/${value}/${number}/${least}`),
    },
    {
      id: 'mcp',
      name: 'get over MCP',
      subject: records,
      paths: ['/mcp'],
      bodies: ids.map((id) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call(id) })),
      headers: { ...internal, ...MCP_HEADERS },
    },
    {
      id: 'stats',
      name: 'statistics, again',
      subject: figures,
      paths: [stats],
      headers: internal,
    },
    {
      id: 'stats-first',
      name: 'statistics, first',
      subject: figures,
      paths: [`${stats}&min_quality=0.0{n}`],
      headers: internal,
      sqlite: [`${peerStats}/0.0{n}`],
      computed: true,
    },
  ];
}

/** Writes the median-sized answer of each question with its headers for the bare server; returns its size. */
async function keepAnswers(
  questions: readonly CpuQuestion[],
  service: ServerProcess,
  folder: string,
): Promise<Map<string, number>> {
  mkdirSync(folder, { recursive: true });
  const sizes = new Map<string, number>();
  for (const { id, name, paths, bodies, headers } of questions.filter(({ computed }) => !computed)) {
    const answers: { body: Buffer; headers: Record<string, string> }[] = [];
    for (let i = 0; i < Math.min(40, (bodies ?? paths).length); i += 1) {
      const body = bodies?.[i];
      const sent = { ...headers, 'accept-encoding': 'identity' };
      const request = body === undefined ? { headers: sent } : { method: 'POST', headers: sent, body };
      const response = await fetch(service.base + (paths[i] ?? paths[0]), request);
      const kept = [...response.headers].filter(([header]) => !WRITTEN_BY_NODE.includes(header));
      const content = Buffer.from(await response.arrayBuffer());
      if (response.status !== 200) throw new Error(`${name}: ${response.status} ${content.toString().slice(0, 300)}`);
      answers.push({ body: content, headers: Object.fromEntries(kept) });
    }
    const middle = answers.sort((a, b) => a.body.length - b.body.length)[Math.floor(answers.length / 2)]!;
    writeFileSync(join(folder, id), middle.body);
    writeFileSync(join(folder, `${id}.headers`), JSON.stringify(middle.headers));
    sizes.set(id, middle.body.length);
  }
  return sizes;
}

/** The table as aligned text: processor time of a call, and its ratios. */
function tableOf(rows: readonly CpuRow[]): string {
  const time = (micros: number | undefined, computed = false) =>
    micros === undefined ? '' : computed ? `${(micros / 1000).toFixed(1)} ms` : `${micros.toFixed(1)} us`;
  const ratio = (a: number | undefined, b: number | undefined) =>
    a === undefined || b === undefined ? '' : (a / b).toFixed(2);
  const cells = rows.map(({ question: { name, subject, computed }, bytes, service, bare, sqlite }) => [
    name,
    subject.dataset,
    bytes === 0 ? '' : String(bytes),
    time(service, computed),
    time(bare, computed),
    ratio(service, bare),
    time(sqlite, computed),
    ratio(sqlite, service),
  ]);
  const head = [
    'processor time of a call',
    'dataset',
    'bytes',
    'service',
    'bare Hono',
    'x bare',
    'SQLite',
    'x rate of SQLite',
  ];
  const widths = head.map((title, i) => Math.max(title.length, ...cells.map((row) => row[i]!.length)));
  return [head, ...cells]
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
