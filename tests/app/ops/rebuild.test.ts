// Decisions persist over a rebuild, a later night, and a restart: no item is opened twice, and decided values
// stay.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decideEntry, type ReviewContext, type ReviewEntry, reviewEntries } from '../../../data/review/review.ts';
import { reviewCase } from '../../../data/review/review-case.ts';
import { scratchOfAll, stonesPack } from '../../support/night-pack.ts';
import { type OverlayWorld, openWorld } from '../../support/overlay-world.ts';
import { randomPast } from '../../support/random-past.ts';
import { verifies } from '../../support/verifies.ts';

verifies('overlay.survives', 'consolidate.decision');

const folder = scratchOfAll();
const pack = stonesPack(folder, randomPast(2));
const at = (minute: number) => `2027-01-01T00:${String(minute).padStart(2, '0')}:00Z`;

let world: OverlayWorld;
let reviewing: ReviewContext;
const look = () => {
  const { store, register } = world;
  const editing = { store, refresh: register.refresh, current: register.current };
  return { editing, datasets: [pack.id], decideRequest: () => Promise.reject(new Error('there are no requests')) };
};
beforeAll(async () => {
  world = await openWorld(folder, pack, at(0));
  reviewing = look();
});
afterAll(() => world.close());

const list = (status: 'open' | null) =>
  reviewEntries(reviewing, { status, dataset: null, limit: 1000, offset: 0 }).then(({ items }) => items);
const reviewer = (minute: number) => ({ who: 'operator 0123abcd', now: Date.parse(at(minute)), request_id: 'r' });
const said = async ({ entity_id, attribute }: ReviewEntry) =>
  (await world.records()).get(entity_id)?.attributes[attribute ?? ''];

test('the announced effect happens, and persists after a rebuild and a restart', async () => {
  const open = await list('open');
  expect(open.length).toBeGreaterThan(3);
  const decided: { entry: ReviewEntry; value: unknown }[] = [];
  for (const [i, first] of open.slice(0, 4).entries()) {
    // A decision may close other items about the same attribute too.
    if (!(await list('open')).some(({ id }) => id === first.id)) continue;
    const verdict = i % 2 === 0 ? 'approved' : 'rejected';
    const foretold = (await reviewCase(reviewing, first.id, Date.parse(at(i + 1))))!.effect![verdict].value;
    const { state } = await decideEntry(reviewing, first.id, verdict, reviewer(i + 1));
    expect(state).toBe('decided');
    expect(await said(first)).toEqual(foretold);
    decided.push({ entry: first, value: foretold });
  }
  const left = await list('open');
  const all = await list(null);
  const check = async () => {
    expect((await list('open')).map(({ id }) => id)).toEqual(left.map(({ id }) => id));
    expect((await list(null)).map(({ id, status }) => [id, status])).toEqual(all.map(({ id, status }) => [id, status]));
    for (const { entry, value } of decided) {
      expect(await said(entry)).toEqual(value);
      expect((await decideEntry(reviewing, entry.id, 'approved', reviewer(30))).state).toBe('already');
    }
  };
  expect((await world.night(at(20), { collects: false })).outcome).toBe('released');
  await check();
  await world.close();
  world = await openWorld(folder, pack, null);
  reviewing = look();
  await check();
});
