// Time travel: records as their facts stood at an earlier moment, settled by the same functions that settle them for a release.
import type { Attribute, Identity, Pack, Value } from '../packs/model.ts';
import { clean } from '../packs/schema.ts';
import { type Decision, type Ground, type Question, type Statement, trustOfSources } from './consolidate.ts';
import { fits } from './consolidate-compare.ts';
import { course } from './consolidate-history.ts';
import { confirmedAt } from './consolidate-times.ts';
import { DataError } from './errors.ts';
import type { Provenance, PublicRecord, StoredRecord } from './model.ts';
import type { BatchInput } from './parse.ts';
import { shown } from './parse-values.ts';
import type { Asking } from './plan.ts';
import type { FactRow, Past, PastRecord } from './plan-history.ts';
import { type Presenting, present } from './present.ts';
import { type Present, scoreRecord } from './quality.ts';
import type { Release } from './release.ts';
import { isoTime } from './time.ts';

const HOUR = 3_600_000;
const UNDECIDED: ReadonlyMap<string, Decision> = new Map();

/** A record of which nothing was known at a moment is not there (404). */
export async function getRecordAsOf(
  release: Release,
  ref: string,
  { fields, at }: Pick<BatchInput, 'fields'> & { at: number },
  presenting: Presenting,
): Promise<PublicRecord> {
  const { items } = await getBatchAsOf(release, { ids: [ref], fields }, at, presenting);
  const [record] = items;
  if (record) return record;
  throw new DataError('unknown_entity', `${release.pack.id} knew no record "${shown(ref)}" as of ${isoTime(at)}.`);
}

/** Records as they stood, aged relative to that moment, in the order asked; `missing` also names those not yet known then. */
export async function getBatchAsOf(
  release: Release,
  { ids, fields }: Pick<BatchInput, 'ids' | 'fields'>,
  at: number,
  presenting: Presenting,
): Promise<{ items: PublicRecord[]; missing: string[] }> {
  const asking: Asking = presenting.signal ? { signal: presenting.signal } : {};
  const refs = ids.map((id) => id.toLowerCase());
  const ordinals = await release.engine.resolve(refs, asking);
  const known = [...new Set(ordinals.filter((ordinal) => ordinal !== null))];
  const records = await recordsAsOf(release, known, at, asking);
  const found = ordinals.map((ordinal) => (ordinal === null ? null : (records[known.indexOf(ordinal)] ?? null)));
  const then = { ...presenting, now: new Date(at) };
  return {
    items: found.filter((record) => record !== null).map((record) => present(record, release.pack, then, fields)),
    missing: ids.filter((_, index) => found[index] === null),
  };
}

/**
 * Records as of a moment (milliseconds since 1970), in the order of their ordinals; null for one of which nothing was published then.
 * Time is that of observation (contract section 5): what the sources' readings up to then say, whenever they were collected.
 */
export async function recordsAsOf(
  { engine, pack }: Pick<Release, 'engine' | 'pack'>,
  ordinals: number[],
  at: number,
  asking: Asking,
): Promise<(StoredRecord | null)[]> {
  const past = await engine.past(ordinals, asking);
  const ground = groundAt(pack, past.readings, at);
  const settled = new Map(past.records.map((record) => [record.ordinal, settleRecord(pack, record, ground, at)]));
  return ordinals.map((ordinal) => settled.get(ordinal) ?? null);
}

/** The readings up to a moment, which is all that was known then. */
function groundAt(pack: Pack, readings: Past['readings'], at: number): Ground {
  const known = Map.groupBy(
    readings.filter((each) => each.at <= at),
    ({ source }) => source,
  );
  return {
    dataset: pack.id,
    consolidation: pack.consolidation,
    trust: trustOfSources(pack),
    readings: new Map([...known].map(([source, each]) => [source, each.map((reading) => reading.at)])),
  };
}

/** A fact as consolidation takes it. */
type Said = Omit<FactRow, 'value'> & Statement;

/** A record as it would have been published then; `updated_at` is when its newest change of a value up to then was observed. */
function settleRecord(pack: Pack, past: PastRecord, ground: Ground, at: number): StoredRecord | null {
  const identity = JSON.parse(past.identity) as Identity;
  const listings = past.listings.filter((each) => each.at <= at);
  const rule = pack.consolidation.rule(identity);
  const facts = Map.groupBy(
    past.facts.filter((fact) => fact.observed_at <= at),
    ({ attribute }) => attribute,
  );
  const newest = Math.max(0, ...[...ground.readings.values()].map((times) => times.at(-1) ?? 0));
  const attributes: Record<string, Value> = {};
  const provenance: Record<string, Provenance> = {};
  const present: Present[] = [];
  let updated = 0;
  for (const attribute of pack.attributes) {
    const statements = said(facts.get(attribute.name) ?? [], attribute);
    if (statements.length === 0) continue;
    const question: Question = {
      entity: past.id,
      attribute,
      identity: pack.identity.attributes.includes(attribute.name),
      statements,
      listings,
      rule,
      decisions: UNDECIDED,
    };
    const { periods, now } = course(question, ground);
    updated = Math.max(updated, periods.at(-1)?.from ?? 0);
    if (now.winner < 0) continue;
    const { value, source_url, evidence, source_kind: kind } = statements[now.winner]!;
    const confirmed = confirmedAt(question, ground.readings, now.winner, at);
    const { confidence } = now;
    attributes[attribute.name] = value!;
    provenance[attribute.name] = {
      source_url,
      observed_at: isoTime(confirmed),
      confidence,
      evidence,
      source: { kind },
    };
    present.push({ attribute, confidence, age: Math.max(0, (newest - confirmed) / HOUR) });
  }
  if (present.length === 0) return null;
  const { quality, completeness } = scoreRecord(pack, present);
  return {
    id: past.id,
    slug: past.slug,
    name: clean(pack.identity.name(identity, attributes)) || past.slug,
    dataset: pack.id,
    updated_at: isoTime(updated),
    attributes,
    provenance,
    quality_score: quality,
    completeness,
    verified_owner: [...facts.values()].flat().some(({ source_kind }) => source_kind === 'owner'),
  };
}

/** Facts as statements; those whose value is no longer of the attribute's type count for nothing, as in a build. */
function said(facts: readonly FactRow[], attribute: Attribute): Said[] {
  return facts
    .map((fact) => {
      const value = fact.value === null ? null : (JSON.parse(fact.value) as Value);
      return { ...fact, at: fact.observed_at, value };
    })
    .filter(({ value }) => fits(attribute, value));
}
