// Loading packs from folders anywhere: pack.ts, collect.ts, samples.json, record.md and guide.md become one checked Pack.
import { readdir, readFile, stat } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDefinition, type PackDefinition } from './define.ts';
import { checkSamples, checkTemplate } from './files.ts';
import { type Mistake, PackError, show } from './mistakes.ts';
import type { Collector, Pack } from './model.ts';
import { byCodePoint } from './text.ts';

export { PackError } from './mistakes.ts';

/** Dataset ids that would clash with paths or tool names (contract section 7). */
export const RESERVED_IDS = ['datasets', 'dataset', 'entity', 'catalog', 'keys', 'optout', 'claim', 'paid'];

// A pack outside this repository has no node_modules of ours: its one import is mapped here.
const PACK_MODULE = new URL('./index.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'dataset-register/pack' ? { url: PACK_MODULE, shortCircuit: true } : next(specifier, context),
});

/** Where a pin without integrity lies: a source folder shipped with the pack. */
export function fixtureFolder(folder: string, pkg: string, version: string): string {
  return join(folder, 'fixtures', pkg, version);
}

/** A file or folder's kind, or null when it is not there. */
async function kindOf(path: string): Promise<'file' | 'folder' | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return null;
  return found.isDirectory() ? 'folder' : 'file';
}

/**
 * Loads and checks one pack; its id is the folder's name. Throws PackError with every mistake in any of its files.
 * The files are imported once per process, as all modules are.
 */
export async function loadPack(folder: string): Promise<Pack> {
  const at = resolve(folder);
  const id = basename(at);
  const mistakes: Mistake[] = [];
  const told = (file: string, found: Omit<Mistake, 'file'>[]) =>
    mistakes.push(...found.map((mistake) => ({ file, ...mistake })));

  if (!/^[a-z][a-z0-9-]*$/.test(id)) {
    const expected = 'lower-case letters, digits and -, starting with a letter: the name is the dataset id';
    told('', [{ path: '', found: `the name ${show(id)}`, expected }]);
  } else if (RESERVED_IDS.includes(id)) {
    const expected = `another name: ${RESERVED_IDS.join(', ')} are taken`;
    told('', [{ path: '', found: `the name ${show(id)}`, expected }]);
  }
  if ((await kindOf(at)) !== 'folder') {
    throw new PackError(folder, [{ file: '', path: '', found: 'no such folder', expected: 'a pack folder' }]);
  }

  const definition = await loadDefinition(at, told);
  const collector = await loadCollector(at, told);
  const template = await loadText(at, 'record.md', told);
  const guide = await loadText(at, 'guide.md', told);
  const written = await loadText(at, 'samples.json', told);
  const settings = definition?.settings ?? null;
  if (definition && template !== null) told('record.md', checkTemplate(template, definition.names));
  const samples = definition && written !== null ? readSamples(written, definition, told) : [];
  for (const source of settings?.sources ?? []) {
    for (const [i, pin] of source.pins.entries()) {
      const shipped = fixtureFolder(at, pin.package, pin.version);
      if (pin.integrity === '' && (await kindOf(shipped)) !== 'folder') {
        const found = `'' and no folder fixtures/${pin.package}/${pin.version}`;
        const expected = "a hash 'sha512-…', or the source shipped in that folder";
        told('pack.ts', [{ path: `sources.${source.id}.pins.${i}.integrity`, found, expected }]);
      }
    }
  }
  if (mistakes.length > 0 || settings === null || collector === null || template === null || guide === null) {
    throw new PackError(folder, mistakes);
  }
  return { id, folder: at, ...settings, collector, samples, template, guide };
}

type Tell = (file: string, found: Omit<Mistake, 'file'>[]) => void;

/** `line 12`, where an error says at which line of the file it is; else ''. */
function lineOf(error: unknown, path: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const at = stack.indexOf(`${path}:`);
  const line = at < 0 ? undefined : /^\d+/.exec(stack.slice(at + path.length + 1))?.[0];
  return line === undefined ? '' : `line ${line}`;
}

