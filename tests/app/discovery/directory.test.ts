// The crawler's directory: each key signs it, only for our authority, and third-party code verifies the
// signatures.
import { createHash, createPublicKey, type JsonWebKeyInput, verify } from 'node:crypto';
import { component, verifySignature } from 'http-message-sig';
import { describe, expect, it } from 'vitest';
import { rotateCrawlerKeys } from '../../../data/state/keys/crawler-keys.ts';
import { BASE, NOW, testApp } from '../../support/app.ts';
import { describeStores } from '../../support/stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies('discovery.signatures');

const PATH = '/.well-known/http-message-signatures-directory';
const SECOND = NOW.getTime() / 1000;

interface Signed {
  headers: Headers;
  body: string;
  keys: (JsonWebKeyInput['key'] & { kid: string })[];
}

/** Verifies one signature as a site at `authority` would, at a time. */
const checked = ({ headers, keys }: Signed, label: string, authority: string, now = SECOND) =>
  verifySignature(
    {
      kind: 'response',
      status: 200,
      fields: ['content-digest', 'signature', 'signature-input'].map((name) => ({
        name,
        value: headers.get(name) ?? '',
      })),
      request: { kind: 'request', method: 'GET', targetUri: `https://${authority}${PATH}`, fields: [] },
    },
    {
      label,
      policy: {
        algorithms: ['ed25519'],
        requiredComponents: [component('@authority', { req: true }), 'content-digest'],
        requiredParameters: ['created', 'expires', 'keyid', 'tag'],
        now,
      },
      resolveVerifier: ({ parameters }) => {
        const key = keys.find(({ kid }) => kid === parameters.keyid);
        if (!key) throw new Error('no such key');
        const publicKey = createPublicKey({ key, format: 'jwk' });
        return { algorithm: 'ed25519', verify: (data, signature) => verify(null, data, publicKey, signature) };
      },
    },
  );

describeStores('the directory of the crawler', ({ options: { databaseUrl, schema }, open }) => {
  describe('is signed', () => {
    it('by each key it lists, for our authority only, and for a limited time', async () => {
      await open();
      const app = await testApp({
        records: 3,
        store: { ...(databaseUrl ? { databaseUrl } : {}), ...(schema ? { schema } : {}) },
      });
      const fetched = async (): Promise<Signed> => {
        const response = await app.ask(PATH);
        expect(response.status).toBe(200);
        const body = await response.text();
        return { headers: response.headers, body, keys: (JSON.parse(body) as Pick<Signed, 'keys'>).keys };
      };
      const first = await fetched();
      expect(first.headers.get('content-type')).toBe('application/http-message-signatures-directory+json');
      expect(first.keys).toEqual([
        { kty: 'OKP', crv: 'Ed25519', kid: expect.stringMatching(/^[\w-]{43}$/), x: expect.any(String), use: 'sig' },
        expect.objectContaining({ crv: 'Ed25519', use: 'sig', purpose: 'releases' }),
      ]);
      expect(first.body).not.toMatch(/"d"|made_at/);
      const digest = createHash('sha256').update(first.body).digest('base64');
      expect(first.headers.get('content-digest')).toBe(`sha-256=:${digest}:`);
      expect(first.headers.get('signature-input')).toContain(
        `sig1=("@authority";req "content-digest");created=${SECOND};expires=${SECOND + 600};keyid="${first.keys[0]?.kid}";alg="ed25519";tag="http-message-signatures-directory"`,
      );
      const age = Number(/max-age=(\d+)/.exec(first.headers.get('cache-control') ?? '')?.[1]);
      expect(age).toBeLessThan(600);
      const authority = new URL(BASE).host;
      expect(await checked(first, 'sig1', authority)).toMatchObject({
        parameters: { tag: 'http-message-signatures-directory' },
      });
      await expect(checked(first, 'sig1', 'other.example')).rejects.toThrow();
      await expect(checked(first, 'sig1', authority, SECOND + 601)).rejects.toThrow();
      // The signature base of RFC 9421 section 2.5, built by hand.
      const input = /^sig1=(.*?), sig2=/.exec(first.headers.get('signature-input') ?? '')?.[1];
      const bytes = Buffer.from(
        `"@authority";req: ${authority}\n"content-digest": sha-256=:${digest}:\n"@signature-params": ${input}`,
      );
      const signature = Buffer.from(/sig1=:(.*?):/.exec(first.headers.get('signature') ?? '')?.[1] ?? '', 'base64');
      expect(verify(null, bytes, createPublicKey({ key: first.keys[0]!, format: 'jwk' }), signature)).toBe(true);

      await rotateCrawlerKeys(app.state, NOW.getTime());
      const second = await fetched();
      expect(second.keys.map(({ kid }) => kid)).toEqual([expect.any(String), ...first.keys.map(({ kid }) => kid)]);
      for (const label of ['sig1', 'sig2', 'sig3']) await checked(second, label, authority);
      expect((await app.ask(PATH, { method: 'POST' })).status).toBe(405);
      await app.close();
    });
  });
});
