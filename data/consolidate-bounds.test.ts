// Which fact wins where not every source may speak: values that are set once, owners, and jumps that wait for a person.
import { describe } from 'vitest';
import { type Case, settles } from '../tests/night-consolidation.ts';
import { verifies } from '../tests/verifies.ts';

verifies('consolidate.jump', 'consolidate.kept');

const CASES: Case[] = [
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

describe('settle', () => settles(CASES));
