// Stores what is new in the declared sources of a pack, so that their versions are planned like pins, and reads them.
import { createHash } from 'node:crypto';
import type { ReadingRow } from '../../data/write/facts.ts';
import { nearestName, quoteValue } from '../../packs/define/mistakes.ts';
import type { Observed, Pack, Pin, Source } from '../../packs/define/model.ts';
import type { DeclaredSource } from '../../packs/define/sources.ts';
import type { Effects } from '../effects/effects.ts';
import type { BrokenRow, SourceContext, SourceVersion } from '../sources/reader.ts';
import { READERS } from '../sources/readers.ts';
import {
  DeclarationError,
  type DeclaringSource,
  keepsRow,
  RowParser,
  type RowReport,
  refuseUnread,
  unreadColumns,
} from '../sources/rows.ts';
import {
  brokenRows,
  currentVersions,
  declaredPackage,
  readVersion,
  removeVersions,
  type StoreContext,
  type StoredVersion,
  storedRows,
  storedVersions,
  storeVersions,
  versionsFolder,
  wantedColumns,
} from '../sources/store.ts';
import type { EarlierReadings } from './plan.ts';
import { errorLine } from './report.ts';

/** Whether the rows of a source are declared and stored by the register, not read from a package. */
export const isStored = (source: Source): source is DeclaringSource =>
  source.from !== null && source.pins.length === 0 && source.newest === null;

/** What readers of declared sources need of the run. */
export function sourceContext(pack: Pack, dataDir: string, effects: Effects): Omit<StoreContext, 'dataDir'> {
  return {
    folder: pack.folder,
    environment(name, member) {
      const value = effects.environment(name);
      if (value === undefined || value === '')
        throw new Error(`the environment variable ${name} is not set, expected by from.${member} in pack.ts`);
      return value;
    },
    web: () => effects.web(dataDir),
    now: effects.now,
    progress: effects.progress.at,
    row_limit: effects.row_limit,
  };
}

/**
 * Reads the declared sources and stores what is new. Returns the pack with the stored versions as pins, so
 * that they are planned, repeated and restarted like any other. Throws when a declaration does not fit its
 * source.
 */
export async function storeDeclared(
  pack: Pack,
  dataDir: string,
  effects: Effects,
  { failures, notes, earlier }: { failures: string[]; notes: string[]; earlier: EarlierReadings },
): Promise<Pack> {
  const context = sourceContext(pack, dataDir, effects);
  const sources: Source[] = [];
  for (const source of pack.sources) {
    if (!isStored(source)) {
      sources.push(source);
      continue;
    }
    const folder = versionsFolder(dataDir, pack.id, source.id);
    await removeStale(folder, source, earlier);
    const before = (await storedVersions(folder)).at(-1) ?? null;
    try {
      const fresh = await storeVersions(pack, source, { ...context, dataDir });
      for (const version of fresh.slice(-1)) notes.push(...columnNotes(pack, source.id, version, before));
      for (const { notes: versionNotes = [] } of fresh)
        notes.push(...versionNotes.map((note) => `${source.id}: ${note}`));
    } catch (error) {
      if (error instanceof DeclarationError) throw new Error(`${source.id}: ${error.message}`, { cause: error });
      failures.push(`${source.id}: ${errorLine(error)}`);
    }
    const integrity = declarationHash(source.from);
    const pins = (await currentVersions(folder)).map(({ version, name, observed_at }): Pin & { name: string } => {
      return { package: declaredPackage(source.id), version, integrity, observed_at, date_source: 'source', name };
    });
    sources.push({ ...source, pins });
  }
  return { ...pack, sources };
}

/**
 * Removes stored versions that no release contains and that the source can state again: those of a run that ended before it
 * appended them, those of a source without a published reading, and those of a query, which then continues after the last
 * published row.
 */
async function removeStale(folder: string, { id }: Source, { made, pending, dropped }: EarlierReadings): Promise<void> {
  const ofSource = (rows: readonly ReadingRow[]) =>
    new Set(rows.flatMap(({ source, version }) => (source === id ? [version] : [])));
  const published = ofSource(made);
  const kept = ofSource([...pending, ...dropped]);
  const stale = (await storedVersions(folder)).filter(
    ({ version, mark }) => !published.has(version) && (published.size === 0 || 'cursor' in mark || !kept.has(version)),
  );
  await removeVersions(
    folder,
    stale.map(({ version }) => version),
  );
}

