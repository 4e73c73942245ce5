// docs/packs.md against the code: every member, the printed example, and the messages of mistakes.
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { FILTER_KINDS, RESERVED } from '../../data/input/filters.ts';
import { RESERVED_NAMES } from '../../packs/define/attributes.ts';
import { loadPack, PackError, RESERVED_IDS } from '../../packs/define/load.ts';
import { ATTRIBUTE_TYPES } from '../../packs/define/model.ts';
import { PackShape } from '../../packs/define/shape.ts';
import { read, tableRows } from '../structure/tree.ts';

const DOCUMENT = 'docs/packs.md';
const temp = await realpath(await mkdtemp(join(tmpdir(), 'document-')));
afterAll(() => rm(temp, { recursive: true }));

/** Code blocks of a language, in order. */
const blocks = (language: string): string[] =>
  [...read(DOCUMENT).matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text]) => text ?? '');

/** Paths of all members below a shape, in the notation of the document: `sources.<id>.pins[].version`. */
function members(shape: z.core.$ZodType, path: string): string[] {
  if (shape instanceof z.ZodObject) {
    return Object.entries(shape.shape).flatMap(([name, member]) => {
      const at = path === '' ? name : `${path}.${name}`;
      return [at, ...members(member, at)];
    });
  }
  if (shape instanceof z.ZodRecord)
    return members(shape.valueType, `${path}.${path === 'sources' ? '<id>' : '<name>'}`);
  if (shape instanceof z.ZodArray) return members(shape.element, `${path}[]`);
  if (shape instanceof z.ZodUnion) return shape.options.flatMap((option) => members(option as z.core.$ZodType, path));
  const wrapped =
    shape instanceof z.ZodOptional || shape instanceof z.ZodExactOptional || shape instanceof z.ZodNullable;
  if (wrapped || shape instanceof z.ZodDefault) return members(shape.unwrap(), path);
  return [];
}

test('every member of PackInput has a row, and every row is a member', () => {
  const top = Object.keys(PackShape.shape);
  const documented = tableRows(DOCUMENT)
    .map(([name]) => name ?? '')
    .filter((name) => top.includes(name.split(/[.[]/)[0] ?? ''));
  expect(documented.sort()).toEqual(members(PackShape, '').sort());
});

test('every attribute type and every reserved id is listed', () => {
  const types = tableRows(DOCUMENT).flatMap(([name]) => (name ?? '').split(', '));
  for (const type of ATTRIBUTE_TYPES) expect(types).toContain(type);
  for (const id of RESERVED_IDS) expect(read(DOCUMENT)).toContain(`\`${id}\``);
});

async function bellTowers(folder: string, change: (pack: string) => string): Promise<string> {
  const at = join(temp, folder, 'bell-towers');
  await mkdir(at, { recursive: true });
  const [pack = '', collect = ''] = blocks('ts');
  await writeFile(join(at, 'pack.ts'), change(pack));
  await writeFile(join(at, 'collect.ts'), collect);
  await writeFile(join(at, 'samples.json'), blocks('json')[0] ?? '');
  await writeFile(join(at, 'record.md'), blocks('liquid')[0] ?? '');
  await writeFile(join(at, 'guide.md'), 'Any text.');
  return at;
}

test('the pack in the document passes the check, and its collector reads', async () => {
  const pack = await loadPack(await bellTowers('right', (text) => text));
  expect(pack).toMatchObject({ id: 'bell-towers', price_attributes: ['price.visit'] });
  const folder = join(temp, 'source');
  await mkdir(folder);
  await writeFile(join(folder, 'towers.json'), '[{"town":"Ringham","name":"Old Tom","metres":41.5},{"town":3}]');
  const reading = { source: 'ringers', package: 'ringers-almanac', version: '1.0.0', date_source: 'pin' as const };
  const logged: string[] = [];
  const context = { folder: async () => '', log: (line: string) => void logged.push(line) };
  const read = pack.collector.read({ ...reading, observed_at: '2026-11-20T00:00:00Z', folder }, context);
  const observed: unknown[] = [];
  for await (const record of read) observed.push(record);
  expect(observed).toMatchObject([{ identity: { town: 'Ringham', name: 'Old Tom' }, values: { height: 41.5 } }]);
  expect(logged).toHaveLength(1);
});

test('the mistakes in the document give the messages that it shows', async () => {
  const at = await bellTowers('wrong', (text) =>
    text.replace("type: 'number'", "type: 'nubmer'").replace("group_by: 'town'", "group_by: 'twon'"),
  );
  const error: unknown = await loadPack(at).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(PackError);
  const told = (error as PackError).message.replaceAll(at, 'bell-towers');
  expect(`${told}\n`).toBe(blocks('text')[0]);
});

test('no attribute can have the name of a search parameter', () => {
  for (const name of RESERVED) expect(RESERVED_NAMES).toContain(name);
  expect(
    FILTER_KINDS.map((kind) => kind.prefix)
      .filter(Boolean)
      .sort(),
  ).toEqual(['has_', 'like_', 'max_', 'min_', 'not_']);
});
