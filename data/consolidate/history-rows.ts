// Rows of history and review items from the settled course of an attribute.
import type { Attribute } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import type { Fact } from '../model/record.ts';
import { isoTime } from '../model/time.ts';
import { bounds } from './compare.ts';
import { unpublishedEntries } from './engine-values.ts';
import type { Period } from './history.ts';
import type { Statement } from './settle.ts';

/** A statement with its source data. `json` is the text of its value. */
export interface SourcedStatement extends Statement {
  source_url: string;
  evidence: string;
  run: string;
  json: string;
}

/**
 * A row of history from `value` on; values as JSON text, times in milliseconds (HISTORY_LINES in
 * data/write/tables.ts).
 */
export type HistoryCells = [
  value: string | null,
  old_value: string | null,
  min: number | null,
  max: number | null,
  from: number,
  to: number | null,
  source_url: string,
  source: string | null,
  confidence: number | null,
];

/** The history rows of one attribute, oldest first. */
export function historyCells(
  attribute: Attribute,
  facts: readonly SourcedStatement[],
  periods: readonly Period[],
): HistoryCells[] {
  let old: string | null = null;
  return periods.map(({ from, winner, first }, i) => {
    const fact = winner < 0 ? null : facts[winner]!;
    const ends = fact?.value != null && NUMERIC.includes(attribute.type) ? bounds(fact.value) : null;
    const cut = unpublishedEntries(attribute, fact?.value ?? null);
    const json = cut === null ? (fact?.json ?? null) : JSON.stringify(cut.published);
    // For a withdrawal the address of the newest statement.
    const began = facts[first] ?? facts.findLast((sourcedStatement) => sourcedStatement.at <= from);
    const cells: HistoryCells = [
      json,
      old,
      ends?.min ?? null,
      ends?.max ?? null,
      from,
      periods[i + 1]?.from ?? null,
      began?.source_url ?? '',
      began?.source ?? null,
      began?.confidence ?? null,
    ];
    old = json;
    return cells;
  });
}

/** Distinct facts of a review item, the published one first; for an outlier only the held one. */
export function itemStatements<T>(facts: readonly T[], [first, second]: readonly [number, number]): T[] {
  return first === second ? [facts[first]!] : [facts[first]!, facts[second]!];
}

/** JSON text of the facts of a review item, as in contract section 2. */
export function reviewFacts(entity: string, attribute: string, facts: readonly SourcedStatement[]): string {
  const rows: Fact[] = facts.map(({ value, source, source_url, at, confidence, evidence, source_kind, run }) => ({
    entity,
    attribute,
    value,
    source,
    source_url,
    observed_at: isoTime(at),
    confidence,
    evidence,
    source_kind,
    run,
  }));
  return JSON.stringify(rows);
}
