// Tries a proposal before it is written: every row is read as the night reads it, and what the night would refuse is
// counted, so that the proposal can be weakened.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { plural } from '../../../api/render/print.ts';
import { isDefinition } from '../../../packs/define/define.ts';
import type { Identity, PackSettings, Value } from '../../../packs/define/model.ts';
import { fold, storedText } from '../../../packs/define/text.ts';
import { checker } from '../../collect/check.ts';
import { hash53 } from '../../collect/state.ts';
import type { BrokenRow, SourceVersion } from '../../sources/reader.ts';
import { absentColumns, type DeclaringSource, declaredColumns, RowParser } from '../../sources/rows.ts';
import { CHOSEN_IDENTITY } from './choices.ts';
import type { Weakening } from './infer.ts';
import type { Proposal } from './proposal.ts';

/** What the reading with the most wrong values has in the cells of an attribute. */
export interface TriedAttribute {
  values: number;
  wrong: number;
  example: string;
  expected: string;
  /** Rows of the newest reading with a right value. */
  filled: number;
}

/** What the readings of all versions have; counts without a name of theirs are of the newest one. */
export interface Trial {
  versions: number;
  attributes: Map<string, TriedAttribute>;
  rows: number;
  /** Identity of each record, with a hash of its values. */
  records: Map<string, number>;
  /** Characters of the JSON of its values. */
  size: number;
  /** Share of the records of the version before that the newest has; 1: there is none before. */
  shared: number;
  /** Greatest share of its records that a version has fewer than the one before. */
  dropped: number;
  /** Most rows of a version that repeat the identity of an earlier row with other values. */
  repeated: number;
  /** Whether the values of an identity of one attribute differ as the test `unique` compares them. */
  unique: boolean;
  /** Rows of all versions that cannot be read, and their greatest share in one. */
  broken: BrokenRows;
  lost: number;
  /** Rows without a usable time, by the declared `observed_at`. */
  untimed: number;
  /** Columns that the pack reads and a version lacks, with the name of that version. */
  absent: Map<string, string>;
  /** Files that lack the column of an attribute, which has no values there, by attribute. */
  lacking: Map<string, string[]>;
  /** Columns of all versions, with the name of the newest one that has it. */
  columns: Map<string, string>;
  /** Name of the newest version. */
  newest: string;
}

/** Rows that cannot be read: how many, and the first ones. */
export interface BrokenRows {
  count: number;
  first: (BrokenRow & { file?: string })[];
}

/** Rows that are named. */
const MOST_NAMED = 5;

/** Counts broken rows as a reader reports them. */
export const countBroken = (rows: BrokenRows) => (row: BrokenRow) => {
  if (rows.count++ < MOST_NAMED) rows.first.push(row);
};

