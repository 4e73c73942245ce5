// The part of @20minutes/s3rver that tests use; it ships no types.
declare module '@20minutes/s3rver' {
  import type { IncomingMessage } from 'node:http';
  import type { AddressInfo } from 'node:net';

  interface Options {
    port: number;
    address: string;
    silent: boolean;
    allowMismatchedSignatures: boolean;
    directory: string;
    configureBuckets: { name: string; configs: string[] }[];
  }
  type Middleware = (
    context: { method: string; url: string; status: number; req: IncomingMessage; body: unknown },
    next: () => Promise<void>,
  ) => Promise<void>;
  export default class S3rver {
    middleware: Middleware[];
    constructor(options: Options);
    run(): Promise<AddressInfo>;
    close(): Promise<void>;
  }
}
