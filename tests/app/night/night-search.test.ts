// Names in search, provenance and changelog: unpublished entries, slugs, spellings, newer versions.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { changelogParameters } from '../../../data/input/history-parameters.ts';
import { INDEX_FOLDER, paths } from '../../../data/model/layout.ts';
import type { Visibility } from '../../../data/plan/plan.ts';
import { getChangelog } from '../../../data/queries/changelog.ts';
import { getFacts } from '../../../data/queries/history.ts';
import type { Release } from '../../../data/releases/release.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { type Issues, scratch, stonesPack } from '../../support/night-pack.ts';
import { type OverlayWorld, openWorld } from '../../support/overlay-world.ts';

const reading = (version: string, name: string, tags: string[]) => [
  {
    code: 'a',
    name,
    tags,
    mass: 5,
    as: { source_url: `https://quarry.example/pkg@${version}/a.json`, evidence: `row a of ${version}` },
  },
  { code: 'b7' },
];

const TAGS = ['one', 'two', 'Гранит', 'three'];

const ISSUES: Issues = {
  '03-01': reading('1.3.1', 'Blue Stone', TAGS),
  '04-01': reading('1.4.1', 'BLUE  stone', TAGS),
  '05-01': reading('1.5.1', 'Bluestone', TAGS),
};

function pack(folder: string, until: string): Pack {
  const issues = Object.fromEntries(Object.entries(ISSUES).filter(([day]) => day <= until));
  const made = stonesPack(folder, { quarry: issues });
  const tags = made.attributes.find(({ name }) => name === 'tags')!;
  tags.published_entries = 2;
  return made;
}

/** Slugs found by words, best first. */
async function found({ engine }: Release, words: string[], scope: Visibility): Promise<string[]> {
  const sort = { key: 'quality', descending: true };
  const { ordinals } = await engine.search({
    where: [{ kind: 'words', words, scope }],
    sort,
    after: null,
    limit: 10,
    total: false,
  });
  return (await engine.bodies(ordinals)).map(({ body }) => (JSON.parse(body) as { slug: string }).slug);
}

async function expectFound(release: Release): Promise<void> {
  // Published or not, with a key; the attribute is not public.
  for (const word of ['two', 'three', 'гранит']) {
    expect(await found(release, [word], 'full'), word).toEqual(['blue-stone']);
    expect(await found(release, [word], 'public'), word).toEqual([]);
  }
  // Its name is now `Bluestone`; the slug still has the words of the first name.
  expect(await found(release, ['blue', 'stone'], 'public')).toEqual(['blue-stone']);
  // It has no name and is shown by its code, which is not searchable.
  expect(await found(release, ['b7'], 'public')).toEqual(['b7']);
}

const only = (world: OverlayWorld) =>
  world.records().then((records) => [...records.values()].find(({ slug }) => slug !== 'b7')!);

describe.each(['packed index', 'DuckDB'])('by the %s', (engine) => {
  test('a record is found by unpublished entries, its slug and the name it shows, also under an overlay', async () => {
    const folder = scratch();
    const own = pack(join(folder, 'pack'), '05-01');
    const first = await openWorld(join(folder, 'data'), own, '2026-06-01T00:00:00Z');
    const release = first.release().manifest.release;
    await first.close();
    const place = paths.release(join(folder, 'data'), 'stones', release);
    if (engine === 'DuckDB') rmSync(join(place, INDEX_FOLDER), { recursive: true });
    const world = await openWorld(join(folder, 'data'), own, null);
    expect((await only(world)).attributes['tags']).toEqual(['one', 'two']);
    await expectFound(world.release());
    const { id } = await only(world);
    await world.say(id, { mass: 6 }, '2026-06-02T00:00:00Z');
    expect((await only(world)).attributes).toMatchObject({ mass: 6, tags: ['one', 'two'] });
    await expectFound(world.release());
    await world.close();
  });
});

test('a value that a newer version confirmed links that version; facts keep the first, with all entries', async () => {
  const folder = scratch();
  const world = await openWorld(join(folder, 'data'), pack(join(folder, 'pack'), '05-01'), '2026-06-01T00:00:00Z');
  const record = await only(world);
  expect(record.provenance['tags']).toMatchObject({
    source_url: 'https://quarry.example/pkg@1.5.1/a.json',
    evidence: 'row a of 1.5.1',
    observed_at: '2026-05-01T00:00:00Z',
  });
  const facts = await getFacts(world.release(), record.id, { attribute: 'tags', since: null }, {});
  expect(facts).toMatchObject([
    {
      value: TAGS,
      source_url: 'https://quarry.example/pkg@1.3.1/a.json',
      evidence: 'row a of 1.3.1',
      observed_at: '2026-03-01T00:00:00Z',
      confirmed_at: '2026-05-01T00:00:00Z',
    },
  ]);
  // A value that is settled under an overlay links the version too.
  await world.say(record.id, { mass: 6 }, '2026-06-02T00:00:00Z');
  expect((await only(world)).provenance).toMatchObject({ tags: record.provenance['tags'] });
  await world.close();
});

test('another letter case or spacing is published without a change entry', async () => {
  const folder = scratch();
  const world = await openWorld(join(folder, 'data'), pack(join(folder, 'pack'), '03-01'), '2026-03-02T00:00:00Z');
  const before = await only(world);
  expect(before.attributes['name']).toBe('Blue Stone');
  const later = pack(join(folder, 'pack'), '05-01');
  await world.close();
  const next = await openWorld(join(folder, 'data'), later, '2026-06-01T00:00:00Z');
  const after = await only(next);
  expect([after.name, after.attributes['name'], after.updated_at]).toEqual([
    'Bluestone',
    'Bluestone',
    before.updated_at,
  ]);
  const names = changelogParameters.parse({ days: '365', attribute: 'name' }, next.release().pack);
  const { items } = await getChangelog(next.release(), names, new Date('2026-06-02T00:00:00Z'), {});
  expect(items).toMatchObject([
    { type: 'added', new_value: 'Bluestone', source_url: 'https://quarry.example/pkg@1.3.1/a.json' },
  ]);
  const feed = await next.release().engine.changes({ since: 0, limit: 100 });
  expect(feed.filter(({ attribute, type }) => attribute === 'name' && type === 'changed')).toEqual([]);
  await next.close();
});
