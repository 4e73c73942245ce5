// Typed questions about a record that was removed, or a value that was replaced, answer as on a register in which it never
// existed: every operation with conditions, OGC and rows of pages, over REST and MCP, with and without the packed index.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { ValueTally } from '../../../build/release/tally.ts';
import { INDEX_FOLDER, RELEASE_FILES } from '../../../data/model/layout.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { loadPack } from '../../../packs/define/load.ts';
import type { Attribute, Pack, Value } from '../../../packs/define/model.ts';
import { ADMIN, NOW, type TestApp, testApp } from '../../support/app.ts';
import { overMcp } from '../../support/call-channels.ts';
import { draws } from '../../support/draws.ts';
import type { SearchQuery } from '../../support/evaluate.ts';
import { type Listener, startListener } from '../../support/listening.ts';
import { connectMcp, type McpClient } from '../../support/mcp-clients.ts';
import { editAsOwner, optOutRecord } from '../../support/overlay-world.ts';
import { randomFilter } from '../../support/random-filters.ts';
import { randomHistory } from '../../support/random-history.ts';
import {
  randomChangelog,
  randomFacets,
  randomGroups,
  randomNearest,
  randomSearch,
  randomSeveralFacets,
  randomSimilar,
  randomStats,
  randomTimeseries,
} from '../../support/random-queries.ts';
import { pickOne, type Random, random, randomRecords } from '../../support/random-records.ts';
import { writeRelease } from '../../support/write-release.ts';

const PACKS = await Promise.all(['tools', 'harbours'].map((id) => loadPack(`tests/packs/${id}`)));
const [BEFORE, FUTURE] = ['2026-11-20T11:00:00Z', '2027-03-01'];

/** Values at which a condition fails, is true or takes long, if it is evaluated on them. */
function hostile({ type, currency, values }: Attribute, next: Random): Value {
  const long = `${'ab'.repeat(2000)}unheard`;
  switch (type) {
    case 'integer':
      return Number.MAX_SAFE_INTEGER;
    case 'number':
      return pickOne(next, [1.7e308, -1.7e308, 5e-324]);
    case 'price':
      return { min: 1e-300, max: 1.7e308, currency: currency ?? 'EUR' };
    case 'date':
      return pickOne(next, ['0001-01-01', '9999-12-31']);
    case 'geo':
      return { lat: 89.123456, lng: -178.654321 };
    case 'boolean':
      return true;
    case 'strings':
      return ['unheard \\ of', long];
    case 'url':
      return 'https://unheard.example/%_\\';
    case 'enum':
      return values?.at(-1) ?? 'unheard';
    default:
      return pickOne(next, ["unheard % _ \\ ' of", long]);
  }
}

/** A record with all attributes, of which `keeps` are as they were. */
function withValues(
  pack: Pack,
  record: StoredRecord,
  value: (attribute: Attribute) => Value,
  keeps: readonly string[] = [],
) {
  const { attributes: before, provenance: stated } = record;
  const values = pack.attributes.map((attribute): [string, Value] => {
    const { name, example } = attribute;
    return [name, keeps.includes(name) ? (before[name] ?? (example as Value)) : value(attribute)];
  });
  const provenance = Object.fromEntries(values.map(([name]) => [name, Object.values(stated)[0]!]));
  return { ...record, attributes: Object.fromEntries(values), provenance };
}

interface Served {
  app: TestApp;
  releases: Map<string, string>;
  http: Listener;
  clients: McpClient[];
}

const opened: Served[] = [];
afterAll(async () => {
  for (const { app, http, clients } of opened) {
    for (const client of clients) await client.close();
    await http.stop();
    expect(app.faults).toEqual([]);
    await app.close();
  }
});

