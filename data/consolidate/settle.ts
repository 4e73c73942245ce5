// Settles one attribute of a record: selects the published fact, and the reason of each (contract section 5).
// Pure.

import type { FactReason } from '../model/record.ts';
import { isDisputable, isJump, isOutlier, isRangeFrom, valuesAgree } from './compare.ts';
import {
  type AttributeSettlement,
  type ConsolidationContext,
  type Dispute,
  disputeId,
  publishStatement,
  roundConfidence,
  type SettlementInput,
  trustOf,
} from './model.ts';
import { confirmedAt, listedAt, readingsOf } from './times.ts';

const DAY = 86_400_000;

/** A competing source. */
interface Contender {
  position: number;
  /** Its newest reading with the same value. */
  read: number;
  trust: number;
}

/**
 * Publishes one of the statements at `candidates`, the positions in `input.statements` of at least two
 * sources, as of `at` (milliseconds since 1970). Writes the winner, its confidence, the reasons and the
 * disputes to `outcome`. Decided conflicts are applied first.
 *
 * `input.rule.prefer` decides. `trust`: the most trusted source among those read within `apart_days` of the
 * newest reading; older ones do not count. `newest`: the newer reading. A less trusted source counts from its
 * first statement of the value: repeating it does not beat a newer statement of a more trusted source. When
 * the pick is a plain number that begins the range of a source with at least the same trust, the range is
 * published, since it has more information.
 */
function compete(
  input: SettlementInput,
  context: ConsolidationContext,
  at: number,
  candidates: number[],
  outcome: AttributeSettlement,
): void {
  const { attribute, statements, rule } = input;
  const contenders: Contender[] = decide(input, context, at, candidates, outcome).map((position) => ({
    position,
    read: confirmedAt(input, context.readings, position, at),
    trust: trustOf(input, context, statements[position]!.source),
  }));
  const byNewest = rule.prefer === 'newest';
  const winner = fuller(input, contenders, byNewest ? newest(input, contenders) : mostTrusted(contenders, context));
  const approved = outcome.reasons[winner.position] === 'approved';
  let doubt = 1 - statements[winner.position]!.confidence;
  let reason: FactReason = contenders.length > 1 ? 'agreed' : 'more_trusted';
  let disputed = false;
  for (const other of contenders) {
    if (other === winner) continue;
    const { position } = other;
    if (valuesAgree(attribute, statements[winner.position]!.value!, statements[position]!.value!)) {
      doubt *= 1 - statements[position]!.confidence;
      outcome.reasons[position] = 'agreed';
      continue;
    }
    const older = byNewest ? other.read < winner.read : isOld(other, contenders, context);
    outcome.reasons[position] = older ? 'older_reading' : 'less_trusted';
    if (!older) reason = 'more_trusted';
    else if (reason !== 'more_trusted') reason = 'newer_reading';
    if (older || byNewest || input.identity || !isDisputable(attribute)) continue;
    disputed = true;
    const id = disputeId(context, input, 'conflict', statements[winner.position]!, statements[position]!);
    outcome.disputes.push({ id, kind: 'conflict', statements: [winner.position, position] });
  }
  publishStatement(input, outcome, winner.position, approved ? 'approved' : reason);
  outcome.confidence = roundConfidence(1 - doubt - (disputed ? context.consolidation.penalty : 0));
}

function isOld({ read }: Contender, contenders: readonly Contender[], context: ConsolidationContext): boolean {
  return read < Math.max(...contenders.map((contender) => contender.read)) - context.consolidation.apart_days * DAY;
}

function mostTrusted(contenders: readonly Contender[], context: ConsolidationContext): Contender {
  const recent = contenders.filter((contender) => !isOld(contender, contenders, context));
  return recent.sort((a, b) => b.trust - a.trust || b.read - a.read)[0]!;
}

function newest({ statements }: SettlementInput, contenders: readonly Contender[]): Contender {
  const best = Math.max(...contenders.map(({ trust }) => trust));
  const since = ({ trust, read, position }: Contender) => (trust === best ? read : statements[position]!.at);
  return [...contenders].sort((a, b) => since(b) - since(a) || b.trust - a.trust)[0]!;
}

/**
 * The pick, or the most trusted source with a range that begins at its number. The age of the range does not
 * matter: the pick confirms it.
 */
function fuller(
  { attribute, statements }: SettlementInput,
  contenders: readonly Contender[],
  pick: Contender,
): Contender {
  const value = (contender: Contender) => statements[contender.position]!.value!;
  const ranges = contenders.filter(
    (contender) => contender.trust >= pick.trust && isRangeFrom(attribute, value(contender), value(pick)),
  );
  return ranges.sort((a, b) => b.trust - a.trust || b.read - a.read)[0] ?? pick;
}

