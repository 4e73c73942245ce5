// What a 402 says: price, the ways that are open to the caller, and the same for x402 in its header.
import { expect, test } from 'vitest';
import type { Price } from '../contract/pricing.ts';
import { paymentError, quoter } from './payments.ts';

const quote = quoter({ base_url: 'https://h.example', eur_usd: 1.1, checkout: true });
const price: Price = {
  operation: 'entity_get',
  dataset: 'tools',
  micros: 4000,
  of: 'get',
  unit: 4000,
  times: 1,
  resource: { url: 'https://h.example/v1/tools/entities/x', description: 'One record', mimeType: 'application/json' },
  request_id: 'r',
};

const oauth = { url: 'https://h.example/.well-known/oauth-protected-resource' };

test('a stranger is told price and where keys are made, a key where it is topped up, a token who may allow it more', () => {
  expect(quote({ kind: 'anonymous' }, price)).toEqual({
    price_eur: 0.004,
    price_usd: 0.0044,
    how_to_pay: {
      api_key: {
        url: 'https://h.example/v1/keys',
        method: 'POST',
        body: { email: 'you@example.org' },
        page: 'https://h.example/keys',
      },
      oauth,
    },
    x402Version: 2,
    resource: price.resource,
    accepts: [],
  });
  const { how_to_pay } = quote({ kind: 'key', id: '1', plan: 'payg' }, price);
  expect(how_to_pay).toEqual({
    topup: {
      url: 'https://h.example/v1/keys/topup',
      method: 'POST',
      body: { amount_eur: 20 },
      page: 'https://h.example/account',
    },
  });
  const closed = quoter({ base_url: 'https://h.example', eur_usd: 1.1, checkout: false });
  const poor = closed({ kind: 'key', id: '1', plan: 'payg' }, price);
  expect(poor.how_to_pay).toEqual({});
  expect(paymentError('insufficient_credits', 'Too little.', poor).extras.way).toContain(
    'contact its operator for credit',
  );
  const token = { kind: 'key', id: '1', plan: 'payg', grant: 'g' } as const;
  expect(quote(token, price).how_to_pay).toEqual({ oauth });
});

test('PAYMENT-REQUIRED carries the x402 part in standard base64 and says that it is not offered', () => {
  const error = paymentError('payment_required', 'Not paid.', quote({ kind: 'anonymous' }, price));
  const header = error.extras.headers?.['PAYMENT-REQUIRED'] ?? '';
  expect(header).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
  expect(JSON.parse(Buffer.from(header, 'base64').toString())).toEqual({
    x402Version: 2,
    error: expect.stringContaining('not offered'),
    resource: price.resource,
    accepts: [],
  });
});
