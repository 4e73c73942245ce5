// The stored facts of a dataset, record by record in the order of their ids.
import type { Listing } from '../data/consolidate-times.ts';
import type { ToldStatement } from '../data/consolidate-told.ts';
import { FACT_COLUMNS, listRuns, OWN, type ReadingRow, standingFacts } from '../data/facts.ts';
import { type Duck, fromParquet } from '../data/write/duck.ts';
import { cutLines, NULL, readLines } from '../data/write/lines.ts';
import { type Names, numberOf } from '../data/write/tables.ts';
import type { Identity, Pack, Value } from '../packs/model.ts';

/** A stored fact. */
export type StoredFact = ToldStatement;

/** Facts of one attribute, ascending by time and run. `attribute`: its number in the pack, -1 for what is not the pack's. */
export interface FactGroup {
  attribute: number;
  facts: StoredFact[];
}

/** Everything ever said of one record, in the order in which it is stored. */
export interface RecordFacts {
  id: string;
  identity: Identity | null;
  slug: string | null;
  listings: Listing[];
  groups: FactGroup[];
}

/** The register's own attributes come after the pack's in `Names`. */
const OWN_ATTRIBUTES = [OWN.identity, OWN.listed, OWN.slug];

/** Sorts the facts that count into a file of lines (STORED_LINES); tells how many, and what their numbers stand for. */
export async function sortFacts(
  duck: Duck,
  dataDir: string,
  pack: Pack,
  made: readonly ReadingRow[],
  path: string,
): Promise<{ total: number; names: Names }> {
  const runs = await listRuns(dataDir, pack.id);
  const from = fromParquet(
    runs.map(({ facts }) => facts),
    FACT_COLUMNS,
  );
  const sources = await duck.rows(`SELECT DISTINCT source FROM ${from} ORDER BY source`);
  const names: Names = {
    attributes: [...pack.attributes.map(({ name }) => name), ...OWN_ATTRIBUTES],
    sources: sources.map(([source]) => String(source)),
    runs: runs.map(({ run }) => run),
  };
  const columns =
    `entity, ${numberOf(names.attributes, 'attribute')}, ${numberOf(names.sources, 'source')}, ${numberOf(names.runs, 'run')}, ` +
    'source_kind, epoch_ms(observed_at), confidence, value, source_url, evidence';
  const order = 'entity, attribute, observed_at, run, source, value';
  const total = await duck.lines(`SELECT ${columns} FROM ${from} WHERE ${standingFacts(made)} ORDER BY ${order}`, path);
  return { total, names };
}

/** A stretch of the lines of `sortFacts`, in bytes, that holds whole records. */
export interface Stretch {
  path: string;
  from: number;
  to: number;
}

/** Cuts the lines of `sortFacts` into stretches of about the same size. */
export function stretches(path: string, count: number): Stretch[] {
  const cuts = cutLines(path, count, (line) => line.slice(0, line.indexOf('\t')));
  return cuts.slice(1).map((to, i) => ({ path, from: cuts[i]!, to }));
}

/** Reads the lines of `sortFacts`, a record at a time. */
export function* readRecords({ path, from, to }: Stretch, pack: Pack, names: Names): Generator<RecordFacts> {
  const ours = pack.attributes.length;
  const [identity, listed, slug] = OWN_ATTRIBUTES.map((_, i) => ours + i);
  let record: RecordFacts | null = null;
  let group: FactGroup | null = null;
  let numbered = '';
  for (const line of readLines(path, from, to)) {
    const cells = line.split('\t');
    const entity = cells[0]!;
    if (record === null || record.id !== entity) {
      if (record !== null) yield record;
      record = { id: entity, identity: null, slug: null, listings: [], groups: [] };
      group = null;
    }
    const text = cells[7]!;
    const attribute = Number(cells[1]!) - 1;
    if (group === null || numbered !== cells[1]) {
      group = { attribute: attribute < ours ? attribute : -1, facts: [] };
      numbered = cells[1]!;
      record.groups.push(group);
    }
    const value = text === NULL ? null : (JSON.parse(text) as Value);
    const fact: StoredFact = {
      value,
      json: text,
      source: names.sources[Number(cells[2]!) - 1]!,
      source_url: cells[8]!,
      at: Number(cells[5]!),
      confidence: Number(cells[6]!),
      evidence: cells[9]!,
      source_kind: cells[4] === 'owner' ? 'owner' : 'collector',
      run: names.runs[Number(cells[3]!) - 1]!,
    };
    group.facts.push(fact);
    if (attribute === identity) record.identity ??= value as unknown as Identity;
    else if (attribute === slug) record.slug ??= value as string;
    else if (attribute === listed) record.listings.push({ source: fact.source, listed: text === 'true', at: fact.at });
  }
  if (record !== null) yield record;
}
