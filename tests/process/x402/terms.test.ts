// The terms: the documents and the 402 agree, also when x402 is not offered.
import { randomUUID } from 'node:crypto';
import { parsePaymentRequired } from '@x402/core/schemas';
import type { PaymentRequired } from '@x402/core/types';
import {
  type DiscoveryExtension,
  extractDiscoveryInfo,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} from '@x402/extensions/bazaar';
import {
  decodeSignedOffers,
  extractJWSHeader,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  findAcceptsObjectFromSignedOffer,
  type JWSSignedOffer,
  type JWSSignedReceipt,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { requirementsFor } from '../../../api/payments/x402/terms.ts';
import { readConfig } from '../../../config.ts';
import { microUsd } from '../../../packs/define/money.ts';
import { decoded, stockBuyer } from '../../chain/buyer.ts';
import { ADDRESSES, ROLES } from '../../chain/chain.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { verifies } from '../../support/verifies.ts';
import { BASE, describeX402, fetchOf, RECORD } from '../../support/x402-stage.ts';

type Item = {
  resource: { url: string };
  accepts: { amount: string }[];
  input: { method: string; routeTemplate: string };
  price: { usd: number };
};

describeX402('terms of x402', {}, (stage) => {
  it('are in both documents, and every address in them answers 402 with just these', async () => {
    verifies('discovery.x402', 'auth.x402-required', 'auth.x402-tokens', 'preview.paid-entities');
    const { app } = stage;
    const { status, headers, body } = await app.json('/.well-known/x402.json');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
    const { items, resources, prices, version, x402Version } = body as unknown as {
      items: Item[];
      resources: string[];
      prices: Record<string, { eur: number; usd: number }>;
    } & Record<string, unknown>;
    expect({ version, x402Version, error: body['error'] }).toEqual({ version: 1, x402Version: 2, error: undefined });
    expect(prices['tools.stats']).toEqual({ eur: 0.015, usd: 0.0165 });
    expect(resources).toEqual(items.map(({ resource }) => resource.url));
    const templates = items.map(({ input }) => input.routeTemplate);
    expect(templates).toContain('/v1/tools/paid/entities');
    expect(templates).toContain('/v1/harbours/entities/{entity_id}');
    expect(templates).not.toContain('/v1/tools/entities');
    for (const { resource, accepts, price } of items) {
      const response = await app.ask(resource.url.slice(BASE.length));
      expect([response.status, resource.url]).toEqual([402, resource.url]);
      const terms = (await response.json()) as Record<string, unknown>;
      const header = decoded(response.headers.get('payment-required'));
      expect(header).toMatchObject({ x402Version: 2, accepts: terms['accepts'], resource: terms['resource'] });
      expect(parsePaymentRequired(header).success).toBe(true);
      expect(terms['how_to_pay']).toMatchObject({ x402: { url: `${BASE}/.well-known/x402.json` } });
      expect((terms['resource'] as { url: string }).url).toBe(resource.url);
      // An example may request several records; the terms have the price of one.
      const times = Number((terms['accepts'] as { amount: string }[])[0]?.amount) / Number(accepts[0]?.amount);
      expect(Number.isInteger(times)).toBe(true);
      expect(price.usd).toBe(Number(accepts[0]?.amount) / 1_000_000);
      if (times === 1) expect(terms['accepts']).toEqual(accepts);
    }
    const short = await app.json('/.well-known/x402');
    expect(short.body).toEqual({ version: 1, resources });
    expect(app.faults).toEqual([]);
  });

  it('describe and sign each offer and receipt as the packages of the protocol expect', async () => {
    const { app } = stage;
    const { body: did } = await app.json('/.well-known/did.json');
    const [method] = did['verificationMethod'] as { id: string; publicKeyJwk: { kty: string } }[];
    const publicKey = { ...method!.publicKeyJwk, alg: 'ES256' };
    expect([did['id'], JSON.stringify(did)]).toEqual(['did:web:register.example', expect.not.stringContaining('"d"')]);
    const buy = { method: 'POST', body: '{"amount_eur":2}', headers: { 'Idempotency-Key': randomUUID() } };
    const paths = ['/v1/tools/stats?attribute=price.list', RECORD, '/v1/keys/prepaid'];
    for (const path of paths) {
      const { headers, body } = await app.json(path, path.endsWith('prepaid') ? buy : {});
      const required = decoded(headers.get('payment-required')) as unknown as PaymentRequired;
      const bazaar = required.extensions?.['bazaar'] as DiscoveryExtension & Record<string, unknown>;
      expect([validateDiscoveryExtension(bazaar), validateDiscoveryExtensionSpec(bazaar)], path).toEqual([
        { valid: true },
        { valid: true },
      ]);
      // A body repeats nothing that only indexers read.
      expect(Object.keys(body['extensions'] as object)).toEqual(['payment-identifier']);
      const offers = extractOffersFromPaymentRequired(required) as JWSSignedOffer[];
      expect(offers.map((offer) => findAcceptsObjectFromSignedOffer(offer, required.accepts))).toEqual(
        required.accepts,
      );
      for (const offer of offers) {
        expect(extractJWSHeader(offer.signature).kid).toBe(method?.id);
        const payload = await verifyOfferSignatureJWS(offer, publicKey);
        expect(payload.resourceUrl).toBe(required.resource?.url);
        const [head, , signature] = offer.signature.split('.');
        const forged = Buffer.from(JSON.stringify({ ...payload, amount: '1' })).toString('base64url');
        await expect(
          verifyOfferSignatureJWS({ ...offer, signature: [head, forged, signature].join('.') }, publicKey),
        ).rejects.toThrow();
      }
    }
    const offered = decoded((await app.ask(RECORD)).headers.get('payment-required')) as unknown as PaymentRequired;
    const extracted = extractDiscoveryInfo(
      { payload: {}, accepted: offered.accepts[0]!, ...offered },
      offered.accepts[0]!,
    );
    expect(extracted).toMatchObject({
      resourceUrl: `${BASE}/v1/tools/entities/:entity_id`,
      method: 'GET',
      discoveryInfo: { input: { pathParams: { entity_id: 'record-1' } } },
    });
    const paid = await stockBuyer(fetchOf(app), ROLES.payer)(BASE + RECORD);
    const receipt = extractReceiptFromResponse(paid) as JWSSignedReceipt;
    const [offer] = decodeSignedOffers(extractOffersFromPaymentRequired(offered));
    expect(verifyReceiptMatchesOffer(receipt, offer!, [ROLES.payer.address])).toBe(true);
    expect(await verifyReceiptSignatureJWS(receipt, publicKey)).toMatchObject({
      transaction: (decoded(paid.headers.get('payment-response')) as { transaction: string }).transaction,
    });
    // A long address has none of them: a client would return them in a header that is too long.
    const long = await app.ask(`/v1/tools/stats?attribute=price.list&name=${'x'.repeat(512)}`);
    expect(Object.keys(decoded(long.headers.get('payment-required'))['extensions'] as object)).toEqual([
      'payment-identifier',
    ]);
  });

  it('offer USDC by EIP-3009 first, then USDT by Permit2, both at the pack price rounded up', async () => {
    const { app } = stage;
    const { body, headers } = await app.json('/v1/tools/stats?attribute=price.list');
    expect(body['accepts']).toEqual([
      {
        ...{ scheme: 'exact', network: 'eip155:8453', amount: '16500', asset: ADDRESSES.usdc, maxTimeoutSeconds: 120 },
        ...{ payTo: ROLES.merchant.address, extra: { name: 'USD Coin', version: '2' } },
      },
      {
        ...{ scheme: 'exact', network: 'eip155:8453', amount: '16500', asset: ADDRESSES.usdt, maxTimeoutSeconds: 120 },
        ...{ payTo: ROLES.merchant.address, extra: { assetTransferMethod: 'permit2' } },
      },
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
    const batch = await app.json('/v1/tools/entities/batch?ids=record-1,record-2,record-3');
    expect((batch.body['accepts'] as { amount: string }[])[0]?.amount).toBe('13200');
  });
});

describe('where x402 is not offered', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await testApp({ records: 5 });
  });
  afterAll(() => app.close());

  it('the header is empty, and the documents have the reason', async () => {
    verifies('setting.x402');
    const { status, headers, body } = await app.json('/v1/tools/stats?attribute=price.list');
    expect([status, body['accepts'], (body['how_to_pay'] as { x402?: object }).x402]).toEqual([402, [], undefined]);
    expect(decoded(headers.get('payment-required'))).toMatchObject({
      accepts: [],
      error: expect.stringMatching(/not offered/),
    });
    for (const path of ['/.well-known/x402.json', '/.well-known/x402']) {
      const document = await app.json(path);
      expect(document.body).toMatchObject({ resources: [], error: expect.stringMatching(/not offered/) });
      expect(JSON.stringify(document.body)).not.toMatch(/USDC|eip155|Idempotency-Key/);
    }
    // A payment that was not requested changes nothing: previews stay free.
    const preview = await app.json('/v1/tools/entities?limit=2', {
      headers: { 'PAYMENT-SIGNATURE': 'eyJ4IjoxfQ==' },
      address: '192.0.2.77',
    });
    expect([preview.status, (preview.body['items'] as { preview?: boolean }[])[0]?.preview]).toEqual([200, true]);
  });
});

