// The command of pack authors: `npm run pack -- check <folder>` and `npm run pack -- new <name>`.

import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { parseTemplate } from '../../api/render/record-template.ts';
import { createPrivateFiles, PUBLIC_MODES } from '../../data/model/permissions.ts';
import { loadPack, PackError, RESERVED_IDS } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';

const USAGE = `npm run pack -- check <folder>   check a pack without building it
npm run pack -- new <name>       write a working pack to packs/<name> (or to a path), to start from`;

/** Working directory and output of the command; tests pass their own. */
export interface CommandContext {
  /** Base of relative paths. */
  cwd: string;
  log: (line: string) => void;
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
    const found = error instanceof Error ? error.message : String(error);
    throw new PackError(pack.folder, [{ file: 'record.md', path: '', found, expected: 'a LiquidJS template' }]);
  }
}

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

async function check(folder: string, { cwd, log }: CommandContext): Promise<number> {
  try {
    const pack = await loadPack(resolve(cwd, folder));
    checkLiquid(pack);
    log(summary(pack));
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

async function create(name: string, { cwd, log }: CommandContext): Promise<number> {
  const folder = /[/\\]/.test(name) ? resolve(cwd, name) : resolve(cwd, 'packs', name);
  const id = basename(folder);
  if (!/^[a-z][a-z0-9-]*$/.test(id) || RESERVED_IDS.includes(id)) {
    log(
      `'${id}' is not a valid dataset id: use lower-case letters, digits and -, and none of ${RESERVED_IDS.join(', ')}`,
    );
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
    'Put your data into fixtures/ or name its source in pack.ts, and read it in collect.ts: docs/packs.md, "collect.ts", shows how, a CSV too.',
  );
  log(`Next: npm run pack -- check ${folder}, then npm run nightly (PACK_DIRS must contain ${dirname(folder)}).`);
  return 0;
}

/** Runs the command and returns its exit code: 0 success, 1 invalid pack, 2 wrong arguments. */
export async function runPackCommand(args: string[], surroundings: CommandContext): Promise<number> {
  const [command, name, ...rest] = args;
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
  process.exitCode = await runPackCommand(process.argv.slice(2), { cwd, log: (line) => console.log(line) });
}
