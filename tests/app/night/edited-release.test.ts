// A night after owners' edits, decisions or removals builds a release that contains them; each change is in the feed
// once.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changesParameters } from '../../../data/input/history-parameters.ts';
import { rebuildDue } from '../../../data/plan/overlay.ts';
import { getChanges } from '../../../data/queries/changes.ts';
import { getEdits } from '../../../data/queries/edits.ts';
import { openOverlays } from '../../../data/releases/overlays.ts';
import { openRegister } from '../../../data/releases/register.ts';
import { releaseTag } from '../../../data/releases/release.ts';
import { type Issues, type ObservedRow, scratch, stonesPack } from '../../support/night-pack.ts';
import { type OverlayWorld, openWorld } from '../../support/overlay-world.ts';
import { verifies } from '../../support/verifies.ts';

verifies('overlay.survives', 'feed.exclusive', 'feed.recorded-at');

const STONES = Array.from({ length: 6 }, (_, i) => ({
  code: `s${i}`,
  name: `Stone ${i}`,
  status: 'here',
  mass: i + 1,
}));
const FIRST: Issues = { '01-01': STONES };
const at = (day: number, minute = 0) => `2026-11-${day}T00:${String(minute).padStart(2, '0')}:00Z`;

const world = (folder: string, issues: Issues, now: string | null) =>
  openWorld(join(folder, 'data'), stonesPack(join(folder, 'pack'), { quarry: issues }), now);

const named = async (here: OverlayWorld, name: string) =>
  [...(await here.records()).values()].find((record) => record.attributes['name'] === name);

/** The whole change feed, a line for each change. */
async function feedOf(here: OverlayWorld): Promise<string[]> {
  const { items } = await getChanges(
    here.release(),
    changesParameters.parse({ limit: '500', since: '2000-01-01' }),
    {},
  );
  return items.map(({ recorded_at, slug, attribute, new_value }) =>
    [recorded_at, slug, attribute, JSON.stringify(new_value)].join(' '),
  );
}

test('an edit is in the next release, and each change is in the feed once', async () => {
  const here = await world(scratch(), FIRST, at(20));
  const { release } = here.release().manifest;
  const stone = (await named(here, 'Stone 1'))!;
  await here.say(stone.id, { name: 'Edited' }, at(20, 1));
  expect(releaseTag(here.release())).toBe(`${release}+1`);
  const before = await feedOf(here);
  expect(before.filter((line) => line.includes('"Edited"'))).toHaveLength(1);
  expect(await here.night(at(21))).toMatchObject({ outcome: 'released', records: 6 });
  expect(releaseTag(here.release())).toBe(here.release().manifest.release);
  expect(await named(here, 'Edited')).toBeDefined();
  expect(await feedOf(here)).toEqual(before);
  expect(await here.night(at(22))).toMatchObject({ outcome: 'unchanged' });
  // The owner withdraws the value: its facts are those of the first release, and the feed has both changes.
  await here.say(stone.id, { name: null }, at(22, 1));
  expect(await here.night(at(23))).toMatchObject({ outcome: 'released' });
  expect(await named(here, 'Stone 1')).toBeDefined();
  expect((await feedOf(here)).slice(0, before.length)).toEqual(before);
  await here.close();
});

test('an opt-out after an edit builds a release without the record, and with the edit', async () => {
  const here = await world(scratch(), FIRST, at(20));
  const [gone, other] = [(await named(here, 'Stone 1'))!, (await named(here, 'Stone 2'))!];
  await here.say(other.id, { name: 'Edited' }, at(20, 1));
  await here.optOut(gone.id, at(20, 2));
  expect(await here.night(at(21), { collects: false })).toMatchObject({ outcome: 'released', records: 5 });
  expect(here.release().touched).toBeUndefined();
  expect(await named(here, 'Edited')).toBeDefined();
  await here.restore(gone.id, at(22, 1));
  expect(await here.night(at(23))).toMatchObject({ outcome: 'released', records: 6 });
  await here.close();
});

