// Store of the operators' pages, the same on both databases.
import { expect, test } from 'vitest';
import { describeStores } from '../../../tests/support/stores.ts';
import { createKey, findKeys } from '../keys/keys.ts';
import { balanceOf, move } from '../money/ledger.ts';
import { operatorSessions, SESSION_LIFETIME } from '../sessions.ts';
import { paymentIssues } from './attention.ts';
import { keyFigures, moneyByDay, sandboxShare } from './figures.ts';

const NOW = Date.parse('2026-11-20T12:34:56Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describeStores('a session', ({ open }) => {
  test('stores no token; a page prolongs it, a background request does not, a day ends it', async () => {
    const store = await open();
    const token = await operatorSessions.open(store, 'hash-of-a-key', NOW);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(await store.db.selectFrom('ops_sessions').selectAll().execute())).not.toContain(token);
    const at = async (ms: number, renews = true) =>
      (await operatorSessions.find(store, token, NOW + ms, renews)) !== null;
    expect(await at(SESSION_LIFETIME.idle - 1, false)).toBe(true);
    expect(await at(SESSION_LIFETIME.idle)).toBe(false);
    expect(await at(SESSION_LIFETIME.idle - 1)).toBe(true);
    for (let ms = SESSION_LIFETIME.idle; ms < SESSION_LIFETIME.life; ms += SESSION_LIFETIME.idle / 2)
      expect(await at(ms)).toBe(true);
    expect(await at(SESSION_LIFETIME.life)).toBe(false);
    for (const guess of ['', 'x', token.slice(1), `${token} `])
      expect(await operatorSessions.find(store, guess, NOW, true)).toBeNull();
    await operatorSessions.forget(store, NOW + SESSION_LIFETIME.life);
    expect(await operatorSessions.find(store, token, NOW, true)).toBeNull();
  });

  test('ends without ending others', async () => {
    const store = await open();
    const [mine, other] = [await operatorSessions.open(store, 'a', NOW), await operatorSessions.open(store, 'b', NOW)];
    await operatorSessions.end(store, mine);
    expect(await operatorSessions.find(store, mine, NOW, true)).toBeNull();
    expect(await operatorSessions.find(store, other, NOW, true)).toBe('b');
  });
});

