// Starts a server in a process of its own and stops it again.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

export interface Served {
  base: string;
  /** Milliseconds from spawn to the first 200 of the ready path. */
  started: number;
  /** Resident memory in MB, from /proc; null where there is no /proc. */
  memory: () => { now: number; peak: number } | null;
  stop: () => Promise<void>;
}

/** Spawns `node <args>` with PORT set and waits until `ready` answers 200. */
export async function serve(args: string[], port: number, env: Record<string, string>, ready: string): Promise<Served> {
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-4000);
  });
  const base = `http://127.0.0.1:${port}`;
  while (performance.now() - began < 120_000) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} stopped with ${child.exitCode}: ${stderr}`);
    const ok = await fetch(base + ready).then(
      (response) => response.status === 200,
      () => false,
    );
    if (ok) {
      return { base, started: performance.now() - began, memory: () => memoryOf(child), stop: () => stop(child) };
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await stop(child);
  throw new Error(`${args.join(' ')} did not answer ${ready} within two minutes: ${stderr}`);
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

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await gone;
  clearTimeout(timer);
}
