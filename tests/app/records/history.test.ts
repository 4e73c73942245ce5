// Facts, prices, audits, changelog, change feed and time travel over the real app, on the nights of the
// fictional packs.
import { afterAll, describe, expect, test } from 'vitest';
import type { StoredRecord } from '../../../data/model/record.ts';
import { appOfAll, BASE, NOW, type TestApp } from '../../support/app.ts';
import { verifies } from '../../support/verifies.ts';

const app = await appOfAll({
  nights: true,
  known: ({ secret }) => (secret === 'payg' ? { kind: 'key', id: '1', plan: 'payg' } : null),
});
afterAll(() => expect(app.faults).toEqual([]));

type Body = Record<string, unknown>;
const admin = { admin: true };
const about = ['attribution', 'license'];
const members = (value: object) => Object.keys(value).sort();

async function body(path: string, init: Parameters<TestApp['ask']>[1] = admin): Promise<Body> {
  const answer = await app.json(path, init);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}
async function refused(path: string, init: Parameters<TestApp['ask']>[1] = admin): Promise<unknown[]> {
  const { status, body: found } = await app.json(path, init);
  return [status, found['error']];
}
const text = async (path: string, init: Parameters<TestApp['ask']>[1] = admin) => (await app.ask(path, init)).text();
const of = (dataset: string) => app.records[dataset] ?? [];
const named = (name: string): StoredRecord => of('tools').find((record) => record.name === name)!;

describe('facts', () => {
  test('have the verdict and reason of each', async () => {
    verifies('shape.facts', 'fact.history');
    const seen = new Set<string>();
    for (const { id, slug, attributes } of of('tools')) {
      const answer = await body(`/v1/tools/entities/${slug}/facts`);
      expect(members(answer)).toEqual(['entity_id', 'facts', ...about].sort());
      expect(answer['entity_id']).toBe(id);
      const facts = answer['facts'] as (Body & { attribute: string; won: boolean; reason: string })[];
      for (const fact of facts) {
        const { value: _, ...rest } = fact;
        expect(members(rest)).toEqual([
          ...['attribute', 'confidence', 'confirmed_at', 'evidence', 'observed_at'],
          ...['reason', 'source', 'source_url', 'won'],
        ]);
        expect(fact['source']).toEqual({ id: expect.stringMatching(/^(workbench|toolshed)$/), kind: 'collector' });
        seen.add(`${fact.won ? 'won' : 'lost'} ${fact.reason}`);
      }
      const winners = facts.filter(({ won }) => won).map(({ attribute, value }) => [attribute, value]);
      expect(Object.fromEntries(winners)).toEqual(attributes);
    }
    const expected = ['won only_source', 'won agreed', 'won more_trusted', 'won newer_reading', 'won earliest'];
    expected.push('lost superseded', 'lost less_trusted', 'lost older_reading', 'lost later', 'lost below_floor');
    expected.push('lost held', 'lost withdrawn');
    expect([...seen]).toEqual(expect.arrayContaining(expected));
  });

  test('of one attribute, and since a time', async () => {
    verifies('facts.attribute', 'facts.since');
    const { slug } = of('tools')[0]!;
    const every = (await body(`/v1/tools/entities/${slug}/facts`))['facts'] as Body[];
    const prices = await body(`/v1/tools/entities/${slug}/facts?attribute=price.list`);
    expect(prices['facts']).toEqual(every.filter(({ attribute }) => attribute === 'price.list'));
    const since = await body(`/v1/tools/entities/${slug}/facts?since=2026-06-01T02:00:00%2B02:00`);
    expect(since['facts']).toEqual(every.filter(({ observed_at }) => String(observed_at) >= '2026-06-01'));
  });

  test('explain each verdict in Markdown', async () => {
    const page = await text(`/v1/tools/entities/${named('Cordless drill 12').slug}/facts.md`);
    const { slug } = named('Cordless drill 12');
    expect(page).toContain(`# Facts of Cordless drill 12 (${slug}), newest first`);
    expect(page).toContain('|price.list (EUR/piece)|119|2026-03-01 08:00|2026-11-01 08:00|');
    expect(page).toContain('|published, agreed|');
    expect(page).toMatch(/superseded: its own source has a newer value/);
  });

  test('are refused when missing, invalid or unpaid', async () => {
    const path = `/v1/tools/entities/${of('tools')[0]!.slug}/facts`;
    expect(await refused(path, {})).toEqual([402, 'payment_required']);
    expect(await refused('/v1/tools/entities/nobody/facts')).toEqual([404, 'unknown_entity']);
    expect(await refused(`${path}?attribute=prise`)).toEqual([400, 'invalid_parameter']);
    expect(await refused(`${path}?sinse=2026-01-01`)).toEqual([400, 'unknown_filter']);
    for (const since of ['yesterday', '2026-02-30', '', '1700000000'])
      expect(await refused(`${path}?since=${since}`)).toEqual([422, 'validation_failed']);
  });

  test('have a tag for free revalidation', async () => {
    const path = `/v1/tools/entities/${of('tools')[0]!.slug}/facts`;
    const first = await app.ask(path, admin);
    await first.text();
    const tag = first.headers.get('etag') ?? '';
    expect((await app.ask(path, { ...admin, headers: { 'If-None-Match': tag } })).status).toBe(304);
  });
});