describeStores('keys, money and matters', ({ open }) => {
  const make = async (store: Awaited<ReturnType<typeof open>>, email: string, now: number) =>
    (await createKey(store, { email, email_normal: email.toLowerCase(), request_id: 'r', now }))!.key;

  test('keys are found by a part of the address in any case or the prefix of the id, in pages', async () => {
    const store = await open();
    const ana = await make(store, 'Ana_B@shop.example', NOW);
    const ben = await make(store, 'ben@shop.example', NOW + 1);
    const ids = async (text: string, limit = 10, before: typeof ana | null = null) =>
      (await findKeys(store, text, limit, before)).map(({ id }) => id);
    expect(await ids('')).toEqual([ben.id, ana.id]);
    expect(await ids('', 1)).toEqual([ben.id]);
    expect(await ids('', 10, ben)).toEqual([ana.id]);
    expect(await ids('ANA')).toEqual([ana.id]);
    expect(await ids('a_b@')).toEqual([ana.id]);
    // Wildcards of the database match literally.
    expect(await ids('%')).toEqual([]);
    expect(await ids('n_@')).toEqual([]);
    expect(await ids("' or 1=1 --")).toEqual([]);
    expect(await ids(ben.id.slice(0, 12))).toEqual([ben.id]);
    expect(await keyFigures(store, NOW + 1)).toEqual({
      live: 2,
      fresh: 1,
      credit: 1_000_000,
      plans: [{ plan: 'payg', keys: 2 }],
    });
  });

  test('a mismatched payment, an unclear one, a dispute and a negative balance are issues', async () => {
    const store = await open();
    const { id: key_id } = await make(store, 'cleo@shop.example', NOW);
    expect(await paymentIssues(store, NOW)).toEqual([]);
    const order = { key_id, kind: 'topup' as const, plan: null, amount: 20_000_000, provider: 'stripe' as const };
    const checkout = {
      ...order,
      session: 's',
      state: 'open' as const,
      request_id: null,
      created_at: NOW,
      paid_at: null,
    };
    await store.db
      .insertInto('checkouts')
      .values([
        { ...checkout, id: 'c-1', problem: 'the amount is 19.00 eur, not 20.00 eur' },
        { ...checkout, id: 'c-2', session: 't', problem: null },
      ])
      .execute();
    const payment = {
      state: 'open' as const,
      request: 'r',
      proof: 'p',
      lease: 'l',
      leased_until: 0,
      look_at: 0,
      payload: '',
      requirements: '',
      micros: 8000,
      operation: 'entity_get',
      dataset: 'tools',
      answer: null,
      records: '',
      transfer: null,
      settled_at: null,
      delivered_at: null,
      secret: null,
    };
    await store.db
      .insertInto('payments')
      .values([
        { ...payment, id: 'p-1', request_id: 'q-1', hash: '0xabc', created_at: NOW - HOUR },
        { ...payment, id: 'p-2', request_id: 'q-2', hash: null, created_at: NOW - 60_000 },
      ])
      .execute();
    await store.db
      .insertInto('card_payments')
      .values({ id: 'pi', checkout_id: 'c-2', invoice_id: null, reported: 0, refunded: 0, disputed: 0 })
      .execute();
    const dispute = { payment_id: 'pi', kind: 'dispute' as const, amount: 20_000_000, heard_at: NOW + 1 };
    await store.db
      .insertInto('reversals')
      .values([
        { ...dispute, id: 'd-1', stage: 1, away: 1 },
        { ...dispute, id: 'd-2', stage: 2, away: 0 },
      ])
      .execute();
    await move(store, { key_id, amount: 20_000_000, kind: 'topup', against: 'cash', reference: 't', now: NOW - DAY });
    await move(store, { key_id, amount: -21_000_000, kind: 'dispute', against: 'dispute', now: NOW });
    const found = await paymentIssues(store, NOW);
    expect(found.map(({ kind, id }) => [kind, id])).toEqual([
      ['dispute', 'd-1'],
      ['checkout_problem', 'c-1'],
      ['below_zero', key_id],
      ['x402_unclear', 'q-1'],
    ]);
    expect(found[0]).toMatchObject({ key_id, amount: 20_000_000 });
    expect(found[2]).toMatchObject({ amount: -500_000 });
    expect(await moneyByDay(store, NOW - 3 * DAY)).toEqual([
      { at: Date.parse('2026-11-19'), cards: 20_000_000, sandbox: 0, x402: 0 },
      { at: Date.parse('2026-11-20'), cards: -21_000_000, sandbox: 0, x402: 0 },
    ]);
    // Money of the sandbox is not real, and counts apart.
    await move(store, { key_id, amount: 7_000_000, kind: 'topup', against: 'cash', reference: 'sandbox_1', now: NOW });
    expect((await moneyByDay(store, NOW)).at(-1)).toMatchObject({ cards: -21_000_000, sandbox: 7_000_000 });
    // The balance was 0.50 EUR below zero.
    expect(await sandboxShare(store, NOW)).toEqual({ credit: 6_500_000, charged: 0 });
    await move(store, { key_id, amount: 3_000_000, kind: 'grant', against: 'grant', now: NOW });
    expect((await sandboxShare(store, NOW)).credit).toBe(7_000_000);
    // Sandbox credit is spent last: of these 5 EUR, 2.50 EUR are of the grant.
    await move(store, { key_id, amount: -5_000_000, kind: 'charge', against: 'revenue', now: NOW + 5 });
    expect(await balanceOf(store, key_id)).toBe(4_500_000);
    expect(await sandboxShare(store, NOW + 5)).toEqual({ credit: 4_500_000, charged: 2_500_000 });
    expect((await sandboxShare(store, NOW + 6)).charged).toBe(0);
  });
});
