// Equal calls of a minute over REST: the same answers as without memory, for every caller, price and change.
import { afterAll, expect, test } from 'vitest';
import { NOW } from '../../support/app.ts';
import { balance, newKey } from '../../support/money-on-stores.ts';
import { claim, edit, linkTo, optOut, owned, verify } from '../../support/owners-stage.ts';

let clock = NOW;

const app = await owned({ now: () => clock });
afterAll(() => app.close());

const SEARCH = '/v1/harbours/entities?limit=50';

const read = async (path: string) => {
  const response = await app.ask(path, { admin: true });
  return { status: response.status, text: await response.text(), link: response.headers.get('link') };
};

/** Calls several times, and returns the last answer. */
async function repeat(path: string) {
  for (let i = 0; i < 3; i += 1) await read(path);
  return read(path);
}

interface Page {
  items: { id: string; slug: string; attributes: Record<string, unknown> }[];
  next_cursor: string | null;
}

const repeatPage = async (path: string) => JSON.parse((await repeat(path)).text) as Page;

test('a repeated search, batch and list of similar records equals the first', async () => {
  const { slug } = app.records['harbours']![0]!;
  for (const path of [
    '/v1/harbours/entities?limit=5',
    '/v1/harbours/paid/entities?limit=2',
    `/v1/harbours/entities/batch?ids=${slug},nobody`,
    `/v1/harbours/entities/${slug}/similar`,
  ]) {
    const first = await read(path);
    expect(first.status, path).toBe(200);
    for (let i = 0; i < 3; i += 1) expect(await read(path), path).toEqual(first);
  }
});

test('pages of repeated searches contain each record once', async () => {
  const seen: string[] = [];
  let path: string | null = '/v1/harbours/entities?limit=3';
  while (path !== null) {
    const { items, next_cursor }: Page = await repeatPage(path);
    seen.push(...items.map(({ id }) => id));
    path = next_cursor === null ? null : `/v1/harbours/entities?limit=3&cursor=${next_cursor}`;
  }
  expect(seen.length).toBe(app.records['harbours']!.length);
  expect(new Set(seen).size).toBe(seen.length);
});

test('ages change with the minute', async () => {
  const before = await repeat(SEARCH);
  clock = new Date(NOW.getTime() + 6 * 3_600_000);
  const after = await repeat(SEARCH);
  expect(after.text).not.toBe(before.text);
  // A parameter in another spelling: this answer is computed.
  expect(after.text).toBe((await read('/v1/harbours/entities?limit=050')).text);
});

test('every repeated call is charged', async () => {
  const { headers } = await newKey(app, 1);
  const before = Number(await balance(app, headers));
  const charges: number[] = [];
  for (let i = 0; i < 4; i += 1) charges.push(Number((await app.ask(SEARCH, { headers })).headers.get('x-charge-eur')));
  expect(charges[0]).toBeGreaterThan(0);
  expect(new Set(charges).size).toBe(1);
  expect(Number(await balance(app, headers))).toBeCloseTo(before - 4 * charges[0]!, 6);
});

test('a caller without a key never gets the answer of one who pays', async () => {
  const { attributes } = app.register.packs.get('harbours')!;
  const closed = attributes.filter((each) => !each.public).map(({ name }) => name);
  const { items } = await repeatPage(SEARCH);
  expect(items.some(({ attributes }) => closed.some((name) => name in attributes))).toBe(true);
  for (let i = 0; i < 3; i += 1) {
    const { body } = await app.json(SEARCH, { address: `2001:db8:fff${i}::1` });
    for (const { attributes } of (body as unknown as Page).items)
      for (const name of closed) expect(attributes).not.toHaveProperty(name);
  }
});

test('an edit of an owner and an opt-out show at once', async () => {
  const find = async () => (await repeatPage(SEARCH)).items.find(({ slug }) => slug === 'harbour-8');
  expect((await find())?.attributes['berths']).toBe(3);
  await claim(app, 'harbour-8', 'master@null.example');
  const { token } = linkTo(app, 'master@null.example');
  await verify(app, token);
  expect((await edit(app, token, { berths: 4 })).status).toBe(200);
  expect((await find())?.attributes['berths']).toBe(4);
  expect((await optOut(app, 'harbour-8', 'office@null.example')).status).toBe(200);
  expect(await find()).toBeUndefined();
});
