// `npm run pack -- from`: reads a source, proposes a pack, asks for the rest, writes it and checks it.

import { chmod, copyFile, mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import slugify from '@sindresorhus/slugify';
import { plural } from '../../../api/render/print.ts';
import { publicOnly, WEB_PORTS } from '../../../data/model/guard.ts';
import { PUBLIC_MODES } from '../../../data/model/permissions.ts';
import { commandLine } from '../../../data/model/program.ts';
import { idProblem } from '../../../packs/define/load.ts';
import { type DeclaredSource, DeclaredSourceShape } from '../../../packs/define/sources.ts';
import { Web } from '../../crawl/web.ts';
import { changedFiles } from '../../sources/files.ts';
import type { Mark, SourceContext, SourceReader, SourceVersion } from '../../sources/reader.ts';
import { READERS } from '../../sources/readers.ts';
import type { DeclaringSource } from '../../sources/rows.ts';
import { sqliteTables } from '../../sources/sqlite.ts';
import { wantedColumns } from '../../sources/store.ts';
import { askFacts, type Prompt } from './ask.ts';
import { ProposalError } from './choices.ts';
import { dateOfNames, filesOf, headOf, legacyEncoding, linesAbove, rowsOfDocument } from './files.ts';
import { type Flags, FROM_USAGE, placeOf, readFlags, suffixOf, UsageError } from './flags.ts';
import { guideText, recordText } from './guide-text.ts';
import { type InferOptions, inferPack } from './infer.ts';
import { packDirs } from './pack-dirs.ts';
import { cursorOf, type DeclaredPlace, type PackFacts, packText } from './pack-text.ts';
import type { Proposal } from './proposal.ts';
import { fictionalRecords } from './records.ts';
import { columnTable, remarkLines } from './report.ts';
import { type RowSample, readSample, SAMPLE_LIMITS } from './sample.ts';
import { type BrokenRows, countBroken, proposedSettings, type Trial, tryProposal, weaken } from './trial.ts';

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

/** How a source is read: the columns (all unless set), versions that are left out, and rows that cannot be read. */
type Reading = Partial<Pick<SourceContext, 'wanted' | 'marks' | 'broken'>>;

/** The versions of a source, oldest first. */
function versionsOf(
  declared: DeclaredSource,
  { cwd, environment, ...context }: FromContext,
  { wanted = new Set(), marks = [], broken = () => {} }: Reading,
): AsyncIterable<SourceVersion> {
  const read = READERS[declared.kind] as SourceReader;
  return read(declared, {
    folder: cwd,
    wanted,
    marks,
    environment(name) {
      const value = environment[name];
      if (value === undefined || value === '') throw new Error(`the environment variable ${name} is not set`);
      return value;
    },
    // The reader closes it.
    web: context.web ?? (() => plainWeb(context.open_hosts)),
    now: () => new Date(),
    broken,
    progress: () => {},
  });
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
  await write('guide.md', guideText(proposal, facts.title, origin));
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
export interface FromContext {
  environment: Readonly<Record<string, string | undefined>>;
  /** Opens the web client; unset: one that reaches public addresses and `open_hosts`. */
  web?: (() => Promise<Web>) | undefined;
  /** COLLECT_ALLOW_HOSTS. */
  open_hosts?: readonly string[] | undefined;
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

/**
 * Runs the command. Returns 0 for a pack that passes the check, 1 for a source or folder that prevents one, 2 for wrong arguments.
 *
 * @example
 * ```ts
 * const exitCode = await runFrom(['stones.csv'], context); // writes packs/stones/pack.ts
 * ```
 */
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
  const wantedId = flags.id ?? idOf(source, place);
  const folder = /[/\\]/.test(wantedId) ? resolve(cwd, wantedId) : join(packDirs(cwd, environment)[0]!, wantedId);
  const id = basename(folder);
  const idMistake = idProblem(id);
  if (idMistake !== null) throw new UsageError(`--id: ${idMistake}`);
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
    return changedFiles(declared, { folder: cwd, marks: [] });
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
  const database = new DatabaseSync(file, { readOnly: true });
  const tables = sqliteTables(database);
  database.close();
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
  return idProblem(id) === null ? id : `${id}-data`;
}

/** `my-pack` as a title: `My pack`. */
const titleOf = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1).replaceAll('-', ' ');

interface SourceSample {
  sample: RowSample;
  broken: BrokenRows;
}

async function makePack(target: Target, flags: Flags, context: FromContext): Promise<number> {
  const { id, folder, place, file } = target;
  const legacy = await recognise(target, flags, context.cwd);
  const { sample, broken } = await sampleOf(target, context);
  const identity = flags.identity?.split(',').map((name) => name.trim()) ?? null;
  const options = { identity, currency: flags.currency ?? null };
  const { proposal, trial } = await triedProposal({ sample, broken }, options, target, context);
  proposal.notes.push(...(sample.notes ?? []));
  if (legacy) proposal.notes.push(encodingNote(sample));
  if (place.options['skip_lines'] !== undefined)
    proposal.notes.push(`${plural(Number(place.options['skip_lines']), 'line')} above the header are skipped`);
  const cursor = cursorOf(proposal, place.kind);
  proposal.notes.push(...updatedNotes(proposal, place, cursor));
  // One file lists all records, and so does the newest of several if it has half of those of the file before.
  const listsAll = trial.shared >= 0.5;
  const complete = (sample.whole || place.kind !== 'http') && listsAll && cursor === undefined;
  if (trial.versions > 1) {
    const what = listsAll
      ? 'each lists all records, so a record that a newer one lacks is gone'
      : 'each has records of its own';
    proposal.notes.push(`${trial.versions} files are read as versions, oldest first; ${what}`);
  }
  if (place.kind === 'http' && place.options['pages'] === undefined)
    proposal.notes.push('one answer was read; if the API has pages, name how with --pages (see from --help)');
  context.log(readLine(sample, trial.rows));
  context.log('');
  for (const line of columnTable(proposal)) context.log(line);
  context.log('');
  const homepage = place.kind === 'http' ? new URL(place.target!).origin : null;
  const answers = await askFacts(flags, { title: titleOf(id), homepage }, context.prompt ?? null);
  const data: DataFile | null = file === null ? null : await dataFileOf(folder, file, flags.copy ?? false);
  const source = { ...place, target: data?.path ?? place.target, complete };
  const max_drop = complete && trial.dropped > MAX_DROP ? doubled(trial.dropped) : null;
  const facts = { id, ...answers, source, unique: trial.unique, tolerate: toleranceOf(trial), max_drop };
  await writePack(folder, proposal, facts, data);
  for (const line of remarkLines(proposal, trial)) context.log(line);
  context.log('');
  context.log(`Wrote ${folder}: pack.ts, samples.json, record.md, guide.md${data?.copied ? ` and ${data.path}` : ''}.`);
  if (data !== null && data.copied === null && data.path.startsWith('../'))
    context.log(
      `The data stays at ${data.path} (from the folder of the pack)${target.marks.length > 1 ? '' : '; copy it with --copy'}.`,
    );
  const code = await context.check(folder);
  if (code === 0) for (const line of nextLines(id, folder, context)) context.log(line);
  return code;
}

/** What becomes of the time of the last change of a row. */
function updatedNotes({ updated, timed }: Proposal, { kind, options }: DeclaredPlace, cursor?: string): string[] {
  if (updated === null) return [];
  const members = [
    ...(timed && options['observed_at'] === undefined ? ['observed_at'] : []),
    ...(cursor === undefined ? [] : ['cursor']),
  ];
  const comments = ['observed_at', ...(kind === 'postgres' ? ['cursor'] : [])].filter(
    (name) => !members.includes(name),
  );
  const quoted = (names: string[]) => names.map((name) => `\`${name}\``).join(' and ');
  return [
    ...(members.length > 0
      ? [`${updated}: a time of the last change is ${quoted(members)}: check that it changes with each value`]
      : []),
    ...(comments.length > 0
      ? [`${updated}: a time of the last change; comments in pack.ts show how it becomes ${quoted(comments)}`]
      : []),
  ];
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

function readLine({ name, columns, rows, whole }: RowSample, total: number): string {
  const more = total > rows.length ? total.toLocaleString('en-US') : 'more';
  const read = whole ? `all ${plural(rows.length, 'row')}` : `the first ${plural(rows.length, 'row')} of ${more}`;
  return `Read ${read} of ${name}: ${plural(columns.length, 'column')}.`;
}

/** The sample of the source, or of the newest file of a pattern. */
async function sampleOf(target: Target, context: FromContext): Promise<SourceSample> {
  const { place, marks } = target;
  const broken: BrokenRows = { count: 0, first: [] };
  const reading = { marks: marks.slice(0, -1), broken: countBroken(broken) };
  // Each page of an API is a request with a pause.
  const limits = place.kind === 'http' ? { ...SAMPLE_LIMITS, rows: 10_000 } : SAMPLE_LIMITS;
  for await (const version of versionsOf(sourceOf(target), context, reading)) {
    const sample = await readSample(version, limits);
    return { sample, broken };
  }
  throw new Error('the source has no version');
}

/** A proposal that the night accepts: what the trial with all rows refuses is weakened, and noted. */
async function triedProposal(
  { sample, broken }: SourceSample,
  options: InferOptions,
  target: Target,
  context: FromContext,
): Promise<{ proposal: Proposal; trial: Trial }> {
  const weakening = {
    ...{ texts: new Map(), open: new Set<string>(), unread: new Map<string, string>() },
    ...{ repeated: new Set<string>(), timed: true, reasons: [] as string[] },
  };
  // An API is not read twice.
  const isApi = target.place.kind === 'http';
  for (;;) {
    const proposal = inferPack(sample, { ...options, tried: !isApi, weakening });
    const settings = await proposedSettings(packText(proposal, draftFacts(target)));
    const wanted = wantedColumns(settings, settings.sources[0] as DeclaringSource);
    const lost: BrokenRows = isApi ? broken : { count: 0, first: [] };
    const reading = { wanted, broken: countBroken(lost) };
    const versions = isApi ? sampleVersion(sample) : versionsOf(sourceOf(target), context, reading);
    const trial = await tryProposal(settings, versions, lost);
    if (weaken(proposal, trial, weakening)) continue;
    proposal.notes.push(...weakening.reasons);
    return { proposal: measured(proposal, trial), trial };
  }
}

/** The proposal with the counts of all rows. */
function measured(proposal: Proposal, { attributes, rows, records }: Trial): Proposal {
  for (const attribute of proposal.attributes) attribute.filled = attributes.get(attribute.name)!.filled;
  return { ...proposal, rows, identity: { ...proposal.identity, records: records.size } };
}

/** What pack.ts needs so that it can be read before the publisher answers. */
const draftFacts = ({ id, place }: Target): PackFacts => ({
  ...{ id, title: id, license: { name: id, url: 'https://example.org/' }, attribution: id },
  ...{ homepage: 'https://example.org/', source: place, unique: true, tolerate: null, max_drop: null },
});

async function* sampleVersion({ name, columns, rows }: RowSample) {
  async function* raw() {
    for (const [i, cells] of rows.entries()) yield { line: i + 1, cells };
  }
  yield { name, columns, rows: raw() };
}

/** A tolerance of twice what the readings have; null where the default is enough. */
function toleranceOf({ attributes, repeated, rows, lost }: Trial): PackFacts['tolerate'] {
  const wrong = [...attributes.values()].map(({ wrong, values }) => wrong / Math.max(1, values));
  const most = Math.max(repeated / Math.max(1, rows), ...wrong);
  if (most === 0 && lost === 0) return null;
  return { values: Math.max(0.001, doubled(most)), rows: doubled(lost) };
}

const doubled = (share: number): number => Math.min(1, Math.ceil(share * 2000) / 1000);

/** Share of its records that a complete source may drop at once, unless it sets `max_drop`. */
const MAX_DROP = 0.1;
