// The price that a 402 names is the price of the call that follows it, however the parameters are written.
import { expect, it } from 'vitest';
import { describeApps, newKey } from '../../support/money-on-stores.ts';

describeApps('quotes', {}, (stage) => {
  it.each([
    '/v1/tools/entities/batch?ids=record-1,record-2,record-1',
    '/v1/tools/entities/batch?ids=record-1&ids=RECORD-1&ids=nobody',
    '/v1/tools/entities/batch?ids=record-1,%20record-2%20,,record-3&fields=name',
    '/v1/tools/entities/batch.md?ids=record-1,record-2&as_of=2026-11-19T00:00:00Z',
    '/v1/tools/entities/record-1',
    '/v1/tools/entities/record-1/facts',
    '/v1/tools/entities/record-1/prices',
    '/v1/tools/entities/record-1/similar?limit=3',
    '/v1/tools/compare?ids=record-1,record-2,record-2',
    '/v1/tools/stats?attribute=mass&group_by=maker,kind',
    '/v1/tools/timeseries?attribute=mass&days=2',
    '/v1/tools/entities?sort=runtime&limit=2',
    '/v1/tools/entities?group_by=runtime&group_limit=2&limit=2',
    '/v1/tools/paid/entities?limit=2',
    '/v1/tools/facets?by=kind&min_runtime=1',
  ])('are what is charged: %s', async (path) => {
    const { app } = stage;
    const quoted = await app.json(path.replace('.md?', '?'));
    const { headers } = await newKey(app);
    const answer = await app.ask(path, { headers });
    await answer.text();
    expect([quoted.status, answer.status]).toEqual([402, 200]);
    expect(Number(answer.headers.get('x-charge-eur'))).toBe(quoted.body['price_eur']);
  });
});
