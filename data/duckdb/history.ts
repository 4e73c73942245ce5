// History queries, a few statements each on the files of the release: they are rare, so nothing is loaded
// into memory.
import { join as path } from 'node:path';
import { RELEASE_FILES } from '../model/layout.ts';
import type { ChangesPlan, FactRow, FactsPlan, OpenItem, RecordedChange } from '../plan/history.ts';
import type { Engine, QueryOptions } from '../plan/plan.ts';
import { CHANGES_A_SLICE, mapSlices } from '../plan/slices.ts';
import { countLiteral, join, literal, type Sql, sql, textsOf } from '../plan/sql.ts';
import {
  answerChangelog,
  CHANGE_COLUMNS,
  type ChangelogLine,
  changeRow,
  overlayChangelog,
  placedFile,
} from './changelog.ts';
import type { Pool } from './pool.ts';
import { reviewRows, reviewStatement } from './review.ts';
import type { Shape } from './shape.ts';
import { originsStatement } from './spread.ts';

/** Cast to the column's own type; otherwise no row group is skipped. */
const ordinalsIn = (ordinals: readonly number[]): Sql =>
  join(
    ordinals.map((ordinal) => sql`${ordinal}::UINTEGER`),
    ', ',
  );

/** The shape of a statement that reads no record. */
const NO_SHAPE: Shape = { attributes: new Map(), enums: new Map() };

type History = Pick<Engine, 'facts' | 'past' | 'openItems' | 'review' | 'changelog' | 'changes' | 'origins'>;

/** Records that an overlay changes in the files with changes. */
export interface HiddenRecords {
  /** Ids of records whose rows in the change feed are hidden. */
  removed: readonly string[];
  /**
   * Ids of records whose rows in the changelog and open review items are hidden, and the rows that replace
   * them.
   */
  gone: readonly string[];
  changelog: readonly ChangelogLine[];
}

/**
 * History queries over the release in `folder`, with an overlay if there is one. `shape` is that of the
 * records as they are now.
 */
export function historyQuestions(
  pool: Pool,
  dataset: string,
  folder: string,
  shape: () => Promise<Shape>,
  hidden?: () => Promise<HiddenRecords>,
): History {
  const file = (name: string) => sql`read_parquet(${literal(path(folder, name))})`;
  const factsFile = file(RELEASE_FILES.facts);
  const reviewFile = file(RELEASE_FILES.review);
  return {
    facts: async (plan, options) => factRows(await pool.ask(factsStatement(plan, factsFile), options)),
    openItems: async (entity, options) => doubtRows(await pool.ask(openItemsStatement(entity, reviewFile), options)),
    async review(plan, options) {
      const { gone = [] } = (await hidden?.()) ?? {};
      return reviewRows(await pool.ask(reviewStatement(plan, reviewFile, gone), options), dataset);
    },
    async changelog(plan, options) {
      const stored = file(RELEASE_FILES.changelog);
      const over = await hidden?.();
      const changelog = over ? overlayChangelog(stored, over.gone, over.changelog) : stored;
      const places = over ? null : placedFile(literal(path(folder, RELEASE_FILES.changelog)));
      const table = plan.where.length > 0 || plan.by !== undefined ? await shape() : NO_SHAPE;
      return answerChangelog(plan, { changelog, places, shape: table }, (statement) => pool.ask(statement, options));
    },
    async changes(plan, options) {
      const { removed = [] } = (await hidden?.()) ?? {};
      const rows = await pool.ask(changesStatement(plan, file(RELEASE_FILES.changes), removed), options);
      return mapSlices(rows, CHANGES_A_SLICE, changesRow, options);
    },
    async origins(options) {
      const { gone = [] } = (await hidden?.()) ?? {};
      const rows = await pool.ask(originsStatement(file(RELEASE_FILES.facts), gone), options);
      return rows.map((row) => ({ attribute: String(row[0]), source: String(row[1]), values: Number(row[2]) }));
    },
    past: async (ordinals, options) => {
      const readings = await pool.ask(
        sql`SELECT source, epoch_ms(observed_at), version FROM ${file(RELEASE_FILES.readings)} ORDER BY observed_at`,
        options,
      );
      return {
        records: ordinals.length === 0 ? [] : await records(ordinals, options),
        readings: readings.map((row) => ({ source: String(row[0]), at: Number(row[1]), version: String(row[2]) })),
      };
    },
  };

  async function records(ordinals: readonly number[], options: QueryOptions | undefined) {
    const resultRows = await pool.ask(
      sql`SELECT b.ord, b.id, r.slug, b.identity FROM ${file(RELEASE_FILES.bodies)} b JOIN records r ON r.ord = b.ord WHERE b.ord IN (${ordinalsIn(ordinals)})`,
      options,
    );
    const ids = resultRows.map((row) => String(row[1]));
    const facts = Map.groupBy(factRows(await pool.ask(pastStatement(ids, factsFile), options)), ({ entity }) => entity);
    const listings = await pool.ask(
      sql`SELECT entity, source, listed, epoch_ms("at") FROM ${file(RELEASE_FILES.listings)} WHERE entity IN (${idList(ids)}) ORDER BY entity, "at"`,
      options,
    );
    return resultRows.map((row) => ({
      ordinal: Number(row[0]),
      id: String(row[1]),
      slug: String(row[2]),
      identity: String(row[3]),
      facts: facts.get(String(row[1])) ?? [],
      listings: listings
        .filter(([entity]) => entity === row[1])
        .map(([, source, held, at]) => ({ source: String(source), listed: held === true, at: Number(at) })),
      decided: [],
    }));
  }
}

