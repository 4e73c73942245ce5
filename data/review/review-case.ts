// A review entry with the context for a decision: the record, the history of its attribute, and the effect of
// either verdict.

import type { StoredRecord } from '../model/record.ts';
import { getFacts, type PublicFact } from '../queries/history.ts';
import { recordWithOverlay } from '../releases/apply-overlay.ts';
import { type ReviewContext, type ReviewEntry, reviewEntry, type Verdict, withDecision } from './review.ts';

/** The value of one attribute of a record, now or after a verdict. */
export interface AttributeState {
  /** Absent: nothing is published. */
  value?: StoredRecord['attributes'][string];
  confidence: number | null;
  source_url: string | null;
  quality: number;
}

/** An entry with its context. */
export interface ReviewCase {
  entry: ReviewEntry;
  /** Null: not published, or its dataset is not served. */
  record: StoredRecord | null;
  /** Every fact of the attribute, newest first. */
  history: PublicFact[];
  /** The value now and after either verdict; null for decided entries and requests. */
  effect: { now: AttributeState; approved: AttributeState; rejected: AttributeState } | null;
}

/** An entry with its context; null for an unknown id. */
export async function reviewCase(reviewing: ReviewContext, id: string, now: number): Promise<ReviewCase | null> {
  const entry = await reviewEntry(reviewing, id);
  if (entry === null) return null;
  const { dataset, entity_id: entity, attribute } = entry;
  const release = reviewing.editing.current(dataset);
  const nothing = { entry, record: null, history: [], effect: null };
  if (!release) return nothing;
  const [ordinal] = await release.engine.resolve([entity]);
  if (ordinal === null || ordinal === undefined) return nothing;
  const [stored] = await release.engine.bodies([ordinal]);
  const record = JSON.parse(stored!.body) as StoredRecord;
  if (attribute === null) return { ...nothing, record };
  const history = await getFacts(release, entity, { attribute, since: null }, {});
  if (entry.status !== 'open' || entry.request !== null) return { entry, record, history, effect: null };
  const { overlay, base = release } = release;
  const after = async (status: Verdict): Promise<AttributeState> => {
    if (!overlay) return saying(record, attribute);
    const version = Math.max(overlay.version, base.manifest.overlay ?? 0) + 1;
    const decision = { id, entity, attribute, status, at: now, version };
    return saying(await recordWithOverlay(base, withDecision(overlay, decision), entity), attribute);
  };
  const effect = {
    now: saying(record, attribute),
    approved: await after('approved'),
    rejected: await after('rejected'),
  };
  return { entry, record, history, effect };
}

function saying(record: StoredRecord | null, attribute: string): AttributeState {
  const value = record?.attributes[attribute];
  const provenance = record?.provenance[attribute];
  const { confidence = null, source_url = null } = provenance ?? {};
  return { ...(value === undefined ? {} : { value }), confidence, source_url, quality: record?.quality_score ?? 0 };
}

/** Names of records by `dataset id`, for lists; records that are no longer published have none. */
export async function recordNames(
  { editing }: ReviewContext,
  entries: readonly Pick<ReviewEntry, 'dataset' | 'entity_id'>[],
): Promise<Map<string, Pick<StoredRecord, 'name' | 'slug'>>> {
  const names = new Map<string, Pick<StoredRecord, 'name' | 'slug'>>();
  for (const [dataset, list] of Map.groupBy(entries, (entry) => entry.dataset)) {
    const engine = editing.current(dataset)?.engine;
    if (!engine) continue;
    const ids = [...new Set(list.map(({ entity_id }) => entity_id))];
    const ordinals = (await engine.resolve(ids)).filter((ordinal) => ordinal !== null);
    for (const { body } of await engine.bodies(ordinals)) {
      const { id, name, slug } = JSON.parse(body) as StoredRecord;
      names.set(`${dataset} ${id}`, { name, slug });
    }
  }
  return names;
}
