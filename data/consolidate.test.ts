// Which fact wins and why, case by case: a table of statements with the outcome expected of them.
import { describe, expect, test } from 'vitest';
import type { Attribute } from '../packs/model.ts';
import { type Asked, day, ground, question } from '../tests/night-consolidation.ts';
import { verifies } from '../tests/verifies.ts';
import { settle } from './consolidate.ts';
import type { FactReason } from './model.ts';

verifies('consolidate.floor', 'consolidate.newest', 'consolidate.trust', 'consolidate.disagreement');
verifies('consolidate.jump', 'consolidate.kept');

interface Case extends Asked {
  about: string;
  at?: number;
  /** Position of the winner, -1: none. */
  winner: number;
  confidence?: number;
  reasons: (FactReason | undefined)[];
  disputes?: ['conflict' | 'jump', number, number][];
}

const enumeration: Partial<Attribute> = { type: 'enum', tolerance: 0, jump: null };

const CASES: Case[] = [
  { about: 'nothing said yet', said: [['gold', 21, 5]], at: 20, winner: -1, reasons: [undefined] },
  { about: 'one source, one fact', said: [['gold', 1, 5]], winner: 0, confidence: 0.9, reasons: ['only_source'] },
  { about: 'below the floor', said: [['gold', 1, 5, 0.29]], winner: -1, reasons: ['below_floor'] },
  { about: 'exactly at the floor', said: [['gold', 1, 5, 0.3]], winner: 0, confidence: 0.3, reasons: ['only_source'] },
  {
    about: 'a doubtful newer fact does not replace a good one',
    said: [
      ['gold', 1, 5],
      ['gold', 11, 6, 0.1],
    ],
    winner: 0,
    reasons: ['only_source', 'below_floor'],
  },
  {
    about: 'within one source the newest',
    said: [
      ['gold', 1, 5],
      ['gold', 11, 6],
    ],
    winner: 1,
    reasons: ['superseded', 'only_source'],
  },
  {
    about: 'the same as of the day before',
    said: [
      ['gold', 1, 5],
      ['gold', 11, 6],
    ],
    at: 10,
    winner: 0,
    reasons: ['only_source', undefined],
  },
  {
    about: 'withdrawn',
    said: [
      ['gold', 1, 5],
      ['gold', 11, null],
    ],
    winner: -1,
    reasons: ['superseded', 'withdrawn'],
  },
  {
    about: 'withdrawn by one, still said by the other',
    said: [
      ['gold', 1, 5],
      ['tin', 5, 5],
      ['gold', 11, null],
    ],
    winner: 1,
    reasons: ['superseded', 'only_source', 'withdrawn'],
  },
  {
    about: 'a withdrawal needs no confidence',
    said: [
      ['gold', 1, 5],
      ['gold', 11, null, 0],
    ],
    winner: -1,
    reasons: ['superseded', 'withdrawn'],
  },
  {
    about: 'agreement within the tolerance raises confidence: 1 - 0.1 × 0.4',
    said: [
      ['gold', 1, 100],
      ['tin', 5, 101],
    ],
    at: 25,
    winner: 0,
    confidence: 0.96,
    reasons: ['agreed', 'agreed'],
  },
  {
    about: 'a disagreement: the more trusted wins, loses confidence, and a person is asked',
    said: [
      ['gold', 1, 100],
      ['tin', 5, 102],
    ],
    at: 25,
    winner: 0,
    confidence: 0.7,
    reasons: ['more_trusted', 'less_trusted'],
    disputes: [['conflict', 0, 1]],
  },
  {
    about: 'the more trusted range that begins at a newer number, though it was read long before',
    said: [
      ['gold', 1, { min: 3, max: 6, currency: 'EUR' }],
      ['tin', 60, 3],
    ],
    at: 70,
    winner: 0,
    confidence: 0.96,
    reasons: ['agreed', 'agreed'],
  },
  {
    about: 'a number within an old range, but not at its lower end, is newer',
    said: [
      ['gold', 1, { min: 3, max: 6, currency: 'EUR' }],
      ['tin', 60, 4],
    ],
    at: 70,
    winner: 1,
    confidence: 0.96,
    reasons: ['agreed', 'agreed'],
  },
  {
    about: 'a range of the less trusted source does not replace the number',
    said: [
      ['gold', 1, 3],
      ['tin', 5, { min: 3, max: 6, currency: 'EUR' }],
    ],
    winner: 0,
    confidence: 0.96,
    reasons: ['agreed', 'agreed'],
  },
  {
    about: 'two agree, one does not',
    said: [
      ['gold', 1, 100],
      ['tin', 5, 100],
      ['lead', 5, 200],
    ],
    at: 25,
    winner: 0,
    confidence: 0.76,
    reasons: ['more_trusted', 'agreed', 'less_trusted'],
    disputes: [['conflict', 0, 2]],
  },
  {
    about: 'readings more than 30 days apart: the newer wins without a question',
    said: [
      ['gold', 1, 100],
      ['tin', 5, 200],
    ],
    at: 60,
    winner: 1,
    confidence: 0.6,
    reasons: ['older_reading', 'newer_reading'],
  },
  {
    about: 'the trusted source has read again: it is believed again',
    said: [
      ['gold', 1, 100],
      ['tin', 5, 200],
    ],
    at: 101,
    winner: 0,
    confidence: 0.9,
    reasons: ['newer_reading', 'older_reading'],
  },
  {
    about: 'trust of this record alone',
    said: [
      ['gold', 1, 100],
      ['tin', 5, 200],
    ],
    rule: { prefer: 'trust', trust: { gold: 0.5 } },
    at: 25,
    winner: 1,
    confidence: 0.4,
    reasons: ['less_trusted', 'more_trusted'],
    disputes: [['conflict', 1, 0]],
  },
  {
    about: 'newest: the newer reading of the better source wins, no question',
    said: [
      ['gold', 1, 100],
      ['tin', 5, 200],
    ],
    rule: { prefer: 'newest', trust: { tin: 0.95 } },
    at: 15,
    winner: 1,
    confidence: 0.6,
    reasons: ['older_reading', 'newer_reading'],
  },
  {
    about: 'newest: a lesser source wins by what it says first after the better one’s reading',
    said: [
      ['gold', 1, 100],
      ['tin', 15, 200],
    ],
    rule: { prefer: 'newest' },
    at: 15,
    winner: 1,
    reasons: ['older_reading', 'newer_reading'],
  },
  {
    about: 'newest: merely repeating itself it does not overturn the better one',
    said: [
      ['gold', 1, 100],
      ['tin', 5, 200],
    ],
    rule: { prefer: 'newest' },
    at: 25,
    winner: 0,
    reasons: ['more_trusted', 'less_trusted'],
  },
  {
    about: 'identity: the sources mean the same record however they write it',
    said: [
      ['gold', 1, 'Löwe'],
      ['tin', 5, 'Tiger'],
    ],
    attribute: enumeration,
    identity: true,
    at: 25,
    winner: 0,
    confidence: 0.9,
    reasons: ['more_trusted', 'less_trusted'],
  },
  {
    about: 'texts: another wording is no contradiction',
    said: [
      ['gold', 1, 'A saw'],
      ['tin', 5, 'A good saw'],
    ],
    attribute: { type: 'text', tolerance: 0, jump: null },
    at: 25,
    winner: 0,
    confidence: 0.9,
    reasons: ['more_trusted', 'less_trusted'],
  },
  {
    about: 'kinds: another kind is',
    said: [
      ['gold', 1, 'saw'],
      ['tin', 5, 'plane'],
    ],
    attribute: enumeration,
    at: 25,
    winner: 0,
    confidence: 0.7,
    reasons: ['more_trusted', 'less_trusted'],
    disputes: [['conflict', 0, 1]],
  },
  {
    about: 'a source that dropped the record is not heard beside one that lists it',
    said: [
      ['gold', 1, 'listed'],
      ['tin', 5, 'listed'],
      ['gold', 11, 'gone', 0.8],
    ],
    attribute: enumeration,
    dropped: [['gold', 11]],
    at: 25,
    winner: 1,
    confidence: 0.6,
    reasons: ['superseded', 'only_source', 'not_listed'],
  },
  {
    about: 'it is heard where nobody else speaks',
    said: [
      ['gold', 1, 'listed'],
      ['gold', 11, 'gone', 0.8],
    ],
    attribute: enumeration,
    dropped: [['gold', 11]],
    winner: 1,
    confidence: 0.8,
    reasons: ['superseded', 'only_source'],
  },
  {
    about: 'all have dropped it: they compete as ever',
    said: [
      ['gold', 1, 100],
      ['tin', 5, 100],
    ],
    dropped: [
      ['gold', 11],
      ['tin', 15],
    ],
    winner: 0,
    confidence: 0.96,
    reasons: ['agreed', 'agreed'],
  },
  {
    about: 'once: the earliest of several sources, whoever lists the record',
    said: [
      ['tin', 5, '2026-01-05'],
      ['gold', 11, '2026-01-11'],
    ],
    attribute: { type: 'date', once: true, jump: null },
    dropped: [['tin', 15]],
    winner: 0,
    confidence: 0.6,
    reasons: ['earliest', 'later'],
  },
  {
    about: 'once: never replaced',
    said: [
      ['gold', 1, '2026-01-01'],
      ['gold', 11, '2026-01-11'],
    ],
    attribute: { type: 'date', once: true, jump: null },
    winner: 0,
    reasons: ['only_source', 'later'],
  },
  {
    about: 'once: at the same moment the more trusted',
    said: [
      ['tin', 5, '2026-01-05'],
      ['gold', 5, '2026-01-04'],
    ],
    attribute: { type: 'date', once: true, jump: null },
    winner: 1,
    reasons: ['later', 'earliest'],
  },
  {
    about: 'the owner stands above all sources',
    said: [
      ['gold', 1, 100],
      ['owner', 3, 80],
      ['tin', 5, 200],
      ['owner', 9, 90],
    ],
    at: 25,
    winner: 3,
    confidence: 1,
    reasons: ['owner_overrides', 'superseded', 'owner_overrides', 'owner'],
  },
  {
    about: 'what the owner takes back no longer counts',
    said: [
      ['gold', 1, 100],
      ['owner', 3, 80],
      ['owner', 9, null],
    ],
    winner: 0,
    reasons: ['only_source', 'superseded', 'withdrawn'],
  },
  {
    about: 'an owner may jump',
    said: [
      ['owner', 1, 1],
      ['owner', 2, 1000],
    ],
    winner: 1,
    reasons: ['superseded', 'owner'],
  },
  {
    about: 'a jump is held, the value before stays',
    said: [
      ['gold', 1, 10],
      ['gold', 11, 51],
    ],
    winner: 0,
    confidence: 0.9,
    reasons: ['only_source', 'held'],
    disputes: [['jump', 0, 1]],
  },
  {
    about: 'a jump down, of a range’s lower end',
    said: [
      ['gold', 1, { min: 10, max: 20, currency: 'EUR' }],
      ['gold', 11, { min: 1.9, max: 20, currency: 'EUR' }],
    ],
    winner: 0,
    reasons: ['only_source', 'held'],
    disputes: [['jump', 0, 1]],
  },
  {
    about: 'exactly the bound is no jump',
    said: [
      ['gold', 1, 10],
      ['gold', 11, 50],
    ],
    winner: 1,
    reasons: ['superseded', 'only_source'],
  },
  {
    about: 'back to normal: the held fact is history',
    said: [
      ['gold', 1, 10],
      ['gold', 11, 100],
      ['gold', 21, 11],
    ],
    winner: 2,
    reasons: ['superseded', 'superseded', 'only_source'],
  },
  {
    about: 'a second jump is measured from the last value accepted',
    said: [
      ['gold', 1, 10],
      ['gold', 11, 100],
      ['gold', 21, 110],
    ],
    winner: 0,
    reasons: ['only_source', 'superseded', 'held'],
    disputes: [['jump', 0, 2]],
  },
  {
    about: 'also across a withdrawal',
    said: [
      ['gold', 1, 10],
      ['gold', 11, null],
      ['gold', 21, 100],
    ],
    winner: -1,
    reasons: ['superseded', 'withdrawn', 'held'],
    disputes: [['jump', 0, 2]],
  },
  {
    about: 'a jump of one source leaves the other to speak',
    said: [
      ['gold', 1, 10],
      ['tin', 5, 100],
      ['tin', 15, 10],
    ],
    at: 15,
    winner: 0,
    reasons: ['more_trusted', 'less_trusted', 'held'],
    disputes: [
      ['jump', 1, 2],
      ['conflict', 0, 1],
    ],
  },
];

describe('settle', () => {
  test.each(CASES)('$about', (each) => {
    const asked = question(each);
    const outcome = settle(asked, ground, each.at === undefined ? Number.POSITIVE_INFINITY : day(each.at));
    expect(outcome.winner).toBe(each.winner);
    expect([...outcome.reasons]).toEqual(each.reasons);
    if (each.confidence !== undefined) expect(outcome.confidence).toBe(each.confidence);
    expect(outcome.disputes.map(({ kind, statements }) => [kind, ...statements])).toEqual(each.disputes ?? []);
  });

  test('exactly one fact wins, or none, and every fact has a reason', () => {
    for (const each of CASES.filter(({ at }) => at === undefined)) {
      const { winner, reasons } = settle(question(each), ground, Number.POSITIVE_INFINITY);
      expect([...reasons].every((reason) => reason !== undefined)).toBe(true);
      expect(winner).toBeLessThan(reasons.length);
    }
  });
});
