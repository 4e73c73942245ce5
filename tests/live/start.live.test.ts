// `npm start` on collected data, and the requests of the README.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { verifies } from '../support/verifies.ts';

verifies('command.start-again', 'command.test-live');

const KEY = 'an-admin-key-of-the-live-suite-0123456789';
let server: ChildProcess;
let port: number;
/** Milliseconds from the command to the line that it listens. */
let took: number;

beforeAll(async () => {
  port = await freePort();
  const began = performance.now();
  // A new process group, since npm does not pass every signal on.
  server = spawn('npm', ['start', '--silent'], {
    env: { ...process.env, PORT: String(port), BASE_URL: 'http://localhost:8787', ADMIN_KEYS: KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    server.stdout?.on('data', (piece) => {
      said += String(piece);
      if (said.includes('listening on')) resolve();
    });
    server.once('exit', (code) => reject(new Error(`npm start ended with ${code}: ${said}`)));
  });
  took = performance.now() - began;
}, 120_000);

afterAll(() => {
  if (server.pid !== undefined) process.kill(-server.pid, 'SIGTERM');
});

// Three seconds on an idle machine (issue 2); twice that under other load.
test('a second start serves within seconds', () => {
  expect(took).toBeLessThan(6_000);
});

const lines = readFileSync('README.md', 'utf8').match(/(?<=^\$ )curl .*$/gm) ?? [];

test('the README has two requests', () => {
  expect(lines).toHaveLength(2);
});

test.each(lines)('%s', async (line) => {
  const address = /localhost:8787[^\s"]*/.exec(line)?.[0] ?? '';
  const headers = line.includes('$KEY') ? { Authorization: `Bearer ${KEY}` } : undefined;
  const answer = await fetch(
    `http://${address.replace('localhost:8787', `127.0.0.1:${port}`)}`,
    headers ? { headers } : {},
  );
  const text = await answer.text();
  expect(answer.status, text.slice(0, 300)).toBe(200);
  expect(text).not.toMatch(/"items":\[\]|^0 records/m);
});
