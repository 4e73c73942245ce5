// Hostile text in every text parameter matches nothing, breaks nothing and is never part of a statement.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { randomRecords } from '../../tests/support/random-records.ts';
import { writeRelease } from '../../tests/support/write-release.ts';
import type { Engine, Predicate } from '../plan/plan.ts';
import { openEngine } from './engine.ts';
import { facetStatement, searchStatement } from './questions.ts';
import { type Shape, sortColumn } from './shape.ts';

const HOSTILE = [
  `'`,
  `"`,
  `'; DROP TABLE records; --`,
  `" OR 1=1 --`,
  `' UNION SELECT body FROM bodies --`,
  `') OR (SELECT count(*) FROM terms) > 0 --`,
  `?`,
  `$1`,
  `:name`,
  `%`,
  `_`,
  `\\`,
  `\\'; DROP TABLE terms; --`,
  `/* */`,
  `-- \n`,
  `;`,
  `read_text('/etc/passwd')`,
  `\u0000`,
  `\u{10ffff}`,
  `\ufffd`,
  `x'41'`,
  `E'\\x27'`,
  `{{7*7}}`,
  'x'.repeat(100_000),
];

const dataDir = scratchOfAll();
let pack: Pack;
let engine: Engine;
let shape: Shape;

beforeAll(async () => {
  pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));
  // Names of attributes are from publishers, but identifiers are quoted in any case.
  const odd = { ...pack.attributes[0]!, name: `odd"; DROP TABLE records; --` };
  pack = { ...pack, attributes: [...pack.attributes, odd] };
  const attributes = { name: 'Plain saw', maker: 'Acme', materials: ['Oak'], [odd.name]: 'plain' };
  const records = randomRecords(pack, 40, 3).map((record) => ({ ...record, attributes }));
  const { folder, manifest } = await writeRelease(dataDir, pack, records);
  engine = await openEngine(folder, pack, manifest);
  shape = { attributes: new Map(pack.attributes.map((attribute) => [attribute.name, attribute])), enums: new Map() };
});
afterAll(async () => {
  await engine.close();
});

const sort = { key: 'name', descending: false };
const plan = (where: Predicate[]) => ({ where, sort, after: null, limit: 100, total: true });

/** Every predicate with a text, using this text. */
const conditions = (text: string): Predicate[] => [
  { kind: 'any', attribute: 'name', values: [text] },
  { kind: 'any', attribute: 'maker', values: ['x', text] },
  { kind: 'any', attribute: 'materials', values: [text] },
  { kind: 'like', attribute: 'maker', needle: text },
  { kind: 'like', attribute: 'name', needle: text },
  { kind: 'words', words: [text], scope: 'full' },
  { kind: 'ids', refs: [text] },
];

test.each(HOSTILE.map((text) => [JSON.stringify(text.slice(0, 50)), text]))('%s', async (_, text) => {
  const harmless = searchStatement(plan(conditions('x')), shape).text;
  expect(searchStatement(plan(conditions(text)), shape).text).toBe(harmless);
  for (const predicate of conditions(text)) {
    expect(await engine.search(plan([predicate])), predicate.kind).toEqual({ ordinals: [], next: null, total: 0 });
    expect((await engine.facets({ where: [predicate], by: 'maker', limit: 5, floor: 0 })).matched).toBe(0);
  }
  const none: Predicate = { kind: 'none', attribute: 'maker', values: [text] };
  expect((await engine.search(plan([none]))).total).toBe(40);
  expect(await engine.search({ ...plan([]), after: { value: text, id: text } })).toMatchObject({ total: 40 });
  expect(await engine.resolve([text])).toEqual([null]);
});

test('an attribute with a hostile name is only a name', async () => {
  const odd = pack.attributes.at(-1)!.name;
  const found = await engine.search({
    ...plan([{ kind: 'has', attribute: odd, present: true }]),
    sort: { key: odd, descending: true },
  });
  expect(found.total).toBe(40);
  expect((await engine.facets({ where: [], by: odd, limit: 5, floor: 0 })).matched).toBe(40);
});

test('names that are not attributes never become identifiers', () => {
  for (const key of ['ord; DROP TABLE records', 'body', '1', '']) {
    expect(() => sortColumn(shape, key)).toThrow('the pack has no attribute');
    expect(() => facetStatement({ where: [], by: key, limit: 1, floor: 0 }, shape)).toThrow(
      'the pack has no attribute',
    );
    expect(() => searchStatement(plan([{ kind: 'has', attribute: key, present: true }]), shape)).toThrow(
      'the pack has no attribute',
    );
  }
});
