// Websites as the source contains them, valid and invalid.
import { expect, test } from 'vitest';
import { article, domain, website } from './values.ts';

test.each([
  ['https://Port.Sample.example/a b', 'https://port.sample.example/a%20b'],
  ['www.sample.example', 'http://www.sample.example/'],
  ['sample.example/airport', 'http://sample.example/airport'],
  ['[sample.example]', 'http://sample.example/'],
])('%s is the address %s', (typed, address) => {
  expect(website(typed)).toBe(address);
});

test.each([
  '',
  'tba',
  '#cite_note-1',
  'desk@sample.example',
  'ftp://sample.example/',
  'https://www.a b.example',
  'http://1.2.3.4/',
])('%s is no website', (typed) => {
  expect(website(typed)).toBeUndefined();
});

test('the domain is the host without www', () => {
  expect(domain('https://www.sample.example/x')).toBe('sample.example');
  expect(domain('https://www2.fly.sample.example./')).toBe('fly.sample.example');
  expect(domain(undefined)).toBeUndefined();
});

test('an article is on Wikipedia, in any language', () => {
  expect(article('https://de.wikipedia.org/wiki/X')).toBe('https://de.wikipedia.org/wiki/X');
  expect(article('https://people.example/in/someone')).toBeUndefined();
  expect(article('https://wikipedia.org.sample.example/wiki/X')).toBeUndefined();
});
