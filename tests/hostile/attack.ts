// Attacks a service of this machine with hostile calls, and counts what must not happen: errors of the server, paid values
// in free answers, growing memory, long turns.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type ServerProcess, startProcess } from '../../bench/process.ts';
import { loadPacks } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { random } from '../support/random-records.ts';
import { Generator, type HostileCall, type Targets } from './generate.ts';
import { keysIn, readValues } from './secrets.ts';
import { Sender } from './send.ts';

const ADMIN = 'an-operator-key-of-hostile-calls-0123456789';

export interface AttackOptions {
  dataDir: string;
  distDir: string;
  packDirs: string;
  calls: number;
  seed: number;
  /** The attack ends after this time, whatever it has done. */
  minutes: number;
  /** Receives lines about the progress. */
  note?: (line: string) => void;
}

export interface Sample {
  calls: number;
  rss: number;
  heap: number;
}

export interface AttackResult {
  calls: number;
  seconds: number;
  /** Calls by channel and class of status: `rest 4xx`. */
  classes: Record<string, Record<string, number>>;
  statuses: Record<string, number>;
  /** Statuses of 500 and more that are not 503, as lines. */
  failures: string[];
  /** Free answers that were searched, values that were looked for, and values that were found. */
  searched: number;
  values: number;
  leaks: string[];
  /** Values that were found in answers that were paid for: the search works. */
  paidFor: number;
  /** Requests without an answer. */
  silent: string[];
  samples: Sample[];
  /** Longest turns in processor milliseconds, longest first, with the calls of their interval. */
  turns: { ms: number; calls: string[] }[];
  /** Calls that exceed the bound when they are repeated alone. */
  slow: { ms: number; call: string }[];
  /** Files that statements or paths tried to write. */
  written: string[];
}

/** Bound of the processor time of one turn, in milliseconds. */
export const TURN = 100;
const AT_ONCE = 16;
/** Calls between two samples of memory. */
const SAMPLE = 500;
const FORBIDDEN = ['/tmp/hostile.csv', '/tmp/hostile.duckdb', '/tmp/hostile'];

const shown = ({ method, path, headers, body, raw }: HostileCall): string =>
  raw === undefined
    ? `${method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 300)} ${String(body ?? '').slice(0, 300)}`
    : `raw ${JSON.stringify(raw.toString('latin1').slice(0, 200))}`;

/** Starts the service on the data, with x402 offered by a facilitator that nothing listens to. */
const serve = ({ dataDir, distDir, packDirs }: AttackOptions): Promise<ServerProcess> =>
  startProcess(
    [join(import.meta.dirname, '../../api/server.ts')],
    {
      ...{ DATA_DIR: dataDir, DIST_DIR: distDir, PACK_DIRS: packDirs, ADMIN_KEYS: ADMIN, TRUST_PROXY: '1' },
      // Keys begin without credit.
      ...{ WELCOME_BUDGET_EUR: '0' },
      ...{
        X402_PAY_TO: `0x${'1'.repeat(40)}`,
        X402_FACILITATOR_URL: 'http://127.0.0.1:9',
        X402_RPC_URL: 'http://127.0.0.1:9',
      },
    },
    '/readyz',
  );

