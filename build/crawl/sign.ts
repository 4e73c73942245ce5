// Signs requests by Web Bot Auth, so that a site can verify that a request is from this crawler (RFC 9421).
import { createPrivateKey, type JsonWebKeyInput, randomBytes, sign } from 'node:crypto';
import { component, createSignature } from 'http-message-sig';

/** Returns the signature headers for a request to a URL. */
export type Sign = (url: URL, now: Date) => Promise<Record<string, string>>;

/** Seconds for which a signature is valid. */
const LASTS = 60;

/**
 * A signer with an Ed25519 key that the directory of `base_url` lists
 * (draft-meunier-webbotauth-httpsig-protocol). It covers the authority, so that a signature is useless
 * elsewhere, and the address of the directory.
 */
export function signer(key: JsonWebKeyInput['key'] & { kid: string }, base_url: string): Sign {
  const secret = createPrivateKey({ key, format: 'jwk' });
  const agent = `sig1="${base_url}"`;
  return async (url, now) => {
    const created = Math.floor(now.getTime() / 1000);
    const fields = [{ name: 'signature-agent', value: agent }];
    const { signature, signatureInput } = await createSignature(
      { kind: 'request', method: 'GET', targetUri: url.href, fields },
      {
        label: 'sig1',
        components: ['@authority', component('signature-agent', { key: 'sig1' })],
        parameters: {
          created,
          expires: created + LASTS,
          nonce: randomBytes(32).toString('base64url'),
          keyid: key.kid,
          alg: 'ed25519',
          tag: 'web-bot-auth',
        },
        signer: { algorithm: 'ed25519', sign: (data) => sign(null, data, secret) },
      },
    );
    return { 'Signature-Agent': agent, 'Signature-Input': signatureInput, Signature: signature };
  };
}
