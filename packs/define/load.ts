// Loads packs from any folder: pack.ts, collect.ts, samples.json, record.md and guide.md become one checked
// Pack.
import { readdir, readFile, stat } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDefinition, type PackDefinition, type PackSettings } from './define.ts';
import { type Mistake, notOneOf, PackError, quoteValue } from './mistakes.ts';
import type { Collector, Identity, Pack, Sample, Value } from './model.ts';
import { checkValue } from './schema.ts';
import { byCodePoint } from './text.ts';

export { PackError } from './mistakes.ts';

/** Dataset ids that would clash with paths or tool names (contract section 7). */
export const RESERVED_IDS = ['datasets', 'dataset', 'entity', 'catalog', 'keys', 'optout', 'claim', 'paid'];

// A pack outside this repository has no node_modules, so its one import is mapped here.
const PACK_MODULE = new URL('./index.ts', import.meta.url).href;
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
  const found = await stat(path).catch(() => null);
  if (found === null) return null;
  return found.isDirectory() ? 'folder' : 'file';
}

/**
 * Loads and checks one pack; its id is the folder's name. Throws PackError with every mistake in any of its
 * files. Node caches modules, so changed files are read by the next process.
 */
export async function loadPack(folder: string): Promise<Pack> {
  const at = resolve(folder);
  const id = basename(at);
  const mistakes: Mistake[] = [];
  const report = (file: string, found: Omit<Mistake, 'file'>[]) =>
    mistakes.push(...found.map((mistake) => ({ file, ...mistake })));

  if (!/^[a-z][a-z0-9-]*$/.test(id)) {
    const expected = 'lower-case letters, digits and -, starting with a letter: the name is the dataset id';
    report('', [{ path: '', found: `the name ${quoteValue(id)}`, expected }]);
  } else if (RESERVED_IDS.includes(id)) {
    const expected = `another name: ${RESERVED_IDS.join(', ')} are reserved`;
    report('', [{ path: '', found: `the name ${quoteValue(id)}`, expected }]);
  }
  if ((await kindOf(at)) !== 'folder') {
    throw new PackError(folder, [{ file: '', path: '', found: 'no such folder', expected: 'a pack folder' }]);
  }

  const definition = await loadDefinition(at, report);
  const collector = await loadCollector(at, report);
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
        const found = `'' and no folder fixtures/${pin.package}/${pin.version}`;
        const expected = "a hash 'sha512-…', or the source shipped in that folder";
        report('pack.ts', [{ path: `sources.${source.id}.pins.${i}.integrity`, found, expected }]);
      }
    }
  }
  if (mistakes.length > 0 || settings === null || collector === null || template === null || guide === null) {
    throw new PackError(folder, mistakes);
  }
  return { id, folder: at, ...settings, collector, samples, template, guide };
}

type Report = (file: string, found: Omit<Mistake, 'file'>[]) => void;

/** `line 12` when an error has a line of the file; else ''. */
function lineOf(error: unknown, path: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const at = stack.indexOf(`${path}:`);
  const line = at < 0 ? undefined : /^\d+/.exec(stack.slice(at + path.length + 1))?.[0];
  return line === undefined ? '' : `line ${line}`;
}

async function loadModule(folder: string, file: string, report: Report): Promise<unknown> {
  const path = join(folder, file);
  if ((await kindOf(path)) !== 'file') {
    report(file, [{ path: '', found: 'no such file', expected: `${file} with a default export` }]);
    return null;
  }
  try {
    const loaded = (await import(pathToFileURL(path).href)) as { default?: unknown };
    return loaded.default;
  } catch (error) {
    const found = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    report(file, [{ path: lineOf(error, path), found, expected: 'a module that can be imported' }]);
    return null;
  }
}

async function loadDefinition(folder: string, report: Report): Promise<PackDefinition | null> {
  const exported = await loadModule(folder, 'pack.ts', report);
  if (exported === null) return null;
  if (!isDefinition(exported)) {
    report('pack.ts', [{ path: 'default', found: quoteValue(exported), expected: 'export default definePack({ … })' }]);
    return null;
  }
  report('pack.ts', exported.mistakes);
  return exported;
}

