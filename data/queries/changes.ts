// The change feed: all changes in the order in which they became visible, for clients that poll (contract
// section 5).

import type { ChangesInput } from '../input/history-parameters.ts';
import type { RecordedChange } from '../plan/history.ts';
import type { QueryOptions } from '../plan/plan.ts';
import { CHANGES_A_SLICE, mapSlices } from '../plan/slices.ts';
import type { Release } from '../releases/release.ts';
import { type Change, publicChange } from './changelog.ts';

/** A change with its values and the microsecond at which it became visible. */
export type FeedChange = Change & { recorded_at: string };

/**
 * Changes that the overlay adds to the feed of a release after a time. Changes recorded after a newer release
 * reserved its range of the feed wait for that release: a client past that range would miss them. For an
 * opted-out record only the removal is included.
 */
function overlayFeed(
  { manifest, overlay }: Pick<Release, 'manifest' | 'overlay'>,
  since: number,
): readonly RecordedChange[] {
  if (!overlay) return [];
  const end = overlay.reserved.find((from) => from > (manifest.recorded_to ?? 0)) ?? Number.POSITIVE_INFINITY;
  const { feed, removed } = overlay;
  return feed.filter(
    ({ recorded_at: at, entity_id, type }) => at > since && at < end && (type === 'removed' || !removed.has(entity_id)),
  );
}

/** Microseconds since 1970 as ISO 8601 in UTC, six decimals. */
export function isoMicroseconds(at: number): string {
  const milliseconds = Math.floor(at / 1000);
  const finer = String(at - milliseconds * 1000).padStart(3, '0');
  return new Date(milliseconds).toISOString().replace('Z', `${finer}Z`);
}

/**
 * Changes recorded after `since`, oldest first. `next_since` is the time of the last change, or `since` when
 * there is none: a client that sends it next misses nothing and gets nothing twice, whichever release
 * answers.
 */
export async function getChanges(
  release: Pick<Release, 'engine' | 'manifest' | 'overlay'>,
  { since, limit }: Omit<ChangesInput, 'wait'>,
  options: QueryOptions,
): Promise<{ items: FeedChange[]; next_since: string }> {
  const stored = await release.engine.changes({ since, limit }, options);
  const rows = [...stored, ...overlayFeed(release, since)]
    .sort((a, b) => a.recorded_at - b.recorded_at)
    .slice(0, limit);
  const change = (row: RecordedChange): FeedChange => ({
    ...publicChange(row, () => true),
    recorded_at: isoMicroseconds(row.recorded_at),
  });
  return {
    items: await mapSlices(rows, CHANGES_A_SLICE, change, options),
    next_since: isoMicroseconds(rows.at(-1)?.recorded_at ?? since),
  };
}
