// A long address never makes headers that clients and proxies cannot read.
import { expect, test } from 'vitest';
import { appOfAll } from '../support/app.ts';

const dead = 'http://127.0.0.1:9';
const x402 = {
  pay_to: `0x${'1'.repeat(40)}` as const,
  tokens: ['usdc' as const],
  facilitator_url: dead,
  rpc_url: dead,
};
const app = await appOfAll({ x402 });

test.each([100, 1000, 4000, 10_000, 30_000])(
  'the 402 of an address of %i characters has at most 8 kB of headers',
  async (length) => {
    const path = `/v1/tools/stats?limit=${'a'.repeat(length)}`;
    const { status, headers, body } = await app.json(path);
    expect(status).toBe(402);
    expect(JSON.stringify([...headers]).length).toBeLessThan(8192);
    const required = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString());
    const resource = body['resource'] as { url: string };
    expect(resource.url.endsWith(path)).toBe(true);
    expect(resource.url.startsWith(required.resource.url)).toBe(true);
  },
);

test.each([100, 30_000, 60_000])('the 402 of a body of %i characters too', async (length) => {
  const body = JSON.stringify({ amount_eur: 1, note: 'a'.repeat(length) });
  const call = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
  const { headers } = await app.json('/v1/keys/prepaid', call);
  expect(JSON.stringify([...headers]).length).toBeLessThan(8192);
});

test('the 402 of a list of 5,000 members', async () => {
  const body = JSON.stringify(Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i])));
  const call = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
  const { headers, status } = await app.json('/v1/keys/prepaid', call);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(JSON.stringify([...headers]).length).toBeLessThan(8192);
});
