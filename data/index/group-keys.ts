// Codes of the values that facets, statistics and time series group by.
import type { Value } from '../../packs/define/model.ts';
import { column } from '../model/layout.ts';
import type { StoredRecord } from '../model/record.ts';
import { type GroupKey, groupKey, groupsOf } from '../plan/group-key.ts';
import { type Columns, TEXTUAL } from './columns.ts';
import type { Codes } from './container.ts';
import type { Postings } from './postings.ts';

/** The codes of one key in the index: `single` by ordinal, 1 + code, 0: missing; or `lists` of codes. */
export interface Coded {
  codes: number;
  single: Codes | null;
  lists: Postings | null;
  value(code: number): Value;
  /** -1: the value does not occur. */
  find(value: Value): number;
}

/** The keys of one attribute during one query. Values of changed records that the index lacks get further codes. */
export class GroupKeys {
  readonly #key: GroupKey;
  readonly #coded: Coded;
  readonly #added: Value[] = [];

  private constructor(key: GroupKey, coded: Coded) {
    this.#key = key;
    this.#coded = coded;
  }

  /** Null when the index has no codes for the values of the attribute. */
  static of(columns: Columns, by: string): GroupKeys | null {
    const key = groupKey(by, (name) => columns.attribute(name));
    const coded = codedOf(columns, key);
    return coded && new GroupKeys(key, coded);
  }

  /** Number of codes. */
  get size(): number {
    return this.#coded.codes + this.#added.length;
  }

  value(code: number): Value {
    return code < this.#coded.codes ? this.#coded.value(code) : this.#added[code - this.#coded.codes]!;
  }

  /** The codes of a changed record. */
  codesOf({ attributes }: StoredRecord): number[] {
    return groupsOf(this.#key, attributes[this.#key.attribute.name]).map((value) => this.#add(value));
  }

  #add(value: Value): number {
    const code = this.#coded.find(value);
    if (code >= 0) return code;
    const at = this.#added.indexOf(value);
    return this.#coded.codes + (at >= 0 ? at : this.#added.push(value) - 1);
  }

  /** By ordinal: 1 + code, 0: missing. Null for lists. */
  get single(): Codes | null {
    return this.#coded.single;
  }

  /** Visits the codes of a record: none, one, or one for each entry of a list. */
  each(ordinal: number, visit: (code: number) => void): void {
    const { single, lists } = this.#coded;
    if (single) {
      if (single[ordinal] !== 0) visit(single[ordinal]! - 1);
    } else if (lists) {
      const end = lists.end(ordinal);
      for (let i = lists.start(ordinal); i < end; i += 1) visit(lists.list[i]!);
    }
  }
}

/** The codes of a key; null when the index has none. */
export function codedOf(columns: Columns, { attribute: { name, type }, length }: GroupKey): Coded | null {
  if (length !== null) {
    const { texts, single } = columns.periods(name, length);
    const value = (code: number) => texts[code]!;
    return { codes: texts.length, single, lists: null, value, find: (text) => texts.indexOf(String(text)) };
  }
  if (TEXTUAL.has(type)) {
    const { raw, single, lists } = columns.values(name);
    const find = (value: Value) => raw.find(String(value));
    return { codes: raw.length, single, lists, value: (code) => raw.at(code), find };
  }
  if (type === 'boolean')
    return {
      codes: 2,
      single: columns.flags(name),
      lists: null,
      value: (code) => code === 1,
      find: (value) => Number(value),
    };
  const numbers = columns.numbers(column(name, 'value'));
  if (numbers.codes === null) return null;
  return {
    codes: numbers.distinct,
    single: numbers.codes,
    lists: null,
    value: (code) => numbers.ofCode(code + 1),
    find: (value) => numbers.codeOf(Number(value)) - 1,
  };
}
