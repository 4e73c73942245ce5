// Calls paid by the stock client of x402: what it is asked, what is taken, what it gets.
import { expect, it } from 'vitest';
import { decoded, stockBuyer } from '../chain/buyer.ts';
import { BASE, describeX402, fetchOf, moved, PRICE, RECORD, ROLES, SLOW } from './stage.ts';

describeX402('paying by x402', {}, (stage) => {
  it('takes USDC from the stock client, and the answer says so', async () => {
    const { app } = stage;
    let response: Response | undefined;
    const amounts = await moved(stage, async () => {
      response = await stockBuyer(fetchOf(app), ROLES.payer)(BASE + RECORD);
    });
    expect(await response?.json()).toMatchObject({ slug: 'record-1' });
    expect(response?.status).toBe(200);
    expect(amounts).toEqual({ paid: PRICE, got: PRICE });
    expect(decoded(response?.headers.get('payment-response') ?? null)).toMatchObject({ success: true });
    expect(SLOW).toBeTruthy();
    expect(app.faults).toEqual([]);
  });
  it('takes USDT', async () => {
    const { app } = stage;
    let response: Response | undefined;
    const amounts = await moved(
      stage,
      async () => {
        response = await stockBuyer(fetchOf(app), ROLES.payerUsdt, 'usdt')(BASE + RECORD);
      },
      ROLES.payerUsdt,
      'usdt',
    );
    expect(response?.status).toBe(200);
    expect(amounts).toEqual({ paid: PRICE, got: PRICE });
  });
});
