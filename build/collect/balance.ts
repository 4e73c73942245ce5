// The balance of a run: what became of each cell that the declared sources have.
import type { Pack } from '../../packs/define/model.ts';
import { columnOf, type DeclaringSource } from '../sources/rows.ts';

/** What became of a cell, in the order in which it is printed. */
const OUTCOMES = {
  published: 'published',
  confirmed: 'confirmed unchanged',
  lost: 'lost to another source or held',
  missing: 'missing',
  rejected: 'rejected',
  dropped: 'dropped by rule',
  unmapped: 'in columns not mapped',
} as const;
export type CellOutcome = keyof typeof OUTCOMES;

/** Cells of one source in a run. */
export interface Balance {
  /** Cells of all rows, those that could not be read as rows included. */
  read: number;
  outcomes: Record<CellOutcome, number>;
}

export const emptyBalance = (): Balance => ({
  read: 0,
  outcomes: { published: 0, confirmed: 0, lost: 0, missing: 0, rejected: 0, dropped: 0, unmapped: 0 },
});

/**
 * Columns that each attribute is read from, so that each cell is counted once: two for a point, none for a constant,
 * a function, and a column that an attribute before reads.
 */
export function columnsByAttribute(
  { attributes }: Pick<Pack, 'attributes'>,
  source: DeclaringSource,
  columns: readonly string[],
): number[] {
  const counted = new Set<string>();
  return attributes.map(({ name }) => {
    const rule = source.from.attributes[name];
    const isPoint = typeof rule === 'object' && 'lat' in rule;
    const columnsRead = isPoint ? [rule.lat, rule.lng] : [columnOf(source, name)];
    const uncounted = columnsRead.filter(
      (column) => column !== undefined && columns.includes(column) && !counted.has(column),
    );
    for (const column of uncounted) counted.add(column!);
    return uncounted.length;
  });
}

/** One sentence for each source, with its sum. */
export function balanceLines(balances: ReadonlyMap<string, Balance>): string[] {
  return [...balances].map(([source, { read, outcomes }]) => {
    const parts = Object.entries(OUTCOMES)
      .map(([outcome, text]) => [outcomes[outcome as CellOutcome], text] as const)
      .filter(([count]) => count !== 0)
      .map(([count, text]) => `${count.toLocaleString('en-US')} ${text}`);
    return `${source}: ${read.toLocaleString('en-US')} cells read = ${parts.join(' + ') || '0'}`;
  });
}
