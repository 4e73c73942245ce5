// What consolidation is asked and what it answers: the shapes that its steps share.
import { createHash } from 'node:crypto';
import type { Attribute, Pack, Rule, Value } from '../../packs/define/model.ts';
import type { DisputeKind, FactReason, SourceKind } from '../model/record.ts';
import type { Listing } from './times.ts';

/** A fact as consolidation sees it. `at` is observed_at in milliseconds since 1970. */
export interface Statement {
  value: Value | null;
  source: string;
  source_kind: SourceKind;
  at: number;
  confidence: number;
  /** Set on a record's first value where it is far from this median of its group (build/release/group-medians.ts). */
  group_median?: number;
}

/** What a person decided about a review item: approve publishes the item's second fact, reject keeps the first. */
export interface Decision {
  status: 'approved' | 'rejected';
  /** Milliseconds since 1970; earlier moments are settled without it. */
  at: number;
}

/** What holds for the whole dataset. */
export interface Ground {
  dataset: string;
  consolidation: Pick<Pack['consolidation'], 'floor' | 'apart_days' | 'penalty'>;
  /** By source id; a source that the pack no longer has is trusted by nobody (0). */
  trust: ReadonlyMap<string, number>;
  /** Times of each source's readings, ascending, in milliseconds. */
  readings: ReadonlyMap<string, readonly number[]>;
  /** Versions of each source's readings by their time. */
  versions?: ReadonlyMap<string, ReadonlyMap<number, string>>;
}

/** One attribute of one record. */
export interface Question {
  entity: string;
  attribute: Attribute;
  /** Whether the record is recognised by this attribute: then sources cannot differ about it. */
  identity: boolean;
  /** Ascending by time; of two at the same time the later run's comes last. */
  statements: readonly Statement[];
  /** When each source listed the record, ascending by time. */
  listings: readonly Listing[];
  rule: Rule;
  /** What people decided about this attribute of this record, by review item id. */
  decisions: ReadonlyMap<string, Decision>;
}

export interface Dispute {
  id: string;
  kind: DisputeKind;
  /** Positions of the published statement and of the other one; of an outlier its own position twice. */
  statements: [number, number];
}

/** A held value that was confirmed: the review item that this closed, and when (milliseconds). */
export interface Confirmation extends Dispute {
  confirmed_at: number;
}

export interface Outcome {
  /** Position of the published statement, or -1. */
  winner: number;
  /** Confidence of the published value, 0..1, four decimals. */
  confidence: number;
  /** By position; undefined for statements made later than the moment asked about. */
  reasons: (FactReason | undefined)[];
  /** Undecided differences between the statements that stand. */
  disputes: Dispute[];
  /** Values that were held until something confirmed them. */
  confirmed: Confirmation[];
}

/** Facts of a dataset's own sources settle by this; `rule.trust` overrides it for one record. */
export function trustOf(question: Question, ground: Ground, source: string): number {
  return question.rule.trust?.[source] ?? ground.trust.get(source) ?? 0;
}

/** Trust by source id, as a pack gives it. */
export function trustOfSources({ sources }: Pick<Pack, 'sources'>): Map<string, number> {
  return new Map(sources.map(({ id, trust }) => [id, trust]));
}

/** Stable id of a review item, a UUID: a rebuild that finds the same difference opens the same item. */
export function disputeId(
  ground: Ground,
  question: Question,
  kind: Dispute['kind'],
  a: Statement,
  b: Statement,
): string {
  const facts = [a, b].map((each) => [each.source, each.at, each.value]);
  const told = JSON.stringify([ground.dataset, question.entity, question.attribute.name, kind, facts]);
  const hex = createHash('sha256').update(told).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Publishes the statement at a position. */
export function win(question: Question, outcome: Outcome, position: number, reason: FactReason): void {
  outcome.winner = position;
  outcome.confidence = round(question.statements[position]!.confidence);
  outcome.reasons[position] = reason;
}

/** Confidence as it is published: 0..1, four decimals. */
export const round = (confidence: number) => Math.round(Math.min(1, Math.max(0, confidence)) * 10_000) / 10_000;

/** Versions of readings by source and time; of two at one time the later in the list counts. */
export function versionsOf(
  readings: readonly { source: string; at: number; version: string }[],
): Map<string, Map<number, string>> {
  const versions = new Map<string, Map<number, string>>();
  for (const { source, at, version } of readings)
    versions.set(source, (versions.get(source) ?? new Map<number, string>()).set(at, version));
  return versions;
}
