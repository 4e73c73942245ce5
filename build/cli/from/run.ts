// `npm run pack -- from`: reads a source, proposes a pack, asks for the rest, writes it and checks it.

import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import slugify from '@sindresorhus/slugify';
import { publicOnly, WEB_PORTS } from '../../../data/model/guard.ts';
import { PUBLIC_MODES } from '../../../data/model/permissions.ts';
import { commandLine } from '../../../data/model/program.ts';
import { RESERVED_IDS } from '../../../packs/define/load.ts';
import { type DeclaredSource, DeclaredSourceShape } from '../../../packs/define/sources.ts';
import { Web } from '../../crawl/web.ts';
import { changedFiles } from '../../sources/files.ts';
import type { Mark, SourceContext, SourceReader, SourceVersion } from '../../sources/reader.ts';
import { READERS } from '../../sources/readers.ts';
import { askFacts, type Prompt } from './ask.ts';
import { ProposalError } from './choices.ts';
import { cellText } from './column.ts';
import { dateOfNames, filesOf, headOf, legacyEncoding, linesAbove, rowsOfDocument } from './files.ts';
import { type Flags, FROM_USAGE, placeOf, readFlags, suffixOf, UsageError } from './flags.ts';
import { guideText, recordText } from './guide-text.ts';
import { inferPack } from './infer.ts';
import { packDirs } from './pack-dirs.ts';
import { type DeclaredPlace, type PackFacts, packText } from './pack-text.ts';
import type { Proposal } from './proposal.ts';
import { fictionalRecords } from './records.ts';
import { columnTable, remarkLines } from './report.ts';
import { type RowSample, readSample, repeatedKeys, SAMPLE_LIMITS } from './sample.ts';
import { type Rejections, rejectedCells } from './verify.ts';

/** Environment and network of the command; tests pass their own. */
interface ReadContext {
  environment: Readonly<Record<string, string | undefined>>;
  /** Opens the web client; unset: one that reaches public addresses and `open_hosts`. */
  web?: (() => Promise<Web>) | undefined;
  /** COLLECT_ALLOW_HOSTS. */
  open_hosts?: readonly string[] | undefined;
}

/** A web client without signature: requests of a publisher to the own source. */
async function plainWeb(open_hosts: readonly string[] = []): Promise<Web> {
  return new Web({
    allowed: publicOnly,
    ports: WEB_PORTS,
    open_hosts: new Set(open_hosts),
    sign: null,
    base_url: 'https://example.org/',
    now: () => new Date(),
    wait: (ms) => setTimeout(ms),
    random: Math.random,
  });
}

/** The declaration of a place, with `target` as file or address. Throws UsageError for a wrong option. */
function declarationOf({ kind, options }: DeclaredPlace, target: string | null): DeclaredSource {
  const where = kind === 'postgres' ? {} : kind === 'http' ? { urls: [target] } : { file: target };
  const parsed = DeclaredSourceShape.safeParse({ kind, ...where, ...options });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(`--${String(issue?.path[0]).replace('url_env', 'url-env')}: expected ${issue?.message}`);
}

