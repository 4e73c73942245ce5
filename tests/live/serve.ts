// A server over the live suite's data, in a child process, as users run it.
import { type ChildProcess, spawn } from 'node:child_process';
import { freePort } from '../support/free-port.ts';

/** The operator's key of every server started here. */
export const KEY = 'an-admin-key-of-the-live-suite-0123456789';

export interface LiveServer {
  /** `http://127.0.0.1:<port>` */
  base: string;
  /** The operator's key. */
  key: string;
  /** Sends a request with the operator's key. */
  ask(path: string, headers?: Record<string, string>): Promise<Response>;
  stop(): void;
}

/** Starts `node api/server.ts` and waits until it listens. */
export async function startServer(): Promise<LiveServer> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const env = { ...process.env, PORT: String(port), BASE_URL: base, ADMIN_KEYS: KEY };
  const server: ChildProcess = spawn(process.execPath, ['api/server.ts'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    server.stdout?.on('data', (piece) => {
      said += String(piece);
      if (said.includes('listening on')) resolve();
    });
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  return {
    base,
    key: KEY,
    ask: (path, headers) => fetch(`${base}${path}`, { headers: { Authorization: `Bearer ${KEY}`, ...headers } }),
    stop: () => void server.kill('SIGTERM'),
  };
}
