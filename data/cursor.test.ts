// Cursors: what is bound, what may change, and that nothing else is accepted.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor, type Question, questionHash } from './cursor.ts';
import { DataError } from './errors.ts';

const question: Question = {
  dataset: 'tools',
  where: [
    { kind: 'any', attribute: 'maker', values: ['acme'] },
    { kind: 'words', words: ['saw'], scope: 'full' },
  ],
  sort: { key: 'mass', descending: false },
};
const RELEASE = '0123456789abcdef';
const TYPES = ['string', 'number', 'boolean'] as const;

/** The cursor, or null where it was refused as a cursor must be. */
function decoded(other: Question, raw: string, type: (typeof TYPES)[number]) {
  try {
    return decodeCursor(other, raw, type);
  } catch (error) {
    expect(error).toBeInstanceOf(DataError);
    expect((error as DataError).code).toBe('invalid_cursor');
    expect((error as DataError).message).not.toMatch(/\p{Cc}/u);
    return null;
  }
}

const position = fc.record({
  value: fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0),
    fc.string({ unit: 'grapheme' }),
    fc.boolean(),
    fc.constant(null),
  ),
  id: fc.string({ unit: 'grapheme' }),
});
const runs = { seed: 20261120, numRuns: 2000 };

test('any position comes back as it was', () => {
  const value = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null));
  fc.assert(
    fc.property(value, fc.string(), (value, id) => {
      const after = { value: value === 0 ? 0 : value, id };
      expect(decodeCursor(question, encodeCursor(question, RELEASE, after), 'number')).toEqual({
        release: RELEASE,
        after,
      });
    }),
  );
  for (const [value, type] of [
    ['zürich 東\0', 'string'],
    [true, 'boolean'],
    [null, 'string'],
  ] as const) {
    const cursor = encodeCursor(question, RELEASE, { value, id: 'r-1' });
    expect(decodeCursor(question, cursor, type).after.value).toBe(value);
  }
});

test('conditions count in any order, whatever words may see', () => {
  const [maker, words] = question.where;
  const turned = [{ ...words!, scope: 'public' as const }, maker!] as Question['where'];
  expect(questionHash({ ...question, where: turned })).toBe(questionHash(question));
});

test.each<[string, Question]>([
  ['dataset', { ...question, dataset: 'harbours' }],
  ['conditions', { ...question, where: question.where.slice(1) }],
  ['words', { ...question, where: [question.where[0]!, { kind: 'words', words: ['axe'], scope: 'full' }] }],
  ['sort', { ...question, sort: { key: 'quality', descending: false } }],
  ['direction', { ...question, sort: { key: 'mass', descending: true } }],
])('another %s: it belongs to another question', (_, other) => {
  const cursor = encodeCursor(question, RELEASE, { value: 1, id: 'r-1' });
  expect(() => decodeCursor(other, cursor, 'number')).toThrow('it belongs to another question');
});

test('a sort attribute that has changed its type since', () => {
  const cursor = encodeCursor(question, RELEASE, { value: 'heavy', id: 'r-1' });
  expect(() => decodeCursor(question, cursor, 'number')).toThrow('it belongs to another question');
});

test('no single changed character is accepted', () => {
  const cursor = encodeCursor(question, RELEASE, { value: 1.5, id: 'r-1' });
  for (let i = 0; i < cursor.length; i++)
    for (const other of ['A', 'z', '_', '=', ' ', 'é'].filter((one) => one !== cursor[i])) {
      const changed = cursor.slice(0, i) + other + cursor.slice(i + 1);
      expect(() => decodeCursor(question, changed, 'number'), changed).toThrow(
        'not a cursor that the service gave out',
      );
    }
});

test.each(['', 'null', 'x'.repeat(20_000), '../../etc/passwd', 'bm90IGEgY3Vyc29y'])('garbage is refused: %s', (raw) =>
  expect(() => decodeCursor(question, raw, 'number')).toThrow('not a cursor that the service gave out'),
);

