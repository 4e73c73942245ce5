// The payments port while only operators have keys: who passes, and what the 402 says.
import { describe, expect, test } from 'vitest';
import type { ApiError } from '../errors.ts';
import { type Charge, operatorsOnly } from './payments.ts';

const payments = operatorsOnly({ base_url: 'https://h.example', eur_usd: 1.1 });
const charge: Charge = {
  operation: 'entity_get',
  dataset: 'tools',
  micros: 4000,
  resource: { url: 'https://h.example/v1/tools/entities/x', description: 'One record', mimeType: 'application/json' },
  request_id: 'r',
};

const refused = async (): Promise<ApiError> => {
  try {
    await payments.reserve({ kind: 'anonymous' }, charge);
  } catch (error) {
    return error as ApiError;
  }
  throw new Error('was not refused');
};

describe('operatorsOnly', () => {
  test('an operator passes uncharged, and what is free passes for all', async () => {
    expect(await (await payments.reserve({ kind: 'admin' }, charge)).commit()).toEqual({});
    expect(await (await payments.reserve({ kind: 'anonymous' }, { ...charge, micros: 0 })).commit()).toEqual({});
  });

  test('anyone else is told price and ways', async () => {
    const error = await refused();
    expect(error.code).toBe('payment_required');
    expect(error.message).toContain('0.004 EUR');
    expect(error.extras.members).toEqual({
      price_eur: 0.004,
      price_usd: 0.0044,
      how_to_pay: { api_key: { url: 'https://h.example/llms.txt' } },
      x402Version: 2,
      resource: charge.resource,
      accepts: [],
    });
  });

  test('PAYMENT-REQUIRED carries the x402 part in standard base64 and says that it is not offered', async () => {
    const header = (await refused()).extras.headers?.['PAYMENT-REQUIRED'] ?? '';
    expect(header).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
    expect(JSON.parse(Buffer.from(header, 'base64').toString())).toEqual({
      x402Version: 2,
      error: expect.stringContaining('not offered'),
      resource: charge.resource,
      accepts: [],
    });
  });
});
