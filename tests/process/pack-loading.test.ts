// Loading packs: from the repository, from other folders, and the messages about invalid ones.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadPack, loadPacks, PackDirsError, PackError, packFolders } from '../../packs/define/load.ts';
import { verifies } from '../support/verifies.ts';

verifies('pack.folder', 'pack.import', 'pack.id', 'pack.checked');

const TOOLS = resolve('tests/packs/tools');
let temp: string;

beforeAll(async () => {
  temp = await realpath(await mkdtemp(join(tmpdir(), 'packs-')));
});
afterAll(() => rm(temp, { recursive: true }));

/** A copy of the fictional tools in another folder, with some files replaced; null removes one. */
async function copy(folder: string, files: Record<string, string | null> = {}): Promise<string> {
  const at = join(temp, folder);
  await cp(TOOLS, at, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    if (text === null) await rm(join(at, name), { recursive: true });
    else await writeFile(join(at, name), text);
  }
  return at;
}

/** The message about an invalid pack, without the machine's path. */
async function said(loading: Promise<unknown>): Promise<string> {
  const error = await loading.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PackError);
  return (error as PackError).message.replaceAll(temp, '<temp>').replaceAll(resolve('.'), '<repo>');
}

describe('valid packs', () => {
  test('the fictional packs load, sorted by id', async () => {
    const packs = await loadPacks(['tests/packs']);
    expect(packs.map((pack) => pack.id)).toEqual(['harbours', 'tools']);
    expect(packs[1]).toMatchObject({
      folder: TOOLS,
      title: 'Tools of nowhere',
      price_attributes: ['price.list', 'price.rental'],
    });
    expect(packs[1]?.guide).toContain('price.rental');
    expect(packs[1]?.template).toContain('{{ record.name }}');
    expect(packs[0]?.price_attributes).toEqual([]);
  });

  test('samples carry their identity among the values, normalised', async () => {
    const [sample] = (await loadPack('tests/packs/tools')).samples;
    expect(sample?.values).toMatchObject({ maker: 'Musterwerk', model: 'MS-1', name: 'Sample saw MS-1' });
  });

  test('a pack outside the repository loads in a bare process', async () => {
    const at = await copy('outside');
    const index = resolve('packs/define/load.ts');
    const script = `const { loadPack } = await import(${JSON.stringify(index)});
      const pack = await loadPack(${JSON.stringify(at)});
      console.log(pack.id, pack.attributes.length, typeof pack.collector.read);`;
    const node = ['--input-type=module', '--no-warnings', '--eval', script];
    const { stdout } = await promisify(execFile)(process.execPath, node, { cwd: temp });
    expect(stdout.trim()).toBe('outside 17 function');
  });

  test('sub-folders without a pack.ts are not packs, and several folders make one list', async () => {
    const other = join(temp, 'several');
    await mkdir(join(other, 'notes'), { recursive: true });
    await cp(resolve('tests/packs/harbours'), join(other, 'quays'), { recursive: true });
    const packs = await loadPacks([other, 'tests/packs']);
    expect(packs.map((pack) => pack.id)).toEqual(['harbours', 'quays', 'tools']);
  });

  test('the same folder named twice is one pack', async () => {
    expect(await loadPacks(['tests/packs', 'tests/packs/'])).toHaveLength(2);
  });
});

