// One settled record in the formats of a release: JSON body, engine row, CSV row and search terms.
import { derive } from '../../packs/define/derive.ts';
import type { Attribute, Geo, Pack, Value } from '../../packs/define/model.ts';
import { fold } from '../../packs/define/text.ts';
import { comparedTime } from '../../packs/define/times.ts';
import { bounds } from '../consolidate/compare.ts';
import { nameWords, statusReach, type Unpublished } from '../consolidate/engine-values.ts';
import type { ColumnTypes } from '../duckdb/duck.ts';
import { encodedCell, NULL } from '../duckdb/lines.ts';
import { column, columnParts } from '../model/layout.ts';
import { PROVENANCE_STATUSES, type ProvenanceStatus, type SourceKind } from '../model/record.ts';
import { isoTime } from '../model/time.ts';
import { csvRow, flatCells } from './csv.ts';

/**
 * A published value with its provenance. `json` is the text of the value; times are milliseconds since 1970.
 */
export interface SettledValue {
  value: Value;
  json: string;
  source_url: string;
  observed_at: number;
  confidence: number;
  evidence: string;
  kind: SourceKind;
  status: ProvenanceStatus | null;
}

/**
 * A record before its rank and the time of its last change are known. `values` is in the order of the pack's
 * attributes.
 */
export interface SettledRecord {
  id: string;
  slug: string;
  name: string;
  /** JSON text of the identity. */
  identity: string;
  values: (SettledValue | undefined)[];
  quality: number;
  completeness: number;
  owner: boolean;
  /** List entries that are searchable and not published. */
  unpublished: Unpublished;
}

/** Placeholder for `updated_at` in a body: the same number of bytes. */
export const UPDATED_PLACEHOLDER = '0000-00-00T00:00:00.000Z';

/** JSON texts of the names of a pack's attributes, with the colon after them. */
const keysOf = (pack: Pack): string[] =>
  derive(pack, 'JSON keys', () => pack.attributes.map(({ name }) => `${JSON.stringify(name)}:`));

/** JSON text of a StoredRecord with the placeholder `UPDATED_PLACEHOLDER`. */
export function bodyOf(pack: Pack, record: SettledRecord): string {
  const names = keysOf(pack);
  let attributes = '';
  let provenance = '';
  // Neighbouring values often have the same address and evidence.
  let [url, urlJson, evidence, evidenceJson] = ['', '""', '', '""'];
  for (let i = 0; i < record.values.length; i++) {
    const settled = record.values[i];
    if (settled === undefined) continue;
    const name = attributes === '' ? names[i]! : `,${names[i]!}`;
    attributes += name + settled.json;
    if (settled.source_url !== url) {
      url = settled.source_url;
      urlJson = JSON.stringify(url);
    }
    if (settled.evidence !== evidence) {
      evidence = settled.evidence;
      evidenceJson = JSON.stringify(evidence);
    }
    provenance +=
      `${name}{"source_url":${urlJson},"observed_at":"${isoTime(settled.observed_at)}"` +
      `,"confidence":${settled.confidence},"evidence":${evidenceJson},"source":{"kind":"${settled.kind}"}${settled.status === null ? '' : `,"status":"${settled.status}"`}}`;
  }
  const { id, slug, name, quality, completeness, owner } = record;
  return (
    `{"id":"${id}","slug":"${slug}","name":${JSON.stringify(name)},"dataset":"${pack.id}","updated_at":"${UPDATED_PLACEHOLDER}"` +
    `,"attributes":{${attributes}},"provenance":{${provenance}}` +
    `,"quality_score":${quality},"completeness":${completeness},"verified_owner":${owner}}`
  );
}

/** A row of records.csv (`csvHeader`) without its last cell, `updated_at`. */
export function csvOf(pack: Pack, record: SettledRecord): string {
  const cells = pack.attributes.flatMap((attribute, i) => flatCells(attribute, record.values[i]?.value));
  return csvRow([record.id, record.slug, record.name, ...cells, record.quality, record.completeness, record.owner]);
}

/** Columns of engine.parquet in lines; lists are JSON text (see `engineQuery` in tables.ts). */
export function engineColumns(pack: Pack): ColumnTypes {
  const columns: ColumnTypes = { ord: 'UINTEGER', updated: 'BIGINT', id: 'VARCHAR', slug: 'VARCHAR', name: 'VARCHAR' };
  Object.assign(columns, { name_words: 'VARCHAR', quality: 'DOUBLE', completeness: 'DOUBLE', owner: 'BOOLEAN' });
  Object.assign(columns, { held: 'UTINYINT', contested: 'UTINYINT' });
  return Object.assign(columns, engineCells(pack));
}

/** The columns of the attributes in lines of the engine table. */
export function engineCells(pack: Pack): ColumnTypes {
  const columns: ColumnTypes = {};
  for (const attribute of pack.attributes)
    for (const part of columnParts(attribute)) columns[column(attribute.name, part)] = engineType(attribute);
  return columns;
}

function engineType(attribute: Attribute): string {
  if (attribute.type === 'boolean') return 'BOOLEAN';
  return ['integer', 'number', 'price', 'geo'].includes(attribute.type) ? 'DOUBLE' : 'VARCHAR';
}

/** A line of the engine table without its first two columns, `ord` and `updated`. */
export function engineOf(pack: Pack, record: SettledRecord): string {
  let line = `${record.id}\t${record.slug}\t${record.name}\t${nameWords(record.name)}\t${record.quality}\t${record.completeness}\t${record.owner}`;
  for (const status of PROVENANCE_STATUSES)
    line += `\t${statusReach(pack, status, (_, i) => record.values[i]?.status)}`;
  for (let i = 0; i < record.values.length; i++) line += engineParts(pack.attributes[i]!, record.values[i]?.value);
  return line;
}

/** Cells of a value in a line of the engine table, each with a tab in front; NULL without a value. */
export function engineParts(attribute: Attribute, value: Value | undefined): string {
  switch (attribute.type) {
    case 'string':
    case 'text':
    case 'url':
    case 'enum':
      return value === undefined ? `\t${NULL}\t${NULL}` : `\t${encodedCell(value as string)}\t${fold(value as string)}`;
    case 'strings':
      return value === undefined
        ? `\t${NULL}\t${NULL}`
        : `\t${JSON.stringify(value)}\t${JSON.stringify((value as string[]).map(fold))}`;
    case 'price': {
      const ends = value === undefined ? null : bounds(value);
      return ends === null ? `\t${NULL}\t${NULL}` : `\t${ends.min}\t${ends.max}`;
    }
    case 'geo':
      return value === undefined ? `\t${NULL}\t${NULL}` : `\t${(value as Geo).lat}\t${(value as Geo).lng}`;
    case 'datetime':
      return `\t${value === undefined ? NULL : comparedTime(value as string)}`;
    default:
      return `\t${value === undefined ? NULL : String(value)}`;
  }
}