describe('prices', () => {
  test('are the price attributes with their provenance', async () => {
    verifies('shape.prices', 'prices.get', 'record.plain-price');
    for (const { id, slug, attributes, provenance } of of('tools')) {
      const answer = await body(`/v1/tools/entities/${slug}/prices`);
      expect(members(answer)).toEqual(['entity_id', 'prices', ...about].sort());
      expect(answer['entity_id']).toBe(id);
      const units: Record<string, string> = { 'price.list': 'EUR/piece', 'price.rental': 'EUR/day' };
      const expected = Object.keys(units)
        .filter((attribute) => attributes[attribute] !== undefined)
        .map((attribute) => {
          const { source: _, ...told } = provenance[attribute]!;
          return { attribute, value: attributes[attribute], currency: 'EUR', unit: units[attribute], ...told };
        });
      expect(answer['prices']).toEqual(expected);
    }
    expect(await text(`/v1/tools/entities/${named('Cordless drill 12').slug}/prices.md`)).toContain(
      '|price.list|119|EUR/piece|',
    );
  });

  test('of a dataset without any are an empty list, free for all', async () => {
    verifies('shape.prices-none');
    const { id, slug } = of('harbours')[0]!;
    const answer = await body(`/v1/harbours/entities/${slug}/prices`, { address: '192.0.2.77' });
    expect(answer).toMatchObject({ entity_id: id, prices: [] });
    expect(await text(`/v1/harbours/entities/${slug}/prices.md`, {})).toContain('has no prices');
    expect(await refused('/v1/harbours/entities/nobody/prices', {})).toEqual([404, 'unknown_entity']);
    expect(await refused(`/v1/tools/entities/${of('tools')[0]!.slug}/prices`, {})).toEqual([402, 'payment_required']);
  });

  test('of such a dataset are free with a key too', async () => {
    const key = { headers: { Authorization: 'Bearer payg' } };
    const { status, headers } = await app.json(`/v1/harbours/entities/${of('harbours')[0]!.slug}/prices`, key);
    expect([status, headers.get('x-charge-eur')]).toEqual([200, null]);
  });
});

