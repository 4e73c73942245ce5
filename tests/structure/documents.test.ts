// Documents against the code: settings, error codes, links.
import { dirname, normalize } from 'node:path/posix';
import { describe, expect, test } from 'vitest';
import { STRIPE_EVENTS } from '../../api/checkout/events.ts';
import { ERROR_HELP, errorTables } from '../../api/contract/error-help.ts';
import { ERRORS } from '../../api/contract/errors.ts';
import { readConfig } from '../../config.ts';
import { TRACKS } from '../../site/tracks.ts';
import { exists, FILES, read, rowsOf, tableRows } from './tree.ts';

/** Names of the settings in config.ts. */
const settings = [...read('config.ts').matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map((match) => match[1] ?? '').sort();

/** NAME=value lines of .env.example, the commented ones too. */
const example = [...read('.env.example').matchAll(/^#?([A-Z][A-Z0-9_]+)=(.*)$/gm)].map(
  (match) => [match[1] ?? '', match[2] ?? ''] as const,
);

describe('settings', () => {
  test('docs/settings.md has a row for each and no others', () => {
    const documented = tableRows('docs/settings.md').map(([name]) => name);
    expect(documented.sort()).toEqual(settings);
  });

  test('.env.example contains each, with values that change nothing', () => {
    expect(example.map(([name]) => name).sort()).toEqual(settings);
    expect(readConfig(Object.fromEntries(example))).toEqual(readConfig({}));
  });
});

describe('errors', () => {
  test('the guide has each code with its status and whether a retry may help, and no others', () => {
    const documented = rowsOf(errorTables());
    const expected = Object.entries(ERRORS).map(([code, row]) => [
      code,
      String(row.status),
      row.retriable ? 'yes' : 'no',
    ]);
    expect(documented.map((row) => row.slice(0, 3)).sort()).toEqual(expected.sort());
  });

  test('each code has a meaning and an action in sentences', () => {
    for (const [code, { meaning, action }] of Object.entries(ERROR_HELP))
      for (const text of [meaning, action]) expect(text.split(' ').length, code).toBeGreaterThan(3);
  });
});

describe("Stripe's events", () => {
  test('docs/checkout.md lists exactly the handled events for the subscription', () => {
    const documented = tableRows('docs/checkout.md').map(([event]) => event);
    expect(documented).toEqual(Object.keys(STRIPE_EVENTS));
  });
});

describe('links', () => {
  const documents = FILES.filter((path) => path.endsWith('.md') && !path.startsWith('tests/'));

  test('every relative link leads to a file', () => {
    const broken = documents.flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:|mailto:|#|\{)([^)\s#]+)[^)]*\)/g)]
        .map((match) => match[1] ?? '')
        .filter((link) => !link.includes('{{') && !exists(normalize(`${dirname(path)}/${link}`)))
        .map((link) => `${path} links to ${link}`),
    );
    expect(broken).toEqual([]);
  });

  test('pages of decisions have continuous numbers and the length that docs/decisions/README.md states', () => {
    const pages = documents.filter((path) => /^docs\/decisions\/\d/.test(path));
    const numbers = pages.map((path) => Number(/\/(\d{4})-/.exec(path)?.[1]));
    expect(numbers).toEqual(pages.map((_, index) => index + 1));
    const longest = Number(/at most (\d+) lines/.exec(read('docs/decisions/README.md'))?.[1]);
    const lengths = pages.map((path) => [path, read(path).trimEnd().split('\n').length] as const);
    expect(lengths.filter(([, length]) => !(length <= longest))).toEqual([]);
  });

  test('docs/README.md links to every document', () => {
    const index = read('docs/README.md') + read('docs/decisions/README.md');
    const lost = documents.filter(
      (path) =>
        path.startsWith('docs/') &&
        !path.endsWith('/README.md') &&
        !index.includes(`(${path.replace(/^docs\/(decisions\/)?/, '')})`),
    );
    expect(lost).toEqual([]);
  });
});

test('every guide is in one track of the site', () => {
  const guides = FILES.flatMap((path) => /^docs\/([\w-]+)\.md$/.exec(path)?.[1] ?? []).filter(
    (name) => name !== 'README',
  );
  expect(TRACKS.flatMap((track) => track.guides).sort()).toEqual(guides.sort());
});
