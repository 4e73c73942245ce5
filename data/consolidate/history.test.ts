// History of a value: its periods, the confirmations of its sources, and open review items.
import { describe, expect, test } from 'vitest';
import {
  type AttributeCase,
  context,
  day,
  gold,
  input,
  owner,
  type StatementRow,
  tin,
} from '../../tests/support/night-consolidation.ts';
import { verifies } from '../../tests/support/verifies.ts';
import { timeline } from './history.ts';
import { settle } from './settle.ts';
import { confirmedAt } from './times.ts';

verifies('fact.observed-at', 'fact.first-and-confirmed');

const dayOf = (at: number) => Math.round((at - day(1)) / 86_400_000) + 1;
const settled = (settlement: AttributeCase) => {
  const { periods, disputes } = timeline(input(settlement), context);
  return {
    periods: periods.map(({ from, winner }) => [dayOf(from), winner < 0 ? null : settlement.facts[winner]![2]]),
    disputes: disputes.map(({ kind, opened_at }) => [kind, dayOf(opened_at)]),
  };
};

describe('periods', () => {
  test('one source that changes, withdraws and repeats a value', () => {
    const facts = [gold(1, 10), gold(11, 12), gold(21, null), gold(101, 12)];
    const periods = [
      [1, 10],
      [11, 12],
      [21, null],
      [101, 12],
    ];
    expect(settled({ facts })).toEqual({ periods, disputes: [] });
  });

  test('a range and its first number do not alternate as one of them ages', () => {
    const facts = [gold(1, { min: 3, max: 6, currency: 'EUR' }), tin(60, 3)];
    expect(settled({ facts }).periods).toEqual([[1, facts[0]![2]]]);
  });

  test('nothing is published before the first value or below the floor', () => {
    expect(settled({ facts: [gold(1, null)] }).periods).toEqual([]);
    expect(settled({ facts: [gold(1, 5, 0.1)] }).periods).toEqual([]);
  });

  test('a held jump is not published', () => {
    const facts = [gold(1, 10), gold(11, 100)];
    const until = input({ facts });
    const silent = { ...context, readings: new Map([['gold', [1, 11].map(day)]]) };
    const { periods, disputes, status } = timeline(until, silent);
    expect(periods).toEqual([{ from: day(1), winner: 0, first: 0 }]);
    expect(disputes.map(({ kind, opened_at }) => [kind, dayOf(opened_at)])).toEqual([['jump', 11]]);
    expect(status).toBe('held');
    // Published with the next reading that repeats it, and from then on.
    expect(settled({ facts })).toEqual({
      periods: [
        [1, 10],
        [21, 100],
      ],
      disputes: [],
    });
    const { confirmed, ...later } = timeline(until, context);
    expect(confirmed.map((each) => [each.kind, dayOf(each.opened_at), dayOf(each.confirmed_at)])).toEqual([
      ['jump', 11, 21],
    ]);
    expect(later.status).toBeNull();
  });

  test('a first value far from its group is published from the next reading on', () => {
    const facts = [gold(1, 0.006, 0.9, 0.5)];
    expect(settled({ facts })).toEqual({ periods: [[11, 0.006]], disputes: [] });
  });

  test('a value is contested while another source differs, not after a decision or by the owner', () => {
    const facts = [gold(1, 100), tin(5, 200)];
    const settlement = input({ facts });
    const { status, disputes } = timeline(settlement, context);
    expect(status).toBe('contested');
    const decisions = new Map([[disputes[0]!.id, { status: 'rejected' as const, at: day(30) }]]);
    expect(timeline({ ...settlement, decisions }, context).status).toBeNull();
    expect(timeline(input({ facts: [...facts, owner(40, 150)] }), context).status).toBeNull();
  });

  test('readings without new values change the winner: the trusted source becomes outdated and returns', () => {
    const facts = [gold(1, 100), tin(5, 200)];
    // tin reads on days 5, 15, 25, 60; gold on 1, 11, 21, 101; 30 days make a reading too old.
    const periods = [
      [1, 100],
      [60, 200],
      [101, 100],
    ];
    expect(settled({ facts }).periods).toEqual(periods);
  });

  test('a record dropped by the winner’s source', () => {
    const facts = [gold(1, 100), tin(5, 200)];
    expect(settled({ facts, dropped: [['gold', 11]] }).periods).toEqual([
      [1, 100],
      [11, 200],
    ]);
  });

  test('the last period is published now, and each period was published at its time', () => {
    const facts = [gold(1, 100), tin(5, 200), gold(11, 210), tin(15, 5, 0.1), gold(21, null)];
    const settlement = input({ facts });
    const { periods, now } = timeline(settlement, context);
    expect(periods.at(-1)?.winner).toBe(now.winner);
    for (let n = 1; n <= 110; n++) {
      const then = periods.findLast(({ from }) => from <= day(n));
      const winner = settle(settlement, context, day(n)).winner;
      expect(then ? facts[then.winner]?.[2] : undefined, `day ${n}`).toEqual(facts[winner]?.[2]);
    }
  });
});

