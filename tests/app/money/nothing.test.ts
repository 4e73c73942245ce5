// Empty answers are free, unless paid values decide whether there is something.
import { expect, it } from 'vitest';
import { balance, describeApps, newKey } from '../../support/money-on-stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies('charge.empty');

describeApps('nothing found', {}, (stage) => {
  it.each([
    ['/v1/tools/entities?model=zzz', null],
    ['/v1/tools/entities?model=zzz&sort=-runtime&fields=runtime,summary', null],
    ['/v1/tools/entities?model=zzz&format=csv', null],
    ['/v1/tools/entities.md?model=zzz', null],
    ['/v1/tools/entities?ids=nobody&total=true', null],
    ['/v1/tools/entities?near=10,10,0.001', null],
    ['/v1/tools/entities?group_by=maker&model=zzz', null],
    ['/v1/tools/entities?model=zzz&as_of=2026-11-19T00:00:00Z', null],
    ["/v1/tools/entities?filter=model='zzz' OR mass<-9", null],
    ['/v1/tools/paid/entities?model=zzz', null],
    ['/v1/tools/entities?sort=runtime', '0.008'],
    ['/v1/tools/entities?min_runtime=99999', '0.008'],
    ["/v1/tools/entities?filter=model='zzz' AND runtime>1", '0.008'],
    ['/v1/tools/entities?q=zzzzzz', '0.008'],
    ['/v1/tools/entities?group_by=runtime&model=zzz', '0.008'],
    ['/v1/tools/entities?model=zzz&provenance_status=held', '0.008'],
    ['/v1/harbours/entities?fuel=true&max_depth=-1&min_depth=90', null],
    ['/v1/harbours/entities?q=zzzzzz', '0.003'],
    ['/v1/tools/facets?by=runtime&model=zzz', null],
    ['/v1/tools/facets?by=kind&min_runtime=99999', '0.008'],
    ['/v1/tools/facets?by=kind,runtime&model=zzz', null],
    ['/v1/tools/changelog?attribute=runtime&model=zzz', null],
    ['/v1/tools/changelog?min_runtime=99999', '0.008'],
    ['/v1/tools/changelog?group_by=runtime&model=zzz', '0.008'],
    ['/v1/tools/entities/record-1/similar?model=zzz', '0.008'],
    ['/v1/tools/entities/batch?ids=nobody,no-one', null],
    ['/v1/tools/entities/batch?ids=record-1,nobody', '0.008'],
    ['/v1/tools/entities/batch?ids=record-1,record-2&as_of=2001-01-01T00:00:00Z', null],
    ['/v1/tools/entities/batch?ids=nobody,no-one&as_of=2026-11-19T00:00:00Z', null],
    ['/v1/tools/entities/batch?ids=record-1,nobody&as_of=2026-11-19T00:00:00Z', '0.008'],
    ['/v1/tools/compare?ids=nobody,no-one', null],
    ['/v1/tools/compare?ids=record-1&maker=zzz&attribute=runtime', null],
    ['/v1/tools/compare?ids=record-1&as_of=2001-01-01T00:00:00Z', null],
    ['/v1/tools/compare?ids=record-1&min_runtime=99999', '0.012'],
    ['/v1/tools/entities/record-1/facts?attribute=mass&since=2026-11-20T11:59:59Z', null],
    ['/v1/tools/entities/record-1/facts?attribute=runtime&since=2026-11-20T11:59:59Z', '0.01'],
    ['/v1/tools/stats?attribute=mass&model=zzz', null],
    ['/v1/tools/stats?attribute=mass&min_runtime=99999', '0.015'],
    ["/v1/tools/stats?attribute=mass&filter=model='zzz' OR mass<-9", null],
    ["/v1/tools/stats?attribute=mass&filter=model='zzz' AND runtime>1", '0.015'],
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

  it('has a price where it reveals that a record has no paid prices', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const priceless = app.records['tools']!.find(
      ({ attributes }) => !attributes['price.list'] && !attributes['price.rental'],
    )!;
    const answer = await app.json(`/v1/tools/entities/${priceless.slug}/prices`, { headers });
    expect([answer.body['prices'], answer.headers.get('x-charge-eur')]).toEqual([[], '0.004']);
  });

  it('is free for agents too, and its text has no charge', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const data = { skill: 'entity_search', dataset: 'tools', model: 'zzz' };
    const { status, body } = await app.json('/a2a/v1/message:send', {
      method: 'POST',
      headers,
      body: JSON.stringify({ message: { messageId: '1', role: 'ROLE_USER', parts: [{ data }] } }),
    });
    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toContain('charge_eur');
    expect(await balance(app, headers)).toBe(0.5);
  });
});
