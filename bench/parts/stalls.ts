// Event-loop delay of the service while each operation runs at 4 connections, one after the other.
import { setTimeout as wait } from 'node:timers/promises';
import { drawValues } from '../draw.ts';
import { measureLoad, unlike } from '../load.ts';
import { MISSPELT, misspeltSearches } from '../misspelt.ts';
import { datasetsOf, CHANNEL_HEADERS as PLAIN_CHANNEL_HEADERS } from '../mixed.ts';
import { benchQuestionsFor } from '../questions.ts';
import { OPERATOR_HEADERS, type Service, startService } from '../service.ts';
import {
  documentCases,
  fileCases,
  heavyCases,
  operationCases,
  protocolCases,
  STALL_BOUNDS,
  type StallCase,
} from '../stalls.ts';
import type { Subject } from '../subject.ts';
import type { Vitals } from '../watch.ts';

type Delay = Vitals['delay'];

export interface StallRow {
  name: string;
  /** Calls a second; null for the service without calls. */
  rps: number | null;
  /** Processor microseconds of the service for each call; absent without calls and in older results. */
  cpu?: number;
  delay: Delay;
  /** Longest delay during the first call, before the load. */
  first: number | null;
  /** Number of measurements; `delay` is from the one with the shortest maximum. */
  runs: number;
  /** Answers other than 2xx. */
  bad: number;
}

export interface Stalls {
  dataset: string;
  records: number;
  seconds: number;
  rows: StallRow[];
  /** Cases that this service does not answer with 2xx, with the status. */
  skipped: string[];
  /** Generated llms-full.txt, one at a time: bytes, and seconds until the last byte. */
  texts: { dataset: string; bytes: number; seconds: number; delay: Delay }[];
  /** Absent in older results. */
  misspelt?: Misspelt;
}

/** Misspelt and combined searches: one at a time, then beside look-ups of /healthz. Times in milliseconds. */
export interface Misspelt {
  searches: number;
  /** Processor time of the longest turn of the event loop by search, shortest first. */
  turns: number[];
  /** The search with the longest turn. */
  worst: string;
  /** Latency of /healthz beside so many searches a second. */
  healthz: { aSecond: number; p50: number; max: number };
}

/** Nearly all clients accept gzip. */
const GZIP = { 'accept-encoding': 'gzip, deflate' };
const REST_HEADERS = { ...OPERATOR_HEADERS, ...GZIP };
const CHANNEL_HEADERS = { ...PLAIN_CHANNEL_HEADERS, ...GZIP };
const IDLE_SECONDS = 5;
const FIRST_CALL_MS = 15_000;
/** Most measurements of a case above its bounds, since another process may have caused the first. */
const MOST_RUNS = 3;
/**
 * `dist`: DIST_DIR of a night over the same releases. `only`: cases whose names contain one of these texts.
 */
export async function benchStalls(
  subject: Subject,
  scratch: string,
  { seconds, dist, only, progress }: StallOptions,
): Promise<Stalls> {
  const drawn = await drawValues(subject);
  const questions = benchQuestionsFor(subject, drawn);
  const service = await startService(subject, scratch, { dist });
  try {
    const datasets = await datasetsOf(subject, service);
    const slugs = datasets.find(({ pack }) => pack.id === subject.dataset)?.slugs ?? [];
    const cases = [
      ...operationCases(datasets),
      ...heavyCases(subject, slugs, questions),
      ...protocolCases(subject.dataset),
      ...documentCases(),
      ...fileCases(subject.dataset, slugs),
    ].filter(({ name }) => only === null || only.some((text) => name.includes(text)));
    const rows = [await idle(service)];
    const skipped: string[] = [];
    for (const stallCase of cases) {
      const row = await measureCase(service, stallCase, seconds);
      if (typeof row === 'number') skipped.push(`${stallCase.name} (${row})`);
      else rows.push(row);
      progress(typeof row === 'number' ? `${stallCase.name}: ${row}` : `${row.name}: ${JSON.stringify(row)}`);
    }
    const texts: Stalls['texts'] = [];
    const searches = misspeltSearches(subject, drawn);
    const misspelt = only === null || only.includes('misspelt') ? await measureMisspelt(service, searches) : null;
    if (misspelt) progress(`misspelt searches: ${JSON.stringify({ ...misspelt, turns: misspelt.turns.slice(-5) })}`);
    if (only === null) for (const { pack } of datasets) texts.push(await fullText(service, pack.id));
    return {
      dataset: subject.dataset,
      records: subject.manifest.records,
      seconds,
      rows,
      skipped,
      texts,
      ...(misspelt && { misspelt }),
    };
  } finally {
    await service.stop();
  }
}

