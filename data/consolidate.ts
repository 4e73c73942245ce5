// Settles what a record says: which of the competing facts of one attribute is published, and why (contract section 5). Pure.
import { createHash } from 'node:crypto';
import type { Attribute, Pack, Rule, Value } from '../packs/model.ts';
import { agrees, disputable, jumps } from './consolidate-compare.ts';
import { confirmedAt, type Listing, listedAt } from './consolidate-times.ts';
import type { FactReason, ReviewItem, SourceKind } from './model.ts';

/** A fact as consolidation sees it. `at` is observed_at in milliseconds since 1970. */
export interface Statement {
  value: Value | null;
  source: string;
  source_kind: SourceKind;
  at: number;
  confidence: number;
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
  kind: ReviewItem['kind'];
  /** Positions of the published statement and of the other one. */
  statements: [number, number];
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
}

const DAY = 86_400_000;

/** Facts of a dataset's own sources settle by this; `rule.trust` overrides it for one record. */
export function trustOf(question: Question, ground: Ground, source: string): number {
  return question.rule.trust?.[source] ?? ground.trust.get(source) ?? 0;
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

/** Settles one attribute of one record as of a moment (milliseconds since 1970; Infinity: as of all that is known). */
export function settle(question: Question, ground: Ground, at: number): Outcome {
  const { statements } = question;
  const outcome: Outcome = { winner: -1, confidence: 0, reasons: new Array(statements.length), disputes: [] };
  const only = statements.length === 1 ? statements[0]! : null;
  if (only && only.value !== null && only.source_kind === 'collector' && only.at <= at) {
    if (only.confidence < ground.consolidation.floor) outcome.reasons[0] = 'below_floor';
    else win(question, outcome, 0, 'only_source');
    return outcome;
  }
  let candidates = standing(question, ground, at, outcome);
  candidates = ownerFirst(question, candidates, outcome);
  if (!question.attribute.once) candidates = listedFirst(question, at, candidates, outcome);
  if (candidates.length === 1) win(question, outcome, candidates[0]!, outcome.reasons[candidates[0]!] ?? 'only_source');
  else if (candidates.length > 1 && question.attribute.once) earliest(question, ground, candidates, outcome);
  else if (candidates.length > 1) compete(question, ground, at, candidates, outcome);
  return outcome;
}

function win(question: Question, outcome: Outcome, position: number, reason: FactReason): void {
  outcome.winner = position;
  outcome.confidence = round(question.statements[position]!.confidence);
  outcome.reasons[position] = reason;
}

const round = (confidence: number) => Math.round(Math.min(1, Math.max(0, confidence)) * 10_000) / 10_000;

/** What one source says at a moment: its accepted statement, and the jump that waits for a person, if one does. */
interface Voice {
  accepted: number;
  /** The last value accepted, also when it was withdrawn since: jumps are measured from it. */
  last: number;
  held: Dispute | null;
}

/** Within each source: what it says at that moment, after floor, withdrawals and jumps. At most one position a source. */
function standing(question: Question, ground: Ground, at: number, outcome: Outcome): number[] {
  const { attribute, statements } = question;
  const { reasons } = outcome;
  const voices = new Map<string, Voice>();
  for (let position = 0; position < statements.length; position++) {
    const { at: said, value, source, source_kind, confidence } = statements[position]!;
    if (said > at) break;
    const owner = source_kind === 'owner';
    if (value !== null && !owner && confidence < ground.consolidation.floor) {
      reasons[position] = 'below_floor';
      continue;
    }
    const speaker = owner ? '@owner' : source;
    const voice = voices.get(speaker) ?? { accepted: -1, last: -1, held: null };
    voices.set(speaker, voice);
    if (attribute.once && voice.accepted >= 0) {
      reasons[position] = 'later';
      continue;
    }
    if (voice.held) reasons[voice.held.statements[1]] = 'superseded';
    voice.held = null;
    if (!owner && voice.last >= 0 && value !== null && jumps(attribute, statements[voice.last]!.value!, value)) {
      const id = disputeId(ground, question, 'jump', statements[voice.last]!, statements[position]!);
      const decision = question.decisions.get(id);
      const status = decision !== undefined && decision.at <= at ? decision.status : null;
      if (status !== 'approved') {
        reasons[position] = status === 'rejected' ? 'rejected' : 'held';
        voice.held = { id, kind: 'jump', statements: [voice.last, position] };
        continue;
      }
      reasons[position] = 'approved';
    }
    if (voice.accepted >= 0) reasons[voice.accepted] = 'superseded';
    if (value === null) reasons[position] = 'withdrawn';
    else voice.last = position;
    voice.accepted = value === null ? -1 : position;
  }
  const candidates: number[] = [];
  for (const { accepted, held } of voices.values()) {
    if (accepted >= 0) candidates.push(accepted);
    if (held && reasons[held.statements[1]] === 'held') outcome.disputes.push(held);
  }
  return candidates;
}

/** A verified owner's word stands above every source. */
function ownerFirst(question: Question, candidates: number[], outcome: Outcome): number[] {
  const owner = candidates.find((position) => question.statements[position]!.source_kind === 'owner');
  if (owner === undefined) return candidates;
  for (const other of candidates) outcome.reasons[other] = 'owner_overrides';
  outcome.reasons[owner] = 'owner';
  return [owner];
}

/** A source that no longer lists the record speaks only where no source that lists it does. */
function listedFirst(question: Question, at: number, candidates: number[], outcome: Outcome): number[] {
  if (candidates.length < 2) return candidates;
  const listed = candidates.filter((each) => listedAt(question.listings, question.statements[each]!.source, at));
  if (listed.length === 0) return candidates;
  for (const each of candidates) if (!listed.includes(each)) outcome.reasons[each] = 'not_listed';
  return listed;
}

/** `once`: the first to have said it. */
function earliest(question: Question, ground: Ground, candidates: number[], outcome: Outcome): void {
  const trust = (position: number) => trustOf(question, ground, question.statements[position]!.source);
  const order = [...candidates].sort(
    (a, b) => question.statements[a]!.at - question.statements[b]!.at || trust(b) - trust(a) || a - b,
  );
  for (const each of order) outcome.reasons[each] = 'later';
  win(question, outcome, order[0]!, 'earliest');
}

/** Several sources speak: the pack's rule picks one, agreement strengthens it, disagreement weakens it and asks a person. */
function compete(question: Question, ground: Ground, at: number, candidates: number[], outcome: Outcome): void {
  const { attribute, statements, rule } = question;
  const { apart_days, penalty } = ground.consolidation;
  const left = decide(question, ground, at, candidates, outcome);
  const read = new Map(left.map((each) => [each, confirmedAt(question, ground.readings, each, at)]));
  const trust = (each: number) => trustOf(question, ground, statements[each]!.source);
  const newest = Math.max(...read.values());
  const contemporary = (each: number) => read.get(each)! >= newest - apart_days * DAY;
  const byTrust = (a: number, b: number) => trust(b) - trust(a) || read.get(b)! - read.get(a)!;
  const byReading = (a: number, b: number) => read.get(b)! - read.get(a)! || trust(b) - trust(a);
  const contenders = rule.prefer === 'newest' ? left : left.filter(contemporary);
  const winner = contenders.sort(rule.prefer === 'newest' ? byReading : byTrust)[0]!;
  const approved = outcome.reasons[winner] === 'approved';
  let doubt = 1 - statements[winner]!.confidence;
  let reason: FactReason = left.length > 1 ? 'agreed' : 'more_trusted';
  let disputed = false;
  for (const other of left) {
    if (other === winner) continue;
    if (agrees(attribute, statements[winner]!.value!, statements[other]!.value!)) {
      doubt *= 1 - statements[other]!.confidence;
      outcome.reasons[other] = 'agreed';
      continue;
    }
    const older = rule.prefer === 'newest' ? read.get(other)! < read.get(winner)! : !contemporary(other);
    outcome.reasons[other] = older ? 'older_reading' : 'less_trusted';
    if (!older) reason = 'more_trusted';
    else if (reason !== 'more_trusted') reason = 'newer_reading';
    if (older || rule.prefer === 'newest' || question.identity || !disputable(attribute)) continue;
    disputed = true;
    const id = disputeId(ground, question, 'conflict', statements[winner]!, statements[other]!);
    outcome.disputes.push({ id, kind: 'conflict', statements: [winner, other] });
  }
  win(question, outcome, winner, approved ? 'approved' : reason);
  outcome.confidence = round(1 - doubt - (disputed ? penalty : 0));
}

/** Applies decided conflicts: the statement that a person turned down no longer competes. */
function decide(question: Question, ground: Ground, at: number, candidates: number[], outcome: Outcome): number[] {
  if (question.decisions.size === 0) return candidates;
  const out = new Set<number>();
  for (const kept of candidates) {
    for (const other of candidates) {
      if (kept === other) continue;
      const [a, b] = [question.statements[kept]!, question.statements[other]!];
      const decision = question.decisions.get(disputeId(ground, question, 'conflict', a, b));
      if (!decision || decision.at > at) continue;
      out.add(decision.status === 'approved' ? kept : other);
      if (decision.status === 'approved') outcome.reasons[other] = 'approved';
    }
  }
  if (out.size === candidates.length) return candidates;
  for (const each of out) outcome.reasons[each] = 'rejected';
  return candidates.filter((each) => !out.has(each));
}
