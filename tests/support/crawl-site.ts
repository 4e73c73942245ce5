// A site for the crawler's tests: it verifies signatures, forbids paths, limits rates, breaks connections and
// sends wrong sizes.

import { createPublicKey, type JsonWebKeyInput, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { component, verifySignature } from 'http-message-sig';

export interface CrawlSite {
  base: string;
  /** Every request: path, and `signed` or the error of its signature. */
  requests: { path: string; signed: string; at: number; headers: IncomingMessage['headers'] }[];
  close(): Promise<void>;
}

export type SiteAnswers = Record<string, (request: IncomingMessage, response: ServerResponse, count: number) => void>;

/** Serves `answers` by path (404 for others); `key` is the public key of the expected signatures. */
export async function site(answers: SiteAnswers, key: JsonWebKeyInput['key'], now: () => Date): Promise<CrawlSite> {
  const asked: CrawlSite['requests'] = [];
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    void (async () => {
      const path = request.url ?? '';
      asked.push({ path, signed: await signed(request, key, now()), at: now().getTime(), headers: request.headers });
      counts.set(path, (counts.get(path) ?? 0) + 1);
      const answer = answers[path];
      if (answer) answer(request, response, counts.get(path)!);
      else response.writeHead(404).end('nothing here');
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    base: `http://localhost:${(server.address() as AddressInfo).port}`,
    requests: asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function signed(request: IncomingMessage, key: JsonWebKeyInput['key'], now: Date): Promise<string> {
  const secret = createPublicKey({ key, format: 'jwk' });
  const fields = Object.entries(request.headers).map(([name, value]) => ({ name, value: String(value) }));
  const targetUri = `http://${request.headers.host}${request.url}`;
  try {
    const verified = await verifySignature(
      { kind: 'request', method: request.method ?? '', targetUri, fields },
      {
        policy: {
          algorithms: ['ed25519'],
          requiredComponents: ['@authority', component('signature-agent', { key: 'sig1' })],
          requiredParameters: ['created', 'expires', 'nonce', 'keyid', 'tag'],
          maxAge: 300,
          clockSkew: 5,
          now: Math.floor(now.getTime() / 1000),
        },
        resolveVerifier: () => ({
          algorithm: 'ed25519',
          verify: (data, signature) => verify(null, data, secret, signature),
        }),
      },
    );
    return verified.parameters.tag === 'web-bot-auth' ? 'signed' : 'another tag';
  } catch (error) {
    return String(error);
  }
}
