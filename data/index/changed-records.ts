// Records that an overlay changed: a few objects, tested in plain JavaScript and merged into the answers of
// the index.
import type { Attribute, Geo, Pack } from '../../packs/define/model.ts';
import { byCodePoint, fold } from '../../packs/define/text.ts';
import { comparedTime, PERIOD_LENGTHS } from '../../packs/define/times.ts';
import { statusReach, type TermFlags } from '../consolidate/engine-values.ts';
import { distanceKm, wholeMetres } from '../model/geography.ts';
import type { ProvenanceStatus, StoredRecord } from '../model/record.ts';
import type { End, Truth } from '../plan/expression.ts';
import type { DistanceSort, Position, Predicate, Sort, Visibility } from '../plan/plan.ts';
import {
  type Area,
  type Bounds,
  conditionTests,
  type RecordNumber,
  type RowValues,
  type Test,
} from '../plan/predicates.ts';

/** Value that a sort compares; null without a value. */
export type SortValue = Position['value'];

/** A changed record with its ordinal in the index and its search terms. */
export interface SideRecord {
  ordinal: number;
  record: StoredRecord;
  terms: ReadonlyMap<string, TermFlags>;
}

export class SideTable implements RowValues<SideRecord> {
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
    const tests = conditionTests(where, this);
    return this.records.filter((changed) => tests.every((test) => test(changed)));
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

  /** A text in its compared form: folded, dates unchanged, times without `Z`. */
  #compared(name: string, text: string): string {
    const type = this.#attributes.get(name)?.type;
    return type === 'datetime' ? comparedTime(text) : type === 'date' ? text : fold(text);
  }

  #texts(record: StoredRecord, name: string): (string | number | boolean)[] {
    const value = record.attributes[name];
    if (value === undefined) return [];
    if (Array.isArray(value)) return value.map((text) => fold(text));
    return [typeof value === 'string' ? this.#compared(name, value) : (value as number | boolean)];
  }

  equal(name: string, values: readonly (string | number | boolean)[]): Test<SideRecord> {
    const isTime = this.#attributes.get(name)?.type === 'datetime';
    return ({ record }) => {
      const texts = this.#texts(record, name);
      // A time also equals its day.
      if (isTime) texts.push(...texts.map((text) => String(text).slice(0, PERIOD_LENGTHS.day)));
      return texts.some((text) => values.includes(text));
    };
  }

  containing(name: string, needle: string): Test<SideRecord> {
    return ({ record }) => this.#texts(record, name).some((value) => String(value).includes(needle));
  }

  texts(name: string): (changed: SideRecord) => readonly string[] {
    const isTime = this.#attributes.get(name)?.type === 'datetime';
    return ({ record }) => {
      const value = record.attributes[name];
      if (value === undefined) return [];
      return Array.isArray(value) ? value : [isTime ? comparedTime(String(value)) : String(value)];
    };
  }

  someText(name: string, passes: (text: string) => boolean): (changed: SideRecord) => Truth {
    const texts = this.texts(name);
    return (changed) => (texts(changed).length === 0 ? null : texts(changed).some(passes));
  }

  present(name: string): Test<SideRecord> {
    return ({ record }) => record.attributes[name] !== undefined;
  }

  bound(name: string, end: End): Bounds<SideRecord> {
    return {
      at: ({ record }) => {
        const value = record.attributes[name];
        if (value === undefined) return Number.NaN;
        if (typeof value === 'object' && 'min' in value) return value[end];
        return typeof value === 'string' ? this.#compared(name, value) : (value as number);
      },
      of: (value) => value,
    };
  }

  point(name: string) {
    const of = ({ record }: SideRecord) => record.attributes[name] as Geo | undefined;
    return {
      lat: (changed: SideRecord) => of(changed)?.lat ?? Number.NaN,
      lng: (changed: SideRecord) => of(changed)?.lng ?? Number.NaN,
    };
  }

  inArea(_area: Area, test: Test<SideRecord>): Test<SideRecord> {
    return test;
  }

  recordNumber(name: RecordNumber): (changed: SideRecord) => number {
    return ({ record }) => (name === 'quality' ? record.quality_score : Date.parse(record.updated_at));
  }

  word(prefix: string, scope: Visibility): Test<SideRecord> {
    return (changed) => hasWord(this.#words.get(changed)![scope], prefix);
  }

  reach(status: ProvenanceStatus): (changed: SideRecord) => number {
    return ({ record }) => statusReach(this.#pack, status, (name) => record.provenance[name]?.status);
  }

  refs(refs: readonly string[]): Test<SideRecord> {
    return ({ record }) => refs.includes(record.id) || refs.includes(record.slug);
  }
}

/** Whether a prefix begins one of the sorted words. */
function hasWord(words: readonly string[], prefix: string): boolean {
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (words[middle]! < prefix) low = middle + 1;
    else high = middle;
  }
  return words[low]?.startsWith(prefix) === true;
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
