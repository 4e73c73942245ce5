// Ordinal of an id or slug, and the id of an ordinal.
//
//   high, low  u32 per ordinal   the 16 hex digits of the id as two halves: comparing (high, low) is comparing ids
//   slug.text, slug.ends         the slugs by ordinal, end to end
//   table      u32, 2^k slots    open addressing over hash(id) and hash(slug): ordinal + 1, 0 where free, at most half full
import type { Container, Packed } from './container.ts';

/** FNV-1a over UTF-16 units, spread by one more mix; ids and slugs are ASCII. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return (h ^ (h >>> 13)) >>> 0;
}

/** Packs ids and slugs given by ordinal. */
export function packKeys(ids: string[], slugs: string[]): Record<string, Packed> {
  const bits = Math.max(4, Math.ceil(Math.log2(ids.length * 4 + 1)));
  const mask = 2 ** bits - 1;
  const table = new Uint32Array(2 ** bits);
  const high = new Uint32Array(ids.length);
  const low = new Uint32Array(ids.length);
  const ends = new Uint32Array(slugs.length);
  let end = 0;
  for (const [ordinal, id] of ids.entries()) {
    high[ordinal] = Number.parseInt(id.slice(2, 10), 16);
    low[ordinal] = Number.parseInt(id.slice(10, 18), 16);
    const slug = slugs[ordinal] as string;
    ends[ordinal] = end += slug.length;
    for (const key of [id, slug]) {
      let slot = hash(key) & mask;
      while (table[slot] !== 0) slot = (slot + 1) & mask;
      table[slot] = ordinal + 1;
    }
  }
  return {
    'keys.high': high,
    'keys.low': low,
    'slug.text': new Uint8Array(Buffer.from(slugs.join(''), 'latin1')),
    'slug.ends': ends,
    'keys.table': table,
  };
}

export class Keys {
  readonly size: number;
  readonly #high: Uint32Array;
  readonly #low: Uint32Array;
  readonly #table: Uint32Array;
  readonly #ends: Uint32Array;
  readonly #slugs: Buffer;

  constructor(container: Container) {
    this.#high = container.get('keys.high', 'u32');
    this.#low = container.get('keys.low', 'u32');
    this.#table = container.get('keys.table', 'u32');
    this.#ends = container.get('slug.ends', 'u32');
    const text = container.get('slug.text', 'u8');
    this.#slugs = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
    this.size = this.#high.length;
  }

  /** Ordinal of an id or slug; null where there is none. */
  find(ref: string): number | null {
    const isId = /^r-[0-9a-f]{16}$/.test(ref);
    const high = isId ? Number.parseInt(ref.slice(2, 10), 16) : 0;
    const low = isId ? Number.parseInt(ref.slice(10), 16) : 0;
    const mask = this.#table.length - 1;
    for (let slot = hash(ref) & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#table[slot]!;
      if (entry === 0) return null;
      const ordinal = entry - 1;
      if (isId && this.#high[ordinal] === high && this.#low[ordinal] === low) return ordinal;
      if (this.slug(ordinal) === ref) return ordinal;
    }
  }

  id(ordinal: number): string {
    return `r-${hex(this.#high[ordinal]!)}${hex(this.#low[ordinal]!)}`;
  }

  slug(ordinal: number): string {
    return this.#slugs.toString('latin1', ordinal === 0 ? 0 : this.#ends[ordinal - 1]!, this.#ends[ordinal]!);
  }

  /** Order of two records by id. */
  compare(a: number, b: number): number {
    return this.#high[a]! - this.#high[b]! || this.#low[a]! - this.#low[b]!;
  }

  /** Order of a record's id against any id. */
  compareId(ordinal: number, id: string): number {
    const mine = this.id(ordinal);
    return mine < id ? -1 : mine > id ? 1 : 0;
  }
}

function hex(half: number): string {
  return half.toString(16).padStart(8, '0');
}
