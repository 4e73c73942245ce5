// Paths under DATA_DIR, files of a release and their columns.
import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Attribute } from '../../packs/define/model.ts';

/**
 * Id of a record: `r-` and 16 hex digits of SHA-256 of dataset, line feed and identity key (contract section
 * 2).
 */
export function recordId(dataset: string, key: string): string {
  return `r-${hash('sha256', `${dataset}\n${key}`, 'hex').slice(0, 16)}`;
}

/** Format of DATA_DIR and store: rises when a shape of theirs changes, and another one is refused. */
export const FORMAT = 1;

/** Default of RELEASES_KEEP. */
export const KEPT_RELEASES = 3;

/** Paths below DATA_DIR (contract section 1). */
export const paths = {
  /** FORMAT. */
  format: (dataDir: string) => join(dataDir, 'format'),
  sources: (dataDir: string) => join(dataDir, 'sources'),
  facts: (dataDir: string, dataset: string) => join(dataDir, 'facts', dataset),
  releases: (dataDir: string, dataset: string) => join(dataDir, 'releases', dataset),
  release: (dataDir: string, dataset: string, release: string) => join(dataDir, 'releases', dataset, release),
  /** File with the id of the current release; replaced by rename, so the switch is atomic. */
  current: (dataDir: string, dataset: string) => join(dataDir, 'releases', dataset, 'current'),
  /** What is kept of a release whose files were removed (`keepManifest`). */
  keptManifest: (dataDir: string, dataset: string, release: string) =>
    join(dataDir, 'releases', dataset, 'manifests', `${release}.json`),
  state: (dataDir: string) => join(dataDir, 'state'),
  /** Pages that collectors fetched, named by the hash of their bytes. */
  evidence: (dataDir: string) => join(dataDir, 'evidence'),
  /** Databases of the current releases for SQL, one for each dataset and set of columns; made when they are needed. */
  sql: (dataDir: string) => join(dataDir, 'sql'),
  /** Unfinished transfers from and to object storage; a killed one continues with what is there. */
  transfers: (dataDir: string) => join(dataDir, 'transfers'),
  /** The listing in object storage that a release was downloaded from or stored as. */
  listing: (dataDir: string, dataset: string, release: string) =>
    join(dataDir, 'releases', dataset, release, '.listing'),
  /** State of the nightly run in progress (data/releases/night-state.ts). */
  night: (dataDir: string) => join(dataDir, 'nightly.json'),
  /** Results of the runs of a dataset (data/releases/runs.ts). */
  runs: (dataDir: string, dataset: string) => join(dataDir, 'runs', `${dataset}.jsonl`),
} as const;

/** Folder of the index within a release. */
export const INDEX_FOLDER = 'index';
/** The file of the index; the bodies that it refers to are lines of records.jsonl. */
export const INDEX_FILE = 'columns.bin';

/**
 * Files of a release. The manifest lists all others with size, SHA-256 and row count. In every Parquet file a
 * time is a TIMESTAMP in UTC and a value is its JSON text (VARCHAR); docs/releases.md describes every column.
 */
export const RELEASE_FILES = {
  manifest: 'manifest.json',
  /** Signature of the manifest (data/releases/signature.ts). */
  signature: 'manifest.jws',
  /**
   * For analysts: typed attribute columns by their dotted names, and the provenance of each
   * (docs/releases.md).
   */
  records: 'records.parquet',
  /** As `records`, public attributes only. */
  public: 'public.parquet',
  csv: 'records.csv',
  jsonl: 'records.jsonl',
  /** For the engine: one narrow row for each record, sorted by ordinal (see `column`). */
  engine: 'engine.parquet',
  /**
   * term VARCHAR, ord UINTEGER, public BOOLEAN (a public text has the term), compared BOOLEAN (it counts for
   * similar records), weight UTINYINT and public_weight UTINYINT (its weighted frequency in all and in public
   * texts), since (the record has the term in this form); sorted by term, ord.
   */
  terms: 'terms.parquet',
  /**
   * States of records over time, for `as_of` of lists: ord, since, until (null: the current state), updated (as in
   * the engine table), quality, name_words (null: the current ones), for each attribute whether it has its current
   * value (`keptColumn`), and the engine columns of the attributes with another value; sorted by since, ord.
   */
  moments: 'moments.parquet',
  /** Terms that records had from since to until, otherwise as `terms`; sorted by term, ord, since. */
  past_terms: 'past_terms.parquet',
  /**
   * ord UINTEGER, id VARCHAR, version VARCHAR, identity VARCHAR (JSON), body VARCHAR (JSON of a
   * StoredRecord); sorted by ord.
   */
  bodies: 'bodies.parquet',
  /**
   * All facts: entity, attribute, value (null: withdrawn), source, source_url, observed_at, confidence,
   * evidence, source_kind, run, confirmed_at, won BOOLEAN, reason; sorted by entity, attribute, observed_at,
   * run.
   */
  facts: 'facts.parquet',
  /** When a source listed a record, for `as_of`: entity, source, listed BOOLEAN, at; sorted by entity, at. */
  listings: 'listings.parquet',
  /**
   * Every reading of a source, for `as_of`: source, package, version, observed_at, date_source; sorted by
   * observed_at.
   */
  readings: 'readings.parquet',
  /**
   * Published values over time as validity intervals [from, to): ord UINTEGER, entity, attribute, value
   * (null: withdrawn after publication), old_value (of the previous interval; null: first value), min DOUBLE,
   * max DOUBLE (numbers and prices), from, to (null: still valid), source_url, source and confidence of the fact
   * that began it; sorted by attribute, entity, from.
   */
  history: 'history.parquet',
  /**
   * The last 366 days of `history` as rows of the changelog: ord, entity_id, slug, name, attribute, type
   * (added, changed), old_value, new_value (null: absent), observed_at, source_url; newest first, then by
   * ord, entity_id, attribute.
   */
  changelog: 'changelog.parquet',
  /**
   * Change feed: recorded_at (microseconds, unique), entity_id, slug, name, attribute, type (added, changed,
   * removed), old_value, new_value (null: absent), observed_at, source_url; sorted by recorded_at. A row for
   * a removed record has no attribute, values or source. Not part of the content name.
   */
  changes: 'changes.parquet',
  /**
   * Open review items: id, kind, entity_id, attribute, facts (JSON array of Fact, the published one first),
   * opened_at; sorted by opened_at, id.
   */
  review: 'review.parquet',
} as const;

