// Held and contested values from the readings to the answers: what is published, how it is marked, and who
// may filter by it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { NO_RELATED } from '../../../api/operations/common/related.ts';
import { recordHtml } from '../../../api/pages/record-html.ts';
import { arrow } from '../../../api/render/arrow.ts';
import { recordTable } from '../../../api/render/record-table.ts';
import { recordMarkdown } from '../../../api/render/record-template.ts';
import { STATUS_LEGEND, STATUS_MARK } from '../../../api/render/status-mark.ts';
import { datasetNight } from '../../../build/night/dataset.ts';
import { Duck, quotedText } from '../../../data/duckdb/duck.ts';
import { facetsParameters, searchParameters } from '../../../data/input/search-parameters.ts';
import { questionOf } from '../../../data/input/selection.ts';
import { currentRelease } from '../../../data/model/manifest.ts';
import type { PublicRecord, StoredRecord } from '../../../data/model/record.ts';
import type { Visibility } from '../../../data/plan/plan.ts';
import { getFacets } from '../../../data/queries/facets.ts';
import { presentRecord } from '../../../data/queries/present.ts';
import { openRelease, type Release } from '../../../data/releases/release.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { type Issues, type ObservedRow, scratch, still, stonesPack } from '../../support/night-pack.ts';

const stone = (code: string, mass: number): ObservedRow => ({ code, name: `Stone ${code}`, status: 'here', mass });
const usual = ['a', 'b', 'c', 'd', 'e', 'f'].map((code) => stone(code, 10));
/** In February a jumps, b is contested by tin, and g is new and far from its group. */
const later = [stone('a', 500), ...usual.slice(1), stone('g', 900)];
const gold = { '01-01': usual, '02-01': later };
const tin = { '02-01': [stone('b', 20)] };

function pack(issues: Record<string, Issues>, open = false): Pack {
  const made = stonesPack(scratch(), issues);
  const mass = made.attributes.find(({ name }) => name === 'mass')!;
  mass.group_jump = true;
  mass.public = open;
  return made;
}

/** Reported lines of the last night. */
let lastNight: string[] = [];

async function released(made: Pack, data: string): Promise<Release> {
  const night = await datasetNight(made, data, still(), { accept: true });
  expect(night.outcome).toBe('released');
  lastNight = night.messages;
  return openRelease(data, made, (await currentRelease(data, 'stones'))!);
}

const presenting = (visibility: Visibility) => ({
  ...{ now: new Date('2026-11-20T00:00:00Z'), base_url: 'https://register.example', visibility },
});

function recordsOf({ folder, pack: of }: Release): Record<string, PublicRecord> {
  const lines = readFileSync(join(folder, 'records.jsonl'), 'utf8').trimEnd().split('\n');
  const records = lines.map((line) => presentRecord(JSON.parse(line) as StoredRecord, of, presenting('full')));
  return Object.fromEntries(records.map((record) => [String(record.attributes['code']), record]));
}

async function found({ engine, pack: of }: Release, status: string, visibility: Visibility): Promise<number> {
  const input = searchParameters.parse({ provenance_status: status }, of);
  const plan = { where: questionOf(input, visibility), sort: input.sort, after: null, limit: 50, total: true };
  const { ordinals, total } = await engine.search(plan);
  expect(ordinals.length).toBe(total);
  return ordinals.length;
}

test('a jump and an outlier are held, a difference is contested, and a second reading publishes what was held', async () => {
  const data = scratch();
  const first = await released(pack({ gold, tin }), data);
  try {
    const { a, b, c, g } = recordsOf(first);
    expect([a!.attributes['mass'], a!.provenance['mass']!.status]).toEqual([10, 'held']);
    expect([b!.attributes['mass'], b!.provenance['mass']!.status]).toEqual([10, 'contested']);
    expect(c!.provenance['mass']).not.toHaveProperty('status');
    expect(g!.attributes).not.toHaveProperty('mass');
    expect(g!.provenance).not.toHaveProperty('mass');
    const items = await first.engine.review({ entity: null, id: null, limit: 9 });
    const told = items.map(({ kind, facts, group_median }) => [kind, ...facts.map(({ value }) => value), group_median]);
    expect(told.sort()).toEqual([
      ['conflict', 10, 20, undefined],
      ['jump', 10, 500, undefined],
      ['outlier', 900, 10],
    ]);
    const facts = await first.engine.facts({ entity: g!.id, attribute: 'mass', since: null, limit: 9 });
    expect(facts).toMatchObject([{ value: '900', won: false, reason: 'held', group_median: 10 }]);
  } finally {
    await first.engine.close();
  }
  const second = await released(pack({ gold: { ...gold, '03-01': later }, tin }), data);
  try {
    const { a, g } = recordsOf(second);
    const [line] = lastNight;
    expect(line).toMatch(/^2 held values were confirmed by a later reading or another source: /);
    expect(line).toContain(`mass of ${g!.id} (900)`);
    expect([a!.attributes['mass'], g!.attributes['mass']]).toEqual([500, 900]);
    expect(a!.provenance['mass']).not.toHaveProperty('status');
    const open = await second.engine.review({ entity: null, id: null, limit: 9 });
    expect(open.map(({ kind }) => kind)).toEqual(['conflict']);
    const confirmed = await second.engine.review({ entity: null, id: null, confirmed: true, limit: 9 });
    expect(confirmed.map(({ kind, confirmed_at }) => [kind, confirmed_at]).sort()).toEqual([
      ['jump', '2026-03-01T00:00:00Z'],
      ['outlier', '2026-03-01T00:00:00Z'],
    ]);
    expect(await second.engine.openItems(a!.id)).toEqual([]);
  } finally {
    await second.engine.close();
  }
});

