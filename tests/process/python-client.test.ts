// The Python client: its own tests, with the service and one call of every operation.
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ADMIN, appOfAll } from '../support/app.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { callsOfClients } from '../support/client-calls.ts';
import { listenerOfAll } from '../support/listening.ts';
import { newKey } from '../support/money-on-stores.ts';
import { scratchOfAll } from '../support/night-pack.ts';

const app = await appOfAll({ nights: true, base: 'http://localhost:8787' });
const { base: url } = await listenerOfAll(app);
const folder = scratchOfAll();
const python = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0;

test('its tests pass against the service', { timeout: 300_000 }, async (context) => {
  if (!python) return context.skip('no python3 of 3.10 or later');
  const calls: object[] = [];
  // One after another: on a busy machine many at once end with query_timeout.
  for (const { call, credential, input, compared } of await callsOfClients(app)) {
    const text = compared ? await (await app.ask(call.path, call.init)).text() : '';
    calls.push({
      operation: call.operation.name,
      arguments: input,
      ...(credential === undefined ? {} : { key: credential }),
      ...(compared ? { answer: call.operation.output ? JSON.parse(text) : text } : {}),
    });
  }
  const stage = join(folder, 'calls.json');
  const slugs = app.records['tools']!.map(({ slug }) => slug);
  writeFileSync(stage, JSON.stringify({ url, key: (await newKey(app, 10)).key, admin: ADMIN, slugs, calls }));
  const program = join(import.meta.dirname, 'python_client.py');
  const { code, report } = await new Promise<{ code: unknown; report: string }>((resolve) =>
    execFile(
      'python3',
      ['-B', program],
      { env: { ...CHILD_ENV, REGISTER_CALLS: stage }, timeout: 240_000 },
      (error, _, report) => resolve({ code: error?.code ?? 0, report }),
    ),
  );
  expect([code, report]).toEqual([0, expect.stringContaining('OK')]);
});