async function loadModule(folder: string, file: string, told: Tell): Promise<unknown> {
  const path = join(folder, file);
  if ((await kindOf(path)) !== 'file') {
    told(file, [{ path: '', found: 'no such file', expected: `${file} with a default export` }]);
    return null;
  }
  try {
    const loaded = (await import(pathToFileURL(path).href)) as { default?: unknown };
    return loaded.default;
  } catch (error) {
    const found = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    told(file, [{ path: lineOf(error, path), found, expected: 'a module that can be imported' }]);
    return null;
  }
}

async function loadDefinition(folder: string, told: Tell): Promise<PackDefinition | null> {
  const exported = await loadModule(folder, 'pack.ts', told);
  if (exported === null) return null;
  if (!isDefinition(exported)) {
    told('pack.ts', [{ path: 'default', found: show(exported), expected: 'export default definePack({ … })' }]);
    return null;
  }
  told('pack.ts', exported.mistakes);
  return exported;
}

async function loadCollector(folder: string, told: Tell): Promise<Collector | null> {
  const exported = await loadModule(folder, 'collect.ts', told);
  if (exported === null) return null;
  const collector = exported as Partial<Collector> | undefined;
  if (typeof collector?.read !== 'function') {
    const expected = 'export default defineCollector({ async *read(reading, context) { … } })';
    told('collect.ts', [{ path: 'default.read', found: show(collector?.read), expected }]);
    return null;
  }
  if (collector.observedAt !== undefined && typeof collector.observedAt !== 'function') {
    const expected = 'a function (folder) => the date inside the data, or null';
    told('collect.ts', [{ path: 'default.observedAt', found: show(collector.observedAt), expected }]);
    return null;
  }
  return collector as Collector;
}

async function loadText(folder: string, file: string, told: Tell): Promise<string | null> {
  const text = await readFile(join(folder, file), 'utf8').catch(() => null);
  if (text !== null && text.trim() !== '') return text;
  told(file, [{ path: '', found: text === null ? 'no such file' : 'an empty file', expected: `a ${file} with text` }]);
  return null;
}

function readSamples(written: string, definition: PackDefinition, told: Tell): Pack['samples'] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(written);
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    told('samples.json', [{ path: '', found, expected: 'JSON' }]);
    return [];
  }
  const { samples, told: wrong } = checkSamples(parsed, definition);
  told('samples.json', wrong);
  return samples;
}

/** PACK_DIRS that leads to no pack, in one line that names it. */
export class PackDirsError extends Error {}

/**
 * The sub-folders of PACK_DIRS that hold a pack.ts, by id and then in the order of PACK_DIRS. Throws PackDirsError where a folder is missing or is
 * itself a pack, and where there is no pack at all.
 */
export async function packFolders(dirs: readonly string[]): Promise<string[]> {
  const folders = new Set<string>();
  for (const dir of dirs) {
    const names = await readdir(dir).catch(() => null);
    if (names === null) throw new PackDirsError(`PACK_DIRS: there is no folder ${dir}`);
    let held = 0;
    for (const name of names) {
      if ((await kindOf(join(dir, name, 'pack.ts'))) !== 'file') continue;
      held += 1;
      folders.add(resolve(dir, name));
    }
    // A folder of packs may have a pack.ts for other things, as ours has.
    if (held === 0 && (await kindOf(join(dir, 'pack.ts'))) === 'file') {
      throw new PackDirsError(
        `PACK_DIRS: ${dir} is itself a pack; name the folder that holds it, ${dirname(resolve(dir))}`,
      );
    }
  }
  if (folders.size === 0) throw new PackDirsError(`PACK_DIRS: no folder with a pack.ts in ${dirs.join(', ')}`);
  return [...folders].sort((a, b) => byCodePoint(basename(a), basename(b)));
}

/** Loads the packs of PACK_DIRS, sorted by id. Throws PackError for the first wrong pack, and when two folders claim the same id. */
export async function loadPacks(dirs: readonly string[]): Promise<Pack[]> {
  const folders = await packFolders(dirs);
  for (const [i, folder] of folders.entries()) {
    const other = folders[i - 1];
    if (other === undefined || basename(other) !== basename(folder)) continue;
    const found = `the id ${show(basename(folder))}, which ${other} has too`;
    throw new PackError(folder, [{ file: '', path: '', found, expected: 'an id of its own' }]);
  }
  const packs: Pack[] = [];
  for (const folder of folders) packs.push(await loadPack(folder));
  return packs;
}