test('a release id that is none is refused, though the sum is right', () => {
  const cursor = encodeCursor(question, '../../../../etc', { value: 1, id: 'r-1' });
  expect(() => decodeCursor(question, cursor, 'number')).toThrow('not a cursor that the service gave out');
});

test('what nobody gave out is refused, whatever it is', () => {
  const raw = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.base64String({ maxLength: 400 }),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
  );
  fc.assert(
    fc.property(raw, fc.constantFrom(...TYPES), (raw, type) => {
      expect(decoded(question, raw, type)).toBeNull();
    }),
    runs,
  );
});

test('a part of a cursor, one made longer and two put together are refused', () => {
  fc.assert(
    fc.property(position, position, fc.nat(), fc.string({ minLength: 1 }), (after, other, n, more) => {
      const cursor = encodeCursor(question, RELEASE, after);
      const second = encodeCursor(question, RELEASE, other);
      const cut = n % cursor.length;
      for (const forged of [
        cursor.slice(0, cut),
        cursor.slice(cut + 1),
        cursor + more,
        cursor + second,
        cursor.slice(0, cut) + second.slice(cut),
      ])
        for (const type of TYPES)
          if (forged !== cursor && forged !== second) expect(decoded(question, forged, type)).toBeNull();
    }),
    { ...runs, numRuns: 500 },
  );
});

test('a body that someone made up and summed rightly is a cursor or refused, and gives no other release, type or question', () => {
  const made = fc.oneof(
    fc.json(),
    fc
      .tuple(
        fc.constantFrom<unknown>(1, 2, '1', null),
        fc.oneof(fc.constant(RELEASE), fc.string()),
        fc.oneof(fc.constant(questionHash(question)), fc.string()),
        fc.jsonValue(),
        fc.jsonValue(),
      )
      .map((body) => JSON.stringify(body)),
    fc.string(),
  );
  fc.assert(
    fc.property(made, fc.constantFrom(...TYPES), (body, type) => {
      const sum = createHash('sha256').update(body).digest().subarray(0, 6);
      const found = decoded(question, Buffer.concat([sum, Buffer.from(body)]).toString('base64url'), type);
      if (found === null) return;
      expect(found.release).toMatch(/^[0-9a-f]{16}$/);
      expect(found.after.value === null || typeof found.after.value === type).toBe(true);
      expect(typeof found.after.id).toBe('string');
    }),
    { ...runs, numRuns: 5000 },
  );
});

test('the cursor of one question is of no use to another', () => {
  const other = fc.record({
    dataset: fc.constantFrom('tools', 'harbours'),
    where: fc.array(
      fc.oneof(
        fc.record({
          kind: fc.constant('any' as const),
          attribute: fc.constantFrom('maker', 'kind'),
          values: fc.array(fc.string(), { minLength: 1, maxLength: 2 }),
        }),
        fc.record({
          kind: fc.constant('min' as const),
          attribute: fc.constantFrom('mass', 'price'),
          value: fc.double({ noNaN: true }),
        }),
        fc.record({
          kind: fc.constant('words' as const),
          words: fc.array(fc.string(), { minLength: 1, maxLength: 2 }),
          scope: fc.constantFrom('public' as const, 'full' as const),
        }),
      ),
      { maxLength: 3 },
    ),
    sort: fc.record({ key: fc.constantFrom('quality', 'mass'), descending: fc.boolean() }),
  });
  fc.assert(
    fc.property(other, other, position, (mine, foreign, after) => {
      const cursor = encodeCursor(mine, RELEASE, after);
      const type = after.value === null ? 'number' : (typeof after.value as (typeof TYPES)[number]);
      expect(decoded(mine, cursor, type)).toEqual({ release: RELEASE, after });
      if (questionHash(mine) !== questionHash(foreign)) expect(decoded(foreign, cursor, type)).toBeNull();
    }),
    { ...runs, numRuns: 1000 },
  );
});
