// Cursors: what is bound, what may change, that nothing else is accepted, and that nothing can be read in
// them.
import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cursors } from '../../tests/support/cursors.ts';
import { DataError } from '../model/errors.ts';
import { EXAMPLE_CURSORS, type Question, questionHash, sealedCursors } from './cursor.ts';

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
    return cursors.read(other, raw, type);
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

test('a cursor is the one that RFC 8452 prescribes, so that another implementation reads it', () => {
  const plain: Question = { dataset: 'places', where: [], sort: { key: 'name', descending: false } };
  const sealed = sealedCursors('a secret of the test');
  const after = { value: 'heavy', id: 'r-1' };
  // Encrypted by another implementation of AES-256-GCM-SIV, @noble/ciphers.
  const cursor = 'AF2Z_ZlHA0aTFnfI0QYv-tMnfDejBq3nHGrJh-PrAXELcWHFdgRWibsMjf52DwfVKrk';
  expect(sealed.write(plain, RELEASE, after)).toBe(cursor);
  expect(sealed.read(plain, cursor, 'string')).toEqual({ release: RELEASE, after });
});

test('any position comes back as it was', () => {
  const value = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null));
  fc.assert(
    fc.property(value, fc.string(), (value, id) => {
      const after = { value: value === 0 ? 0 : value, id };
      expect(cursors.read(question, cursors.write(question, RELEASE, after), 'number')).toEqual({
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
    const cursor = cursors.write(question, RELEASE, { value, id: 'r-1' });
    expect(cursors.read(question, cursor, type).after.value).toBe(value);
  }
});

test('conditions count in any order, whatever words may see', () => {
  const [maker, words] = question.where;
  const turned = [{ ...words!, scope: 'public' as const }, maker!] as Question['where'];
  expect(questionHash({ ...question, where: turned })).toEqual(questionHash(question));
});

test.each<[string, Question]>([
  ['dataset', { ...question, dataset: 'harbours' }],
  ['conditions', { ...question, where: question.where.slice(1) }],
  ['words', { ...question, where: [question.where[0]!, { kind: 'words', words: ['axe'], scope: 'full' }] }],
  ['sort', { ...question, sort: { key: 'quality', descending: false } }],
  ['direction', { ...question, sort: { key: 'mass', descending: true } }],
])('another %s: it is of another query', (_, other) => {
  const cursor = cursors.write(question, RELEASE, { value: 1, id: 'r-1' });
  expect(() => cursors.read(other, cursor, 'number')).toThrow('this is not a cursor of this query');
});

test('a cursor by relevance keeps the ties and the texts that ranked it', () => {
  const words = ['band', 'saw'];
  const relevance = { text: 'band saw', words, names: [], scope: 'public' as const, prominence: 'mass' };
  const ranked: Question = { ...question, sort: { key: 'relevance', descending: true, relevance } };
  const after = { value: 7, ties: [null, 0.5], id: 'r-1' };
  const cursor = cursors.write(ranked, RELEASE, after);
  expect(cursors.read(ranked, cursor, 'number')).toEqual({ release: RELEASE, after, scope: 'public' });
  const turned = { ...relevance, text: 'saw band' };
  const other = { ...ranked, sort: { ...ranked.sort, relevance: turned } };
  expect(() => cursors.read(other, cursor, 'number')).toThrow('this is not a cursor of this query');
});

test('a sort attribute that has changed its type since', () => {
  const cursor = cursors.write(question, RELEASE, { value: 'heavy', id: 'r-1' });
  expect(() => cursors.read(question, cursor, 'number')).toThrow('this is not a cursor of this query');
});

test('no single changed character is accepted', () => {
  const cursor = cursors.write(question, RELEASE, { value: 1.5, id: 'r-1' });
  for (let i = 0; i < cursor.length; i++)
    for (const other of ['A', 'z', '_', '=', ' ', 'é'].filter((one) => one !== cursor[i])) {
      const changed = cursor.slice(0, i) + other + cursor.slice(i + 1);
      expect(() => cursors.read(question, changed, 'number'), changed).toThrow('not a cursor of this query');
    }
});

test.each(['', 'null', 'x'.repeat(20_000), '../../etc/passwd', 'bm90IGEgY3Vyc29y'])('garbage is refused: %s', (raw) =>
  expect(() => cursors.read(question, raw, 'number')).toThrow('not a cursor of this query'),
);

test('a release id that is none is refused, though the cursor is ours', () => {
  const cursor = cursors.write(question, '../../../../etc', { value: 1, id: 'r-1' });
  expect(() => cursors.read(question, cursor, 'number')).toThrow('not a cursor of this query');
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
      const cursor = cursors.write(question, RELEASE, after);
      const second = cursors.write(question, RELEASE, other);
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

test('a cursor of the format before this one is refused', () => {
  const body = JSON.stringify([1, RELEASE, '73FClsvQ', 600, 'r-107888dabb4c3c7b']);
  const sum = hash('sha256', body, 'base64url').slice(0, 8);
  expect(decoded(question, sum + Buffer.from(body).toString('base64url'), 'number')).toBeNull();
});

test('no part of the position can be read, alike or in another secret, and the same page has the same cursor', () => {
  const after = { value: "zhipu ai's native multimodal model", id: 'r-107888dabb4c3c7b' };
  const cursor = cursors.write(question, RELEASE, after);
  const bytes = Buffer.from(cursor, 'base64url');
  for (const part of [after.value, after.id, RELEASE, 'zhipu']) {
    expect(bytes.includes(part)).toBe(false);
    expect(cursor).not.toContain(Buffer.from(part).toString('base64url').slice(0, 6));
  }
  expect(cursors.write({ ...question }, RELEASE, { ...after })).toBe(cursor);
  const other = sealedCursors('another secret');
  expect(other.write(question, RELEASE, after)).not.toBe(cursor);
  expect(() => other.read(question, cursor, 'string')).toThrow('not a cursor of this query');
});

test('two values of the same length share no block of their cursors', () => {
  const of = (value: string) =>
    Buffer.from(cursors.write(question, RELEASE, { value, id: 'r-107888dabb4c3c7b' }), 'base64url').toString('hex');
  const [one, two] = [of('a'.repeat(64)), of(`${'a'.repeat(63)}b`)];
  for (let at = 0; at + 32 <= one.length; at += 32) expect(two).not.toContain(one.slice(at, at + 32));
});

test('documents show a text in the place of a cursor, which is none', () => {
  const shown = EXAMPLE_CURSORS.write(question, RELEASE, { value: 600, id: 'r-1' });
  expect(shown).toBe('example-cursor');
  expect(() => EXAMPLE_CURSORS.read(question, shown, 'number')).toThrow('not a cursor of this query');
  expect(decoded(question, shown, 'number')).toBeNull();
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
      const cursor = cursors.write(mine, RELEASE, after);
      const type = after.value === null ? 'number' : (typeof after.value as (typeof TYPES)[number]);
      expect(decoded(mine, cursor, type)).toEqual({ release: RELEASE, after });
      if (!questionHash(mine).equals(questionHash(foreign))) expect(decoded(foreign, cursor, type)).toBeNull();
    }),
    { ...runs, numRuns: 1000 },
  );
});
