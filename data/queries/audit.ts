// The visibility audit: visibility and age of each attribute, and why it is missing. Free, so it contains no
// value and nothing that compares values of a non-public attribute (docs/decisions/0028-free-answers.md).
import type { Attribute } from '../../packs/define/model.ts';
import { listedAt } from '../consolidate/times.ts';
import type { FactReason, PublicRecord, SourceKind } from '../model/record.ts';
import { isoTime } from '../model/time.ts';
import type { FactRow, OpenItem } from '../plan/history.ts';
import type { QueryOptions } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';

/** Age against the attribute's limits in hours: below `warn`, between, or above `error`. */
export type Freshness = 'fresh' | 'ageing' | 'stale';

/** The newest fact of one source about an attribute, and why it won or lost. */
export interface SourceStatus {
  /** Id of the source. */
  source: string;
  kind: SourceKind;
  /** Whether the fact has a value; false: the source withdrew it. */
  hasValue: boolean;
  /** Whether the source still lists the record. */
  lists: boolean;
  observed_at: string;
  /** null: the reason would compare values of a non-public attribute. */
  reason: FactReason | null;
}

/** A published value. */
export interface PublishedValue {
  /** Hours, one decimal. */
  age: number;
  freshness: Freshness;
  /** Id of the source whose fact won. */
  source: string;
  owner: boolean;
  confidence: number;
  reason: FactReason;
}

/** The audit of one attribute. */
export interface AuditedAttribute {
  attribute: Attribute;
  /**
   * null: nothing is published; `sourceStatuses` has the reasons, and is empty when no source ever had a
   * value.
   */
  published: PublishedValue | null;
  /** The newest fact of each source, newest first. */
  sourceStatuses: SourceStatus[];
  /** Open review items; always empty for a non-public attribute. */
  openItems: { kind: OpenItem['kind']; opened_at: string }[];
}

/**
 * Audits every attribute of the pack, in its order. `record` has all values as of now; `ordinal` is its
 * ordinal.
 */
export async function audit(
  { engine, pack }: Pick<Release, 'engine' | 'pack'>,
  record: PublicRecord,
  ordinal: number,
  options: QueryOptions,
): Promise<AuditedAttribute[]> {
  const [past] = (await engine.past([ordinal], options)).records;
  const listings = past?.listings ?? [];
  const lists = (source: string) => listedAt(listings, source, Number.POSITIVE_INFINITY);
  const facts = Map.groupBy((past?.facts ?? []).toReversed(), ({ attribute }) => attribute);
  const items = Map.groupBy(await engine.openItems(record.id, options), ({ attribute }) => attribute);
  return pack.attributes.map((attribute) => {
    const rows = facts.get(attribute.name) ?? [];
    const open = attribute.public ? (items.get(attribute.name) ?? []) : [];
    return {
      attribute,
      published: publishedValue(attribute, record, rows),
      sourceStatuses: statusesOf(rows, lists, attribute),
      openItems: open.map(({ kind, opened_at }) => ({ kind, opened_at: isoTime(opened_at) })),
    };
  });
}

function publishedValue(attribute: Attribute, record: PublicRecord, facts: readonly FactRow[]): PublishedValue | null {
  const provenance = record.provenance[attribute.name];
  const age = record.freshness[attribute.name];
  if (provenance === undefined || age === undefined) return null;
  const winner = facts.find(({ won }) => won);
  return {
    age,
    freshness: freshness(attribute, age),
    source: winner?.source ?? '',
    owner: provenance.source.kind === 'owner',
    confidence: provenance.confidence,
    reason: winner?.reason ?? 'only_source',
  };
}

/** As /v1/{ds}/status counts it: an age equal to a limit is within it. */
function freshness({ sla }: Attribute, age: number): Freshness {
  if (age > sla.error) return 'stale';
  return age >= sla.warn ? 'ageing' : 'fresh';
}

/** Reasons that depend on the source, its confidence or its list of records, but on no value. */
const VALUELESS: readonly FactReason[] = ['below_floor', 'not_listed'];

/** The newest fact of each source; `facts` are newest first. */
function statusesOf(
  facts: readonly FactRow[],
  lists: (source: string) => boolean,
  { public: open }: Attribute,
): SourceStatus[] {
  const last = new Map<string, SourceStatus>();
  for (const { source, source_kind: kind, value, observed_at, reason: why } of facts) {
    if (last.has(`${kind} ${source}`)) continue;
    const reason = open || VALUELESS.includes(why) ? why : null;
    const status = { hasValue: value !== null, lists: lists(source), observed_at: isoTime(observed_at), reason };
    last.set(`${kind} ${source}`, { source, kind, ...status });
  }
  return [...last.values()];
}

/** Totals of an audit: attributes with a published value by visibility, and the others. */
export interface Tally {
  public: number;
  paid: number;
  /** Published values set by the owner. */
  owner: number;
  missing: number;
  /** Attributes with an open review item. */
  doubted: number;
  /** Published values older than the attribute's limit. */
  stale: number;
}

/** Counts the attributes of an audit. */
export function tally(audited: readonly AuditedAttribute[]): Tally {
  const count = (test: (one: AuditedAttribute) => boolean) => audited.filter(test).length;
  return {
    public: count(({ published: value, attribute }) => value !== null && attribute.public),
    paid: count(({ published: value, attribute }) => value !== null && !attribute.public),
    owner: count(({ published: value }) => value?.owner === true),
    missing: count(({ published: value }) => value === null),
    doubted: count(({ openItems: doubts }) => doubts.length > 0),
    stale: count(({ published: value }) => value?.freshness === 'stale'),
  };
}
