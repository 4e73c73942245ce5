// A receiver of changes on this machine, whose answers a test chooses.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  headers: Record<string, string>;
  text: string;
  body: { type: string; data: Record<string, unknown> };
}

export interface Receiver {
  url: string;
  /** `host:port`. */
  host: string;
  received: Received[];
  /** Answers the next messages; by default they are confirmed with 200. */
  answer: ((message: Received, response: ServerResponse) => void) | null;
  stop(): Promise<void>;
}

const headersOf = (headers: IncomingHttpHeaders) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const message = { headers: headersOf(request.headers), text, body: JSON.parse(text) as Received['body'] };
      received.push(message);
      if (receiver.answer !== null) return receiver.answer(message, response);
      response.end(JSON.stringify({ challenge: message.body.data['challenge'] }));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  const receiver: Receiver = {
    ...{ url: `http://${host}/hook`, host, received, answer: null },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return receiver;
}
