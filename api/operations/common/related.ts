// Related data of a record page: the history and the sources of its public values, the same thing from other
// sources, and similar records.

import { changelogParameters } from '../../../data/input/history-parameters.ts';
import type { PublicRecord, StoredRecord } from '../../../data/model/record.ts';
import type { FactRow } from '../../../data/plan/history.ts';
import type { QueryOptions, Visibility } from '../../../data/plan/plan.ts';
import { type Change, getChangelog } from '../../../data/queries/changelog.ts';
import type { Release } from '../../../data/releases/release.ts';
import type { Pack, Value } from '../../../packs/define/model.ts';
import type { OtherRecord, RelatedData, Step } from '../../pages/related-data.ts';
import { distinctionOf } from '../../render/distinction.ts';

/** Most similar records on a page, the same thing from other sources, and candidates that are compared. */
const MOST = { similar: 6, same: 25, compared: 150 };
/** Most changes and facts of a record that are read. */
const CHANGES = 1_000;
const FACTS = 5_000;
/** Days of the changelog: all. */
const EVER = 36_500;

/** A page without related data. */
export const NO_RELATED: RelatedData = { similar: [], same: [], history: {}, sources: {} };

/** The history and the sources of a record; attributes as in `loadRelated`. */
export async function loadHistory(
  { engine, pack }: Release,
  { id, provenance }: Pick<PublicRecord, 'id' | 'provenance'>,
  now: Date,
  options: QueryOptions,
): Promise<Pick<RelatedData, 'history' | 'sources'>> {
  const ofRecord = changelogParameters.parse({ entity: id }, pack);
  const everything = { ...ofRecord, days: EVER, limit: CHANGES };
  const [changes, facts] = await Promise.all([
    getChangelog({ engine, pack }, everything, now, options),
    engine.facts({ entity: id, attribute: null, since: null, limit: FACTS }, options),
  ]);
  const shown = pack.attributes.filter((attribute) => attribute.public && provenance[attribute.name] !== undefined);
  const history = shown.map(({ name }): [string, Step[]] => {
    const ofAttribute = ({ attribute }: { attribute?: string }) => attribute === name;
    return [name, steps(changes.items.filter(ofAttribute).reverse(), facts.filter(ofAttribute).reverse())];
  });
  return { history: Object.fromEntries(history), sources: sourceTitles(pack, facts) };
}

/**
 * Queries the release. Returns public values only, for every caller: further data is sold by other
 * operations. Histories are limited to attributes in `record`.
 */
export async function loadRelated(
  release: Release,
  record: Pick<PublicRecord, 'id' | 'provenance'>,
  ordinal: number,
  now: Date,
  options: QueryOptions,
): Promise<RelatedData> {
  const [others, history] = await Promise.all([
    loadOthers(release, ordinal, options),
    loadHistory(release, record, now, options),
  ]);
  return { ...others, ...history };
}

/** The published values of an attribute, from its changes and facts, both oldest first. */
function steps(changes: readonly Change[], facts: readonly FactRow[]): Step[] {
  const made = changes.map(
    ({ new_value = null, observed_at, source_url }): Step => ({ at: observed_at, value: new_value, source_url }),
  );
  const [first] = changes;
  if (first?.type === 'added' && first.old_value === undefined) return made;
  // The first reading of a dataset is no change: its facts have the value that all changes came after.
  const value = first ? JSON.stringify(first.old_value) : facts.find(({ won }) => won)?.value;
  const begin = facts.find((fact) => fact.value === value);
  if (begin === undefined || value === undefined || value === null) return made;
  const { observed_at, source_url } = begin;
  return [{ at: new Date(observed_at).toISOString(), value: JSON.parse(value) as Value, source_url }, ...made];
}

/** Titles of the sources of published values, by attribute. */
function sourceTitles({ sources }: Pack, facts: readonly FactRow[]): RelatedData['sources'] {
  const titles = new Map(sources.map(({ id, title }) => [id, title]));
  const published = facts.filter(({ won, source_kind }) => won && source_kind === 'collector');
  return Object.fromEntries(published.map(({ attribute, source }) => [attribute, titles.get(source) ?? source]));
}

/** The most similar records; those with the same `identity.same` are in `same`, lowest price first. */
export async function loadOthers(
  { engine, pack }: Release,
  subject: number,
  options: QueryOptions,
): Promise<Pick<RelatedData, 'similar' | 'same'>> {
  // The page is public, so paid texts must not influence the records on it.
  const { similar_by, similar_min_score: minScore, similar_differ_by } = pack.serving;
  const isPublic = (name: string) => pack.attributes.some((attribute) => attribute.public && attribute.name === name);
  const scope: Visibility = similar_by.every(isPublic) ? 'full' : 'public';
  const plan = { subject, where: [], differBy: null, scope, minScore, limit: MOST.compared };
  const hits = await engine.similar(plan, options);
  const bodies = await engine.bodies([subject, ...hits.map(({ ordinal }) => ordinal)], options);
  const [record, ...all] = bodies.map(({ body }) => JSON.parse(body) as StoredRecord);
  const keyOf = ({ attributes }: StoredRecord) =>
    pack.identity.attributes.every(isPublic)
      ? pack.identity.same(attributes as Parameters<Pack['identity']['same']>[0])
      : null;
  const key = keyOf(record!);
  const differs = similar_differ_by !== null && isPublic(similar_differ_by) ? similar_differ_by : null;
  const isSame = (hit: StoredRecord) =>
    key !== null && differs !== null && keyOf(hit) === key && hit.attributes[differs] !== record!.attributes[differs];
  const price = pack.price_attributes.find(isPublic);
  const cost = ({ attributes }: StoredRecord): number => {
    const value = price === undefined ? undefined : attributes[price];
    return typeof value === 'number' ? value : typeof value === 'object' && 'min' in value ? value.min : Infinity;
  };
  const same = all.filter(isSame).slice(0, MOST.same);
  const other = ({ id, slug, name, attributes, provenance }: StoredRecord): OtherRecord => {
    const checked = price === undefined ? undefined : provenance[price]?.observed_at;
    return {
      ...{ id, slug, name, detail: distinctionOf(pack, { name, attributes }), own: id === record!.id },
      group: differs === null ? null : (attributes[differs] ?? null),
      price: price === undefined ? null : (attributes[price] ?? null),
      checked: checked ?? null,
    };
  };
  return {
    same: same.length === 0 ? [] : [record!, ...same].sort((a, b) => cost(a) - cost(b)).map(other),
    similar: all
      .filter((candidate) => !same.includes(candidate))
      .slice(0, MOST.similar)
      .map(other),
  };
}