describe('disputes', () => {
  const facts = [gold(1, 100), tin(5, 200)];

  test('stay open when the newer reading is published by now', () => {
    expect(settled({ facts }).disputes).toEqual([['conflict', 5]]);
  });

  test('close when one of the two changes its value, drops the record or is decided', () => {
    expect(settled({ facts: [...facts, tin(15, 100)] }).disputes).toEqual([]);
    expect(settled({ facts, dropped: [['tin', 15]] }).disputes).toEqual([]);
    const settlement = input({ facts });
    const [{ id } = { id: '' }] = timeline(settlement, context).disputes;
    const decisions = new Map([[id, { status: 'rejected' as const, at: day(30) }]]);
    const decided = timeline({ ...settlement, decisions }, context);
    expect(decided.disputes).toEqual([]);
    expect(decided.periods.map(({ winner }) => winner)).toEqual([0]);
  });

  test('an approval shows in the history from its time on', () => {
    const settlement = input({ facts });
    const [{ id } = { id: '' }] = timeline(settlement, context).disputes;
    const decisions = new Map([[id, { status: 'approved' as const, at: day(30) }]]);
    const { periods } = timeline({ ...settlement, decisions }, context);
    expect(periods.map(({ from, winner }) => [dayOf(from), winner])).toEqual([
      [1, 0],
      [30, 1],
    ]);
  });
});

describe('confirmations', () => {
  const until = (
    facts: StatementRow[],
    position: number,
    at = 365,
    dropped: [string, number][] = [],
    back: [string, number][] = [],
  ) => {
    const settlement = input({ facts, dropped });
    const listings = [...settlement.listings, ...back.map(([source, n]) => ({ source, listed: true, at: day(n) }))];
    listings.sort((a, b) => a.at - b.at);
    return dayOf(confirmedAt({ ...settlement, listings }, context.readings, position, day(at)));
  };

  test('the newest reading before its source’s next statement', () => {
    const facts = [gold(1, 10), tin(5, 11), gold(21, 12)];
    expect(until(facts, 0)).toBe(11);
    expect(until(facts, 1)).toBe(60);
    expect(until(facts, 2)).toBe(101);
  });

  test('not later than the requested time', () => {
    expect(until([gold(1, 10)], 0, 15)).toBe(11);
  });

  test('only while the source lists the record, and again after it returns', () => {
    expect(until([gold(1, 10)], 0, 365, [['gold', 21]])).toBe(11);
    expect(until([gold(1, 10)], 0, 365, [['gold', 21]], [['gold', 101]])).toBe(101);
  });

  test('a statement about a dropped record is valid while it stays dropped', () => {
    const facts = [gold(1, 10), gold(11, 0)];
    expect(until(facts, 1, 365, [['gold', 11]])).toBe(101);
  });

  test('an owner’s value is confirmed at its own time', () => {
    expect(until([owner(3, 10)], 0)).toBe(3);
  });
});
