// Ids and slugs of the records of a release: ordinal of an id or slug, and id and slug of an ordinal.
//
//   id.high, id.low      the 16 hex digits of the id by ordinal (hex.ts)
//   id.order   u32       ordinals in the order of their ids: the base of every other order
//   slug.text, slug.ends the slugs by ordinal, in sequence (ends.ts)
//   keys.table u32       open addressing over hash(id) and hash(slug): ordinal + 1, 0: free; at most 75 % full
import type { Container, Packed } from './container.ts';
import { Ends, packEnds } from './ends.ts';
import { Hex, packHex } from './hex.ts';

const FULL = 0.75;

/** FNV-1a over UTF-16 code units with one more mix; ids and slugs are ASCII. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return (h ^ (h >>> 13)) >>> 0;
}

/** Slot for a hash, by its high bits. */
const slotOf = (h: number, slots: number) => Math.floor((h / 0x1_0000_0000) * slots);

/** Packs ids and slugs by ordinal into the arrays above. */
export function packKeys(ids: string[], slugs: string[]): Record<string, Packed> {
  const slots = Math.ceil((ids.length * 2) / FULL) + 16;
  const table = new Uint32Array(slots);
  const ends = new Uint32Array(slugs.length);
  let end = 0;
  for (const [ordinal, id] of ids.entries()) {
    const slug = slugs[ordinal] as string;
    ends[ordinal] = end += slug.length;
    for (const key of [id, slug]) {
      let slot = slotOf(hash(key), slots);
      while (table[slot] !== 0) slot = (slot + 1) % slots;
      table[slot] = ordinal + 1;
    }
  }
  return {
    ...packHex(
      'id',
      ids.map((id) => id.slice(2)),
    ),
    'id.order': Uint32Array.from(ids.keys()).sort((a, b) => (ids[a]! < ids[b]! ? -1 : 1)),
    'slug.text': new Uint8Array(Buffer.from(slugs.join(''), 'latin1')),
    ...packEnds('slug', ends),
    'keys.table': table,
  };
}

export class Keys {
  readonly size: number;
  /** Ordinals in the order of their ids. */
  readonly byId: Uint32Array;
  readonly #ids: Hex;
  readonly #table: Uint32Array;
  readonly #ends: Ends;
  readonly #slugs: Buffer;

  constructor(container: Container) {
    this.#ids = new Hex(container, 'id');
    this.byId = container.get('id.order', 'u32');
    this.#table = container.get('keys.table', 'u32');
    this.#ends = new Ends(container, 'slug');
    const text = container.get('slug.text', 'u8');
    this.#slugs = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
    this.size = this.byId.length;
  }

  /** Ordinal of an id or slug; null for an unknown one. */
  find(ref: string): number | null {
    const isId = /^r-[0-9a-f]{16}$/.test(ref);
    const high = isId ? Number.parseInt(ref.slice(2, 10), 16) : 0;
    const low = isId ? Number.parseInt(ref.slice(10), 16) : 0;
    const slots = this.#table.length;
    for (let slot = slotOf(hash(ref), slots); ; slot = slot + 1 === slots ? 0 : slot + 1) {
      const entry = this.#table[slot]!;
      if (entry === 0) return null;
      const ordinal = entry - 1;
      if (isId && this.#ids.high[ordinal] === high && this.#ids.low[ordinal] === low) return ordinal;
      // Most other entries of the probe sequence differ in length, so their text need not be decoded.
      if (this.#ends.end(ordinal) - this.#ends.start(ordinal) === ref.length && this.slug(ordinal) === ref)
        return ordinal;
    }
  }

  id(ordinal: number): string {
    return `r-${this.#ids.at(ordinal)}`;
  }

  slug(ordinal: number): string {
    return this.#slugs.toString('latin1', this.#ends.start(ordinal), this.#ends.end(ordinal));
  }

  /** Compares two records by id. */
  compare(a: number, b: number): number {
    return this.#ids.compare(a, b);
  }

  /** Compares the id of a record with any id. */
  compareId(ordinal: number, id: string): number {
    const mine = this.id(ordinal);
    return mine < id ? -1 : mine > id ? 1 : 0;
  }
}
