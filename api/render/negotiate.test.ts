// Negotiation: suffix before parameter before header, quality values, and the Vary header.
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/support/verifies.ts';
import { negotiate, preferred, prefersProblem } from './negotiate.ts';

verifies('markdown.negotiated');

const both = ['json', 'markdown'] as const;
const by = (accept?: string) => negotiate(both, { accept, suffix: false });

describe('negotiate', () => {
  test.each([
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['text/markdown', 'markdown'],
    ['TEXT/Markdown', 'markdown'],
    ['text/markdown, */*;q=0.1', 'markdown'],
    ['text/markdown, text/html, */*', 'markdown'],
    ['text/markdown;q=0.4, application/json;q=0.9', 'json'],
    ['text/markdown;q=0.9, application/json;q=0.4', 'markdown'],
    ['text/markdown;q=0, */*', 'json'],
    ['application/json;q=0, */*', 'markdown'],
    ['text/*', 'markdown'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json'],
    ['image/png', 'json'],
    ['text/markdown;charset=utf-8', 'markdown'],
    ['text/markdown;q=abc', 'json'],
    [';;;,,,q=', 'json'],
    ['"unclosed', 'json'],
  ])('Accept %j answers %s', (accept, format) => {
    expect(by(accept)).toEqual({ format, varies: true });
  });

  test('the suffix decides alone, whatever the header says', () => {
    expect(negotiate(both, { accept: 'application/json', suffix: true })).toEqual({
      format: 'markdown',
      varies: false,
    });
  });

  test('the parameter decides before the header; an unknown one is left to the parser', () => {
    expect(negotiate(both, { accept: 'text/markdown', suffix: false, parameter: 'json' })).toEqual({
      format: 'json',
      varies: false,
    });
    expect(negotiate(both, { suffix: false, parameter: 'md' }).format).toBe('markdown');
    expect(negotiate(both, { suffix: false, parameter: 'xls' }).format).toBe('json');
  });

  test.each([
    ['text/csv', 'csv'],
    ['text/csv; charset=utf-8', 'csv'],
    ['application/x-ndjson, */*;q=0.1', 'ndjson'],
    ['application/vnd.apache.arrow.stream', 'arrow'],
    ['text/*', 'markdown'],
    ['application/*', 'json'],
    ['*/*', 'json'],
  ])('tabular formats are chosen by their own name alone: %s answers %s', (accept, format) => {
    const all = ['json', 'markdown', 'csv', 'ndjson', 'arrow'] as const;
    expect(negotiate(all, { accept, suffix: false })).toEqual({ format, varies: true });
  });

  test('an operation with one format does not vary', () => {
    expect(negotiate(['json'], { accept: 'text/markdown', suffix: false })).toEqual({ format: 'json', varies: false });
  });

  test('text stands first for guides', () => {
    const guide = (accept: string) => negotiate(['text', 'markdown'], { accept, suffix: false }).format;
    expect(guide('*/*')).toBe('text');
    expect(guide('text/markdown')).toBe('markdown');
  });
});

test('problem details only where they are preferred', () => {
  expect(prefersProblem('application/problem+json')).toBe(true);
  expect(prefersProblem('application/problem+json, application/json;q=0.5')).toBe(true);
  expect(prefersProblem('application/json, application/problem+json;q=0.5')).toBe(false);
  expect(prefersProblem('*/*')).toBe(false);
  expect(prefersProblem('text/markdown')).toBe(false);
  expect(prefersProblem(undefined)).toBe(false);
});

test('nothing acceptable is undefined', () => {
  expect(preferred('image/png', ['text/html'])).toBeUndefined();
});
