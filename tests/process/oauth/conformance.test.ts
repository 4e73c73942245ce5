// The official authorization-server scenarios of the MCP conformance suite; `.ci/run` runs them with all
// tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { register } from '../../support/oauth-client.ts';
import { allow } from '../../support/oauth-person.ts';
import { listen } from '../../support/oauth-server.ts';

const SUITE = join(
  createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json'),
  '../dist/index.js',
);

test('all official scenarios pass, with a person who allows each request', async () => {
  const { base, app, close } = await listen();
  const { key } = await newKey(app);
  const port = await freePort();
  const { body } = await register(base, { redirect_uris: [`http://127.0.0.1:${port}/callback`] });
  const about = ['--url', base, '--client-id', body.client_id, '--resource', `${base}/mcp`, '--port', String(port)];
  const suite = spawn(process.execPath, [SUITE, 'authorization', ...about]);
  let said = '';
  let visit: Promise<unknown> | null = null;
  const heard = (piece: Buffer) => {
    said += piece.toString();
    // The suite prints the authorization URL when its callback listens.
    const url = /(http:\/\/\S+\/oauth\/authorize\?\S+)\s/.exec(said)?.[1];
    if (url !== undefined && said.includes('Callback server started'))
      visit ??= allow(base, url, key).then((left) => fetch(left));
  };
  suite.stdout.on('data', heard);
  suite.stderr.on('data', heard);
  const [code] = await once(suite, 'exit');
  await visit;
  expect([code, said]).toEqual([0, expect.stringMatching(/Total: 3 passed, 0 failed/)]);
  expect(app.faults).toEqual([]);
  await close();
});