/** Opens the only version of a source. `broken` receives rows that cannot be read. */
async function openVersion(
  declared: DeclaredSource,
  folder: string,
  context: ReadContext,
  broken: SourceContext['broken'],
  known: SourceContext['known'] = [],
): Promise<{ version: SourceVersion; close: () => Promise<void> }> {
  const read = READERS[declared.kind] as SourceReader;
  const versions = read(declared, {
    folder,
    // Empty: all columns.
    wanted: new Set(),
    known,
    environment(name) {
      const value = context.environment[name];
      if (value === undefined || value === '') throw new Error(`the environment variable ${name} is not set`);
      return value;
    },
    // The reader closes it.
    web: context.web ?? (() => plainWeb(context.open_hosts)),
    now: () => new Date(),
    broken,
    progress: () => {},
  })[Symbol.asyncIterator]();
  const close = async () => {
    await versions.return?.(undefined);
  };
  try {
    const first = await versions.next();
    if (first.done) throw new Error('the source has no version');
    return { version: first.value, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Tables and views of a SQLite file. Throws when it is none. */
function sqliteTables(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = database
      .prepare(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
      )
      .all();
    return rows.map((row) => String(row['name']));
  } finally {
    database.close();
  }
}

/** Files of a pack; a folder that has one of them is not changed. */
const PACK_FILES = ['pack.ts', 'collect.ts', 'samples.json', 'record.md', 'guide.md'];

/** A file above this size is read where it is, unless the publisher wants a copy. */
const LARGEST_COPY = 100_000_000;

/** Where the pack reads a file, and whether it is copied there. */
interface DataFile {
  /** Path from the folder of the pack, with `/`. */
  path: string;
  /** Absolute path of the file to copy; null: the file stays where it is. */
  copied: string | null;
}

/** Names in a folder that prevent a new pack there; [] when it can be written. */
async function obstacles(folder: string, dataFile: string | null): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const holdsData = dataFile !== null && !relative(folder, dataFile).startsWith('..');
  return holdsData ? names.filter((name) => PACK_FILES.includes(name)) : names;
}

/** Where a file is read from: in the folder of the pack as it is, else as a copy in `data/`. */
async function dataFileOf(folder: string, file: string, copy: boolean): Promise<DataFile> {
  const path = relative(folder, file).split(sep).join('/');
  // A pattern finds the files of later nights where they are.
  const isFile = (await stat(file).catch(() => null))?.isFile() === true;
  if (!path.startsWith('../') || !isFile) return { path, copied: null };
  const { size } = await stat(file);
  if (size > LARGEST_COPY && !copy) return { path, copied: null };
  return { path: `data/${basename(file)}`, copied: file };
}

/** Writes pack.ts, samples.json, record.md and guide.md, readable by the user of the service. */
async function writePack(folder: string, proposal: Proposal, facts: PackFacts, data: DataFile | null): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, PUBLIC_MODES.folder);
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    await chmod(join(folder, name), PUBLIC_MODES.file);
  };
  await write('pack.ts', packText(proposal, facts));
  await write('samples.json', `${JSON.stringify(fictionalRecords(proposal), null, 2)}\n`);
  await write('record.md', recordText(proposal));
  const origin = data === null ? (facts.source.target ?? 'a query') : basename(data.path);
  await write('guide.md', guideText(proposal, facts.title, origin, facts.total));
  if (data === null || data.copied === null) return;
  const target = join(folder, data.path);
  await mkdir(join(folder, 'data'), { recursive: true });
  await chmod(join(folder, 'data'), PUBLIC_MODES.folder);
  await copyFile(data.copied, target);
  await chmod(target, PUBLIC_MODES.file);
  // The time of the file is the time that its values describe.
  const { atime, mtime } = await stat(data.copied);
  await utimes(target, atime, mtime);
}

/** What the command needs; tests pass their own. */
export interface FromContext extends ReadContext {
  /** Base of relative paths. */
  cwd: string;
  log: (line: string) => void;
  /** Asks a question; unset or null: there is no terminal. */
  prompt?: Prompt | undefined;
  /** Checks the pack that was written, and returns the exit code. */
  check: (folder: string) => Promise<number>;
}

/** Where a pack is made from and written to. */
interface Target {
  id: string;
  folder: string;
  place: DeclaredPlace;
  /** Absolute path of the file, or a pattern; null for a query and an address. */
  file: string | null;
  /** Marks of the files of a pattern, oldest first; one for a file, none for a query and an address. */
  marks: readonly Mark[];
}

/** Runs the command. Returns 0 for a pack that passes the check, 1 for a source or folder that prevents one, 2 for wrong arguments. */
export async function runFrom(args: readonly string[], context: FromContext): Promise<number> {
  try {
    if (args.includes('--help')) {
      context.log(FROM_USAGE);
      return 0;
    }
    const { source, flags } = readFlags(args);
    const target = await targetOf(source, flags, context);
    return await makePack(target, flags, context);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof UsageError) {
      context.log(error.message);
      return 2;
    }
    // Errors of readers and of the file system have the name of the file.
    if (!(error instanceof ProposalError) && isProgramError(error)) throw error;
    context.log(error.message);
    return 1;
  }
}

const isProgramError = (error: Error): boolean =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;

