// Repeated calls: which ones are answered from memory, and when their answers are dropped.
import { expect, test } from 'vitest';
import { type Context, jsonResult, type Operation } from '../contract/operation.ts';
import { render } from '../render/render.ts';
import { RepeatedCalls } from './repeated-calls.ts';

const release = () => ({ manifest: {} }) as NonNullable<Context['release']>;
const context = (more: Partial<Context> = {}): Context =>
  ({
    release: first,
    visibility: 'full',
    format: 'json',
    admin: false,
    now: new Date('2026-11-20T12:00:00Z'),
    ...more,
  }) as Context;
const first = release();

/** Sends calls to an operation that counts its runs; its answer has `length` bytes. */
function stage({ repeats = true, length = 100 } = {}) {
  let runs = 0;
  const operation = {
    name: 'search',
    charge: { access: 'free' },
    repeats,
    run: async (input: { fail?: boolean }) => {
      runs += 1;
      if (input.fail) throw new Error('the engine failed');
      return jsonResult([Buffer.from('['), Buffer.alloc(length, '1'), Buffer.from(']')], { records: 1 });
    },
  } as unknown as Operation;
  const repeated = new RepeatedCalls();
  const call = async (query: string | undefined, ctx = context(), fail = false) => {
    const from = { operation, query, entity: null };
    const input = await repeated.input(from, ctx, () => ({ fail }));
    const { json, records } = await repeated.run(operation, input, ctx);
    return { bytes: json!.length, records };
  };
  return { call, runs: () => runs };
}

test('the third equal call of a minute is answered from memory, with the same answer', async () => {
  const { call, runs } = stage();
  const answers = [await call('?a=1'), await call('?a=1'), await call('?a=1'), await call('?a=1')];
  expect(runs()).toBe(2);
  for (const answer of answers) expect(answer).toEqual({ bytes: 102, records: 1 });
  await call('?a=2');
  expect(runs()).toBe(3);
});

test('another release, overlay, caller of another kind or minute gets an answer of its own', async () => {
  const { call, runs } = stage();
  for (let i = 0; i < 3; i += 1) await call('?a=1');
  const others: Partial<Context>[] = [
    { release: release() },
    { admin: true },
    { visibility: 'public' },
    { format: 'csv' },
    { now: new Date('2026-11-20T12:01:00Z') },
  ];
  for (const [i, other] of others.entries()) {
    await call('?a=1', context(other));
    expect(runs(), JSON.stringify(other)).toBe(3 + i);
  }
});

test('calls of other operations, other channels and without a dataset always run', async () => {
  const others = stage({ repeats: false });
  for (let i = 0; i < 4; i += 1) await others.call('?a=1');
  expect(others.runs()).toBe(4);
  const { call, runs } = stage();
  for (let i = 0; i < 4; i += 1) await call(undefined);
  const { release: _, ...none } = context();
  for (let i = 0; i < 4; i += 1) await call('?a=1', none as Context);
  expect(runs()).toBe(8);
});

test('texts and objects are kept too, but no answers that depend on a quota for previews', async () => {
  let runs = 0;
  const guide = {
    name: 'guide',
    charge: { access: 'free' },
    repeats: true,
    run: async () => ({ body: { text: `# Places ${++runs}` }, last_modified: '2026-11-20T00:00:00Z' }),
    markdown: ({ text }: { text: string }) => text,
  } as unknown as Operation;
  const repeated = new RepeatedCalls();
  // Operations without parameters share one input.
  const shared = {};
  const url = new URL('http://localhost/v1/places/llms.txt');
  /** Makes a call four times; returns the number of runs, and checks that all later answers are equal. */
  const runsOfFour = async (operation: Operation, more: Partial<Context>) => {
    const ctx = context({ url, ...more });
    const from = runs;
    const texts: string[] = [];
    for (let i = 0; i < 4; i += 1) {
      const input = await repeated.input({ operation, query: '', entity: null }, ctx, () => shared);
      const result = await repeated.run(operation, input, ctx);
      const { body } = await render(operation, result, ctx);
      texts.push(Buffer.from(body as string).toString());
      expect(texts.at(-1)).toContain((result.body as { text: string }).text);
      expect(result.last_modified).toBe('2026-11-20T00:00:00Z');
    }
    if (runs - from === 2) expect(texts[3]).toBe(texts[1]);
    return runs - from;
  };
  expect(await runsOfFour(guide, { format: 'json' })).toBe(2);
  expect(await runsOfFour(guide, { format: 'json', by_name: true })).toBe(2);
  expect(await runsOfFour(guide, { format: 'text' })).toBe(2);
  expect(await runsOfFour(guide, { format: 'markdown', visibility: 'public' })).toBe(2);
  // A text contains the URL of the next page.
  const other = new URL('http://localhost/v1/places/other.md');
  expect(await runsOfFour(guide, { format: 'markdown', visibility: 'public', url: other })).toBe(2);
  expect(await runsOfFour({ ...guide, name: 'schema' } as Operation, { format: 'text' })).toBe(2);
  const search = {
    ...guide,
    name: 'search',
    charge: { ...guide.charge, previews: () => true },
  } as Operation;
  expect(await runsOfFour(search, { format: 'markdown' })).toBe(2);
  expect(await runsOfFour(search, { format: 'markdown', visibility: 'public' })).toBe(4);
});

test('a page of an earlier release is not kept', async () => {
  let runs = 0;
  const run = async () => {
    runs += 1;
    return jsonResult([Buffer.from('{}')], { release: '2026-11-19' });
  };
  const operation = { name: 'search', repeats: true, run } as unknown as Operation;
  const repeated = new RepeatedCalls();
  for (let i = 0; i < 4; i += 1) {
    const input = await repeated.input({ operation, query: '?cursor=1', entity: null }, context(), () => ({}));
    await repeated.run(operation, input, context());
  }
  expect(runs).toBe(4);
});

test('errors and very long answers are not kept', async () => {
  const failing = stage();
  for (let i = 0; i < 4; i += 1)
    await expect(failing.call('?a=1', context(), true)).rejects.toThrow('the engine failed');
  expect(failing.runs()).toBe(4);
  const long = stage({ length: 2 * 2 ** 20 });
  for (let i = 0; i < 4; i += 1) await long.call('?a=1');
  expect(long.runs()).toBe(4);
});

test('memory is bounded, and its answers stay although many others are due', async () => {
  const { call, runs } = stage({ length: 900_000 });
  const twice = async (query: string) => {
    for (let times = 0; times < 2; times += 1) await call(query);
  };
  // Eighteen answers fill the memory.
  for (let i = 0; i < 18; i += 1) await twice(`?a=${i}`);
  for (let i = 0; i < 18; i += 1) await call(`?a=${i}`);
  expect(runs()).toBe(36);
  // Of the next sixteen, one replaces the answer that was used least recently.
  for (let i = 18; i < 34; i += 1) await twice(`?a=${i}`);
  expect(runs()).toBe(68);
  for (let i = 17; i >= 0; i -= 1) await call(`?a=${i}`);
  expect(runs()).toBe(69);
  await call('?a=33');
  expect(runs()).toBe(69);
});

test('of many long calls in a minute, the earliest are forgotten', async () => {
  const { call, runs } = stage();
  await call('?first');
  for (let i = 0; i < 150; i += 1) await call(`?${i}${'x'.repeat(32_000)}`);
  for (let times = 0; times < 3; times += 1) await call('?first');
  // Two calls are needed again before the answer is kept.
  expect(runs()).toBe(1 + 150 + 2);
});
