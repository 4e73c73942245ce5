// One load measurement over HTTP: with wrk when it is installed (it leaves more of a small machine to the
// server), else with autocannon.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import autocannon from 'autocannon';

const run = promisify(execFile);

/**
 * Requests a second and latency in milliseconds. `bad` counts answers other than 2xx; a measurement with any
 * is void.
 */
export interface Load {
  rps: number;
  p50: number;
  p99: number;
  bad: number;
  /** Processor microseconds of the server for each call, over all its threads; absent where it is not known. */
  cpu?: number;
}

export interface LoadTarget {
  base: string;
  /**
   * Requested in turn, so that no answer is cached by being the last one. `{n}` in a path becomes an
   * eight-digit number that is unique in this process, so that no two requests are equal.
   */
  paths: readonly string[];
  headers?: Record<string, string>;
  /** Bodies for POST in turn, with the path at the same position or the first one. */
  bodies?: readonly string[] | undefined;
  connections: number;
  seconds: number;
}

export const generator: 'wrk' | 'autocannon' = hasWrk() ? 'wrk' : 'autocannon';

function hasWrk(): boolean {
  try {
    execFileSync('wrk', ['--version'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    // wrk exits with 1 after printing its version; only ENOENT means that it is missing.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** Numbers used for `{n}` so far. */
let numbered = 0;
/** Numbers reserved for one measurement. */
const ASIDE = 100_000;

/** Fills in `{n}` of a path. */
export function unlike(path: string): string {
  return path.includes('{n}') ? path.replaceAll('{n}', digits(numbered++)) : path;
}

const digits = (n: number) => String(n % 100_000_000).padStart(8, '0');

/** Loads one URL for some seconds and returns the figures. */
export async function measureLoad(target: LoadTarget): Promise<Load> {
  const first = numbered;
  numbered += ASIDE;
  return generator === 'wrk' ? withWrk(target, first) : withAutocannon(target, first);
}

async function withWrk(target: LoadTarget, first: number): Promise<Load> {
  const { base, connections, seconds } = target;
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const script = join(folder, 'paths.lua');
  writeFileSync(script, lua(target, first));
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '60s', '--latency', '-s', script, base];
  const { stdout } = await run('wrk', args).finally(() => rmSync(folder, { recursive: true }));
  return readWrk(stdout);
}

/** The requests are made before the measurement, except numbered ones. */
function lua({ paths, headers = {}, bodies }: LoadTarget, first: number): string {
  if (bodies) return luaPost(paths, headers, bodies);
  const list = paths.map((path) => JSON.stringify(path)).join(', ');
  const sent = Object.entries(headers).map(([name, value]) => `[${JSON.stringify(name)}] = ${JSON.stringify(value)}`);
  const head = `local paths = {${list}}\nlocal headers = {${sent.join(', ')}}\nlocal i = 0\n`;
  if (paths.some((path) => path.includes('{n}')))
    return (
      `${head}request = function()\n  i = i + 1\n` +
      `  local path = paths[i % #paths + 1]:gsub("{n}", string.format("%08d", ${first} + i))\n` +
      '  return wrk.format("GET", path, headers)\nend\n'
    );
  return (
    `${head}local ready = {}\nrequest = function()\n  i = i % #paths + 1\n` +
    '  if not ready[i] then ready[i] = wrk.format("GET", paths[i], headers) end\n  return ready[i]\nend\n'
  );
}

function luaPost(paths: readonly string[], headers: Record<string, string>, bodies: readonly string[]): string {
  const sent = Object.entries(headers).map(([name, value]) => `[${JSON.stringify(name)}] = ${JSON.stringify(value)}`);
  const made = bodies.map((body, i) => {
    const path = JSON.stringify(paths[i] ?? paths[0]);
    // A Lua long bracket can contain any JSON without its closing bracket.
    return `  wrk.format("POST", ${path}, headers, [==[${body}]==]),`;
  });
  return (
    `local headers = {${sent.join(', ')}}\nlocal ready\nlocal i = 0\nrequest = function()\n` +
    `  if not ready then ready = {\n${made.join('\n')}\n  } end\n  i = i % #ready + 1\n  return ready[i]\nend\n`
  );
}

/** Parses the output of `wrk --latency`. */
export function readWrk(stdout: string): Load {
  return {
    rps: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1] ?? 0),
    p50: milliseconds(/^\s*50%\s+(\S+)/m.exec(stdout)?.[1]),
    p99: milliseconds(/^\s*99%\s+(\S+)/m.exec(stdout)?.[1]),
    bad: Number(/Non-2xx or 3xx responses:\s+(\d+)/.exec(stdout)?.[1] ?? 0),
  };
}

function milliseconds(text: string | undefined): number {
  const match = /^([\d.]+)(us|ms|s|m)$/.exec(text ?? '');
  if (!match) return Number.NaN;
  return Number(match[1]) * { us: 0.001, ms: 1, s: 1000, m: 60_000 }[match[2] as 'us' | 'ms' | 's' | 'm'];
}

async function withAutocannon(target: LoadTarget, first: number): Promise<Load> {
  const { base, paths, headers = {}, bodies, connections, seconds } = target;
  let n = first;
  const posts = bodies?.map((body, i) => ({
    method: 'POST' as const,
    path: paths[i] ?? paths[0] ?? '/',
    headers,
    body,
  }));
  const gets = paths.map((path) => ({
    method: 'GET' as const,
    path,
    headers,
    setupRequest: <T extends object>(request: T): T =>
      path.includes('{n}') ? { ...request, path: path.replaceAll('{n}', digits(n++)) } : request,
  }));
  const result = await autocannon({ url: base, requests: posts ?? gets, connections, duration: seconds, timeout: 60 });
  return { rps: result.requests.average, p50: result.latency.p50, p99: result.latency.p99, bad: result.non2xx };
}
