// The table of questions: each for the service, for bare Hono with the same bytes, for SQLite and for DuckDB,
// in turn.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Agreement, agreement } from './agree.ts';
import { drawValues } from './draw.ts';
import type { Load } from './load.ts';
import { alternate, type BenchServer, type Rounds, requestOnce } from './measure.ts';
import { startSqlite } from './peers/start.ts';
import { type ServerProcess, startProcess } from './process.ts';
import { type BenchQuestion, BUDGETS, benchQuestionsFor, type Peer } from './questions.ts';
import { OPERATOR_HEADERS, startService } from './service.ts';
import type { Subject } from './subject.ts';

export type Server = 'service' | Peer;

/** One question at one number of connections. */
export interface QuestionRow {
  id: string;
  name: string;
  connections: number;
  /** Bytes of a typical answer of the service. */
  bytes: number;
  loads: Partial<Record<Server, Load>>;
  agreed: Partial<Record<Peer, Agreement & { differs?: string }>>;
}

export interface Questions {
  dataset: string;
  records: number;
  rows: QuestionRow[];
}

const PEERS = join(import.meta.dirname, 'peers');

export interface QuestionsOptions extends Omit<Rounds, 'connections'> {
  /** Numbers of connections. */
  levels: readonly number[];
  /** Ids of questions; null: all. */
  only: readonly string[] | null;
  /** Called with a line about each row. */
  progress: (line: string) => void;
}

/** Runs the table. */
export async function benchQuestions(
  subject: Subject,
  scratch: string,
  { levels, seconds, rounds, only, progress }: QuestionsOptions,
): Promise<Questions> {
  const questions = benchQuestionsFor(subject, await drawValues(subject)).filter(
    ({ id }) => only === null || only.includes(id),
  );
  const service = await startService(subject, scratch);
  const up: Partial<Record<Server, ServerProcess>> = { service };
  const rows: QuestionRow[] = [];
  try {
    up.sqlite = await startSqlite(subject, service.base);
    up.duckdb = await startDuckdb(subject, questions);
    const bytes = await bodiesFor(questions, service, join(scratch, 'bodies'));
    up.bare = await startProcess([join(PEERS, 'bare.ts')], { BODIES: join(scratch, 'bodies') }, '/');
    for (const question of questions) {
      const sides = sidesOf(question, up);
      const agreed = await agreements(question, sides);
      for (const connections of levels) {
        // The goals are for 16 connections; for others one round shows the trend.
        const times = connections === 16 || levels.length === 1 ? rounds : 1;
        const loads = await alternate(sides as Record<Server, BenchServer>, { connections, seconds, rounds: times });
        const { id, name } = question;
        const row = { id, name, connections, bytes: bytes.get(id) ?? 0, loads, agreed };
        rows.push(row);
        progress(`${id}, ${connections} connections: ${Math.round(loads.service?.rps ?? 0)} requests/s`);
      }
    }
  } finally {
    for (const serverProcess of Object.values(up)) await serverProcess.stop();
  }
  return { dataset: subject.dataset, records: subject.manifest.records, rows };
}

function sidesOf(
  question: BenchQuestion,
  up: Partial<Record<Server, ServerProcess>>,
): Partial<Record<Server, BenchServer>> {
  const sides: Partial<Record<Server, BenchServer>> = {};
  const add = (server: Server, paths: string[], own: Record<string, string> = {}) => {
    const process = up[server];
    const headers = { ...question.headers, ...own };
    if (process && paths.length > 0) sides[server] = { base: process.base, cpu: process.cpu, paths, headers };
  };
  add('service', question.service, OPERATOR_HEADERS);
  if (question.bare) add('bare', [`/${question.id}`]);
  add('sqlite', question.sqlite);
  add('duckdb', question.duckdb);
  return sides;
}

async function agreements(
  question: BenchQuestion,
  sides: Partial<Record<Server, BenchServer>>,
): Promise<QuestionRow['agreed']> {
  const agreed: QuestionRow['agreed'] = {};
  for (const peer of ['sqlite', 'duckdb'] as const) {
    const side = sides[peer];
    if (!side || !sides.service) continue;
    const differs = question.differs?.[peer];
    agreed[peer] = { ...(await agreement(question, sides.service, side)), ...(differs ? { differs } : {}) };
  }
  return agreed;
}

/** Writes the median-sized answer of each question into a folder, and returns its size. */
async function bodiesFor(
  questions: readonly BenchQuestion[],
  service: ServerProcess,
  folder: string,
): Promise<Map<string, number>> {
  mkdirSync(folder, { recursive: true });
  const sizes = new Map<string, number>();
  for (const { id, service: paths } of questions) {
    const answers: Buffer[] = [];
    for (const path of paths.slice(0, 40))
      answers.push(await requestOnce({ base: service.base, paths, headers: OPERATOR_HEADERS }, path));
    const body = answers.sort((a, b) => a.length - b.length)[Math.floor(answers.length / 2)] as Buffer;
    writeFileSync(join(folder, id), body);
    sizes.set(id, body.length);
  }
  return sizes;
}

async function startDuckdb({ folder, shape }: Subject, questions: readonly BenchQuestion[]): Promise<ServerProcess> {
  const sql = Object.fromEntries(questions.map((question) => [question.id, question.sql]));
  const env = { RELEASE: folder, NUMBER: shape.number, QUESTIONS: JSON.stringify(sql) };
  return startProcess([join(PEERS, 'duckdb.ts')], env, '/');
}

const integer = (n: number) => Math.round(n).toLocaleString('en-US');
const decimals = (n: number) => (n < 10 ? n.toFixed(2) : n < 100 ? n.toFixed(1) : integer(n));
const ratio = (ours: number | undefined, theirs: number | undefined) => (ours && theirs ? decimals(ours / theirs) : '');

/** The table as Markdown: rates and latencies of the service, and its ratios to each peer. */
export function questionsTable({ dataset, records, rows }: Questions): string {
  const head = ['question', 'connections', 'requests/s', 'p50 ms', 'p99 ms', '× bare Hono', '× SQLite', '× DuckDB'];
  head.push('CPU ms a call', '× bare Hono, CPU', '× SQLite, CPU', 'same answers');
  const lines = rows.map(({ id, name, connections, loads, agreed }) => {
    const { service, bare, sqlite, duckdb } = loads;
    return [
      ...[name, String(connections), integer(service?.rps ?? 0), decimals(service?.p50 ?? 0)],
      decimals(service?.p99 ?? 0),
      ...[bare, sqlite, duckdb].map((peer) => ratio(service?.rps, peer?.rps)),
      service?.cpu === undefined ? '' : `${decimals(service.cpu / 1000)} (≤ ${BUDGETS[id] ?? '-'})`,
      ...[bare, sqlite].map((peer) => ratio(service?.cpu, peer?.cpu)),
      Object.entries(agreed)
        .map(([peer, { compared, equal, differs }]) =>
          [`${peer} ${equal} of ${compared}`, ...(equal < compared && differs ? [differs] : [])].join(': '),
        )
        .join('; '),
    ];
  });
  const cells = [head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`);
  return [`\`${dataset}\`, ${integer(records)} records:\n`, ...cells].join('\n');
}
