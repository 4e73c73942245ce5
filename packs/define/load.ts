// Loads packs from any folder: pack.ts, collect.ts, samples.json, record.md and guide.md become one checked
// Pack.
import { readdir, readFile, stat } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDefinition, type PackDefinition } from './define.ts';
import { parseJson } from './digits.ts';
import { type Mistake, nearestName, notOneOf, PackError, quoteValue } from './mistakes.ts';
import type { Collector, Pack } from './model.ts';
import { checkSamples } from './samples.ts';
import { byCodePoint, normalizeText } from './text.ts';
import './typescript-hooks.js';

export { PackError } from './mistakes.ts';

/** Dataset ids that would clash with paths or tool names (contract section 7). */
export const RESERVED_IDS = ['datasets', 'dataset', 'entity', 'catalog', 'keys', 'optout', 'claim', 'paid'];

/** Ids that later versions reserved: no new dataset has one, and a dataset with a release keeps it. */
export const LATER_RESERVED_IDS = ['sql', 'search', 'quote', 'fetch', 'account', 'ogc'];

const UNAVAILABLE_IDS = [...RESERVED_IDS, ...LATER_RESERVED_IDS];

/** What is wrong with the id of a new dataset, as a message; null: nothing. */
export function idProblem(id: string): string | null {
  if (/^[a-z][a-z0-9-]*$/.test(id) && !UNAVAILABLE_IDS.includes(id)) return null;
  return `'${id}' is not a valid dataset id: use lower-case letters, digits and -, and none of ${UNAVAILABLE_IDS.join(', ')}`;
}

// A pack outside this repository has no node_modules, so its one import is mapped here.
const PACK_MODULE = new URL(`./index${extname(import.meta.url)}`, import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'dataset-register/pack' ? { url: PACK_MODULE, shortCircuit: true } : next(specifier, context),
});

/** Folder of a pin without integrity: a source shipped with the pack. */
export function fixtureFolder(folder: string, pkg: string, version: string): string {
  return join(folder, 'fixtures', pkg, version);
}

/** Whether a path is a file or a folder; null when it does not exist. */
async function kindOf(path: string): Promise<'file' | 'folder' | null> {
  const stats = await stat(path).catch(() => null);
  if (stats === null) return null;
  return stats.isDirectory() ? 'folder' : 'file';
}

/**
 * Loads and checks one pack; its id is the folder's name. Throws PackError with every mistake in any of its
 * files. Node caches modules, so changed files are read by the next process.
 */
export async function loadPack(folder: string): Promise<Pack> {
  const at = resolve(folder);
  const id = basename(at);
  const mistakes: Mistake[] = [];
  const report = (file: string, fileMistakes: Omit<Mistake, 'file'>[]) =>
    mistakes.push(...fileMistakes.map((mistake) => ({ file, ...mistake })));

  if (!/^[a-z][a-z0-9-]*$/.test(id)) {
    const expected = 'lower-case letters, digits and -, starting with a letter: the name is the dataset id';
    report('', [{ path: '', actual: `the name ${quoteValue(id)}`, expected }]);
  } else if (RESERVED_IDS.includes(id)) {
    const expected = `another name: ${RESERVED_IDS.join(', ')} are reserved`;
    report('', [{ path: '', actual: `the name ${quoteValue(id)}`, expected }]);
  }
  if ((await kindOf(at)) !== 'folder') {
    throw new PackError(folder, [{ file: '', path: '', actual: 'no such folder', expected: 'a pack folder' }]);
  }

  const definition = await loadDefinition(at, report);
  const collector = await loadCollector(at, definition, report);
  const template = await loadText(at, 'record.md', report);
  const guide = await loadText(at, 'guide.md', report);
  const written = await loadText(at, 'samples.json', report);
  const settings = definition?.settings ?? null;
  if (definition && template !== null) report('record.md', checkTemplate(template, definition.names));
  const samples = definition && written !== null ? readSamples(written, definition, report) : [];
  for (const source of settings?.sources ?? []) {
    for (const [i, pin] of source.pins.entries()) {
      const shipped = fixtureFolder(at, pin.package, pin.version);
      if (pin.integrity === '' && (await kindOf(shipped)) !== 'folder') {
        const actual = `'' and no folder fixtures/${pin.package}/${pin.version}`;
        const expected = "a hash 'sha512-…', or the source shipped in that folder";
        report('pack.ts', [{ path: `sources.${source.id}.pins.${i}.integrity`, actual, expected }]);
      }
    }
  }
  if (mistakes.length > 0 || settings === null || collector === null || template === null || guide === null) {
    throw new PackError(folder, mistakes);
  }
  const notice = await loadNotice(at);
  return { id, folder: at, ...settings, collector, samples, template, guide, ...(notice === null ? {} : { notice }) };
}

