// A stored record as this caller sees it now: trimmed, aged, with its links and its citation (contract section 2, "Record").
import { attributionFor, licenseText, recordUrl } from '../../packs/define/links.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Provenance, PublicRecord, StoredRecord } from '../model/record.ts';
import type { Visibility } from '../plan/plan.ts';

/** Who asks, when and where; `Context` of api/contract/operation.ts is one. */
export interface Presenting {
  now: Date;
  base_url: string;
  /** `public`: an anonymous preview. */
  visibility: Visibility;
  /** Records that may still be previewed; null or absent: no bound. */
  previews?: number | null;
  signal?: AbortSignal;
}

const HOUR = 3_600_000;
const MINUTE = 60_000;

/**
 * Age of an observation (ISO 8601 or ms since 1970) in hours, one decimal, never negative. Whole minutes count, so that
 * answers of the same minute agree.
 */
export function hoursSince(observed_at: string | number, now: Date): number {
  const minute = Math.floor(now.getTime() / MINUTE) * MINUTE;
  const at = typeof observed_at === 'number' ? observed_at : Date.parse(observed_at);
  return Math.max(0, Math.round(((minute - at) / HOUR) * 10) / 10);
}

/**
 * The record as it is answered. `fields` keeps those attributes (null: all); a preview keeps public ones only. Attributes
 * that the pack no longer has are left out, since nobody says who may see them.
 */
export function present(
  stored: StoredRecord | string,
  pack: Pack,
  { now, base_url, visibility }: Presenting,
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
    const seen = (visibility === 'full' || attribute.public) && (fields === null || fields.includes(name));
    if (!seen || value === undefined || source === undefined) continue;
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
