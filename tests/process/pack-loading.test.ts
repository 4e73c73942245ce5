// Loading packs: from the repository, from other folders, and the messages about invalid ones.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { loadPack, loadPacks, PackDirsError, PackError, packFolders } from '../../packs/define/load.ts';
import { mistakeLines } from '../packs/bells.ts';
import { verifies } from '../support/verifies.ts';

verifies('pack.folder', 'pack.import', 'pack.id', 'pack.checked');

const TOOLS = resolve('tests/packs/tools');

const temp = await realpath(await mkdtemp(join(tmpdir(), 'packs-')));
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

/** The refusal of an invalid pack. */
async function refusal(loading: Promise<unknown>): Promise<PackError> {
  const error = await loading.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(PackError);
  return error as PackError;
}

/** Its message, without the machine's path. */
const messageOf = async (loading: Promise<unknown>): Promise<string> =>
  (await refusal(loading)).message.replaceAll(temp, '<temp>').replaceAll(resolve('.'), '<repo>');

/** Its mistakes, a line each. */
const mistakesOf = async (loading: Promise<unknown>): Promise<string> => mistakeLines(await refusal(loading));

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
    expect(await messageOf(loadPacks([join(temp, 'twice'), 'tests/packs']))).toMatchInlineSnapshot(`
      "1 mistake in pack <repo>/tests/packs/tools

      <repo>/tests/packs/tools
        found     the id 'tools', which <temp>/twice/tools has too
        expected  a unique id: rename one of the folders"
    `);
  });

  test('a missing folder', async () => {
    expect(await mistakesOf(loadPack(join(temp, 'nowhere')))).toMatchInlineSnapshot(
      `" | no such folder | a pack folder"`,
    );
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
    expect(await mistakesOf(loadPack(await copy('catalog')))).toMatchInlineSnapshot(
      `" | the name 'catalog' | another name: datasets, dataset, entity, catalog, keys, optout, claim, paid are reserved"`,
    );
    expect(await mistakesOf(loadPack(await copy('My_Tools')))).toMatchInlineSnapshot(
      `" | the name 'My_Tools' | lower-case letters, digits and -, starting with a letter: the name is the dataset id"`,
    );
  });

  test('every missing file is reported', async () => {
    await mkdir(join(temp, 'bare'));
    expect(await mistakesOf(loadPack(join(temp, 'bare')))).toMatchInlineSnapshot(`
      "pack.ts | no such file | pack.ts with a default export
      record.md | no such file | a record.md with text
      guide.md | no such file | a guide.md with text
      samples.json | no such file | a samples.json with text"
    `);
  });

  test('modules that fail or export something else', async () => {
    const at = await copy('exports', {
      'pack.ts': 'export default { title: 1 };',
      'collect.ts': 'throw new Error("no");',
    });
    expect(await mistakesOf(loadPack(at))).toMatchInlineSnapshot(`
      "pack.ts: default | {"title":1} | export default definePack({ … })
      collect.ts: line 1 | Error: no | a module that can be imported"
    `);
    const none = await copy('exports-no-read', { 'collect.ts': 'export const read = 1;' });
    expect(await messageOf(loadPack(none))).toContain('collect.ts: default.read\n  found     nothing');
    const other = await copy('exports-a-number', { 'collect.ts': 'export default { read() {}, observedAt: 1 };' });
    expect(await mistakesOf(loadPack(other))).toMatchInlineSnapshot(
      `"collect.ts: default.observedAt | 1 | a function (folder) => the date inside the data, or null"`,
    );
  });

  test('a shipped source that is not in the folder', async () => {
    const at = await copy('unshipped', { 'fixtures/@fictional/toolshed/1.0.0': null });
    expect(await mistakesOf(loadPack(at))).toMatchInlineSnapshot(
      `"pack.ts: sources.toolshed.pins.1.integrity | '' and no folder fixtures/@fictional/toolshed/1.0.0 | a hash 'sha512-…', or the source shipped in that folder"`,
    );
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
    expect(await mistakesOf(loadPack(at))).toMatchInlineSnapshot(`
      "guide.md | an empty file | a guide.md with text
      record.md: line 1: record.nme | 'nme' | one of id, slug, name, dataset, url, updated_at, quality_score, completeness, verified_owner, license, attribution, preview, sample | name
      record.md: line 1: values['price.lst'] | 'price.lst' | the name of an attribute | price.list
      samples.json: 0.identity.model | nothing | model, which identifies a record
      samples.json: 1.identity.kind | a value for 'kind' | only maker, model, which identify a record
      samples.json: 2.value | a member 'value' | one of identity, values, evidence | values
      samples.json: 2.evidence | 1 | a text
      samples.json: 2.identity.model | 1 | a text
      samples.json: 3.values.nmae | a value for 'nmae' | the name of an attribute | name
      samples.json: 3.values.kind | 'drlil' | one of saw, drill, plane, gauge, lamp, other | drill
      samples.json: 3.values.mass | 501 | a number of at most 500
      samples.json: 3.values.price.list | '5' | a price: a number, or {min, max, currency}
      pack.ts: identity.slug | it returns '' for sample 4 | lower-case letters, digits and single -"
    `);
  });

  test('samples that are not JSON, none, or one record twice', async () => {
    expect(await messageOf(loadPack(await copy('json', { 'samples.json': '[' })))).toContain('expected  JSON');
    expect(await messageOf(loadPack(await copy('none', { 'samples.json': '[]' })))).toContain(
      'at least one fictional record',
    );
    const one = { identity: { maker: 'Ä', model: 'B' }, values: {} };
    const same = { identity: { maker: 'a', model: 'b' }, values: {} };
    const at = await copy('same', { 'samples.json': JSON.stringify([one, same]) });
    expect(await mistakesOf(loadPack(at))).toMatchInlineSnapshot(
      `"samples.json: 1.identity | the key 'a/b' again | another record than 0"`,
    );
  });

  test("the pack's own rules are tested on the samples", async () => {
    const text = await readFile(join(TOOLS, 'pack.ts'), 'utf8');
    const changed = text
      .replace(/key: \(.*/, 'key: () => { throw new Error("no maker"); },')
      .replace(/slug: .*/, "slug: () => 'Nord Werk',")
      .replace(/ name: \(id, values\).*/, " name: () => '',")
      .replace(/rule: .*/, "rule: () => ({ prefer: 'trust', trust: { toolshd: 1 } }),");
    const at = await copy('rules', { 'pack.ts': changed });
    expect(await mistakesOf(loadPack(at))).toMatchInlineSnapshot(`
      "pack.ts: identity.key | it throws for sample 0: no maker | a result
      pack.ts: identity.slug | it returns 'Nord Werk' for sample 0 | lower-case letters, digits and single -
      pack.ts: identity.name | it returns '' for sample 0 | a text
      pack.ts: consolidation.rule | trust for the source 'toolshd' for sample 0 | one of the sources workbench, toolshed | toolshed"
    `);
  });
});
