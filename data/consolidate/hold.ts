// Values that are held until something confirms them: jumps of a source, and first values far from their group (contract section 5). Pure.
import { isOutlier, jumps } from './compare.ts';
import { type Dispute, disputeId, type Ground, type Question } from './model.ts';
import { listedAt, readingsOf } from './times.ts';

/** What one source says up to a moment. */
export interface Voice {
  /** Position of its accepted statement, or -1. */
  accepted: number;
  /** Position of the last value accepted, also when it was withdrawn since: jumps are measured from it. -1: none. */
  last: number;
  held: Held | null;
  /** Median that its first values are compared with until one is accepted. */
  median: number | null;
}

/** The newest statement of a source, while it is not accepted. */
export interface Held extends Dispute {
  /** An operator rejected it. */
  rejected: boolean;
}

/** The review item of the value at a position, when it is a jump or an outlier; null: it is neither. */
export function doubt(question: Question, ground: Ground, voice: Voice, position: number): Dispute | null {
  const { attribute, statements } = question;
  const said = statements[position]!;
  if (voice.last >= 0) {
    const before = statements[voice.last]!;
    if (!jumps(attribute, before.value!, said.value!)) return null;
    const id = disputeId(ground, question, 'jump', before, said);
    return { id, kind: 'jump', statements: [voice.last, position] };
  }
  if (voice.median === null || !isOutlier(attribute, voice.median, said.value!)) return null;
  const id = disputeId(ground, question, 'outlier', said, said);
  return { id, kind: 'outlier', statements: [position, position] };
}

/** Whether the value at a position is close enough to the one that its source had said before and that waits: it is said a second time. */
export function repeats({ attribute, statements }: Question, { held }: Voice, position: number): boolean {
  if (held === null || held.rejected) return false;
  return !jumps(attribute, statements[held.statements[1]]!.value!, statements[position]!.value!);
}

/**
 * When the value at a position is first confirmed, in milliseconds, up to a moment; null: not yet. A later reading of its source that still
 * says so confirms it, and so does another source that says a value within the bound, then or later, while the source still says so.
 */
export function confirmedFrom(question: Question, ground: Ground, position: number, until: number): number | null {
  const { attribute, statements, listings } = question;
  const { source, value, at } = statements[position]!;
  const [reading] = readingsOf(question, ground.readings, position);
  const others = new Map<string, number>();
  let end = until;
  let first = reading !== undefined && reading <= until ? reading : null;
  for (const each of statements) {
    if (each.at > end) break;
    if (each.source_kind === 'owner') continue;
    if (each.source === source) {
      if (each.at > at) end = Math.min(end, each.at);
      continue;
    }
    if (each.value !== null && each.confidence < ground.consolidation.floor) continue;
    // Up to the moment of the value itself the last word of each source counts, then whatever one says.
    const close = each.value !== null && !jumps(attribute, value!, each.value);
    if (each.at <= at) others.set(each.source, close ? at : Number.POSITIVE_INFINITY);
    else if (close) first = Math.min(first ?? each.at, each.at);
  }
  for (const [other, from] of others) if (from === at && listedAt(listings, other, at)) first = at;
  return first;
}
