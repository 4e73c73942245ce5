// Every correction that a message proposes is accepted when it is followed, and means what was written.
import { afterAll, expect, test } from 'vitest';
import { nearMisses } from '../../near-misses/cases.ts';
import { type AttributeInfo, readWorld } from '../../near-misses/world.ts';
import { appOfAll } from '../../support/app.ts';
import { pickOne, type Random, random } from '../../support/random-records.ts';

const app = await appOfAll({ nights: true });
afterAll(() => expect(app.faults).toEqual([]));

const send = (path: string, query: URLSearchParams) => app.json(`${path}?${query}`, { admin: true });

/** The parameter that the message of a refused call proposes; null without one. */
function proposal(body: Record<string, unknown>, name: string): [name: string, value: string] | null {
  const message = String(body['message']);
  const [, text] = /did you mean (\S+?)(?:, which includes \S+)?\?$/u.exec(message) ?? [];
  if (text === undefined || message.startsWith('near') || message.startsWith('bbox')) return null;
  const [first = '', ...rest] = text.split('=');
  return rest.length > 0 ? [first, rest.join('=')] : [name, text];
}

/** Sizes of units, from a source other than the product's table: NIST SP 811, appendix B.8. */
const SIZES: Record<string, Record<string, number>> = {
  length: { mm: 0.001, cm: 0.01, m: 1, metres: 1, km: 1000, inches: 0.0254, ft: 0.3048, feet: 0.3048, mi: 1609.344 },
  mass: { g: 0.001, kg: 1, kilograms: 1, lb: 0.45359237, oz: 0.028349523125, tonnes: 1000 },
  time: { seconds: 1, min: 60, minutes: 60, h: 3600, hours: 3600, days: 86_400 },
};
/** Names of multiples that are no unit of the tested attributes. */
const MULTIPLES: Record<string, number> = { k: 1e3, K: 1e3, million: 1e6, bn: 1e9, ' thousand': 1e3 };

/** A number in another notation, and what it means in the unit of an attribute. */
function written(next: Random, unit: string | null): { text: string; number: number } {
  const number = pickOne(next, [1, 5, 12, 1.5, 0.25, 999, 1000, 12_345, 1_234_567, 1234.5]);
  const [whole = '', fraction] = String(number).split('.');
  const grouped = (sign: string) => whole.replace(/\B(?=(\d{3})+$)/gu, sign);
  const digits = pickOne(next, [
    String(number),
    ...(number >= 1000
      ? [grouped(','), grouped(' '), grouped("'")].map((text) => (fraction ? `${text}.${fraction}` : text))
      : []),
    ...(fraction === undefined ? [] : [`${whole},${fraction}`, `${grouped('.')},${fraction}`]),
  ]);
  const sizes = Object.values(SIZES).find((dimension) => unit !== null && unit in dimension);
  const style = next();
  if (style < 0.5 && sizes && unit) {
    const other = pickOne(next, Object.keys(sizes));
    return { text: `${digits}${pickOne(next, ['', ' '])}${other}`, number: (number * sizes[other]!) / sizes[unit]! };
  }
  if (style < 0.65) {
    const multiple = pickOne(next, Object.keys(MULTIPLES));
    return { text: digits + multiple, number: number * MULTIPLES[multiple]! };
  }
  return style < 0.75 && unit !== null ? { text: `${digits} ${unit}`, number } : { text: digits, number };
}

const SIGNS = ['>=', '<=', '>', '<', '=', '≥', '≤', '=>', '=<'];

/** A wrong filter of a number, and the filters that mean the same. */
function wrongNumber(next: Random, { name, type, unit }: AttributeInfo) {
  const prefix = pickOne(next, type === 'price' ? ['min_', 'max_'] : ['', 'min_', 'max_']);
  const sign = pickOne(next, ['', ...SIGNS]);
  const { text, number } = written(next, unit);
  const right = /[>≥]/u.test(sign) ? 'min_' : /[<≤]/u.test(sign) ? 'max_' : prefix;
  const strict = type === 'integer' && (sign === '>' || sign === '<');
  const meant = !strict ? number : sign === '>' ? Math.floor(number) + 1 : Math.ceil(number) - 1;
  return { name: prefix + name, value: `${sign}${pickOne(next, ['', ' '])}${text}`, right: right + name, meant };
}

test('a proposed number is accepted and equals the one that was written', async () => {
  const next = random(41);
  const datasets = await readWorld(async (path) => app.json(path, { admin: true }));
  const numeric = datasets.flatMap(({ id, attributes }) =>
    attributes
      .filter(({ type, filterable }) => filterable && ['integer', 'number', 'price'].includes(type))
      .map((attribute) => ({ id, attribute })),
  );
  let [refused, proposed] = [0, 0];
  for (let i = 0; i < 600; i++) {
    const { id, attribute } = pickOne(next, numeric);
    const { name, value, right, meant } = wrongNumber(next, attribute);
    const path = `/v1/${id}/entities`;
    const { status, body } = await send(path, new URLSearchParams([[name, value]]));
    if (status === 200) continue;
    const label = `${name}=${value}`;
    expect([status, body['error']], label).toEqual([422, 'validation_failed']);
    refused += 1;
    const correction = proposal(body, name);
    if (correction === null) continue;
    proposed += 1;
    expect(correction[0], label).toBe(right);
    expect(
      Math.abs(Number(correction[1]) - meant) / Math.max(1, Math.abs(meant)),
      `${label}: ${correction}`,
    ).toBeLessThan(1e-5);
    expect((await send(path, new URLSearchParams([correction]))).status, `${label}: ${correction}`).toBe(200);
  }
  expect(refused).toBeGreaterThan(300);
  expect(proposed / refused).toBeGreaterThan(0.8);
}, 120_000);

