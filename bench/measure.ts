// Loads several servers with the same requests in alternating rounds, so that other load on the machine
// affects all alike.
import { type Load, measureLoad, unlike } from './load.ts';

/** One server and its form of the question. */
export interface BenchServer {
  base: string;
  paths: readonly string[];
  headers?: Record<string, string>;
  /** Sent by POST instead of requesting the paths. */
  bodies?: readonly string[];
  /** Processor milliseconds of the server since its start. */
  cpu?: () => number | null;
}

export interface Rounds {
  connections: number;
  seconds: number;
  rounds: number;
}

/**
 * Processor milliseconds of a server under load before the first round, since Node optimises code only after some
 * thousands of calls; and the most seconds of it, for a server on a busy machine or one whose processor time is unknown.
 */
const WARM_UP = { cpu: 2_000, seconds: 15 };

/** A slow question gets at most this many times the seconds, to collect enough answers. */
const PATIENCE = 4;

/** Loads each side in turn, round after round, and returns the round with the median rate of each. */
export async function alternate<K extends string>(
  sides: Record<K, BenchServer>,
  rounds: Rounds,
): Promise<Record<K, Load>> {
  const { connections, seconds } = rounds;
  const names = Object.keys(sides) as K[];
  const found = Object.fromEntries(names.map((name) => [name, [] as Load[]])) as Record<K, Load[]>;
  const lasting = {} as Record<K, number>;
  for (const name of names) {
    // Some calls before the measurement: the time of one call is known.
    for (let i = 0; i < 3; i += 1) await requestOnce(sides[name]);
    const one = await timedRun(() => requestOnce(sides[name]));
    await warmUp(sides[name], connections, seconds);
    lasting[name] = Math.ceil(Math.min(seconds * PATIENCE, Math.max(seconds, (4 * connections * one) / 1000)));
  }
  for (let round = 0; round < rounds.rounds; round += 1) {
    for (const name of names) {
      found[name].push(await measureCost(sides[name], connections, lasting[name]));
      // A server may still process the load; an answer to one more call shows that it is done.
      await requestOnce(sides[name]);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(found[name])])) as Record<K, Load>;
}

async function warmUp({ cpu, ...side }: BenchServer, connections: number, seconds: number): Promise<void> {
  const from = cpu?.() ?? null;
  for (let passed = 0; passed < WARM_UP.seconds; passed += seconds) {
    await measureLoad({ ...side, connections, seconds });
    if (from === null || cpu!()! - from >= WARM_UP.cpu) return;
  }
}

/** Loads one server; with its processor time for each call where the system reports it. */
export async function measureCost({ cpu, ...side }: BenchServer, connections: number, seconds: number): Promise<Load> {
  const before = cpu?.() ?? null;
  const load = await measureLoad({ ...side, connections, seconds });
  const after = cpu?.() ?? null;
  if (before === null || after === null) return load;
  return { ...load, cpu: ((after - before) * 1000) / (load.rps * seconds) };
}

/** Requests the side's first path once, or sends its first body, and throws unless the answer is 200. */
export async function requestOnce(
  { base, paths, headers = {}, bodies }: BenchServer,
  path = paths[0] ?? '/',
): Promise<Buffer> {
  const [body] = bodies ?? [];
  const response = await fetch(
    base + unlike(path),
    body === undefined ? { headers } : { method: 'POST', headers, body },
  );
  const answer = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${answer.toString().slice(0, 300)}`);
  return answer;
}

export async function timedRun(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/**
 * The load with the median rate, and the lowest processor time, since other load on the machine only adds to it; failed
 * answers of all rounds are included.
 */
export function median(loads: readonly Load[]): Load {
  const middle = <T>(list: T[]) => list[Math.floor(list.length / 2)] as T;
  const bad = loads.reduce((sum, each) => sum + each.bad, 0);
  const costs = loads.flatMap(({ cpu }) => cpu ?? []).sort((a, b) => a - b);
  const load = { ...middle([...loads].sort((a, b) => a.rps - b.rps)), bad };
  return costs.length === loads.length ? { ...load, cpu: costs[0]! } : load;
}
