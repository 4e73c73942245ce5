// Facts and prices of one record (specification section 4, "Record endpoints").
import type { Pack, Value } from '../../packs/define/model.ts';
import { type FactsInput, HISTORY_BOUNDS } from '../input/history-parameters.ts';
import { DataError } from '../model/errors.ts';
import type { FactReason, ProvenanceStatus, PublicRecord, SourceKind } from '../model/record.ts';
import { isoTime } from '../model/time.ts';
import type { QueryOptions } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';

/** A fact as the API returns it (contract section 2, "facts"). */
export interface PublicFact {
  attribute: string;
  /** Absent: the source withdrew the value. */
  value?: Value;
  /** First observation, and the newest reading of its source with this value. */
  observed_at: string;
  confirmed_at: string;
  source_url: string;
  confidence: number;
  evidence: string;
  source: { id: string; kind: SourceKind };
  /** Whether this is the published value, and the reason. */
  won: boolean;
  reason: FactReason;
}

/**
 * Facts of one record, newest first; `attribute` and `since` narrow them. Throws `too_many_records` (400) for
 * more than one answer can contain. Facts of attributes that the pack no longer has are left out.
 */
export async function getFacts(
  { engine, pack }: Pick<Release, 'engine' | 'pack'>,
  entity: string,
  { attribute, since }: FactsInput,
  options: QueryOptions,
): Promise<PublicFact[]> {
  const most = HISTORY_BOUNDS.facts;
  const rows = await engine.facts({ entity, attribute, since, limit: most + 1 }, options);
  if (rows.length > most)
    throw new DataError(
      'too_many_records',
      `The record has more than ${most} facts. Narrow the query with attribute or since.`,
    );
  const names = new Set(pack.attributes.map(({ name }) => name));
  return rows
    .filter((row) => names.has(row.attribute))
    .map((row) => ({
      attribute: row.attribute,
      ...(row.value === null ? {} : { value: JSON.parse(row.value) as Value }),
      observed_at: isoTime(row.observed_at),
      confirmed_at: isoTime(row.confirmed_at),
      source_url: row.source_url,
      confidence: row.confidence,
      evidence: row.evidence,
      source: { id: row.source, kind: row.source_kind },
      won: row.won,
      reason: row.reason,
    }));
}

/** A price as the API returns it (contract section 2, "prices"). */
export interface PublicPrice {
  attribute: string;
  /** A number, or a range. */
  value: Value;
  currency: string | null;
  unit: string | null;
  source_url: string;
  observed_at: string;
  confidence: number;
  evidence: string;
  /** As in the provenance of the record. */
  status?: ProvenanceStatus;
}

/** Price attributes of a record, in the pack's order. */
export function getPrices(record: PublicRecord, pack: Pack): PublicPrice[] {
  return pack.attributes.flatMap(({ name, type, currency, unit }) => {
    const value = record.attributes[name];
    const provenance = record.provenance[name];
    if (type !== 'price' || value === undefined || provenance === undefined) return [];
    const { source_url, observed_at, confidence, evidence, status } = provenance;
    const price = { attribute: name, value, currency, unit, source_url, observed_at, confidence, evidence };
    return [status === undefined ? price : { ...price, status }];
  });
}
