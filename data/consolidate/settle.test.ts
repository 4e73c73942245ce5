// Winners and reasons among competing sources: tables of statements with their expected outcome.
import { describe } from 'vitest';
import type { Attribute } from '../../packs/define/model.ts';
import { type Case, settles } from '../../tests/support/night-consolidation.ts';
import { verifies } from '../../tests/support/verifies.ts';

verifies('consolidate.floor', 'consolidate.newest', 'consolidate.trust', 'consolidate.disagreement');

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
    about: 'a number as near to the range as two numbers that agree',
    said: [
      ['gold', 1, { min: 3, max: 6, currency: 'EUR' }],
      ['tin', 60, 2.99],
    ],
    at: 70,
    winner: 0,
    confidence: 0.96,
    reasons: ['agreed', 'agreed'],
  },
  {
    about: 'a number below an old range, beyond the tolerance, is newer',
    said: [
      ['gold', 1, { min: 3, max: 6, currency: 'EUR' }],
      ['tin', 60, 2.9],
    ],
    at: 70,
    winner: 1,
    confidence: 0.6,
    reasons: ['older_reading', 'newer_reading'],
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
    about: 'readings more than 30 days apart: the newer wins without a review item',
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
    about: 'newest: the newer reading of the better source wins, no review item',
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
];

describe('settle', () => settles(CASES));
