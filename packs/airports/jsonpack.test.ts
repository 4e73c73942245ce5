// The jsonpack reader on hand-written texts: dictionaries, escapes, nesting and invalid structures.
import { expect, test } from 'vitest';
import { unpack } from './jsonpack.ts';

test('strings, integers in base 36 and floats share one dictionary', () => {
  // 0 name, 1 Sample Field, 2 runway, 3 height, 4 the integer A, 5 the float
  expect(unpack('name|Sample+Field|runway|height^A^1.5^$0|1|2|4|3|5]')).toEqual({
    name: 'Sample Field',
    runway: 10,
    height: 1.5,
  });
});

test('values without an entry, and escaped characters', () => {
  expect(unpack('a|1%2B1%7C2%5E3%25^^^@0|1|-1|-2|-3|-4|-5]')).toEqual([
    'a',
    '1+1|2^3%',
    true,
    false,
    null,
    '',
    undefined,
  ]);
});

test('lists and objects nest', () => {
  expect(unpack('tags|x|y^^^@$0|@1|2]]|$0|@]]]')).toEqual([{ tags: ['x', 'y'] }, { tags: [] }]);
});

test.each([
  ['three parts', 'a^b^c'],
  ['no end', 'a^^^@0'],
  ['an entry that is not there', 'a^^^@7]'],
])('an invalid text throws: %s', (_, packed) => {
  expect(() => unpack(packed)).toThrow(SyntaxError);
});