type Report = (file: string, mistakes: Omit<Mistake, 'file'>[]) => void;

/** A name that the message of a failed import contains: of a variable, an export or a module. */
const NAME_IN_ERROR = /^(?<variable>[\w$]+) is not defined|named '(?<member>[^']+)'|Cannot find \w+ '(?<module>[^']+)'/;

/** `line 12` when an error has a line of the file, or a name that is in the file; else ''. */
async function lineOf(error: unknown, path: string): Promise<string> {
  if (!(error instanceof Error)) return '';
  const { variable, member, module } = NAME_IN_ERROR.exec(error.message)?.groups ?? {};
  const name = variable ?? member ?? module;
  if (name !== undefined) {
    const wanted =
      module === undefined
        ? new RegExp(`(?<![\\w$.])${RegExp.escape(name)}(?![\\w$])`)
        : new RegExp(`['"]${RegExp.escape(name)}['"/]`);
    const lines = (await readFile(path, 'utf8').catch(() => '')).split('\n');
    const at = lines.findIndex((line) => wanted.test(line));
    if (at >= 0) return `line ${at + 1}`;
  }
  const stack = error.stack ?? '';
  const at = stack.indexOf(`${path}:`);
  const line = at < 0 ? undefined : /^\d+/.exec(stack.slice(at + path.length + 1))?.[0];
  return line === undefined ? '' : `line ${line}`;
}

/** The export of 'dataset-register/pack' that is nearest to the name in the message of a failed import. */
async function nearestExport(message: string): Promise<string | undefined> {
  const { variable, member, module } = NAME_IN_ERROR.exec(message)?.groups ?? {};
  if (module !== undefined) {
    const [name = ''] = module.split('/');
    return nearestName(name, ['dataset-register']) && 'dataset-register/pack';
  }
  const name = variable ?? (message.includes("'dataset-register/pack'") ? member : undefined);
  return name && nearestName(name, Object.keys((await import(PACK_MODULE)) as object));
}

async function loadModule(folder: string, file: string, report: Report): Promise<unknown> {
  const path = join(folder, file);
  if ((await kindOf(path)) !== 'file') {
    report(file, [{ path: '', actual: 'no such file', expected: `${file} with a default export` }]);
    return null;
  }
  try {
    const loaded = (await import(pathToFileURL(path).href)) as { default?: unknown };
    return loaded.default;
  } catch (error) {
    const actual = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const nearest = error instanceof Error ? await nearestExport(error.message) : undefined;
    report(file, [{ path: await lineOf(error, path), actual, expected: 'a module that can be imported', nearest }]);
    return null;
  }
}

async function loadDefinition(folder: string, report: Report): Promise<PackDefinition | null> {
  const exported = await loadModule(folder, 'pack.ts', report);
  if (exported === null) return null;
  if (!isDefinition(exported)) {
    report('pack.ts', [
      { path: 'default', actual: quoteValue(exported), expected: 'export default definePack({ … })' },
    ]);
    return null;
  }
  report('pack.ts', exported.mistakes);
  return exported;
}

/** Collector of a pack without collect.ts: the rows of its declared sources are its observations. */
const DECLARED: Collector = { read: ({ rows }) => rows! };

async function loadCollector(
  folder: string,
  definition: PackDefinition | null,
  report: Report,
): Promise<Collector | null> {
  const needed = definition?.needsCollector ?? false;
  if (!needed && (await kindOf(join(folder, 'collect.ts'))) === null) return DECLARED;
  const exported = await loadModule(folder, 'collect.ts', report);
  if (exported === null) return null;
  const collector = exported as Partial<Collector> | undefined;
  if (typeof collector?.read !== 'function') {
    const expected = 'export default defineCollector({ async *read(reading, context) { … } })';
    report('collect.ts', [{ path: 'default.read', actual: quoteValue(collector?.read), expected }]);
    return null;
  }
  if (collector.observedAt !== undefined && typeof collector.observedAt !== 'function') {
    const expected = 'a function (folder) => the date inside the data, or null';
    report('collect.ts', [{ path: 'default.observedAt', actual: quoteValue(collector.observedAt), expected }]);
    return null;
  }
  return collector as Collector;
}

/** The text of NOTICE or NOTICE.md; null when there is neither. */
async function loadNotice(folder: string): Promise<string | null> {
  for (const file of ['NOTICE', 'NOTICE.md']) {
    const text = await readFile(join(folder, file), 'utf8').catch(() => '');
    if (text.trim() !== '') return normalizeText(text.trim());
  }
  return null;
}

async function loadText(folder: string, file: string, report: Report): Promise<string | null> {
  const text = await readFile(join(folder, file), 'utf8').catch(() => null);
  if (text !== null && text.trim() !== '') return normalizeText(text);
  report(file, [
    { path: '', actual: text === null ? 'no such file' : 'an empty file', expected: `a ${file} with text` },
  ]);
  return null;
}

function readSamples(written: string, definition: PackDefinition, report: Report): Pack['samples'] {
  let parsed: unknown;
  try {
    parsed = parseJson(written);
  } catch (error) {
    const actual = error instanceof Error ? error.message : String(error);
    report('samples.json', [{ path: '', actual, expected: 'JSON' }]);
    return [];
  }
  const { samples, mistakes: wrong, rules } = checkSamples(parsed, definition);
  report('samples.json', wrong);
  report('pack.ts', rules);
  return samples;
}

/** PACK_DIRS leads to no pack; one line with the folder. */
export class PackDirsError extends Error {}

/**
 * Sub-folders of PACK_DIRS with a pack.ts, sorted by id and then in the order of PACK_DIRS. Throws
 * PackDirsError when a folder is missing or is itself a pack, and when there are no packs.
 */
export async function packFolders(dirs: readonly string[]): Promise<string[]> {
  const folders = new Set<string>();
  for (const dir of dirs) {
    const names = await readdir(dir).catch(() => null);
    if (names === null) throw new PackDirsError(`PACK_DIRS: no such folder: ${dir}`);
    let held = 0;
    for (const name of names) {
      if ((await kindOf(join(dir, name, 'pack.ts'))) !== 'file') continue;
      held += 1;
      folders.add(resolve(dir, name));
    }
    // A folder of packs may have its own pack.ts for another purpose.
    if (held === 0 && (await kindOf(join(dir, 'pack.ts'))) === 'file') {
      throw new PackDirsError(
        `PACK_DIRS: ${dir} is itself a pack; set PACK_DIRS to the folder that contains it, ${dirname(resolve(dir))}`,
      );
    }
  }
  if (folders.size === 0) throw new PackDirsError(`PACK_DIRS: no folder with a pack.ts in ${dirs.join(', ')}`);
  return [...folders].sort((a, b) => byCodePoint(basename(a), basename(b)));
}

/**
 * Loads the packs of PACK_DIRS, sorted by id. Throws PackError for the first invalid pack, and when two
 * folders have the same id.
 */
export async function loadPacks(dirs: readonly string[]): Promise<Pack[]> {
  const folders = await packFolders(dirs);
  for (const [i, folder] of folders.entries()) {
    const other = folders[i - 1];
    if (other === undefined || basename(other) !== basename(folder)) continue;
    const actual = `the id ${quoteValue(basename(folder))}, which ${other} has too`;
    throw new PackError(folder, [{ file: '', path: '', actual, expected: 'a unique id: rename one of the folders' }]);
  }
  const packs: Pack[] = [];
  for (const folder of folders) packs.push(await loadPack(folder));
  return packs;
}

/** Members of `record` in templates (api/render/record-template.ts). */
const RECORD = [
  ...['id', 'slug', 'name', 'dataset', 'url', 'updated_at', 'quality_score', 'completeness', 'verified_owner'],
  ...['license', 'attribution', 'preview', 'sample'],
];

/** Unknown names in a template: `values['price.input']`, `values.name`, `record.name`. */
function checkTemplate(template: string, names: string[]): Omit<Mistake, 'file'>[] {
  const mistakes = new Map<string, Omit<Mistake, 'file'>>();
  for (const match of template.matchAll(/\b(values|record)(?:\[\s*(?:'([^']*)'|"([^"]*)")\s*\]|\.(\w+))/g)) {
    const [text, object, a, b, c] = match;
    const name = a ?? b ?? c ?? '';
    const choices = object === 'values' ? names : RECORD;
    const expected = object === 'values' ? 'the name of an attribute' : `one of ${RECORD.join(', ')}`;
    if (choices.includes(name) || mistakes.has(text)) continue;
    const line = template.slice(0, match.index).split('\n').length;
    mistakes.set(text, notOneOf(`line ${line}: ${text}`, name, expected, choices));
  }
  return [...mistakes.values()];
}
