// The last values of a source, as hashes.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Value } from '../../packs/define/model.ts';
import { hash53, hashOfJson, Records, SourceState } from './state.ts';

describe('hash53', () => {
  test('is never zero, a safe whole number, and the same for the same text', () => {
    for (const text of ['', 'a', '"Zürich"', '石', 'x'.repeat(10_000)]) {
      expect(Number.isSafeInteger(hash53(text))).toBe(true);
      expect(hash53(text)).toBeGreaterThan(0);
      expect(hash53(text)).toBe(hash53(text));
    }
  });

  test('distinguishes two hundred thousand short texts', () => {
    const seen = new Set<number>();
    for (let i = 0; i < 100_000; i++) {
      seen.add(hash53(String(i)));
      seen.add(hash53(`"value ${i}"`));
    }
    expect(seen.size).toBe(200_000);
  });

  test('spreads texts that differ in one letter over all of its bits', () => {
    const bits = new Array<number>(53).fill(0);
    for (let i = 0; i < 2000; i++) {
      const hash = BigInt(hash53(`"${i}a"`)) ^ BigInt(hash53(`"${i}b"`));
      for (let bit = 0; bit < 53; bit++) if ((hash >> BigInt(bit)) & 1n) bits[bit]!++;
    }
    for (const count of bits) expect(Math.abs(count - 1000)).toBeLessThan(350);
  });
});

test('the hash of a value is that of its JSON text', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', 'plain', 'a "b"', 'a\\b', 'a\nb', '😀', '\ud800', 'Zürich', '\u2028'),
  );
  const value = fc.oneof(
    text,
    fc.integer(),
    fc.boolean(),
    fc.array(text),
    fc.record({ lat: fc.double({ noNaN: true }) }),
  );
  fc.assert(
    fc.property(value, (any) => {
      expect(hashOfJson(any as Value)).toBe(hash53(JSON.stringify(any)));
    }),
    { seed: 20261124, numRuns: 500 },
  );
});

test('records are numbered in the order of their first use', () => {
  const records = new Records();
  expect([records.number('b'), records.number('a'), records.number('b')]).toEqual([0, 1, 0]);
  expect(records.ids).toEqual(['b', 'a']);
});

describe('an account', () => {
  test('distinguishes new values from repeated ones, those of earlier runs included', () => {
    const account = new SourceState(2);
    account.restore(0, 1, 7);
    expect(account.setValue(0, 1, 7, 1)).toBe(false);
    expect(account.setValue(0, 1, 8, 1)).toBe(true);
    expect(account.hasValueIn(0, 1, 1)).toBe(true);
    expect(account.hasValueIn(0, 1, 2)).toBe(false);
    expect([account.has(0, 0), account.has(0, 1)]).toEqual([false, true]);
  });

  test('grows without losing values', () => {
    const account = new SourceState(3);
    for (let record = 0; record < 5000; record++) {
      account.markListed(record, 1);
      account.setValue(record, record % 3, record + 1, 1);
    }
    for (let record = 0; record < 5000; record++)
      expect(account.setValue(record, record % 3, record + 1, 2)).toBe(false);
  });

  test('withdraws missing values of a listed record, except lasting ones', () => {
    const account = new SourceState(3);
    for (const record of [0, 1]) {
      account.markListed(record, 1);
      for (const attribute of [0, 1, 2]) account.setValue(record, attribute, 5, 1);
    }
    account.markListed(0, 2);
    account.setValue(0, 0, 5, 2);
    expect([...account.withdraw(2, [false, false, true])]).toEqual([[0, 1]]);
    expect([...account.withdraw(2, [false, false, true])]).toEqual([]);
    expect(account.has(0, 1)).toBe(false);
  });

  test('drops listed records that a reading omits, and notes when they return', () => {
    const account = new SourceState(1);
    account.restoreListed(0, true);
    account.restoreListed(1, true);
    account.restoreListed(2, false);
    expect(account.markListed(0, 1)).toBe(false);
    expect([...account.drop(1)]).toEqual([1]);
    expect([...account.drop(1)]).toEqual([]);
    expect([account.markListed(1, 2), account.markListed(2, 2)]).toEqual([true, true]);
  });
});
