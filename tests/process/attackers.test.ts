// Attacks with keys, quotas and paid values. Amounts are in keys.test.ts, revocation between processes in
// parallel-payments.test.ts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newKey as randomSecret } from '../../data/state/key-format.ts';
import { loadPack } from '../../packs/define/load.ts';
import { ADMIN, appOfAll, type TestApp } from '../support/app.ts';
import { callStatus, newKey } from '../support/money-on-stores.ts';
import { richKey, smallData, startApi } from '../support/money-processes.ts';
import { verifies } from '../support/verifies.ts';

const app = await appOfAll({ calls: { free: 60, paid: 60 } });

let last = 0;
const fresh = () => ({ address: `203.0.113.${++last}` });

describe('keys', () => {
  verifies('auth.unknown-key', 'credential.format', 'credential.order', 'credential.query');
  test('forged, shortened, lengthened and foreign ones are refused in every place', async () => {
    const { key } = await newKey(app);
    const changed = key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);
    const forged = [
      changed,
      key.slice(0, -1),
      `${key}0`,
      key.toLowerCase(),
      key.slice(4),
      randomSecret(),
      `dsr_${'0'.repeat(43)}`,
    ];
    for (const secret of [...forged, `${ADMIN}x`, ADMIN.slice(1), "' or 1=1 --"]) {
      const from = fresh();
      expect(
        await callStatus(app, '/v1/keys/me', { headers: { Authorization: `Bearer ${secret}` }, ...from }),
        secret,
      ).toBe('401 invalid_key');
      expect(await callStatus(app, '/v1/keys/me', { headers: { 'X-API-Key': secret }, ...from })).toBe(
        '401 invalid_key',
      );
      expect(await callStatus(app, `/v1/keys/me?api_key=${encodeURIComponent(secret)}`, from)).toBe('401 invalid_key');
    }
    for (const scheme of [`Basic ${key}`, key, `Bearer  `, `Token ${key}`])
      expect(await callStatus(app, '/v1/keys/me', { headers: { Authorization: scheme }, ...fresh() })).toBe(
        '401 invalid_key',
      );
  });

  test('the first place decides: a valid key after an invalid one is ignored', async () => {
    const { key } = await newKey(app);
    const both = { Authorization: `Bearer ${randomSecret()}`, 'X-API-Key': key };
    expect(await callStatus(app, '/v1/keys/me', { headers: both, ...fresh() })).toBe('401 invalid_key');
    expect(await callStatus(app, `/v1/keys/me?api_key=${key}`, { headers: { 'X-API-Key': 'x' }, ...fresh() })).toBe(
      '401 invalid_key',
    );
    const good = await app.ask(`/v1/keys/me?api_key=${key}`, fresh());
    expect([good.status, good.headers.get('cache-control'), good.headers.get('referrer-policy')]).toEqual([
      200,
      'no-store',
      'no-referrer',
    ]);
    expect(
      await callStatus(app, `/v1/keys/topup?api_key=${key}`, { method: 'POST', body: '{"amount_eur":5}', ...fresh() }),
    ).toBe('401 key_required');
  });

  test('guessing ends at the bucket of the address, also of a whole IPv6 /64', async () => {
    const seen = new Map<string, number>();
    for (let i = 0; i < 70; i++) {
      const headers = { Authorization: `Bearer ${randomSecret()}` };
      const answer = await callStatus(app, '/v1/keys/me', { headers, address: `2001:db8:77:1::${i.toString(16)}` });
      seen.set(answer, (seen.get(answer) ?? 0) + 1);
    }
    expect(Object.fromEntries(seen)).toEqual({ '401 invalid_key': 60, '429 rate_limited': 10 });
  });
});

describe('keys are never in', () => {
  verifies('credential.query-hidden', 'credential.hashed');
  test('links, cursors, errors, 402 terms or kept answers', async () => {
    const { key, headers } = await newKey(app);
    const paths = [
      '/v1/tools/entities?limit=1',
      '/v1/tools/entities.md?limit=1',
      '/v1/tools/entities?nonsense=1',
      '/v1/nowhere',
      '/v1/tools/export',
    ];
    for (const path of paths) {
      const asked = await app.ask(`${path}${path.includes('?') ? '&' : '?'}api_key=${key}`, {
        headers: { 'Idempotency-Key': 'kept-for-attackers' },
      });
      const shown = JSON.stringify([...asked.headers]) + (await asked.text());
      expect(shown).not.toContain(key);
      expect(shown).not.toContain('api_key=');
    }
    await app.json('/v1/tools/entities?limit=1', { headers: { ...headers, 'Idempotency-Key': 'kept-for-attackers2' } });
    const kept = await app.state.db.selectFrom('idempotency').selectAll().execute();
    expect(kept.length).toBeGreaterThan(0);
    expect(JSON.stringify(kept)).not.toContain(key);
  });

  test('the log of a process, or a file of it', async () => {
    const { dataDir, remove } = await smallData();
    const api = await startApi(dataDir);
    const { key } = await richKey(api, 'quiet@example.org', 'payg', 1);
    for (const path of [
      '/v1/keys/me',
      '/v1/tools/entities',
      '/v1/nowhere/entities',
      '/%zz',
      '/v1/tools/entities?limit=x',
    ]) {
      await api.ask(path, { Authorization: `Bearer ${key}` });
      await api.ask(path, { 'X-API-Key': `${key}x` });
      await api.ask(`${path}${path.includes('?') ? '&' : '?'}api_key=${key}`);
    }
    await api.ask('/v1/keys/topup', { Authorization: `Bearer ${key}` }, 'POST', `{"broken": "${key}`);
    await api.kill('SIGTERM');
    expect(api.output()).toMatch(/^Dataset register: /m);
    expect(api.output()).not.toContain(key.slice(4, 30));
    const state = readFileSync(join(dataDir, 'state/register.db')).toString('latin1');
    expect(state).toContain('quiet@example.org');
    expect(state).not.toContain(key.slice(4, 30));
    remove();
  }, 30_000);
});

