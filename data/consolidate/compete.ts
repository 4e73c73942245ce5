// Competition of several sources: the pack's rule picks a value, agreement raises its confidence,
// disagreement lowers it and opens a review item.

import type { FactReason } from '../model/record.ts';
import { agrees, disputable, extendsFrom } from './compare.ts';
import { disputeId, type Ground, type Outcome, type Question, round, trustOf, win } from './model.ts';
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
 * Picks the winner among the statements of at least two sources, by the record's rule. `trust`: the most
 * trusted source among those read within `apart_days` of the newest reading; older ones do not count.
 * `newest`: the newer reading. A less trusted source counts from its first statement of the value: repeating
 * it does not beat a newer statement of a more trusted source. When the pick is a plain number that begins
 * the range of a source with at least the same trust, the range is published, since it has more information.
 */
export function compete(question: Question, ground: Ground, at: number, candidates: number[], outcome: Outcome): void {
  const { attribute, statements, rule } = question;
  const contenders: Contender[] = decide(question, ground, at, candidates, outcome).map((position) => ({
    position,
    read: confirmedAt(question, ground.readings, position, at),
    trust: trustOf(question, ground, statements[position]!.source),
  }));
  const byNewest = rule.prefer === 'newest';
  const winner = fuller(
    question,
    contenders,
    byNewest ? newest(question, contenders) : mostTrusted(contenders, ground),
  );
  const approved = outcome.reasons[winner.position] === 'approved';
  let doubt = 1 - statements[winner.position]!.confidence;
  let reason: FactReason = contenders.length > 1 ? 'agreed' : 'more_trusted';
  let disputed = false;
  for (const other of contenders) {
    if (other === winner) continue;
    const { position } = other;
    if (agrees(attribute, statements[winner.position]!.value!, statements[position]!.value!)) {
      doubt *= 1 - statements[position]!.confidence;
      outcome.reasons[position] = 'agreed';
      continue;
    }
    const older = byNewest ? other.read < winner.read : isOld(other, contenders, ground);
    outcome.reasons[position] = older ? 'older_reading' : 'less_trusted';
    if (!older) reason = 'more_trusted';
    else if (reason !== 'more_trusted') reason = 'newer_reading';
    if (older || byNewest || question.identity || !disputable(attribute)) continue;
    disputed = true;
    const id = disputeId(ground, question, 'conflict', statements[winner.position]!, statements[position]!);
    outcome.disputes.push({ id, kind: 'conflict', statements: [winner.position, position] });
  }
  win(question, outcome, winner.position, approved ? 'approved' : reason);
  outcome.confidence = round(1 - doubt - (disputed ? ground.consolidation.penalty : 0));
}

function isOld({ read }: Contender, contenders: readonly Contender[], ground: Ground): boolean {
  return read < Math.max(...contenders.map((each) => each.read)) - ground.consolidation.apart_days * DAY;
}

function mostTrusted(contenders: readonly Contender[], ground: Ground): Contender {
  const recent = contenders.filter((each) => !isOld(each, contenders, ground));
  return recent.sort((a, b) => b.trust - a.trust || b.read - a.read)[0]!;
}

function newest({ statements }: Question, contenders: readonly Contender[]): Contender {
  const best = Math.max(...contenders.map(({ trust }) => trust));
  const since = ({ trust, read, position }: Contender) => (trust === best ? read : statements[position]!.at);
  return [...contenders].sort((a, b) => since(b) - since(a) || b.trust - a.trust)[0]!;
}

/**
 * The pick, or the most trusted source with a range that begins at its number. The age of the range does not
 * matter: the pick confirms it.
 */
function fuller({ attribute, statements }: Question, contenders: readonly Contender[], pick: Contender): Contender {
  const value = (each: Contender) => statements[each.position]!.value!;
  const ranges = contenders.filter(
    (each) => each.trust >= pick.trust && extendsFrom(attribute, value(each), value(pick)),
  );
  return ranges.sort((a, b) => b.trust - a.trust || b.read - a.read)[0] ?? pick;
}

/** Applies decided conflicts: the rejected statement no longer competes. */
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
