// One load measurement over HTTP: wrk where it is installed (it leaves more of a small machine to the server), else autocannon.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import autocannon from 'autocannon';

const run = promisify(execFile);

/** Requests a second and latency in milliseconds. `bad` counts answers that were not 2xx; a measurement with any is void. */
export interface Load {
  rps: number;
  p50: number;
  p99: number;
  bad: number;
}

export interface Target {
  base: string;
  /** Asked in turn, so that no answer is hot merely because it was the last one. */
  paths: string[];
  headers?: Record<string, string>;
  connections: number;
  seconds: number;
}

export const generator: 'wrk' | 'autocannon' = hasWrk() ? 'wrk' : 'autocannon';

function hasWrk(): boolean {
  try {
    execFileSync('wrk', ['--version'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    // wrk exits 1 after printing its version; only a missing file means that it is not there.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** Loads one URL for a while and says what came out. */
export async function load(target: Target): Promise<Load> {
  return generator === 'wrk' ? withWrk(target) : withAutocannon(target);
}

async function withWrk({ base, paths, headers = {}, connections, seconds }: Target): Promise<Load> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const script = join(folder, 'paths.lua');
  const list = paths.map((path) => JSON.stringify(path)).join(', ');
  const sent = Object.entries(headers).map(([name, value]) => `[${JSON.stringify(name)}] = ${JSON.stringify(value)}`);
  writeFileSync(
    script,
    `local paths = {${list}}\nlocal headers = {${sent.join(', ')}}\nlocal i = 0\n` +
      'request = function() i = i % #paths + 1; return wrk.format("GET", paths[i], headers) end\n',
  );
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', script, base];
  const { stdout } = await run('wrk', args).finally(() => rmSync(folder, { recursive: true }));
  return {
    rps: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1] ?? 0),
    p50: milliseconds(/50%\s+(\S+)/.exec(stdout)?.[1]),
    p99: milliseconds(/99%\s+(\S+)/.exec(stdout)?.[1]),
    bad: Number(/Non-2xx or 3xx responses:\s+(\d+)/.exec(stdout)?.[1] ?? 0),
  };
}

function milliseconds(text: string | undefined): number {
  const match = /^([\d.]+)(us|ms|s|m)$/.exec(text ?? '');
  if (!match) return Number.NaN;
  return Number(match[1]) * ({ us: 0.001, ms: 1, s: 1000, m: 60_000 }[match[2] as 'us'] ?? 1);
}

async function withAutocannon({ base, paths, headers = {}, connections, seconds }: Target): Promise<Load> {
  const requests = paths.map((path) => ({ method: 'GET' as const, path, headers }));
  const result = await autocannon({ url: base, requests, connections, duration: seconds });
  return { rps: result.requests.average, p50: result.latency.p50, p99: result.latency.p99, bad: result.non2xx };
}
