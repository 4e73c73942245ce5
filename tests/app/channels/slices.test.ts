// Long answers are made in slices, so that the event loop can answer other requests in between.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { Context, Format, Operation, Result } from '../../../api/contract/operation.ts';
import { DOCUMENTS, type View } from '../../../api/discovery/index.ts';
import { prerenderContext } from '../../../api/discovery/prerender-context.ts';
import { dataset_changes } from '../../../api/operations/dataset/dataset_changes.ts';
import { entity_batch } from '../../../api/operations/record/entity_batch.ts';
import { entity_search } from '../../../api/operations/record/entity_search.ts';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { render } from '../../../api/render/render.ts';
import { cachedToolList, toolsOf } from '../../../api/render/tools.ts';
import type { RecordedChange } from '../../../data/plan/history.ts';
import { appOfAll, BASE } from '../../support/app.ts';
import { balance, newKey } from '../../support/money-on-stores.ts';

const RECORDS = 1_000;

const app = await appOfAll({ records: RECORDS });
const release = app.register.current('tools')!;

/** The result of `work`, and the turns of the event loop during it. */
async function turnsOf<T>(work: () => T | Promise<T>): Promise<{ made: T; turns: number }> {
  let turns = 0;
  let running = true;
  const counting = (async () => {
    for (; running; turns += 1) await setImmediate();
  })();
  const made = await work();
  running = false;
  await counting;
  return { made, turns };
}

const contextFor = (format: Format, of = release): Context => ({
  ...prerenderContext(
    { releases: [of], operations: OPERATIONS, base_url: BASE, eur_usd: 1 },
    { release: of, path: '/', format },
  ),
  visibility: 'full',
});

const found = async (input: Record<string, string>, format: Format): Promise<Result<unknown>> => {
  const ctx = contextFor(format);
  return entity_search.run(entity_search.parse({ ds: 'tools', ...input }, ctx), ctx);
};

describe('search', () => {
  test('1,000 records are read in slices', async () => {
    const { made, turns } = await turnsOf(() => found({ limit: String(RECORDS) }, 'csv'));
    expect(made.records).toBe(RECORDS);
    expect(turns).toBeGreaterThanOrEqual(19);
  });

  test.each(['csv', 'ndjson', 'arrow'] as const)('1,000 records as %s are written in slices', async (format) => {
    const result = await found({ limit: String(RECORDS) }, format);
    const one = await found({ limit: '1' }, format);
    // The first answer loads the library of Arrow.
    await render(entity_search, one, contextFor(format));
    const { turns } = await turnsOf(() => render(entity_search, result, contextFor(format)));
    expect(turns).toBeGreaterThanOrEqual(format === 'arrow' ? release.pack.attributes.length - 1 : 19);
  });

  test('20 records are written in one turn', async () => {
    const result = await found({ limit: '20' }, 'csv');
    for (const format of ['csv', 'ndjson', 'markdown'] as const)
      expect(await turnsOf(() => render(entity_search, result, contextFor(format)))).toMatchObject({ turns: 1 });
  });

  test('the work ends when the client hangs up', async () => {
    const result = await found({ limit: String(RECORDS) }, 'ndjson');
    const gone = new AbortController();
    const ctx = { ...contextFor('ndjson'), signal: gone.signal };
    const { turns } = await turnsOf(async () => {
      const written = Promise.resolve(render(entity_search, result, ctx));
      gone.abort();
      await expect(written).rejects.toMatchObject({ code: 'unavailable' });
    });
    expect(turns).toBeLessThan(19);
  });
});

test('nothing is charged for an answer whose client hung up between slices', async () => {
  const { headers } = await newKey(app);
  const before = await balance(app, headers);
  const path = `/v1/tools/entities?format=csv&limit=${RECORDS}`;
  const { engine } = release;
  const { bodies } = engine;
  const client = new AbortController();
  let reads = 0;
  engine.bodies = (...asked) => {
    reads += 1;
    if (reads === 3) client.abort();
    return bodies(...asked);
  };
  await app.ask(path, { headers, signal: client.signal }).catch(() => {});
  engine.bodies = bodies;
  expect(reads).toBe(3);
  expect(await balance(app, headers)).toBe(before);
  expect(app.faults).toEqual([]);
  const answer = await app.ask(path, { headers });
  expect((await answer.text()).split('\r\n')).toHaveLength(RECORDS + 2);
  expect(await balance(app, headers)).toBeLessThan(before as number);
});