/** Applies decided conflicts: the rejected statement no longer competes. */
function decide(
  input: SettlementInput,
  context: ConsolidationContext,
  at: number,
  candidates: number[],
  outcome: AttributeSettlement,
): number[] {
  if (input.decisions.size === 0) return candidates;
  const out = new Set<number>();
  for (const kept of candidates) {
    for (const other of candidates) {
      if (kept === other) continue;
      const [a, b] = [input.statements[kept]!, input.statements[other]!];
      const decision = input.decisions.get(disputeId(context, input, 'conflict', a, b));
      if (!decision || decision.at > at) continue;
      out.add(decision.status === 'approved' ? kept : other);
      if (decision.status === 'approved') outcome.reasons[other] = 'approved';
    }
  }
  if (out.size === candidates.length) return candidates;
  for (const index of out) outcome.reasons[index] = 'rejected';
  return candidates.filter((candidate) => !out.has(candidate));
}

export {
  type AttributeSettlement,
  type Confirmation,
  type ConsolidationContext,
  type Decision,
  type Dispute,
  type SettlementInput,
  type Statement,
  trustOfSources,
  versionsOf,
} from './model.ts';

/**
 * Settles one attribute of one record as of a time (milliseconds since 1970; Infinity: now).
 *
 * @example
 * ```ts
 * const { winner, confidence, reasons } = settle(input, context, Number.POSITIVE_INFINITY);
 * const value = input.statements[winner]?.value;
 * ```
 */
export function settle(input: SettlementInput, context: ConsolidationContext, at: number): AttributeSettlement {
  const { statements } = input;
  const outcome: AttributeSettlement = {
    winner: -1,
    confidence: 0,
    reasons: new Array(statements.length),
    disputes: [],
    confirmed: [],
  };
  const only = statements.length === 1 ? statements[0]! : null;
  const plain = only?.source_kind === 'collector' && only.value !== null && only.group_median === undefined;
  if (plain && only.at <= at) {
    if (only.confidence < context.consolidation.floor) outcome.reasons[0] = 'below_floor';
    else publishStatement(input, outcome, 0, 'only_source');
    return outcome;
  }
  let candidates = currentStatements(input, context, at, outcome);
  candidates = ownerFirst(input, candidates, outcome);
  if (!input.attribute.once) candidates = listedFirst(input, at, candidates, outcome);
  if (candidates.length === 1)
    publishStatement(input, outcome, candidates[0]!, outcome.reasons[candidates[0]!] ?? 'only_source');
  else if (candidates.length > 1 && input.attribute.once) earliest(input, context, candidates, outcome);
  else if (candidates.length > 1) compete(input, context, at, candidates, outcome);
  return outcome;
}

/**
 * The current statement of each source at a time, after floor, withdrawals and held values: at most one index
 * per source.
 */
function currentStatements(
  input: SettlementInput,
  context: ConsolidationContext,
  at: number,
  outcome: AttributeSettlement,
): number[] {
  const { attribute, statements } = input;
  const { reasons } = outcome;
  const voices = new Map<string, Voice>();
  for (let position = 0; position < statements.length; position++) {
    const { at: statedAt, value, source, source_kind, confidence, group_median } = statements[position]!;
    if (statedAt > at) break;
    const owner = source_kind === 'owner';
    if (value !== null && !owner && confidence < context.consolidation.floor) {
      reasons[position] = 'below_floor';
      continue;
    }
    const speaker = owner ? '@owner' : source;
    const voice = voices.get(speaker) ?? { accepted: -1, last: -1, held: null, median: null };
    voices.set(speaker, voice);
    if (attribute.once && voice.accepted >= 0) {
      reasons[position] = 'later';
      continue;
    }
    voice.median ??= group_median ?? null;
    const held = owner || value === null ? null : hold(input, context, voice, position, at, outcome);
    if (voice.held) reasons[voice.held.statements[1]] = 'superseded';
    voice.held = held;
    if (held) {
      reasons[position] = held.rejected ? 'rejected' : 'held';
      continue;
    }
    if (voice.accepted >= 0) reasons[voice.accepted] = 'superseded';
    if (value === null) reasons[position] = 'withdrawn';
    else voice.last = position;
    voice.accepted = value === null ? -1 : position;
  }
  const candidates: number[] = [];
  for (const { accepted, held } of voices.values()) {
    if (accepted >= 0) candidates.push(accepted);
    if (held?.rejected === false) outcome.disputes.push({ id: held.id, kind: held.kind, statements: held.statements });
  }
  return candidates;
}

/** The value at an index as a held one; null: accepted, and the closed item is added to the outcome. */
function hold(
  input: SettlementInput,
  context: ConsolidationContext,
  voice: Voice,
  position: number,
  at: number,
  { reasons, confirmed }: AttributeSettlement,
): Held | null {
  const doubted = doubt(input, context, voice, position);
  if (doubted === null) return null;
  const statement = input.statements[position]!;
  const decision = input.decisions.get(doubted.id);
  const status = decision !== undefined && decision.at <= at ? decision.status : null;
  if (status === 'approved') {
    reasons[position] = 'approved';
    return null;
  }
  if (status === 'rejected') return { ...doubted, rejected: true };
  if (repeats(input, voice, position)) {
    const { id, kind, statements } = voice.held!;
    confirmed.push({ id, kind, statements, confirmed_at: statement.at });
    return null;
  }
  const from = confirmedFrom(input, context, position, at);
  if (from === null) return { ...doubted, rejected: false };
  // A value confirmed at the time of its observation was never held.
  if (from > statement.at) confirmed.push({ ...doubted, confirmed_at: from });
  return null;
}

