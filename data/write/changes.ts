// The change feed: differences between a release and what readers know, dated when they become visible
// (contract section 5).
import { join } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import { isSpelled } from '../consolidate/same-value.ts';
import { type Duck, quotedText } from '../duckdb/duck.ts';
import { RELEASE_FILES } from '../model/layout.ts';
import { knownIds, lastValues, type PreviousRelease } from './previous-release.ts';

const table = (folder: string, file: string) => `read_parquet(${quotedText(join(folder, file))})`;

/** Last interval of each value, withdrawals included. */
const last = (folder: string) => `(SELECT * FROM ${table(folder, RELEASE_FILES.history)} WHERE "to" IS NULL)`;

/**
 * Differences between a release folder and what readers know, without changes of spelling, as a query:
 * entity_id, attribute, type, old_value, new_value, observed_at, source_url. Without a previous release every
 * value is added.
 */
export function differences(folder: string, before: PreviousRelease | null, pack: Pick<Pack, 'attributes'>): string {
  if (before === null)
    return (
      `SELECT entity AS entity_id, attribute, 'added' AS type, NULL::VARCHAR AS old_value, value AS new_value, "from" AS observed_at, ` +
      `source_url FROM ${last(folder)} WHERE value IS NOT NULL`
    );
  return (
    'SELECT coalesce(n.entity, o.entity) AS entity_id, coalesce(n.attribute, o.attribute) AS attribute, ' +
    `CASE WHEN o.value IS NULL THEN 'added' ELSE 'changed' END AS type, o.value AS old_value, n.value AS new_value, ` +
    'coalesce(n."from", o."from") AS observed_at, coalesce(n.source_url, o.source_url) AS source_url ' +
    `FROM ${last(folder)} n FULL JOIN (${lastValues(before)}) o ON n.entity = o.entity AND n.attribute = o.attribute ` +
    `WHERE o.value IS DISTINCT FROM n.value AND NOT ${sameValue('o.value', 'n.value', pack)}`
  );
}

/**
 * `sameValue` (data/consolidate/same-value.ts) in SQL, for different JSON texts of values of the attribute `n.attribute`.
 */
function sameValue(before: string, now: string, { attributes }: Pick<Pack, 'attributes'>): string {
  const plain = (value: string) => `lower(regexp_replace(${value}, '\\s+', '', 'g'))`;
  const names = attributes.filter(isSpelled).map(({ name }) => quotedText(name));
  if (names.length === 0) return 'false';
  return `coalesce(n.attribute IN (${names.join(', ')}) AND ${plain(before)} = ${plain(now)}, false)`;
}

/**
 * As `differences`, for the feed: a record that is no longer published is one removal, dated `now`, without
 * its values.
 */
function feedDifferences(folder: string, { pack, before, now }: FeedInput): string {
  if (before === null) return differences(folder, null, pack);
  const gone = `SELECT id FROM (${knownIds(before)}) WHERE id NOT IN (SELECT id FROM ${table(folder, RELEASE_FILES.engine)})`;
  return (
    `WITH gone AS MATERIALIZED (${gone}) SELECT * FROM (${differences(folder, before, pack)}) WHERE entity_id NOT IN (SELECT id FROM gone) ` +
    `UNION ALL SELECT id, NULL, 'removed', NULL, NULL, make_timestamp_ms(${now}), NULL FROM gone`
  );
}

/** Inputs of the feed besides the folder of the release. */
export interface FeedInput {
  pack: Pick<Pack, 'attributes'>;
  before: PreviousRelease | null;
  /** Opted-out records: no row of theirs stays in the feed. */
  removed: Iterable<string>;
  /** Milliseconds since 1970. */
  now: number;
  /** Reserves `count` microseconds after `after`, ending at `now` if possible; returns the first. */
  reserve: (count: number, after: number) => Promise<number>;
}

/**
 * Writes changes.parquet: the previous feed, then the differences, a microsecond apart. A record that is no
 * longer published keeps its names. Returns the rows, and the last reserved microsecond.
 */
export async function writeChanges(
  duck: Duck,
  folder: string,
  feeding: FeedInput,
): Promise<{ rows: number; recorded_to: number }> {
  const { before, removed, reserve } = feeding;
  const changed = feedDifferences(folder, feeding);
  const count = await duck.count(`SELECT count(*) FROM (${changed})`);
  const earlier = before === null ? null : table(before.folder, RELEASE_FILES.changes);
  const latest =
    earlier === null ? 0 : await duck.count(`SELECT coalesce(max(epoch_us(recorded_at)), 0) FROM ${earlier}`);
  // A release without changes also needs a place in the feed: later rows must not be read before it.
  const first = await reserve(Math.max(1, count), latest);
  const engines = [folder, ...(before === null ? [] : [before.folder])].map(
    (release, age) => `SELECT id, slug, name, ${age} AS age FROM ${table(release, RELEASE_FILES.engine)}`,
  );
  const names =
    engines.length === 1
      ? engines[0]
      : `SELECT * FROM (${engines.join(' UNION ALL ')}) QUALIFY row_number() OVER (PARTITION BY id ORDER BY age) = 1`;
  const ordered = `SELECT d.*, slug, name FROM (${changed}) d LEFT JOIN (${names}) e ON e.id = d.entity_id ORDER BY observed_at, entity_id, attribute`;
  const fresh =
    `SELECT make_timestamp(${first} - 1 + row_number() OVER ()) AS recorded_at, entity_id, slug, name, attribute, type, old_value, ` +
    `new_value, observed_at, source_url FROM (${ordered})`;
  const out = [...removed].map(quotedText).join(', ');
  const visible = out === '' ? '' : ` WHERE entity_id NOT IN (${out})`;
  const union = `SELECT * FROM ${earlier}${visible} UNION ALL (${fresh})`;
  // The order is not guaranteed when rows are left out.
  const query = earlier === null ? fresh : visible === '' ? union : `SELECT * FROM (${union}) ORDER BY recorded_at`;
  const rows = await duck.parquet(query, join(folder, RELEASE_FILES.changes));
  return { rows, recorded_to: first + Math.max(1, count) - 1 };
}
