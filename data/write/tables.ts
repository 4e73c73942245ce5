// The files of a release as queries over the build's lines. What each column means: docs/releases.md.
import type { Attribute, Pack } from '../../packs/model.ts';
import { flatColumns, recordColumn } from './csv.ts';
import { type Columns, fromLines, named, quoted } from './duck.ts';
import { engineColumns } from './record.ts';

/** Lines of settled facts; `observed_at` and `confirmed_at` in milliseconds. */
export const FACT_LINES: Columns = {
  entity: 'VARCHAR',
  attribute: 'VARCHAR',
  value: 'VARCHAR',
  source: 'VARCHAR',
  source_url: 'VARCHAR',
  observed_at: 'BIGINT',
  confidence: 'DOUBLE',
  evidence: 'VARCHAR',
  source_kind: 'VARCHAR',
  run: 'VARCHAR',
  confirmed_at: 'BIGINT',
  won: 'BOOLEAN',
  reason: 'VARCHAR',
};

/** Lines of validity intervals. `record` numbers the published records in the order of their ids; null: no longer one. */
export const HISTORY_LINES: Columns = {
  record: 'UINTEGER',
  entity: 'VARCHAR',
  attribute: 'VARCHAR',
  value: 'VARCHAR',
  old_value: 'VARCHAR',
  min: 'DOUBLE',
  max: 'DOUBLE',
  from: 'BIGINT',
  to: 'BIGINT',
  source_url: 'VARCHAR',
};

export const LISTING_LINES: Columns = { entity: 'VARCHAR', source: 'VARCHAR', listed: 'BOOLEAN', at: 'BIGINT' };

export const READING_LINES: Columns = {
  source: 'VARCHAR',
  package: 'VARCHAR',
  version: 'VARCHAR',
  observed_at: 'BIGINT',
  date_source: 'VARCHAR',
};

export const REVIEW_LINES: Columns = {
  id: 'VARCHAR',
  kind: 'VARCHAR',
  entity_id: 'VARCHAR',
  attribute: 'VARCHAR',
  facts: 'VARCHAR',
  opened_at: 'BIGINT',
};

export const TERM_LINES: Columns = { term: 'VARCHAR', ord: 'UINTEGER', public: 'BOOLEAN' };

export const BODY_LINES: Columns = {
  ord: 'UINTEGER',
  id: 'VARCHAR',
  version: 'VARCHAR',
  identity: 'VARCHAR',
  body: 'VARCHAR',
};

/** Milliseconds become TIMESTAMP; the other columns stay. */
export function timed(path: string, columns: Columns, times: readonly string[]): string {
  const list = Object.keys(columns).map((name) =>
    times.includes(name) ? `make_timestamp_ms(${named(name)}) AS ${named(name)}` : named(name),
  );
  return `SELECT ${list.join(', ')} FROM ${fromLines(path, columns)}`;
}

/** The engine table, already in the order of `ord`. */
export function engineQuery(pack: Pack, path: string): string {
  const lists = new Set(pack.attributes.filter((each) => each.type === 'strings').map((each) => each.name));
  const columns = engineColumns(pack);
  const list = Object.keys(columns).map((name) =>
    lists.has(name.split(':')[0]!) ? `from_json(${named(name)}, '["VARCHAR"]') AS ${named(name)}` : named(name),
  );
  return `SELECT ${list.join(', ')} FROM ${fromLines(path, columns)}`;
}

const JSON_TYPES: Partial<Record<Attribute['type'], string>> = {
  boolean: 'BOOLEAN',
  integer: 'BIGINT',
  number: 'DOUBLE',
  date: 'DATE',
  strings: 'VARCHAR[]',
  price: 'JSON',
  geo: 'STRUCT(lat DOUBLE, lng DOUBLE)',
};

/** What flat files say of a record beside its attributes. */
const RECORD_COLUMNS = ['id', 'slug', 'name', 'updated_at', 'quality_score', 'completeness', 'verified_owner'];

/** Typed columns and provenance for analysts, read back from records.jsonl in its order. */
export function recordsQuery(pack: Pack, jsonl: string): string {
  const told =
    'STRUCT(source_url VARCHAR, observed_at TIMESTAMP, confidence DOUBLE, evidence VARCHAR, source STRUCT(kind VARCHAR))';
  const shape = (type: (attribute: Attribute) => string) =>
    `STRUCT(${pack.attributes.map((each) => `${named(each.name)} ${type(each)}`).join(', ')})`;
  const columns: Columns = { id: 'VARCHAR', slug: 'VARCHAR', name: 'VARCHAR', updated_at: 'TIMESTAMP' };
  columns['attributes'] = shape((attribute) => JSON_TYPES[attribute.type] ?? 'VARCHAR');
  columns['provenance'] = shape(() => told);
  Object.assign(columns, { quality_score: 'DOUBLE', completeness: 'DOUBLE', verified_owner: 'BOOLEAN' });
  const read = Object.entries(columns).map(([name, type]) => `${name}: ${quoted(type)}`);
  const values = pack.attributes.flatMap(analystColumns);
  const provenance = pack.attributes.map(({ name }) => `${named(name)} := ${provenanceOf(name)}`);
  const own = RECORD_COLUMNS.map((name) => `${name} AS ${named(recordColumn(pack, name))}`);
  return (
    `SELECT ${[...own, ...values].join(', ')}, struct_pack(${provenance.join(', ')}) AS ${named(recordColumn(pack, 'provenance'))} ` +
    `FROM read_json(${quoted(jsonl)}, format = 'newline_delimited', columns = {${read.join(', ')}})`
  );
}

