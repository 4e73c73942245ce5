// Winners under restrictions: values that are set once, owners, and held jumps.
import { describe } from 'vitest';
import { type Case, settles } from '../../tests/support/night-consolidation.ts';
import { verifies } from '../../tests/support/verifies.ts';

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
    at: 20,
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
    at: 20,
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
    about: 'a later reading that says the same confirms it',
    said: [
      ['gold', 1, 10],
      ['gold', 11, 51],
    ],
    winner: 1,
    reasons: ['superseded', 'only_source'],
    confirmed: [['jump', 1, 21]],
  },
  {
    about: 'a later value of the source within the bound of the held one confirms it, and is published itself',
    said: [
      ['gold', 1, 0.1],
      ['gold', 11, 0.59],
      ['gold', 21, 0.71],
    ],
    winner: 2,
    reasons: ['superseded', 'superseded', 'only_source'],
    confirmed: [['jump', 1, 21]],
  },
  {
    about: 'a later value further than the bound from the accepted and from the held one is held instead',
    said: [
      ['gold', 1, 10],
      ['gold', 11, 100],
      ['gold', 21, 1000],
    ],
    at: 30,
    winner: 0,
    reasons: ['only_source', 'superseded', 'held'],
    disputes: [['jump', 0, 2]],
  },
  {
    about: 'a reading after the source dropped the record confirms nothing',
    said: [
      ['gold', 1, 10],
      ['gold', 11, 100],
    ],
    dropped: [['gold', 21]],
    winner: 0,
    reasons: ['only_source', 'held'],
    disputes: [['jump', 0, 1]],
  },
  {
    about: 'another source that says so later confirms it',
    said: [
      ['gold', 1, 10],
      ['gold', 11, 100],
      ['tin', 15, 90],
    ],
    at: 15,
    winner: 1,
    reasons: ['superseded', 'more_trusted', 'less_trusted'],
    disputes: [['conflict', 1, 2]],
    confirmed: [['jump', 1, 15]],
  },
  {
    about: 'another source below the floor confirms nothing',
    said: [
      ['gold', 1, 10],
      ['gold', 11, 100],
      ['tin', 15, 100, 0.2],
    ],
    at: 15,
    winner: 0,
    reasons: ['only_source', 'held', 'below_floor'],
    disputes: [['jump', 0, 1]],
  },
  {
    about: 'another source further than the bound away confirms nothing',
    said: [
      ['gold', 1, 10],
      ['gold', 11, 100],
      ['tin', 15, 11],
    ],
    at: 15,
    winner: 0,
    reasons: ['more_trusted', 'held', 'less_trusted'],
    disputes: [
      ['jump', 0, 1],
      ['conflict', 0, 2],
    ],
  },
  {
    about: 'another source that says it after the held value is history confirms nothing',
    said: [
      ['gold', 1, 10],
      ['gold', 11, 100],
      ['gold', 12, 10],
      ['tin', 15, 100],
    ],
    at: 15,
    winner: 2,
    reasons: ['superseded', 'superseded', 'more_trusted', 'less_trusted'],
    disputes: [['conflict', 2, 3]],
  },
  {
    about: 'also across a withdrawal',
    said: [
      ['gold', 1, 10],
      ['gold', 11, null],
      ['gold', 21, 100],
    ],
    at: 30,
    winner: -1,
    reasons: ['superseded', 'withdrawn', 'held'],
    disputes: [['jump', 0, 2]],
  },
  {
    about: 'a jump to what another source says already is not held',
    said: [
      ['gold', 1, 10],
      ['tin', 5, 100],
      ['tin', 15, 10],
    ],
    at: 15,
    winner: 0,
    reasons: ['agreed', 'superseded', 'agreed'],
  },
  {
    about: 'but not to what another source has withdrawn since',
    said: [
      ['gold', 1, 10],
      ['gold', 3, null],
      ['tin', 5, 100],
      ['tin', 15, 10],
    ],
    at: 15,
    winner: 2,
    reasons: ['superseded', 'withdrawn', 'only_source', 'held'],
    disputes: [['jump', 2, 3]],
  },
  {
    about: 'a first value far from its group is held, so that nothing is published',
    said: [['gold', 1, 0.006, 0.9, 0.5]],
    at: 10,
    winner: -1,
    reasons: ['held'],
    disputes: [['outlier', 0, 0]],
  },
  {
    about: 'the next reading that says so confirms a first value',
    said: [['gold', 1, 0.006, 0.9, 0.5]],
    at: 11,
    winner: 0,
    confidence: 0.9,
    reasons: ['only_source'],
    confirmed: [['outlier', 0, 11]],
  },
  {
    about: 'a first value within the bound of its group is not held',
    said: [['gold', 1, 0.1, 0.9, 0.5]],
    at: 10,
    winner: 0,
    reasons: ['only_source'],
  },
  {
    about: 'group_jump: false turns the comparison with the group off',
    said: [['gold', 1, 0.006, 0.9, 0.5]],
    attribute: { group_jump: false },
    at: 10,
    winner: 0,
    reasons: ['only_source'],
  },
  {
    about: 'of a range the lower end is compared with the group',
    said: [['gold', 1, { min: 0.4, max: 60, currency: 'EUR' }, 0.9, 0.5]],
    at: 10,
    winner: 0,
    reasons: ['only_source'],
  },
  {
    about: 'a second value near the group replaces a held first one',
    said: [
      ['gold', 1, 0.006, 0.9, 0.5],
      ['gold', 11, 0.6],
    ],
    at: 11,
    winner: 1,
    reasons: ['superseded', 'only_source'],
  },
  {
    about: 'a second value that is as far from the group on the other side is held too',
    said: [
      ['gold', 1, 0.006, 0.9, 0.5],
      ['gold', 11, 60],
    ],
    at: 11,
    winner: -1,
    reasons: ['superseded', 'held'],
    disputes: [['outlier', 1, 1]],
  },
  {
    about: 'another source near the group is published while the first value waits',
    said: [
      ['gold', 1, 0.006, 0.9, 0.5],
      ['tin', 5, 0.6],
    ],
    at: 5,
    winner: 1,
    reasons: ['held', 'only_source'],
    disputes: [['outlier', 0, 0]],
  },
];

describe('settle', () => settles(CASES));
