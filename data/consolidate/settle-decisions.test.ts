// Decisions about differences and jumps, and when they take effect.
import { describe, expect, test } from 'vitest';
import { context, day, input, type StatementRow } from '../../tests/support/night-consolidation.ts';
import { verifies } from '../../tests/support/verifies.ts';
import { disputeId } from './model.ts';
import { type Decision, settle } from './settle.ts';

verifies('consolidate.decision');

describe('decisions', () => {
  const conflict: StatementRow[] = [
    ['gold', 1, 100],
    ['tin', 5, 200],
  ];
  const jump: StatementRow[] = [
    ['gold', 1, 10],
    ['gold', 11, 100],
  ];
  const decided = (said: StatementRow[], kind: 'conflict' | 'jump', status: Decision['status'], at: number) => {
    const asked = input({ said });
    const [a, b] = asked.statements;
    const id = disputeId(context, asked, kind, a!, b!);
    const decisions = new Map([[id, { status, at: day(30) }]]);
    return settle({ ...asked, decisions }, context, day(at));
  };

  test('approve publishes the other value', () => {
    const outcome = decided(conflict, 'conflict', 'approved', 31);
    expect(outcome).toEqual({
      winner: 1,
      confidence: 0.6,
      reasons: ['rejected', 'approved'],
      disputes: [],
      confirmed: [],
    });
  });

  test('reject keeps the winner permanently', () => {
    const outcome = decided(conflict, 'conflict', 'rejected', 60);
    expect(outcome).toEqual({
      winner: 0,
      confidence: 0.9,
      reasons: ['more_trusted', 'rejected'],
      disputes: [],
      confirmed: [],
    });
  });

  test('an approved jump is published, a rejected one is not', () => {
    expect(decided(jump, 'jump', 'approved', 31)).toMatchObject({ winner: 1, reasons: ['superseded', 'approved'] });
    const rejected = decided(jump, 'jump', 'rejected', 31);
    expect(rejected).toEqual({
      winner: 0,
      confidence: 0.9,
      reasons: ['only_source', 'rejected'],
      disputes: [],
      confirmed: [],
    });
  });

  test('a decision counts from its time on', () => {
    expect(decided(conflict, 'conflict', 'approved', 29)).toMatchObject({ winner: 0 });
    expect(decided(jump, 'jump', 'approved', 20)).toMatchObject({ winner: 0, reasons: ['only_source', 'held'] });
  });

  test('later readings neither confirm nor publish a rejected jump', () => {
    const said: StatementRow[] = [...jump, ['gold', 21, 110]];
    const asked = input({ said });
    const [a, b, c] = asked.statements;
    const reject = (...others: (typeof b)[]) => {
      const ids = others.map((each) => disputeId(context, asked, 'jump', a!, each!));
      const decisions = new Map(ids.map((id) => [id, { status: 'rejected' as const, at: day(12) }]));
      return settle({ ...asked, decisions }, context, day(30));
    };
    expect(reject(b)).toMatchObject({ winner: 0, reasons: ['only_source', 'superseded', 'held'] });
    expect(reject(c)).toMatchObject({ winner: 0, reasons: ['only_source', 'superseded', 'rejected'] });
  });

  test('an approved outlier is published, a rejected one is not', () => {
    const asked = input({ said: [['gold', 1, 0.006, 0.9, 0.5]] });
    const [only] = asked.statements;
    const id = disputeId(context, asked, 'outlier', only!, only!);
    const settled = (status: Decision['status']) =>
      settle({ ...asked, decisions: new Map([[id, { status, at: day(2) }]]) }, context, day(3));
    expect(settled('approved')).toMatchObject({ winner: 0, reasons: ['approved'], disputes: [] });
    expect(settled('rejected')).toMatchObject({ winner: -1, reasons: ['rejected'], disputes: [] });
  });

  test('the id of an item depends on its facts only', () => {
    const asked = input({ said: conflict });
    const [a, b] = asked.statements;
    const id = disputeId(context, asked, 'conflict', a!, b!);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(disputeId(context, input({ said: conflict }), 'conflict', a!, b!)).toBe(id);
    const others = [
      disputeId(context, asked, 'conflict', b!, a!),
      disputeId(context, asked, 'jump', a!, b!),
      disputeId(context, asked, 'conflict', { ...a!, value: 101 }, b!),
      disputeId(context, { ...asked, entity: 'r-0000000000000000' }, 'conflict', a!, b!),
      disputeId({ ...context, dataset: 'others' }, asked, 'conflict', a!, b!),
    ];
    expect(new Set([id, ...others]).size).toBe(6);
  });
});
