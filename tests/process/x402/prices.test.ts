// A price that changes between the 402 and the payment: the quoted one is accepted for as long as a payment
// may take.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { offeredPrices } from '../../../api/payments/x402/prices.ts';
import { requirementsFor } from '../../../api/payments/x402/terms.ts';
import { openStore } from '../../../data/state/store.ts';
import { describeStores } from '../../support/stores.ts';
import { ROLES } from '../../support/x402-stage.ts';

const terms = { pay_to: ROLES.merchant.address, tokens: ['usdc', 'usdt'] as const };
const price = (micros: number, times = 1) => ({
  operation: 'entity_batch',
  dataset: 'tools',
  micros: micros * times,
  of: 'get' as const,
  unit: micros,
  times,
  resource: { url: 'https://register.example/x', description: 'Records', mimeType: 'application/json' },
  request_id: 'r',
});

describeStores('prices that were asked', ({ open }) => {
  it('are valid in every process, for as long as a payment may take', async () => {
    const store = await open();
    let at = Date.parse('2026-11-20T12:00:00Z');
    const process = async (eur_usd: number) =>
      offeredPrices({ store, terms, eur_usd, now: () => new Date(at), log: (line) => expect.fail(line) });
    const [old, young] = [await process(1.1), await process(1.2)];
    const [usdc, usdt] = requirementsFor(terms, 3 * 4000, 1.1);
    expect([usdc?.amount, usdt?.amount]).toEqual(['13200', '13200']);
    // The old price was never quoted: the new process accepts only its own.
    expect(await young.matching(price(4000, 3), usdc!)).toBeNull();
    expect(await young.matching(price(4000, 3), requirementsFor(terms, 12_000, 1.2)[1]!)).not.toBeNull();
    old.recordOffer(price(4000));
    await expect.poll(async () => young.matching(price(4000, 3), usdc!)).toEqual(usdc);
    expect(await young.matching(price(5000, 3), usdt!), 'another pack price now').toEqual(usdt);
    // The price of another operation, dataset or number of records was not quoted.
    expect(await young.matching({ ...price(4000, 3), dataset: 'harbours' }, usdc!)).toBeNull();
    expect(await young.matching({ ...price(4000, 3), of: 'stats' }, usdc!)).toBeNull();
    expect(await young.matching(price(4000, 2), usdc!)).toBeNull();
    // Terms that differ from ours are never accepted.
    expect(await young.matching(price(4000, 3), { ...usdc!, payTo: ROLES.stranger.address })).toBeNull();
    expect(await young.matching(price(4000, 3), { ...usdc!, maxTimeoutSeconds: 9_999 })).toBeNull();
    at += 120_000;
    expect(await young.matching(price(4000, 3), usdc!)).toEqual(usdc);
    at += 31_000;
    expect(await young.matching(price(4000, 3), usdc!)).toBeNull();
  });
});

describe('a store that cannot be written', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'prices-'));
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  it('does not prevent a 402', async () => {
    const store = await openStore({ dataDir });
    const said: string[] = [];
    const prices = offeredPrices({ store, terms, eur_usd: 1.1, now: () => new Date(), log: (line) => said.push(line) });
    await store.close();
    prices.recordOffer(price(4000));
    await expect.poll(() => said).toHaveLength(1);
  });
});
