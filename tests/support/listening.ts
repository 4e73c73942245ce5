// The app behind a real socket, for HTTP clients.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';
import { closeStalled } from '../../api/http/streams.ts';
import type { TestApp } from './app.ts';

export interface Listener {
  /** `http://127.0.0.1:<port>` */
  base: string;
  stop(): Promise<void>;
}

/** The listener of a test file, stopped after its tests. */
export async function listenerOfAll(app: TestApp, listener?: RequestListener): Promise<Listener> {
  const at = await startListener(app, listener);
  afterAll(() => at.stop());
  return at;
}

/**
 * Puts the app on a free port, with the listener of the service or another one. `stalled`: milliseconds that a client may
 * leave a response unread.
 */
export async function startListener(
  app: TestApp,
  listener: RequestListener = app.listener(),
  stalled?: number,
): Promise<Listener> {
  const server = createServer({ maxHeaderSize: 65_536, requireHostHeader: false }, listener).listen(0, '127.0.0.1');
  closeStalled(server, stalled);
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
