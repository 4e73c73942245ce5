// Records that an overlay changed: a few objects, tested in plain JavaScript and merged into the answers of
// the index.
import type { Attribute, Geo, Pack, Value } from '../../packs/define/model.ts';
import { byCodePoint, fold } from '../../packs/define/text.ts';
import { leastReach, statusReach, type TermFlags } from '../consolidate/engine-values.ts';
import { boxTest, distanceKm, wholeMetres } from '../model/geography.ts';
import type { StoredRecord } from '../model/record.ts';
import type { HistoryRow } from '../plan/applied-overlay.ts';
import type { DistanceSort, Position, Predicate, Sort, Visibility } from '../plan/plan.ts';

/** Value that a sort compares; null without a value. */
export type SortValue = Position['value'];

/** A changed record with its ordinal in the index, its search terms and the history of its values. */
export interface SideRecord {
  ordinal: number;
  record: StoredRecord;
  history: readonly HistoryRow[];
  terms: ReadonlyMap<string, TermFlags>;
}

export class SideTable {
  readonly records: readonly SideRecord[];
  readonly #pack: Pack;
  readonly #attributes: Map<string, Attribute>;
  /** The words of each record, sorted: of all texts, and of public ones. */
  readonly #words: ReadonlyMap<SideRecord, Record<Visibility, readonly string[]>>;

  /** Changed records keep the ordinals they have in the index. */
  constructor(pack: Pack, records: readonly SideRecord[]) {
    this.records = records;
    this.#pack = pack;
    this.#attributes = new Map(pack.attributes.map((attribute) => [attribute.name, attribute]));
    this.#words = new Map(
      records.map((record) => {
        const all = [...record.terms].sort(([a], [b]) => (a < b ? -1 : 1));
        const open = all.filter(([, flags]) => flags.public);
        return [record, { full: all.map(([word]) => word), public: open.map(([word]) => word) }];
      }),
    );
  }

  /** The changed record of an ordinal. */
  at(ordinal: number): SideRecord | undefined {
    return this.records.find((changed) => changed.ordinal === ordinal);
  }

  /** Changed records that match, unsorted. */
  matching(where: Predicate[]): SideRecord[] {
    return this.records.filter((changed) => where.every((predicate) => this.matches(changed, predicate)));
  }

  sortValue(record: StoredRecord, key: string): SortValue {
    if (key === 'quality') return record.quality_score;
    if (key === 'updated') return Date.parse(record.updated_at);
    const value = record.attributes[key];
    if (value === undefined) return null;
    if (typeof value === 'object' && 'min' in value) return value.min;
    if (typeof value === 'string') return this.#compared(key, value);
    return value as number | boolean;
  }

  /** Whole metres from the point of `near`, of a record that matches it. */
  metres(record: StoredRecord, { attribute, lat, lng }: DistanceSort): number {
    const point = record.attributes[attribute] as Geo;
    return wholeMetres(distanceKm(lat, lng, point.lat, point.lng));
  }

  /** A text in its compared form: folded, dates unchanged. */
  #compared(name: string, text: string): string {
    return this.#attributes.get(name)?.type === 'date' ? text : fold(text);
  }

  #texts(record: StoredRecord, name: string): (string | number | boolean)[] {
    const value = record.attributes[name];
    if (value === undefined) return [];
    if (Array.isArray(value)) return value.map((text) => fold(text));
    return [typeof value === 'string' ? this.#compared(name, value) : (value as number | boolean)];
  }

  matches(changed: SideRecord, predicate: Predicate): boolean {
    const { record } = changed;
    switch (predicate.kind) {
      case 'any':
        return this.#texts(record, predicate.attribute).some((text) => predicate.values.includes(text));
      case 'none':
        return !this.#texts(record, predicate.attribute).some((text) => predicate.values.includes(text));
      case 'like':
        return this.#texts(record, predicate.attribute).some((text) => String(text).includes(predicate.needle));
      case 'min':
        return compare(end(record.attributes[predicate.attribute], 'max'), predicate.value) >= 0;
      case 'max':
        return compare(end(record.attributes[predicate.attribute], 'min'), predicate.value) <= 0;
      case 'has':
        return (record.attributes[predicate.attribute] !== undefined) === predicate.present;
      case 'words':
        return hasWords(this.#words.get(changed)![predicate.scope], predicate.words);
      case 'status':
        return predicate.statuses.some(
          (status) =>
            statusReach(this.#pack, status, (name) => record.provenance[name]?.status) >= leastReach(predicate.scope),
        );
      case 'near': {
        const point = record.attributes[predicate.attribute] as Geo | undefined;
        return point !== undefined && distanceKm(predicate.lat, predicate.lng, point.lat, point.lng) <= predicate.km;
      }
      case 'bbox': {
        const point = record.attributes[predicate.attribute] as Geo | undefined;
        return point !== undefined && boxTest(predicate)(point.lat, point.lng);
      }
      case 'ids':
        return predicate.refs.includes(record.id) || predicate.refs.includes(record.slug);
      case 'updated_since':
        return Date.parse(record.updated_at) >= predicate.at;
      case 'min_quality':
        return record.quality_score >= predicate.value;
    }
  }
}

/** Whether each prefix begins one of the sorted words. */
function hasWords(words: readonly string[], prefixes: readonly string[]): boolean {
  return prefixes.every((prefix) => {
    let [low, high] = [0, words.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (words[middle]! < prefix) low = middle + 1;
      else high = middle;
    }
    return words[low]?.startsWith(prefix) === true;
  });
}

/** The end of a value that a bound compares; NaN without one. */
function end(value: Value | undefined, which: 'min' | 'max'): number | string {
  if (value === undefined) return Number.NaN;
  if (typeof value === 'object' && 'min' in value) return value[which];
  return value as number | string;
}

/** Compares two values of one kind; NaN (false in every comparison) when one is missing. */
function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' || typeof b === 'number') return Number(a) - Number(b);
  return byCodePoint(a, b);
}

/**
 * Compares two positions under a sort: missing values last in both directions, then ties in descending order,
 * then ids ascending.
 */
export function comparePositions(sort: Sort, a: Position, b: Position): number {
  if (a.value === null || b.value === null) {
    if (a.value !== b.value) return a.value === null ? 1 : -1;
  } else if (a.value !== b.value) {
    const order =
      typeof a.value === 'string' ? byCodePoint(a.value, String(b.value)) : Number(a.value) - Number(b.value);
    return sort.descending ? -order : order;
  }
  for (const [i, tie] of (a.ties ?? []).entries()) {
    const other = b.ties?.[i] ?? null;
    if (tie !== other) return tie === null ? 1 : other === null ? -1 : other - tie;
  }
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
