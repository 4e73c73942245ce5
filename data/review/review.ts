// Review entries: disagreements, jumps and outliers of the releases, and requests of the owners' channel;
// listed and decided once.
import { derive } from '../../packs/define/derive.ts';
import type { Fact, ReviewItem } from '../model/record.ts';
import { isoTime } from '../model/time.ts';
import type { OperatorDecision, Overlay } from '../plan/overlay.ts';
import { type EditContext, editRecord, withEntry } from '../releases/overlay-edit.ts';
import type { Release } from '../releases/release.ts';
import { recordAudit } from '../state/audit.ts';
import { type DecidedRow, decidedItem, decidedItems } from '../state/overlay.ts';
import { type OwnerRequest, requestOf, requestsBy } from '../state/owners/requests.ts';

/** The operator, and the time of the decision (milliseconds since 1970). */
export interface Reviewer {
  /** `operator <first digits of the hash of their key>`. */
  who: string;
  now: number;
  request_id: string;
}

export type Verdict = 'approved' | 'rejected';
/** `confirmed`: a later reading or another source confirmed the held value, so no decision is needed. */
export type ReviewStatus = 'open' | 'confirmed' | Verdict;

/** Dependencies of the review. */
export interface ReviewContext {
  editing: EditContext;
  /** Datasets that are served. */
  datasets: readonly string[];
  /**
   * Applies a decision about a request of the owners' channel, with its row in the audit log; false when it
   * was decided before.
   */
  decideRequest(request: OwnerRequest, verdict: Verdict, reviewer: Reviewer): Promise<boolean>;
}

/** One open or decided entry. */
export interface ReviewEntry {
  id: string;
  status: ReviewStatus;
  /**
   * `conflict`, `jump`, `outlier`: about facts. The others are requests; `notice` is an opt-out that is
   * already applied, `report` a mistake that a reader reports.
   */
  kind: ReviewItem['kind'] | OwnerRequest['kind'];
  dataset: string;
  entity_id: string;
  /** Null for a request, except a report about one attribute. */
  attribute: string | null;
  /** The published fact and the other one; for an outlier the held one; empty for a request. */
  facts: Fact[];
  /** For an outlier: the median of its group. */
  group_median?: number;
  opened_at: string;
  decided_at: string | null;
  decided_by: string | null;
  /** The contact and subject of a request, and why an operator must decide it. */
  request: Pick<OwnerRequest, 'name' | 'slug' | 'contact' | 'reason' | 'because'> | null;
}

/** Maximum number of open items read per dataset. */
const MOST = 20_000;

/** Items of a release with its overlay, which never change. */
function itemsOf(release: Release, status: 'open' | 'confirmed'): Promise<ReviewItem[]> {
  const plan = { entity: null, id: null, confirmed: status === 'confirmed', limit: MOST };
  return derive(release, `${status} review items`, () => release.engine.review(plan));
}

const ofItem = ({ confirmed_at, ...item }: ReviewItem): ReviewEntry => ({
  ...item,
  status: confirmed_at === undefined ? 'open' : 'confirmed',
  decided_at: confirmed_at ?? null,
  decided_by: null,
  request: null,
});

const ofDecision = ({ item, status, at, decided_by }: DecidedRow): ReviewEntry => ({
  ...ofItem(item),
  status,
  decided_at: isoTime(at),
  decided_by,
});

function ofRequest(row: OwnerRequest): ReviewEntry {
  const { id, status, kind, dataset, entity_id, opened_at, decided_at, decided_by } = row;
  const { name, slug, contact, reason, because, attribute } = row;
  return {
    ...{ id, status, kind, dataset, entity_id, attribute, facts: [] },
    opened_at: isoTime(opened_at),
    decided_at: decided_at === null ? null : isoTime(decided_at),
    decided_by,
    request: { name, slug, contact, reason, because },
  };
}

/** Filter for entries. `status` null: all; `dataset` null: every dataset. */
export interface ReviewQuery {
  status: ReviewStatus | null;
  dataset: string | null;
  limit: number;
  offset: number;
}

/**
 * Entries and their total number. Open ones: requests first, then the newest disagreement; decided ones after
 * them, newest decision first.
 *
 * @example
 * ```ts
 * const { items, total } = await reviewEntries(context, { status: 'open', dataset: null, limit: 20, offset: 0 });
 * ```
 */
