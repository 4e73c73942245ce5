// The tables of a dataset for SQL: names, columns, the queries that fill them from the files of a release, and the rows
// that an overlay changes.
import { hash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { derive } from '../../packs/define/derive.ts';
import type { Attribute, Pack, Value } from '../../packs/define/model.ts';
import { quotedIdentifier, quotedText } from '../duckdb/duck.ts';
import { RELEASE_FILES } from '../model/layout.ts';
import type { ChangedRecord, HistoryRow } from '../plan/applied-overlay.ts';
import type { Release } from '../releases/release.ts';
import { storedHistory } from '../write/analysts-files.ts';
import { flatCells, flatColumns, recordColumn } from '../write/csv.ts';
import { type Column, dictionary, HISTORY_FILE_COLUMNS, PROVENANCE_COLUMNS } from '../write/dictionary.ts';
import { tableName } from '../write/sql-names.ts';
import { provenanceTableQueries } from '../write/sql-tables.ts';

/** Statements that run at a time, each on one core: half of the cores. */
export const AT_A_TIME = Math.max(1, Math.floor(availableParallelism() / 2));

/** The attributes that a caller may read: public ones, or all with a plan that includes exports. */
export type Tier = 'public' | 'all';

/** Ends of the names of the tables of a dataset. */
export const TABLES = { records: '', history: '_history', provenance: '_provenance' } as const;
export type TableKind = keyof typeof TABLES;
export const TABLE_KINDS = Object.keys(TABLES) as TableKind[];

/** What the tables of a dataset have: plain data, and SQL text of this program alone. */
export interface SqlSource {
  dataset: string;
  /** Name of the table of records; the others have the ends of TABLES. */
  table: string;
  release: string;
  created_at: string;
  /** Names the rows: changes with the release, and with what the overlay does to its records. */
  content: string;
  /** Names and types of the columns. */
  columns: Record<TableKind, Record<string, string>>;
  /** Queries over the files of the release; a table has the rows of all of its queries. */
  queries: Record<TableKind, readonly string[]>;
  /** Body of the macro `<table>_as_of(time)`. */
  past: string;
  overlay: SqlOverlay;
}

/** What an overlay does to the tables of a release. */
export interface SqlOverlay {
  /** Version of the overlay: tables of an earlier one may have rows that are removed now. */
  version: number;
  /** Ids of the removed records. */
  removed: readonly string[];
  /** Ids of the records whose values it replaces. */
  replaced: readonly string[];
  /** The rows of those, as JSON. */
  rows: Record<TableKind, string>;
}

/** Names of all tables and table macros of a dataset. */
export const tableNames = (dataset: string): string[] =>
  [...Object.values(TABLES), '_as_of'].map((end) => tableName(dataset) + end);

/** The columns of each table of a dataset. */
export const tableColumns = (pack: Pick<Pack, 'attributes'>, tier: Tier): Record<TableKind, readonly Column[]> => ({
  records: dictionary(pack, tier, false),
  history: HISTORY_FILE_COLUMNS,
  provenance: PROVENANCE_COLUMNS,
});

/** What the SQL process needs about a release, with its overlay. */
export function sqlSource(release: Release, tier: Tier): SqlSource {
  return derive(release, `sql source ${tier}`, () => {
    const { pack, folder, manifest } = release;
    const columns = tableColumns(pack, tier);
    const parquet = join(folder, tier === 'all' ? RELEASE_FILES.records : RELEASE_FILES.public);
    const types = (list: readonly Column[]) => Object.fromEntries(list.map(({ name, type }) => [name, type]));
    const identity = ['id', 'slug', 'name'].map((name) => `${quotedIdentifier(recordColumn(pack, name))} AS ${name}`);
    const table = tableName(pack.id);
    const source = {
      columns: {
        records: types(columns.records),
        history: types(columns.history),
        provenance: types(columns.provenance),
      },
      queries: {
        records: [`SELECT * FROM read_parquet(${quotedText(parquet)})`],
        history: [storedHistory(pack, folder, tier)],
        provenance: provenanceTableQueries(pack, parquet, identity.join(', '), tier),
      },
      past: pastQuery(pack, tier, `${table}${TABLES.history}`),
    };
    const { version, ...changes } = sqlOverlay(release, tier);
    const content = hash('sha256', JSON.stringify([source, changes]), 'hex').slice(0, 16);
    return {
      ...{ dataset: pack.id, table, release: manifest.release, created_at: manifest.created_at, content },
      ...source,
      overlay: { version, ...changes },
    };
  });
}

const attributesOf = ({ attributes }: Pick<Pack, 'attributes'>, tier: Tier) =>
  attributes.filter((attribute) => tier === 'all' || attribute.public);

/** One row for each record that had a value at `time`, with the columns of its attributes, from the table of history. */
function pastQuery(pack: Pack, tier: Tier, history: string): string {
  const columns = attributesOf(pack, tier).flatMap((attribute) => {
    const of = `FILTER (WHERE attribute = ${quotedText(attribute.name)})`;
    const ends: Record<string, string> = {
      min: `max("min") ${of}`,
      max: `max("max") ${of}`,
      lat: `TRY_CAST(max(value) ${of}->>'lat' AS DOUBLE)`,
      lng: `TRY_CAST(max(value) ${of}->>'lng' AS DOUBLE)`,
    };
    return flatColumns(attribute).map((name) => {
      const end = name === attribute.name ? undefined : ends[name.slice(attribute.name.length + 1)];
      return `${end ?? valueAt(attribute, of)} AS ${quotedIdentifier(name)}`;
    });
  });
  const identity = [
    `id AS ${quotedIdentifier(recordColumn(pack, 'id'))}`,
    ...['slug', 'name'].map((name) => `any_value(${name}) AS ${quotedIdentifier(recordColumn(pack, name))}`),
  ];
  const at = 'CAST("time" AS TIMESTAMP)';
  return `SELECT ${[...identity, ...columns].join(', ')} FROM ${quotedIdentifier(history)} WHERE valid_from <= ${at} AND (valid_until IS NULL OR valid_until > ${at}) GROUP BY id`;
}

function valueAt({ type }: Attribute, of: string): string {
  const column: Partial<Record<Attribute['type'], string>> = {
    boolean: 'BOOLEAN',
    integer: 'BIGINT',
    number: 'DOUBLE',
    date: 'DATE',
    datetime: 'TIMESTAMP',
  };
  if (type === 'strings') return `from_json(max(value) ${of}, '["VARCHAR"]')`;
  return column[type] === undefined ? `max(value) ${of}` : `TRY_CAST(max(value) ${of} AS ${column[type]})`;
}

function sqlOverlay({ pack, overlay, applied }: Release, tier: Tier): SqlOverlay {
  const removed = applied?.removed ?? new Set<string>();
  const changed = (applied?.changed ?? []).filter(({ record }) => !removed.has(record.id));
  const attributes = attributesOf(pack, tier);
  const rows: Record<TableKind, unknown[]> = {
    records: changed.map((changedRecord) => recordRow(pack, attributes, changedRecord)),
    history: changed.flatMap(({ record, history }) => historyRows(record, attributes, history)),
    provenance: changed.flatMap(({ record }) => provenanceRows(record, attributes)),
  };
  const texts = TABLE_KINDS.map((kind) => [kind, JSON.stringify(rows[kind])] as const);
  return {
    version: overlay?.version ?? 0,
    removed: [...removed],
    replaced: changed.map(({ record }) => record.id),
    rows: Object.fromEntries(texts) as Record<TableKind, string>,
  };
}

type ChangedValues = Pick<ChangedRecord['record'], 'id' | 'slug' | 'name' | 'provenance'>;

/** A time as DuckDB reads it. */
const timestamp = (text: string) => text.replace(/Z$/, '');

function recordRow(pack: Pack, attributes: readonly Attribute[], { record }: ChangedRecord): object {
  const { id, slug, name, quality_score, completeness, verified_owner } = record;
  const recordMembers = {
    id,
    slug,
    name,
    quality_score,
    completeness,
    verified_owner,
    updated_at: timestamp(record.updated_at),
  };
  const members = Object.entries(recordMembers).map(([column, value]) => [recordColumn(pack, column), value] as const);
  const cells = attributes.flatMap((attribute): (readonly [string, unknown])[] => {
    const value: Value | undefined = record.attributes[attribute.name];
    const columns = flatColumns(attribute);
    if (Array.isArray(value)) return [[attribute.name, value]];
    return flatCells(attribute, value).map((cell, i) => [
      columns[i]!,
      attribute.type === 'datetime' && cell !== null ? timestamp(String(cell)) : cell,
    ]);
  });
  return Object.fromEntries<unknown>([...members, ...cells]);
}

function historyRows(
  { id, slug, name }: ChangedValues,
  attributes: readonly Attribute[],
  history: readonly HistoryRow[],
): object[] {
  const shown = new Set(attributes.map((attribute) => attribute.name));
  return history
    .filter(({ attribute, cells: [value] }) => value !== null && shown.has(attribute))
    .map(({ attribute, cells: [value, , min, max, from, to, source_url, source, confidence] }) => ({
      ...{ id, slug, name, attribute, min, max, source, source_url, confidence },
      value: value!.startsWith('"') ? (JSON.parse(value!) as string) : value,
      valid_from: timestamp(new Date(from).toISOString()),
      valid_until: to === null ? null : timestamp(new Date(to).toISOString()),
    }));
}

function provenanceRows({ id, slug, name, provenance }: ChangedValues, attributes: readonly Attribute[]): object[] {
  return attributes.flatMap(({ name: attribute }) => {
    const origin = provenance[attribute];
    if (origin === undefined) return [];
    const { source_url, observed_at, confidence, evidence, source, status = null } = origin;
    const from = { source_url, observed_at: timestamp(observed_at), confidence, evidence, source_kind: source.kind };
    return [{ id, slug, name, attribute, ...from, status }];
  });
}
