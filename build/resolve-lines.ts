// How the course of an attribute and the facts of a review item are written down.
import { bounds } from '../data/consolidate-compare.ts';
import type { Period } from '../data/consolidate-history.ts';
import type { Fact } from '../data/model.ts';
import { NULL } from '../data/write/lines.ts';
import { isoTime } from '../data/write/record.ts';
import type { Attribute } from '../packs/model.ts';
import { NUMERIC } from '../packs/schema.ts';
import type { StoredFact } from './resolve-facts.ts';

/** Cells of the history lines of one attribute, from `attribute` on (HISTORY_LINES in data/write/tables.ts). */
export function historyLines(
  attribute: Attribute,
  facts: readonly StoredFact[],
  periods: readonly Period[],
): string[][] {
  let old = NULL;
  return periods.map(({ from, winner }, i) => {
    const fact = winner < 0 ? null : facts[winner]!;
    const ends = fact?.value != null && NUMERIC.includes(attribute.type) ? bounds(fact.value) : null;
    const json = fact?.json ?? NULL;
    const to = periods[i + 1]?.from;
    // A withdrawal is told by the source that last said so.
    const url = fact?.source_url ?? facts.findLast((each) => each.at <= from)?.source_url ?? '';
    const cells = [attribute.name, json, old, String(ends?.min ?? NULL), String(ends?.max ?? NULL)];
    old = json;
    return [...cells, String(from), String(to ?? NULL), url];
  });
}

/** JSON text of the facts of a review item, as contract section 2 answers them. */
export function reviewFacts(entity: string, facts: readonly StoredFact[]): string {
  const told: Fact[] = facts.map(
    ({ attribute, value, source, source_url, at, confidence, evidence, source_kind, run }) => ({
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
    }),
  );
  return JSON.stringify(told);
}
