// Address and evidence of a confirmed value.
import { expect, test } from 'vitest';
import { confirmedSource } from './confirmed-source.ts';
import { versionsOf } from './settle.ts';

const versions = versionsOf([
  { source: 's', at: 1, version: '1.0.1' },
  { source: 's', at: 2, version: '1.0.12' },
]);
const read = () => [];
const stated = (source_url: string, evidence = '') => ({ source: 's', at: 1, source_url, evidence });
const confirm = (url: string, evidence?: string, at = 2, source = 's') =>
  confirmedSource({ collector: { read } }, { ...stated(url, evidence), source }, { versions }, at);

test.each([
  ['https://a.example/p@1.0.1/x.json', 'https://a.example/p@1.0.12/x.json'],
  ['https://a.example/blob/v1.0.1/x', 'https://a.example/blob/v1.0.12/x'],
  ['https://a.example/p@1.0.12/x', 'https://a.example/p@1.0.12/x'],
  ['https://a.example/11.0.1/1.0.1.2/1.0.1-rc/x', 'https://a.example/11.0.1/1.0.1.2/1.0.1-rc/x'],
  ['https://a.example/', 'https://a.example/'],
])('%s becomes %s', (url, expected) => expect(confirm(url).source_url).toBe(expected));

test('also for evidence; an unknown reading or the first one changes nothing', () => {
  expect(confirm('https://a.example/', 'row 1 of 1.0.1.').evidence).toBe('row 1 of 1.0.12.');
  expect(confirm('https://a.example/1.0.1', '', 1).source_url).toBe('https://a.example/1.0.1');
  expect(confirm('https://a.example/1.0.1', '', 3).source_url).toBe('https://a.example/1.0.1');
  expect(confirm('https://a.example/1.0.1', '', 2, 'other').source_url).toBe('https://a.example/1.0.1');
});

test('a collector overrides the address when it does not contain the version', () => {
  const collector = { read, confirmedUrl: (url: string, { to }: { to: string }) => `${url}#${to}` };
  const context = { versions };
  expect(confirmedSource({ collector }, stated('https://a.example/1.0.1'), context, 2).source_url).toBe(
    'https://a.example/1.0.1#1.0.12',
  );
  const silent = { read, confirmedUrl: () => undefined };
  expect(confirmedSource({ collector: silent }, stated('https://a.example/1.0.1'), context, 2).source_url).toBe(
    'https://a.example/1.0.12',
  );
});

test('the same evidence from another version has its own result', () => {
  const context = {
    versions: versionsOf([
      { source: 's', at: 1, version: '1.0' },
      { source: 's', at: 2, version: '3.0' },
      { source: 't', at: 1, version: '2.0' },
      { source: 't', at: 2, version: '3.0' },
    ]),
  };
  const shown = ['s', 't', 's'].map((source) => {
    const about = { source, at: 1, source_url: '', evidence: 'rows 1.0 and 2.0' };
    return confirmedSource({ collector: { read } }, about, context, 2).evidence;
  });
  expect(shown).toEqual(['rows 3.0 and 2.0', 'rows 1.0 and 3.0', 'rows 3.0 and 2.0']);
});
