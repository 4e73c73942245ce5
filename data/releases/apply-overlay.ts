// Applies an overlay to a release: settles the touched records from the facts of the release, owners' values
// and decisions.
import { createHash } from 'node:crypto';
import { byCodePoint } from '../../packs/define/text.ts';
import { itemStatements, reviewFacts } from '../consolidate/history-rows.ts';
import type { ConsolidationContext, Dispute } from '../consolidate/settle.ts';
import { confirmedAt } from '../consolidate/times.ts';
import type { Manifest } from '../model/layout.ts';
import type { Fact, ReviewItem, StoredRecord } from '../model/record.ts';
import { isoTime } from '../model/time.ts';
import type { AppliedOverlay, ChangedRecord } from '../plan/applied-overlay.ts';
import type { FactRow, Past, PastRecord } from '../plan/history.ts';
import { type Overlay, OWNER_SOURCE, type OwnerFact, touchedSince } from '../plan/overlay.ts';
import { contextAt, type SettledPast, settledHistory, settlePast } from '../plan/settled.ts';
import type { Release } from './release.ts';

/**
 * A release with its overlay; `problem` is the error when edits and decisions could not be applied, else
 * null.
 */
export interface OverlaidRelease {
  release: Release;
  problem: string | null;
}

/**
 * Applies an overlay to a release; `base` stays unchanged. Opted-out records are removed in any case. When
 * the rest cannot be computed (DuckDB is not available), `problem` is set and the caller retries.
 */
export async function applyOverlay(base: Release, overlay: Overlay): Promise<OverlaidRelease> {
  const held = base.manifest.overlay ?? 0;
  // Removals up to the overlay version of a release are not in it, unless the store was restored from a
  // backup.
  const older = overlay.version < held;
  const removed = [...overlay.removed.values()]
    .filter(({ version }) => older || version > held)
    .map(({ entity }) => entity);
  const outs = await resolved(base, removed);
  const decided = new Map(
    [...overlay.decided].map(([entity, list]) => [
      entity,
      list.map(({ id, attribute, status, at }) => ({ id, attribute, status, at })),
    ]),
  );
  const plain = { version: overlay.version, removed: new Set(removed), changed: [], decided };
  const over = { base, overlay, withheld: outs.size > 0 };
  try {
    return { release: { ...base, ...(await changeOf(base, overlay, plain, outs, held)), ...over }, problem: null };
  } catch (error) {
    const engine = base.engine.withOverlay(plain);
    const touched = { gone: [...outs.values()], changed: [] };
    return { release: { ...base, engine, touched, applied: plain, ...over }, problem: (error as Error).message };
  }
}

/** A record with an overlay applied; null: removed, or not in the release. `base` must have no overlay. */
export async function recordWithOverlay(base: Release, overlay: Overlay, id: string): Promise<StoredRecord | null> {
  const touched = await resolved(base, overlay.removed.has(id) ? [] : [id]);
  const ordinals = [...touched.values()];
  if (ordinals.length === 0) return null;
  const [stored] = await base.engine.bodies(ordinals);
  const before = JSON.parse(stored!.body) as StoredRecord;
  const held = base.manifest.overlay ?? 0;
  if (!touchedSince(overlay, held).includes(id)) return before;
  const past = await base.engine.past(ordinals);
  const [settled] = settleTouched(base, overlay, past, touched, held, new Map([[id, before]]));
  return settled?.changed?.record ?? null;
}

/** Ordinals of the ids that are in the release. */
async function resolved({ engine }: Release, ids: string[]): Promise<Map<string, number>> {
  const ordinals = ids.length === 0 ? [] : await engine.resolve(ids);
  return new Map(ids.flatMap((id, i) => (ordinals[i] === null ? [] : [[id, ordinals[i]!] as const])));
}

async function changeOf(
  base: Release,
  overlay: Overlay,
  plain: AppliedOverlay,
  outs: ReadonlyMap<string, number>,
  held: number,
): Promise<Pick<Release, 'engine' | 'manifest' | 'touched' | 'applied'>> {
  const { engine, manifest } = base;
  const touched = await resolved(
    base,
    touchedSince(overlay, held).filter((id) => !overlay.removed.has(id)),
  );
  if (outs.size === 0 && touched.size === 0)
    return { manifest, engine: plain.removed.size + plain.decided.size > 0 ? engine.withOverlay(plain) : engine };
  const ordinals = [...outs.values(), ...touched.values()];
  const before = (await engine.bodies(ordinals)).map(({ body }) => JSON.parse(body) as StoredRecord);
  const past = await engine.past(ordinals);
  const settled = settleTouched(
    base,
    overlay,
    past,
    touched,
    held,
    new Map(before.map((record) => [record.id, record])),
  );
  const changed = settled.flatMap(({ changed: one }) => one ?? []);
  const empty = settled.flatMap(({ id, changed: one }) => (one === null ? [id] : []));
  const applied: AppliedOverlay = { ...plain, removed: new Set([...plain.removed, ...empty]), changed };
  const facts = (records: { facts: readonly unknown[] }[]) =>
    records.reduce((sum, record) => sum + record.facts.length, 0);
  const view = engine.withOverlay(applied);
  const counts = {
    records: manifest.records - outs.size - empty.length,
    facts: manifest.facts - facts(past.records) + facts(changed),
    ages: agesOf(
      manifest,
      before,
      changed.map(({ record }) => record),
    ),
  };
  try {
    const enums = await enumsOf({ ...base, engine: view }, [...before, ...changed.map(({ record }) => record)]);
    const gone = [...outs.values(), ...empty.map((id) => touched.get(id)!)];
    const others = changed.map(({ record }) => touched.get(record.id)!);
    return { manifest: { ...manifest, ...counts, enums }, engine: view, touched: { gone, changed: others }, applied };
  } catch (error) {
    await view.close();
    throw error;
  }
}

