// Settles one record from its facts, as of a time or now: for `as_of` and for overlays.
import { comparedText } from '../../packs/define/digits.ts';
import type { Attribute, Identity, Pack, Value } from '../../packs/define/model.ts';
import { lineText } from '../../packs/define/text.ts';
import { fitsType } from '../consolidate/compare.ts';
import { confirmedSource } from '../consolidate/confirmed-source.ts';
import { type Unpublished, unpublishedEntries } from '../consolidate/engine-values.ts';
import { timeline } from '../consolidate/history.ts';
import { historyCells, type SourcedStatement } from '../consolidate/history-rows.ts';
import { type ScoredValue, scoreRecord } from '../consolidate/quality.ts';
import { type ConsolidationContext, type Decision, trustOfSources, versionsOf } from '../consolidate/settle.ts';
import type { SettledAttribute } from '../consolidate/states.ts';
import { confirmedAt } from '../consolidate/times.ts';
import type { Provenance, StoredRecord } from '../model/record.ts';
import { isoTime } from '../model/time.ts';
import type { HistoryRow } from './applied-overlay.ts';
import type { FactRow, Past, PastRecord } from './history.ts';

const HOUR = 3_600_000;
const UNDECIDED: ReadonlyMap<string, Decision> = new Map();

export interface SettledPast {
  /** null: nothing is published. `updated_at` is the observation time of its newest value change. */
  record: StoredRecord | null;
  /** Attributes that have any facts, in the order of the pack. */
  attributes: SettledAttribute[];
  /** Entries of its lists that are searchable and not published. */
  unpublished: Unpublished;
}

/** The readings up to a time (milliseconds; Infinity: all). */
export function contextAt(pack: Pack, readings: Past['readings'], at: number): ConsolidationContext {
  const bySource = Map.groupBy(
    readings.filter((reading) => reading.at <= at),
    ({ source }) => source,
  );
  return {
    dataset: pack.id,
    consolidation: pack.consolidation,
    trust: trustOfSources(pack),
    readings: new Map([...bySource].map(([source, list]) => [source, list.map((reading) => reading.at)])),
    versions: versionsOf(readings),
  };
}

/** Settles a record as of a time; later facts, readings, listings and decisions are ignored. */
export function settlePast(pack: Pack, past: PastRecord, context: ConsolidationContext, at: number): SettledPast {
  const identity = JSON.parse(past.identity) as Identity;
  const listings = past.listings.filter((listing) => listing.at <= at);
  const rule = pack.consolidation.rule(identity);
  const facts = Map.groupBy(
    past.facts.filter((fact) => fact.observed_at <= at),
    ({ attribute }) => attribute,
  );
  const newest = Math.max(0, ...[...context.readings.values()].map((times) => times.at(-1) ?? 0));
  const settled: SettledAttribute[] = [];
  const values: Record<string, Value> = {};
  const provenance: Record<string, Provenance> = {};
  const present: ScoredValue[] = [];
  const unpublished: Record<string, string[]> = {};
  let updated = 0;
  for (const attribute of pack.attributes) {
    const statements = statementsOf(facts.get(attribute.name) ?? [], attribute);
    if (statements.length === 0) continue;
    const decided = past.decided.filter(
      (decidedItem) => decidedItem.attribute === attribute.name && decidedItem.at <= at,
    );
    const input = {
      entity: past.id,
      attribute,
      identity: pack.identity.attributes.includes(attribute.name),
      statements,
      listings,
      rule,
      decisions:
        decided.length === 0 ? UNDECIDED : new Map(decided.map((decidedItem) => [decidedItem.id, decidedItem])),
    };
    const course = timeline(input, context);
    settled.push({ attribute, input, timeline: course });
    const { periods, now, status } = course;
    updated = Math.max(updated, periods.at(-1)?.from ?? 0);
    if (now.winner < 0) continue;
    const winner = statements[now.winner]!;
    const cut = unpublishedEntries(attribute, winner.value);
    if (cut !== null) unpublished[attribute.name] = cut.rest;
    const confirmed = confirmedAt(input, context.readings, now.winner, at);
    const { confidence } = now;
    values[attribute.name] = cut?.published ?? winner.value!;
    const { source_url, evidence } = confirmedSource(pack, winner, context, confirmed);
    provenance[attribute.name] = {
      source_url,
      observed_at: isoTime(confirmed),
      confidence,
      evidence,
      source: { kind: winner.source_kind },
      ...(status === null ? {} : { status }),
    };
    present.push({ attribute, confidence, age: Math.max(0, (newest - confirmed) / HOUR) });
  }
  if (present.length === 0) return { record: null, attributes: settled, unpublished };
  const { quality, completeness } = scoreRecord(pack, present);
  const record = {
    id: past.id,
    slug: past.slug,
    name: lineText(pack.identity.name(identity, values)) || past.slug,
    dataset: pack.id,
    updated_at: isoTime(updated),
    attributes: values,
    provenance,
    quality_score: quality,
    completeness,
    verified_owner: [...facts.values()].flat().some(({ source_kind }) => source_kind === 'owner'),
  };
  return { record, attributes: settled, unpublished };
}

/** The published values of a settled record over time: by attribute, oldest first. */
export function settledHistory({ attributes }: Pick<SettledPast, 'attributes'>): HistoryRow[] {
  return attributes.flatMap(({ attribute, input, timeline: { periods } }) =>
    historyCells(attribute, input.statements, periods).map((cells) => ({ attribute: attribute.name, cells })),
  );
}

/** Facts as statements, without those whose value no longer fits the type of the attribute, as in a build. */
function statementsOf(facts: readonly FactRow[], attribute: Attribute): SourcedStatement[] {
  return facts
    .map((fact) => {
      const {
        value: json,
        observed_at: at,
        source,
        source_kind,
        source_url,
        evidence,
        confidence,
        run,
        group_median,
      } = fact;
      const text = json === null ? 'null' : comparedText(attribute, json);
      const value = JSON.parse(text) as Value | null;
      const statement = { at, value, json: text, source, source_kind, source_url, evidence, confidence, run };
      return group_median === null ? statement : { ...statement, group_median };
    })
    .filter(({ value }) => fitsType(attribute, value));
}
