// docs/api.md against the table of operations and the kinds of filter.

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { OPERATIONS } from '../../api/operations/table.ts';
import { FILTER_KINDS } from '../../data/input/filters.ts';
import { isTest, MODULES, read, tableRows } from './tree.ts';

/** The text under each heading with an address, by that address. */
const sections = new Map(
  read('docs/api.md')
    .split(/^#{2,3} /m)
    .flatMap((text) => {
      const [heading = '', ...rest] = text.split('\n');
      return [...heading.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) [^`]+)`/g)].map(
        ([, path]) => [path ?? '', rest.join('\n')] as const,
      );
    }),
);

const address = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

describe('docs/api.md', () => {
  test.each(OPERATIONS.map((operation) => [operation.name, operation] as const))('describes %s', (_, operation) => {
    const path = `${operation.rest.method} ${address(operation.rest.path)}`;
    const text = sections.get(path);
    expect(text, `a heading with ${path}`).toBeDefined();
    const free =
      { key: 'Needs a key', plan: 'Part of the plans', admin: 'For operators' }[operation.charge.access as string] ??
      'Free';
    const { condition } = operation.charge.price ?? {};
    if (condition) return expect(text?.replace(/\s+/g, ' ')).toContain(`Price: ${condition.label}.`);
    if (operation.charge.amount) expect(text).toContain('Paid by x402 only');
    const price = operation.charge.amount
      ? 'Paid by x402'
      : operation.charge.price
        ? `Paid as \`${operation.charge.price.of}\``
        : free;
    expect(text?.trimStart().startsWith(price), `${path} begins with "${price}"`).toBe(true);
  });

  test.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
    'of %s describes each parameter in the table',
    (_, operation) => {
      const { properties = {} } = z.toJSONSchema(operation.input(null)) as {
        properties?: Record<string, { description?: string }>;
      };
      const silent = Object.entries(properties).filter(([, { description }]) => (description ?? '').length < 3);
      expect(
        silent.map(([name]) => name),
        'parameters that /docs shows without a description',
      ).toEqual([]);
    },
  );

  test('describes no operation that does not exist', () => {
    const known = OPERATIONS.map(({ rest }) => `${rest.method} ${address(rest.path)}`);
    const other = ['/', '/healthz', '/readyz', '/llms.txt', '/robots.txt', '/datasets/{ds}/{slug}.md'].map(
      (path) => `GET ${path}`,
    );
    expect([...sections.keys()].filter((path) => !known.includes(path) && !other.includes(path))).toEqual([]);
  });

  test('has each kind of filter with its attribute types, and no others', () => {
    const documented = tableRows('docs/api.md').filter(([name]) => name?.endsWith('<attr>='));
    const expected = FILTER_KINDS.map(({ prefix, types }) => [`${prefix}<attr>=`, types.join(', ')]);
    expect(documented.map((row) => row.slice(0, 2))).toEqual(expected);
  });
});

/** Paths under `/v1/` that are not operations, and one of an example. */
const OTHER_PATHS = ['/v1/catalog', '/v1/tools/facets', '/v1/*/export/*', '/v1/*/llms-full/*', '/v1/*'];

test('every path under /v1/ in code and pages is one of the table', () => {
  const known = new Set([...OTHER_PATHS, ...OPERATIONS.map(({ rest }) => rest.path.replace(/:\w+/g, '*'))]);
  const unknown = MODULES.filter((path) => !isTest(path) && /^(?:api|build|data|packs|site)\//.test(path)).flatMap(
    (path) =>
      [
        ...read(path)
          .replace(/\$?\{[\w.]+\}|<[\w ]+>|:\w+/g, '*')
          .matchAll(/(?<![\w*])(?:\*|\{base\})?(\/v1\/[\w*/.-]+)/g),
      ]
        .map(([, found]) => found!.replace(/[./]$/g, ''))
        .filter((found) => !known.has(found) && !known.has(found.replace(/\.md$/, '')))
        .map((found) => `${path}: ${found}`),
  );
  expect(unknown, 'an operation has another path, or none').toEqual([]);
});
