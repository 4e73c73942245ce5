// History of a published value: settles one attribute at every time at which the outcome may change. Pure.

import type { ProvenanceStatus } from '../model/record.ts';
import { sameValue } from './same-value.ts';
import {
  type AttributeSettlement,
  type Confirmation,
  type ConsolidationContext,
  type Dispute,
  type SettlementInput,
  settle,
} from './settle.ts';
import { listedAt } from './times.ts';

/** A value is published from `from` (milliseconds) on; the newest of its spellings counts. */
export interface Period {
  from: number;
  /** Index of the statement with its newest spelling; -1: the value was withdrawn. */
  winner: number;
  /** Index of the statement that began it. */
  first: number;
}

export interface AttributeTimeline {
  /** Ascending; neighbours differ in value. Begins with the first publication; empty without one. */
  periods: Period[];
  /** The outcome as of now. */
  now: AttributeSettlement;
  /** Undecided differences whose two statements are still valid, with the time of the first difference. */
  disputes: (Dispute & { opened_at: number })[];
  /** Held values that were confirmed, with the time from which they were held. */
  confirmed: (Confirmation & { opened_at: number })[];
  /** Status of the published value; null: none, or set by the owner. */
  status: ProvenanceStatus | null;
}

/**
 * Settles one attribute as of now and at every earlier time of a possible change. A difference between
 * sources stays open until an operator decides it or one source changes its value, also when the newer
 * reading is published by now.
 */
export function timeline(input: SettlementInput, context: ConsolidationContext): AttributeTimeline {
  const { statements } = input;
  const now = settle(input, context, Number.POSITIVE_INFINITY);
  const periods: Period[] = [];
  if (statements.length === 1 && now.disputes.length === 0 && now.confirmed.length === 0) {
    if (now.winner === 0) periods.push({ from: statements[0]!.at, winner: 0, first: 0 });
    return { periods, now, disputes: [], confirmed: [], status: null };
  }
  const disputes = new Map<string, Dispute & { opened_at: number }>();
  let winner = -1;
  for (const { at, reading } of moments(input, context, now)) {
    // A repetition by the winner's own source changes nothing: the other sources only get older.
    if (reading !== null && winner >= 0 && statements[winner]!.source === reading) continue;
    const outcome = settle(input, context, at);
    for (const dispute of outcome.disputes)
      if (!disputes.has(dispute.id)) disputes.set(dispute.id, { ...dispute, opened_at: at });
    winner = outcome.winner;
    const last = periods.at(-1);
    if (winner < 0 ? last === undefined || last.winner < 0 : last !== undefined && same(input, last.winner, winner)) {
      if (last !== undefined) last.winner = winner;
      continue;
    }
    periods.push({ from: at, winner, first: winner });
  }
  for (const dispute of now.disputes)
    if (!disputes.has(dispute.id)) disputes.set(dispute.id, { ...dispute, opened_at: openedAt(input, dispute) });
  const open = [...disputes.values()].filter((dispute) => stillOpen(input, now, dispute));
  const confirmed = now.confirmed.map((confirmation) => ({
    ...confirmation,
    opened_at: openedAt(input, confirmation),
  }));
  return { periods, now, disputes: open, confirmed, status: statusOf(input, now, open) };
}

/** `held` takes precedence over `contested`. */
function statusOf(
  { statements }: SettlementInput,
  { winner }: AttributeSettlement,
  open: readonly Dispute[],
): ProvenanceStatus | null {
  if (winner < 0 || open.length === 0 || statements[winner]!.source_kind === 'owner') return null;
  return open.some(({ kind }) => kind !== 'conflict') ? 'held' : 'contested';
}

function same(input: SettlementInput, a: number, b: number): boolean {
  if (a < 0 || b < 0) return a === b;
  return sameValue(input.attribute, input.statements[a]!.value, input.statements[b]!.value);
}

function openedAt(input: SettlementInput, dispute: Dispute): number {
  return Math.max(...dispute.statements.map((statement) => input.statements[statement]!.at));
}

/** Both statements are the newest of sources that list the record, and there is no decision. */
function stillOpen(input: SettlementInput, now: AttributeSettlement, dispute: Dispute): boolean {
  if (input.decisions.has(dispute.id)) return false;
  if (dispute.kind !== 'conflict') return now.disputes.some((candidate) => candidate.id === dispute.id);
  const isOpen = (position: number) => {
    const reason = now.reasons[position];
    return (
      reason !== 'superseded' &&
      reason !== 'withdrawn' &&
      reason !== 'not_listed' &&
      reason !== 'owner_overrides' &&
      reason !== 'rejected'
    );
  };
  return dispute.statements.every(isOpen);
}

/**
 * Times at which the outcome may change: statements, decisions, confirmations of held values, and with
 * several sources also their readings and listings. `reading` is the source when nothing but a reading
 * happened.
 */
function moments(
  input: SettlementInput,
  context: ConsolidationContext,
  { confirmed }: AttributeSettlement,
): { at: number; reading: string | null }[] {
  const { statements, listings, attribute } = input;
  const times = new Map<number, string | null>();
  const first = new Map<string, number>();
  for (const statement of statements) {
    times.set(statement.at, null);
    if (!first.has(statement.source)) first.set(statement.source, statement.at);
  }
  for (const decision of input.decisions.values()) if (decision.at >= statements[0]!.at) times.set(decision.at, null);
  for (const { confirmed_at } of confirmed) times.set(confirmed_at, null);
  if (first.size > 1 && !attribute.once && !allEqual(input)) {
    for (const listing of listings) if (first.has(listing.source)) times.set(listing.at, null);
    for (const [source, since] of first) {
      for (const at of context.readings.get(source) ?? []) {
        if (at <= since || !listedAt(listings, source, at)) continue;
        times.set(at, times.has(at) ? null : source);
      }
    }
  }
  return [...times].map(([at, reading]) => ({ at, reading })).sort((a, b) => a.at - b.at);
}

/** All statements have the same value: readings and listings cannot change the published value. */
function allEqual(input: SettlementInput): boolean {
  const { statements } = input;
  const value = statements[0]!.value;
  return statements.every(
    (statement) =>
      statement.value !== null &&
      (statement.value === value || JSON.stringify(statement.value) === JSON.stringify(value)),
  );
}
