// An S3-compatible server in this process. It checks neither signatures (see below), checksums nor conditions, and
// has no list of unfinished uploads.
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import S3rver from '@20minutes/s3rver';
import { freePort } from './free-port.ts';

export interface S3Server {
  endpoint: string;
  port: number;
  /** The folder with the objects of `bucket`. */
  folder(bucket: string): string;
  /** Lines `METHOD /path?query` of the requests so far. */
  requests: string[];
  /** Bytes that clients sent to it and received from it, headers included. */
  traffic(): { received: number; sent: number };
  /** Waits this long before each 64 KB of an object that it sends, and before it stores a part. Milliseconds. */
  slowDown(delay: number): void;
  /** Answers 403 to every write from now on, but `writes` ones. */
  refuseAfter(writes: number): void;
  close(): Promise<void>;
}

/** Credentials that the server accepts, as variables of the environment. */
export const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

/** Starts a server with empty buckets; `directory` and `port` of an earlier one continue it. */
export async function startS3(
  buckets: readonly string[],
  directory = mkdtempSync(join(tmpdir(), 's3-')),
  wanted?: number,
): Promise<S3Server> {
  const server = new S3rver({
    port: wanted ?? (await freePort()),
    address: '127.0.0.1',
    silent: true,
    // It computes the signature of requests to a bucket as a whole without their last slash.
    allowMismatchedSignatures: true,
    directory,
    configureBuckets: buckets.map((name) => ({ name, configs: [] })),
  });
  const requests: string[] = [];
  let writes = Number.POSITIVE_INFINITY;
  let delay = 0;
  const sockets = new Set<Socket>();
  server.middleware.unshift(async (context, next) => {
    requests.push(`${context.method} ${context.url}`);
    sockets.add(context.req.socket);
    if (delay > 0 && context.method === 'PUT') await sleep(delay);
    if (context.method === 'PUT' && writes-- <= 0) {
      context.status = 403;
      return;
    }
    await next();
    if (delay > 0 && context.body instanceof Readable) context.body = Readable.from(trickled(context.body, delay));
  });
  const { port } = (await server.run()) as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    folder: (bucket) => join(directory, bucket),
    requests,
    traffic() {
      const sum = (bytes: 'bytesRead' | 'bytesWritten') => [...sockets].reduce((all, each) => all + each[bytes], 0);
      return { received: sum('bytesRead'), sent: sum('bytesWritten') };
    },
    slowDown: (milliseconds) => {
      delay = milliseconds;
    },
    refuseAfter: (allowed) => {
      writes = allowed;
    },
    close: () => server.close(),
  };
}

async function* trickled(body: Readable, delay: number): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    await sleep(delay);
    yield chunk as Buffer;
  }
}

/** Removes the folder of a closed server. */
export const removeS3 = (server: S3Server): void =>
  rmSync(join(server.folder('-'), '..'), { recursive: true, force: true });