describe('the audit', () => {
  verifies('audit.get');

  test('has a row or a note for every attribute of every record, and is the same for everyone', async () => {
    for (const { slug, name, attributes } of of('tools')) {
      const page = await text(`/v1/tools/entities/${slug}/audit.md`, {});
      expect(await text(`/v1/tools/entities/${slug}/audit`)).toBe(page);
      const visible = (attribute: string) =>
        new RegExp(`^\\|${attribute.replace('.', '\\.')}\\|(everyone|paid calls)\\|`, 'm');
      for (const attribute of Object.keys(attributes)) expect(page, `${name} ${attribute}`).toMatch(visible(attribute));
      expect(page).toMatch(/^# Audit of /);
      for (const missing of ['manual', 'runtime', 'tested_on'].filter((each) => attributes[each] === undefined))
        expect(page).toMatch(
          new RegExp(`^\\|${missing}\\|nobody\\|missing\\||Never observed[^\n]*\\b${missing}\\b`, 'm'),
        );
    }
  });

  test('never shows a paid value', async () => {
    verifies('leak.audit');
    for (const { slug, attributes, provenance } of of('tools')) {
      const page = (await text(`/v1/tools/entities/${slug}/audit.md`)).replaceAll('\\', '');
      for (const hidden of ['summary', 'tested_on']) {
        const value = attributes[hidden];
        if (typeof value === 'string' && value.length > 6) expect(page).not.toContain(value);
      }
      for (const { evidence } of Object.values(provenance))
        if (evidence.length > 6) expect(page).not.toContain(evidence);
      expect(page).not.toMatch(/\d EUR|EUR\//);
    }
  });

  test('reveals nothing about a paid attribute that depends on comparing its values', async () => {
    const pages = await Promise.all(of('tools').map(({ slug }) => text(`/v1/tools/entities/${slug}/audit.md`, {})));
    const rows = pages.join('\n').match(/^\|(runtime|summary|tested_on|domain|price\.rental)\|.*$/gm)!;
    expect(rows.length).toBeGreaterThan(20);
    expect(
      rows.filter((row) => /held|in review|agrees|differs|was not chosen:|rejected in review|too much/.test(row)),
    ).toEqual([]);
    for (const row of rows) expect(row).toMatch(/^(\|[^|]*){6}\|\|/);
  });

  test('explains why a value is missing, doubted or old', async () => {
    const pages = await Promise.all(of('tools').map(({ slug }) => text(`/v1/tools/entities/${slug}/audit.md`, {})));
    const all = pages.join('\n');
    for (const words of [
      'below the confidence floor of 0.3',
      'The Workbench Gazette withdrew it on',
      'The Workbench Gazette no longer lists the record',
      'held since',
      'in review since',
      'Toolshed Weekly differs (less trusted)',
      'Toolshed Weekly agrees',
      'Never observed, because no source has a value:',
      'the owner may set it',
      '|stale|',
      '|ageing|',
      '|fresh|',
    ])
      expect(all, words).toContain(words);
  });

  test('is Markdown only, free, and 404 for unknown records', async () => {
    const path = `/v1/tools/entities/${of('tools')[0]!.slug}/audit.md`;
    const answer = await app.ask(path);
    expect(answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    await answer.text();
    expect(await refused(`${path}?format=json`, {})).toEqual([422, 'validation_failed']);
    expect(await refused(`${path}?fields=name`, {})).toEqual([400, 'unknown_filter']);
    expect(await refused('/v1/tools/entities/nobody/audit.md', {})).toEqual([404, 'unknown_entity']);
  });
});

describe('the changelog', () => {
  test('is free, and shows values of public attributes only, to every caller', async () => {
    verifies('shape.changelog', 'changelog.public-values', 'changelog.get', 'events.pull');
    const answer = await body('/v1/tools/changelog?days=365&limit=500', {});
    expect(members(answer)).toEqual(['items', 'limit', 'offset', 'total', ...about].sort());
    const items = answer['items'] as (Body & { attribute: string; type: string })[];
    expect([answer['limit'], answer['offset'], answer['total']]).toEqual([500, 0, items.length]);
    const open = new Set(['name', 'maker', 'model', 'kind', 'status', 'first_seen', 'cordless', 'mass']);
    for (const each of ['materials', 'workshop', 'manual', 'price.list']) open.add(each);
    for (const { old_value, new_value, kind: _, change: __, change_percent: ___, ...rest } of items) {
      const fixed = ['attribute', 'entity_id', 'name', 'observed_at', 'slug', 'source_url', 'type'];
      expect(members(rest)).toEqual(fixed);
      if (!open.has(rest.attribute)) expect([old_value, new_value]).toEqual([undefined, undefined]);
      else if (rest.type === 'added') expect([old_value === undefined, new_value === undefined]).toEqual([true, false]);
      else expect(old_value).toBeDefined();
    }
    expect(items.some(({ attribute }) => attribute === 'runtime')).toBe(true);
    expect(await body('/v1/tools/changelog?days=365&limit=500')).toEqual(answer);
  });

  test('takes days, limit, offset, attribute, entity and type, within their bounds', async () => {
    verifies('changelog.days', 'changelog.limit', 'changelog.offset', 'changelog.attribute', 'changelog.entity');
    verifies('changelog.type', 'limit.changelog');
    const plain = await body('/v1/tools/changelog', {});
    expect([plain['limit'], plain['offset']]).toEqual([100, 0]);
    const items = plain['items'] as { observed_at: string }[];
    expect(items.every(({ observed_at }) => observed_at >= '2026-10-21T12')).toBe(true);
    expect(items.length).toBeGreaterThan(5);
    const next = await body('/v1/tools/changelog?limit=3&offset=2', {});
    expect(next['items']).toEqual(items.slice(2, 5));
    const { id, slug } = of('tools')[0]!;
    const own = (await body(`/v1/tools/changelog?days=365&entity=${slug}`, {}))['items'] as { entity_id: string }[];
    expect(own.length).toBeGreaterThan(5);
    expect(own.every(({ entity_id }) => entity_id === id)).toBe(true);
    expect((await body(`/v1/tools/changelog?days=365&entity=${id}`, {}))['items']).toEqual(own);
    const mass = (await body('/v1/tools/changelog?days=365&attribute=mass&type=changed', {}))['items'] as Body[];
    expect(new Set(mass.map(({ attribute, type }) => `${attribute} ${type}`))).toEqual(new Set(['mass changed']));
    for (const wrong of [
      'days=0',
      'days=366',
      'days=x',
      'limit=0',
      'limit=501',
      'offset=-1',
      'offset=1.5',
      'type=removed',
    ])
      expect(await refused(`/v1/tools/changelog?${wrong}`, {}), wrong).toEqual([422, 'validation_failed']);
    expect(await refused('/v1/tools/changelog?attribute=wait', {})).toEqual([400, 'invalid_parameter']);
    expect(await refused('/v1/tools/changelog?entity=nobody', {})).toEqual([404, 'unknown_entity']);
    expect(await refused('/v1/tools/changelog?cursor=x', {})).toEqual([400, 'unknown_filter']);
    expect((await body(`/v1/tools/changelog?offset=${Number.MAX_SAFE_INTEGER}`, {}))['items']).toEqual([]);
  });

  test('of the records that the filters match, and of numbers that rose or fell', async () => {
    const year = '/v1/tools/changelog?days=365&limit=500';
    type Item = {
      entity_id: string;
      attribute: string;
      kind?: string;
      change?: number;
      change_percent?: number;
      old_value?: unknown;
    };
    const items = async (query: string, init = {}) => (await body(`${year}${query}`, init))['items'] as Item[];
    const every = await items('');
    const drills = new Set(of('tools').flatMap(({ id, attributes }) => (attributes['kind'] === 'drill' ? [id] : [])));
    expect(drills.size).toBeGreaterThan(0);
    const own = every.filter(({ entity_id }) => drills.has(entity_id));
    expect(own.length).toBeGreaterThan(5);
    expect(await items('&kind=drill')).toEqual(own);
    expect(await items('&kind=drill', admin)).toEqual(own);
    expect(await items(`&ids=${[...drills].join()}`)).toEqual(own);
    const fallen = await items('&kind=drill&direction=fall');
    expect(fallen.length).toBeGreaterThan(0);
    for (const kind of ['rise', 'fall', 'range', 'withdrawn'])
      expect(await items(`&direction=${kind}`), kind).toEqual(every.filter((item) => item.kind === kind));
    expect(fallen).toEqual(own.filter(({ kind }) => kind === 'fall'));
    expect(every.filter(({ change = 0 }) => change < 0).map(({ kind }) => kind)).toContain('fall');
    expect(every.filter(({ change }) => change === undefined).some(({ old_value }) => old_value)).toBe(true);
    // Values that are not shown have no direction for any caller.
    const hidden = every.filter(({ attribute }) => attribute === 'runtime');
    expect(hidden.length).toBeGreaterThan(0);
    expect(hidden.every(({ kind, change }) => kind === undefined && change === undefined)).toBe(true);
    for (const init of [{}, admin]) expect(await items('&attribute=runtime&direction=rise', init)).toEqual([]);
    const by = (least: number) => (each: { change_percent?: number }) => Math.abs(each.change_percent ?? -1) >= least;
    expect(await items('&min_change_percent=5.45')).toEqual(every.filter(by(5.45)));
    expect(every.filter(by(5.45)).length).toBeGreaterThan(0);
    const both = await items('&attribute=mass,price.list');
    expect(both).toEqual(every.filter(({ attribute }) => ['mass', 'price.list'].includes(attribute)));
  });

  test('reaches any time by from and to, of which the end is excluded', async () => {
    const items = async (query: string) =>
      (await body(`/v1/tools/changelog?limit=500&${query}`, {}))['items'] as { observed_at: string }[];
    const every = await items('from=2000-01-01');
    const times = [...new Set(every.map(({ observed_at }) => observed_at))].sort();
    const [first = '', last = ''] = [times[0], times.at(-1)];
    expect(times.length).toBeGreaterThan(1);
    expect(await items(`to=${last}`)).toEqual(every.filter(({ observed_at }) => observed_at < last));
    expect(await items(`from=${first}&to=${last}`)).toEqual(await items(`to=${last}`));
    expect(await items(`from=${last}`)).toEqual(every.filter(({ observed_at }) => observed_at === last));
    for (const [query, status] of [
      ['from=2026-01-01&days=3', 400],
      ['from=2026-01-02&to=2026-01-02', 400],
      ['to=yesterday', 422],
      ['group_by=kind&by_day=true', 400],
      ['group_by=kind&format=atom', 400],
      ['group_by=summary', 400],
    ])
      expect((await app.json(`/v1/tools/changelog?${query}`, {})).status, String(query)).toBe(status);
  });

  test('counts changes by a value of their records', async () => {
    const year = '/v1/tools/changelog?days=365&attribute=mass&group_by=kind';
    const answer = await body(year, {});
    expect(members(answer)).toEqual(['groups', 'limit', 'offset', 'total', ...about].sort());
    const groups = answer['groups'] as { group: string; items: number; rises: number; falls: number }[];
    expect(groups.length).toBeGreaterThan(1);
    expect(answer['total']).toBe(groups.length);
    for (const { group, items, rises, falls } of groups) {
      const query = `/v1/tools/changelog?days=365&attribute=mass&kind=${group}`;
      const total = async (direction: string) => (await body(`${query}${direction}`, {}))['total'];
      expect([items, rises, falls]).toEqual([
        await total(''),
        await total('&direction=rise'),
        await total('&direction=fall'),
      ]);
    }
    expect((await body(`${year}&limit=1&offset=1`, {}))['groups']).toEqual(groups.slice(1, 2));
    expect(await text(year.replace('changelog?', 'changelog.md?'), {})).toContain(
      '|group|changes|increases|decreases|ranges|withdrawn|median change (%)|',
    );
  });

  test('counts the changes of each day', async () => {
    const year = '/v1/tools/changelog?days=365&limit=500';
    type Counted = { items: { observed_at: string; kind?: string }[]; days: Body[]; total: number };
    for (const query of ['', '&kind=drill', '&direction=fall']) {
      const plain = (await body(`${year}${query}`, {})) as unknown as Counted;
      expect(plain.days).toBeUndefined();
      const { items, days, total } = (await body(`${year}${query}&by_day=true&offset=2`, {})) as unknown as Counted;
      expect([items, total]).toEqual([plain.items.slice(2), plain.total]);
      const expected = [...Map.groupBy(plain.items, ({ observed_at }) => observed_at.slice(0, 10))].map(
        ([date, own]) => ({
          ...{ date, changes: own.length },
          rises: own.filter(({ kind }) => kind === 'rise').length,
          falls: own.filter(({ kind }) => kind === 'fall').length,
          ranges: own.filter(({ kind }) => kind === 'range').length,
          withdrawn: own.filter(({ kind }) => kind === 'withdrawn').length,
        }),
      );
      expect(days).toEqual(expected);
    }
    expect(await text('/v1/tools/changelog.md?days=365&by_day=true', {})).toMatch(
      /^\|day\|changes\|increases\|decreases\|ranges\|withdrawn\|$/m,
    );
  });

  test('puts the compare columns of the pack first among changes of one time', async () => {
    const { items } = (await body('/v1/tools/changelog?days=365&limit=500', {})) as unknown as {
      items: { attribute: string; observed_at: string }[];
    };
    const compare = app.register.packs.get('tools')!.compare;
    expect(compare.length).toBeGreaterThan(1);
    const rank = ({ attribute }: (typeof items)[number]) =>
      compare.includes(attribute) ? compare.indexOf(attribute) : 99;
    for (const own of Map.groupBy(items, ({ observed_at }) => observed_at).values())
      expect(own.map(rank)).toEqual(own.map(rank).toSorted((a, b) => a - b));
  });

  test('is an Atom feed with the same filters', async () => {
    const query = 'days=365&type=added&kind=drill&limit=1';
    const answer = await app.ask(`/v1/tools/changelog?${query}&format=atom`);
    expect(answer.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
    const tag = answer.headers.get('etag');
    const xml = await answer.text();
    const { items } = (await body(`/v1/tools/changelog?${query}`, {})) as { items: Body[] };
    const [item] = items as { slug: string; attribute: string; observed_at: string }[];
    const links = Object.fromEntries(
      [...xml.matchAll(/^<link rel="(\w+)" type="[\w/+]+" href="(.*)"\/>$/gm)].map(([, rel, href = '']) => [
        rel,
        new URL(href.replaceAll('&amp;', '&')),
      ]),
    );
    expect(Object.keys(links)).toEqual(expect.arrayContaining(['self', 'alternate', 'first', 'next']));
    expect(links['alternate']!.pathname + links['alternate']!.search).toMatch(
      /\/changes\/tools\/\?attribute=all&type=added&days=365&kind=drill$/,
    );
    expect(links['next']!.search).toBe('?days=365&type=added&kind=drill&format=atom&offset=1&limit=1');
    expect(xml).toContain(`/datasets/tools/${item!.slug}#${item!.attribute}-${item!.observed_at}</id>`);
    expect(xml).toContain(`<updated>${item!.observed_at}</updated>`);
    const again = await app.ask(`/v1/tools/changelog?${query}&format=atom`, {
      headers: { 'If-None-Match': tag ?? '' },
    });
    expect(again.status).toBe(304);
    const next = await (
      await app.ask(links['next']!.pathname.replace(/^.*\/v1/, '/v1') + links['next']!.search)
    ).text();
    expect(next).toContain('rel="previous"');
    expect((await app.json('/v1/tools/changelog?format=atom&direction=up', {})).status).toBe(422);
  });

  test('costs one search where a filter depends on a non-public attribute', async () => {
    const key = { headers: { Authorization: 'Bearer payg' } };
    const paid = ['min_runtime=1', 'has_runtime=true', 'attribute=runtime&kind=drill'];
    for (const query of [...paid, 'group_by=runtime', 'group_by=kind&attribute=runtime']) {
      expect(await refused(`/v1/tools/changelog?${query}`, {}), query).toEqual([402, 'payment_required']);
      expect((await app.json(`/v1/tools/changelog?${query}`, admin)).status, query).toBe(200);
    }
    const free = ['attribute=runtime', 'kind=drill', 'q=drill', 'min_quality=0.1', 'direction=fall'];
    for (const query of [...free, 'group_by=kind&attribute=mass&has_mass=true&from=2020-01-01']) {
      const { status, headers } = await app.json(`/v1/tools/changelog?${query}`, key);
      expect([status, headers.get('x-charge-eur')], query).toEqual([200, null]);
    }
  });

  test('names the allowed values and the intended parameters', async () => {
    const messages = [
      ['direction=up', 'direction: must be one of rise, fall, range, withdrawn (got "up"); did you mean rise?'],
      [
        'direction=decrease',
        'direction: must be one of rise, fall, range, withdrawn (got "decrease"); did you mean fall?',
      ],
      ['change=rise', 'Did you mean "direction"? Write direction=rise or direction=fall.'],
      ['knid=drill', 'Did you mean "kind"?'],
      ['sort=name', '"sort" is not a filter or parameter of this operation.'],
    ];
    for (const [query = '', message] of messages)
      expect((await app.json(`/v1/tools/changelog?${query}`, {})).body['message'], query).toContain(message);
  });

  test('has a Markdown twin with the next page', async () => {
    verifies('changelog.md');
    const page = await text('/v1/tools/changelog.md?days=365&limit=4', {});
    expect(page).toMatch(/^\|observed\|slug\|attribute\|type\|old\|new\|change\|source\|$/m);
    expect(page).toContain('|55|52|-3 (-5.45 %)|');
    expect(page).toContain('continue with offset=4');
    const secret = await text('/v1/tools/changelog.md?days=365&attribute=runtime&type=changed', {});
    expect(secret).toContain('|not public|not public|');
    expect(secret).toMatch(/^\|observed\|slug\|attribute\|type\|old\|new\|source\|$/m);
  });
});

describe('the change feed', () => {
  test('needs a plan; operators pass', async () => {
    verifies('changes.get', 'changes.since', 'changes.limit', 'error.403');
    const path = '/v1/tools/changes?since=2026-01-01T00:00:00Z';
    expect((await refused(path, {}))[0]).toBe(403);
    expect(await refused(path, { headers: { Authorization: 'Bearer payg' } })).toEqual([403, 'plan_required']);
    const answer = await body(path);
    expect(members(answer)).toEqual(['items', 'next_since', ...about].sort());
    const items = answer['items'] as Body[];
    expect(items.length).toBeGreaterThan(200);
    for (const each of items) expect(each).toMatchObject({ type: 'added', new_value: expect.anything() });
    expect(answer['next_since']).toBe(items.at(-1)!['recorded_at']);
    expect(await refused('/v1/tools/changes')).toEqual([422, 'validation_failed']);
    for (const wrong of ['since=now', 'since=2026-01-01&limit=0', 'since=2026-01-01&limit=10001'])
      expect(await refused(`/v1/tools/changes?${wrong}`), wrong).toEqual([422, 'validation_failed']);
    for (const far of ['0001-01-01', '9999-12-31'])
      expect((await app.json(`/v1/tools/changes?since=${far}&limit=1`, admin)).status).toBe(200);
    expect(await text('/v1/tools/changes.md?since=2026-01-01&limit=2')).toContain('Continue with since=2026-');
  });
});

describe('time travel', () => {
  test('returns a record at a past time, marks it, and computes ages from then', async () => {
    const { slug, id } = named('Cordless drill 12');
    const answer = await body(`/v1/tools/entities/${slug}?as_of=2026-06-15T00:00:00Z`);
    expect(answer).toMatchObject({ id, slug, as_of: '2026-06-15T00:00:00Z', updated_at: '2026-06-01T00:00:00Z' });
    expect(answer['attributes']).toMatchObject({ runtime: 90, mass: 1.25, tested_on: '2026-02-14' });
    expect(answer['freshness']).toMatchObject({ runtime: 2536, mass: 336 });
    expect((await body(`/v1/tools/entities/${slug}`))['attributes']).toMatchObject({ runtime: 100 });
    const trimmed = await body(`/v1/tools/entities/${slug}?as_of=2026-06-15&fields=runtime`);
    expect(trimmed['attributes']).toEqual({ runtime: 90 });
    const page = await text(`/v1/tools/entities/${slug}.md?as_of=2026-06-15`);
    expect(page).toMatch(/^As of 2026-06-15T00:00:00Z, /);
    expect(page).toContain('90 minutes');
  });

  test('of many names those not yet known in missing', async () => {
    const known = named('Cordless drill 12').slug;
    const late = of('tools').find(({ attributes }) => String(attributes['first_seen']) > '2026-06-15')!.slug;
    const answer = await body(
      `/v1/tools/entities/batch?ids=nobody,${known},${late},${known.toUpperCase()}&as_of=2026-06-15`,
    );
    expect(answer).toMatchObject({ missing: ['nobody', late], as_of: '2026-06-15T00:00:00Z' });
    expect((answer['items'] as Body[]).map(({ slug }) => slug)).toEqual([known]);
    expect(members(answer)).toEqual(['as_of', 'items', 'missing', ...about].sort());
    expect(await text(`/v1/tools/entities/batch.md?ids=${known}&as_of=2026-06-15`)).toMatch(/^As of 2026-06-15/);
    expect(await refused(`/v1/tools/entities/${late}?as_of=2026-06-15`)).toEqual([404, 'unknown_entity']);
  });

  test('refuses the future and invalid times, and costs the same', async () => {
    const path = `/v1/tools/entities/${of('tools')[0]!.slug}`;
    const later = new Date(NOW.getTime() + 1000).toISOString();
    for (const wrong of [later, '2999-01-01', 'yesterday', '', '2026-02-30T00:00:00Z'])
      expect(await refused(`${path}?as_of=${wrong}`), wrong).toEqual([422, 'validation_failed']);
    expect((await app.json(`${path}?as_of=${NOW.toISOString()}`, admin)).status).toBe(200);
    expect(await refused(`${path}?as_of=0001-01-01`)).toEqual([404, 'unknown_entity']);
    expect(await refused(`${path}?as_of=2026-06-15`, {})).toEqual([402, 'payment_required']);
    expect(await refused(`${path}?asof=2026-06-15`)).toEqual([400, 'unknown_filter']);
    const both = await app.json(`${path}?as_of=x&fields=`, admin);
    expect(both.body['detail']).toHaveLength(2);
  });

  test('has its own tag', async () => {
    const path = `/v1/tools/entities/${named('Cordless drill 12').slug}`;
    const [now, then] = await Promise.all([app.ask(path, admin), app.ask(`${path}?as_of=2026-06-15`, admin)]);
    const tag = then.headers.get('etag') ?? '';
    expect(tag).not.toBe(now.headers.get('etag'));
    const again = await app.ask(`${path}?as_of=2026-06-15`, { ...admin, headers: { 'If-None-Match': tag } });
    expect(again.status).toBe(304);
    for (const each of [now, then]) await each.text();
  });

  test('of lists: the records of then with their values, ages and figures', async () => {
    const { slug } = named('Cordless drill 12');
    const late = of('tools').find(({ attributes }) => String(attributes['first_seen']) > '2026-06-15')!.slug;
    const at = 'as_of=2026-06-15';
    const one = await body(`/v1/tools/entities/${slug}?${at}`);
    const list = await body(`/v1/tools/entities?ids=${slug},${late}&${at}&total=true`);
    const { as_of: _at, attribution: _by, license: _under, ...record } = one;
    expect(list).toMatchObject({
      total: 1,
      items: [{ attributes: record['attributes'], freshness: record['freshness'] }],
    });
    expect((await body(`/v1/tools/entities?ids=${slug}&min_runtime=100&${at}`))['items']).toEqual([]);
    expect((await body(`/v1/tools/entities?ids=${slug}&min_runtime=100`))['items']).toHaveLength(1);
    const compared = await body(`/v1/tools/compare?ids=${slug},${late}&${at}`);
    expect(compared).toMatchObject({ items: [{ slug }], missing: [late] });
    const stats = await body(`/v1/tools/stats?attribute=runtime&ids=${slug}&${at}`);
    expect(stats['rows']).toMatchObject([{ count: 1, min: 90, max: 90 }]);
    const facets = await body(`/v1/tools/facets?by=kind&${at}`);
    const all = await body(`/v1/tools/facets?by=kind`);
    expect(Number(facets['matched'])).toBeLessThan(Number(all['matched']));
    const similar = await body(`/v1/tools/entities/${slug}/similar?${at}`);
    expect((similar['items'] as Body[]).map((item) => item['slug'])).not.toContain(late);
    expect(await refused(`/v1/tools/entities/${late}/similar?${at}`)).toEqual([404, 'unknown_entity']);
    expect(await refused(`/v1/tools/entities/${late}/prices?${at}`)).toEqual([404, 'unknown_entity']);
    expect((await body(`/v1/tools/entities?as_of=0001-01-01&total=true`))['total']).toBe(0);
    expect(await text(`/v1/tools/entities.md?ids=${slug}&${at}`)).toContain('Cordless drill 12');
  });

  test('of lists: pages, errors, and no previews', async () => {
    const list = '/v1/tools/entities?limit=2';
    const page = await body(`${list}&as_of=2026-06-15`);
    const next = `${list}&cursor=${page['next_cursor']}`;
    expect((await body(`${next}&as_of=2026-06-15`))['items']).toHaveLength(2);
    expect(await refused(next)).toEqual([400, 'invalid_cursor']);
    expect(await refused(`${next}&as_of=2026-06-16`)).toEqual([400, 'invalid_cursor']);
    for (const other of ['updated_since=2026-01-01', 'provenance_status=held'])
      expect(await refused(`${list}&as_of=2026-06-15&${other}`), other).toEqual([400, 'invalid_parameter']);
    const ahead = new Date(NOW.getTime() + 1000).toISOString();
    expect(await refused(`${list}&as_of=${ahead}`)).toEqual([422, 'validation_failed']);
    expect(await refused(`${list}&as_of=2026-06-15`, {})).toEqual([402, 'payment_required']);
    expect((await app.json(list, {})).status).toBe(200);
    expect((await app.json('/v1/tools/facets?by=kind&as_of=2026-06-15', {})).status).toBe(200);
    expect(await refused('/v1/tools/facets?by=runtime&as_of=2026-06-15', {})).toEqual([402, 'payment_required']);
  });

  test('answers every record of every reading', async () => {
    for (const at of ['2026-03-01T08:00:00Z', '2026-07-15T08:00:00Z', '2026-11-10T00:00:00Z'])
      for (const { slug } of of('tools')) {
        const { status, body: found } = await app.json(`/v1/tools/entities/${slug}?as_of=${at}`, admin);
        if (status !== 200) expect([status, found['error']]).toEqual([404, 'unknown_entity']);
        else expect(found['url']).toBe(`${BASE}/datasets/tools/${slug}`);
      }
  });
});
