// The guard of the suite: no test reaches the network, and every test can reach this machine.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { verifies } from '../support/verifies.ts';

verifies('command.test');

test('a connection to the network is refused immediately, by address and by name', async () => {
  expect(() => connect(443, '203.0.113.5')).toThrow('tests have no network: something tried to connect to 203.0.113.5');
  expect(() => connect({ port: 443, host: 'h.example' })).toThrow('h.example');
  await expect(fetch('https://h.example/')).rejects.toThrow();
});

test('this machine is reachable', async () => {
  const server = createServer((socket) => socket.end('here')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
  expect(String((await once(socket, 'data'))[0])).toBe('here');
  server.close();
});
