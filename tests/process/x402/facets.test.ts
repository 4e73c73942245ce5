// Facets on a paid attribute, bought by x402; their free form settles nothing.
import { expect, it } from 'vitest';
import { stockBuyer } from '../../chain/buyer.ts';
import { amountsMoved, BASE, callPaid, describeX402, fetchOf, ROLES, signedPayment } from '../../support/x402-stage.ts';

const PRICED = '/v1/tools/facets?by=kind&min_runtime=1';
const FREE = '/v1/tools/facets?by=kind';
/** A search of the pack tools: 8,000 micro-euros at 1.1. */
const SEARCH = 8800n;

describeX402('facets by x402', {}, (stage) => {
  it('cost a search on a paid attribute', async () => {
    let response = new Response();
    const amounts = await amountsMoved(stage, async () => {
      response = await stockBuyer(fetchOf(stage.app), ROLES.payer, 'usdc')(BASE + PRICED);
    });
    expect([response.status, amounts]).toEqual([200, { paid: SEARCH, got: SEARCH }]);
    expect([response.headers.get('x-charge-eur'), response.headers.get('cache-control')]).toEqual([
      '0.008',
      'private, no-store',
    ]);
    expect(await response.json()).not.toHaveProperty('withheld');
  });

  it('take no payment when they are free', async () => {
    const payment = await signedPayment(stage.app, PRICED);
    const amounts = await amountsMoved(stage, async () => {
      const answer = await callPaid(stage.app, FREE, payment);
      expect([answer.status, answer.headers.get('payment-response')]).toEqual([200, null]);
    });
    expect(amounts).toEqual({ paid: 0n, got: 0n });
  });
});
