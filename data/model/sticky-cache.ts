// A bounded cache that replaces its entries slowly.
import { LRUCache } from 'lru-cache';

/**
 * When the cache is full, it takes one of this many new entries. If it took every one, and slightly more entries were
 * in use than fit, each would be replaced before it is needed again. This costs more than no cache.
 */
const ADMITTED = 16;

/** Entries up to a total size. The caller asks `admits` before it adds one. */
export class StickyCache<K extends NonNullable<unknown>, V extends NonNullable<unknown>> {
  readonly #entries: LRUCache<K, V>;
  readonly #most: number;
  /** New entries since the cache is full. */
  #late = 0;

  /** `most`: the total size of all entries; `sizeOf` an entry: 1 if absent. */
  constructor(most: number, sizeOf: (value: V) => number = () => 1) {
    this.#most = most;
    this.#entries = new LRUCache({ maxSize: Math.max(most, 1), sizeCalculation: sizeOf });
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Whether a new entry of this size should be added; when the cache is full, one in sixteen. */
  admits(size = 1): boolean {
    if (this.#entries.calculatedSize + size <= this.#most) return true;
    this.#late += 1;
    return this.#late % ADMITTED === 0;
  }

  /** Adds an entry; drops those that were used least recently if it does not fit. */
  set(key: K, value: V): void {
    this.#entries.set(key, value);
  }

  clear(): void {
    this.#entries.clear();
  }
}