test('the first value of a record of a small group is not held', async () => {
  const release = await released(pack({ gold: { '01-01': [...usual.slice(1, 5), stone('g', 900)] } }), scratch());
  expect(recordsOf(release)['g']!.attributes['mass']).toBe(900);
  await release.engine.close();
});

test('provenance_status finds them; without a right to all attributes only by public ones', async () => {
  for (const open of [false, true]) {
    const release = await released(pack({ gold, tin }, open), scratch());
    try {
      expect(await found(release, 'held', 'full')).toBe(1);
      expect(await found(release, 'contested,held', 'full')).toBe(2);
      expect(await found(release, 'held,contested', 'public')).toBe(open ? 2 : 0);
      const input = facetsParameters.parse({ by: 'status', provenance_status: 'held' }, release.pack);
      const counted = await getFacets(release, input, { admin: false });
      expect(counted.values).toEqual(open ? [{ value: 'here', count: 1 }] : []);
    } finally {
      await release.engine.close();
    }
  }
  const refused = () => searchParameters.parse({ provenance_status: 'settled' }, pack({ gold }));
  expect(refused).toThrowError(/provenance_status: must be one of held, contested/);
});

test('every format with provenance has it; Markdown by a mark with a legend', async () => {
  const release = await released(pack({ gold, tin }, true), scratch());
  const { a, b, c } = recordsOf(release) as { a: PublicRecord; b: PublicRecord; c: PublicRecord };
  const of = release.pack;
  const table = recordTable([a, b, c], of);
  expect(table.match(new RegExp(`10 ${STATUS_MARK}`, 'g'))).toHaveLength(2);
  expect(table).toContain(`\n\n${STATUS_LEGEND}\n\nSource`);
  expect(recordTable([c], of)).not.toContain(STATUS_MARK);
  const template = '{% for row in rows %}{{ row.attribute }}: {{ row.value }} {% endfor %}';
  expect(recordMarkdown(a, { ...of, template })).toMatch(
    new RegExp(`mass: 10 kg ${STATUS_MARK}[\\s\\S]*${STATUS_LEGEND}`),
  );
  expect(recordMarkdown(c, { ...of, template })).not.toContain(STATUS_MARK);
  const page = (record: PublicRecord) =>
    recordHtml({
      record,
      pack: of,
      base_url: 'https://register.example',
      related: NO_RELATED,
      paid: false,
      locked: 0,
    });
  expect(page(a)).toContain('held: a newer value waits for confirmation');
  expect(page(b)).toContain('contested: another source says otherwise');
  expect(page(c)).not.toContain('waits for confirmation');
  const written = { pack: of, attributes: of.attributes, items: [a, c], release: 'x', options: {} };
  const rows = tableFromIPC(await arrow(written)).toArray();
  expect(rows.map((row) => row['provenance']['mass']['status'])).toEqual(['held', null]);
  const duck = await Duck.open(join(scratch(), 'spill'));
  const parquet = `read_parquet(${quotedText(join(release.folder, 'public.parquet'))})`;
  const told = await duck.rows(
    `SELECT code, provenance.mass.status FROM ${parquet} WHERE code IN ('a', 'b', 'c') ORDER BY code`,
  );
  duck.close();
  expect(told).toEqual([
    ['a', 'held'],
    ['b', 'contested'],
    ['c', null],
  ]);
  await release.engine.close();
});
