// The commands of the guides for customers: each curl block runs with curl against the service on the real
// packs, in the order of the page.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LiveServer, startServer } from './serve.ts';

const GUIDES = ['quick-start', 'authentication', 'searching', 'provenance', 'gis', 'changes', 'paying'] as const;
const BLOCK = /^```sh\n([^`]*)```/gm;
/** Commands whose answer is no success for a new key, and why. */
const OTHER_STATUS: Readonly<Record<string, number>> = {
  // The change feed needs a plan.
  '/llm-models/changes?since=': 403,
  // Paid without a key: x402 or a key.
  '/paid/entities': 402,
  // The limit is below the price.
  'X-Max-Price-EUR: 0.01': 403,
  // The address has a key already.
  '-X POST http://localhost:8787/v1/keys -H': 409,
  // Created.
  '/v1/keys/me/subscriptions -d': 201,
  // This service has no address that x402 payments go to.
  '/v1/keys/prepaid': 503,
};

/**
 * Address of this run on the loopback network: the store of the live suite is kept, and the daily quotas in it count
 * by address.
 */
const ADDRESS = `127.${[0, 0, 0].map(() => 1 + Math.floor(Math.random() * 254)).join('.')}`;

let server: LiveServer;
let key = '';
beforeAll(async () => {
  server = await startServer();
  const answer = await fetch(`${server.base}/v1/keys`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: `guides-${Date.now()}@example.org` }),
  });
  expect(answer.status).toBe(201);
  key = ((await answer.json()) as { key: string }).key;
  // The commands are of one address: it has its key before the pages are run.
  await run(
    'curl -X POST http://localhost:8787/v1/keys -H "Content-Type: application/json" -d \'{"email": "you@example.org"}\'',
  );
}, 120_000);
afterAll(() => server.stop());

/** Runs a command in a shell; returns the answer and its status. */
async function run(command: string): Promise<{ status: number; text: string }> {
  const script = `${command.trim().replaceAll('http://localhost:8787', server.base)} --interface ${ADDRESS} -sS -w '\\n%{http_code}'`;
  const { stdout } = await promisify(execFile)('sh', ['-c', script], {
    env: { PATH: process.env['PATH'], REGISTER_KEY: key },
    maxBuffer: 64 * 1024 * 1024,
  });
  const at = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(at + 1)), text: stdout.slice(0, at) };
}

const blocks = GUIDES.flatMap((guide) =>
  [...readFileSync(`docs/${guide}.md`, 'utf8').matchAll(BLOCK)].flatMap(([, text = '']) =>
    text.startsWith('curl ') ? [[guide, text.trim()] as const] : [],
  ),
);

test('the guides have commands', () => {
  expect(blocks.length).toBeGreaterThan(25);
  expect(new Set(blocks.map(([guide]) => guide))).toEqual(new Set(GUIDES));
});

test.each(blocks)('%s: %s', async (_guide, command) => {
  const { status, text } = await run(command);
  const [, other] = Object.entries(OTHER_STATUS).find(([part]) => command.includes(part)) ?? [];
  expect(status, text.slice(0, 300)).toBe(other ?? 200);
  expect(text).not.toMatch(/"items":\[\]|^0 records/m);
});
