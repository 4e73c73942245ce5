// Tables of a release that the build writes as lines first, and the queries that convert them to Parquet
// (columns: docs/releases.md).
import type { AttributeType, Pack } from '../../packs/define/model.ts';
import { type ColumnTypes, fromLines, quotedIdentifier, quotedText } from '../duckdb/duck.ts';
import { decodedCell } from '../duckdb/lines.ts';
import { column, keptColumn } from '../model/layout.ts';
import { engineCells, engineColumns } from './record.ts';

/** Names that lines contain as numbers, counted from 1. */
export interface Names {
  attributes: readonly string[];
  sources: readonly string[];
  runs: readonly string[];
}

/** Lines of stored facts, sorted: attribute, source and run by number, `at` in milliseconds. */
const STORED_LINES: ColumnTypes = {
  entity: 'VARCHAR',
  attribute: 'USMALLINT',
  source: 'USMALLINT',
  run: 'USMALLINT',
  source_kind: 'VARCHAR',
  at: 'BIGINT',
  confidence: 'DOUBLE',
  value: 'VARCHAR',
  source_url: 'VARCHAR',
  evidence: 'VARCHAR',
};

/** Lines of verdicts, one for each stored fact; `reason` null: the fact is not in the release. */
const VERDICT_LINES: ColumnTypes = {
  confirmed_at: 'BIGINT',
  won: 'BOOLEAN',
  reason: 'VARCHAR',
  group_median: 'DOUBLE',
};

/** Lines of validity intervals; `record` as in RECORD_LINES, attribute by number. */
const HISTORY_LINES: ColumnTypes = {
  record: 'UBIGINT',
  attribute: 'USMALLINT',
  value: 'VARCHAR',
  old_value: 'VARCHAR',
  min: 'DOUBLE',
  max: 'DOUBLE',
  from: 'BIGINT',
  to: 'BIGINT',
  source_url: 'VARCHAR',
  source: 'VARCHAR',
  confidence: 'DOUBLE',
};

/**
 * Lines of all records ever observed, numbered in the order of their ids; `ord` null: nothing is published.
 */
const RECORD_LINES: ColumnTypes = { record: 'UBIGINT', id: 'VARCHAR', ord: 'UINTEGER' };

export const LISTING_LINES: ColumnTypes = { entity: 'VARCHAR', source: 'VARCHAR', listed: 'BOOLEAN', at: 'BIGINT' };

export const READING_LINES: ColumnTypes = {
  source: 'VARCHAR',
  package: 'VARCHAR',
  version: 'VARCHAR',
  observed_at: 'BIGINT',
  date_source: 'VARCHAR',
};

export const REVIEW_LINES: ColumnTypes = {
  id: 'VARCHAR',
  kind: 'VARCHAR',
  entity_id: 'VARCHAR',
  attribute: 'VARCHAR',
  facts: 'VARCHAR',
  opened_at: 'BIGINT',
  confirmed_at: 'BIGINT',
  group_median: 'DOUBLE',
};

/** Lines of search terms; `record` as in RECORD_LINES. */
const TERM_LINES: ColumnTypes = {
  record: 'UBIGINT',
  term: 'VARCHAR',
  public: 'BOOLEAN',
  compared: 'BOOLEAN',
  weight: 'UTINYINT',
  public_weight: 'UTINYINT',
  since: 'BIGINT',
};

/** Lines of search terms that records had from `since` to `until`. */
const PAST_TERM_LINES: ColumnTypes = { ...TERM_LINES, until: 'BIGINT' };

/** Lines of the states of records (`writeMoments`); `kept`: a digit for each attribute, 1: it has its current value. */
const MOMENT_LINES: ColumnTypes = {
  ...{ record: 'UBIGINT', since: 'BIGINT', until: 'BIGINT', updated: 'BIGINT', quality: 'DOUBLE' },
  ...{ name_words: 'VARCHAR', kept: 'VARCHAR' },
};

/** Columns of bodies that are not in records.jsonl. */
const BODY_LINES: ColumnTypes = { ord: 'UINTEGER', id: 'VARCHAR', version: 'VARCHAR', identity: 'VARCHAR' };

/** Converts milliseconds to TIMESTAMP; other columns are unchanged. */
export function withTimestamps(paths: readonly string[], columns: ColumnTypes, times: readonly string[]): string {
  const list = Object.keys(columns).map((name) =>
    times.includes(name)
      ? `make_timestamp_ms(${quotedIdentifier(name)}) AS ${quotedIdentifier(name)}`
      : quotedIdentifier(name),
  );
  return `SELECT ${list.join(', ')} FROM ${fromLines(paths, columns)}`;
}

/** A name by its number. */
const nameOf = (names: readonly string[], column: string) =>
  `list_extract([${names.map(quotedText).join(', ')}], ${column})`;

/** Number of a name, 0 for an unknown one: the inverse of `nameOf`. */
export function numberOf(names: readonly string[], column: string): string {
  return names.length === 0 ? '0' : `coalesce(list_position([${names.map(quotedText).join(', ')}], ${column}), 0)`;
}