/** Serves the records of each dataset, with the history of those that all registers have. */
async function serve(index: boolean, recordsOf: (pack: Pack) => StoredRecord[]): Promise<Served> {
  const app = await testApp({ index, sql_memory: null, calls: { rows: 100_000 } });
  const releases = new Map<string, string>();
  for (const pack of PACKS) {
    const records = recordsOf(pack).sort((a, b) => b.quality_score - a.quality_score || (a.id < b.id ? -1 : 1));
    const ids = new Set(records.map(({ id }) => id));
    const history = randomHistory(pack, stored(pack), 7, NOW.getTime()).filter(({ entity }) => ids.has(entity));
    const { release, folder, manifest } = await writeRelease(app.dataDir, pack, records, true, history);
    const tally = new ValueTally();
    let facts = 0;
    for (const { attributes, provenance } of records)
      for (const attribute of pack.attributes.filter(({ name }) => attributes[name] !== undefined)) {
        const { observed_at } = provenance[attribute.name]!;
        tally.add(attribute, { value: attributes[attribute.name]!, observed_at: Date.parse(observed_at) } as never);
        facts += 1;
      }
    const counted = { ...manifest, ...tally.manifestCounts(pack), facts };
    writeFileSync(join(folder, RELEASE_FILES.manifest), JSON.stringify(counted));
    if (!index) rmSync(join(folder, INDEX_FOLDER), { recursive: true });
    releases.set(pack.id, release);
  }
  await app.register.refresh();
  const http = await startListener(app);
  const clients = [
    await connectMcp('2025-11-25', `${http.base}/mcp`, { Authorization: `Bearer ${ADMIN}` }),
    await connectMcp('2025-11-25', `${http.base}/mcp`),
  ];
  opened.push({ app, releases, http, clients });
  return opened.at(-1)!;
}

const editing = ({ app }: Served) => ({
  store: app.state,
  refresh: () => app.register.refresh(),
  current: (id: string) => app.register.current(id),
});

interface Question {
  path: string;
  query: SearchQuery;
  /** Of the operation, for a call over MCP. */
  tool?: string;
  more?: Record<string, string>;
}

/** One question of any kind; conditions are about `records`. `isPast`: also about earlier states. */
function question(
  next: Random,
  pack: Pack,
  records: StoredRecord[],
  { other, isPast }: { other: StoredRecord; isPast: boolean },
): Question {
  const as_of = isPast ? pickOne(next, ['2026-11-02', '2026-11-10T12:00:00Z', '2026-11-19', FUTURE]) : FUTURE;
  const past = (query: SearchQuery) => {
    if (next() > 0.2 || query['updated_since'] || query['provenance_status']) return query;
    return { ...query, as_of };
  };
  const filter = () => randomFilter(next, pack, records);
  const v1 = `/v1/${pack.id}`;
  const more = { dataset: pack.id };
  const series = () => {
    return { path: `${v1}/timeseries`, query: randomTimeseries(next, pack, records), tool: 'dataset_timeseries', more };
  };
  const changelog = () => {
    return { path: `${v1}/changelog`, query: randomChangelog(next, pack, records), tool: 'dataset_changelog', more };
  };
  return pickOne<() => Question>(next, [
    () => ({ path: `${v1}/entities`, query: past(randomSearch(next, pack, records)), tool: 'entity_search', more }),
    () => ({ path: `${v1}/entities`, query: past({ ...filter(), total: 'true' }), tool: 'entity_search', more }),
    () => ({ path: `${v1}/entities`, query: past(randomGroups(next, pack, records)), tool: 'entity_search', more }),
    () => ({ path: `${v1}/entities`, query: randomNearest(next, pack, records), tool: 'entity_search', more }),
    () => ({
      path: `${v1}/entities`,
      query: { ...randomSearch(next, pack, records), format: pickOne(next, ['csv', 'ndjson', 'geojson', 'md']) },
    }),
    () => ({ path: `${v1}/facets`, query: past(randomFacets(next, pack, records)), tool: 'dataset_facets', more }),
    () => ({ path: `${v1}/facets`, query: past(randomSeveralFacets(next, pack, records)) }),
    () => ({ path: `${v1}/stats`, query: past(randomStats(next, pack, records)), tool: 'dataset_stats', more }),
    () => ({
      path: `${v1}/entities/${other.slug}/similar`,
      query: randomSimilar(next, pack, records),
      tool: 'entity_similar',
      more: { ...more, entity_id: other.slug },
    }),
    () => ({ path: `${v1}/disputes`, query: { q: pickOne(next, records).name.slice(0, 6) } }),
    () => ({
      path: `/ogc/collections/${pack.id}/items`,
      query: { ...filter(), ...(next() < 0.3 ? { bbox: '-180,80,-170,90' } : {}) },
    }),
    () => ({
      path: `/datasets/${pack.id}/rows/${pickOne(next, ['csv', 'json', 'geojson'])}`,
      query: { q: pickOne(next, records).name.slice(0, 7) },
    }),
    () => ({ path: `/datasets/${pack.id}/points.json`, query: { box: pickOne(next, ['-180,89,-170,90', '']) } }),
    () => ({ path: '/v1/search', query: { q: pickOne(next, records).name.slice(0, 5 + Math.floor(next() * 8)) } }),
    ...(isPast ? [series, changelog] : []),
  ])();
}

