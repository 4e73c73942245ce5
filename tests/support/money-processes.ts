// API processes over one small release, started and killed by tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPack } from '../../packs/define/load.ts';
import { ADMIN } from './app.ts';
import { CHILD_ENV } from './child-env.ts';
import { freePort } from './free-port.ts';
import { randomRecords } from './random-records.ts';
import { writeRelease } from './write-release.ts';

const ROOT = join(import.meta.dirname, '../..');
const PACKS = join(ROOT, 'tests/packs');

/** A folder with a release of the pack tools, shared by processes. */
export async function smallData(): Promise<{ dataDir: string; remove: () => void }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'money-'));
  const pack = await loadPack(join(PACKS, 'tools'));
  await writeRelease(dataDir, pack, randomRecords(pack, 12, 7));
  return { dataDir, remove: () => rmSync(dataDir, { recursive: true, force: true }) };
}

export interface Api {
  base: string;
  output: () => string;
  kill: (signal: NodeJS.Signals) => Promise<void>;
  ask: (path: string, headers?: Record<string, string>, method?: string, body?: string) => Promise<Got>;
}

export interface Got {
  status: number;
  body: string;
  header: (name: string) => string | undefined;
}

/** Starts one; resolves when it answers. */
export async function startApi(dataDir: string, env: Record<string, string> = {}): Promise<Api> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [join(ROOT, 'api/server.ts')], {
    cwd: dataDir,
    env: {
      ...CHILD_ENV,
      DATA_DIR: dataDir,
      DIST_DIR: join(dataDir, 'dist'),
      PACK_DIRS: PACKS,
      ADMIN_KEYS: ADMIN,
      PORT: String(port),
      BASE_URL: base,
      ...env,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => (output += String(piece)));
  const gone = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      // A test that finds no listener prints this with the reason.
      output += `exited: ${code ?? signal}\n`;
      resolve();
    });
  });
  for (let wait = 0; !/^Dataset register: /m.test(output); wait++) {
    if (child.exitCode !== null || wait > 600) throw new Error(`the API did not start: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  return {
    base,
    output: () => output,
    ask: (path, headers = {}, method = 'GET', body) => asked(agent, base + path, headers, method, body),
    kill: (signal) => killed(child, gone, agent, signal),
  };
}

async function killed(child: ChildProcess, gone: Promise<void>, agent: Agent, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  await gone;
  agent.destroy();
}

function asked(
  agent: Agent,
  url: string,
  headers: Record<string, string>,
  method: string,
  body?: string,
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers, method }, (response) => {
      let text = '';
      // Joins characters that are split between two chunks.
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (text += piece));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: text, header: (name) => response.headers[name] as string }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Makes a key and grants it credit. */
export async function richKey(
  api: Api,
  email: string,
  plan: string,
  more: number,
): Promise<{ id: string; key: string }> {
  const made = await api.ask('/v1/keys', {}, 'POST', JSON.stringify({ email }));
  const { id, key } = JSON.parse(made.body) as { id: string; key: string };
  const body = JSON.stringify({ key_id: id, amount_eur: more, plan });
  const granted = await api.ask('/v1/keys/grant', { Authorization: `Bearer ${ADMIN}` }, 'POST', body);
  if (granted.status !== 200) throw new Error(granted.body);
  return { id, key };
}
