// The states of a record over time: what a release built from the facts up to each moment would publish of it. Pure.
import type { Attribute, Pack } from '../../packs/define/model.ts';
import type { AttributeTimeline } from './history.ts';
import type { SourcedStatement } from './history-rows.ts';
import { type ScoredValue, scoreRecord } from './quality.ts';
import { type ConsolidationContext, type SettlementInput, settle } from './settle.ts';
import { confirmedAt } from './times.ts';

/** One attribute of a settled record. */
export interface SettledAttribute {
  attribute: Attribute;
  input: Omit<SettlementInput, 'statements'> & { statements: readonly SourcedStatement[] };
  timeline: AttributeTimeline;
}

/** A state of a record, from `since` to `until` (milliseconds; null: it is the current one). */
export interface RecordState {
  since: number;
  until: number | null;
  /** Time of the last change of a value. */
  updated: number;
  quality: number;
  /** Index of the published statement of each settled attribute; -1: no value. */
  winners: readonly number[];
}

const HOUR = 3_600_000;

/**
 * The states of a record in which something is published, oldest first; neighbours differ. `readingTimes`: the times
 * of all readings of the dataset, ascending: between two moments of them, of the statements, listings and decisions
 * nothing changes.
 */
export function recordStates(
  pack: Pack,
  attributes: readonly SettledAttribute[],
  context: ConsolidationContext,
  readingTimes: readonly number[],
): RecordState[] {
  const states: RecordState[] = [];
  let newest = 0;
  let next = 0;
  const times = moments(attributes, readingTimes);
  for (let i = 0; i < times.length; i++) {
    const at = times[i]!;
    const newestState = states.at(-1);
    const state = newestState?.until === null ? newestState : null;
    while (next < readingTimes.length && readingTimes[next]! <= at) newest = readingTimes[next++]!;
    const last = i === times.length - 1;
    const winners = new Array<number>(attributes.length);
    const present: ScoredValue[] = [];
    let updated = 0;
    for (let k = 0; k < attributes.length; k++) {
      const { attribute, input, timeline } = attributes[k]!;
      const { winner, confidence } = last ? timeline.now : outcomeAt(attributes[k]!, context, at);
      winners[k] = winner;
      const { periods } = timeline;
      for (let p = periods.length - 1; p >= 0; p--) {
        if (periods[p]!.from > at) continue;
        if (periods[p]!.from > updated) updated = periods[p]!.from;
        break;
      }
      if (winner < 0) continue;
      const age = Math.max(0, (newest - confirmedAt(input, context.readings, winner, at)) / HOUR);
      present.push({ attribute, confidence, age });
    }
    if (present.length === 0) {
      if (state) state.until = at;
      continue;
    }
    const { quality } = scoreRecord(pack, present);
    if (state?.quality === quality && state.updated === updated && sameValues(attributes, state.winners, winners))
      continue;
    if (state) state.until = at;
    states.push({ since: at, until: null, updated, quality, winners });
  }
  return states;
}

const NOTHING = { winner: -1, confidence: 0 };

/** The published statement at a time. One undisputed statement needs no settlement. */
function outcomeAt(
  { input, timeline: { now, periods, disputes, confirmed } }: SettledAttribute,
  context: ConsolidationContext,
  at: number,
) {
  const { statements } = input;
  if (statements[0]!.at > at) return NOTHING;
  const single = statements.length === 1 && disputes.length === 0 && confirmed.length === 0 && periods.length < 2;
  return single ? now : settle(input, context, at);
}

function sameValues(attributes: readonly SettledAttribute[], a: readonly number[], b: readonly number[]): boolean {
  return attributes.every(
    ({ input: { statements } }, k) => a[k] === b[k] || statements[a[k]!]?.json === statements[b[k]!]?.json,
  );
}

/** Times at which a record may change, ascending. */
function moments(attributes: readonly SettledAttribute[], readingTimes: readonly number[]): number[] {
  const times = new Set(readingTimes);
  for (const { input } of attributes) {
    for (const { at } of input.statements) times.add(at);
    for (const { at } of input.decisions.values()) times.add(at);
  }
  for (const { at } of attributes[0]?.input.listings ?? []) times.add(at);
  const first = Math.min(...attributes.map(({ input }) => input.statements[0]?.at ?? Number.POSITIVE_INFINITY));
  return [...times].filter((at) => at >= first).sort((a, b) => a - b);
}
