// The stored facts of a dataset, record by record in the order of their ids.
import type { Statement } from '../data/consolidate.ts';
import type { Listing } from '../data/consolidate-times.ts';
import { FACT_COLUMNS, listRuns, OWN, type ReadingRow, standingFacts } from '../data/facts.ts';
import type { SourceKind } from '../data/model.ts';
import { type Duck, fromParquet } from '../data/write/duck.ts';
import { NULL, readLines } from '../data/write/lines.ts';
import type { Attribute, Identity, Value } from '../packs/model.ts';

/** A stored fact. `line` is how it was read, for writing it on; `json` is its value's text. */
export interface StoredFact extends Statement {
  attribute: string;
  source_url: string;
  evidence: string;
  run: string;
  json: string;
  line: string;
}

/** Everything ever said of one record. */
export interface RecordFacts {
  id: string;
  identity: Identity | null;
  slug: string | null;
  listings: Listing[];
  /** By attribute, each ascending by time and run. */
  facts: Map<string, StoredFact[]>;
}

/** Sorts the facts that count into a file of lines; tells how many. */
export async function sortFacts(
  duck: Duck,
  dataDir: string,
  dataset: string,
  made: readonly ReadingRow[],
  path: string,
): Promise<number> {
  const files = (await listRuns(dataDir, dataset)).map(({ facts }) => facts);
  const columns =
    'entity, attribute, value, source, source_url, epoch_ms(observed_at), confidence, evidence, source_kind, run';
  return duck.lines(
    `SELECT ${columns} FROM ${fromParquet(files, FACT_COLUMNS)} WHERE ${standingFacts(made)} ` +
      'ORDER BY entity, attribute, observed_at, run, source, value',
    path,
  );
}

/** Reads the lines of `sortFacts`, a record at a time. */
export function* readRecords(path: string): Generator<RecordFacts> {
  let record: RecordFacts | null = null;
  for (const line of readLines(path)) {
    const [entity = '', attribute = '', json = NULL, source = '', source_url = '', at = '', ...rest] = line.split('\t');
    if (record === null || record.id !== entity) {
      if (record !== null) yield record;
      record = { id: entity, identity: null, slug: null, listings: [], facts: new Map() };
    }
    const value = json === NULL ? null : (JSON.parse(json) as Value);
    if (attribute.startsWith('@')) {
      if (attribute === OWN.identity) record.identity ??= value as unknown as Identity;
      else if (attribute === OWN.slug) record.slug ??= value as string;
      else if (attribute === OWN.listed) record.listings.push({ source, listed: json === 'true', at: Number(at) });
      continue;
    }
    const [confidence = '', evidence = '', source_kind = '', run = ''] = rest;
    const fact: StoredFact = {
      attribute,
      value,
      json,
      source,
      source_url,
      at: Number(at),
      confidence: Number(confidence),
      evidence,
      source_kind: source_kind as SourceKind,
      run,
      line,
    };
    const known = record.facts.get(attribute);
    if (known === undefined) record.facts.set(attribute, [fact]);
    else known.push(fact);
  }
  if (record !== null) yield record;
}

/** Whether a stored value is of the type that the attribute has today; a publisher may have changed it since. */
export function fits(attribute: Attribute, value: Value | null): boolean {
  if (value === null) return true;
  switch (attribute.type) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
    case 'number':
      return typeof value === 'number';
    case 'price':
      return typeof value === 'number' || (typeof value === 'object' && 'min' in value);
    case 'geo':
      return typeof value === 'object' && 'lat' in value;
    case 'strings':
      return Array.isArray(value);
    default:
      return typeof value === 'string';
  }
}