/** Imports the text of a pack.ts. Throws when it has mistakes. */
export async function proposedSettings(text: string): Promise<PackSettings> {
  // Node caches modules by their path, so each text has a folder of its own.
  const folder = await mkdtemp(join(tmpdir(), 'pack-from-'));
  try {
    const path = join(folder, 'pack.ts');
    await writeFile(path, text);
    const { default: exported } = (await import(pathToFileURL(path).href)) as { default?: unknown };
    if (isDefinition(exported) && exported.settings !== null) return exported.settings;
    const mistakes = isDefinition(exported) ? exported.mistakes : [];
    const listed = mistakes
      .slice(0, 5)
      .map(({ path, actual, expected }) => `${path}: found ${actual}, expected ${expected}`);
    throw new Error(`the proposed pack has mistakes: ${listed.join('; ')}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Version = Pick<SourceVersion, 'name' | 'columns' | 'rows'>;

/** Reads all versions, oldest first; `broken` counts the rows that their reader leaves out. */
export async function tryProposal(
  settings: PackSettings,
  versions: AsyncIterable<Version>,
  broken: BrokenRows,
): Promise<Trial> {
  const trial: Trial = {
    ...{
      versions: 0,
      attributes: new Map(),
      rows: 0,
      size: 0,
      records: new Map(),
      shared: 1,
      repeated: 0,
      unique: true,
    },
    ...{
      dropped: 0,
      broken,
      lost: 0,
      untimed: 0,
      absent: new Map(),
      lacking: new Map(),
      columns: new Map(),
      newest: '',
    },
  };
  for await (const version of versions) {
    const before = broken.count;
    await tryVersion(settings, version, trial);
    for (const row of broken.first) row.file ??= version.name;
    const lost = broken.count - before;
    trial.lost = Math.max(trial.lost, lost / Math.max(1, trial.rows + lost));
  }
  return trial;
}

/** Records whose identities are compared. */
const MOST_RECORDS = 5_000_000;

async function tryVersion(settings: PackSettings, version: Version, trial: Trial): Promise<void> {
  const source = settings.sources[0] as DeclaringSource;
  const { attributes } = settings;
  const tried = new Map(
    attributes.map(({ name }) => [name, { values: 0, wrong: 0, filled: 0, example: '', expected: '' }]),
  );
  const checks = attributes.map((attribute) => ({ name: attribute.name, check: checker(attribute, new Date()) }));
  const reject = (attribute: string, example: string, expected: string) => {
    const counts = tried.get(attribute)!;
    if (counts.wrong++ === 0) Object.assign(counts, { example: example.slice(0, 60), expected });
  };
  const report = {
    reject({ attribute, text, expected }: { attribute: string; text: string; expected: string }) {
      tried.get(attribute)!.values++;
      reject(attribute, text, expected);
    },
    brokenRow: () => void trial.untimed++,
  };
  const records = new Map<string, number>();
  let [rows, size, repeated, width] = [0, 0, 0, -1];
  let parser!: RowParser;
  for await (const raw of version.rows) {
    rows++;
    // Members that appear late add columns to those of JSON.
    if (width !== version.columns.length) {
      width = version.columns.length;
      parser = new RowParser(settings, source, { ...version, now: Date.now() }, report);
    }
    const observed = parser.observation(raw);
    if (observed === null) continue;
    for (const { name, check } of checks) {
      const value = observed.values[name];
      if (value === undefined || value === null) continue;
      const counts = tried.get(name)!;
      counts.values++;
      const checked = check(value);
      if (checked.ok) counts.filled++;
      else reject(name, typeof value === 'object' ? JSON.stringify(value) : String(value), checked.reason);
    }
    const key = keyOf(settings, observed.identity);
    // Each key needs memory, and maps have an upper limit.
    if (key === null || records.size >= MOST_RECORDS) continue;
    const text = JSON.stringify(observed.values);
    size += text.length;
    const content = hash53(text);
    const first = records.get(key);
    if (first === undefined) records.set(key, content);
    else if (first !== content) repeated++;
  }
  for (const [name, counts] of tried) {
    const earlier = trial.attributes.get(name);
    const worse = earlier === undefined || counts.wrong * earlier.values >= earlier.wrong * counts.values;
    trial.attributes.set(name, { ...(worse ? counts : earlier), filled: counts.filled });
  }
  // Rows of JSON may lack members.
  const present = [...version.columns, ...absentColumns(source, version.columns)];
  for (const column of declaredColumns(source).named.keys())
    if (!present.includes(column)) trial.absent.set(column, version.name);
  for (const { name } of attributes) {
    const isRead = source.from.attributes[name] !== undefined || present.includes(name);
    if (!isRead) trial.lacking.set(name, [...(trial.lacking.get(name) ?? []), version.name]);
  }
  for (const column of version.columns) trial.columns.set(column, version.name);
  const unique = trial.unique && new Set(records.keys().map(fold)).size === records.size;
  const kept = trial.records.keys().reduce((count, key) => count + Number(records.has(key)), 0);
  const before = Math.max(1, trial.records.size);
  const shared = trial.versions === 0 ? 1 : kept / before;
  const dropped = Math.max(trial.dropped, 1 - records.size / before);
  const repeats = Math.max(trial.repeated, repeated);
  const counts = { versions: trial.versions + 1, rows, size, records, shared, dropped, repeated: repeats, unique };
  Object.assign(trial, counts, { newest: version.name });
}

/** The key of a record; null when its identity is not complete. */
function keyOf({ identity }: PackSettings, values: Identity): string | null {
  const isBlank = (value: Value | undefined) => value === undefined || storedText(String(value)) === '';
  return identity.attributes.some((name) => isBlank(values[name])) ? null : identity.key(values);
}

/** Share of wrong values from which a column has another type. */
const MOST_WRONG = 0.02;

/**
 * Weakens what the trial refuses: no closed list, texts in place of another type, a column that is not read, another
 * identity. Returns whether it changed anything; if not, the night accepts the proposal.
 */
export function weaken({ attributes, identity }: Proposal, trial: Trial, weakening: Weakening): boolean {
  const { texts, open, unread, repeated, reasons } = weakening;
  const before = reasons.length + unread.size;
  for (const { name, type, values, columns } of attributes) {
    const { wrong, values: all, example, expected } = trial.attributes.get(name)!;
    const absent = columns.find((column) => trial.absent.has(column));
    const cells = `${wrong.toLocaleString('en-US')} of ${all.toLocaleString('en-US')} cells do not fit, such as '${example}' (expected ${expected})`;
    if (absent !== undefined) {
      unread.set(absent, `${trial.absent.get(absent)} lacks it; with only the files that have it, it is read`);
    } else if (wrong > 0 && values !== undefined && columns.length > 0) {
      open.add(columns[0]!);
      reasons.push(`${name}: no closed list, because ${cells}`);
    } else if (wrong > all * MOST_WRONG && columns.length > 0) {
      const next = type === 'text' ? null : texts.has(columns[0]!) || type === 'string' ? 'text' : 'string';
      for (const column of columns) {
        if (next === null) unread.set(column, cells);
        else texts.set(column, next);
      }
      if (next !== null) reasons.push(`${name}: a ${next} and no ${type}, because ${cells}`);
    }
  }
  if (trial.untimed > 0) {
    weakening.timed = false;
    reasons.push(`${trial.untimed.toLocaleString('en-US')} rows have no usable time of their last change`);
  }
  const chosen = identity.attributes.join('\n');
  if (trial.repeated > identity.repeated && !repeated.has(chosen) && identity.reason !== CHOSEN_IDENTITY) {
    repeated.add(chosen);
    reasons.push(
      `of all rows, ${plural(trial.repeated, 'row')} repeat the ${identity.attributes.join(' and ')} of an earlier row`,
    );
  }
  return reasons.length + unread.size > before;
}
