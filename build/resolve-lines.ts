// How the course of an attribute and the facts of a review item are written down.
import { bounds } from '../data/consolidate-compare.ts';
import type { Period } from '../data/consolidate-history.ts';
import type { Fact } from '../data/model.ts';
import { isoTime } from '../data/time.ts';
import type { Attribute } from '../packs/model.ts';
import { NUMERIC } from '../packs/schema.ts';
import type { StoredFact } from './resolve-facts.ts';

/** Cells of the history lines of one attribute, from `value` on (HISTORY_LINES in data/write/tables.ts). */
export function historyCells(
  attribute: Attribute,
  facts: readonly StoredFact[],
  periods: readonly Period[],
): (string | number | null)[][] {
  let old: string | null = null;
  return periods.map(({ from, winner }, i) => {
    const fact = winner < 0 ? null : facts[winner]!;
    const ends = fact?.value != null && NUMERIC.includes(attribute.type) ? bounds(fact.value) : null;
    const json = fact?.json ?? null;
    // A withdrawal is told by whoever spoke last.
    const url = fact?.source_url ?? facts.findLast((each) => each.at <= from)?.source_url ?? '';
    const cells = [json, old, ends?.min ?? null, ends?.max ?? null, from, periods[i + 1]?.from ?? null, url];
    old = json;
    return cells;
  });
}

/** JSON text of the facts of a review item, as contract section 2 answers them. */
export function reviewFacts(entity: string, attribute: string, facts: readonly StoredFact[]): string {
  const told: Fact[] = facts.map(({ value, source, source_url, at, confidence, evidence, source_kind, run }) => ({
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
  return JSON.stringify(told);
}
