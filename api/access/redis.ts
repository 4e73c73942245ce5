// The connection to Redis: it may be away at any time, which is said once in the log, and so is its return.
import { createClient } from '@redis/client';

export interface Redis {
  client: ReturnType<typeof connection>;
  /** Whether it answers now. */
  up(): boolean;
  close(): Promise<void>;
}

/** Longest wait between two attempts to connect, in milliseconds. */
const RETRY = 2_000;

const connection = (url: string) =>
  createClient({
    url,
    // A command never waits for a connection: whoever asks goes on in process.
    disableOfflineQueue: true,
    socket: { connectTimeout: 1_000, reconnectStrategy: (tries) => Math.min(RETRY, 50 * (tries + 1)) },
  });

/** Connects, or keeps trying in the background. Never throws: the service runs without Redis too. */
export async function openRedis(url: string, log: (line: string) => void): Promise<Redis> {
  const client = connection(url);
  let away = false;
  const lost = () => {
    if (!away) log('Redis does not answer: limits are counted in this process until it does');
    away = true;
  };
  client.on('error', lost);
  client.on('ready', () => {
    if (away) log('Redis answers again: limits are shared');
    away = false;
  });
  const connecting = client.connect().then(
    () => {},
    () => {},
  );
  await Promise.race([connecting, new Promise((resolve) => setTimeout(resolve, 1_000).unref())]);
  return {
    client,
    up: () => client.isReady && !away,
    close: async () => {
      if (client.isOpen) client.destroy();
    },
  };
}
