// The overlay in the store: versions and feed times increase one by one with concurrent writers, and reads
// are consistent.
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { describeStores } from '../../tests/support/stores.ts';
import { verifies } from '../../tests/support/verifies.ts';
import type { ChangeRow } from '../plan/history.ts';
import { openOverlays } from '../releases/overlays.ts';
import { changeOverlay, dropReserved, overlayStates, readOverlay, reserveFeed } from './overlay.ts';
import type { Store } from './store.ts';

verifies('feed.recorded-at');

const NOW = Date.UTC(2026, 10, 20);
const FRESH = { version: 0, recorded_to: 0 };

const line = (entity_id: string): ChangeRow => ({
  entity_id,
  slug: null,
  name: null,
  attribute: null,
  type: 'removed',
  old_value: null,
  new_value: null,
  observed_at: NOW,
  source_url: null,
});

/** Removes a record at the newest version, retrying after concurrent changes; returns the version. */
async function remove(store: Store, dataset: string, entity: string, lines = 1): Promise<number> {
  for (;;) {
    const { version: expected } = await readOverlay(store, dataset);
    const feed = Array.from({ length: lines }, () => line(entity));
    const done = await changeOverlay(store, { dataset, expected, now: NOW, held: FRESH, feed }, async (tx, version) => {
      await tx
        .insertInto('opt_outs')
        .values(optOut(dataset, entity, version))
        .execute();
    });
    if (done) return done.version;
  }
}

const optOut = (dataset: string, entity_id: string, version: number) => ({
  id: randomUUID(),
  dataset,
  entity_id,
  slug: `slug-of-${entity_id}`,
  name: 'A record',
  contact: 'office@harbour.example',
  domain: 'harbour.example',
  reason: null,
  at: NOW,
  version,
  restored_at: null,
  restored_version: null,
});

describeStores('the overlay', ({ open }) => {
  let store: Store;
  let other: Store;
  beforeAll(async () => {
    store = await open();
    other = await open();
  });

  test('an unchanged dataset has version 0 and an empty overlay', async () => {
    expect(await readOverlay(store, 'quiet')).toMatchObject({ version: 0, feed: [], reserved: [] });
  });

  test('concurrent changes from two connections get distinct versions and microseconds', async () => {
    const entities = Array.from({ length: 12 }, (_, i) => `r-${i}`);
    const versions = await Promise.all(
      entities.map((each, i) => remove(i % 2 ? store : other, 'busy', each, 1 + (i % 3))),
    );
    expect([...versions].sort((a, b) => a - b)).toEqual(entities.map((_, i) => i + 1));
    const { version, removed, feed } = await readOverlay(other, 'busy');
    expect(version).toBe(12);
    expect([...removed.keys()].sort()).toEqual([...entities].sort());
    expect(feed).toHaveLength(24);
    const times = feed.map(({ recorded_at }) => recorded_at);
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
    expect(times[0]).toBe(NOW * 1000);
    // In the order of versions: a reader of one line has read all lines before it.
    expect(feed.map((each) => each.version)).toEqual(feed.map((each) => each.version).sort((a, b) => a - b));
  });

  test('a change of an older version is rejected and writes nothing', async () => {
    await remove(store, 'stale', 'r-1');
    const late = { dataset: 'stale', expected: 0, now: NOW, held: FRESH, feed: [line('r-2')] };
    expect(await changeOverlay(other, late, async () => expect.fail('it was written'))).toBeNull();
    expect((await readOverlay(store, 'stale')).feed).toHaveLength(1);
  });

  test('a failed change writes nothing', async () => {
    const edit = { dataset: 'half', expected: 0, now: NOW, held: FRESH, feed: [line('r-1')] };
    const failing = changeOverlay(store, edit, async (tx, version) => {
      await tx
        .insertInto('opt_outs')
        .values(optOut('half', 'r-1', version))
        .execute();
      throw new Error('the disk is full');
    });
    await expect(failing).rejects.toThrow('the disk is full');
    expect(await readOverlay(other, 'half')).toMatchObject({ version: 0, feed: [] });
    expect((await readOverlay(other, 'half')).removed.size).toBe(0);
  });

  test('changes are after the newest release, also when the store is older', async () => {
    const held = { version: 9, recorded_to: NOW * 1000 + 70 };
    const edit = { dataset: 'later', expected: 0, now: NOW, held, feed: [line('r-1')] };
    expect(await changeOverlay(store, edit, async () => {})).toEqual({ version: 10, recorded_at: NOW * 1000 + 71 });
  });

  test('a release gets a range between the changes; the range of a dead build is released', async () => {
    await remove(store, 'ranges', 'r-1');
    const range = { dataset: 'ranges', count: 5, now: NOW, after: 0 };
    const first = await reserveFeed(other, range);
    expect(first).toBe(NOW * 1000 + 1);
    await remove(store, 'ranges', 'r-2');
    const { feed, reserved } = await readOverlay(store, 'ranges');
    expect(feed.map(({ recorded_at }) => recorded_at - first)).toEqual([-1, 5]);
    expect(reserved).toEqual([first]);
    const second = await reserveFeed(store, range);
    expect(second).toBe(first + 6);
    await dropReserved(other, 'ranges', first + 4);
    expect((await overlayStates(store)).get('ranges')).toEqual({ version: 2, reserved: [first] });
    // Its range stays reserved.
    expect(await reserveFeed(store, range)).toBe(second + 5);
  });

  test('another process sees changes and nothing else', async () => {
    const overlays = await openOverlays(other);
    expect(overlays.of('watched').version).toBe(0);
    await remove(store, 'watched', 'r-1');
    await overlays.refresh();
    const seen = overlays.of('watched');
    expect([...seen.removed.values()]).toEqual([{ entity: 'r-1', slug: 'slug-of-r-1', version: 1 }]);
    await overlays.refresh();
    expect(overlays.of('watched')).toBe(seen);
    await reserveFeed(store, { dataset: 'watched', count: 1, now: NOW, after: 0 });
    await overlays.refresh();
    expect(overlays.of('watched')).toMatchObject({ version: 1, reserved: [NOW * 1000 + 1] });
  });
});