/** Sends every search alone, then `MISSPELT.aSecond` a second while /healthz is read every 25 ms. */
async function measureMisspelt({ base, vitals, watchTurns }: Service, searches: string[]): Promise<Misspelt> {
  const send = async (path: string) => {
    const response = await fetch(base + path, { headers: REST_HEADERS });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
  };
  watchTurns();
  // Compiles the code and loads the names of countries.
  for (const path of searches.slice(0, 20)) await send(path.replace('?', '?limit=3&'));
  const turns: { path: string; turn: number }[] = [];
  for (const path of searches) {
    await vitals();
    await send(path);
    await wait(5);
    turns.push({ path, turn: (await vitals()).turn });
  }
  turns.sort((a, b) => a.turn - b.turn);
  const latencies: number[] = [];
  let over = false;
  const probe = (async () => {
    for (; !over; await wait(25)) {
      const began = performance.now();
      await (await fetch(`${base}/healthz`)).arrayBuffer();
      latencies.push(performance.now() - began);
    }
  })();
  const sent: Promise<void>[] = [];
  // Another limit, so that no answer is cached.
  for (const path of searches) {
    sent.push(send(path.replace('?', '?limit=2&')));
    await wait(1000 / MISSPELT.aSecond);
  }
  await Promise.all(sent);
  over = true;
  await probe;
  latencies.sort((a, b) => a - b);
  const healthz = { aSecond: MISSPELT.aSecond, p50: latencies[latencies.length >> 1]!, max: latencies.at(-1)! };
  return { searches: searches.length, turns: turns.map(({ turn }) => turn), worst: turns.at(-1)!.path, healthz };
}

interface StallOptions {
  seconds: number;
  dist: string;
  only: readonly string[] | null;
  progress: (line: string) => void;
}

async function idle(service: Service): Promise<StallRow> {
  await wait(1000);
  await service.vitals();
  await wait(IDLE_SECONDS * 1000);
  const { delay } = await service.vitals();
  return { name: 'no calls', rps: null, delay, first: null, runs: 1, bad: 0 };
}

/** A number is the status of a first call without 2xx; 0: no headers in time. */
async function measureCase(service: Service, stallCase: StallCase, seconds: number): Promise<StallRow | number> {
  const status = await firstCall(service, stallCase);
  const { delay: first } = await service.vitals();
  if (status < 200 || status >= 300) return status;
  let best = await measureOnce(service, stallCase, seconds);
  let runs = 1;
  for (; runs < MOST_RUNS && !withinBounds(best.delay); runs += 1) {
    const again = await measureOnce(service, stallCase, seconds);
    if (again.delay.max < best.delay.max) best = again;
  }
  return { name: stallCase.name, ...best, first: first.max, runs };
}

async function firstCall({ base, vitals }: Service, { paths, bodies }: StallCase): Promise<number> {
  const [path = '/'] = paths;
  const request = bodies
    ? { method: 'POST', headers: CHANNEL_HEADERS, body: bodies[0] ?? '' }
    : { headers: REST_HEADERS };
  await vitals();
  const response = await fetch(base + unlike(path), { ...request, signal: AbortSignal.timeout(FIRST_CALL_MS) }).catch(
    () => null,
  );
  await response?.arrayBuffer().catch(() => null);
  return response?.status ?? 0;
}

async function measureOnce({ base, vitals }: Service, { paths, bodies }: StallCase, seconds: number) {
  const headers = bodies ? CHANNEL_HEADERS : REST_HEADERS;
  await wait(200);
  await vitals();
  const { rps, bad } = await measureLoad({
    base,
    paths,
    bodies,
    headers,
    connections: STALL_BOUNDS.connections,
    seconds,
  });
  const { delay, cpu } = await vitals();
  return { rps, bad, delay, cpu: (cpu * 1000) / (rps * seconds) };
}

const withinBounds = ({ p99, max }: Delay) => p99 <= STALL_BOUNDS.p99 && max <= STALL_BOUNDS.max;

async function fullText({ base, vitals }: Service, dataset: string): Promise<Stalls['texts'][number]> {
  await vitals();
  const began = performance.now();
  const response = await fetch(`${base}/v1/${dataset}/llms-full.txt`, { headers: OPERATOR_HEADERS });
  const { byteLength: bytes } = await response.arrayBuffer();
  const seconds = (performance.now() - began) / 1000;
  const { delay } = await vitals();
  return { dataset, bytes, seconds, delay };
}
