// A proxy of the chain's node for the service, which tests can take down.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestNode {
  url: string;
  /** Whether it cuts every connection. */
  down: boolean;
  /** Requests so far. */
  asked: number;
  stop(): Promise<void>;
}

/** Starts a proxy for a chain. */
export async function startNode(rpc: string): Promise<TestNode> {
  const server = createServer(async (request, response) => {
    node.asked += 1;
    if (node.down) return void response.destroy();
    let body = '';
    for await (const piece of request) body += String(piece);
    const answer = await fetch(rpc, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const node: TestNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    down: false,
    asked: 0,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return node;
}