describe('the preview quota is not evaded', () => {
  verifies('auth.quota-402', 'limit.previews', 'setting.trust-proxy');
  const spend = async (init: Parameters<TestApp['ask']>[1]) => app.json('/v1/tools/entities?limit=20', init);
  test('by what a client writes into X-Forwarded-For, by other headers, by IPv6 rotation, by .md or by formats', async () => {
    expect((await spend({ address: '2001:db8:9:9::1' })).status).toBe(200);
    const again: Parameters<TestApp['ask']>[1][] = [
      { address: '2001:db8:9:9:ffff::2' },
      { address: '198.51.100.99, 2001:db8:9:9::3' },
      { address: '[2001:db8:9:9::4]:4711' },
      {
        address: '2001:db8:9:9::5',
        headers: { 'X-Real-IP': '1.2.3.4', Forwarded: 'for=1.2.3.4', 'CF-Connecting-IP': '1.2.3.4' },
      },
      { address: '2001:db8:9:9::6', headers: { Accept: 'text/markdown' } },
      {
        address: '2001:db8:9:9::7',
        headers: { Cookie: 'a=b', 'User-Agent': 'Googlebot', Origin: 'https://a.example' },
      },
    ];
    for (const init of again) expect((await spend(init)).body['error'], JSON.stringify(init)).toBe('quota_exceeded');
    const from = { address: '2001:db8:9:9::8' };
    for (const path of [
      '/v1/tools/entities.md',
      '/v1/tools/entities?format=md',
      '/v1/tools/entities?ids=record-1',
      '/v1/tools/entities?q=record',
    ])
      expect(await callStatus(app, path, from)).toBe('402 quota_exceeded');
    expect(await callStatus(app, '/v1/tools/entities?format=csv', from)).toBe('401 key_required');
    expect((await spend({ address: '2001:db8:9:a::1' })).status).toBe(200);
  });

  test('by parallel requests', async () => {
    const from = fresh();
    const answers = await Promise.all(Array.from({ length: 12 }, () => app.json('/v1/tools/entities?limit=7', from)));
    const shown = answers.flatMap(({ body }) => (body['items'] as unknown[] | undefined) ?? []);
    expect(shown).toHaveLength(20);
  });
});

describe('paid values are not read', () => {
  verifies('preview.non-public', 'leak.facets-anonymous', 'leak.facets-floor', 'preview.public-only');
  test('without a key through filters, sorts, fields, totals, facets, pages, Markdown or HTML', async () => {
    const pack = await loadPack(join(import.meta.dirname, '../packs/tools'));
    const hidden = pack.attributes.filter((each) => !each.public);
    expect(hidden.length).toBeGreaterThan(3);
    for (const { name } of hidden)
      for (const query of [
        `sort=${name}`,
        `sort=-${name}`,
        `fields=${name}`,
        `has_${name}=true`,
        `has_${name}=false&total=true`,
      ])
        expect(await callStatus(app, `/v1/tools/entities?${query}`, fresh()), query).toBe('402 payment_required');
    for (const query of ['by=kind&max_price.rental=3', 'by=kind&has_runtime=true'])
      expect(await callStatus(app, `/v1/tools/facets?${query}`, fresh()), query).toMatch(/^(402|400)/);
    const secret = app.records['tools']?.find((record) => record.attributes['summary'] !== undefined);
    const pages = [
      `/datasets/tools/${secret?.slug}.md`,
      `/datasets/tools/${secret?.slug}`,
      `/v1/tools/entities?ids=${secret?.id}`,
      `/v1/tools/entities.md?ids=${secret?.id}`,
    ];
    const summary = String(secret?.attributes['summary']);
    expect(summary.length).toBeGreaterThan(3);
    for (const path of pages) expect(await (await app.ask(path, fresh())).text(), path).not.toContain(summary);
  });

  test('without a key through the tag of a record: a refusal has none, and a guessed one reveals nothing', async () => {
    const refused = await app.ask('/v1/tools/entities/record-1', fresh());
    expect([refused.status, refused.headers.get('etag'), refused.headers.get('last-modified')]).toEqual([
      402,
      null,
      null,
    ]);
    expect(
      await callStatus(app, '/v1/tools/entities/record-1', { headers: { 'If-None-Match': 'W/"guess"' }, ...fresh() }),
    ).toBe('402 payment_required');
    const paid = await app.ask('/v1/tools/entities/record-1', { admin: true });
    const preview = await app.ask('/v1/tools/entities?ids=record-1', fresh());
    expect(preview.headers.get('etag')).not.toBe(paid.headers.get('etag'));
  });
});