test('a record restored after the build that removed it is there at once, until a source is read again', async () => {
  const folder = scratch();
  const here = await world(folder, FIRST, at(20));
  const [back, gone, edited] = await Promise.all(
    ['Stone 1', 'Stone 2', 'Stone 3'].map(async (name) => (await named(here, name))!),
  );
  const first = here.release().manifest.release;
  await here.optOut(back!.id, at(20, 1));
  await here.night(at(20, 2), { collects: false });
  await here.optOut(gone!.id, at(20, 3));
  await here.say(edited!.id, { name: 'Edited' }, at(20, 4));
  expect(await here.night(at(20, 5), { collects: false })).toMatchObject({ outcome: 'released', records: 4 });
  const before = await feedOf(here);
  await here.restore(back!.id, at(20, 6));
  expect(here.release().manifest).toMatchObject({ release: first, records: 5 });
  const served = await here.records();
  expect([served.has(back!.id), served.has(gone!.id)]).toEqual([true, false]);
  expect(served.get(edited!.id)!.attributes['name']).toBe('Edited');
  expect(rebuildDue(here.release().overlay!, here.release().manifest.overlay ?? 0)).toBe(0);
  // A process that starts now finds it too.
  const started = await openRegister({
    ...{ dataDir: join(folder, 'data'), packs: [here.release().pack], log: () => {} },
    overlays: await openOverlays(here.store),
  });
  expect(started.current('stones')!.manifest.release).toBe(first);
  await started.close();
  expect(await here.night(at(20, 7), { collects: false })).toMatchObject({ outcome: 'released', records: 5 });
  expect(here.release().manifest.release).not.toBe(first);
  expect((await here.records()).has(back!.id)).toBe(true);
  // Until this build, later lines of the feed were held back as those of a release that is not served yet.
  expect(await feedOf(here)).toEqual(expect.arrayContaining(before));
  await here.optOut(back!.id, at(20, 8));
  await here.night(at(20, 9), { collects: false });
  await here.close();
  // An earlier release lacks what was read since.
  const later = await world(folder, { ...FIRST, '01-02': STONES.map((row) => ({ ...row, status: 'moved' })) }, at(21));
  const newest = later.release().manifest.release;
  await later.restore(back!.id, at(21, 1));
  expect(later.release().manifest.release).toBe(newest);
  expect((await later.records()).has(back!.id)).toBe(false);
  await later.night(at(21, 2), { collects: false });
  expect((await later.records()).get(back!.id)!.attributes['status']).toBe('moved');
  await later.close();
});

test('a release is built when the store no longer has an edit that it contains', async () => {
  const here = await world(scratch(), FIRST, at(10));
  const stone = (await named(here, 'Stone 1'))!;
  await here.say(stone.id, { name: 'Edited' }, at(10, 1));
  expect(await here.night(at(10, 2), { collects: false })).toMatchObject({ outcome: 'released' });
  await here.say(stone.id, { name: 'Edited again' }, at(10, 3));
  await here.store.db.deleteFrom('owner_facts').where('version', '=', 1).execute();
  expect(await here.night(at(11))).toMatchObject({ outcome: 'released' });
  expect(await named(here, 'Edited again')).toBeDefined();
  await here.close();
});

test('a record removed and restored between two builds leaves nothing to build', async () => {
  const here = await world(scratch(), FIRST, at(20));
  const stone = (await named(here, 'Stone 1'))!;
  await here.optOut(stone.id, at(20, 1));
  await here.restore(stone.id, at(20, 2));
  const { overlay, manifest } = here.release();
  expect(rebuildDue(overlay!, manifest.overlay ?? 0)).toBe(0);
  const before = await feedOf(here);
  expect(await here.night(at(21))).toMatchObject({ outcome: 'released', records: 6 });
  expect((await named(here, 'Stone 1'))!.updated_at).toBe(at(20, 2).replace('.000', ''));
  expect(await feedOf(here)).toEqual(before);
  expect(rebuildDue(here.release().overlay!, here.release().manifest.overlay ?? 0)).toBeNull();
  expect(await here.night(at(22))).toMatchObject({ outcome: 'unchanged' });
  await here.close();
});