export async function reviewEntries(
  { editing, datasets }: ReviewContext,
  { status, dataset, limit, offset }: ReviewQuery,
): Promise<{ items: ReviewEntry[]; total: number }> {
  const { store } = editing;
  const wanted = datasets.filter((id) => dataset === null || id === dataset);
  const releases = wanted.flatMap((id) => editing.current(id) ?? []);
  const listed: ReviewEntry[] = [];
  for (const state of ['open', 'confirmed'] as const) {
    if (status !== null && status !== state) continue;
    listed.push(...(await Promise.all(releases.map((release) => itemsOf(release, state)))).flat().map(ofItem));
  }
  const decided =
    status === 'open' || status === 'confirmed' ? [] : (await decidedItems(store, status, MOST)).map(ofDecision);
  const requests = status === 'confirmed' ? [] : (await requestsBy(store, status, MOST)).map(ofRequest);
  const here = ({ dataset: id }: ReviewEntry) => dataset === null || id === dataset;
  const all = [...listed, ...decided.filter(here), ...requests.filter(here)].sort(inTurn);
  return { items: all.slice(offset, offset + limit), total: all.length };
}

function inTurn(a: ReviewEntry, b: ReviewEntry): number {
  const rank = ({ status, request, kind }: ReviewEntry) =>
    status !== 'open' ? 3 : request === null ? 2 : kind === 'notice' ? 1 : 0;
  const newest = (x: string, y: string) => (x < y ? 1 : x > y ? -1 : 0);
  return (
    rank(a) - rank(b) || newest(a.decided_at ?? a.opened_at, b.decided_at ?? b.opened_at) || (a.id < b.id ? -1 : 1)
  );
}

/** One entry by its id, open or decided; null for an unknown id, such as of a resolved disagreement. */
export async function reviewEntry({ editing, datasets }: ReviewContext, id: string): Promise<ReviewEntry | null> {
  const { store } = editing;
  const decided = await decidedItem(store, id);
  if (decided) return ofDecision(decided);
  const request = await requestOf(store, id);
  if (request) return ofRequest(request);
  for (const dataset of datasets) {
    const release = editing.current(dataset);
    if (!release) continue;
    for (const confirmed of [false, true]) {
      const [item] = await release.engine.review({ entity: null, id, confirmed, limit: 1 });
      if (item) return ofItem(item);
    }
  }
  return null;
}

/** Result of a decision; `already`: the entry as it was decided before. */
export type DecisionResult = { state: 'decided' | 'already'; entry: ReviewEntry } | { state: 'unknown' };

class Already extends Error {}

/** Decides an entry once: writes the overlay, which all processes apply, and its row in the audit log. */
export async function decideEntry(
  reviewing: ReviewContext,
  id: string,
  verdict: Verdict,
  reviewer: Reviewer,
): Promise<DecisionResult> {
  const entry = await reviewEntry(reviewing, id);
  if (entry === null) return { state: 'unknown' };
  if (entry.status !== 'open') return { state: 'already', entry };
  try {
    const request = entry.request === null ? null : await requestOf(reviewing.editing.store, id);
    if (request === null) await decideItem(reviewing.editing, entry, verdict, reviewer);
    else if (!(await reviewing.decideRequest(request, verdict, reviewer))) throw new Already();
  } catch (error) {
    if (!(error instanceof Already)) throw error;
    return { state: 'already', entry: (await reviewEntry(reviewing, id)) ?? entry };
  }
  return { state: 'decided', entry: (await reviewEntry(reviewing, id)) ?? { ...entry, status: verdict } };
}

async function decideItem(
  editing: EditContext,
  entry: ReviewEntry,
  verdict: Verdict,
  reviewer: Reviewer,
): Promise<void> {
  const { id, kind, dataset, entity_id: entity, facts, opened_at, group_median } = entry;
  const attribute = entry.attribute ?? '';
  const { who, now: at, request_id } = reviewer;
  await editRecord(editing, {
    dataset,
    entity,
    now: at,
    alter: (overlay, version) => {
      if (overlay.decided.get(entity)?.some((operatorDecision) => operatorDecision.id === id)) throw new Already();
      return withDecision(overlay, { id, entity, attribute, status: verdict, at, version });
    },
    write: async (db, version) => {
      const item: ReviewItem = {
        id,
        kind: kind as ReviewItem['kind'],
        dataset,
        entity_id: entity,
        attribute,
        facts,
        opened_at,
        ...(group_median === undefined ? {} : { group_median }),
      };
      const row = { id, dataset, entity_id: entity, attribute, status: verdict, at, decided_by: who, version };
      await db
        .insertInto('decisions')
        .values({ ...row, item: JSON.stringify(item) })
        .execute();
      const action = verdict === 'approved' ? 'approve' : 'reject';
      const details = { kind, attribute, values: facts.map(({ value }) => value) };
      await recordAudit({ db }, { at, who, action, dataset, entity_id: entity, subject: id, request_id, details });
    },
  });
}

/** An overlay with one more decision. */
export const withDecision = (overlay: Overlay, decision: OperatorDecision): Overlay => ({
  ...overlay,
  decided: withEntry(overlay.decided, decision.entity, decision),
});
