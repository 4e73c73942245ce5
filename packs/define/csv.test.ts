// CSV of publishers, read by column names.
import { expect, test } from 'vitest';
import { csvRows } from './csv.ts';

const rows = (text: string, delimiter?: ',' | ';' | '\t') => [...csvRows(text, delimiter)];

test('quotes, doubled quotes, delimiters and line ends inside, either line end, a byte order mark, no last line end', () => {
  const text = '\ufeffname, note\r\n"a, b","say ""hi""\nthere"\r\n\nplain,2';
  expect(rows(text)).toEqual([
    { name: 'a, b', note: 'say "hi"\nthere' },
    { name: 'plain', note: '2' },
  ]);
});

test('an empty field, and one that a short row lacks, is undefined', () => {
  expect(rows('a;b;c\n1;;\n2', ';')).toEqual([{ a: '1' }, { a: '2' }]);
  expect(rows('a\tb\nx y\t"1"', '\t')).toEqual([{ a: 'x y', b: '1' }]);
  expect(rows('a,b\n')).toEqual([]);
  expect(rows('')).toEqual([]);
});

test('a row that does not match its header throws with its line number', () => {
  expect(() => rows('a,b\n"1\n2",3\n4,5,6')).toThrow('line 4 of the CSV has 3 fields (the header has 2)');
  expect(() => rows('a,b\n"1"x,2')).toThrow('line 2 of the CSV: "x,2" follows a closing quote');
});

test('an unclosed quote throws with its line number, wherever the file has others', () => {
  expect(() => rows('a,b\n"x,1\ny,2')).toThrow('line 2 of the CSV: the quote before "x,1\\ny,2" is never closed');
  expect(() => rows('a,b\n"1\n2",3\n4,"say ""hi""')).toThrow('line 4 of the CSV: the quote before');
  expect(() => rows('a\n"')).toThrow('line 2 of the CSV: the quote before "" is never closed');
  expect(rows('a\n""""')).toEqual([{ a: '"' }]);
});

test('a long field is read', () => {
  const long = 'x"y'.repeat(4_000_000);
  const [quoted] = rows(`a,b\n"${long.replaceAll('"', '""')}",1`);
  expect(quoted?.['a'] === long).toBe(true);
  const bare = 'x'.repeat(10_000_000);
  expect(rows(`a,b\n1,${bare}`)[0]?.['b'] === bare).toBe(true);
});

test('two columns of one name throw; columns without a name do not', () => {
  expect(() => rows('a, b,b \n1,2,3')).toThrow('the header of the CSV has two columns "b"');
  expect(rows('a,,\n1,,')).toMatchObject([{ a: '1' }]);
});
