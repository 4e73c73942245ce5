// The app behind a real socket at its own BASE_URL, for browsers and clients.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { TestApp } from './app.ts';

export interface Served {
  app: TestApp;
  /** Its BASE_URL, without a trailing slash. */
  base: string;
  close(): Promise<void>;
}

/** Serves the app that `make` returns for the address; until then every answer is 503. */
export async function served(make: (base: string) => Promise<TestApp>): Promise<Served> {
  let app: TestApp | undefined;
  const server = createServer(
    getRequestListener((request) => app?.fetch(request) ?? new Response(null, { status: 503 })),
  ).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const base = `http://localhost:${(server.address() as AddressInfo).port}`;
  app = await make(base);
  const own = app;
  const close = async () => {
    await new Promise((closed) => server.close(closed));
    await own.close();
  };
  return { app, base, close };
}
