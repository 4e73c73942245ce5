// Gets next to clients of SQL: a fixed rate of gets, alone and while four clients send statements.
import { setTimeout as sleep } from 'node:timers/promises';
import { drawValues } from '../draw.ts';
import { benchQuestionsFor } from '../questions.ts';
import { OPERATOR_HEADERS, startService } from '../service.ts';
import type { Subject } from '../subject.ts';

/** Latency of gets in milliseconds, and answers other than 200. */
interface Gets {
  sent: number;
  p50: number;
  p99: number;
  bad: number;
}

export interface SqlBench {
  dataset: string;
  clients: number;
  a_second: number;
  alone: Gets;
  loaded: Gets;
  /** Statements that were answered meanwhile. */
  statements: number;
  /** Milliseconds of the first statement, which makes the database of the dataset. */
  first: number;
}

/** Clients of SQL, and gets a second. */
const [CLIENTS, RATE] = [4, 50];

/** Statements that read the whole dataset: its history by attribute, and a self-join. */
const statementsOf = (dataset: string): readonly string[] => {
  const table = dataset.replaceAll('-', '_');
  return [
    `SELECT attribute, count(*), min(valid_from), max(confidence) FROM ${table}_history GROUP BY attribute`,
    `SELECT source_url, count(*) FROM ${table}_provenance GROUP BY source_url ORDER BY 2 DESC LIMIT 10`,
    `SELECT count(*) FROM ${table} a JOIN ${table} b ON a.quality_score = b.quality_score AND a.id < b.id`,
  ];
};

/** Sends gets at a fixed rate for some seconds. */
async function gets(base: string, paths: readonly string[], seconds: number): Promise<Gets> {
  const times: number[] = [];
  let bad = 0;
  const began = performance.now();
  const calls: Promise<void>[] = [];
  for (let i = 0; i < seconds * RATE; i += 1) {
    await sleep(Math.max(0, began + (i * 1000) / RATE - performance.now()));
    const sent = performance.now();
    const call = fetch(base + paths[i % paths.length]!, { headers: OPERATOR_HEADERS }).then(async (response) => {
      await response.arrayBuffer();
      times.push(performance.now() - sent);
      if (response.status !== 200) bad += 1;
    });
    calls.push(call);
  }
  await Promise.all(calls);
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)]!;
  return { sent: times.length, p50: at(0.5), p99: at(0.99), bad };
}

export async function benchSql(subject: Subject, scratch: string, seconds: number): Promise<SqlBench> {
  const get = benchQuestionsFor(subject, await drawValues(subject)).find(({ id }) => id === 'get')!;
  const service = await startService(subject, scratch);
  const statements = statementsOf(subject.dataset);
  const post = async (sql: string) => {
    const headers = { ...OPERATOR_HEADERS, 'content-type': 'application/json' };
    const response = await fetch(`${service.base}/v1/sql`, { method: 'POST', headers, body: JSON.stringify({ sql }) });
    await response.arrayBuffer();
    return response.status;
  };
  try {
    const began = performance.now();
    while ((await post(statements[0]!)) !== 200) await sleep(100);
    const first = performance.now() - began;
    await gets(service.base, get.service, 3);
    const alone = await gets(service.base, get.service, seconds);
    let running = true;
    let answered = 0;
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let i = client; running; i += 1) if ((await post(statements[i % statements.length]!)) === 200) answered += 1;
    });
    const loaded = await gets(service.base, get.service, seconds);
    running = false;
    await Promise.all(clients);
    return { dataset: subject.dataset, clients: CLIENTS, a_second: RATE, alone, loaded, statements: answered, first };
  } finally {
    await service.stop();
  }
}
