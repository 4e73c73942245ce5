// A set of ordinals as bits: 32 per word, bit i of word w is ordinal 32 w + i.

export class Bitset {
  readonly words: Uint32Array;
  readonly size: number;

  constructor(size: number, words: Uint32Array = new Uint32Array((size + 31) >>> 5)) {
    this.size = size;
    this.words = words;
  }

  /** The set of a list's ordinals. */
  static of(list: Iterable<number>, size: number): Bitset {
    const set = new Bitset(size);
    for (const ordinal of list) set.add(ordinal);
    return set;
  }

  add(ordinal: number): void {
    this.words[ordinal >>> 5]! |= 1 << (ordinal & 31);
  }

  has(ordinal: number): boolean {
    return (this.words[ordinal >>> 5]! & (1 << (ordinal & 31))) !== 0;
  }

  /** Intersects this set with the other one. */
  and(other: Bitset): this {
    for (let i = 0; i < this.words.length; i += 1) this.words[i]! &= other.words[i]!;
    return this;
  }

  count(): number {
    let total = 0;
    for (let word of this.words) {
      word -= (word >>> 1) & 0x55555555;
      word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
      total += (((word + (word >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
    }
    return total;
  }

  /** Members in ascending order. */
  toArray(): Uint32Array {
    const out = new Uint32Array(this.count());
    let at = 0;
    this.each((ordinal) => {
      out[at++] = ordinal;
    });
    return out;
  }

  /** Visits the members in ascending order. */
  each(visit: (ordinal: number) => void): void {
    for (let w = 0; w < this.words.length; w += 1) {
      let word = this.words[w]!;
      while (word !== 0) {
        const low = word & -word;
        visit((w << 5) + (31 - Math.clz32(low)));
        word ^= low;
      }
    }
  }
}
