// A paid value is found in an answer of any format.
import { expect, test } from 'vitest';
import { keysIn } from './secrets.ts';

test('a paid text or number is found in every format, and within other text', () => {
  const formats = [
    '{"about":"Runs for twelve hours a day","price":1234.5678}',
    '<td>Runs for twelve hours a day</td><td>1234.5678</td>',
    'about,price\nRuns for twelve hours a day,1234.5678\n',
    'It says: Runs for twelve hours a day. It costs 1234.5678 EUR',
  ];
  for (const text of formats) {
    const keys = new Set(keysIn(text));
    expect(keys.has('Runs for twelve'.slice(0, 14)), text).toBe(true);
    expect(keys.has('1234.5678'), text).toBe(true);
  }
  expect(new Set(keysIn('91234.5678 and 1234.56789')).has('1234.5678')).toBe(false);
});
