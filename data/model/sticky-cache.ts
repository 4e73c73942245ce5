// A bounded cache that replaces its entries slowly.
import { BoundedCache } from './bounded-cache.ts';

/**
 * When the cache is full, it takes one of this many new entries. If it took every one, and slightly more entries were
 * in use than fit, each would be replaced before it is needed again. This costs more than no cache.
 */
const ADMITTED = 16;

/** The inputs of repeated calls, up to a total size. The caller asks `admits` before it adds one. */
export class StickyCache<K extends NonNullable<unknown>, V extends NonNullable<unknown>> extends BoundedCache<K, V> {
  readonly #most: number;
  /** New entries since the cache is full. */
  #late = 0;

  /** `most`: the total size of all entries; `sizeOf` an entry: 1 if absent. */
  constructor(most: number, sizeOf: (value: V) => number = () => 1) {
    super('repeated calls', { most, sizeOf });
    this.#most = most;
  }

  /** Whether a new entry of this size should be added; when the cache is full, one in sixteen. */
  admits(size = 1): boolean {
    if (this.size + size <= this.#most) return true;
    this.#late += 1;
    return this.#late % ADMITTED === 0;
  }
}
