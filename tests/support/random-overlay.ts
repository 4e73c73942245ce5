// Seeded overlays over random records: some are removed, others get other values, another quality, or no
// values.
import { createHash } from 'node:crypto';
import type { PublishedInterval, StoredRecord } from '../../data/model/record.ts';
import type { AppliedOverlay, ChangedRecord, HistoryRow } from '../../data/plan/applied-overlay.ts';
import type { Pack, PriceRange } from '../../packs/define/model.ts';
import { randomHistory } from './random-history.ts';
import { random, randomRecords } from './random-records.ts';

export interface RandomOverlay {
  applied: AppliedOverlay;
  /** The records with the overlay applied. */
  records: StoredRecord[];
  /** The history with the overlay applied. */
  history: PublishedInterval[];
}

/** An overlay over records and their history; `end` as in `randomHistory`. */
export function randomOverlay(
  pack: Pack,
  records: readonly StoredRecord[],
  seed: number,
  history: readonly PublishedInterval[] = [],
  end = 0,
): RandomOverlay {
  const next = random(seed);
  const others = randomRecords(pack, records.length, seed + 1);
  const removed = new Set<string>();
  const told = new Map<string, StoredRecord>();
  for (const [i, record] of records.entries()) {
    const chance = next();
    if (chance < 0.1) removed.add(record.id);
    else if (chance < 0.25) {
      const { attributes, provenance, quality_score, updated_at } = others[i]!;
      const kept = chance < 0.12 ? { attributes: {}, provenance: {} } : { attributes, provenance };
      told.set(record.id, { ...record, ...kept, quality_score, updated_at, verified_owner: true });
    }
  }
  const fresh = randomHistory(pack, [...told.values()], seed + 2, end).filter(({ entity }) => told.has(entity));
  const changed = [...told.values()].map((record): ChangedRecord => {
    const own = fresh.filter(({ entity }) => entity === record.id);
    const version = createHash('sha256').update(JSON.stringify(record)).digest('hex').slice(0, 16);
    return { record, unpublished: {}, version, facts: [], review: [], history: rowsOf(own) };
  });
  return {
    // Records that the release does not contain may be removed or changed too, without effect.
    applied: {
      version: 3,
      removed: new Set([...removed, 'r-00000000000000aa']),
      changed: [
        ...changed,
        { ...changed[0]!, record: { ...changed[0]!.record, id: 'r-00000000000000ab', slug: 'nobody' } },
      ],
      decided: new Map(),
    },
    records: records.filter(({ id }) => !removed.has(id)).map((record) => told.get(record.id) ?? record),
    history: [...history.filter(({ entity }) => !removed.has(entity) && !told.has(entity)), ...fresh],
  };
}

function rowsOf(intervals: readonly PublishedInterval[]): HistoryRow[] {
  return intervals.map(({ attribute, value, from, to, source_url }, index) => {
    const before = intervals[index - 1];
    const old = before?.attribute === attribute ? before.value : null;
    const ends = typeof value === 'number' ? { min: value, max: value } : (value as PriceRange | null);
    const json = value === null ? null : JSON.stringify(value);
    const until = to === null ? null : Date.parse(to);
    const cells: HistoryRow['cells'] = [
      json,
      old === null ? null : JSON.stringify(old),
      ends?.min ?? null,
      ends?.max ?? null,
      Date.parse(from),
      until,
      source_url,
      'source',
      1,
    ];
    return { attribute, cells };
  });
}