async function targetOf(source: string, flags: Flags, { cwd, environment }: FromContext): Promise<Target> {
  const isFile = source !== 'postgres' && !/^https?:\/\//i.test(source);
  const files = isFile ? await filesOf(source, resolve(cwd, source)) : { pattern: source, inside: null };
  const place = placeOf(files.inside ?? files.pattern, flags);
  const file = isFile ? resolve(cwd, files.pattern) : null;
  if (isFile) place.target = files.pattern;
  if (files.inside !== null) place.options['inside'] = files.inside;
  const exists = file !== null && (await stat(file).catch(() => null))?.isFile();
  const isPattern = file !== null && !exists && /[*?[{]/.test(files.pattern);
  if (file !== null && !exists && !isPattern) throw new ProposalError(`no such file: ${file}`);
  if (place.kind === 'sqlite' && flags.table === undefined && flags.query === undefined) chooseTable(place, file!);
  const marks = file === null ? [] : await marksOf(place, file, cwd);
  const given = flags.id ?? idOf(source, place);
  const folder = /[/\\]/.test(given) ? resolve(cwd, given) : join(packDirs(cwd, environment)[0]!, given);
  const id = basename(folder);
  if (!/^[a-z][a-z0-9-]*$/.test(id) || RESERVED_IDS.includes(id)) {
    throw new UsageError(
      `--id: '${id}' is not a valid dataset id: use lower-case letters, digits and -, and none of ${RESERVED_IDS.join(', ')}`,
    );
  }
  const present = await obstacles(folder, file);
  if (present.length > 0) {
    throw new ProposalError(
      `${folder} already exists and was not changed (it contains ${present.slice(0, 5).join(', ')}); use another --id`,
    );
  }
  return { id, folder, place, file, marks };
}

/** Marks of the files of a pattern or an archive, oldest first, by the date in their names if all have one. */
async function marksOf(place: DeclaredPlace, file: string, cwd: string): Promise<Mark[]> {
  const read = async () => {
    const declared = declarationOf(place, file) as DeclaredSource & { file: string };
    return changedFiles(declared, { folder: cwd, known: [] });
  };
  const files = await read();
  if (files.length === 1) return files.map(({ mark }) => mark);
  const date = dateOfNames(files.map(({ name }) => basename(name)));
  if (date === null) return files.map(({ mark }) => mark);
  place.options['observed_at'] = { file_name: date };
  return (await read()).map(({ mark }) => mark);
}

/** The declaration with the file as an absolute path, or the address. */
const sourceOf = ({ place, file }: Target): DeclaredSource => declarationOf(place, file ?? place.target);

/** What the first bytes of a file show about its form: encoding, lines above the header, place of the list. */
async function recognise(target: Target, flags: Flags, cwd: string): Promise<boolean> {
  const { place, file } = target;
  if (file === null || (place.kind !== 'csv' && place.kind !== 'json')) return false;
  const declared = sourceOf(target) as DeclaredSource & { file: string };
  if (place.kind === 'json') {
    const asked = flags.items !== undefined || place.options['geojson'] !== undefined;
    if (!asked) Object.assign(place.options, rowsOfDocument(basename(file), await headOf(declared, cwd, Infinity)));
    return false;
  }
  const head = await headOf(declared, cwd, HEAD_BYTES);
  const legacy = flags.encoding === undefined ? legacyEncoding(head) : null;
  if (legacy !== null) place.options['encoding'] = legacy;
  const skip_lines = linesAbove(head.toString('latin1', 0, 64_000));
  if (skip_lines > 0) place.options['skip_lines'] = skip_lines;
  return legacy !== null;
}

/** Bytes of a CSV that decide about its encoding. */
const HEAD_BYTES = 8_000_000;

/** Takes the only table; with several, the publisher chooses. */
function chooseTable(place: DeclaredPlace, file: string): void {
  const tables = sqliteTables(file);
  const [only, ...more] = tables;
  if (only === undefined) throw new ProposalError(`${file} has no table`);
  if (more.length > 0)
    throw new UsageError(`${basename(file)} has the tables ${tables.join(', ')}; choose one with --table`);
  place.options['table'] = only;
}

/** A dataset id from the name of the file, the table or the host. */
function idOf(source: string, { kind, options }: DeclaredPlace): string {
  const table = typeof options['table'] === 'string' ? options['table'] : null;
  const path = kind === 'http' ? new URL(source).pathname.replace(/\/+$/, '') || new URL(source).hostname : source;
  const text =
    kind === 'postgres' ? 'query' : (table ?? basename(path, path.slice(path.length - suffixOf(path).length)));
  const slug = slugify(text).slice(0, 60).replace(/-+$/, '');
  const id = /^[a-z]/.test(slug) ? slug : slug === '' ? 'dataset-1' : `data-${slug}`;
  return RESERVED_IDS.includes(id) ? `${id}-data` : id;
}

/** `my-pack` as a title: `My pack`. */
const titleOf = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1).replaceAll('-', ' ');

interface SourceSample {
  sample: RowSample;
  broken: number;
}

async function makePack(target: Target, flags: Flags, context: FromContext): Promise<number> {
  const { id, folder, place, file } = target;
  const legacy = await recognise(target, flags, context.cwd);
  const { sample, broken } = await sampleOf(target, context);
  const identity = flags.identity?.split(',').map((name) => name.trim()) ?? null;
  const proposal = inferPack(sample, { identity, currency: flags.currency ?? null });
  await checkRest(proposal, sample, target, context);
  proposal.notes.push(...(sample.notes ?? []));
  if (legacy) proposal.notes.push(encodingNote(sample));
  if (place.options['skip_lines'] !== undefined)
    proposal.notes.push(`${plural(Number(place.options['skip_lines']), 'line')} above the header are skipped`);
  const complete = sample.whole && (await listsAll(proposal, sample, target, context));
  if (place.kind === 'http' && place.options['pages'] === undefined)
    proposal.notes.push('one answer was read; if the API has pages, name how with --pages (see from --help)');
  context.log(readLine(sample));
  context.log('');
  for (const line of columnTable(proposal)) context.log(line);
  context.log('');
  const homepage = place.kind === 'http' ? new URL(place.target!).origin : null;
  const answers = await askFacts(flags, { title: titleOf(id), homepage }, context.prompt ?? null);
  const data: DataFile | null = file === null ? null : await dataFileOf(folder, file, flags.copy ?? false);
  const source = { ...place, target: data?.path ?? place.target, complete };
  const facts: PackFacts = { id, ...answers, source, total: sample.total, whole: isWhole(sample), tolerate: null };
  const rejections = await verified(packText(proposal, facts), sample);
  facts.tolerate = toleranceOf(rejections, broken, sample);
  await writePack(folder, proposal, facts, data);
  for (const line of remarkLines(proposal, rejections, broken)) context.log(line);
  context.log('');
  context.log(`Wrote ${folder}: pack.ts, samples.json, record.md, guide.md${data?.copied ? ` and ${data.path}` : ''}.`);
  if (data !== null && data.copied === null && data.path.startsWith('../'))
    context.log(`The data stays at ${data.path} (from the folder of the pack); copy it with --copy.`);
  const code = await context.check(folder);
  if (code === 0) for (const line of nextLines(id, folder, context)) context.log(line);
  return code;
}

function nextLines(id: string, folder: string, { cwd, environment }: FromContext): string[] {
  const parent = dirname(folder);
  const served = packDirs(cwd, environment).includes(parent);
  return [
    '',
    'Next:',
    `  ${commandLine('pack', `try ${folder}`)}     # reads a few rows and shows their records, without publishing`,
    `  ${commandLine('nightly', `--only ${id}`)}     # builds it${served ? '' : `; PACK_DIRS must contain ${parent}`}`,
    `  ${commandLine('serve')}     # serves it`,
  ];
}

function encodingNote({ columns, rows }: RowSample): string {
  const accented = (cell: unknown) => typeof cell === 'string' && /\P{ASCII}/u.test(cell);
  const text = columns.find(accented) ?? rows.flat().find(accented);
  const example = text === undefined ? '' : `, such as '${String(text).slice(0, 40).toWellFormed()}'`;
  return `the file is not UTF-8 and is read as windows-1252${example}; name another encoding with --encoding`;
}

const isWhole = ({ rows, total, whole }: RowSample): boolean => whole && rows.length === total;

const plural = (count: number, noun: string) => `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;

function readLine(sample: RowSample): string {
  const { name, columns, rows, total, whole } = sample;
  const all = isWhole(sample)
    ? `all ${plural(rows.length, 'row')}`
    : `the first ${plural(rows.length, 'row')} of ${whole ? '' : 'at least '}${total.toLocaleString('en-US')}`;
  return `Read ${all} of ${name}: ${plural(columns.length, 'column')}.`;
}

/** The sample of the source, or of the newest file of a pattern. */
async function sampleOf(target: Target, context: FromContext): Promise<SourceSample> {
  const { place, marks } = target;
  let broken = 0;
  const older = marks.slice(0, -1);
  const { version, close } = await openVersion(sourceOf(target), context.cwd, context, () => broken++, older);
  try {
    // Each page of an API is a request with a pause.
    const limits = place.kind === 'http' ? { ...SAMPLE_LIMITS, rows: 10_000, counted: 10_000 } : SAMPLE_LIMITS;
    const sample = await readSample(version, limits);
    return { sample, broken };
  } finally {
    await close();
  }
}

/** Reads the rows after the sample for repeated identities. */
async function checkRest(proposal: Proposal, sample: RowSample, target: Target, context: FromContext): Promise<void> {
  if (sample.rows.length === sample.total || target.place.kind === 'http') return;
  const older = target.marks.slice(0, -1);
  const { version, close } = await openVersion(sourceOf(target), context.cwd, context, () => {}, older);
  try {
    const { attributes } = proposal.identity;
    const repeated = await repeatedKeys(version, identityColumns(proposal));
    proposal.identity.records = sample.total - repeated;
    if (repeated <= proposal.identity.repeated) return;
    proposal.identity.repeated = repeated;
    const names = attributes.join(' and ');
    proposal.notes.push(
      `of all rows, ${repeated.toLocaleString('en-US')} repeat the ${names} of an earlier row; the first counts`,
    );
  } finally {
    await close();
  }
}

/**
 * Whether each reading lists all records: one file does, and the newest of several if it has half of the records of
 * the file before; otherwise each has records of its own.
 */
async function listsAll(proposal: Proposal, sample: RowSample, target: Target, context: FromContext): Promise<boolean> {
  const { marks } = target;
  if (marks.length < 2) return true;
  const others = marks.filter((_, i) => i !== marks.length - 2);
  const { version, close } = await openVersion(sourceOf(target), context.cwd, context, () => {}, others);
  const columns = identityColumns(proposal);
  const keyOf = (names: readonly string[], cells: readonly unknown[]) =>
    columns.map((column) => cellText(cells[names.indexOf(column)])).join('\u0000');
  const newest = new Set(sample.rows.map((cells) => keyOf(sample.columns, cells)));
  let [rows, shared] = [0, 0];
  try {
    for await (const { cells } of version.rows) {
      rows++;
      if (newest.has(keyOf(version.columns, cells))) shared++;
    }
  } finally {
    await close();
  }
  const all = shared >= rows / 2;
  proposal.notes.push(
    `${marks.length} files are read as versions, oldest first; ` +
      (all ? 'each lists all records, so a record that a newer one lacks is gone' : 'each has records of its own'),
  );
  return all;
}

const identityColumns = ({ identity, attributes }: Proposal): string[] =>
  identity.attributes.map((name) => attributes.find((attribute) => attribute.name === name)!.columns[0]!);

/** Reads the sample with the proposed pack.ts, in a temporary folder. */
async function verified(text: string, sample: RowSample): Promise<Rejections> {
  const temp = await mkdtemp(join(tmpdir(), 'pack-from-'));
  try {
    const path = join(temp, 'pack.ts');
    await writeFile(path, text);
    return await rejectedCells(path, sample);
  } finally {
    await rm(temp, { recursive: true });
  }
}

/** A tolerance of twice what the sample has; null where the default is enough. */
function toleranceOf(rejections: Rejections, broken: number, { rows, total }: RowSample): PackFacts['tolerate'] {
  const most = Math.max(0, ...[...rejections.values()].map(({ count }) => count / rows.length));
  const lost = broken / Math.max(1, total + broken);
  if (most === 0 && lost === 0) return null;
  const doubled = (share: number, least: number) => Math.min(1, Math.max(least, Math.ceil(share * 2000) / 1000));
  return { values: doubled(most, 0.001), rows: lost === 0 ? 0 : doubled(lost, 0.001) };
}
