// Public keys: of our crawler (Web Bot Auth) and of releases in a directory that each key signs, and did.json.
import { createHash, createPrivateKey, type JsonWebKeyInput, sign } from 'node:crypto';
import { component, createSignature } from 'http-message-sig';
import { type CrawlerKey, crawlerKeys, publicCrawlerKey } from '../../data/state/keys/crawler-keys.ts';
import { publicReleaseKey, releaseKeys } from '../../data/state/keys/release-keys.ts';
import type { Store } from '../../data/state/store.ts';
import { ApiError } from '../contract/errors.ts';
import type { RouteTable } from '../http/server.ts';

const DIRECTORY = '/.well-known/http-message-signatures-directory';

/** The directory, ready to send. */
export interface KeyDirectory {
  body: string;
  headers: Record<string, string>;
}

/**
 * Validity of a signature in seconds. Responses are cached for half of it, so no cached signature has
 * expired.
 */
const LASTS = 600;

/**
 * The key set of draft-meunier-webbotauth-httpsig-protocol: one signature for each key, over the authority
 * and the digest of the body, so that other hosts cannot publish our keys as theirs. Signed for the authority
 * of `base_url`, whatever Host header a proxy sends.
 */
export async function buildKeyDirectory(store: Store, base_url: string, now: Date): Promise<KeyDirectory> {
  const [crawler, releases] = [await crawlerKeys(store, now.getTime()), await releaseKeys(store, now.getTime())];
  const body = JSON.stringify({ keys: [...crawler.map(publicCrawlerKey), ...releases.map(publicReleaseKey)] });
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
  const signing = [...crawler, ...releases].map((key, i) => signature(key, `sig${i + 1}`, digest, base_url, now));
  const signatures = await Promise.all(signing);
  return {
    body,
    headers: {
      'Content-Type': 'application/http-message-signatures-directory+json',
      'Cache-Control': `public, max-age=${LASTS / 2}`,
      'Content-Digest': digest,
      'Signature-Input': signatures.map(({ signatureInput }) => signatureInput).join(', '),
      Signature: signatures.map(({ signature }) => signature).join(', '),
    },
  };
}

function signature(key: CrawlerKey, label: string, digest: string, base_url: string, now: Date) {
  const created = Math.floor(now.getTime() / 1000);
  const secret = createPrivateKey({ key: key as JsonWebKeyInput['key'], format: 'jwk' });
  return createSignature(
    {
      kind: 'response',
      status: 200,
      fields: [{ name: 'content-digest', value: digest }],
      request: { kind: 'request', method: 'GET', targetUri: base_url + DIRECTORY, fields: [] },
    },
    {
      label,
      components: [component('@authority', { req: true }), 'content-digest'],
      parameters: {
        created,
        expires: created + LASTS,
        keyid: key.kid,
        alg: 'ed25519',
        tag: 'http-message-signatures-directory',
      },
      signer: { algorithm: 'ed25519', sign: (data) => sign(null, data, secret) },
    },
  );
}

/** The documents with our public keys: free and without rate limit, like the other documents. `did`: null for none. */
export const directoryTable = (
  build: () => Promise<KeyDirectory>,
  did: () => Promise<Record<string, unknown> | null>,
): RouteTable => ({
  policy: { bucket: null },
  routes: {
    'GET /.well-known/did.json': async () => {
      const document = await did();
      if (document === null) throw new ApiError('not_found', 'A service below a path has no such document.');
      return Response.json(document);
    },
    [`GET ${DIRECTORY}`]: async () => {
      const { body, headers } = await build();
      return new Response(body, { headers });
    },
  },
});
