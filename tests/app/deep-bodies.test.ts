// A body of lists within lists is refused like every other wrong body, by every operation that takes one.
import { expect, test } from 'vitest';
import { OPERATIONS } from '../../api/operations/table.ts';
import { ADMIN, appOfAll, BASE } from '../support/app.ts';
import { newKey } from '../support/money-on-stores.ts';

// Nothing listens there: these calls end before a payment is verified.
const dead = 'http://127.0.0.1:9';
const x402 = {
  pay_to: `0x${'1'.repeat(40)}` as const,
  tokens: ['usdc' as const],
  facilitator_url: dead,
  rpc_url: dead,
};
const app = await appOfAll({ x402 });
const LISTS = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
const json = { 'Content-Type': 'application/json' };

test.each([
  ['lists', LISTS],
  ['objects', `${'{"a":'.repeat(8_000)}1${'}'.repeat(8_000)}`],
  ['a member', `{"a":${LISTS}}`],
])('levels of %s', async (_, body) => {
  const { headers } = await newKey(app);
  let refused = 0;
  for (const { rest, name } of OPERATIONS.filter(({ rest }) => rest.method !== 'GET')) {
    const path = rest.path.replace(':ds', 'tools').replaceAll(/:\w+/g, 'x');
    for (const credential of [{}, headers, { Authorization: `Bearer ${ADMIN}` }]) {
      const own = { ...credential, ...json, 'Idempotency-Key': `${name}-0123456789abcdef` };
      const { status, body: answer } = await app.json(path, { method: rest.method, headers: own, body });
      expect(status, `${name}: ${JSON.stringify(answer)}`).toBeLessThan(500);
      if (answer['error'] === 'validation_failed') refused += 1;
    }
  }
  expect(refused).toBeGreaterThan(0);
});

test('levels in the arguments of tools and skills', async () => {
  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"entity_search","arguments":{"dataset":"tools","q":${LISTS}}}}`;
  const accept = { ...json, Host: new URL(BASE).host, Accept: 'application/json, text/event-stream' };
  expect(await app.json('/mcp', { method: 'POST', headers: accept, body: call })).toMatchObject({
    status: 400,
    body: { error: { code: -32_700 } },
  });
  const message = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"skill":"entity_search","q":${LISTS}}}]}}`;
  const headers = { ...json, 'A2A-Version': '1.0' };
  const { status } = await app.json('/a2a/v1/message:send', { method: 'POST', headers, body: message });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
});
