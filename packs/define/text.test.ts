// Folding of texts.
import { expect, test } from 'vitest';
import { fold } from './text.ts';

test.each([
  ['Zürich', 'zurich'],
  ['Old Town, N.Y. (2)', 'old town, n.y. (2)'],
  ['', ''],
  [' Two  Spaces\t', 'two spaces'],
  ['Łódź Straße', 'lodz strasse'],
  ['東京 Tōkyō', '東京 tokyo'],
])('%j folds to %j', (text, folded) => {
  expect(fold(text)).toBe(folded);
  // Folding any text twice changes nothing more, so ASCII and other texts compare with each other.
  expect(fold(fold(text))).toBe(folded);
});