/** The statement of a verified owner beats every source. */
function ownerFirst(input: SettlementInput, candidates: number[], outcome: AttributeSettlement): number[] {
  const owner = candidates.find((position) => input.statements[position]!.source_kind === 'owner');
  if (owner === undefined) return candidates;
  for (const other of candidates) outcome.reasons[other] = 'owner_overrides';
  outcome.reasons[owner] = 'owner';
  return [owner];
}

/** A source that no longer lists the record counts only when no source lists it. */
function listedFirst(input: SettlementInput, at: number, candidates: number[], outcome: AttributeSettlement): number[] {
  if (candidates.length < 2) return candidates;
  const listed = candidates.filter((candidate) => listedAt(input.listings, input.statements[candidate]!.source, at));
  if (listed.length === 0) return candidates;
  for (const candidate of candidates) if (!listed.includes(candidate)) outcome.reasons[candidate] = 'not_listed';
  return listed;
}

/** Rule `once`: the earliest statement wins. */
function earliest(
  input: SettlementInput,
  context: ConsolidationContext,
  candidates: number[],
  outcome: AttributeSettlement,
): void {
  const trust = (position: number) => trustOf(input, context, input.statements[position]!.source);
  const order = [...candidates].sort(
    (a, b) => input.statements[a]!.at - input.statements[b]!.at || trust(b) - trust(a) || a - b,
  );
  for (const index of order) outcome.reasons[index] = 'later';
  publishStatement(input, outcome, order[0]!, 'earliest');
}

/** Statements of one source up to a time. */
interface Voice {
  /** Index of its accepted statement, or -1. */
  accepted: number;
  /** Index of the last accepted value, also if it was withdrawn since; jumps are relative to it. -1: none. */
  last: number;
  held: Held | null;
  /** Median to compare its first values with, until one is accepted. */
  median: number | null;
}

/** The newest statement of a source while it is not accepted. */
interface Held extends Dispute {
  /** An operator rejected it. */
  rejected: boolean;
}

/** The review item for the value at an index when it is a jump or an outlier; null: neither. */
function doubt(input: SettlementInput, context: ConsolidationContext, voice: Voice, position: number): Dispute | null {
  const { attribute, statements } = input;
  const statement = statements[position]!;
  if (voice.last >= 0) {
    const before = statements[voice.last]!;
    if (!isJump(attribute, before.value!, statement.value!)) return null;
    const id = disputeId(context, input, 'jump', before, statement);
    return { id, kind: 'jump', statements: [voice.last, position] };
  }
  if (voice.median === null || !isOutlier(attribute, voice.median, statement.value!)) return null;
  const id = disputeId(context, input, 'outlier', statement, statement);
  return { id, kind: 'outlier', statements: [position, position] };
}

/** Whether the value at an index is near the held value of its source, so that it repeats it. */
function repeats({ attribute, statements }: SettlementInput, { held }: Voice, position: number): boolean {
  if (held === null || held.rejected) return false;
  return !isJump(attribute, statements[held.statements[1]]!.value!, statements[position]!.value!);
}

/**
 * First confirmation of the value at an index, in milliseconds, up to a time; null: not confirmed. A later
 * reading of its source with this value confirms it, and so does another source with a value within the
 * bound, before or after, while the source still has the value.
 */
function confirmedFrom(
  input: SettlementInput,
  context: ConsolidationContext,
  position: number,
  until: number,
): number | null {
  const { attribute, statements, listings } = input;
  const { source, value, at } = statements[position]!;
  const [reading] = readingsOf(input, context.readings, position);
  const others = new Map<string, number>();
  let end = until;
  let first = reading !== undefined && reading <= until ? reading : null;
  for (const statement of statements) {
    if (statement.at > end) break;
    if (statement.source_kind === 'owner') continue;
    if (statement.source === source) {
      if (statement.at > at) end = Math.min(end, statement.at);
      continue;
    }
    if (statement.value !== null && statement.confidence < context.consolidation.floor) continue;
    // Before the time of the value only the newest statement of each source counts; afterwards every
    // statement.
    const close = statement.value !== null && !isJump(attribute, value!, statement.value);
    if (statement.at <= at) others.set(statement.source, close ? at : Number.POSITIVE_INFINITY);
    else if (close) first = Math.min(first ?? statement.at, statement.at);
  }
  for (const [other, from] of others) if (from === at && listedAt(listings, other, at)) first = at;
  return first;
}
