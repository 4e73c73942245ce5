// The service as a process: its output, new releases under load, shutdown, errors.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { paths } from '../../data/model/layout.ts';
import { loadPack } from '../../packs/define/load.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { LONG } from '../support/draws.ts';
import { freePort } from '../support/free-port.ts';
import { randomRecords } from '../support/random-records.ts';
import { verifies } from '../support/verifies.ts';
import { writeRelease } from '../support/write-release.ts';

const ROOT = join(import.meta.dirname, '../..');
const PACKS = join(import.meta.dirname, '../packs');

let dataDir: string;
const running: ChildProcess[] = [];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'server-'));
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

interface Running {
  child: ChildProcess;
  output: () => string;
  exited: Promise<number | null>;
}

function launch(env: Record<string, string>): Running {
  const child = spawn(process.execPath, [join(ROOT, 'api/server.ts')], {
    cwd: dataDir,
    env: {
      ...CHILD_ENV,
      DATA_DIR: dataDir,
      DIST_DIR: join(dataDir, 'dist'),
      PACK_DIRS: PACKS,
      ...env,
    },
  });
  running.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => (output += String(piece)));
  return { child, output: () => output, exited: new Promise((resolve) => child.once('exit', resolve)) };
}

/** Everything that the server sends on a connection. */
function received(port: string, request: string): Promise<string> {
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(request);
  return text(socket);
}

/** Waits until the process has printed a line; fails with its output. */
async function printed({ output, child }: Running, line: RegExp): Promise<RegExpExecArray> {
  for (let wait = 0; wait < 400; wait++) {
    const found = line.exec(output());
    if (found) return found;
    if (child.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`did not print ${line}: ${output()}`);
}

interface Got {
  status: number;
  release: string;
  body: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const fetched = (url: string, headers: Record<string, string> = {}): Promise<Got> =>
  new Promise((resolve, reject) => {
    const request = get(url, { agent, headers }, (response) => {
      let body = '';
      response.on('data', (piece) => (body += String(piece)));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, release: String(response.headers['x-dataset-version']), body }),
      );
    });
    request.on('error', reject);
  });

