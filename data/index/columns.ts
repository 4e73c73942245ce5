// All structures of an index, opened on first use: an unused attribute costs only its bytes.

import type { Attribute, Pack } from '../../packs/define/model.ts';
import { BoundedCache } from '../model/bounded-cache.ts';
import { column } from '../model/layout.ts';
import type { ProvenanceStatus } from '../model/record.ts';
import type { SliceOptions } from '../plan/slices.ts';
import type { Container } from './container.ts';
import { Grid } from './grid.ts';
import { Keys } from './keys.ts';
import { Numbers } from './numbers.ts';
import { orderBy, SortOrder } from './orders.ts';
import { Terms } from './terms.ts';
import { Values } from './values.ts';

/** Key of the words of names among the values; attribute names have no spaces. */
export const NAME_WORDS = 'name words';

/** Attribute types whose values are compared as text. */
export const TEXTUAL = new Set<Attribute['type']>(['string', 'text', 'url', 'enum', 'date', 'datetime', 'strings']);

/**
 * Number of cached sort orders, four bytes per record each; an order is computed when a sort first needs it.
 */
const ORDERS = 4;

export class Columns {
  readonly size: number;
  readonly keys: Keys;
  readonly terms: Terms;
  readonly attributes: Map<string, Attribute>;
  readonly #container: Container;
  readonly #open = new Map<string, unknown>();
  readonly #orders = new BoundedCache<string, SortOrder>('sort orders', { most: ORDERS });

  constructor(container: Container, pack: Pack) {
    this.#container = container;
    this.keys = new Keys(container);
    this.size = this.keys.size;
    this.terms = new Terms(container, this.size);
    this.attributes = new Map(pack.attributes.map((attribute) => [attribute.name, attribute]));
  }

  #once<T>(name: string, make: () => T): T {
    if (!this.#open.has(name)) this.#open.set(name, make());
    return this.#open.get(name) as T;
  }

  attribute(name: string): Attribute {
    const attribute = this.attributes.get(name);
    if (!attribute) throw new Error(`the pack has no attribute ${name}`);
    return attribute;
  }

  values(name: string): Values {
    return this.#once(`values ${name}`, () => new Values(this.#container, name));
  }

  /** Dates or times by the first characters of their text: the distinct beginnings, sorted, and codes as in `values`. */
  periods(name: string, length: number): { texts: string[]; single: Uint32Array } {
    return this.#once(`periods ${name} ${length}`, () => {
      const { raw, single } = this.values(name);
      const texts: string[] = [];
      const periods = new Uint32Array(raw.length + 1);
      for (let code = 0; code < raw.length; code += 1) {
        const text = raw.at(code).slice(0, length);
        if (texts.at(-1) !== text) texts.push(text);
        periods[code + 1] = texts.length;
      }
      return { texts, single: Uint32Array.from(single!, (code) => periods[code]!) };
    });
  }

  /** A numeric column: a part of an attribute, or `quality` or `updated`. */
  numbers(name: string): Numbers {
    return this.#once(`numbers ${name}`, () => new Numbers(this.#container, name));
  }

  /** 0 missing, 1 false, 2 true. */
  flags(name: string): Uint8Array {
    return this.#once(`flags ${name}`, () => this.#container.get(column(name, 'value'), 'u8'));
  }

  /** By ordinal, the visibility of values with a status (statusReach). */
  reach(status: ProvenanceStatus): Uint8Array {
    return this.#once(`reach ${status}`, () => this.#container.get(status, 'u8'));
  }

  grid(name: string): Grid {
    return this.#once(`grid ${name}`, () => new Grid(this.#container, name));
  }

  /** Sort number of a record by a sort key: compares like the value. NaN without a value. */
  sortNumber(key: string): (ordinal: number) => number {
    if (this.#numeric(key)) {
      const numbers = this.#sortNumbers(key);
      return (ordinal) => numbers.at(ordinal);
    }
    if (this.attribute(key).type === 'boolean') {
      const flags = this.flags(key);
      return (ordinal) => (flags[ordinal] === 0 ? Number.NaN : flags[ordinal]!);
    }
    const values = this.values(key);
    if (!values.single) throw new Error(`${key} contains lists, which have no sort order`);
    return (ordinal) => {
      const code = values.code(ordinal);
      return code < 0 ? Number.NaN : code;
    };
  }

  #numeric(key: string): boolean {
    if (key === 'quality' || key === 'updated') return true;
    const { type } = this.attribute(key);
    return type !== 'boolean' && !TEXTUAL.has(type);
  }

  /** The numeric column that a sort key compares; of a price the lower end. */
  #sortNumbers(key: string): Numbers {
    if (key === 'quality' || key === 'updated') return this.numbers(key);
    return this.numbers(column(key, this.attribute(key).type === 'price' ? 'min' : 'value'));
  }

  /** Sort number of any value; a string that does not occur is between its neighbours. */
  sortNumberOf(key: string, value: number | string | boolean): number {
    if (typeof value === 'number') return value;
    if (typeof value === 'boolean') return value ? 2 : 1;
    return this.values(key).folded.rank(value);
  }

  /** The records in the order of a sort key; yields between slices while it is computed. */
  *order(key: string, options?: SliceOptions): Generator<void, SortOrder> {
    const entry = this.#orders.get(key);
    if (entry) return entry;
    const sortNumber = this.sortNumber(key);
    const order = new SortOrder(yield* orderBy(this.keys.byId, sortNumber, options), sortNumber, this.keys);
    this.#orders.set(key, order);
    return order;
  }

  /** Whether a record has a value for an attribute. */
  present(name: string): (ordinal: number) => boolean {
    const { type } = this.attribute(name);
    if (TEXTUAL.has(type)) {
      const values = this.values(name);
      return (ordinal) => values.has(ordinal);
    }
    if (type === 'boolean') {
      const flags = this.flags(name);
      return (ordinal) => flags[ordinal] !== 0;
    }
    const numbers =
      type === 'geo' ? this.grid(name).lat : this.numbers(column(name, type === 'price' ? 'min' : 'value'));
    return (ordinal) => !Number.isNaN(numbers.at(ordinal));
  }
}
