// Changes for a subscription: the part of the change feed that its conditions select, with the values that its key may read.
import type { ChangelogInput } from '../input/history-parameters.ts';
import { questionOf } from '../input/selection.ts';
import type { Predicate, QueryOptions } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';
import { type FeedChange, getChanges } from './changes.ts';

/** Conditions of a subscription: members of the changelog's input. */
export type SubscribedInput = Pick<
  ChangelogInput,
  'attributes' | 'direction' | 'type' | 'min_change_percent' | 'where' | 'words' | 'statuses' | 'any' | 'text' | 'names'
>;

export interface SubscribedRange {
  /** Microseconds since 1970: changes recorded later; and, if not null, not later than `until`. */
  since: number;
  until: number | null;
  /** Whether values of non-public attributes belong to it. */
  full: boolean;
  /** Most changes of the feed that are read. */
  limit: number;
}

/** The changes that match, oldest first, where the feed was read to, and whether that is its end. */
export interface SubscribedChanges {
  items: FeedChange[];
  until: number;
  end: boolean;
}

/**
 * Changes of the records that the conditions select now. A removed record has no values, so a subscription with conditions
 * on records or values gets no removal.
 */
export async function subscribedChanges(
  release: Release,
  input: SubscribedInput,
  { since, until, full, limit }: SubscribedRange,
  options: QueryOptions,
): Promise<SubscribedChanges> {
  const { pack, engine } = release;
  const { items } = await getChanges(release, { since, limit }, options);
  const within = items.filter(({ recorded_at }) => until === null || microsecondsOf(recorded_at) <= until);
  const open = new Set(pack.attributes.filter((attribute) => full || attribute.public).map(({ name }) => name));
  const { attributes, direction, type, min_change_percent: least } = input;
  const isAny = attributes === null && direction === null && type === 'all' && least === null;
  const candidates = within.filter(({ attribute, kind, change_percent: percent, ...item }) => {
    if (attribute === undefined) return isAny;
    if (!open.has(attribute) || (attributes !== null && !attributes.includes(attribute))) return false;
    if (type !== 'all' && item.type !== type) return false;
    if (least !== null && (percent === undefined || Math.abs(percent) < least)) return false;
    return direction === null || kind === direction;
  });
  const where = questionOf(input, full ? 'full' : 'public');
  const matching = await matchingIds(
    engine,
    where,
    [...new Set(candidates.map(({ entity_id }) => entity_id))],
    options,
  );
  const last = items.at(-1);
  return {
    items: candidates.filter(({ entity_id }) => matching === null || matching.has(entity_id)),
    until: last === undefined ? since : microsecondsOf(last.recorded_at),
    end: items.length < limit,
  };
}

/** Those of these records that match; null: no condition, so all do. */
async function matchingIds(
  engine: Release['engine'],
  where: readonly Predicate[],
  ids: string[],
  options: QueryOptions,
): Promise<ReadonlySet<string> | null> {
  if (where.length === 0) return null;
  if (ids.length === 0) return new Set();
  const refs = ids.map((id) => id.toLowerCase()).sort();
  const matches = new Set(
    await engine.matching({ ways: [[...where, { kind: 'ids', refs }]], limit: ids.length }, options),
  );
  const ordinals = await engine.resolve(refs, options);
  const matching = new Set(refs.filter((_, i) => ordinals[i] != null && matches.has(ordinals[i])));
  return new Set(ids.filter((id) => matching.has(id.toLowerCase())));
}

/** Microseconds since 1970 of a time with six decimals. */
function microsecondsOf(time: string): number {
  return Math.floor(Date.parse(time)) * 1000 + Number(time.slice(-4, -1));
}