const COLUMNS = sql`entity, attribute, value, source, source_url, source_kind, epoch_ms(observed_at), epoch_ms(confirmed_at), confidence, evidence, run, won, reason, group_median`;

type Rows = readonly (readonly unknown[])[];

/** Newest first; at equal times by attribute, then the later run first. */
export function factsStatement({ entity, attribute, since, limit }: FactsPlan, facts: Sql): Sql {
  const where = [sql`entity = ${entity}`];
  if (attribute !== null) where.push(sql`attribute = ${attribute}`);
  if (since !== null) where.push(sql`observed_at >= make_timestamp_ms(${since})`);
  return sql`SELECT ${COLUMNS} FROM ${facts} WHERE ${join(where, ' AND ')} ORDER BY observed_at DESC, attribute, run DESC, source, value LIMIT ${countLiteral(limit)}`;
}

/** All facts of records, in settlement order (build/release/facts.ts). */
export function pastStatement(entities: readonly string[], facts: Sql): Sql {
  return sql`SELECT ${COLUMNS} FROM ${facts} WHERE entity IN (${idList(entities)}) ORDER BY entity, attribute, observed_at, run, source, value`;
}

const ID = /^r-[0-9a-f]{16}$/;

/** More ids than one request names: the statement is not worth a place among the prepared ones. */
const MANY = 8;

/**
 * A list of ids. Many are written into the statement: DuckDB then skips parts of the file without them, and for 100
 * of 172,257 records reads the facts in 0.1 instead of 1.4 s.
 */
function idList(ids: readonly string[]): Sql {
  if (ids.length <= MANY || !ids.every((id) => ID.test(id))) return listed(ids);
  return join(
    ids.map((id) => literal(id)),
    ', ',
  );
}

/** A list of bound values. */
function listed(values: readonly (string | number)[]): Sql {
  return join(
    values.map((value) => sql`${value}`),
    ', ',
  );
}

/** Reads the rows of both statements. */
function factRows(rows: Rows): FactRow[] {
  return rows.map((row) => ({
    entity: String(row[0]),
    attribute: String(row[1]),
    value: row[2] === null ? null : String(row[2]),
    source: String(row[3]),
    source_url: String(row[4] ?? ''),
    source_kind: row[5] as FactRow['source_kind'],
    observed_at: Number(row[6]),
    confirmed_at: Number(row[7]),
    confidence: Number(row[8]),
    evidence: String(row[9] ?? ''),
    run: String(row[10]),
    won: row[11] === true,
    reason: row[12] as FactRow['reason'],
    group_median: row[13] === null ? null : Number(row[13]),
  }));
}

/** Open review items of a record, oldest first. */
export function openItemsStatement(entity: string, review: Sql): Sql {
  return sql`SELECT kind, attribute, epoch_ms(opened_at) FROM ${review} WHERE entity_id = ${entity} AND confirmed_at IS NULL ORDER BY opened_at, attribute, id`;
}

/** Reads the rows of `openItemsStatement`. */
function doubtRows(rows: Rows): OpenItem[] {
  return rows.map((row) => ({
    kind: row[0] as OpenItem['kind'],
    attribute: String(row[1]),
    opened_at: Number(row[2]),
  }));
}

/**
 * Rows after a time, oldest first, without those of hidden records. LIMIT reads the first rows of the file;
 * the result is sorted again.
 */
export function changesStatement({ since, limit }: ChangesPlan, changes: Sql, removed: readonly string[] = []): Sql {
  if (removed.length > 0) {
    // Without hidden records the order of the rest is not guaranteed, so all following rows are sorted.
    const kept = sql`entity_id NOT IN (${textsOf(removed)})`;
    return sql`SELECT ${CHANGE_COLUMNS}, epoch_us(recorded_at) FROM ${changes} WHERE recorded_at > make_timestamp(${since}) AND ${kept} ORDER BY recorded_at LIMIT ${countLiteral(limit)}`;
  }
  const cut = sql`SELECT * FROM ${changes} WHERE recorded_at > make_timestamp(${since}) LIMIT ${countLiteral(limit)}`;
  return sql`SELECT ${CHANGE_COLUMNS}, epoch_us(recorded_at) FROM (${cut}) ORDER BY recorded_at`;
}

/** Reads a row of `changesStatement`. */
function changesRow(row: readonly unknown[]): RecordedChange {
  return { ...changeRow(row), recorded_at: Number(row[9]) };
}
