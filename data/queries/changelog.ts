// The changelog: new and changed values, newest first, with the values of public attributes (specification
// section 4).
import type { Attribute, Pack, Value } from '../../packs/define/model.ts';
import type { ChangelogInput } from '../input/history-parameters.ts';
import { printable } from '../input/parse-values.ts';
import { DataError } from '../model/errors.ts';
import { isoTime } from '../model/time.ts';
import type { ChangeRow } from '../plan/history.ts';
import type { QueryOptions } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';

/**
 * A change as the API returns it (contract section 2, "changelog"). For a removed record without attribute,
 * values or source.
 */
export interface Change {
  entity_id: string;
  slug: string;
  name: string;
  attribute?: string;
  type: ChangeRow['type'];
  /** Absent: there was no value, or it is not public. */
  old_value?: Value;
  /** Absent: the value was withdrawn, or it is not public. */
  new_value?: Value;
  observed_at: string;
  source_url?: string;
}

const DAY = 86_400_000;

/**
 * A page of the changelog, relative to `now`. It contains values of public attributes only, so that every
 * caller gets the same answer. Throws `unknown_entity` (404).
 */
export async function getChangelog(
  { engine, pack }: Pick<Release, 'engine' | 'pack'>,
  { days, limit, offset, attribute, entity, type }: ChangelogInput,
  now: Date,
  options: QueryOptions,
): Promise<{ items: Change[]; total: number }> {
  const [ordinal] = entity === null ? [null] : await engine.resolve([entity.toLowerCase()], options);
  if (entity !== null && (ordinal === null || ordinal === undefined))
    throw new DataError('unknown_entity', `entity: ${pack.id} has no record "${printable(entity)}".`);
  const since = now.getTime() - days * DAY;
  const plan = { since, attribute, ordinal: ordinal ?? null, type, limit, offset };
  const { rows, total } = await engine.changelog(plan, options);
  const open = new Set(pack.attributes.filter((each: Attribute) => each.public).map(({ name }) => name));
  return { items: rows.map((row) => publicChange(row, (name) => open.has(name))), total };
}

/** The row as the API returns it; `shows` decides whether an attribute's values are included. */
export function publicChange(row: ChangeRow, shows: (attribute: string) => boolean): Change {
  const visible = row.attribute !== null && shows(row.attribute);
  const value = (json: string) => JSON.parse(json) as Value;
  return {
    entity_id: row.entity_id,
    // For records removed before their names were stored, only the id is known.
    slug: row.slug ?? row.entity_id,
    name: row.name ?? row.entity_id,
    ...(row.attribute === null ? {} : { attribute: row.attribute }),
    type: row.type,
    ...(visible && row.old_value !== null ? { old_value: value(row.old_value) } : {}),
    ...(visible && row.new_value !== null ? { new_value: value(row.new_value) } : {}),
    observed_at: isoTime(row.observed_at),
    ...(row.source_url === null ? {} : { source_url: row.source_url }),
  };
}

/** Attributes of a pack by name, to format changes with units. */
export function attributesOf(pack: Pack): ReadonlyMap<string, Attribute> {
  return new Map(pack.attributes.map((attribute) => [attribute.name, attribute]));
}
