// What payment indexers read of a call (x402 specification, extensions): `bazaar` describes its request, `offer-receipt`
// contains signed offers and the signed receipt.
import { createPrivateKey, type JsonWebKeyInput, sign } from 'node:crypto';
import type { PaymentRequirements } from '@x402/core/types';
import type { SigningKey } from '../../../data/state/keys/signing-keys.ts';
import type { Price } from '../../contract/pricing.ts';
import { NETWORK } from './terms.ts';

/**
 * Longest address in characters whose call has these extensions. Clients return them in PAYMENT-SIGNATURE, which has at
 * most 8 kB, and each offer contains the address.
 */
const LONGEST_ADDRESS = 512;

const SCHEMA = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' };
const SIGNED = { type: 'object', required: ['format', 'signature'] };

/** The identifier of the service and its keys (did:web); null for a BASE_URL with a path, which has another document. */
function didOf(base_url: string): string | null {
  const { host, pathname } = new URL(base_url);
  return pathname === '/' ? `did:web:${encodeURIComponent(host)}` : null;
}

/** The body of `/.well-known/did.json`: the public keys by which offers and receipts are verified. */
export function didDocument(base_url: string, keys: readonly SigningKey[]): Record<string, unknown> | null {
  const id = didOf(base_url);
  if (id === null) return null;
  const method = ({ kid, ...publicKeyJwk }: SigningKey) => ({
    id: `${id}#${kid}`,
    ...{ type: 'JsonWebKey2020', controller: id, publicKeyJwk },
  });
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id,
    verificationMethod: keys.map(method),
    assertionMethod: keys.map(({ kid }) => `${id}#${kid}`),
  };
}

/** Signs offers and receipts as JWS. */
export interface PaymentSigner {
  /** The extensions of a 402 with these requirements; `now` in milliseconds. Empty for a long address. */
  offers(price: Price, accepts: readonly PaymentRequirements[], now: number): Record<string, unknown>;
  /** The extensions of PAYMENT-RESPONSE. */
  receipt(url: string, payer: string, transaction: string, now: number): Record<string, unknown>;
}

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Signs synchronously, as a 402 is made, which jose cannot; without a signed part where BASE_URL has a path. */
export function paymentSigner(base_url: string, { kid, ...jwk }: SigningKey): PaymentSigner {
  const did = didOf(base_url);
  const key = createPrivateKey({ key: jwk as JsonWebKeyInput['key'], format: 'jwk' });
  const header = base64url({ alg: 'ES256', kid: `${did}#${kid}` });
  /** `payload`: flat, of integers and texts, with its members in alphabetical order (RFC 8785). */
  const signed = (payload: Record<string, string | number>) => {
    const text = `${header}.${base64url(payload)}`;
    const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');
    return { format: 'jws', signature: `${text}.${signature}` };
  };
  const seconds = (now: number) => Math.floor(now / 1000);
  return {
    offers({ resource: { url: resourceUrl }, request }, accepts, now) {
      if (request === undefined || resourceUrl.length > LONGEST_ADDRESS) return {};
      const offers = accepts.map(({ amount, asset, maxTimeoutSeconds, network, payTo, scheme }, acceptIndex) => ({
        acceptIndex,
        ...signed({
          ...{ amount, asset, network, payTo, resourceUrl, scheme },
          ...{ validUntil: seconds(now) + maxTimeoutSeconds, version: 1 },
        }),
      }));
      const schema = { ...SCHEMA, properties: { offers: { type: 'array', items: SIGNED } }, required: ['offers'] };
      return { bazaar: bazaarOf(request), ...(did === null ? {} : { 'offer-receipt': { info: { offers }, schema } }) };
    },
    receipt(resourceUrl, payer, transaction, now) {
      if (did === null) return {};
      const issuedAt = seconds(now);
      const receipt = signed({ issuedAt, network: NETWORK, payer, resourceUrl, transaction, version: 1 });
      const schema = { ...SCHEMA, properties: { receipt: SIGNED }, required: ['receipt'] };
      return { 'offer-receipt': { info: { receipt }, schema } };
    },
  };
}

/** How the call is requested. The schemas of all parameters are in `/.well-known/x402.json`. */
function bazaarOf({ method, route, path, query, body }: NonNullable<Price['request']>) {
  const parameters = {
    ...(Object.keys(path).length > 0 ? { pathParams: path } : {}),
    ...(method === 'GET' ? { queryParams: query } : { bodyType: 'json', body }),
  };
  const properties = {
    type: { const: 'http' },
    method: { const: method },
    ...Object.fromEntries(
      Object.keys(parameters).map((name) => [name, name === 'bodyType' ? { const: 'json' } : { type: 'object' }]),
    ),
  };
  const input = { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
  return {
    info: { input: { type: 'http', method, ...parameters } },
    schema: { ...SCHEMA, properties: { input }, required: ['input'] },
    ...(Object.keys(path).length > 0 ? { routeTemplate: route } : {}),
  };
}