/** A text that changes when the declaration reads other columns, or reads them differently. */
function declarationHash(from: DeclaredSource): string {
  const text = JSON.stringify(from, (_, value: unknown) => (typeof value === 'function' ? String(value) : value));
  return `declaration-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
}

/** Most columns in a sentence. */
const NAMED = 20;

/** Sentences about columns that nothing reads and that no row has, when they are others than before. */
function columnNotes(
  pack: Pack,
  source: string,
  { name, columns, unread, absent, rows, broken }: StoredVersion,
  before: StoredVersion | null,
): string[] {
  const note = (text: string, of: readonly string[], earlier: readonly string[], names: readonly string[]) => {
    if (of.length === 0 || of.join('\n') === earlier.join('\n')) return [];
    const shown = of.slice(0, NAMED).map((column) => {
      const nearest = nearestName(column.toLowerCase(), names);
      return `${quoteValue(column)}${nearest === undefined ? '' : ` (nearest ${quoteValue(nearest)})`}`;
    });
    const more = of.length > shown.length ? ` and ${of.length - shown.length} more` : '';
    return [`${source}: ${text}: ${shown.join(', ')}${more}`];
  };
  const names = pack.attributes.map((attribute) => attribute.name);
  const filtered = pack.sources.some(({ id, from }) => id === source && from?.where !== undefined);
  const empty = filtered ? `\`where\` keeps no row of ${name}` : `${name} has no rows`;
  return [
    ...(rows + broken === 0 && before?.rows !== 0 ? [`${source}: ${empty}`] : []),
    ...note(`nothing reads these columns of ${name}`, unread, before?.unread ?? [], names),
    ...note(`no row of ${name} has these columns`, absent, before?.absent ?? [], columns),
  ];
}

/** A folder with the rows: a stored version, or an unpacked package that contains the declared file. */
interface RowsFolder {
  folder: string;
  /** Whether `folder` is a stored version. */
  stored: boolean;
}

/**
 * Reads the rows of one version with typed values. Cells and rows that cannot be read go to `report`. Throws
 * DeclarationError when the declaration does not fit the source.
 */
export async function* declaredObservations(
  pack: Pack,
  source: DeclaringSource,
  { folder, stored }: RowsFolder,
  run: Pick<SourceContext, 'environment' | 'web' | 'now' | 'progress'>,
  report: RowReport,
): AsyncGenerator<Observed> {
  const now = run.now().getTime();
  if (stored) {
    const version = await readVersion(folder);
    if (version === null) throw new Error('the stored version is damaged: version.json is missing');
    const broken = await brokenRows(folder);
    // Of many broken rows the first ones are stored; the first of them represents the others.
    for (const [i, row] of broken.entries()) report.brokenRow(row, i === 0 ? version.broken - broken.length + 1 : 1);
    report.columns?.(version.columns);
    report.rows?.(0, version.dropped ?? 0, version.broken);
    const parser = new RowParser(pack, source, { ...version, now }, report);
    for await (const row of storedRows(folder, version.rows)) {
      const observed = parser.observation(row);
      report.rows?.(observed === null ? 0 : 1, 0, observed === null ? 1 : 0);
      if (observed !== null) yield observed;
    }
    return;
  }
  const wanted = wantedColumns(pack, source);
  /** Broken rows that the reader met before it named the columns. */
  let early: number | null = 0;
  const broken = (row: BrokenRow) => {
    report.brokenRow(row);
    if (early === null) report.rows?.(0, 0, 1);
    else early++;
  };
  const context: SourceContext = { ...run, folder, wanted, marks: [], broken };
  const read = READERS[source.from.kind] as (
    from: typeof source.from,
    sourceContext: SourceContext,
  ) => AsyncIterable<SourceVersion>;
  for await (const version of read(source.from, context)) {
    refuseUnread(source, version.name, unreadColumns(pack, source, version));
    const parser = new RowParser(pack, source, { name: version.name, columns: version.columns, now }, report);
    report.columns?.(version.columns);
    report.rows?.(0, 0, early);
    early = null;
    for await (const row of version.rows) {
      if (!keepsRow(source, row, version)) {
        report.rows?.(0, 1, 0);
        continue;
      }
      const observed = parser.observation(row);
      report.rows?.(observed === null ? 0 : 1, 0, observed === null ? 1 : 0);
      if (observed !== null) yield observed;
    }
    early = 0;
  }
}
