// An overlay as tables: the rows of changed records, loaded like those of a release, and views of these and the stored rows
// that it does not hide.
import type { Pack } from '../../packs/define/model.ts';
import { engineValues, nameWords, recordTerms, statusReach } from '../consolidate/engine-values.ts';
import { column } from '../model/layout.ts';
import { PROVENANCE_STATUSES, type StoredRecord } from '../model/record.ts';
import { isoTime } from '../model/time.ts';
import type { AppliedOverlay, ChangedRecord } from '../plan/applied-overlay.ts';
import { countLiteral, identifier, join, literal, type Sql, sql, textsOf } from '../plan/sql.ts';
import { type Shape, tableSql } from './shape.ts';
import {
  engineColumnTypes,
  type FIXED_COLUMNS,
  loadRecords,
  loadRefs,
  loadSteps,
  loadTerms,
  type RunStatement,
  TERM_COLUMNS,
  tablesOf,
  VIEW,
} from './tables.ts';

/** The tables of an overlay or a moment; `drop` removes them. */
export interface ChangedTables {
  shape: Shape;
  drop(): Promise<void>;
}

type NumberedRecord = { ord: number } & Pick<ChangedRecord, 'record' | 'unpublished' | 'history'>;

let instances = 0;

/** Creates the tables of an overlay. `base` is the release's own shape, whose tables stay unchanged. */
export async function makeChangedTables(
  run: RunStatement,
  pack: Pack,
  base: Shape,
  { removed, changed }: AppliedOverlay,
): Promise<ChangedTables> {
  const ids = [...removed, ...changed.map(({ record }) => record.id)];
  const rows = await run(sql`SELECT ref, ord FROM refs WHERE ref IN (${textsOf(ids)})`);
  const ordinals = new Map(rows.map(([ref, ord]) => [String(ref), Number(ord)]));
  if (ordinals.size === 0) return { shape: base, drop: async () => {} };
  const records = changed.flatMap(({ record, unpublished, history }): NumberedRecord[] => {
    const ord = ordinals.get(record.id);
    return ord === undefined || removed.has(record.id) ? [] : [{ ord, record, unpublished, history }];
  });
  const schema = `overlay ${++instances}`;
  const changes = `${schema}: changed records`;
  const drop = async () => {
    for (const name of [schema, changes]) await run(sql`DROP SCHEMA IF EXISTS ${identifier(name)} CASCADE`);
  };
  try {
    for (const name of [schema, changes]) await run(sql`CREATE SCHEMA ${identifier(name)}`);
    if (records.length > 0) await loadChanges(run, pack, changes, records);
    const hidden = tableSql({ schema }, 'hidden');
    const list = join([...ordinals.values()].map(countLiteral), ', ');
    await run(sql`CREATE TABLE ${hidden} AS SELECT unnest([${list}])::UINTEGER AS ord`);
    for (const table of tablesOf(pack)) {
      // A list, since a filter by a table would make the column constant.
      const stored = sql`SELECT *, ord IN (${list}) AS stale FROM ${tableSql({ schema: base.schema ?? 'main' }, table)} WHERE ord NOT IN (FROM ${hidden})`;
      const added = tableSql({ schema }, `changed ${table}`);
      // A table, since a statement may name a view hundreds of times, and each is planned.
      if (records.length > 0) await run(sql`CREATE TABLE ${added} AS FROM ${tableSql({ schema: changes }, table)}`);
      const both = sql`${stored} UNION ALL BY NAME SELECT *, false AS stale FROM ${added}`;
      await run(sql`CREATE VIEW ${tableSql({ schema }, table)} AS ${records.length === 0 ? stored : both}`);
    }
  } catch (error) {
    await drop();
    throw error;
  }
  // Texts of changed records need not be members of an ENUM, and their quality may be another one.
  const unchanged = records.length === 0 && { enums: base.enums, ranked: base.ranked !== false };
  return { shape: { ...base, schema, hasStale: true, ...(unchanged || { enums: new Map(), ranked: false }) }, drop };
}

/** Loads the rows that a release with the changed records would have of them. */
async function loadChanges(
  run: RunStatement,
  pack: Pack,
  schema: string,
  records: readonly NumberedRecord[],
): Promise<void> {
  const target = { run, pack, schema };
  const file = async (name: string, columns: Readonly<Record<string, Sql>>, rows: readonly object[]) => {
    const types = Object.entries(columns).map(([key, type]) => [key, type.text]);
    const shape = literal(JSON.stringify([Object.fromEntries(types)]));
    const table = tableSql({ schema }, name);
    await run(
      sql`CREATE TABLE ${table} AS SELECT row.* FROM (SELECT unnest(from_json(${JSON.stringify(rows)}, ${shape})) AS row)`,
    );
    return table;
  };
  const engine = records.map(({ ord, record }) => engineRow(pack, ord, record));
  await loadRecords(target, await file('engine_rows', engineColumnTypes(pack), engine), VIEW);
  await loadRefs(target, VIEW);
  const terms = records.flatMap(({ ord, record, unpublished }) =>
    [...recordTerms(pack, record, unpublished)].map(([term, flags]) => ({ term, ord, ...flags })),
  );
  await loadTerms(target, await file('term_rows', TERM_COLUMNS, terms), VIEW);
  const history = records.flatMap(({ ord, history }) =>
    history.map(({ attribute, cells: [, , min, , from, to] }) => ({
      ...{ ord, attribute, min, from: isoTime(from), to: to === null ? null : isoTime(to) },
    })),
  );
  await loadSteps(target, await file('history_rows', HISTORY_COLUMNS, history), VIEW);
}

/** The columns of history.parquet that `loadSteps` reads. */
const HISTORY_COLUMNS = {
  ...{ ord: sql`UINTEGER`, attribute: sql`VARCHAR`, min: sql`DOUBLE`, from: sql`TIMESTAMP`, to: sql`TIMESTAMP` },
};

/** A row of engine.parquet. */
function engineRow(pack: Pack, ord: number, record: StoredRecord): Record<keyof typeof FIXED_COLUMNS, unknown> {
  const { id, slug, quality_score: quality } = record;
  const row = { ord, id, slug, name_words: nameWords(record.name), updated: Date.parse(record.updated_at), quality };
  const statuses = PROVENANCE_STATUSES.map(
    (status) => [status, statusReach(pack, status, (attribute) => record.provenance[attribute]?.status)] as const,
  );
  const cells = pack.attributes.flatMap((attribute) => {
    const value = record.attributes[attribute.name];
    const values = Object.entries(value === undefined ? {} : engineValues(attribute, value));
    return values.map(([part, cell]) => [column(attribute.name, part as 'value'), cell] as const);
  });
  return { ...row, ...Object.fromEntries<unknown>([...statuses, ...cells]) };
}
