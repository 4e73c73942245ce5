// A payment for a call that finds nothing, or that is refused after counting its records, is not settled.
import { expect, it } from 'vitest';
import { amountsMoved, callPaid, describeX402, signedPayment, type X402Stage } from '../../support/x402-stage.ts';

/** Pays for a call, and expects this answer and no settlement. */
async function expectUnsettled(stage: X402Stage, path: string, summary: string): Promise<void> {
  const payment = await signedPayment(stage.app, path);
  const amounts = await amountsMoved(stage, async () => {
    const answer = await callPaid(stage.app, path, payment);
    const { headers } = answer;
    expect([answer.summary, headers.get('payment-response'), headers.get('x-charge-eur')]).toEqual([
      summary,
      null,
      null,
    ]);
  });
  expect(amounts).toEqual({ paid: 0n, got: 0n });
}

describeX402('payments that are not settled', {}, (stage) => {
  it.each([
    '/v1/tools/paid/entities?model=zzz&sort=-runtime',
    '/v1/tools/facets?by=runtime&model=zzz',
    '/v1/tools/changelog?attribute=runtime&model=zzz',
    '/v1/tools/compare?ids=record-1&maker=zzz',
    '/v1/tools/entities/batch?ids=nobody,no-one',
    '/v1/tools/entities/batch?ids=nobody,no-one&as_of=2026-11-19T00:00:00Z',
    '/v1/tools/compare?ids=nobody,no-one',
    '/v1/tools/stats?attribute=mass&model=zzz',
    '/v1/tools/timeseries?attribute=mass&model=zzz&days=2',
  ])('nothing is found: %s', (path) => expectUnsettled(stage, path, '200'));

  it('the records have too many groups', async () => {
    const [model] = stage.app.records['harbours']!;
    const many = Array.from({ length: 40 }, (_, index) => ({
      ...model!,
      id: `r-${index.toString(16).padStart(16, '0')}`,
      slug: `many-${index}`,
      attributes: { code: index + 1, coast: 'north' },
    }));
    await stage.app.publish('harbours', many);
    const path = '/v1/harbours/timeseries?attribute=depth&group_by=code&days=366';
    await expectUnsettled(stage, path, '400 invalid_parameter');
  });
});