test('a batch of 100 as Markdown is written in slices', async () => {
  const ids = app.records['tools']!.slice(0, 100).map(({ id }) => id);
  const ctx = contextFor('markdown');
  const result = await entity_batch.run(entity_batch.parse({ ds: 'tools', ids: ids.join() }, ctx), ctx);
  const { made, turns } = await turnsOf(async () => (await render(entity_batch, result, ctx)).body as string);
  expect(made.match(/^# /gm)).toHaveLength(100);
  expect(turns).toBeGreaterThanOrEqual(4);
});

describe('10,000 changes', () => {
  const COUNT = 10_000;
  const change = (index: number): RecordedChange => ({
    entity_id: `r-${index}`,
    slug: `slug-${index}`,
    name: `Größe "${index}"`,
    attribute: 'name',
    type: 'changed',
    old_value: null,
    new_value: JSON.stringify(`value ${index}`),
    observed_at: index,
    recorded_at: index,
    source_url: 'https://source.example/',
  });
  const ask = async (format: Format) => {
    const changes = async () => Array.from({ length: COUNT }, (_, index) => change(index));
    const ctx = contextFor(format, { ...release, engine: { ...release.engine, changes } });
    const input = dataset_changes.parse({ ds: 'tools', since: '1970-01-01T00:00:00Z', limit: String(COUNT) }, ctx);
    return { ctx, ...(await turnsOf(() => dataset_changes.run(input, ctx))) };
  };

  test('are made and written as JSON in slices, and are the JSON of the body', async () => {
    const { made, turns } = await ask('json');
    expect(turns).toBeGreaterThanOrEqual(38);
    expect(Buffer.concat(made.parts!).toString()).toBe(JSON.stringify(made.body));
    expect((made.body as { items: unknown[] }).items).toHaveLength(COUNT);
  });

  test('are written as Markdown in slices', async () => {
    const { made: result, ctx } = await ask('markdown');
    const { made, turns } = await turnsOf(async () => (await render(dataset_changes, result, ctx)).body as string);
    expect(made.match(/slug-/g)).toHaveLength(COUNT);
    expect(turns).toBeGreaterThanOrEqual(19);
  });
});

test('the list of tools is made in slices', async () => {
  const { made, turns } = await turnsOf(() => toolsOf(OPERATIONS, [...app.register.packs.values()]));
  expect(turns).toBeGreaterThanOrEqual(Math.ceil(made.length / 4) - 1);
});

test('the tools of the same packs are made once', async () => {
  const list = cachedToolList(OPERATIONS);
  const packs = [...app.register.packs.values()];
  const tools = await list(packs);
  expect(await list([...packs])).toBe(tools);
  expect(await list(packs.slice(1))).not.toBe(tools);
});

test('/openapi.json is made in slices, each of which describes one operation once', async () => {
  const openapi = DOCUMENTS.find(({ path }) => path === '/openapi.json')!;
  const described: string[] = [];
  const operations = OPERATIONS.map(
    (operation): Operation => ({
      ...operation,
      ...(operation.output && {
        output: (pack) => {
          described.push(`${operation.name} of ${pack?.id ?? 'any dataset'}`);
          return operation.output!(pack);
        },
      }),
    }),
  );
  const view: View = { releases: [release], operations, base_url: BASE, eur_usd: 1, now: new Date(0) };
  // The JSON that is written between two turns of the event loop.
  let slice = 0;
  let longest = 0;
  const { stringify } = JSON;
  const written = vi.spyOn(JSON, 'stringify').mockImplementation((...parameters) => {
    const text = stringify(...parameters);
    slice += text?.length ?? 0;
    longest = Math.max(longest, slice);
    return text;
  });
  let running = true;
  const turns = (async () => {
    for (; running; slice = 0) await setImmediate();
  })();
  const text = await openapi.text(view, {});
  running = false;
  await turns;
  written.mockRestore();
  expect(longest).toBeLessThan(text!.length / 5);
  expect(described.filter((name, i) => described.indexOf(name) !== i)).toEqual([]);
});
