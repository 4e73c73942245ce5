// The fictional packs: their sources' content, and the edge cases that other tests rely on.
import { expect, test } from 'vitest';
import { fixtureFolder, loadPack, loadPacks } from '../../packs/define/load.ts';
import { ATTRIBUTE_TYPES, type Observed, type Pack } from '../../packs/define/model.ts';
import { checkValue } from '../../packs/define/schema.ts';

/** All observations of a pack's sources, by reading. */
async function readings(pack: Pack): Promise<{ reading: string; observed: Observed[] }[]> {
  const context = { folder: async () => '', log: () => {} };
  const all = pack.sources.flatMap((source) => source.pins.map((pin) => ({ source: source.id, pin })));
  return Promise.all(
    all.map(async ({ source, pin }) => {
      const folder = fixtureFolder(pack.folder, pin.package, pin.version);
      const observed: Observed[] = [];
      for await (const record of pack.collector.read({ ...pin, source, folder }, context)) observed.push(record);
      return { reading: `${source} ${pin.version}`, observed };
    }),
  );
}

/** Values that do not fit their attribute, which the night parks and reports. */
async function misfits(folder: string): Promise<string[]> {
  const pack = await loadPack(folder);
  const told: string[] = [];
  for (const { reading, observed } of await readings(pack)) {
    for (const { identity, values } of observed) {
      for (const [name, value] of Object.entries(values)) {
        const attribute = pack.attributes.find((each) => each.name === name);
        const checked = attribute ? checkValue(attribute, value) : { ok: false, reason: 'an attribute' };
        if (value === undefined || checked.ok) continue;
        const wrong = `${name} ${JSON.stringify(value)}`;
        told.push(
          `${reading}, ${pack.identity.key(identity)}: ${wrong}, expected ${'reason' in checked && checked.reason}`,
        );
      }
    }
  }
  return told;
}

test('they have every type, public and paid, and prices, or none', async () => {
  const packs = await loadPacks(['tests/packs']);
  const { attributes: dated } = await loadPack('tests/app/queries/tides');
  const attributes = [...packs.flatMap((pack) => pack.attributes), ...dated];
  expect(new Set(attributes.map((each) => each.type))).toEqual(new Set(ATTRIBUTE_TYPES));
  for (const pack of packs) expect(new Set(pack.attributes.map((each) => each.public)).size).toBe(2);
  expect(packs.map((pack) => pack.price_attributes.length)).toEqual([0, 2]);
});

test('the records of each reading', async () => {
  const tools = await readings(await loadPack('tests/packs/tools'));
  expect(tools.map(({ reading, observed }) => `${reading}: ${observed.length}`)).toEqual([
    'workbench 1.0.0: 14',
    'workbench 1.1.0: 16',
    'workbench 2.0.0: 22',
    'toolshed 0.9.0: 5',
    'toolshed 1.0.0: 9',
  ]);
  const harbours = await readings(await loadPack('tests/packs/harbours'));
  expect(harbours.map(({ observed }) => observed.length)).toEqual([12, 12]);
});

test('a few values are wrong on purpose', async () => {
  expect(await misfits('tests/packs/harbours')).toEqual([]);
  expect(await misfits('tests/packs/tools')).toMatchInlineSnapshot(`
    [
      "workbench 2.0.0, nordwerk/sk-5: mass -3, expected a number of at least 0",
      "workbench 2.0.0, nordwerk/x 1: kind "torch", expected one of saw, drill, plane, gauge, lamp, other",
      "workbench 2.0.0, pacific bench/🪚: workshop {"lat":-91,"lng":10}, expected a latitude in degrees, -90 to 90",
      "workbench 2.0.0, trick & co/=1+1: manual "javascript:alert(1)", expected an http or https address",
    ]
  `);
});

test('two spellings are one record; three records compete for two slugs', async () => {
  const pack = await loadPack('tests/packs/tools');
  const all = (await readings(pack)).flatMap(({ observed }) => observed.map(({ identity }) => identity));
  const key = (maker: string, model: string) => pack.identity.key({ maker, model });
  expect(key('zurich sagen', 'grosse sage')).toBe(key('Zürich Sägen', 'Große Säge'));
  expect(key('nordwerk', 'fs-210')).toBe(key('Nordwerk', 'FS-210'));
  const slugs = new Map(all.map((identity) => [pack.identity.key(identity), pack.identity.slug(identity, {})]));
  expect([...slugs.values()].filter((slug) => slug === 'nordwerk-x-1')).toHaveLength(2);
  expect(slugs.size).toBe(26);
});

test('the gazette has its date inside its data', async () => {
  const { collector, folder } = await loadPack('tests/packs/tools');
  expect(await collector.observedAt?.(fixtureFolder(folder, '@fictional/workbench', '2.0.0'))).toBe(
    '2026-11-01T08:00:00Z',
  );
  expect(await collector.observedAt?.(fixtureFolder(folder, '@fictional/toolshed', '1.0.0'))).toBeNull();
});
