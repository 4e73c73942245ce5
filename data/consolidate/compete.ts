// Chooses between the values that several sources give one attribute of one record. Agreement raises the
// confidence of the published value; an undecided conflict lowers it and opens a review item.

import type { FactReason } from '../model/record.ts';
import { isDisputable, isRangeFrom, valuesAgree } from './compare.ts';
import {
  type AttributeSettlement,
  type ConsolidationContext,
  disputeId,
  publishStatement,
  roundConfidence,
  type SettlementInput,
  trustOf,
} from './model.ts';
import { confirmedAt } from './times.ts';

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
export function compete(
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
  return read < Math.max(...contenders.map((each) => each.read)) - context.consolidation.apart_days * DAY;
}

function mostTrusted(contenders: readonly Contender[], context: ConsolidationContext): Contender {
  const recent = contenders.filter((each) => !isOld(each, contenders, context));
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
  const value = (each: Contender) => statements[each.position]!.value!;
  const ranges = contenders.filter(
    (each) => each.trust >= pick.trust && isRangeFrom(attribute, value(each), value(pick)),
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
  for (const each of out) outcome.reasons[each] = 'rejected';
  return candidates.filter((each) => !out.has(each));
}
