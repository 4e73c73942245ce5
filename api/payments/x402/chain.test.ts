// The selectors of chain.ts, and its requests to a node that refuses them. The walks of tests/process/x402 read a chain.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toEventSelector, toFunctionSelector } from 'viem';
import { expect, onTestFinished, test } from 'vitest';
import { EVENTS, READS, rpcChain } from './chain.ts';

test('selectors are those that viem computes from the signatures', () => {
  for (const [signature, topic] of Object.entries(EVENTS)) expect(toEventSelector(signature)).toBe(topic);
  for (const [signature, selector] of Object.entries(READS)) expect(toFunctionSelector(signature)).toBe(selector);
});

test('a node behind a password gets it as a header, and a failed request is sent once more', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(429).end('{"error":{"code":-32005,"message":"limit exceeded"}}');
  }).listen(0);
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const chain = rpcChain(`http://register:a%2Fb@127.0.0.1:${port}/rpc`, 1_000);
  const transfer = { method: 'eip3009' } as Parameters<typeof chain.look>[0];
  expect(await chain.look(transfer, Date.now(), null)).toEqual({ state: 'unknown' });
  expect(seen).toEqual(Array(2).fill(`Basic ${btoa('register:a/b')}`));
});
