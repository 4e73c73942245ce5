// Budgets of messages to recipients, networks, hosts and keys, over several processes.
import { expect, it } from 'vitest';
import { describeStores } from '../../tests/support/stores.ts';
import { confirmAddress, forgetSends, isConfirmed, type SendCount, takeSend } from './sends.ts';
import type { Store } from './store.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

describeStores('messages to strangers', (under) => {
  const take = (store: Store, counts: SendCount[], now: number) =>
    store.db.transaction().execute((tx) => takeSend(tx, counts, now));
  const mail = (of: string): SendCount => ({ kind: 'mail', of });

  it('are three an hour and ten a day to one address, however it is written, from several processes at once', async () => {
    const [one, two] = [await under.open(), await under.open()];
    const written = ['ada@example.org', 'Ada@Example.ORG', 'ada+news@example.org'];
    const waits = await Promise.all(
      Array.from({ length: 12 }, (_, i) => take(i % 2 ? one : two, [mail(written[i % 3]!)], NOW)),
    );
    expect(waits.filter((wait) => wait === 0)).toHaveLength(3);
    expect(new Set(waits)).toEqual(new Set([0, 3600]));
    let sent = 3;
    for (let at = NOW + MINUTE; at < NOW + DAY; at += 10 * MINUTE)
      if ((await take(one, [mail(written[0]!)], at)) === 0) sent += 1;
    expect(sent).toBe(10);
    // A clock that goes back gives no room.
    expect(await take(two, [mail(written[0]!)], NOW - HOUR)).toBeGreaterThan(0);
    expect(await take(two, [mail(written[0]!)], NOW + 2 * DAY)).toBe(0);
  });

  it('count for all their budgets, or for none', async () => {
    const store = await under.open();
    const from = { kind: 'network', of: '192.0.2.1' } as const;
    for (let i = 0; i < 20; i += 1) expect(await take(store, [mail(`person-${i}@example.org`), from], NOW)).toBe(0);
    expect(await take(store, [mail('person-20@example.org'), from], NOW)).toBe(3600);
    for (let i = 0; i < 3; i += 1) expect(await take(store, [mail('person-20@example.org')], NOW)).toBe(0);
  });

  it('have no budget to an address whose reader followed a link', async () => {
    const store = await under.open();
    expect(await isConfirmed(store, 'known@example.org')).toBe(false);
    for (let i = 0; i < 4; i += 1) await take(store, [mail('known@example.org')], NOW);
    await confirmAddress(store, 'Known@example.org', NOW);
    expect(await isConfirmed(store, 'known@example.org')).toBe(true);
    for (let i = 0; i < 20; i += 1) expect(await take(store, [mail('known@example.org')], NOW)).toBe(0);
  });

  it('are forgotten after a day, confirmed addresses that no key has later', async () => {
    const store = await under.open();
    await take(store, [{ kind: 'host', of: 'hooks.example' }], NOW + 3 * DAY);
    await forgetSends(store, NOW + 3 * DAY + HOUR, NOW);
    const names = async () => (await store.db.selectFrom('sends').select('name').execute()).map(({ name }) => name);
    expect((await names()).sort()).toEqual(['host hooks.example', 'mail known@example.org']);
    await forgetSends(store, NOW + 5 * DAY, NOW);
    expect(await names()).toEqual(['mail known@example.org']);
    await forgetSends(store, NOW + 5 * DAY, NOW + 1);
    expect(await names()).toEqual([]);
  });
});