/**
 * Part of an attribute in the engine table. `fold` is for comparing strings; `max` is the upper end of a
 * price range, `min` its lower end or the plain number.
 */
export type ColumnPart = 'value' | 'fold' | 'min' | 'max' | 'lat' | 'lng';

/**
 * Engine columns of an attribute, by type:
 * - string, text, url, enum: value VARCHAR, fold VARCHAR
 * - strings: value VARCHAR[], fold VARCHAR[]
 * - date: value VARCHAR (YYYY-MM-DD)
 * - datetime: value VARCHAR (ISO 8601 in UTC without `Z`, so that texts have the order of times)
 * - boolean: value BOOLEAN
 * - integer, number: value DOUBLE
 * - price: min DOUBLE, max DOUBLE
 * - geo: lat DOUBLE, lng DOUBLE
 */
export function columnParts(attribute: Attribute): ColumnPart[] {
  switch (attribute.type) {
    case 'string':
    case 'text':
    case 'url':
    case 'enum':
    case 'strings':
      return ['value', 'fold'];
    case 'price':
      return ['min', 'max'];
    case 'geo':
      return ['lat', 'lng'];
    default:
      return ['value'];
  }
}

/**
 * Name of an engine column: `<attribute>:<part>`. Fixed columns (ord, id, slug, name, updated, quality,
 * completeness, owner, held, contested) have no colon.
 */
export function column(name: string, part: ColumnPart): string {
  return `${name}:${part}`;
}

/** Column of moments.parquet: whether an attribute has its current value. */
export function keptColumn(name: string): string {
  return `${name}:kept`;
}

// Fixed engine columns: ord UINTEGER, id, slug, name VARCHAR, updated BIGINT (ms since 1970), quality,
// completeness DOUBLE, owner BOOLEAN, held, contested UTINYINT (`statusReach`: 2 public, 1 not public, 0
// none).

/** Release manifest: the files of the folder, to verify that it is complete. */
export interface Manifest {
  schema_version: 1;
  dataset: string;
  /**
   * Content name, 16 hex digits of SHA-256 over the sorted (file, sha256) pairs of `files` without `changes`
   * and `records`.
   */
  release: string;
  created_at: string;
  title: string;
  records: number;
  facts: number;
  /** Newest confirmation by source id. */
  confirmed: Record<string, string>;
  last_collection: string;
  /** Fingerprint of the inputs of the release: facts, pack and code. A build with equal inputs is skipped. */
  inputs?: string | undefined;
  /** Newest run of facts that the release contains. */
  run?: string | undefined;
  /** Revision of the pack that made the release. */
  revision?: number;
  /** Version of the overlay that the release contains; absent: none. */
  overlay?: number;
  /** Last microsecond (since 1970) of the range that the release has in the change feed. */
  recorded_to?: number;
  files: Record<string, { bytes: number; sha256: string; rows: number | null }>;
  /** Values that search filters offer for open enums, most common first, at most 500. */
  enums: Record<string, string[]>;
  /**
   * Number of published values of an attribute by the time of their last confirmation. Distinct times are
   * few, because sources are read as a whole.
   */
  ages: { attribute: string; observed_at: string; count: number }[];
}
