// Starts a server in a child process and stops it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../tests/support/free-port.ts';
import type { Vitals } from './watch.ts';

export interface ServerProcess {
  base: string;
  /** Milliseconds from spawn to the first 200 of the ready path. */
  started: number;
  /** Resident memory in MB, from /proc; null where there is no /proc. */
  memory: () => { now: number; peak: number } | null;
  /** Processor milliseconds of all threads since the start, from /proc; null where there is no /proc. */
  cpu: () => number | null;
  /** Vitals of the process since the last call (watch.ts). */
  vitals: () => Promise<Vitals>;
  /** From now on the vitals contain the longest turn of the event loop. */
  watchTurns: () => void;
  /** Profile of the main thread while `load` runs. */
  profile: (load: () => Promise<unknown>) => Promise<CpuProfile>;
  stop: () => Promise<void>;
}

/** The part of a V8 sampling profile that is read; times in microseconds. */
export interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

/**
 * Spawns `node <args>` with PORT and BASE_URL set and waits until `ready`, requested with `headers`, returns
 * 200.
 */
export async function startProcess(
  args: string[],
  env: Record<string, string>,
  ready: string,
  headers: Record<string, string> = {},
): Promise<ServerProcess> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const began = performance.now();
  const watch = join(import.meta.dirname, 'watch.ts');
  const child = spawn(process.execPath, ['--import', watch, ...args], {
    env: { ...process.env, BASE_URL: base, ...env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  // A service logs every request here: the output is discarded, except for its end.
  let last: Buffer[] = [];
  child.stderr?.on('data', (chunk: Buffer) => {
    last = [...last.slice(-1), chunk];
  });
  const stderr = () => Buffer.concat(last).toString().slice(-4000);
  while (performance.now() - began < 900_000) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} stopped with ${child.exitCode}: ${stderr()}`);
    const ok = await fetch(base + ready, { headers }).then(
      (response) => response.status === 200,
      () => false,
    );
    if (ok) {
      const started = performance.now() - began;
      child.once('exit', (code, signal) => {
        if (!child.killed) process.stderr.write(`${args.join(' ')} ended with ${code ?? signal}: ${stderr()}\n`);
      });
      return {
        base,
        started,
        memory: () => memoryOf(child),
        cpu: () => cpuOf(child),
        vitals: () => vitalsOf(child),
        watchTurns: () => void child.send('turns'),
        profile: (load) => profileOf(child, load),
        stop: () => stop(child),
      };
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await stop(child);
  throw new Error(`${args.join(' ')} did not answer ${ready} within a quarter of an hour: ${stderr()}`);
}

async function vitalsOf(child: ChildProcess): Promise<Vitals> {
  const reply = once(child, 'message');
  child.send('vitals');
  const [vitals] = (await reply) as [Vitals];
  return vitals;
}

async function profileOf(child: ChildProcess, load: () => Promise<unknown>): Promise<CpuProfile> {
  child.send('profile');
  await load();
  const reply = once(child, 'message');
  child.send('profiled');
  const [profile] = (await reply) as [CpuProfile];
  return profile;
}

function memoryOf(child: ChildProcess): { now: number; peak: number } | null {
  try {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    const mb = (field: string) => Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024);
    return { now: mb('VmRSS'), peak: mb('VmHWM') };
  } catch {
    return null;
  }
}

/** Milliseconds of one tick of /proc: USER_HZ is 100 on every Linux. */
const TICK = 10;

/** Processor milliseconds of a process; null when it has ended, and where there is no /proc. */
function cpuOf({ pid }: ChildProcess): number | null {
  try {
    // The name, in brackets, may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    const [user, system] = [fields[11], fields[12]];
    return (Number(user) + Number(system)) * TICK;
  } catch {
    return null;
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await gone;
  clearTimeout(timer);
}