function provenanceOf(name: string): string {
  const told = `provenance.${named(name)}`;
  const members = ['source_url', 'observed_at', 'confidence', 'evidence'].map((each) => `${each} := ${told}.${each}`);
  return `CASE WHEN ${told} IS NULL THEN NULL ELSE struct_pack(${members.join(', ')}, source_kind := ${told}.source.kind) END`;
}

function analystColumns(attribute: Attribute): string[] {
  const value = `attributes.${named(attribute.name)}`;
  const [first, second] = flatColumns(attribute);
  if (attribute.type === 'price')
    return [
      `coalesce(TRY_CAST(${value} AS DOUBLE), CAST(${value}->>'min' AS DOUBLE)) AS ${named(first!)}`,
      `coalesce(TRY_CAST(${value} AS DOUBLE), CAST(${value}->>'max' AS DOUBLE)) AS ${named(second!)}`,
    ];
  if (attribute.type === 'geo') return [`${value}.lat AS ${named(first!)}`, `${value}.lng AS ${named(second!)}`];
  return [`${value} AS ${named(first!)}`];
}

/** The same of public attributes alone, from records.parquet. */
export function publicQuery(pack: Pack, records: string): string {
  const open = pack.attributes.filter((each) => each.public);
  const values = open.flatMap(flatColumns).map(named);
  const all = named(recordColumn(pack, 'provenance'));
  const provenance = open.map(({ name }) => `${named(name)} := ${all}.${named(name)}`);
  const told = open.length === 0 ? '' : `, struct_pack(${provenance.join(', ')}) AS ${all}`;
  const own = RECORD_COLUMNS.map((name) => named(recordColumn(pack, name)));
  return `SELECT ${[...own, ...values].join(', ')}${told} FROM read_parquet(${quoted(records)})`;
}

const CHANGED = 'entity AS entity_id, attribute, type, old_value, new_value, observed_at, source_url';

/** What this release says otherwise than the one before: the differences of their two histories' last intervals. */
export function differences(history: string, before: string | null): string {
  const last = (path: string) => `(SELECT * FROM read_parquet(${quoted(path)}) WHERE "to" IS NULL)`;
  const type = (old: string) => `CASE WHEN ${old} IS NULL THEN 'added' ELSE 'changed' END AS type`;
  if (before === null)
    return (
      `SELECT ${CHANGED} FROM (SELECT entity, attribute, 'added' AS type, NULL::VARCHAR AS old_value, value AS new_value, ` +
      `"from" AS observed_at, source_url FROM ${last(history)} WHERE value IS NOT NULL) ORDER BY observed_at, entity, attribute`
    );
  return (
    `SELECT ${CHANGED} FROM (SELECT coalesce(n.entity, o.entity) AS entity, coalesce(n.attribute, o.attribute) AS attribute, ` +
    `${type('o.value')}, o.value AS old_value, n.value AS new_value, coalesce(n."from", o."from") AS observed_at, ` +
    `coalesce(n.source_url, o.source_url) AS source_url ` +
    `FROM ${last(history)} n FULL JOIN ${last(before)} o ON n.entity = o.entity AND n.attribute = o.attribute ` +
    `WHERE o.value IS DISTINCT FROM n.value) ORDER BY observed_at, entity, attribute`
  );
}

/**
 * The change feed: what the release before had, then the new differences, one microsecond apart from `first` on. A record that is no
 * longer published keeps the names it had.
 */
export function changesQuery(fresh: string, engines: string[], before: string | null, first: bigint): string {
  const names = engines.map((path, i) => `SELECT id, slug, name, ${i} AS age FROM read_parquet(${quoted(path)})`);
  const named_ = `(SELECT id, slug, name FROM (${names.join(' UNION ALL ')}) QUALIFY row_number() OVER (PARTITION BY id ORDER BY age) = 1)`;
  const added =
    `SELECT make_timestamp(${first} + place) AS recorded_at, entity_id, slug, name, attribute, type, old_value, new_value, observed_at, source_url ` +
    `FROM (SELECT *, file_row_number AS place FROM read_parquet(${quoted(fresh)}, file_row_number = true)) LEFT JOIN ${named_} ON id = entity_id ORDER BY recorded_at`;
  if (before === null) return added;
  return `SELECT * FROM read_parquet(${quoted(before)}) UNION ALL (${added})`;
}
