// Event-loop delay of the service while each operation runs at 4 connections, one after the other.
import { setTimeout as wait } from 'node:timers/promises';
import { drawValues } from '../draw.ts';
import { measureLoad, unlike } from '../load.ts';
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
  const questions = benchQuestionsFor(subject, await drawValues(subject));
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
    for (const { pack } of datasets) texts.push(await fullText(service, pack.id));
    return { dataset: subject.dataset, records: subject.manifest.records, seconds, rows, skipped, texts };
  } finally {
    await service.stop();
  }
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
