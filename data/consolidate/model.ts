// Inputs and outcomes of consolidation, which its steps share.
import { createHash } from 'node:crypto';
import type { Attribute, Pack, Rule, Value } from '../../packs/define/model.ts';
import type { DisputeKind, FactReason, SourceKind } from '../model/record.ts';
import type { Listing } from './times.ts';

/** A fact in consolidation. `at` is observed_at in milliseconds since 1970. */
export interface Statement {
  value: Value | null;
  source: string;
  source_kind: SourceKind;
  at: number;
  confidence: number;
  evidence?: string;
  /** For an outlier (first value of the record): the median of its group (build/release/group-medians.ts). */
  group_median?: number;
}

/** A decision about a review item: `approve` publishes the item's second fact, `reject` keeps the first. */
export interface Decision {
  status: 'approved' | 'rejected';
  /** Milliseconds since 1970; earlier times are settled without it. */
  at: number;
}

/** Data of the whole dataset. */
export interface ConsolidationContext {
  dataset: string;
  consolidation: Pick<Pack['consolidation'], 'floor' | 'apart_days' | 'penalty'>;
  /** Trust by source id; a source that the pack no longer has counts as 0. */
  trust: ReadonlyMap<string, number>;
  /** Times of readings by source, ascending, in milliseconds. */
  readings: ReadonlyMap<string, readonly number[]>;
  /** Versions of readings by source and time. */
  versions?: ReadonlyMap<string, ReadonlyMap<number, string>>;
}

/** One attribute of one record. */
export interface SettlementInput {
  entity: string;
  attribute: Attribute;
  /** Whether the attribute identifies the record: then sources cannot differ about it. */
  identity: boolean;
  /** Ascending by time; of two at one time the later run's is last. */
  statements: readonly Statement[];
  /** Listings of the record by source, ascending by time. */
  listings: readonly Listing[];
  rule: Rule;
  /** Decisions about this attribute of this record, by review item id. */
  decisions: ReadonlyMap<string, Decision>;
}

export interface Dispute {
  id: string;
  kind: DisputeKind;
  /** Indices of the published statement and the other one; for an outlier its own index twice. */
  statements: [number, number];
}

/** A held value that was confirmed: the closed review item, and the time (milliseconds). */
export interface Confirmation extends Dispute {
  confirmed_at: number;
}

export interface AttributeSettlement {
  /** Index of the published statement, or -1. */
  winner: number;
  /** Confidence of the published value, 0..1, four decimals. */
  confidence: number;
  /** By index; undefined for statements after the requested time. */
  reasons: (FactReason | undefined)[];
  /** Undecided differences between the valid statements. */
  disputes: Dispute[];
  /** Values that were held until they were confirmed. */
  confirmed: Confirmation[];
}

/** Trust in a source for one record: `rule.trust` overrides the trust of the dataset. */
export function trustOf(input: SettlementInput, context: ConsolidationContext, source: string): number {
  return input.rule.trust?.[source] ?? context.trust.get(source) ?? 0;
}

/** Trust by source id, from the pack. */
export function trustOfSources({ sources }: Pick<Pack, 'sources'>): Map<string, number> {
  return new Map(sources.map(({ id, trust }) => [id, trust]));
}

/** Stable UUID of a review item: a rebuild with the same difference opens the same item. */
export function disputeId(
  context: ConsolidationContext,
  input: SettlementInput,
  kind: Dispute['kind'],
  a: Statement,
  b: Statement,
): string {
  const facts = [a, b].map(({ source, at, value }) => [source, at, value]);
  const identity = JSON.stringify([context.dataset, input.entity, input.attribute.name, kind, facts]);
  const hex = createHash('sha256').update(identity).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Publishes the statement at an index. */
export function publishStatement(
  input: SettlementInput,
  outcome: AttributeSettlement,
  position: number,
  reason: FactReason,
): void {
  outcome.winner = position;
  outcome.confidence = roundConfidence(input.statements[position]!.confidence);
  outcome.reasons[position] = reason;
}

/** Rounds a confidence to 0..1 with four decimals. */
export const roundConfidence = (confidence: number) =>
  Math.round(Math.min(1, Math.max(0, confidence)) * 10_000) / 10_000;

/** Versions of readings by source and time; of two at one time the last in the list counts. */
export function versionsOf(
  readings: readonly { source: string; at: number; version: string }[],
): Map<string, Map<number, string>> {
  const versions = new Map<string, Map<number, string>>();
  for (const { source, at, version } of readings)
    versions.set(source, (versions.get(source) ?? new Map<number, string>()).set(at, version));
  return versions;
}
