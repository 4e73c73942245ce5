// The observations of one version of a declared source, for the collector of a pack.
import type { Observed, Pack } from '../../packs/define/model.ts';
import type { BrokenRow, SourceContext, SourceVersion } from './reader.ts';
import { READERS } from './readers.ts';
import { type DeclaringSource, keepsRow, RowParser, type RowReport, refuseUnread, unreadColumns } from './rows.ts';
import { brokenRows, readVersion, storedRows, wantedColumns } from './store.ts';

/** A folder with the rows: a stored version, or an unpacked package that contains the declared file. */
export interface RowsFolder {
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
    // Of many broken rows the first ones are stored; the first of them stands for the others.
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
  let unread = 0;
  const broken = (row: BrokenRow) => {
    unread++;
    report.brokenRow(row);
  };
  const context: SourceContext = { ...run, folder, wanted, known: [], broken };
  const read = READERS[source.from.kind] as (
    from: typeof source.from,
    each: SourceContext,
  ) => AsyncIterable<SourceVersion>;
  for await (const version of read(source.from, context)) {
    refuseUnread(source, version.name, unreadColumns(pack, source, version));
    const parser = new RowParser(pack, source, { name: version.name, columns: version.columns, now }, report);
    report.columns?.(version.columns);
    for await (const row of version.rows) {
      if (!keepsRow(source, row, version)) {
        report.rows?.(0, 1, 0);
        continue;
      }
      const observed = parser.observation(row);
      report.rows?.(observed === null ? 0 : 1, 0, observed === null ? 1 : 0);
      if (observed !== null) yield observed;
    }
    report.rows?.(0, 0, unread);
    unread = 0;
  }
}
