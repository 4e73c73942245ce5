// Empty answers are free, unless paid values decide whether there is something.
import { expect, it } from 'vitest';
import { balance, describeApps, newKey } from '../../support/money-on-stores.ts';

describeApps('nothing found', {}, (stage) => {
  it.each([
    ['/v1/tools/entities/batch?ids=nobody,no-one', null],
    ['/v1/tools/entities/batch?ids=record-1,nobody', '0.008'],
    ['/v1/tools/entities/batch?ids=nobody,no-one&as_of=2026-11-19T00:00:00Z', null],
    ['/v1/tools/entities/batch?ids=record-1,nobody&as_of=2026-11-19T00:00:00Z', '0.008'],
    ['/v1/tools/compare?ids=nobody,no-one', null],
    ['/v1/tools/compare?ids=record-1&maker=zzz', '0.012'],
    ['/v1/tools/stats?attribute=mass&model=zzz', null],
    ['/v1/tools/stats?attribute=mass&min_runtime=99999', '0.015'],
    ['/v1/tools/stats?attribute=mass&q=zzzzzz', '0.015'],
    ['/v1/tools/stats?attribute=runtime&model=zzz', '0.015'],
    ['/v1/tools/stats?attribute=mass&model=zzz&provenance_status=held', '0.015'],
    ['/v1/tools/timeseries?attribute=mass&model=zzz&days=2', null],
    ['/v1/tools/timeseries?attribute=mass&model=zzz&provenance_status=contested&days=2', '0.015'],
    ['/v1/tools/timeseries?attribute=mass&has_domain=false&has_runtime=true&min_runtime=99999&days=2', '0.015'],
  ])('%s costs %s', async (path, price) => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const repeated = { ...headers, 'Idempotency-Key': 'nothing-found-0123456789' };
    for (const sent of [headers, repeated, repeated]) {
      const answer = await app.ask(path, { headers: sent });
      expect([answer.status, answer.headers.get('x-charge-eur')]).toEqual([200, price]);
    }
    expect(await balance(app, headers)).toBe(price === null ? 0.5 : Math.round((0.5 - 2 * Number(price)) * 1e6) / 1e6);
  });
});