test('amounts are rounded up to a micro-dollar, without the noise of binary fractions', () => {
  verifies('setting.eur-usd');
  expect([microUsd(1, 1.1), microUsd(4000, 1.1), microUsd(3000, 1.0857), microUsd(10, 1.1)]).toEqual([
    2, 4400, 3258, 11,
  ]);
  const terms = { pay_to: ROLES.merchant.address, tokens: ['usdt'] as const };
  expect(requirementsFor(terms, 1, 1.1).map(({ amount }) => amount)).toEqual(['2']);
});

test('X402_* are all set or none, and each is validated', () => {
  verifies('setting.x402');
  const good = {
    X402_PAY_TO: ROLES.merchant.address,
    X402_FACILITATOR_URL: 'https://facilitator.example',
    X402_RPC_URL: 'https://rpc.example',
  };
  expect(readConfig(good)).toMatchObject({ ...good, X402_TOKENS: ['usdc', 'usdt'] });
  expect(readConfig({ ...good, X402_TOKENS: ' USDT , usdt' }).X402_TOKENS).toEqual(['usdt']);
  for (const [name, value] of [
    ['X402_PAY_TO', '0x1234'],
    ['X402_PAY_TO', `0x${'0'.repeat(40)}`],
    ['X402_FACILITATOR_URL', 'ftp://facilitator.example'],
    ['X402_RPC_URL', 'rpc'],
    ['X402_TOKENS', 'usdc,doge'],
    ['X402_RPC_URL', undefined],
    ['X402_PAY_TO', undefined],
  ] as const)
    expect(() => readConfig({ ...good, [name]: value }), `${name}=${value}`).toThrow(new RegExp(`^${name}: [^\\n]+$`));
});
