// The previous release as readers see it: its content, and the overlay's changes since.
import { join } from 'node:path';
import { quotedText } from '../duckdb/duck.ts';
import { RELEASE_FILES } from '../model/layout.ts';
import type { Overlay, OverlayChange } from '../plan/overlay.ts';

/** The previous release. */
export interface PreviousRelease {
  /** Its folder. */
  folder: string;
  /** Changes in the feed since the release, by record. */
  since: ReadonlyMap<string, RecordChanges>;
}

/** Changes of one record. */
interface RecordChanges {
  /** It was removed, so its values in the release do not count. */
  reset: boolean;
  /** It was removed and not restored. */
  gone: boolean;
  /** The newest row of each attribute. */
  values: Map<string, OverlayChange>;
  /** Microsecond of the newest row. */
  recorded_at: number;
}

/** The release in `folder`, which contains the overlay as of version `held`. */
export function previousRelease(folder: string, overlay: Overlay, held: number): PreviousRelease {
  const since = new Map<string, RecordChanges>();
  for (const row of overlay.feed) {
    if (row.version <= held) continue;
    const changes = since.get(row.entity_id) ?? { reset: false, gone: false, values: new Map(), recorded_at: 0 };
    since.set(row.entity_id, changes);
    changes.recorded_at = row.recorded_at;
    changes.gone = row.type === 'removed';
    if (changes.gone) {
      changes.reset = true;
      changes.values.clear();
    } else if (row.attribute !== null) changes.values.set(row.attribute, row);
  }
  return { folder, since };
}

const table = (folder: string, file: string) => `read_parquet(${quotedText(join(folder, file))})`;

/** Rows as SQL text; without rows an empty table with these columns. */
function rows(columns: readonly string[], cells: readonly (readonly string[])[]): string {
  if (cells.length === 0) return `SELECT ${columns.map((name) => `NULL::VARCHAR AS ${name}`).join(', ')} WHERE false`;
  const names = columns.join(', ');
  return `SELECT ${names} FROM (VALUES ${cells.map((row) => `(${row.join(', ')})`).join(', ')}) AS given(${names})`;
}

const resetIds = ({ since }: PreviousRelease, which: (changes: RecordChanges) => boolean) =>
  rows(
    ['id'],
    [...since].filter(([, changes]) => changes.reset && which(changes)).map(([id]) => [quotedText(id)]),
  );

/**
 * The newest values of records, as the last intervals of history.parquet: entity, attribute, value, from,
 * source_url.
 */
export function lastValues(before: PreviousRelease): string {
  const text = (value: string | null) => (value === null ? 'NULL::VARCHAR' : quotedText(value));
  const newest = [...before.since].flatMap(([id, { values }]) =>
    [...values].map(([attribute, { new_value, observed_at, source_url }]) => {
      const at = `make_timestamp_ms(${observed_at})`;
      return [quotedText(id), quotedText(attribute), text(new_value), at, text(source_url)];
    }),
  );
  const stored = `SELECT entity, attribute, value, "from", source_url FROM ${table(before.folder, RELEASE_FILES.history)} WHERE "to" IS NULL`;
  if (before.since.size === 0) return stored;
  const there = `SELECT * FROM (${stored}) WHERE entity NOT IN (${resetIds(before, () => true)})`;
  // Only removals: an empty table without types would change the types of the union.
  if (newest.length === 0) return there;
  const fed = rows(['entity', 'attribute', 'value', '"from"', 'source_url'], newest);
  return `${there} ` + `AND (entity, attribute) NOT IN (SELECT (entity, attribute) FROM (${fed})) UNION ALL ${fed}`;
}

/** Ids of the records that readers know. */
export function knownIds(before: PreviousRelease): string {
  const stored = `SELECT id FROM ${table(before.folder, RELEASE_FILES.engine)}`;
  if (before.since.size === 0) return stored;
  return `(${stored} EXCEPT (${resetIds(before, () => true)})) UNION (${resetIds(before, ({ gone }) => !gone)})`;
}