/** Questions without conditions, and those that name the record. */
function fixedQuestions({ id: dataset }: Pack, { id, slug, name }: StoredRecord, isPast: boolean): Question[] {
  const words = encodeURIComponent(name);
  const paths = [
    ...['schema', 'profile', 'guide', 'examples', 'quality', 'review', 'entities?sort=-quality'],
    ...[`entities/${id}`, `entities/${slug}`, `entities/${slug}/similar`, `entities/batch?ids=${id},${slug}`],
    ...[`entities/compare?ids=${id},record-3`, `entities?near=${slug},50`, `entities?ids=${id}`, `entities?q=${words}`],
    ...['entities?q=zyzzyv', 'entities?q=zyzyva&total=true', 'entities?q=unheardzyzzyva', 'entities?q=unherd'],
  ];
  const past = [
    ...[
      `entities/${id}/history`,
      `entities/${id}/prices`,
      'changelog?days=365&by_day=true',
      'changes?since=2026-01-01',
    ],
    ...[`changelog?entity=${slug}&days=365`, 'changes?since=2026-01-01T00:00:00Z', 'changelog?type=all&days=365'],
  ];
  const ogc = `/ogc/collections/${dataset}`;
  const others = [`${ogc}/queryables`, ogc, '/ogc/collections', `${ogc}/items/${id}`];
  const all = [...paths, ...(isPast ? past : [])].map((path) => `/v1/${dataset}/${path}`);
  return [...all, ...others].map((path) => ({ path, query: {} }));
}

/** A parameter as agents write it. */
function toolArgument(name: string, value: string | string[]): unknown {
  if (name === 'filter') return value[0] === '{' ? JSON.parse(String(value)) : value;
  if (name === 'total') return value === 'true';
  return /^(limit|group_limit|days|buckets|having_min_count|min_quality)$/.test(name) ? Number(value) : value;
}

/** An answer of every channel, without its release, times, ids of requests and cursors. */
async function answers({ app, releases, clients }: Served, { path, query, tool, more }: Question, admin: boolean) {
  const separator = path.includes('?') ? '&' : '?';
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) parameters.append(name, one);
  const address = `${path}${parameters.size > 0 ? `${separator}${parameters}` : ''}`;
  const rest = await app.ask(address, { admin });
  const { headers } = rest;
  const bodies = [`${rest.status} ${await rest.text()} ${headers.get('x-charge-eur')} ${headers.get('x-truncated')}`];
  const operation = OPERATIONS.find(({ name }) => name === tool);
  if (operation) {
    const { 'filter-lang': _, ...others } = query;
    const given = Object.entries({ ...others, ...more }).map(([name, value]) => [name, toolArgument(name, value)]);
    bodies.push(
      JSON.stringify(
        await overMcp({ operation, given: Object.fromEntries(given), about: '' }, clients[admin ? 0 : 1]!),
      ),
    );
  }
  return bodies.map((body) => {
    let text = body;
    for (const [dataset, release] of releases) text = text.replaceAll(release, `release of ${dataset}`);
    return (
      text
        .replace(/"(request_id|next_cursor|timeStamp|expires_at|recorded_at|next_since)":"[^"]*"/g, '"$1":""')
        .replace(/cursor=[\w.%-]+/g, 'cursor=')
        // The feed names a removed record, as clients that have it must drop it; its values are in no change.
        .replace(/,?\{[^{}]*"type":"removed"[^{}]*\}/g, '')
    );
  });
}

/** Times as a release writes them, which the ages of a manifest name. */
function withWholeSeconds(record: StoredRecord): StoredRecord {
  const provenance = Object.entries(record.provenance).map(([name, value]) => {
    return [name, { ...value, observed_at: value.observed_at.replace('.000Z', 'Z') }];
  });
  return { ...record, provenance: Object.fromEntries(provenance) };
}

/** The records of a dataset that no test changes, and the one that tests change. */
const base = new Map(PACKS.map((pack) => [pack.id, randomRecords(pack, 60, 31).map(withWholeSeconds)]));
const stored = ({ id }: Pack) => base.get(id)!;
const CHANGED = 7;
const others = (pack: Pack) => stored(pack).filter((_, i) => i !== CHANGED);

