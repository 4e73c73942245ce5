// Extracts data from JavaScript whatever its strings contain, and nothing but data.
import { describe, expect, test } from 'vitest';
import { cutLiteral, findLiteral, readLiteral } from './literal.ts';

describe('cutLiteral', () => {
  test.each([
    ['[1, {a: [2]}] and more', '[1, {a: [2]}]'],
    ['{a: "]}", b: \'}\'}; x', '{a: "]}", b: \'}\'}'],
    ['["a \\" ] b"] x', '["a \\" ] b"]'],
    ['[`}] $ {`] x', '[`}] $ {`]'],
    ['["f(x) => y; // no comment"]', '["f(x) => y; // no comment"]'],
  ])('%s', (text, expected) => {
    expect(cutLiteral(text, 0)).toBe(expected);
  });

  test.each([
    ['[1, 2', 'the end of the file'],
    ['["a', 'the end of the file'],
    ['[load()]', 'expected data'],
    ['[a => a]', 'expected data'],
    ['[1 /* one */]', 'expected data'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what is refused
    ['[`${secret}`]', 'a template with code'],
  ])('rejects %s', (text, reason) => {
    expect(() => cutLiteral(text, 0)).toThrow(reason);
  });
});

describe('readLiteral', () => {
  test('reads values that JSON cannot represent', () => {
    expect(readLiteral("[{id: 'a', on: !0, off: !1, n: 2e5, none: undefined}]")).toEqual([
      { id: 'a', on: true, off: false, n: 200000 },
    ]);
  });

  test('has no access to globals of this process', () => {
    expect(() => readLiteral('[process]')).toThrow('process is not defined');
    expect(() => readLiteral('[globalThis.require.name]')).toThrow();
  });
});

test('findLiteral starts at the bracket of its pattern and throws without a match', () => {
  expect(findLiteral('x = [1]; const E = [\n { id: "a" }];', /=\s*\[\s*\{\s*(?=id:)/)).toEqual([{ id: 'a' }]);
  expect(() => findLiteral('export {}', /=\s*\[/)).toThrow('the package has a new layout');
});