async function loadCollector(folder: string, report: Report): Promise<Collector | null> {
  const exported = await loadModule(folder, 'collect.ts', report);
  if (exported === null) return null;
  const collector = exported as Partial<Collector> | undefined;
  if (typeof collector?.read !== 'function') {
    const expected = 'export default defineCollector({ async *read(reading, context) { … } })';
    report('collect.ts', [{ path: 'default.read', found: quoteValue(collector?.read), expected }]);
    return null;
  }
  if (collector.observedAt !== undefined && typeof collector.observedAt !== 'function') {
    const expected = 'a function (folder) => the date inside the data, or null';
    report('collect.ts', [{ path: 'default.observedAt', found: quoteValue(collector.observedAt), expected }]);
    return null;
  }
  return collector as Collector;
}

async function loadText(folder: string, file: string, report: Report): Promise<string | null> {
  const text = await readFile(join(folder, file), 'utf8').catch(() => null);
  if (text !== null && text.trim() !== '') return text;
  report(file, [
    { path: '', found: text === null ? 'no such file' : 'an empty file', expected: `a ${file} with text` },
  ]);
  return null;
}

function readSamples(written: string, definition: PackDefinition, report: Report): Pack['samples'] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(written);
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    report('samples.json', [{ path: '', found, expected: 'JSON' }]);
    return [];
  }
  const { samples, mistakes: wrong } = checkSamples(parsed, definition);
  report('samples.json', wrong);
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
    const found = `the id ${quoteValue(basename(folder))}, which ${other} has too`;
    throw new PackError(folder, [{ file: '', path: '', found, expected: 'a unique id: rename one of the folders' }]);
  }
  const packs: Pack[] = [];
  for (const folder of folders) packs.push(await loadPack(folder));
  return packs;
}

type FileMistake = Omit<Mistake, 'file'>;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The part of a definition that other files are checked against; an invalid attribute has only its name. */
type Columns = Pick<PackDefinition, 'names' | 'attributes'>;

function checkValues(
  path: string,
  input: unknown,
  { names, attributes }: Columns,
  mistakes: FileMistake[],
): Record<string, Value> {
  const values: Record<string, Value> = {};
  if (!isObject(input)) {
    mistakes.push({ path, found: quoteValue(input), expected: 'an object of values by attribute' });
    return values;
  }
  for (const [name, value] of Object.entries(input)) {
    if (!names.includes(name)) {
      const mistake = notOneOf(`${path}.${name}`, name, 'the name of an attribute', names);
      mistakes.push({ ...mistake, found: `a value for ${quoteValue(name)}` });
      continue;
    }
    const attribute = attributes.find((each) => each.name === name);
    if (attribute === undefined) continue;
    const checked = checkValue(attribute, value);
    if (checked.ok) values[name] = checked.value;
    else mistakes.push({ path: `${path}.${name}`, found: quoteValue(value), expected: checked.reason });
  }
  return values;
}

/** The samples as they are served: values normalised, identity attributes included. */
function checkSamples(input: unknown, definition: PackDefinition): { samples: Sample[]; mistakes: FileMistake[] } {
  const { settings } = definition;
  const mistakes: FileMistake[] = [];
  const samples: Sample[] = [];
  if (!Array.isArray(input) || input.length === 0) {
    mistakes.push({
      path: '',
      found: quoteValue(input),
      expected: 'a list of at least one fictional record {identity, values}',
    });
    return { samples, mistakes };
  }
  const members = ['identity', 'values', 'evidence'];
  input.forEach((given: unknown, i) => {
    if (!isObject(given)) {
      mistakes.push({ path: `${i}`, found: quoteValue(given), expected: 'a record {identity, values, evidence?}' });
      return;
    }
    for (const name of Object.keys(given).filter((each) => !members.includes(each))) {
      const mistake = notOneOf(`${i}.${name}`, name, `one of ${members.join(', ')}`, members);
      mistakes.push({ ...mistake, found: `a member ${quoteValue(name)}` });
    }
    if (given['evidence'] !== undefined && typeof given['evidence'] !== 'string') {
      mistakes.push({ path: `${i}.evidence`, found: quoteValue(given['evidence']), expected: 'a text' });
    }
    const before = mistakes.length;
    const identity = checkValues(`${i}.identity`, given['identity'], definition, mistakes) as Identity;
    const values = { ...identity, ...checkValues(`${i}.values`, given['values'], definition, mistakes) };
    if (settings === null || mistakes.length > before) return;
    mistakes.push(...checkIdentityRules(`${i}`, identity, values, settings));
    const evidence = typeof given['evidence'] === 'string' ? { evidence: given['evidence'] } : {};
    samples.push({ identity, values, ...evidence });
  });
  if (settings !== null && mistakes.length === 0) mistakes.push(...repeated(samples, settings));
  return { samples, mistakes };
}

