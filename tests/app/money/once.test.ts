// One record that a call names in several ways is answered and charged once, in every channel.
import { expect, it } from 'vitest';
import { BASE } from '../../support/app.ts';
import { describeApps, newKey } from '../../support/money-on-stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies('price.derived');

describeApps('several names of one record', {}, (stage) => {
  const names = () => {
    const { id, slug } = stage.app.records['tools']![0]!;
    return [slug, id, slug.toUpperCase(), id.toUpperCase()];
  };

  it.each(['', '&as_of=2026-11-20T12:00:00Z'])('batch answers the first name%s', async (when) => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const other = app.records['tools']![1]!.slug;
    const ids = [...names(), 'nobody', other, other];
    const answer = await app.json(`/v1/tools/entities/batch?ids=${ids.join()}${when}`, { headers });
    const slugs = (answer.body['items'] as { slug: string }[]).map(({ slug }) => slug);
    expect(slugs).toEqual([names()[0], other]);
    expect(answer.body['missing']).toEqual(['nobody']);
    // Two records and one unknown name.
    expect(answer.headers.get('x-charge-eur')).toBe('0.012');
  });

  it('compare has one column, and a quote and a limit count it once', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const compared = await app.json(`/v1/tools/compare?ids=${names().join()}`, { headers });
    expect(compared.body['items']).toHaveLength(1);
    const quoted = await app.json('/v1/quote', {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ operation: 'entity_batch', dataset: 'tools', arguments: { ids: names() } }),
    });
    expect(quoted.body['price_eur']).toBe(0.004);
    const bounded = { ...headers, 'X-Max-Price-EUR': '0.004' };
    expect((await app.ask(`/v1/tools/entities/batch?ids=${names().join()}`, { headers: bounded })).status).toBe(200);
  });

  it('a tool charges it once', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const { body } = await app.json('/mcp', {
      method: 'POST',
      headers: {
        ...headers,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Host: new URL(BASE).host,
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'entity_batch', arguments: { dataset: 'tools', ids: names(), format: 'json' } },
      }),
    });
    expect((body['result'] as { _meta: object })._meta).toMatchObject({ charge_eur: 0.004 });
  });
});
