// Cursors: what is bound, what may change, and that nothing else is accepted.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor, type Question, questionHash } from './cursor.ts';

const question: Question = {
  dataset: 'tools',
  where: [
    { kind: 'any', attribute: 'maker', values: ['acme'] },
    { kind: 'words', words: ['saw'], scope: 'full' },
  ],
  sort: { key: 'mass', descending: false },
};
const RELEASE = '0123456789abcdef';

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