/** Calls the pack's functions on a sample and checks that their results can be used as key, slug and name. */
function checkIdentityRules(path: string, identity: Identity, values: Record<string, Value>, settings: PackSettings) {
  const mistakes: FileMistake[] = [];
  const { attributes, key, slug, name } = settings.identity;
  for (const needed of attributes.filter((each) => identity[each] === undefined)) {
    mistakes.push({
      path: `${path}.identity.${needed}`,
      found: 'nothing',
      expected: `${needed}, which identifies a record`,
    });
  }
  for (const extra of Object.keys(identity).filter((each) => !attributes.includes(each))) {
    const expected = `only ${attributes.join(', ')}, which identify a record`;
    mistakes.push({ path: `${path}.identity.${extra}`, found: `a value for ${quoteValue(extra)}`, expected });
  }
  if (mistakes.length > 0) return mistakes;
  const answers = (rule: string, ask: () => unknown, fits: (answer: unknown) => boolean, expected: string) => {
    let answer: unknown;
    try {
      answer = ask();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      mistakes.push({ path, found: `${rule} throws: ${message}`, expected: `${rule} to return ${expected}` });
      return;
    }
    if (!fits(answer)) {
      mistakes.push({
        path,
        found: `${rule} returns ${quoteValue(answer)}`,
        expected: `${rule} to return ${expected}`,
      });
    }
  };
  const filled = (answer: unknown) => typeof answer === 'string' && answer.trim() !== '';
  const slugged = (answer: unknown) => typeof answer === 'string' && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(answer);
  answers('identity.key', () => key(identity), filled, 'a text');
  answers('identity.slug', () => slug(identity, values), slugged, 'lower-case letters, digits and single -');
  answers('identity.name', () => name(identity, values), filled, 'a text');
  const sources = settings.sources.map((source) => source.id);
  const settled = (answer: unknown) =>
    isObject(answer) &&
    (answer['prefer'] === 'trust' || answer['prefer'] === 'newest') &&
    Object.entries((answer['trust'] as Record<string, unknown> | undefined) ?? {}).every(
      ([id, trust]) => sources.includes(id) && typeof trust === 'number' && trust >= 0 && trust <= 1,
    );
  const rule = `{prefer: 'trust' or 'newest', trust?: 0 to 1 by source: ${sources.join(', ')}}`;
  answers('consolidation.rule', () => settings.consolidation.rule(identity), settled, rule);
  return mistakes;
}

function repeated(samples: Sample[], settings: PackSettings): FileMistake[] {
  const keys = samples.map((sample) => settings.identity.key(sample.identity));
  return keys.flatMap((key, i) => {
    const first = keys.indexOf(key);
    const expected = `another record than ${first}`;
    return first === i ? [] : [{ path: `${i}.identity`, found: `the key ${quoteValue(key)} again`, expected }];
  });
}

/** Members of `record` in templates (api/render/record-template.ts). */
const RECORD = [
  ...['id', 'slug', 'name', 'dataset', 'url', 'updated_at', 'quality_score', 'completeness', 'verified_owner'],
  ...['license', 'attribution', 'preview', 'sample'],
];

/** Unknown names in a template: `values['price.input']`, `values.name`, `record.name`. */
function checkTemplate(template: string, names: string[]): FileMistake[] {
  const mistakes = new Map<string, FileMistake>();
  for (const [text, object, a, b, c] of template.matchAll(
    /\b(values|record)(?:\[\s*(?:'([^']*)'|"([^"]*)")\s*\]|\.(\w+))/g,
  )) {
    const name = a ?? b ?? c ?? '';
    const known = object === 'values' ? names : RECORD;
    const expected = object === 'values' ? 'the name of an attribute' : `one of ${RECORD.join(', ')}`;
    if (!known.includes(name)) mistakes.set(text, notOneOf(text, name, expected, known));
  }
  return [...mistakes.values()];
}
