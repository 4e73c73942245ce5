// The app behind a real socket, with its authorization server.
import { serve } from '@hono/node-server';
import { type TestApp, type TestOptions, testApp } from './app.ts';
import { freePort } from './free-port.ts';

export interface Listening {
  app: TestApp;
  /** Its address, which is also its BASE_URL. */
  base: string;
  close(): Promise<void>;
}

/**
 * Starts it. oidc-provider uses the clock of the machine, so the app does too; `late` are milliseconds by
 * which it is ahead.
 */
export async function listen({
  late = () => 0,
  ...options
}: TestOptions & { late?: () => number } = {}): Promise<Listening> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const app = await testApp({ records: 12, now: () => new Date(Date.now() + late()), ...options, base });
  const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    app,
    base,
    async close() {
      await new Promise((resolve) => server.close(resolve));
      await app.close();
    },
  };
}
