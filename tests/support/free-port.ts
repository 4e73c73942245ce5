// A free port for a server that needs its number before it starts.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A port of the loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