/** Compares the answers of two registers to questions that are often about a record. */
async function compare([one, another]: [Served, Served], subjectOf: (pack: Pack) => StoredRecord, isPast: boolean) {
  const different: string[] = [];
  let found = 0;
  const next = random(97);
  for (const pack of PACKS) {
    const subject = subjectOf(pack);
    const about = { other: others(pack)[3]!, isPast };
    const random = Array.from({ length: draws(240) }, () =>
      question(next, pack, next() < 0.7 ? [subject] : [subject, ...others(pack)], about),
    );
    for (const asked of [...fixedQuestions(pack, subject, isPast), ...random])
      for (const admin of [true, false]) {
        const [first, second] = await Promise.all([answers(one, asked, admin), answers(another, asked, admin)]);
        found += first.filter((text) => !/^(?!200)\d{3} |^\{"body":\{"error"/.test(text)).length;
        for (const [i, text] of first.entries()) {
          const at = [...text].findIndex((letter, place) => letter !== second[i]![place]);
          const part = (body: string) => body.slice(Math.max(0, at - 60), at + 100);
          if (text !== second[i])
            different.push(`${asked.path} ${JSON.stringify(asked.query)}\n  ${part(text)}\n  ${part(second[i]!)}`);
        }
      }
  }

  return { found, different };
}

describe.each([
  ['the packed index', true],
  ['DuckDB', false],
] as const)('with %s', (_name, index) => {
  test('a removed record answers as an id that never existed', { timeout: 600_000 }, async () => {
    const next = random(3);
    const subjects = new Map(
      PACKS.map((pack) => {
        const names = { name: 'Unheard Zyzzyva', slug: 'unheard-zyzzyva', quality_score: 0.975 };
        const values = withValues(pack, stored(pack)[CHANGED]!, (attribute) => hostile(attribute, next));
        return [pack.id, { ...values, ...names }];
      }),
    );
    const subjectOf = ({ id }: Pack) => subjects.get(id)!;
    const removed = await serve(index, (pack) => [subjectOf(pack), ...others(pack)]);
    const registers: [Served, Served] = [removed, await serve(index, others)];
    // Otherwise the questions would prove nothing.
    expect((await compare(registers, subjectOf, true)).different.length).toBeGreaterThan(80);
    for (const pack of PACKS) await optOutRecord(editing(removed), pack.id, subjectOf(pack), BEFORE);
    const { found, different } = await compare(registers, subjectOf, true);
    expect(different.join('\n')).toBe('');
    expect(found).toBeGreaterThan(100);
  });

  test('a value that its owner replaced answers as one that it never had', { timeout: 600_000 }, async () => {
    const next = random(5);
    const identity = (pack: Pack) => [...pack.identity.attributes, 'name'];
    const subjects = new Map(
      PACKS.map((pack) => {
        const values = (attribute: Attribute) => hostile(attribute, next);
        return [pack.id, withValues(pack, stored(pack)[CHANGED]!, values, identity(pack))];
      }),
    );
    const subjectOf = ({ id }: Pack) => subjects.get(id)!;
    const ordinary = ({ name, example }: Attribute, records: StoredRecord[]) =>
      records.find(({ attributes }) => attributes[name] !== undefined)?.attributes[name] ?? (example as Value);
    const before = (pack: Pack) =>
      withValues(pack, stored(pack)[CHANGED]!, (attribute) => ordinary(attribute, others(pack)), identity(pack));
    const registers: [Served, Served] = [
      await serve(index, (pack) => [subjectOf(pack), ...others(pack)]),
      await serve(index, (pack) => [before(pack), ...others(pack)]),
    ];
    expect((await compare(registers, subjectOf, false)).different.length).toBeGreaterThan(40);
    for (const pack of PACKS) {
      const names = pack.attributes.filter(({ name }) => !identity(pack).includes(name));
      const said = names.map((attribute) => [attribute.name, ordinary(attribute, others(pack).toReversed())]);
      for (const served of registers)
        await editAsOwner(editing(served), pack.id, subjectOf(pack).id, Object.fromEntries(said), BEFORE);
    }
    const { found, different } = await compare(registers, subjectOf, false);
    expect(different.join('\n')).toBe('');
    expect(found).toBeGreaterThan(100);
  });
});
