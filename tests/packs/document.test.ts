// docs/packs.md and its reference against the code: members, types and reserved names. tests/app/packs runs the examples.
// `UPDATE_DOCS=1 npx vitest run tests/packs/document.test.ts` writes the reference, as `npm run docs` does.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packReference } from '../../.ci/pack-reference.ts';
import { filterUses } from '../../api/contract/operation.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { FILTER_KINDS, respelledFilter } from '../../data/input/filters.ts';
import { REFUSED_NAMES } from '../../packs/define/attributes.ts';
import { LATER_RESERVED_IDS, RESERVED_IDS } from '../../packs/define/load.ts';
import { ATTRIBUTE_TYPES, type Pack } from '../../packs/define/model.ts';
import { read, tableRows } from '../structure/tree.ts';

const DOCUMENT = 'docs/packs.md';
const REFERENCE = join(import.meta.dirname, '../../docs/packs-reference.md');
test('the reference is the shape of pack.ts, with a meaning for each member', () => {
  const generated = packReference();
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(REFERENCE, generated);
  expect(readFileSync(REFERENCE, 'utf8'), 'run `npm run docs`').toBe(generated);
  const rows = tableRows('docs/packs-reference.md');
  for (const path of ['title', 'sources.<id>.pins[].version', 'attributes.<name>.sla.warn', 'tests[].kind', 'pages.at'])
    expect(rows.map(([name]) => name)).toContain(path);
  expect(rows.filter((row) => row.length !== 4 || row.includes('')).map(([name]) => name)).toEqual([]);
});

test('every attribute type and every reserved id is listed', () => {
  const types = tableRows(DOCUMENT).flatMap(([name]) => (name ?? '').split(', '));
  for (const type of ATTRIBUTE_TYPES) expect(types).toContain(type);
  for (const id of [...RESERVED_IDS, ...LATER_RESERVED_IDS]) expect(read(DOCUMENT)).toContain(`\`${id}\``);
});

test('a parameter of a search is refused as a name, or has another spelling of its filter', () => {
  const parameters = filterUses(OPERATIONS).flatMap((use) => use.parameters);
  expect(parameters).toEqual(expect.arrayContaining(['q', 'type', 'entity', 'offset', 'bbox', 'direction', 'by_day']));
  for (const name of parameters.filter((each) => !REFUSED_NAMES.includes(each)))
    expect(respelledFilter(name, { attributes: [{ name, type: 'enum', filterable: true }] } as Pack)).toBe(
      `is_${name}`,
    );
  expect(
    FILTER_KINDS.map((kind) => kind.prefix)
      .filter(Boolean)
      .sort(),
  ).toEqual(['has_', 'like_', 'max_', 'min_', 'not_']);
});
