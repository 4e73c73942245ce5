// An S3-compatible server in this process. It checks neither signatures (see below), checksums nor conditions, and
// has no list of unfinished uploads.
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import { freePort } from './free-port.ts';

export interface S3Server {
  endpoint: string;
  port: number;
  /** The folder with the objects of `bucket`. */
  folder(bucket: string): string;
  /** Lines `METHOD /path?query` of the requests so far. */
  requests: string[];
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
  server.middleware.unshift(async (context, next) => {
    requests.push(`${context.method} ${context.url}`);
    if (context.method === 'PUT' && writes-- <= 0) {
      context.status = 403;
      return;
    }
    await next();
  });
  const { port } = (await server.run()) as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    folder: (bucket) => join(directory, bucket),
    requests,
    refuseAfter: (allowed) => {
      writes = allowed;
    },
    close: () => server.close(),
  };
}

/** Removes the folder of a closed server. */
export const removeS3 = (server: S3Server): void =>
  rmSync(join(server.folder('-'), '..'), { recursive: true, force: true });
