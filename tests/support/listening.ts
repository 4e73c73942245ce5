// The app behind a real socket, for clients that speak over HTTP.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestApp } from './app.ts';

export interface Listening {
  /** `http://127.0.0.1:<port>` */
  base: string;
  stop(): Promise<void>;
}

/** Puts the app on a free port of this machine, as the service listens or in another way. */
export async function listening(app: TestApp, listener: RequestListener = app.listener()): Promise<Listening> {
  const server = createServer({ maxHeaderSize: 65_536 }, listener).listen(0, '127.0.0.1');
  await new Promise<void>((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    base: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