test.each([
  [
    'tools',
    'mass=>=5',
    'mass: must be a number of kg without a sign of comparison (got ">=5"); did you mean min_mass=5?',
  ],
  ['tools', 'mass=>5', '…(got ">5"); did you mean min_mass=5, which includes 5?'],
  ['tools', 'runtime=>5', '…(got ">5"); did you mean min_runtime=6?'],
  ['tools', 'runtime=<5', '…(got "<5"); did you mean max_runtime=4?'],
  ['tools', 'min_runtime=<=5', '…(got "<=5"); did you mean max_runtime=5?'],
  ['tools', 'max_price.list=>=5', '…(got ">=5"); did you mean min_price.list=5?'],
  ['tools', 'runtime=!=5', '…(got "!=5"); did you mean not_runtime=5?'],
  ['tools', 'not_runtime=>5', '…(got ">5")'],
  ['tools', 'tested_on=>2026-01-31', '…(got ">2026-01-31"); did you mean min_tested_on=2026-02-01?'],
  ['tools', 'min_tested_on=<= 31.01.2026', '…(got "<= 31.01.2026"); did you mean max_tested_on=2026-01-31?'],
  ['tools', 'min_mass=1,5', '…(got "1,5"); did you mean 1.5?'],
  ['tools', 'min_mass=5 stone', 'min_mass: must be a number of kg (got "5 stone")'],
  ['tools', 'runtime=1 fortnight', 'runtime: must be a whole number of minutes (got "1 fortnight")'],
  ['tools', 'mass=1,000 kg', '…(got "1,000 kg"); did you mean 1000?'],
  ['tools', 'min_quality=150%', '…(got "150%")'],
])('%s?%s: %s', async (dataset, query, text) => {
  const [name = '', ...value] = query.split('=');
  const { status, body } = await send(`/v1/${dataset}/entities`, new URLSearchParams([[name, value.join('=')]]));
  expect(status).toBe(422);
  if (text.startsWith('…')) expect(String(body['message']).endsWith(text.slice(1)), String(body['message'])).toBe(true);
  else expect(body['message']).toBe(text);
});

test('a function instead of an attribute gets no attribute', async () => {
  const message = async (query: string) =>
    (await send('/v1/tools/stats', new URLSearchParams(query))).body['message'] as string;
  expect(await message('metric=avg')).toBe(
    '"metric" is not a filter or parameter of this operation. Answers contain every statistic: omit it.',
  );
  expect(await message('stat=median&attribute=mass')).toContain('omit it');
  const changelog = await send('/v1/tools/changelog', new URLSearchParams('metric=avg'));
  expect(changelog.body['message']).not.toMatch(/omit it|"attribute"/u);
  expect(await message('metric=mass')).toContain('Did you mean "attribute"?');
});

test('a radius with a unit is converted, and a proposed place is accepted', async () => {
  for (const [near, proposed] of [
    ['52.5,13.4,25km', '52.5,13.4,25'],
    ['52.5,13.4,2500m', '52.5,13.4,2.5'],
    ['52.5,13.4,10 mi', '52.5,13.4,16.09344'],
    ['52.5,13.4,10 stone', null],
  ]) {
    const { status, body } = await send('/v1/tools/entities', new URLSearchParams({ near: near! }));
    const text = String(body['message']);
    expect([status, /Did you mean near=(\S+)\?/u.exec(text)?.[1] ?? null]).toEqual([400, proposed]);
    if (proposed) expect((await send('/v1/tools/entities', new URLSearchParams({ near: proposed }))).status).toBe(200);
  }
});

test('of 500 near misses, every proposed value is accepted', async () => {
  const datasets = await readWorld(async (path) => app.json(path, { admin: true }));
  let followed = 0;
  for (const { path, query, given } of nearMisses(datasets, 500, 3)) {
    if (given !== undefined) continue;
    const { status, body } = await send(path, new URLSearchParams(query as [string, string][]));
    if (status !== 422) continue;
    const [, name = ''] = /^([\w.]+): /u.exec(String(body['message'])) ?? [];
    const correction = proposal(body, name);
    if (correction === null) continue;
    const others = query.filter(([other]) => other !== name) as [string, string][];
    const again = await app.ask(`${path}?${new URLSearchParams([...others, correction])}`, { admin: true });
    expect(again.status, `${path} ${name}: ${correction}`).toBe(200);
    followed += 1;
  }
  expect(followed).toBeGreaterThan(50);
}, 120_000);