describe('invalid packs', () => {
  test('two folders with one id are refused', async () => {
    await copy('twice/tools');
    expect(await said(loadPacks([join(temp, 'twice'), 'tests/packs']))).toMatchInlineSnapshot(`
      "1 mistake in pack <repo>/tests/packs/tools

      <repo>/tests/packs/tools
        found     the id 'tools', which <temp>/twice/tools has too
        expected  a unique id: rename one of the folders"
    `);
  });

  test('a missing folder', async () => {
    expect(await said(loadPack(join(temp, 'nowhere')))).toMatchInlineSnapshot(`
      "1 mistake in pack <temp>/nowhere

      <temp>/nowhere
        found     no such folder
        expected  a pack folder"
    `);
  });

  test('PACK_DIRS without a pack gives one line with its value', async () => {
    const nowhere = join(temp, 'nowhere');
    await expect(loadPacks([nowhere])).rejects.toThrow(new PackDirsError(`PACK_DIRS: no such folder: ${nowhere}`));
    const itself = resolve('tests/packs/tools');
    const parent = `PACK_DIRS: ${itself} is itself a pack; set PACK_DIRS to the folder that contains it, ${resolve('tests/packs')}`;
    await expect(loadPacks([itself])).rejects.toThrow(new PackDirsError(parent));
    await mkdir(join(temp, 'empty/notes'), { recursive: true });
    const empty = join(temp, 'empty');
    const none = `PACK_DIRS: no folder with a pack.ts in ${empty}`;
    await expect(loadPacks([empty])).rejects.toThrow(new PackDirsError(none));
    expect(await loadPacks([empty, 'tests/packs'])).toHaveLength(2);
    // packs/define has no pack.ts, so it is not a dataset.
    expect((await packFolders(['packs'])).map((folder) => basename(folder))).toEqual([
      'airports',
      'llm-models',
      'places',
    ]);
  });

  test('a syntax error is reported with its line', async () => {
    const at = await copy('unparsed');
    await writeFile(join(at, 'collect.ts'), 'export const one = 1;\n\nexport default { read( { };\n');
    const script = `const { loadPack } = await import(${JSON.stringify(resolve('packs/define/load.ts'))});
      await loadPack(${JSON.stringify(at)}).catch((error) => console.log(error.message));`;
    const node = ['--input-type=module', '--no-warnings', '--eval', script];
    const { stdout } = await promisify(execFile)(process.execPath, node, { cwd: temp });
    expect(stdout).toContain(`${at}/collect.ts: line 3\n  found     SyntaxError: `);
  });

  test('reserved and malformed ids', async () => {
    expect(await said(loadPack(await copy('catalog')))).toMatchInlineSnapshot(`
      "1 mistake in pack <temp>/catalog

      <temp>/catalog
        found     the name 'catalog'
        expected  another name: datasets, dataset, entity, catalog, keys, optout, claim, paid are reserved"
    `);
    expect(await said(loadPack(await copy('My_Tools')))).toMatchInlineSnapshot(`
      "1 mistake in pack <temp>/My_Tools

      <temp>/My_Tools
        found     the name 'My_Tools'
        expected  lower-case letters, digits and -, starting with a letter: the name is the dataset id"
    `);
  });

  test('every missing file is reported', async () => {
    await mkdir(join(temp, 'bare'));
    expect(await said(loadPack(join(temp, 'bare')))).toMatchInlineSnapshot(`
      "4 mistakes in pack <temp>/bare

      <temp>/bare/pack.ts
        found     no such file
        expected  pack.ts with a default export

      <temp>/bare/record.md
        found     no such file
        expected  a record.md with text

      <temp>/bare/guide.md
        found     no such file
        expected  a guide.md with text

      <temp>/bare/samples.json
        found     no such file
        expected  a samples.json with text"
    `);
  });

  test('modules that fail or export something else', async () => {
    const at = await copy('exports', {
      'pack.ts': 'export default { title: 1 };',
      'collect.ts': 'throw new Error("no");',
    });
    expect(await said(loadPack(at))).toMatchInlineSnapshot(`
      "2 mistakes in pack <temp>/exports

      <temp>/exports/pack.ts: default
        found     {"title":1}
        expected  export default definePack({ … })

      <temp>/exports/collect.ts: line 1
        found     Error: no
        expected  a module that can be imported"
    `);
    const none = await copy('exports-no-read', { 'collect.ts': 'export const read = 1;' });
    expect(await said(loadPack(none))).toContain('collect.ts: default.read\n  found     nothing');
    const other = await copy('exports-a-number', { 'collect.ts': 'export default { read() {}, observedAt: 1 };' });
    expect(await said(loadPack(other))).toMatchInlineSnapshot(`
      "1 mistake in pack <temp>/exports-a-number

      <temp>/exports-a-number/collect.ts: default.observedAt
        found     1
        expected  a function (folder) => the date inside the data, or null"
    `);
  });

  test('a shipped source that is not in the folder', async () => {
    const at = await copy('unshipped', { 'fixtures/@fictional/toolshed/1.0.0': null });
    expect(await said(loadPack(at))).toMatchInlineSnapshot(`
      "1 mistake in pack <temp>/unshipped

      <temp>/unshipped/pack.ts: sources.toolshed.pins.1.integrity
        found     '' and no folder fixtures/@fictional/toolshed/1.0.0
        expected  a hash 'sha512-…', or the source shipped in that folder"
    `);
  });

  test('samples and template against the attributes, reported together', async () => {
    const samples = [
      { identity: { maker: 'A' }, values: {} },
      { identity: { maker: 'A', model: 'B', kind: 'saw' }, values: {} },
      { identity: { maker: 'A', model: 1 }, value: {}, evidence: 1 },
      { identity: { maker: 'A', model: 'B' }, values: { nmae: 'x', kind: 'drlil', mass: 501, 'price.list': '5' } },
      { identity: { maker: '?', model: '?' }, values: {} },
    ];
    const at = await copy('samples', {
      'samples.json': JSON.stringify(samples),
      'record.md': "{{ record.nme }} {{ values['price.lst'] }} {{ values.maker }}",
      'guide.md': ' ',
    });
    expect(await said(loadPack(at))).toMatchInlineSnapshot(`
      "13 mistakes in pack <temp>/samples

      <temp>/samples/guide.md
        found     an empty file
        expected  a guide.md with text

      <temp>/samples/record.md: line 1: record.nme
        found     'nme'
        expected  one of id, slug, name, dataset, url, updated_at, quality_score, completeness, verified_owner, license, attribution, preview, sample
        nearest   'name'

      <temp>/samples/record.md: line 1: values['price.lst']
        found     'price.lst'
        expected  the name of an attribute
        nearest   'price.list'

      <temp>/samples/samples.json: 0.identity.model
        found     nothing
        expected  model, which identifies a record

      <temp>/samples/samples.json: 1.identity.kind
        found     a value for 'kind'
        expected  only maker, model, which identify a record

      <temp>/samples/samples.json: 2.value
        found     a member 'value'
        expected  one of identity, values, evidence
        nearest   'values'

      <temp>/samples/samples.json: 2.evidence
        found     1
        expected  a text

      <temp>/samples/samples.json: 2.identity.model
        found     1
        expected  a text

      <temp>/samples/samples.json: 3.values.nmae
        found     a value for 'nmae'
        expected  the name of an attribute
        nearest   'name'

      <temp>/samples/samples.json: 3.values.kind
        found     'drlil'
        expected  one of saw, drill, plane, gauge, lamp, other
        nearest   'drill'

      <temp>/samples/samples.json: 3.values.mass
        found     501
        expected  a number of at most 500

      <temp>/samples/samples.json: 3.values.price.list
        found     '5'
        expected  a price: a number, or {min, max, currency}

      <temp>/samples/pack.ts: identity.slug
        found     it returns '' for sample 4
        expected  lower-case letters, digits and single -"
    `);
  });

  test('samples that are not JSON, none, or one record twice', async () => {
    expect(await said(loadPack(await copy('json', { 'samples.json': '[' })))).toContain('expected  JSON');
    expect(await said(loadPack(await copy('none', { 'samples.json': '[]' })))).toContain(
      'at least one fictional record',
    );
    const one = { identity: { maker: 'Ä', model: 'B' }, values: {} };
    const same = { identity: { maker: 'a', model: 'b' }, values: {} };
    const at = await copy('same', { 'samples.json': JSON.stringify([one, same]) });
    expect(await said(loadPack(at))).toMatchInlineSnapshot(`
      "1 mistake in pack <temp>/same

      <temp>/same/samples.json: 1.identity
        found     the key 'a/b' again
        expected  another record than 0"
    `);
  });

  test("the pack's own rules are tested on the samples", async () => {
    const text = await readFile(join(TOOLS, 'pack.ts'), 'utf8');
    const changed = text
      .replace(/key: .*/, 'key: () => { throw new Error("no maker"); },')
      .replace(/slug: .*/, "slug: () => 'Nord Werk',")
      .replace(/ name: \(id, values\).*/, " name: () => '',")
      .replace(/rule: .*/, "rule: () => ({ prefer: 'trust', trust: { toolshd: 1 } }),");
    const at = await copy('rules', { 'pack.ts': changed });
    expect(await said(loadPack(at))).toMatchInlineSnapshot(`
      "4 mistakes in pack <temp>/rules

      <temp>/rules/pack.ts: identity.key
        found     it throws for sample 0: no maker
        expected  a result

      <temp>/rules/pack.ts: identity.slug
        found     it returns 'Nord Werk' for sample 0
        expected  lower-case letters, digits and single -

      <temp>/rules/pack.ts: identity.name
        found     it returns '' for sample 0
        expected  a text

      <temp>/rules/pack.ts: consolidation.rule
        found     trust for the source 'toolshd' for sample 0
        expected  one of the sources workbench, toolshed
        nearest   'toolshed'"
    `);
  });
});
