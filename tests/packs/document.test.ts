// docs/packs.md and the reference of pack.ts against the code: members, types and reserved names. tests/app/packs runs
// the examples.
import { expect, test } from 'vitest';
import { filterUses } from '../../api/contract/operation.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { packReference } from '../../build/static/pack-reference.ts';
import { FILTER_KINDS, respelledFilter } from '../../data/input/filters.ts';
import { REFUSED_NAMES } from '../../packs/define/attributes.ts';
import { LATER_RESERVED_IDS, RESERVED_IDS } from '../../packs/define/load.ts';
import { ATTRIBUTE_TYPES, type Pack } from '../../packs/define/model.ts';
import { read, rowsOf, tableRows } from '../structure/tree.ts';

const DOCUMENT = 'docs/packs.md';

test('the reference lists the members of pack.ts, with a meaning for each', () => {
  const rows = rowsOf(packReference());
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
