// The stored facts of a dataset, record by record in the order of their ids.
import { join } from 'node:path';
import type { SourcedStatement } from '../../data/consolidate/history-rows.ts';
import type { Listing } from '../../data/consolidate/times.ts';
import { type ColumnTypes, type Duck, fromLines, fromParquet, memoryShortage } from '../../data/duckdb/duck.ts';
import { cutLines, LineWriter, NULL, readLines } from '../../data/duckdb/lines.ts';
import { OWNER_SOURCE, type OwnerFact } from '../../data/plan/overlay.ts';
import {
  FACT_COLUMNS,
  listRuns,
  REGISTER_ATTRIBUTES,
  type ReadingRow,
  validFactsCondition,
} from '../../data/write/facts.ts';
import { type Names, numberOf } from '../../data/write/tables.ts';
import { comparedText } from '../../packs/define/digits.ts';
import type { Identity, Pack, Value } from '../../packs/define/model.ts';
import { type GroupMedians, groupMedians, medianKey } from './group-medians.ts';

/** A stored fact. */
export type StoredFact = SourcedStatement;

/**
 * Facts of one attribute, ascending by time and run. `attribute`: its number in the pack, -1 for the
 * register's own attributes.
 */
export interface FactGroup {
  attribute: number;
  facts: StoredFact[];
}

/** All facts of one record, in stored order. */
export interface RecordFacts {
  id: string;
  identity: Identity | null;
  slug: string | null;
  listings: Listing[];
  groups: FactGroup[];
}

/** The register's own attributes follow the pack's in `Names`. */
const REGISTER_ATTRIBUTE_LIST = [REGISTER_ATTRIBUTES.identity, REGISTER_ATTRIBUTES.listed, REGISTER_ATTRIBUTES.slug];

/** The input and output of the sort. */
interface Sorting {
  made: readonly ReadingRow[];
  /** The pending run whose facts count. */
  run: string | undefined;
  /** Owners' facts, which are stored with the accounts and not with the collected facts. */
  ownerFacts: readonly OwnerFact[];
  /** Folder for temporary files. */
  workspace: string;
  /** File of the sorted lines. */
  path: string;
  /** Called before the sort when the night may lack memory. */
  warn: (text: string) => void;
}

const SAID: ColumnTypes = {
  ...{ entity: 'VARCHAR', attribute: 'VARCHAR', value: 'VARCHAR', source_url: 'VARCHAR' },
  ...{ observed_at: 'BIGINT', evidence: 'VARCHAR' },
};

/** Owners' facts as a query with the columns of collected ones, without records that were never collected. */
function ownerFactsSql(ownerFacts: readonly OwnerFact[], collected: string, workspace: string): string {
  const writer = new LineWriter(join(workspace, 'owner-facts'));
  for (const { entity, attribute, value, source_url, at, evidence } of ownerFacts)
    writer.line([entity, attribute, value ?? NULL, source_url, at, evidence].join('\t'));
  writer.close();
  return (
    `SELECT entity, attribute, value, '${OWNER_SOURCE}' AS source, source_url, make_timestamp_ms(observed_at) AS observed_at, 1.0 AS confidence, ` +
    `evidence, 'owner' AS source_kind, '${OWNER_SOURCE}' AS run FROM ${fromLines(writer.path, SAID)} ` +
    `WHERE entity IN (SELECT entity FROM ${collected} WHERE attribute = '${REGISTER_ATTRIBUTES.identity}')`
  );
}

/**
 * Sorts the facts that count into a file of lines (STORED_LINES); returns their number, the names for their
 * numbers, the groups' medians, and a query of the same facts in the same order, which is null if only the
 * lines have them in this order.
 */
export async function sortFacts(
  duck: Duck,
  dataDir: string,
  pack: Pack,
  { made, run, ownerFacts, workspace, path, warn }: Sorting,
): Promise<{ total: number; names: Names; medians: GroupMedians; query: string | null }> {
  const runs = await listRuns(dataDir, pack.id, run);
  const collected = fromParquet(
    runs.map(({ facts }) => facts),
    FACT_COLUMNS,
  );
  const standing = `SELECT * FROM ${collected} WHERE ${validFactsCondition(made)}`;
  const from =
    ownerFacts.length === 0
      ? `(${standing})`
      : `(${standing} UNION ALL BY NAME ${ownerFactsSql(ownerFacts, collected, workspace)})`;
  const sources = await duck.rows(`SELECT DISTINCT source FROM ${from} ORDER BY source`);
  const names: Names = {
    attributes: [...pack.attributes.map(({ name }) => name), ...REGISTER_ATTRIBUTE_LIST],
    sources: sources.map(([source]) => String(source)),
    runs: [...runs.map(({ run }) => run), ...(ownerFacts.length === 0 ? [] : [OWNER_SOURCE])],
  };
  const shortage = await factsShortage(duck, from);
  if (shortage !== null) warn(shortage);
  const columns =
    `entity, ${numberOf(names.attributes, 'attribute')}, ${numberOf(names.sources, 'source')}, ${numberOf(names.runs, 'run')}, ` +
    'source_kind, epoch_ms(observed_at), confidence, value, source_url, evidence';
  // The facts of a run are already in this order (`append` in build/collect/collect.ts).
  const sorted = runs.length === 1 && ownerFacts.length === 0;
  const order = sorted ? '' : ' ORDER BY entity, attribute, observed_at, run, source, value';
  const total = await duck.lines(`SELECT ${columns} FROM ${from}${order}`, path);
  return { total, names, medians: await groupMedians(duck, pack, from), query: sorted ? from : null };
}

