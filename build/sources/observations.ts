// The observations of one version of a declared source, for the collector of a pack.
import type { Observed, Pack } from '../../packs/define/model.ts';
import type { SourceContext, SourceVersion } from './reader.ts';
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
    const parser = new RowParser(pack, source, { ...version, now }, report);
    for await (const row of storedRows(folder, version.rows)) {
      const observed = parser.observation(row);
      if (observed !== null) yield observed;
    }
    return;
  }
  const wanted = wantedColumns(pack, source);
  const context: SourceContext = { ...run, folder, wanted, known: [], broken: (row) => report.brokenRow(row) };
  const read = READERS[source.from.kind] as (
    from: typeof source.from,
    each: SourceContext,
  ) => AsyncIterable<SourceVersion>;
  for await (const version of read(source.from, context)) {
    refuseUnread(source, version.name, unreadColumns(pack, source, version));
    const parser = new RowParser(pack, source, { name: version.name, columns: version.columns, now }, report);
    for await (const row of version.rows) {
      if (!keepsRow(source, row, version)) continue;
      const observed = parser.observation(row);
      if (observed !== null) yield observed;
    }
  }
}