async function json<T>(base: string, path: string, key: string | null, body?: unknown): Promise<T> {
  const response = await fetch(base + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'Content-Type': 'application/json', ...(key !== null && { Authorization: `Bearer ${key}` }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

async function targetsOf(base: string, packs: readonly Pack[]): Promise<Targets> {
  const slugs: Record<string, string[]> = {};
  for (const { id } of packs) {
    const { items } = await json<{ items: { slug: string }[] }>(base, `/v1/${id}/entities?limit=20`, ADMIN);
    slugs[id] = items.map(({ slug }) => slug);
  }
  const stamp = Date.now();
  const create = (name: string) =>
    json<{ id: string; key: string }>(base, '/v1/keys', null, { email: `${name}-${stamp}@example.org` });
  const [rich, poor] = [await create('rich'), await create('poor')];
  await json(base, '/v1/keys/grant', ADMIN, { key_id: rich.id, amount_eur: 1000, plan: 'pro' });
  return { packs, slugs, rich, poor: poor.key, admin: ADMIN };
}

/** What is free by intention: examples of every group, samples and the profile. */
async function freeTexts(base: string, { id, group_by }: Pack): Promise<string[]> {
  const text = async (path: string) =>
    (await fetch(base + path, { headers: { 'X-Forwarded-For': '20.8.0.1', Accept: 'application/json' } })).text();
  const facets = await json<{ values?: { value: unknown }[]; items?: { value: unknown }[] }>(
    base,
    `/v1/${id}/facets?by=${group_by}&limit=100`,
    ADMIN,
  );
  const groups = (facets.values ?? facets.items ?? []).map(({ value }) => encodeURIComponent(String(value)));
  const texts = [await text(`/v1/${id}/examples`), await text(`/v1/${id}/samples`), await text(`/v1/${id}/profile`)];
  for (const group of groups) texts.push(await text(`/v1/${id}/examples?group=${group}`));
  return texts;
}

/** Runs the attack; resolves with what was counted. Throws if the service ends. */
export async function attack(options: AttackOptions): Promise<AttackResult> {
  const { calls, seed, minutes, dataDir, packDirs, note = () => {} } = options;
  const service = await serve(options);
  const sender = new Sender(service.base);
  try {
    const packs = await loadPacks(packDirs.split(','));
    const served = await json<{ datasets: { id: string }[] }>(service.base, '/v1/datasets', null);
    const present = packs.filter(({ id }) => served.datasets.some((dataset) => dataset.id === id));
    const targets = await targetsOf(service.base, present);
    const paid = new Map<string, string>();
    const open = new Set<string>();
    for (const pack of present) await readValues(dataDir, pack, await freeTexts(service.base, pack), { paid, open });
    for (const key of open) paid.delete(key);
    note(`${present.map(({ id }) => id).join(', ')}; ${paid.size} paid values`);
    const result: AttackResult = {
      ...{
        calls: 0,
        seconds: 0,
        classes: {},
        statuses: {},
        failures: [],
        searched: 0,
        values: paid.size,
        leaks: [],
        paidFor: 0,
      },
      ...{ silent: [], samples: [], turns: [], slow: [], written: [] },
    };
    const generator = new Generator(random(seed), targets);
    const began = performance.now();
    const suspects: HostileCall[] = [];
    let interval: HostileCall[] = [];
    service.watchTurns();
    await service.vitals();

    const add = (list: string[], line: string) => {
      list.push(line);
      if (list.length <= 10) note(line);
    };
    const run = async (call: HostileCall) => {
      interval.push(call);
      const { status, headers, body, open: goesOn } = await sender.send(call);
      const kind = status === 0 ? 'none' : `${Math.floor(status / 100)}xx`;
      result.classes[call.channel] ??= {};
      const row = result.classes[call.channel]!;
      row[status === 503 ? '503' : kind] = (row[status === 503 ? '503' : kind] ?? 0) + 1;
      result.statuses[status] = (result.statuses[status] ?? 0) + 1;
      if (status >= 500 && status !== 503 && !(status === 501 && call.raw))
        add(result.failures, `${status} ${shown(call)} → ${body.slice(0, 300)}`);
      if (status === 0 && call.raw === undefined && !goesOn) result.silent.push(shown(call));
      if (call.raw !== undefined) return;
      if (call.free) result.searched += 1;
      for (const key of keysIn(headers + body)) {
        const place = paid.get(key);
        if (place !== undefined && !call.free) result.paidFor += 1;
        else if (place !== undefined)
          add(result.leaks, `${JSON.stringify(key)} (${place}) in ${status} ${shown(call)}`);
      }
    };
    const sample = async () => {
      const mine = interval;
      interval = [];
      const { turn, heap, rss } = await service.vitals();
      if (turn > TURN) {
        result.turns.push({ ms: turn, calls: mine.map(shown) });
        suspects.push(...mine);
      }
      return { calls: result.calls, rss, heap };
    };
    let sampling: Promise<unknown> = Promise.resolve();
    const worker = async () => {
      while (result.calls < calls && performance.now() - began < minutes * 60_000) {
        result.calls += 1;
        const number = result.calls;
        await run(generator.draw());
        if (number % 50 === 0) {
          sampling = sampling.then(async () => {
            const taken = await sample();
            if (number % SAMPLE === 0) result.samples.push(taken);
          });
          await sampling;
        }
        if (number % 5000 === 0)
          note(
            `${number} calls, ${Math.round((performance.now() - began) / 1000)} s, ${result.samples.at(-1)?.rss} MB, ${result.failures.length} failures, ${result.leaks.length} leaks, ${result.turns.length} long turns`,
          );
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    result.seconds = (performance.now() - began) / 1000;
    // A turn may have had the work of several calls: which one exceeds the bound alone?
    for (const call of suspects.slice(0, 1500)) {
      await service.vitals();
      await sender.send(call);
      await wait(2);
      const { turn } = await service.vitals();
      if (turn > TURN) result.slow.push({ ms: turn, call: shown(call) });
    }
    result.written = FORBIDDEN.filter((path) => existsSync(path));
    result.turns.sort((a, b) => b.ms - a.ms);
    return result;
  } finally {
    sender.close();
    await service.stop();
  }
}

/** Memory after warming (a fifth of the calls) and at the end, each the median of a tenth of the samples, in MB. */
export function growth({ samples }: AttackResult): { rss: [number, number]; heap: [number, number] } {
  const tenth = Math.max(1, Math.floor(samples.length / 10));
  const early = samples.slice(2 * tenth, 3 * tenth + 1);
  const late = samples.slice(-tenth);
  const median = (list: readonly number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
  const least = (list: readonly number[]) => Math.min(...list);
  return {
    rss: [median(early.map(({ rss }) => rss)), median(late.map(({ rss }) => rss))],
    // The heap falls at each collection: its floor is what is kept.
    heap: [least(early.map(({ heap }) => heap)), least(late.map(({ heap }) => heap))],
  };
}
