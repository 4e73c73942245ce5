// Leases and pointers: one runner at a time, and a runner that lost its lease publishes nothing.
import { expect, test } from 'vitest';
import { describeStores } from '../../tests/support/stores.ts';
import { storedOverlays } from '../releases/overlay-source.ts';
import { acquireLease, LeaseHeld, LeaseLost, nodesWithout, noteNode, removeNode } from './leases.ts';
import { overlayStates } from './overlay.ts';
import { announceListing, forgetListing, listingsToRemove, movePointer, readPointers } from './pointers.ts';

const name = 'nightly run';

describeStores('leases', ({ open }) => {
  test('one holder at a time; the next gets a higher token', async () => {
    const [one, two] = [await open(), await open()];
    const options = { name: 'one at a time', duration: 60_000 };
    const first = await acquireLease(one, { ...options, holder: 'machine A' });
    const refused = acquireLease(two, { ...options, holder: 'machine B' });
    await expect(refused).rejects.toThrow(LeaseHeld);
    await expect(refused).rejects.toThrow('another one at a time is in progress (machine A, token 1)');
    await first.release();
    const second = await acquireLease(two, { ...options, holder: 'machine B' });
    expect(second.token).toBe(2);
    await expect(first.check()).rejects.toThrow('lost its lease to machine B (token 2)');
    await second.release();
  });

  test('an expired lease is acquired by another, and its holder moves no pointer', async () => {
    const [one, two] = [await open(), await open()];
    // The next renewal is after 15 seconds.
    const stalled = await acquireLease(one, { name, holder: 'stalled', duration: 60_000 });
    await one.db.updateTable('leases').set({ expires_at: 1 }).where('name', '=', name).execute();
    const next = await acquireLease(two, { name, holder: 'next', duration: 60_000 });
    await movePointer(two, next, 'tools', { release: 'b', listing: 'bb', work: 'w2' });
    const late = movePointer(one, stalled, 'tools', { release: 'a', listing: 'aa', work: 'w1' });
    await expect(late).rejects.toThrow(LeaseLost);
    const announced = announceListing(one, stalled, { name: 'aa', dataset: 'tools', kind: 'release', release: 'a' });
    await expect(announced).rejects.toThrow(LeaseLost);
    expect((await readPointers(two)).get('tools')).toEqual({ release: 'b', listing: 'bb', manifest: null, work: 'w2' });
    await next.release();
  });

  test('a run that stalls after it checked its lease leaves the feed to the run that follows', async () => {
    const [one, two] = [await open(), await open()];
    const options = { name: 'feed', duration: 60_000 };
    const range = { count: 5, now: Date.UTC(2026, 10, 20), after: 0 };
    const reserved = async () => (await overlayStates(two)).get('tides')?.reserved;
    for (const change of ['reserve', 'forget'] as const) {
      const stalled = await acquireLease(one, { ...options, holder: 'stalled' });
      await storedOverlays(one, stalled).reserve('tides', range);
      // Expired, and not acquired by another run yet.
      await stalled.release();
      let following: Promise<unknown> = Promise.resolve();
      const check: typeof stalled.check = async (tx) => {
        await stalled.check(tx);
        following = acquireLease(two, { ...options, holder: 'following' }).then(async (lease) => {
          const atThatMoment = await reserved();
          await lease.release();
          return atThatMoment;
        });
        await new Promise((resolve) => setTimeout(resolve, 100));
      };
      const overlays = storedOverlays(one, { check });
      await (change === 'reserve' ? overlays.reserve('tides', range) : overlays.forget('tides', 0));
      // What the stalled run still wrote was there when the other one acquired the lease.
      expect(await following).toEqual(await reserved());
      await expect(storedOverlays(one, stalled).reserve('tides', range)).rejects.toThrow(LeaseLost);
      await expect(storedOverlays(one, stalled).forget('tides', 0)).rejects.toThrow(LeaseLost);
      expect(await following).toEqual(await reserved());
    }
  });

  test('the storage keeps three releases of a dataset, what is current, and nothing else', async () => {
    const store = await open();
    const lease = await acquireLease(store, { name: 'retention', holder: 'A', duration: 60_000 });
    const dataset = 'harbours';
    for (const release of ['r1', 'r2', 'r3', 'r4']) {
      const work = `work of ${release}`;
      await announceListing(store, lease, { name: release, dataset, kind: 'release', release });
      await announceListing(store, lease, { name: work, dataset, kind: 'work', release: null });
      await movePointer(store, lease, dataset, { release, listing: release, work });
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await announceListing(store, lease, { name: 'unfinished', dataset, kind: 'release', release: 'r5' });
    const { retained, removable } = await listingsToRemove(store, 3);
    expect(retained).toEqual(expect.arrayContaining(['r2', 'r3', 'r4', 'work of r4']));
    expect(removable.sort()).toEqual(['r1', 'unfinished', 'work of r1', 'work of r2', 'work of r3']);
    await forgetListing(store, 'r1');
    expect((await listingsToRemove(store, 3)).removable).not.toContain('r1');
    await lease.release();
  });

  test('processes switch when every running one has the listing', async () => {
    const store = await open();
    await noteNode(store, 'one', ['old', 'new']);
    await noteNode(store, 'two', ['old']);
    expect(await nodesWithout(store, 'new')).toBe(1);
    await noteNode(store, 'two', ['old', 'new']);
    expect(await nodesWithout(store, 'new')).toBe(0);
    await removeNode(store, 'one');
    expect(await nodesWithout(store, 'other')).toBe(1);
  });
});
