// Connections of threads on one port: one with too many closes some, and the clients lose no call.
import { Agent, createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { balanceConnections, surplusOf } from '../../api/http/balance.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** A server on a port that others may share, and the calls that it answered. */
async function listen(connections: Int32Array, port: number) {
  const answered = { calls: 0 };
  const server = createServer((_request, response) => {
    answered.calls += 1;
    response.end('yes');
  });
  servers.push(server);
  balanceConnections(server, { connections, thread: servers.length - 1 });
  await new Promise<void>((resolve) => server.listen({ port, host: '127.0.0.1', reusePort: true }, resolve));
  return { answered, port: (server.address() as AddressInfo).port };
}

/** Calls with as many connections as the agent has, until `until`; throws when a call fails. */
async function load(agent: Agent, port: number, until: () => boolean): Promise<void> {
  const call = () =>
    new Promise<void>((resolve, reject) => {
      get({ port, host: '127.0.0.1', agent }, (response) => response.resume().on('end', resolve)).on('error', reject);
    });
  const repeat = async () => {
    while (!until()) await call();
  };
  await Promise.all(Array.from({ length: agent.maxSockets }, repeat));
}

test.each([2, 16, 40])(
  '%i connections of one thread are shared with a second one',
  async (wanted) => {
    const connections = new Int32Array(new SharedArrayBuffer(8));
    const agent = new Agent({ keepAlive: true, maxSockets: wanted });
    const first = await listen(connections, 0);
    await load(agent, first.port, () => first.answered.calls > 10 * wanted);
    const second = await listen(connections, first.port);
    const used = () => [...connections];
    const end = performance.now() + 20_000;
    const even = () => Math.min(...used()) > 0 && Math.max(...used()) <= Math.max(1, Math.ceil(wanted * 0.575));
    await load(agent, first.port, () => (even() && surplusOf(connections, 0) === 0) || performance.now() > end);
    expect(even(), `${used()}`).toBe(true);
    expect(second.answered.calls).toBeGreaterThan(0);
    agent.destroy();
  },
  30_000,
);

test('connections without calls do not count', async () => {
  const connections = new Int32Array(new SharedArrayBuffer(4));
  const { port, answered } = await listen(connections, 0);
  const agent = new Agent({ keepAlive: true, maxSockets: 5 });
  await load(agent, port, () => answered.calls > 100);
  await expect.poll(() => connections[0], { timeout: 5000 }).toBe(5);
  await expect.poll(() => connections[0], { timeout: 5000 }).toBe(0);
  agent.destroy();
});

test.each([
  [[8, 8], 0],
  [[9, 8], 0],
  [[9, 7], 0],
  [[10, 6], 2],
  [[6, 10], 0],
  [[2, 0], 1],
  [[1, 0], 0],
  [[530, 470], 0],
  [[600, 400], 100],
  [[4, 0, 0], 2],
])('of %j connections, the first thread has %i too many', (used, surplus) => {
  expect(surplusOf(Int32Array.from(used), 0)).toBe(surplus);
});