test('the list of edits has a record that an edit emptied, also for files that are older than the release', async () => {
  const folder = scratch();
  const first = await world(folder, FIRST, at(20));
  const emptied = (await named(first, 'Stone 5'))!;
  await first.say(emptied.id, { name: 'Of its owner' }, at(20, 1));
  await first.close();
  // The source withdraws its values, so the owner's is the only one.
  const withdrawn = { code: 's5', as: { values: { code: null, name: null, status: null, mass: null } } };
  const rows = [...STONES.slice(0, 5), withdrawn] as unknown as ObservedRow[];
  const here = await world(folder, { ...FIRST, '01-02': rows }, at(21));
  expect((await here.records()).get(emptied.id)?.attributes).toEqual({ name: 'Of its owner' });
  await here.say(emptied.id, { name: null }, at(21, 1));
  expect((await here.records()).has(emptied.id)).toBe(false);
  const held = here.release().manifest.overlay!;
  for (const edits of [held, held - 1])
    expect(await getEdits(here.release(), { removals: held, edits })).toMatchObject({ removed: [emptied.id] });
  await here.close();
});

/** Closes a world whose newest release has a record again that its store, of an older backup, has as removed. */
async function backUpAndRestore(here: OverlayWorld, removed: string): Promise<void> {
  const { db } = here.store;
  const backup = await db.selectFrom('overlays').selectAll().executeTakeFirstOrThrow();
  await here.restore(removed, at(20, 4));
  await here.night(at(21));
  await db.updateTable('overlays').set(backup).execute();
  await db
    .updateTable('opt_outs')
    .set({ restored_at: null, restored_version: null })
    .where('entity_id', '=', removed)
    .execute();
  await db.deleteFrom('feed').where('version', '>', backup.version).execute();
  await here.close();
}

test('the list of edits has the removals of a store from a backup that is older than the release', async () => {
  const folder = scratch();
  const here = await world(folder, FIRST, at(20));
  const stone = (await named(here, 'Stone 1'))!;
  await here.optOut(stone.id, at(20, 1));
  await backUpAndRestore(here, stone.id);
  const later = await world(folder, FIRST, null);
  expect(later.release().overlay!.version).toBeLessThan(later.release().manifest.overlay!);
  expect((await later.records()).has(stone.id)).toBe(false);
  expect(await getEdits(later.release())).toMatchObject({ removed: [stone.id], restored: [], records: [] });
  await later.close();
});

test('the removals of a store from an older backup survive the first edit, and a release without them is due', async () => {
  const folder = scratch();
  const here = await world(folder, FIRST, at(20));
  const [stone, restored, other] = await Promise.all(
    ['Stone 1', 'Stone 2', 'Stone 3'].map((name) => named(here, name)),
  );
  await here.optOut(restored!.id, at(20, 1));
  await here.restore(restored!.id, at(20, 2));
  await here.optOut(stone!.id, at(20, 3));
  await backUpAndRestore(here, stone!.id);
  const later = await world(folder, FIRST, null);
  await later.say(other!.id, { name: 'Edited' }, at(21, 1));
  const { overlay, manifest } = later.release();
  expect(overlay!.version).toBe(manifest.overlay! + 1);
  expect((await later.records()).has(stone!.id)).toBe(false);
  expect((await later.records()).has(restored!.id)).toBe(true);
  expect(await getEdits(later.release())).toMatchObject({ removed: [stone!.id], restored: [] });
  expect(rebuildDue(overlay!, manifest.overlay!)).toBe(0);
  expect(await later.night(at(22))).toMatchObject({ outcome: 'released', records: 5 });
  expect(await named(later, 'Edited')).toBeDefined();
  await later.close();
});