/** The touched records as of now; `changed` null: it has no published values. */
function settleTouched(
  { pack }: Release,
  overlay: Overlay,
  past: Past,
  touched: ReadonlyMap<string, number>,
  held: number,
  before: ReadonlyMap<string, StoredRecord>,
): { id: string; changed: ChangedRecord | null }[] {
  const context = contextAt(pack, past.readings, Number.POSITIVE_INFINITY);
  return past.records
    .filter(({ id }) => touched.has(id))
    .map((record) => {
      const { id } = record;
      const additions = (overlay.ownerFacts.get(id) ?? []).filter(({ version }) => version > held);
      const facts = [...record.facts, ...additions.map(factOf)].sort(inOrder);
      const decided = overlay.decided.get(id) ?? [];
      const settled = settlePast(pack, { ...record, facts, decided }, context, Number.POSITIVE_INFINITY);
      const shown = overlay.feed.findLast((row) => row.entity_id === id && row.version > held);
      const updated_at = shown ? isoTime(Math.floor(shown.recorded_at / 1000)) : before.get(id)!.updated_at;
      return { id, changed: settled.record && changedOf({ ...settled.record, updated_at }, record, settled, context) };
    });
}

/** An owner's value as a fact of the release. */
function factOf({ entity, attribute, value, source_url, evidence, at }: OwnerFact): FactRow {
  const values = {
    entity,
    attribute,
    value,
    source: OWNER_SOURCE,
    source_url,
    source_kind: 'owner' as const,
    evidence,
    run: OWNER_SOURCE,
  };
  return {
    ...values,
    observed_at: at,
    confirmed_at: at,
    confidence: 1,
    won: false,
    reason: 'superseded',
    group_median: null,
  };
}

/** Same order as `pastStatement`. */
function inOrder(a: FactRow, b: FactRow): number {
  return (
    byCodePoint(a.attribute, b.attribute) ||
    a.observed_at - b.observed_at ||
    byCodePoint(a.run, b.run) ||
    byCodePoint(a.source, b.source) ||
    byCodePoint(a.value ?? '', b.value ?? '')
  );
}

function changedOf(
  record: StoredRecord,
  { id }: PastRecord,
  settled: SettledPast,
  context: ConsolidationContext,
): ChangedRecord {
  const facts: FactRow[] = [];
  const review: ReviewItem[] = [];
  for (const { attribute: definition, input, timeline: course } of settled.attributes) {
    const { statements } = input;
    const attribute = definition.name;
    for (const [i, { at, json, value, group_median = null, ...rest }] of statements.entries()) {
      const confirmed_at = confirmedAt(input, context.readings, i, Number.POSITIVE_INFINITY);
      const verdict = { won: i === course.now.winner, reason: course.now.reasons[i]! };
      facts.push({
        entity: id,
        attribute,
        value: value === null ? null : json,
        ...rest,
        observed_at: at,
        confirmed_at,
        ...verdict,
        group_median,
      });
    }
    const items: (Dispute & { opened_at: number; confirmed_at?: number })[] = [...course.disputes, ...course.confirmed];
    for (const reviewItem of items) {
      const about = itemStatements(statements, reviewItem.statements);
      const facts = JSON.parse(reviewFacts(id, attribute, about)) as Fact[];
      const group_median = reviewItem.kind === 'outlier' ? about[0]!.group_median : undefined;
      const { id: item, kind } = reviewItem;
      review.push({
        ...{ id: item, kind, dataset: record.dataset, entity_id: id, attribute, facts: facts },
        opened_at: isoTime(reviewItem.opened_at),
        ...(reviewItem.confirmed_at !== undefined ? { confirmed_at: isoTime(reviewItem.confirmed_at) } : {}),
        ...(group_median === undefined ? {} : { group_median }),
      });
    }
  }
  const version = createHash('sha256').update(JSON.stringify(record)).digest('hex').slice(0, 16);
  const history = settledHistory(settled);
  return { record, unpublished: settled.unpublished, version, facts: facts.sort(inOrder), history, review };
}

/** Counts by attribute and time, minus those of `before`, plus those of `after`. */
function agesOf({ ages }: Manifest, before: readonly StoredRecord[], after: readonly StoredRecord[]): Manifest['ages'] {
  const counts = new Map(ages.map(({ attribute, observed_at, count }) => [`${attribute}\n${observed_at}`, count]));
  const add = (records: readonly StoredRecord[], n: number) => {
    for (const { provenance } of records)
      for (const [attribute, { observed_at }] of Object.entries(provenance)) {
        const key = `${attribute}\n${observed_at}`;
        counts.set(key, (counts.get(key) ?? 0) + n);
      }
  };
  add(before, -1);
  add(after, 1);
  return [...counts]
    .filter(([, count]) => count > 0)
    .map(([key, count]) => {
      const [attribute = '', observed_at = ''] = key.split('\n');
      return { attribute, observed_at, count };
    });
}

/**
 * Values of open enums that any of the records has or had, counted again; at most as many as a manifest
 * lists.
 */
async function enumsOf(
  { pack, manifest, engine }: Release,
  records: readonly StoredRecord[],
): Promise<Manifest['enums']> {
  const enums = { ...manifest.enums };
  for (const { name, type, values } of pack.attributes) {
    if (type !== 'enum' || values !== null || !records.some(({ attributes }) => attributes[name] !== undefined))
      continue;
    const facetAnswer = await engine.facets({ where: [], by: name, limit: 500, floor: 0 });
    enums[name] = facetAnswer.values.map(({ value }) => String(value));
  }
  return enums;
}
