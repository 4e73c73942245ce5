// A cache with a bound, which drops the entries that were used least recently (docs/caches.md).
import { LRUCache } from 'lru-cache';

/** Entries by their size up to a total: of 1 each, or of `sizeOf`, usually bytes. */
interface Bound<V> {
  most: number;
  sizeOf?: (value: V) => number;
  /** Receives every entry that is dropped. */
  dropped?: (value: V) => void;
}

/**
 * Every cache of the register that is no derived value (packs/define/derive.ts). `name` is its name in docs/caches.md.
 *
 *     const pages = new BoundedCache<string, Buffer>('record pages', { most: 16 << 20, sizeOf: ({ length }) => length });
 */
export class BoundedCache<K extends NonNullable<unknown>, V extends NonNullable<unknown>> {
  readonly name: string;
  readonly #entries: LRUCache<K, V>;

  constructor(name: string, { most, sizeOf = () => 1, dropped }: Bound<V>) {
    this.name = name;
    this.#entries = new LRUCache({
      maxSize: Math.max(most, 1),
      sizeCalculation: sizeOf,
      ...(dropped && { dispose: dropped }),
    });
  }

  /** The sum of the sizes of all entries. */
  get size(): number {
    return this.#entries.calculatedSize;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Adds an entry; drops others if it does not fit. An entry above the bound is not added. */
  set(key: K, value: V): void {
    this.#entries.set(key, value);
  }

  /** The entry, or what `make` returns, which is added. */
  of(key: K, make: () => V): V {
    const existing = this.#entries.get(key);
    if (existing !== undefined) return existing;
    const value = make();
    this.#entries.set(key, value);
    return value;
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
