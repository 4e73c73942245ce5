// `npm run conformance`: the official MCP conformance suite in both revisions and the inspector's strict
// mode, against a local app with the fictional packs. Needs no network. Exceptions are in the .yml files of
// this folder.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testApp } from '../support/app.ts';
import { startListener } from '../support/listening.ts';

const ROOT = join(import.meta.dirname, '../..');
const REVISIONS = ['2026-07-28', '2025-11-25'];
const ERAS = ['modern', 'legacy'];
const scratch = mkdtempSync(join(tmpdir(), 'conformance-'));

/** Runs a program of node_modules; returns its exit code and output. */
function run(name: string, args: string[]): Promise<{ code: number | null; printed: string }> {
  const child = spawn(join(ROOT, 'node_modules/.bin', name), args, {
    cwd: scratch,
    // The inspector stores a catalogue, by default in the home folder.
    env: { ...process.env, MCP_CATALOG_PATH: join(scratch, 'catalog.json') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => {
      printed += piece.toString();
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, printed }));
  });
}

const app = await testApp();
const at = await startListener(app);
const url = `${at.base}/mcp`;
const checks: [what: string, program: string, args: string[]][] = [
  ...REVISIONS.map((revision): (typeof checks)[number] => [
    `conformance ${revision}`,
    'conformance',
    [
      ...['server', '--url', url, '--requirements', revision, '-o', join(scratch, revision)],
      ...['--expected-failures', join(import.meta.dirname, `${revision}.yml`)],
    ],
  ]),
  ...ERAS.map((era): (typeof checks)[number] => [
    `inspector --strict, ${era}`,
    'mcp-inspector',
    [
      ...['--cli', '--server-url', url, '--transport', 'http', '--protocol-era', era],
      ...['--method', 'tools/list', '--strict'],
    ],
  ]),
];
let failed = 0;
for (const [what, program, args] of checks) {
  const { code, printed } = await run(program, args);
  console.log(`${what}: ${code === 0 ? 'passed' : `FAILED with ${code}`}`);
  if (code === 0) continue;
  failed += 1;
  console.log(printed.slice(-6000));
}
if (app.faults.length > 0) {
  failed += 1;
  console.log('the service reported faults of its own', app.faults);
}
await at.stop();
await app.close();
rmSync(scratch, { recursive: true });
process.exitCode = failed === 0 ? 0 : 1;
