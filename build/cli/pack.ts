// The command of pack authors: `npm run pack -- check <folder>`, `new <name>`, `try <folder>`, `price <dataset>`.

import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { filterUses } from '../../api/contract/operation.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { parseTemplate } from '../../api/render/record-template.ts';
import { respelledFilters } from '../../data/input/filters.ts';
import { currentRelease } from '../../data/model/manifest.ts';
import { createPrivateFiles, PUBLIC_MODES } from '../../data/model/permissions.ts';
import { commandLine } from '../../data/model/program.ts';
import { tableNames } from '../../data/sql/tables.ts';
import { idProblem, LATER_RESERVED_IDS, loadPack, PackError, packFolders } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { packWarnings } from '../../packs/define/references.ts';
import { packDirs } from './from/pack-dirs.ts';
import type { FromContext } from './from/run.ts';

const USAGE = `${commandLine('pack', 'check <folder>')}   check a pack without building it
${commandLine('pack', 'try <folder>')}     run its collector on a few rows and show the result, without publishing
                                   --rows <number> of each source (20), --source <id> only this one
${commandLine('pack', 'price <dataset>')} propose prices; <dataset> is a folder, or an id in PACK_DIRS
                                   --target <EUR> to earn a month, --calls <number> assumed a month (10000)
${commandLine('pack', 'new <name>')}       write a working pack to <name> in PACK_DIRS (or to a path), to start from
${commandLine('pack', 'from <source>')}    write a pack from a file, a database or an address; \`from --help\` lists the flags`;

