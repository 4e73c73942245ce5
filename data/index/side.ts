// Records that an overlay changed: a handful, kept as objects and tested in plain JavaScript, merged into what the index finds.
import type { Attribute, Pack, Value } from '../../packs/model.ts';
import { byCodePoint, fold, words } from '../../packs/text.ts';
import type { StoredRecord } from '../model.ts';
import type { Position, Predicate, Sort, Visibility } from '../plan.ts';
import { distance } from './grid.ts';

/** What a sort compares: null where the record has no value. */
export type SortValue = Position['value'];

export class SideTable {
  readonly records: { ordinal: number; record: StoredRecord }[];
  readonly #attributes: Map<string, Attribute>;

  /** Changed records keep the ordinals they have in the index. */
  constructor(pack: Pack, records: { ordinal: number; record: StoredRecord }[]) {
    this.records = records;
    this.#attributes = new Map(pack.attributes.map((attribute) => [attribute.name, attribute]));
  }

  /** Changed records that match, in no particular order. */
  matching(where: Predicate[]): { ordinal: number; record: StoredRecord }[] {
    return this.records.filter(({ record }) => where.every((predicate) => this.#test(record, predicate)));
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

  /** A text as it is compared: folded, dates as written. */
  #compared(name: string, text: string): string {
    return this.#attributes.get(name)?.type === 'date' ? text : fold(text);
  }

  #texts(record: StoredRecord, name: string): (string | number | boolean)[] {
    const value = record.attributes[name];
    if (value === undefined) return [];
    if (Array.isArray(value)) return value.map((text) => fold(text));
    return [typeof value === 'string' ? this.#compared(name, value) : (value as number | boolean)];
  }

  #test(record: StoredRecord, predicate: Predicate): boolean {
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
        return this.#words(record, predicate.words, predicate.scope);
      case 'near': {
        const point = record.attributes[predicate.attribute] as { lat: number; lng: number } | undefined;
        return point !== undefined && distance(predicate.lat, predicate.lng, point.lat, point.lng) <= predicate.km;
      }
      case 'ids':
        return predicate.refs.includes(record.id) || predicate.refs.includes(record.slug);
      case 'updated_since':
        return Date.parse(record.updated_at) >= predicate.at;
      case 'min_quality':
        return record.quality_score >= predicate.value;
    }
  }

  #words(record: StoredRecord, prefixes: string[], scope: Visibility): boolean {
    const own = this.wordsOf(record, scope);
    return prefixes.every((prefix) => own.some((word) => word.startsWith(prefix)));
  }

  /** Words of the searchable attributes. */
  wordsOf(record: StoredRecord, scope: Visibility): string[] {
    return Object.entries(record.attributes).flatMap(([name, value]) => {
      const attribute = this.#attributes.get(name);
      if (!attribute?.searchable || (scope === 'public' && !attribute.public)) return [];
      return (Array.isArray(value) ? value : [String(value)]).flatMap((text) => words(text));
    });
  }
}

/** The end of a value that a bound is held against; NaN where there is nothing to compare. */
function end(value: Value | undefined, which: 'min' | 'max'): number | string {
  if (value === undefined) return Number.NaN;
  if (typeof value === 'object' && 'min' in value) return value[which];
  return value as number | string;
}

/** Order of two values of one kind; NaN (never true in a comparison) where either is absent. */
function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' || typeof b === 'number') return Number(a) - Number(b);
  return byCodePoint(a, b);
}

/** Order of two (value, id) pairs under a sort: absent values last either way, ties by id ascending. */
export function inOrder(sort: Sort, a: Position, b: Position): number {
  if (a.value === null || b.value === null) {
    if (a.value !== b.value) return a.value === null ? 1 : -1;
  } else if (a.value !== b.value) {
    const order =
      typeof a.value === 'string' ? byCodePoint(a.value, String(b.value)) : Number(a.value) - Number(b.value);
    return sort.descending ? -order : order;
  }
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
