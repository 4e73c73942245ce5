// The cost of hints for other requests, and that they never affect the page itself.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { searchParameters } from '../../../data/input/search-parameters.ts';
import type { Engine, SearchPlan } from '../../../data/plan/plan.ts';
import { search } from '../../../data/queries/search.ts';
import { openRelease } from '../../../data/releases/release.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { randomRecords } from '../../support/random-records.ts';
import { writeRelease } from '../../support/write-release.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'hints-'));
const pack = await loadPack(join(import.meta.dirname, '../../packs/tools'));
const written = await writeRelease(dataDir, pack, randomRecords(pack, 80, 21));
const release = await openRelease(dataDir, pack, written.release);
afterAll(async () => {
  await release.engine.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Conditions that each match records. */
const MET = [
  ...['name', 'maker', 'kind', 'status'].flatMap((name) => [`not_${name}=a1`, `not_${name}=a2`, `has_${name}=true`]),
  'has_mass=true',
  'min_mass=0',
  'max_mass=500',
  'has_cordless=true',
  'min_quality=0',
  'updated_since=2001-01-01',
];

/** The first page of a query with `before` called before each search; the page's own is number 0. */
async function asked(query: string, before: (number: number, plan: SearchPlan) => void = () => {}) {
  let searches = 0;
  const { engine } = release;
  const counting: Engine = {
    ...engine,
    search: (plan, options) => {
      before(searches++, plan);
      return engine.search(plan, options);
    },
  };
  const raw = Object.fromEntries(new URLSearchParams(query));
  const presenting = {
    now: new Date(0),
    base_url: 'https://register.example',
    visibility: 'full' as const,
    admin: false,
  };
  const page = await search({ ...release, engine: counting }, searchParameters.parse(raw, release.pack), presenting);
  return { hint: page.hint, found: page.list.ordinals, searches };
}

test('words are checked first, however many conditions there are', async () => {
  const { hint, searches } = await asked(`${MET.join('&')}&q=zzzzqq`);
  expect(hint).toBe('No record has a word that begins with "zzzzqq".');
  // And two for other words: the word itself, and its only split.
  expect(searches).toBe(1 + 6 + 2);
});

test('of many conditions only some are checked', async () => {
  const { hint, searches } = await asked(`${MET.join('&')}&min_mass=1&max_mass=0.5`);
  expect(hint).toMatch(/^No record meets all conditions; use fewer conditions, such as [a-z_]+=\S+ alone\.$/);
  expect(searches).toBe(1 + 2 * 6);
});

test('other requests are answered between the searches', async () => {
  let turn = 0;
  let over = false;
  const next = () => {
    turn++;
    if (!over) setImmediate(next);
  };
  setImmediate(next);
  const turns: number[] = [];
  await asked('has_name=true&has_kind=true&min_mass=1&max_mass=0.5', () => void turns.push(turn));
  over = true;
  expect(turns.length).toBeGreaterThan(5);
  expect(new Set(turns).size).toBe(turns.length);
});

test('after a search that takes the processor for long no further one is made', async () => {
  const busy = (number: number) => {
    const { user, system } = process.threadCpuUsage();
    for (let now = { user, system }; number > 0 && now.user + now.system - user - system < 70_000; )
      now = process.threadCpuUsage();
  };
  const { hint, searches } = await asked('q=zzzzqq&kind=nobody&maker=nobody', busy);
  expect(hint).toBe('No record has a word that begins with "zzzzqq".');
  expect(searches).toBe(2);
});

test('a failed hint does not affect its page', async () => {
  const failing = (number: number) => {
    if (number > 0) throw new Error('a query took too long');
  };
  expect(await asked('kind=nobody', failing)).toEqual({ hint: undefined, found: [], searches: 2 });
});

test('neither the requested value nor a missing one is recommended', async () => {
  const facets =
    (values: string[]): Engine['facets'] =>
    () =>
      Promise.resolve({ values: values.map((value) => ({ value, count: 1 })), matched: 1, missing: 0, withheld: 0 });
  const { engine } = release;
  const none: Engine['search'] = () => Promise.resolve({ ordinals: [], next: null, total: 0 });
  const hint = async (query: string, known: string[]) => {
    const raw = Object.fromEntries(new URLSearchParams(query));
    const presenting = {
      now: new Date(0),
      base_url: 'https://register.example',
      visibility: 'full' as const,
      admin: false,
    };
    const over = { ...release, engine: { ...engine, search: none, facets: facets(known) } };
    return (await search(over, searchParameters.parse(raw, release.pack), presenting)).hint;
  };
  expect(await hint('kind=other', ['saw', 'lamp'])).toBe(
    'No record has kind=other; known: saw, lamp; facets?by=kind lists them.',
  );
  expect(await hint('kind=other', [])).toBe('No record has kind=other; known: saw, drill, plane, gauge, lamp.');
  expect(await hint('kind=zz', [...'abcdefg'])).toBe(
    'No record has kind=zz; commonest: a, b, c, d, e, f; facets?by=kind lists them.',
  );
});

test('a country by another name is suggested alone, although other attributes contain that name', async () => {
  const tools = await loadPack(join(import.meta.dirname, '../../packs/tools'));
  const attributes = tools.attributes.map((each) =>
    each.name === 'maker' ? { ...each, vocabulary: 'country' as const } : each,
  );
  const pack = { ...tools, attributes };
  const records = randomRecords(pack, 6, 21);
  for (const [i, record] of records.entries())
    Object.assign(record.attributes, { maker: i % 2 ? 'US' : 'FR', model: 'USA' });
  const { release: id } = await writeRelease(dataDir, pack, records);
  const countries = await openRelease(dataDir, pack, id);
  const hearer = { now: new Date(), base_url: 'https://register.example', visibility: 'full' as const, admin: true };
  const { hint } = await search(countries, searchParameters.parse({ maker: 'USA' }, pack), hearer);
  expect(hint).toBe('No record has maker=usa; nearest: US; facets?by=maker lists them.');
  await countries.engine.close();
});
