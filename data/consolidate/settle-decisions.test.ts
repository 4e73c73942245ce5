// Decisions about differences and jumps, and when they take effect.
import { describe, expect, test } from 'vitest';
import { context, day, gold, input, type StatementRow, tin } from '../../tests/support/night-consolidation.ts';
import { verifies } from '../../tests/support/verifies.ts';
import { disputeId } from './model.ts';
import { type Decision, settle } from './settle.ts';

verifies('consolidate.decision');

describe('decisions', () => {
  const conflict: StatementRow[] = [gold(1, 100), tin(5, 200)];
  const jump: StatementRow[] = [gold(1, 10), gold(11, 100)];
  const decided = (facts: StatementRow[], kind: 'conflict' | 'jump', status: Decision['status'], at: number) => {
    const settlement = input({ facts });
    const [a, b] = settlement.statements;
    const id = disputeId(context, settlement, kind, a!, b!);
    const decisions = new Map([[id, { status, at: day(30) }]]);
    return settle({ ...settlement, decisions }, context, day(at));
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
    const facts: StatementRow[] = [...jump, gold(21, 110)];
    const settlement = input({ facts });
    const [a, b, c] = settlement.statements;
    const reject = (...others: (typeof b)[]) => {
      const ids = others.map((reading) => disputeId(context, settlement, 'jump', a!, reading!));
      const decisions = new Map(ids.map((id) => [id, { status: 'rejected' as const, at: day(12) }]));
      return settle({ ...settlement, decisions }, context, day(30));
    };
    expect(reject(b)).toMatchObject({ winner: 0, reasons: ['only_source', 'superseded', 'held'] });
    expect(reject(c)).toMatchObject({ winner: 0, reasons: ['only_source', 'superseded', 'rejected'] });
  });

  test('an approved outlier is published, a rejected one is not', () => {
    const settlement = input({ facts: [gold(1, 0.006, 0.9, 0.5)] });
    const [only] = settlement.statements;
    const id = disputeId(context, settlement, 'outlier', only!, only!);
    const settled = (status: Decision['status']) =>
      settle({ ...settlement, decisions: new Map([[id, { status, at: day(2) }]]) }, context, day(3));
    expect(settled('approved')).toMatchObject({ winner: 0, reasons: ['approved'], disputes: [] });
    expect(settled('rejected')).toMatchObject({ winner: -1, reasons: ['rejected'], disputes: [] });
  });

  test('the id of an item depends on its facts only', () => {
    const settlement = input({ facts: conflict });
    const [a, b] = settlement.statements;
    const id = disputeId(context, settlement, 'conflict', a!, b!);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(disputeId(context, input({ facts: conflict }), 'conflict', a!, b!)).toBe(id);
    const others = [
      disputeId(context, settlement, 'conflict', b!, a!),
      disputeId(context, settlement, 'jump', a!, b!),
      disputeId(context, settlement, 'conflict', { ...a!, value: 101 }, b!),
      disputeId(context, { ...settlement, entity: 'r-0000000000000000' }, 'conflict', a!, b!),
      disputeId({ ...context, dataset: 'others' }, settlement, 'conflict', a!, b!),
    ];
    expect(new Set([id, ...others]).size).toBe(6);
  });
});