/** The stored lines as a query with FACT_COLUMNS except the unit. */
export function storedQuery(stored: string, names: Names): string {
  return (
    `(SELECT entity, ${nameOf(names.attributes, 'attribute')} AS attribute, value, ${nameOf(names.sources, 'source')} AS source, source_url, ` +
    `make_timestamp_ms("at") AS observed_at, confidence, evidence, source_kind, ${nameOf(names.runs, 'run')} AS run ` +
    `FROM ${fromLines(stored, STORED_LINES)})`
  );
}

/** Facts with their verdicts, in the order of a query of the stored facts. */
export function factsQuery(stored: string, verdicts: readonly string[]): string {
  return (
    'SELECT entity, attribute, value, source, source_url, observed_at, confidence, evidence, source_kind, run, ' +
    'make_timestamp_ms(confirmed_at) AS confirmed_at, won, reason, group_median ' +
    `FROM ${stored} AS stored POSITIONAL JOIN ${fromLines(verdicts, VERDICT_LINES)} AS verdicts WHERE reason IS NOT NULL`
  );
}

/** Validity intervals by attribute, record and time. */
export function historyQuery(history: readonly string[], records: string, attributes: readonly string[]): string {
  const ranked = [...attributes].sort().map((name) => attributes.indexOf(name) + 1);
  return (
    `SELECT ord, id AS entity, ${nameOf(attributes, 'attribute')} AS attribute, value, old_value, min, max, ` +
    'make_timestamp_ms("from") AS "from", make_timestamp_ms("to") AS "to", source_url, source, confidence ' +
    `FROM ${fromLines(history, HISTORY_LINES)} AS history JOIN ${fromLines(records, RECORD_LINES)} AS records USING (record) ` +
    `ORDER BY list_position([${ranked.join(', ')}], attribute), record, "from"`
  );
}

/** Search terms by word and rank. */
export function termsQuery(terms: readonly string[], records: string): string {
  return (
    'SELECT term, ord, public, compared, weight, public_weight, make_timestamp_ms(since) AS since ' +
    `FROM ${fromLines(terms, TERM_LINES)} AS terms JOIN ${fromLines(records, RECORD_LINES)} AS records USING (record) ORDER BY term, ord`
  );
}

/** Search terms that records no longer have in this form, by word and rank. */
export function pastTermsQuery(terms: readonly string[], records: string): string {
  return (
    'SELECT term, ord, public, compared, weight, public_weight, make_timestamp_ms(since) AS since, make_timestamp_ms(until) AS until ' +
    `FROM ${fromLines(terms, PAST_TERM_LINES)} AS terms JOIN ${fromLines(records, RECORD_LINES)} AS records USING (record) ORDER BY term, ord, since`
  );
}

/** States of records by time and rank. `longest`: bytes of the longest line, here and below. */
export function momentsQuery(pack: Pack, moments: readonly string[], records: string, longest: number): string {
  const cells = engineCells(pack);
  const kept = pack.attributes.map(({ name }, i) => `kept[${i + 1}] = '1' AS ${quotedIdentifier(keptColumn(name))}`);
  const parts = selectedColumns(pack, Object.keys(cells));
  return (
    'SELECT ord, make_timestamp_ms(since) AS since, make_timestamp_ms(until) AS until, updated, quality, name_words, ' +
    `${[...kept, ...parts].join(', ')} FROM ${fromLines(moments, { ...MOMENT_LINES, ...cells }, longest)} AS moments ` +
    `JOIN ${fromLines(records, RECORD_LINES)} AS records USING (record) ORDER BY since, ord`
  );
}

/** Bodies from records.jsonl with the columns of the lines. */
export function bodiesQuery(lines: string, jsonl: string, longest: number): string {
  const bodies = fromLines(jsonl, { body: 'VARCHAR' }, longest);
  return `SELECT ord, id, version, identity, body FROM ${fromLines(lines, BODY_LINES)} AS lines POSITIONAL JOIN ${bodies} AS bodies`;
}

/** The engine table; the lines are in the order of `ord`. */
export function engineQuery(pack: Pack, path: string, longest: number): string {
  const columns = engineColumns(pack);
  return `SELECT ${selectedColumns(pack, Object.keys(columns)).join(', ')} FROM ${fromLines(path, columns, longest)}`;
}

/** Columns of engine lines; lists are JSON text there, and texts are encoded. */
function selectedColumns(pack: Pack, names: readonly string[]): string[] {
  const expressions = new Map<string, string>();
  for (const { name, type } of pack.attributes) {
    const value = column(name, 'value');
    if (type === 'strings')
      for (const part of [value, column(name, 'fold')])
        expressions.set(part, `from_json(${quotedIdentifier(part)}, '["VARCHAR"]')`);
    else if (isText(type)) expressions.set(value, decodedCell(quotedIdentifier(value)));
  }
  return names.map((name) => {
    const quoted = quotedIdentifier(name);
    const expression = expressions.get(name);
    return expression === undefined ? quoted : `${expression} AS ${quoted}`;
  });
}

const isText = (type: AttributeType) => type === 'string' || type === 'text' || type === 'enum';
