// Compares computed figures: equal except for the last digits of binary arithmetic.
import { expect } from 'vitest';

/** Fails when two answers differ by more than rounding; `about` describes the request. */
export function expectAlike(found: unknown, expected: unknown, about: string, path = ''): void {
  if (typeof found === 'number' && typeof expected === 'number') {
    const apart = Math.abs(found - expected);
    if (apart > 1e-9 * Math.max(1e-9, Math.abs(expected))) expect(found, `${about} at ${path}`).toBe(expected);
  } else if (typeof found === 'object' && found !== null && typeof expected === 'object' && expected !== null) {
    expect(Object.keys(found).sort(), `${about} at ${path}`).toEqual(Object.keys(expected).sort());
    for (const [key, value] of Object.entries(found))
      expectAlike(value, (expected as Record<string, unknown>)[key], about, `${path}/${key}`);
  } else expect(found, `${about} at ${path}`).toEqual(expected);
}

/** Rows of statistics, nested ones included. */
export const rowsIn = (rows: readonly { groups?: { groups?: never }[] | object[] }[]): number =>
  rows.reduce((all, { groups }) => all + 1 + rowsIn((groups ?? []) as { groups?: object[] }[]), 0);
