// What records are counted or grouped by: the values of an attribute, or the days, months or years of dates and times.
import type { Attribute, Value } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';
import { PERIOD_LENGTHS } from '../../packs/define/times.ts';

/** Endings of the name of a date or time in `group_by`. */
export const KEY_PERIODS = ['month', 'year'] as const;

export interface GroupKey {
  attribute: Attribute;
  /** Number of characters of a date or time that are its group; null: the whole value. */
  length: number | null;
}

/** Reads `created`, of which times count by day, `created:month` or `created:year`. */
export function groupKey(by: string, attributeOf: (name: string) => Attribute): GroupKey {
  const [name = '', period] = by.split(':');
  const attribute = attributeOf(name);
  const day = attribute.type === 'datetime' ? PERIOD_LENGTHS.day : null;
  return { attribute, length: period === undefined ? day : PERIOD_LENGTHS[period as keyof typeof PERIOD_LENGTHS] };
}

/** The groups of one value, each once; of a list one for each entry. */
export function groupsOf({ length }: GroupKey, value: Value | undefined): Value[] {
  if (value === undefined) return [];
  if (length !== null) return [String(value).slice(0, length)];
  return [...new Set([value].flat())];
}

/** Compares two keys of one attribute: texts by code point. */
export function compareKeys(a: Value, b: Value): number {
  return typeof a === 'string' ? byCodePoint(a, String(b)) : Number(a) - Number(b);
}

/** Compares the keys of two groups of one level, outermost first. */
export function compareKeyLists(a: readonly Value[], b: readonly Value[]): number {
  for (const [i, key] of a.entries()) {
    const order = compareKeys(key, b[i]!);
    if (order !== 0) return order;
  }
  return 0;
}