/** Working directory and output of the command; tests pass their own. */
export interface CommandContext {
  /** Base of relative paths. */
  cwd: string;
  log: (line: string) => void;
  environment: NodeJS.ProcessEnv;
  /** Network and questions of `from`; unset: the real network, and no questions. */
  web?: FromContext['web'];
  prompt?: FromContext['prompt'];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** One line that summarises a valid pack. */
function summary(pack: Pack): string {
  const open = pack.attributes.filter((attribute) => attribute.public).length;
  const pins = pack.sources.reduce((sum, source) => sum + source.pins.length, 0);
  const counts = [
    `${count(pack.attributes.length, 'attribute')} (${open} public)`,
    `${count(pack.sources.length, 'source')} (${count(pins, 'pin')})`,
    count(pack.samples.length, 'sample'),
    count(pack.tests.length, 'test'),
  ];
  return `${pack.id}: no mistakes. ${counts.join(', ')}, collected at ${pack.schedule} UTC.`;
}

/** Checks the templates. `packs/define` cannot do it, because it does not import the template engine. */
function checkLiquid(pack: Pack): void {
  try {
    parseTemplate(pack.template);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [, reason = message, line, column] = /^(.*), line:(\d+), col:(\d+)/.exec(message) ?? [];
    const path = line === undefined ? '' : `line ${line}, column ${column}`;
    throw new PackError(pack.folder, [{ file: 'record.md', path, actual: reason, expected: 'a LiquidJS template' }]);
  }
}

/** Checks that the tables of SQL have other names than those of the other packs: `a-history` has one of `a`. */
async function checkTables(pack: Pack, dirs: readonly string[]): Promise<void> {
  const folders = await packFolders(dirs).catch(() => []);
  const names = new Set(tableNames(pack.id));
  const other = folders
    .map((folder) => basename(folder))
    .find((id) => id !== pack.id && tableNames(id).some((name) => names.has(name)));
  if (other === undefined) return;
  const expected = `another name: its tables in SQL would be named like those of ${other}`;
  throw new PackError(pack.folder, [{ file: '', path: '', actual: `the name '${pack.id}'`, expected }]);
}

/** Refuses an id that a later version reserved; a warning for a dataset that has a release. */
async function checkId(id: string, folder: string, dataDir: string): Promise<string[]> {
  if (!LATER_RESERVED_IDS.includes(id)) return [];
  const release = await currentRelease(dataDir, id).catch(() => null);
  if (release !== null) return [`the name ${id} is reserved; the dataset keeps it, because it has a release`];
  const expected = `another name: ${LATER_RESERVED_IDS.join(', ')} are reserved`;
  throw new PackError(folder, [{ file: '', path: '', actual: `the name '${id}'`, expected }]);
}

/** The guide for publishers, of the clone or of the installed package. */
const GUIDE = fileURLToPath(new URL('../../docs/packs.md', import.meta.url));
const SKELETON = fileURLToPath(new URL('../skeleton', import.meta.url));

/** The texts of the skeleton that the publisher has not replaced. */
async function skeletonTexts(pack: Pack): Promise<string[]> {
  const skeleton = await loadPack(SKELETON);
  const left: string[] = [];
  for (const member of ['description', 'attribution'] as const)
    if (pack[member] === skeleton[member]) left.push(`${member} in pack.ts`);
  for (const { id, url } of pack.sources)
    if (skeleton.sources.some((source) => source.url === url)) left.push(`sources.${id}.url in pack.ts`);
  if (isDeepStrictEqual(pack.samples, skeleton.samples)) left.push('samples.json');
  if (pack.guide.trim() === skeleton.guide.trim()) left.push('guide.md');
  return left;
}

async function check(folder: string, { cwd, log, environment }: CommandContext): Promise<number> {
  try {
    const pack = await loadPack(resolve(cwd, folder));
    checkLiquid(pack);
    await checkTables(pack, packDirs(cwd, environment));
    const warnings = await checkId(pack.id, folder, resolve(cwd, environment['DATA_DIR'] ?? 'data/var'));
    log(summary(pack));
    for (const warning of [...warnings, ...packWarnings(pack)]) log(`Warning: ${warning}`);
    for (const [name, operations] of respelledFilters(pack, filterUses(OPERATIONS)))
      log(`Note: ${name} is a parameter of ${operations.join(', ')}; there, is_${name}= filters by the attribute.`);
    const left = await skeletonTexts(pack);
    if (left.length > 0) log(`Not replaced yet, still the text of the skeleton: ${left.join(', ')}.`);
    return 0;
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    log(error.message);
    return 1;
  }
}

/** `my-pack` as a title: `My pack`. */
function titled(id: string): string {
  const text = id.replaceAll('-', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

async function create(name: string, { cwd, log, environment }: CommandContext): Promise<number> {
  const folder = /[/\\]/.test(name) ? resolve(cwd, name) : join(packDirs(cwd, environment)[0]!, name);
  const id = basename(folder);
  const problem = idProblem(id);
  if (problem !== null) {
    log(problem);
    return 1;
  }
  await mkdir(dirname(folder), { recursive: true });
  try {
    // Without `recursive`, mkdir refuses a folder that exists.
    await mkdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    log(`${folder} already exists and was not changed`);
    return 1;
  }
  await cp(SKELETON, folder, { recursive: true });
  // The service that loads the pack may run as another user.
  await chmod(folder, PUBLIC_MODES.folder);
  await chmod(join(folder, 'fixtures'), PUBLIC_MODES.folder);
  const pack = join(folder, 'pack.ts');
  const text = await readFile(pack, 'utf8');
  await writeFile(pack, text.replace("title: 'Skeleton'", `title: '${titled(id)}'`));
  log(`Wrote ${folder}: pack.ts, collect.ts, samples.json, record.md, guide.md and fixtures/.`);
  log(
    `Put your data into fixtures/ or name its source in pack.ts, and read it in collect.ts: ${GUIDE}, "collect.ts", shows how.`,
  );
  const parent = dirname(folder);
  const served = packDirs(cwd, environment).includes(parent) ? '' : ` (PACK_DIRS must contain ${parent})`;
  log(`Next: ${commandLine('pack', `check ${folder}`)}, then ${commandLine('nightly', `--only ${id}`)}${served}.`);
  return 0;
}

async function attempt(folder: string, args: string[], { cwd, log, environment }: CommandContext): Promise<number> {
  const options = { rows: { type: 'string', default: '20' }, source: { type: 'string' } } as const;
  const { values } = parseArgs({ args, options });
  const rows = Number(values.rows);
  if (!Number.isInteger(rows) || rows < 1) {
    log(`--rows must be a whole number of at least 1 (got ${values.rows})`);
    return 2;
  }
  const [{ readConfig }, { realEffects }, { tryPack }, pack] = await Promise.all([
    import('../../config.ts'),
    import('../effects/effects.ts'),
    import('./try.ts'),
    loadPack(resolve(cwd, folder)),
  ]);
  const { DATA_DIR: dataDir, BASE_URL: base_url, DATABASE_URL: database_url, ...config } = readConfig(environment);
  const open_hosts = config.COLLECT_ALLOW_HOSTS;
  const effects = realEffects(undefined, { base_url, database_url, environment, open_hosts });
  const quiet = { step: () => {}, at: () => {}, note: () => {}, warn: () => {}, end: () => {} };
  return tryPack(pack, { rows, source: values.source ?? null, dataDir }, { ...effects, progress: quiet }, log);
}

async function price(dataset: string, args: string[], { cwd, log, environment }: CommandContext): Promise<number> {
  const [{ pricePack }, folders] = await Promise.all([
    import('./price.ts'),
    packFolders(packDirs(cwd, environment)).catch(() => []),
  ]);
  const folder = folders.find((path) => basename(path) === dataset) ?? resolve(cwd, dataset);
  const dataDir = resolve(cwd, environment['DATA_DIR'] ?? 'data/var');
  return pricePack(await loadPack(folder), { args, dataDir, log });
}

/**
 * Runs the command and returns its exit code: 0 success, 1 invalid pack, 2 wrong arguments.
 *
 * @example
 * ```ts
 * await runPackCommand(['check', 'airports'], context); // prints every mistake of the pack
 * ```
 */
export async function runPackCommand(args: string[], surroundings: CommandContext): Promise<number> {
  try {
    return await chosenCommand(args, surroundings);
  } catch (error) {
    const { ConfigError } = await import('../../config.ts');
    if (!(error instanceof ConfigError)) throw error;
    surroundings.log(error.message);
    return 2;
  }
}

async function chosenCommand(args: string[], surroundings: CommandContext): Promise<number> {
  const [command, name, ...rest] = args;
  if ((command === 'try' || command === 'price') && name !== undefined) {
    try {
      return await (command === 'try' ? attempt : price)(name, rest, surroundings);
    } catch (error) {
      if (!(error instanceof PackError) && !(error instanceof TypeError)) throw error;
      surroundings.log(error.message);
      return error instanceof PackError ? 1 : 2;
    }
  }
  if (command === 'from') {
    const [{ readConfig }, { runFrom }] = await Promise.all([import('../../config.ts'), import('./from/run.ts')]);
    const { COLLECT_ALLOW_HOSTS: open_hosts } = readConfig(surroundings.environment);
    return runFrom(args.slice(1), { ...surroundings, open_hosts, check: (folder) => check(folder, surroundings) });
  }
  if (name !== undefined && rest.length === 0) {
    if (command === 'check') return check(name, surroundings);
    if (command === 'new') return create(name, surroundings);
  }
  surroundings.log(USAGE);
  return 2;
}

if (import.meta.main) {
  createPrivateFiles();
  // npm runs scripts in the repository; INIT_CWD is the directory in which the author called it.
  const cwd = process.env['INIT_CWD'] ?? process.cwd();
  process.exitCode = await runPackCommand(process.argv.slice(2), {
    cwd,
    log: (line) => console.log(line),
    environment: process.env,
    prompt: (await import('./from/ask.ts')).terminalPrompt(),
  });
}
