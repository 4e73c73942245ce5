// The table of questions: each for the service, for bare Hono with the same bytes, for SQLite and for DuckDB,
// in turn.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Agreement, agreement } from '../agree.ts';
import { drawValues } from '../draw.ts';
import type { Load } from '../load.ts';
import { alternate, type BenchServer, type Rounds, requestOnce } from '../measure.ts';
import { startSqlite } from '../peers/start.ts';
import { type ServerProcess, startProcess } from '../process.ts';
import { type BenchQuestion, benchQuestionsFor, type Peer } from '../questions.ts';
import { OPERATOR_HEADERS, type Service, startService } from '../service.ts';
import type { Subject } from '../subject.ts';

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

const PEERS = import.meta.dirname.replace(/parts$/, 'peers');

export interface QuestionsOptions extends Omit<Rounds, 'connections'> {
  /** Numbers of connections. */
  levels: readonly number[];
  /** Ids of questions; null: all. */
  only: readonly string[] | null;
  /** Called with the service before the first question. */
  before?: (service: Service) => Promise<void>;
  /** Called with each row. */
  report?: (row: QuestionRow) => void;
}

/** Runs the table. */
export async function benchQuestions(
  subject: Subject,
  scratch: string,
  { levels, seconds, rounds, only, before, report }: QuestionsOptions,
): Promise<Questions> {
  const questions = benchQuestionsFor(subject, await drawValues(subject)).filter(
    ({ id }) => only === null || only.includes(id),
  );
  const service = await startService(subject, scratch);
  const up: Partial<Record<Server, ServerProcess>> = { service };
  const rows: QuestionRow[] = [];
  try {
    await before?.(service);
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
        report?.(row);
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