/** The message of `memoryShortage` for the newest values of facts; a record has one fact for its identity. */
async function factsShortage(duck: Duck, from: string): Promise<string | null> {
  const [[records, attributes, facts, bytes] = []] = (
    await duck.rows(
      `SELECT count(*) FILTER (attribute = '${REGISTER_ATTRIBUTES.identity}'), count(DISTINCT attribute), count(*), ` +
        `sum(strlen(value)) FROM ${from}`,
    )
  ).map((row) => row.map(Number)) as [number, number, number, number][];
  if (!records || !attributes || !facts) return null;
  return memoryShortage(records, attributes, (bytes ?? 0) * Math.min(1, (records * attributes) / facts));
}

/** A byte range of the lines of `sortFacts` that contains complete records. */
export interface LineRange {
  path: string;
  from: number;
  to: number;
}

/** Cuts the lines of `sortFacts` into ranges of about the same size. */
export function lineRanges(path: string, count: number): LineRange[] {
  const cuts = cutLines(path, count, (line) => line.slice(0, line.indexOf('\t')));
  return cuts.slice(1).map((to, i) => ({ path, from: cuts[i]!, to }));
}

/** The value of a JSON text that `JSON.stringify` wrote; most are plain texts and numbers. */
function parsedValue(text: string): Value {
  const first = text.charCodeAt(0);
  if (first === QUOTE && !text.includes('\\')) return text.slice(1, -1);
  return first >= ZERO && first <= NINE ? Number(text) : (JSON.parse(text) as Value);
}

const [QUOTE, ZERO, NINE] = [0x22, 0x30, 0x39];

/** A whole number at a place of a line, without a substring. */
function smallNumber(line: string, from: number, to: number): number {
  let number = 0;
  for (let i = from; i < to; i++) number = number * 10 + line.charCodeAt(i) - ZERO;
  return number;
}

/** Reads the lines of `sortFacts`, one record at a time. */
export function* readRecords(
  { path, from, to }: LineRange,
  pack: Pack,
  names: Names,
  medians: GroupMedians,
): Generator<RecordFacts> {
  const ours = pack.attributes.length;
  const [identity, listed, slug] = REGISTER_ATTRIBUTE_LIST.map((_, i) => ours + i);
  let record: RecordFacts | null = null;
  let group: FactGroup | null = null;
  let numbered = -1;
  const time = { text: '', at: 0 };
  const certainty = { text: '', confidence: 0 };
  for (const line of readLines(path, from, to)) {
    // The columns of STORED_LINES, by the places of their tabs; `split` takes twice as long.
    const entityEnd = line.indexOf('\t');
    if (record === null || record.id.length !== entityEnd || !line.startsWith(record.id)) {
      const entity = line.slice(0, entityEnd);
      if (record !== null && entity < record.id) throw new Error(`the facts of ${entity} are not sorted by record`);
      if (record !== null) yield record;
      record = { id: entity, identity: null, slug: null, listings: [], groups: [] };
      group = null;
    }
    const attributeEnd = line.indexOf('\t', entityEnd + 1);
    const sourceEnd = line.indexOf('\t', attributeEnd + 1);
    const runEnd = line.indexOf('\t', sourceEnd + 1);
    const kindEnd = line.indexOf('\t', runEnd + 1);
    const atEnd = line.indexOf('\t', kindEnd + 1);
    const confidenceEnd = line.indexOf('\t', atEnd + 1);
    const valueEnd = line.indexOf('\t', confidenceEnd + 1);
    const urlEnd = line.indexOf('\t', valueEnd + 1);
    const attribute = smallNumber(line, entityEnd + 1, attributeEnd) - 1;
    if (group === null || numbered !== attribute) {
      group = { attribute: attribute < ours ? attribute : -1, facts: [] };
      numbered = attribute;
      record.groups.push(group);
    }
    const at = line.slice(kindEnd + 1, atEnd);
    if (at !== time.text) {
      time.text = at;
      time.at = Number(at);
    }
    const confidence = line.slice(atEnd + 1, confidenceEnd);
    if (confidence !== certainty.text) {
      certainty.text = confidence;
      certainty.confidence = Number(confidence);
    }
    const stored = line.slice(confidenceEnd + 1, valueEnd);
    const text = attribute < ours && stored !== NULL ? comparedText(pack.attributes[attribute]!, stored) : stored;
    const value = text === NULL ? null : parsedValue(text);
    const fact: StoredFact = {
      value,
      json: text,
      source: names.sources[smallNumber(line, attributeEnd + 1, sourceEnd) - 1]!,
      source_url: line.slice(valueEnd + 1, urlEnd),
      at: time.at,
      confidence: certainty.confidence,
      evidence: line.slice(urlEnd + 1),
      source_kind: line.charCodeAt(runEnd + 1) === OWNER ? 'owner' : 'collector',
      run: names.runs[smallNumber(line, sourceEnd + 1, runEnd) - 1]!,
    };
    if (medians.size > 0 && value !== null && fact.source_kind === 'collector') {
      const median = medians.get(medianKey(record.id, names.attributes[attribute]!, fact.at));
      if (median !== undefined) fact.group_median = median;
    }
    group.facts.push(fact);
    if (attribute === identity) record.identity ??= value as unknown as Identity;
    else if (attribute === slug) record.slug ??= value as string;
    else if (attribute === listed) record.listings.push({ source: fact.source, listed: text === 'true', at: fact.at });
  }
  if (record !== null) yield record;
}

/** First letter of the kind `owner`. */
const OWNER = 0x6f;
