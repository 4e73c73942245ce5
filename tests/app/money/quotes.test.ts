// The price that a 402 names is the price of the call that follows it, however the parameters are written.
import { expect, it } from 'vitest';
import type { Operation } from '../../../api/contract/operation.ts';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { move } from '../../../data/state/money/ledger.ts';
import { everyCall } from '../../support/every-call.ts';
import { balance, describeApps, newKey } from '../../support/money-on-stores.ts';

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

/** Whether an answer shows no record, row or value. */
const isEmpty = (body: Record<string, unknown>): boolean =>
  Object.values(body).every((member) => !Array.isArray(member) || member.length === 0);

const post = (body: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers,
});

describeApps('POST /v1/quote', {}, (stage) => {
  it('names the charge of every answer that is not empty, and charges nothing itself', async () => {
    const { app } = stage;
    const account = await newKey(app, 50);
    const slugs = Object.fromEntries(
      Object.entries(app.records).map(([dataset, records]) => [dataset, records.slice(0, 2).map(({ slug }) => slug)]),
    );
    const calls = everyCall([...app.register.packs.values()], slugs, { ...account, token: '' }).filter(
      ({ operation }) => operation.charge.price !== undefined,
    );
    const priced = new Set<string>();
    for (const call of calls.filter(({ path }) => /^\/v1\/tools\/(facets\?by=kind|changelog\?days=365)$/.test(path)))
      calls.push({ ...call, path: `${call.path}&min_runtime=1` });
    for (const { operation, dataset, path } of calls) {
      const before = await balance(app, account.headers);
      const { body: quote, status } = await app.json(
        '/v1/quote',
        post(questionOf(operation, dataset, path), account.headers),
      );
      expect([status, await balance(app, account.headers)], path).toEqual([200, before]);
      const answer = await app.json(path, { headers: account.headers });
      const charge = answer.headers.get('x-charge-eur');
      expect(quote['possible'], `${path} ${JSON.stringify(quote)}`).toBe(answer.status === 200);
      if (answer.status !== 200) continue;
      if (charge === null && quote['price_eur'] !== 0) expect(isEmpty(answer.body), path).toBe(true);
      else expect(Number(charge ?? 0), path).toBe(quote['price_eur']);
      if (charge !== null) priced.add(operation.name);
    }
    const sold = OPERATIONS.filter(({ charge }) => charge.price !== undefined).map(({ name }) => name);
    expect([...priced].sort()).toEqual(sold.sort());
  });

  it('names why a call is not possible, as the call itself does', async () => {
    const { app } = stage;
    const poor = await newKey(app);
    const loss = { key_id: poor.id, amount: -499_500, kind: 'refund', against: 'refund', now: 0 } as const;
    await move(app.state, loss);
    const get = { operation: 'entity_get', dataset: 'tools', arguments: { entity_id: 'record-1' } };
    const cases = [
      [get, 'insufficient_credits', true],
      [{ ...get, arguments: { entity_id: 'nobody' } }, 'unknown_entity', false],
      [{ ...get, dataset: 'tolls' }, 'unknown_dataset', false],
      [{ ...get, arguments: { ...get.arguments, max_price_eur: 0.0001 } }, 'limit_exceeded', true],
      [
        { operation: 'entity_search', dataset: 'tools', arguments: { filters: { knd: 'saw' } } },
        'unknown_filter',
        false,
      ],
      [{ operation: 'dataset_export', dataset: 'tools' }, 'plan_required', false],
    ] as const;
    for (const [question, code, hasPrice] of cases) {
      const { body } = await app.json('/v1/quote', post(question, poor.headers));
      expect(body['possible'], code).toBe(false);
      expect(body['reason']).toMatch(new RegExp(`^${code}: `));
      expect(Number(body['price_eur']) > 0, code).toBe(hasPrice);
    }
    const anonymous = await app.json('/v1/quote', post(get));
    expect(anonymous.body).toMatchObject({ possible: false, reason: expect.stringMatching(/^payment_required/) });
    const operator = await app.json('/v1/quote', { ...post(get), admin: true });
    expect(operator.body).toMatchObject({ possible: true, price_eur: 0 });
    const unknown = await app.json('/v1/quote', post({ operation: 'entity_serch' }));
    expect([unknown.status, unknown.body['message']]).toEqual([422, expect.stringContaining('entity_search')]);
    expect(app.lent()).toBe(0);
  });
});

/** The question about the call of an address. */
function questionOf(operation: Operation, dataset: string | null, path: string) {
  const { pathname, searchParams } = new URL(path, 'https://register.example');
  const query: Record<string, string> = Object.fromEntries(searchParams);
  if (operation.rest.path.includes(':entity_id')) query['entity_id'] = decodeURIComponent(pathname.split('/')[4] ?? '');
  return { operation: operation.name, dataset: dataset ?? undefined, arguments: query };
}
