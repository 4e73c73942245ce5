// Columns of the files for analysts: name, SQL type, unit, meaning. Used by the files, their dictionary and
// the SQL console.
import type { Attribute, AttributeType, Pack } from '../../packs/define/model.ts';
import { flatColumns, recordColumn } from './csv.ts';

export interface Column {
  name: string;
  /** DuckDB type. */
  type: string;
  /** The attribute of the column; null: a record's own column. */
  attribute: string | null;
  unit: string | null;
  description: string;
  /** Whether the public file has it. */
  public: boolean;
}

const TYPES: Partial<Record<AttributeType, string>> = {
  boolean: 'BOOLEAN',
  integer: 'BIGINT',
  number: 'DOUBLE',
  date: 'DATE',
  datetime: 'TIMESTAMP',
  strings: 'VARCHAR[]',
  price: 'DOUBLE',
  geo: 'DOUBLE',
};

/** A record's own columns, the same in every dataset. */
const OWN: readonly (readonly [name: string, type: string, description: string])[] = [
  ['id', 'VARCHAR', 'Identifier of the record'],
  ['slug', 'VARCHAR', 'Last part of the address of its page'],
  ['name', 'VARCHAR', 'Display name'],
  ['updated_at', 'TIMESTAMP', 'When its newest change became visible, UTC'],
  ['quality_score', 'DOUBLE', 'Score from 0 to 1 from completeness, confidence and freshness'],
  ['completeness', 'DOUBLE', 'Weighted share of its attributes that have a value, 0 to 1'],
  ['verified_owner', 'BOOLEAN', 'Whether its owner has confirmed it'],
];

const PROVENANCE =
  'By attribute: source_url, observed_at (UTC), confidence, evidence, source_kind, status (held, contested or NULL)';

/**
 * Columns of the file `history.parquet`: one row for each value that was published, and the time during which
 * it was.
 */
export const HISTORY_FILE_COLUMNS: readonly Column[] = (
  [
    ['id', 'VARCHAR', 'Identifier of the record'],
    ['slug', 'VARCHAR', 'Last part of the address of its page'],
    ['name', 'VARCHAR', 'Display name now'],
    ['attribute', 'VARCHAR', 'Name of the attribute; the key attributes of the metadata has its type and unit'],
    ['value', 'VARCHAR', 'The value as text; lists, points and ranges of prices as JSON'],
    ['min', 'DOUBLE', 'The value as a number, or the lowest of a range; NULL: not a number'],
    ['max', 'DOUBLE', 'The same number, or the highest of a range; NULL: not a number'],
    ['valid_from', 'TIMESTAMP', 'Since when it was the published value, UTC'],
    [
      'valid_until',
      'TIMESTAMP',
      'When another value replaced it or its source withdrew it, UTC; NULL: it is valid now',
    ],
    ['source', 'VARCHAR', 'Id of the source that gave it first, or owner'],
    ['source_url', 'VARCHAR', 'Where to check it'],
    ['confidence', 'DOUBLE', 'Confidence of that observation alone, 0 to 1'],
  ] as const
).map(([name, type, description]) => ({ name, type, attribute: null, unit: null, description, public: true }));

/** Columns of the table of provenance in the SQL console: one row for each public value. */
export const PROVENANCE_COLUMNS: readonly Column[] = (
  [
    ['id', 'VARCHAR', 'Identifier of the record'],
    ['slug', 'VARCHAR', 'Last part of the address of its page'],
    ['name', 'VARCHAR', 'Display name'],
    ['attribute', 'VARCHAR', 'Name of the attribute'],
    ['source_url', 'VARCHAR', 'Where to check the value'],
    ['observed_at', 'TIMESTAMP', 'When it was last read, UTC'],
    ['confidence', 'DOUBLE', 'Confidence of the value, 0 to 1'],
    ['evidence', 'VARCHAR', 'The place of the source that has the value'],
    ['source_kind', 'VARCHAR', 'collector or owner'],
    ['status', 'VARCHAR', 'held, contested or NULL'],
  ] as const
).map(([name, type, description]) => ({ name, type, attribute: null, unit: null, description, public: true }));

/** Sort order of `history.parquet`. */
export const HISTORY_ORDER = ['id', 'valid_from', 'attribute'] as const;

/** The meaning of a column that is an end of a price or a coordinate. */
const PARTS: Record<string, string> = {
  min: 'lowest, or the only one',
  max: 'highest, or the only one',
  lat: 'latitude',
  lng: 'longitude',
};

/**
 * Columns of `records.parquet` in their order, or of `public.parquet`; without provenance those of
 * `public.duckdb`.
 */
export function dictionary(pack: Pick<Pack, 'attributes'>, only: 'all' | 'public', provenance = true): Column[] {
  const columns = OWN.map(([name, type, description]): Column => {
    return { name: recordColumn(pack, name), type, attribute: null, unit: null, description, public: true };
  });
  const included = pack.attributes.filter((attribute) => only === 'all' || attribute.public);
  const provenanceColumn: Column = {
    name: recordColumn(pack, 'provenance'),
    type: 'STRUCT',
    attribute: null,
    unit: null,
    description: PROVENANCE,
    public: true,
  };
  return [...columns, ...included.flatMap(columnsOf), ...(provenance && included.length > 0 ? [provenanceColumn] : [])];
}

function columnsOf(attribute: Attribute): Column[] {
  const { name: of, type, unit, description, public: open } = attribute;
  return flatColumns(attribute).map((name) => {
    const part = name === of ? undefined : PARTS[name.slice(of.length + 1)];
    const meaning = part === undefined ? description : `${description} (${part})`;
    return { name, type: TYPES[type] ?? 'VARCHAR', attribute: of, unit, description: meaning, public: open };
  });
}
