// Drafts a release from facts: consolidates every record, for now and for its history, and writes the files.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Duck } from '../../data/duckdb/duck.ts';
import type { Manifest } from '../../data/model/layout.ts';
import { isoTime } from '../../data/model/time.ts';
import type { Overlay } from '../../data/plan/overlay.ts';
import { recordsNotes } from '../../data/write/analysts-files.ts';
import { Draft } from '../../data/write/draft.ts';
import { type ReadingRow, validReadings } from '../../data/write/facts.ts';
import type { PreviousRelease } from '../../data/write/previous-release.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Effects } from '../effects/effects.ts';
import { lineRanges, sortFacts } from './facts.ts';
import { settleApart, settlePart } from './part.ts';
import { ValueTally } from './tally.ts';

/** Input of a release. */
export interface ReleaseInput {
  pack: Pack;
  dataDir: string;
  /** All readings of the dataset since its first collection that a release contains, and those of `run`. */
  allReadings: readonly ReadingRow[];
  /** The pending run that the release publishes; absent: none. */
  run?: string | undefined;
  /** The release before, or null. */
  before: PreviousRelease | null;
  /** Opt-outs, owners' edits and decisions to apply. */
  overlay: Overlay;
  effects: Effects;
  /** Called when the folder has the files from which the index is built, with the number of records. */
  indexable?: (folder: string, records: number) => void;
  /** Ranges to settle, in threads or one after the other; the files do not depend on it. */
  split?: { ranges: number; threads: boolean };
}

/** A release in a workspace, complete except for its change feed and manifest. */
export interface ReleaseDraft
  extends Pick<Manifest, 'created_at' | 'records' | 'facts' | 'enums' | 'ages' | 'confirmed'> {
  /** Folder of the release's files. */
  folder: string;
  /** Rows by file name. */
  rows: Record<string, number>;
  /** Open review items. */
  review: number;
}

/** Facts from which on a thread is worth its start. */
const WORTH = 200_000;

/**
 * Consolidates all facts of a dataset and writes the release files into a workspace folder, which it clears
 * first.
 *
 * @example
 * ```ts
 * const draft = await draftRelease({ pack, dataDir, allReadings, overlay, before, effects }, workspace);
 * ```
 */
export async function draftRelease(making: ReleaseInput, workspace: string): Promise<ReleaseDraft> {
  const { pack, dataDir, allReadings: made, overlay, before, effects } = making;
  const { progress } = effects;
  const draft = new Draft(workspace);
  progress.step(pack.id, 'sort facts');
  const spill = join(workspace, 'spill-facts');
  const duck = await Duck.open(spill);
  const ownerFacts = [...overlay.ownerFacts.values()].flat();
  // A source whose rows have their own times confirms nothing by being read again.
  const confirming = made.filter(({ date_source }) => date_source !== 'rows');
  const { total, names, medians, query } = await sortFacts(duck, dataDir, pack, {
    made,
    run: making.run,
    ownerFacts,
    workspace,
    path: draft.stored,
    warn: (text) => progress.warn(`${pack.id}: ${text}`),
  }).finally(() => duck.close());

  progress.step(pack.id, 'consolidate');
  const worth = Math.max(1, Math.min(4, availableParallelism(), Math.floor(total / WORTH)));
  const split = making.split ?? { ranges: worth, threads: worth > 1 };
  const decided = [...overlay.decided.values()].flat();
  const removed = new Set(overlay.removed.keys());
  let done = 0;
  const onProgress = (facts: number) => {
    done += facts;
    progress.at(done, total, 'facts');
  };
  const settle = split.threads ? settleApart : settlePart;
  const settled = await Promise.all(
    lineRanges(draft.stored, split.ranges).map((range, number) =>
      settle(
        pack,
        { range, names, medians, made: confirming, decided, removed, folder: draft.part(number), number },
        onProgress,
      ),
    ),
  );
  const tally = new ValueTally();
  for (const { counts } of settled) tally.addCounts(counts);
  const parts = settled.map(({ files }) => files);

  const readings = validReadings(made);
  const now = effects.now().getTime();
  const log = (step: string) => progress.step(pack.id, step);
  const created_at = isoTime(now);
  const notes = recordsNotes(pack, created_at);
  const valid = validReadings(confirming);
  const indexable = (count: number) => making.indexable?.(draft.out, count);
  const input = { pack, names, facts: query, readings: valid, before, now, notes, indexable, log };
  const rows = await draft.finish(parts, input);
  return {
    created_at,
    ...tally.manifestCounts(pack),
    records: parts.reduce((sum, { quality }) => sum + quality.length, 0),
    facts: parts.reduce((sum, { facts }) => sum + facts, 0),
    review: parts.reduce((sum, { review }) => sum + review, 0),
    confirmed: newestBySource(readings),
    folder: draft.out,
    rows,
  };
}

function newestBySource(readings: readonly ReadingRow[]): Record<string, string> {
  const newest = new Map<string, number>();
  for (const { source, confirmed_at } of readings)
    newest.set(source, Math.max(confirmed_at, newest.get(source) ?? confirmed_at));
  return Object.fromEntries([...newest].map(([source, at]) => [source, isoTime(at)]));
}
