// A stored record as the caller may see it now: selected attributes, ages, links and citation (contract
// section 2, "Record").
import { attributionFor, licenseText, recordUrl } from '../../packs/define/links.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Provenance, PublicRecord, StoredRecord } from '../model/record.ts';
import { minuteOf } from '../model/time.ts';
import type { Visibility } from '../plan/plan.ts';

/** Caller, time and host; `Context` of api/contract/operation.ts implements it. */
export interface PresentOptions {
  now: Date;
  base_url: string;
  /** `public`: an anonymous preview. */
  visibility: Visibility;
  /** Records that the caller may still preview; null or absent: unlimited. */
  previews?: number | null;
  signal?: AbortSignal;
}

const HOUR = 3_600_000;
const MINUTE = 60_000;

/**
 * Age of an observation (ISO 8601 or ms since 1970) in hours, one decimal, never negative. Computed from
 * whole minutes, so that answers within a minute are equal.
 */
export function hoursSince(observed_at: string | number, now: Date): number {
  const minute = minuteOf(now) * MINUTE;
  const at = typeof observed_at === 'number' ? observed_at : Date.parse(observed_at);
  return Math.max(0, Math.round(((minute - at) / HOUR) * 10) / 10);
}

/**
 * The record as the API returns it. `fields` selects attributes (null: all); a preview contains public ones
 * only. Attributes that the pack no longer has are left out, since their visibility is unknown.
 */
export function presentRecord(
  stored: StoredRecord | string,
  pack: Pack,
  { now, base_url, visibility }: PresentOptions,
  fields: readonly string[] | null = null,
): PublicRecord {
  const record = typeof stored === 'string' ? (JSON.parse(stored) as StoredRecord) : stored;
  const attributes: PublicRecord['attributes'] = {};
  const provenance: Record<string, Provenance> = {};
  const freshness: Record<string, number> = {};
  for (const attribute of pack.attributes) {
    const { name } = attribute;
    const value = record.attributes[name];
    const source = record.provenance[name];
    const visible = (visibility === 'full' || attribute.public) && (fields === null || fields.includes(name));
    if (!visible || value === undefined || source === undefined) continue;
    attributes[name] = value;
    provenance[name] = source;
    freshness[name] = hoursSince(source.observed_at, now);
  }
  return {
    id: record.id,
    slug: record.slug,
    name: record.name,
    dataset: record.dataset,
    url: recordUrl(base_url, record.dataset, record.slug),
    updated_at: record.updated_at,
    attributes,
    provenance,
    freshness,
    quality_score: record.quality_score,
    completeness: record.completeness,
    verified_owner: record.verified_owner,
    license: licenseText(pack),
    attribution: attributionFor(pack, base_url, record.slug, record.name),
    ...(visibility === 'public' ? { preview: true as const } : {}),
  };
}
