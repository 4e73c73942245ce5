// Statements of fictional sources and their settlement inputs, for the tests of consolidation.
import { expect, test } from 'vitest';
import {
  type ConsolidationContext,
  type SettlementInput,
  type Statement,
  settle,
} from '../../data/consolidate/settle.ts';
import type { Listing } from '../../data/consolidate/times.ts';
import type { DisputeKind, FactReason } from '../../data/model/record.ts';
import type { Attribute, Rule, Value } from '../../packs/define/model.ts';

/** A day of 2026, counted from 1, as milliseconds. */
export const day = (n: number) => Date.UTC(2026, 0, n);

export const price: Attribute = {
  name: 'price',
  type: 'price',
  unit: 'EUR/piece',
  currency: 'EUR',
  description: 'Price',
  example: 1,
  public: true,
  filterable: true,
  searchable: false,
  search_weight: 1,
  values: null,
  range: { min: null, max: null },
  jump: 5,
  published_entries: null,
  group_jump: true,
  tolerance: 0.01,
  sla: { warn: 1, error: 2 },
  weight: 1,
  once: false,
  aliases: [],
  vocabulary: null,
  editable: false,
};

const READINGS = { gold: [1, 11, 21, 101], tin: [5, 15, 25, 60], owner: [] } as const;

export const context: ConsolidationContext = {
  dataset: 'things',
  consolidation: { floor: 0.3, apart_days: 30, penalty: 0.2 },
  trust: new Map([
    ['gold', 0.9],
    ['tin', 0.6],
    ['lead', 0.5],
  ]),
  readings: new Map(Object.entries(READINGS).map(([source, days]) => [source, days.map(day)])),
};

/** `median`: that of the record's group, for a first value that is far from it. */
export type StatementRow = [source: string, day: number, value: Value | null, confidence?: number, median?: number];

const rowOf =
  (source: string) =>
  (...row: StatementRow extends [string, ...infer Row] ? Row : never): StatementRow => [source, ...row];
/** Statements of the sources: `gold(1, 5)` is 5 on the first day of 2026. */
export const [gold, tin, lead, owner] = [rowOf('gold'), rowOf('tin'), rowOf('lead'), rowOf('owner')];

const statement = ([source, at, value, confidence, median]: StatementRow): Statement => ({
  source,
  value,
  at: day(at),
  confidence: confidence ?? context.trust.get(source) ?? 1,
  source_kind: source === 'owner' ? 'owner' : 'collector',
  ...(median === undefined ? {} : { group_median: median }),
});

/** The statements on one attribute of one record, by day. */
export interface AttributeCase {
  facts: StatementRow[];
  attribute?: Partial<Attribute>;
  rule?: Rule;
  identity?: boolean;
  /** Days on which a source dropped the record. */
  dropped?: [source: string, day: number][];
}

/** The settlement input of these statements. */
export function input(each: AttributeCase): SettlementInput {
  const listings: Listing[] = (each.dropped ?? []).map(([source, at]) => ({ source, listed: false, at: day(at) }));
  return {
    entity: 'r-0123456789abcdef',
    attribute: { ...price, ...each.attribute },
    identity: each.identity ?? false,
    statements: each.facts.map(statement),
    listings,
    rule: each.rule ?? { prefer: 'trust' },
    decisions: new Map(),
  };
}

/** An input and its expected outcome. */
export interface Case extends AttributeCase {
  about: string;
  /** The day at which it is settled; absent: all statements count. */
  at?: number;
  /** Position of the winner, -1: none. */
  winner: number;
  confidence?: number;
  reasons: (FactReason | undefined)[];
  disputes?: [DisputeKind, number, number][];
  /** Held values that were confirmed, and the day. */
  confirmed?: [kind: DisputeKind, held: number, day: number][];
}

/** Runs a test for each case, and one that every fact has a reason. */
export function settles(cases: readonly Case[]): void {
  test.each(cases)('$about', (each) => {
    const outcome = settle(input(each), context, each.at === undefined ? Number.POSITIVE_INFINITY : day(each.at));
    expect(outcome.winner).toBe(each.winner);
    expect([...outcome.reasons]).toEqual(each.reasons);
    if (each.confidence !== undefined) expect(outcome.confidence).toBe(each.confidence);
    expect(outcome.disputes.map(({ kind, statements }) => [kind, ...statements])).toEqual(each.disputes ?? []);
    const confirmed = outcome.confirmed.map(({ kind, statements, confirmed_at }) => [
      kind,
      statements[1],
      confirmed_at,
    ]);
    expect(confirmed).toEqual((each.confirmed ?? []).map(([kind, held, on]) => [kind, held, day(on)]));
  });

  test('exactly one fact wins, or none, and every fact has a reason', () => {
    for (const each of cases.filter(({ at }) => at === undefined)) {
      const { winner, reasons } = settle(input(each), context, Number.POSITIVE_INFINITY);
      expect([...reasons].every((reason) => reason !== undefined)).toBe(true);
      expect(winner).toBeLessThan(reasons.length);
    }
  });
}