describe('the process', () => {
  verifies('setting.admin-key-generated', 'setting.one-line-error');

  test('prints one line with its address, shows the admin key once, opens a new release under load, stops cleanly', async () => {
    const pack = await loadPack(join(PACKS, 'tools'));
    const first = await writeRelease(dataDir, pack, randomRecords(pack, 40, 1));
    const port = String(await freePort());
    const env = { PORT: port, BASE_URL: `http://127.0.0.1:${port}` };
    const published = join(dataDir, 'dist/.build/published');
    mkdirSync(dirname(published), { recursive: true });
    writeFileSync(published, JSON.stringify({ base_url: 'http://localhost:8787' }));
    const process = launch(env);
    await printed(process, new RegExp(`^Dataset register: 1 of 2 datasets at http://127.0.0.1:${port}, `, 'm'));
    await printed(process, /^Never built: harbours\. Run `npm run nightly`\.$/m);
    await printed(process, /^The pages in \S+ were made for http:\/\/localhost:8787; .+ Run `npm run nightly`\.$/m);
    const [, key = ''] = await printed(process, /^Admin key, shown only once: (dsr_admin_[\w-]{43})$/m);
    const stored = readdirSync(paths.state(dataDir)).map((name) =>
      readFileSync(join(paths.state(dataDir), name), 'utf8'),
    );
    expect(stored.join()).not.toContain(key);

    const search = `http://127.0.0.1:${port}/v1/tools/entities?limit=1`;
    const headers = { Authorization: `Bearer ${key}` };
    expect(await fetched(search, headers)).toMatchObject({ status: 200, release: first.release });
    expect((await fetched(`http://127.0.0.1:${port}/v1/harbours/entities`)).status).toBe(503);
    // Load balancers send HTTP/1.0 without a Host header.
    expect(await received(port, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 .+"status":"ok"/s);
    expect(await received(port, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 .+"error":"invalid_parameter"/s,
    );

    // Longer than the minute for which proxies keep an idle connection.
    const { headers: told } = await new Promise<IncomingMessage>((resolve) =>
      get(search, { agent }, (response) => resolve(response.resume())),
    );
    expect(Number(/timeout=(\d+)/.exec(String(told['keep-alive']))?.[1])).toBeGreaterThan(60);

    const seen: Got[] = [];
    const cut: string[] = [];
    let asking = true;
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (asking)
          await fetched(search, headers).then(
            (got) => seen.push(got),
            (error: NodeJS.ErrnoException) => cut.push(error.code ?? ''),
          );
      }),
    );
    const second = await writeRelease(dataDir, pack, randomRecords(pack, 41, 2));
    await printed(process, new RegExp(`serving release ${second.release}`));
    await new Promise((resolve) => setTimeout(resolve, 200));
    process.child.kill('SIGTERM');
    const code = await process.exited;
    asking = false;
    await load;
    // Nothing listens any more, which is how clients notice the end of the process.
    expect(new Set(cut)).toEqual(new Set(['ECONNREFUSED']));
    expect(code).toBe(0);
    expect(seen.filter(({ status }) => status !== 200)).toEqual([]);
    expect(seen.every(({ body }) => JSON.parse(body).items.length === 1)).toBe(true);
    expect(new Set(seen.map(({ release }) => release))).toEqual(new Set([first.release, second.release]));

    writeFileSync(published, JSON.stringify({ base_url: env.BASE_URL }));
    const again = launch(env);
    await printed(again, /^Never built: /m);
    expect(again.output()).not.toContain('were made for');
    expect(again.output()).not.toContain('Admin key');
    expect(await fetched(search, headers)).toMatchObject({ status: 200, release: second.release });
  }, 60_000);

  test('SIGTERM: /readyz is 503 and calls are answered for DRAIN_SECONDS; SIGINT does not wait', async () => {
    const pack = await loadPack(join(PACKS, 'tools'));
    await writeRelease(dataDir, pack, randomRecords(pack, 5, 1));
    const env = { PORT: String(await freePort()) };
    const origin = `http://127.0.0.1:${env.PORT}`;
    const drained = launch({ ...env, DRAIN_SECONDS: '' });
    await printed(drained, /^Dataset register: /m);
    expect((await fetched(`${origin}/readyz`)).status).toBe(200);
    drained.child.kill('SIGTERM');
    await expect.poll(async () => (await fetched(`${origin}/readyz`)).status).toBe(503);
    expect((await fetched(`${origin}/v1/tools/entities?limit=1`)).status).toBe(200);
    expect(await drained.exited).toBe(0);
    const interrupted = launch({ ...env, DRAIN_SECONDS: '600' });
    await printed(interrupted, /^Dataset register: /m);
    interrupted.child.kill('SIGINT');
    expect(await interrupted.exited).toBe(0);
  }, 60_000);

  if (LONG)
    test('a request whose body dribbles is cut off', async () => {
      const port = await freePort();
      const slow = launch({ PORT: String(port) });
      await printed(slow, /^Dataset register: /m);
      const socket = connect(port, '127.0.0.1');
      socket.write(
        'POST /v1/keys HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n',
      );
      const dribble = setInterval(() => socket.write(' '), 1_000);
      const began = performance.now();
      let answer = '';
      socket.on('error', () => {});
      socket.on('data', (piece) => (answer += String(piece)));
      await new Promise((resolve) => socket.once('close', resolve));
      clearInterval(dribble);
      expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
      expect(performance.now() - began).toBeLessThan(60_000);
      slow.child.kill('SIGTERM');
      await slow.exited;
    }, 120_000);

  test('a wrong setting, a wrong pack and a taken port each stop it with one line', async () => {
    const setting = launch({ PORT: 'http' });
    expect(await setting.exited).toBe(1);
    expect(setting.output()).toMatch(/^PORT: .+\n$/);

    const folder = mkdtempSync(join(dataDir, 'packs-'));
    writeFileSync(join(folder, 'pack.ts'), 'export default 1;');
    const wrong = launch({ PACK_DIRS: dataDir });
    expect(await wrong.exited).toBe(1);
    expect(wrong.output()).toContain('pack.ts');
    expect(wrong.output()).not.toMatch(/\n\s+at /);

    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    const second = launch({ PORT: String(port) });
    expect(await second.exited).toBe(1);
    // The log of the start is buffered, and may follow it.
    expect(second.output()).toMatch(
      new RegExp(
        `^PORT: 127.0.0.1:${port} is taken by another process, perhaps this service; set PORT for a second one$`,
        'm',
      ),
    );
    taken.close();
    // The key exists by then, and no later start prints it.
    expect(second.output()).toMatch(/^Admin key, shown only once: dsr_admin_[\w-]{43}$/m);

    const unreachable = launch({
      DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/register',
      DATABASE_WAIT_SECONDS: '0',
    });
    expect(await unreachable.exited).toBe(1);
    expect(unreachable.output()).toMatch(/^DATABASE_URL: postgres:\/\/127.0.0.1:1\/register cannot be used: .+\n$/);
  }, 60_000);
});
