// Attributes with the names of parameters: `is_<attribute>` where the parameter exists, in every channel.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runPackCommand } from '../../../build/cli/pack.ts';
import { ADMIN, appOfAll } from '../../support/app.ts';
import { listenerOfAll } from '../../support/listening.ts';
import { connectMcp } from '../../support/mcp-clients.ts';

const TESTS = join(import.meta.dirname, '../..');

/** New names of attributes: parameters of the changelog alone, and one of every operation with filters. */
const RENAMED: Record<string, string> = { town: 'type', height: 'offset', keeper: 'entity', lit: 'bbox' };

const folder = join(mkdtempSync(join(tmpdir(), 'packs-')), 'lamps');
cpSync(join(TESTS, 'app/static/lanterns/input/lanterns'), folder, { recursive: true });
for (const file of ['pack.ts', 'samples.json', 'record.md'])
  writeFileSync(
    join(folder, file),
    Object.entries(RENAMED).reduce(
      (text, [name, renamed]) =>
        text
          .replaceAll(`'${name}'`, `'${renamed}'`)
          .replaceAll(`"${name}"`, `"${renamed}"`)
          .replace(`    ${name}: {`, `    ${renamed}: {`),
      readFileSync(join(folder, file), 'utf8').replace("'Who lights it',", "'Who lights it', filterable: true,"),
    ),
  );
const app = await appOfAll({ packs: [relative(TESTS, folder)] });
const at = await listenerOfAll(app);
afterAll(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const values = (name: string): string[] => [
  ...new Set(app.records['lamps']!.flatMap(({ attributes }) => attributes[name] ?? []).map(String)),
];
const ask = async (path: string) => {
  const { status, body } = await app.json(`/v1/lamps/${path}`, { admin: true });
  return { status, body };
};

describe('over REST', () => {
  test('is_ filters where the name is a parameter, and the plain name elsewhere', async () => {
    const [type = ''] = values('type');
    const plain = await ask(`entities?type=${encodeURIComponent(type)}&total=true`);
    expect(plain.body['total']).toBe(
      app.records['lamps']!.filter(({ attributes }) => attributes['type'] === type).length,
    );
    expect((await ask(`changelog?is_type=${encodeURIComponent(type)}&type=all&days=365`)).status).toBe(200);
    expect((await ask(`changelog?is_entity=${encodeURIComponent(values('entity')[0]!)}`)).status).toBe(200);
    expect((await ask('changelog?is_offset=4&min_offset=1&offset=0')).status).toBe(200);
    const lit = await ask('entities?is_bbox=true&total=true');
    expect(lit.body['total']).toBe(
      app.records['lamps']!.filter(({ attributes }) => attributes['bbox'] === true).length,
    );
    expect((await ask('stats?attribute=offset&is_bbox=true')).status).toBe(200);
  });

  test.each([
    ['changelog?type=Musterstadt', 422, 'is_type=Musterstadt filters by the attribute type'],
    ['changelog?offset=low', 422, 'is_offset=low filters by the attribute offset'],
    ['entities?is_type=Musterstadt', 400, 'Did you mean "type"?'],
    ['entities?bbox=true', 400, 'bbox: lamps has no geographic attribute'],
  ])('%s is %i with the right spelling', async (path, status, message) => {
    const refused = await ask(path);
    expect([refused.status, refused.body['message']]).toEqual([status, expect.stringContaining(message)]);
  });
});

test('the schema, the guide and OpenAPI have the spelling of each operation', async () => {
  const { filters } = (await ask('schema')).body as { filters: { name: string; description: string }[] };
  expect(filters.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['type', 'entity', 'offset', 'is_bbox', 'not_bbox']),
  );
  expect(filters.map(({ name }) => name)).not.toContain('bbox');
  expect(filters.find(({ name }) => name === 'type')?.description).toContain(
    'In dataset_changelog, which has a parameter type, write is_type.',
  );
  const guide = await (await app.ask('/v1/lamps/llms.txt')).text();
  expect(guide).toContain('the filter by the field is `is_type` there');
  const { paths } = (await app.json('/openapi.json')).body as {
    paths: Record<string, { get: { parameters: { $ref?: string; name?: string }[] } }>;
  };
  const names = (path: string) =>
    paths[path]!.get.parameters.map(
      ({ name, $ref = '' }) => name ?? $ref.replace('#/components/parameters/lamps.', ''),
    );
  expect(names('/v1/lamps/changelog').filter((name) => /type|bbox/.test(name))).toEqual(
    expect.arrayContaining(['type', 'is_type', 'is_bbox']),
  );
  expect(names('/v1/lamps/entities')).toEqual(expect.arrayContaining(['type', 'offset', 'is_bbox']));
  expect(names('/v1/lamps/entities')).not.toContain('is_type');
  for (const { get } of Object.values(paths)) {
    const all = (get?.parameters ?? []).map(({ name, $ref = '' }) => name ?? $ref.replace(/^.*\/(?:\w+\.)?/, ''));
    expect(new Set(all).size).toBe(all.length);
  }
});

test('MCP tools take the same spellings, flat and in filters', async () => {
  const client = await connectMcp('2026-07-28', `${at.base}/mcp`, { Authorization: `Bearer ${ADMIN}` });
  const [type = ''] = values('type');
  const call = async (name: string, args: Record<string, unknown>) => {
    const { isError, structuredContent } = await client.call(name, { ...args, format: 'json' });
    return [isError ?? false, structuredContent];
  };
  const found = await call('lamps_search', { type: [type], is_bbox: true, limit: 1 });
  expect(found).toEqual([false, expect.objectContaining({ items: expect.any(Array) })]);
  expect(await call('dataset_changelog', { dataset: 'lamps', filters: { is_type: type } })).toEqual([
    false,
    expect.objectContaining({ items: expect.any(Array) }),
  ]);
  expect(await call('dataset_changelog', { dataset: 'lamps', filters: { type } })).toEqual([
    true,
    expect.objectContaining({ message: expect.stringContaining('is_type=') }),
  ]);
  const changelog = (await client.tools()).find(({ name }) => name === 'dataset_changelog');
  expect(JSON.stringify(changelog?.inputSchema)).toContain('is_type for type');
  await client.close();
});

test('pack check notes it', async () => {
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  expect(await runPackCommand(['check', folder], { cwd: '/', log, environment: {} })).toBe(0);
  expect(lines).toContain('Note: type is a parameter of dataset_changelog; there, is_type= filters by the attribute.');
});
