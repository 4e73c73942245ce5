// End offsets of consecutive items: item i is [ends[i-1], ends[i]).
//
//   ends       u32 by item               where 64 consecutive items may span 65,536 or more
//   ends.base  u32 by 64 items           otherwise: the end before the first of them,
//   ends.low   u16 by item               and each end relative to it
import type { Container, Packed } from './container.ts';

const BITS = 6;
const BLOCK = 1 << BITS;

/** Packs ascending ends; `name` prefixes the arrays. */
export function packEnds(name: string, ends: Uint32Array): Record<string, Packed> {
  const base = new Uint32Array(Math.ceil(ends.length / BLOCK));
  const low = new Uint16Array(ends.length);
  for (let i = 0; i < ends.length; i += 1) {
    const block = i >>> BITS;
    if (i % BLOCK === 0) base[block] = i === 0 ? 0 : ends[i - 1]!;
    const from = ends[i]! - base[block]!;
    if (from > 0xffff) return { [`${name}.ends`]: ends };
    low[i] = from;
  }
  return { [`${name}.ends.base`]: base, [`${name}.ends.low`]: low };
}

export class Ends {
  readonly length: number;
  readonly #whole: Uint32Array | null;
  readonly #base: Uint32Array;
  readonly #low: Uint16Array;

  constructor(container: Container, name: string) {
    this.#whole = container.has(`${name}.ends`) ? container.get(`${name}.ends`, 'u32') : null;
    this.#base = this.#whole ? new Uint32Array(0) : container.get(`${name}.ends.base`, 'u32');
    this.#low = this.#whole ? new Uint16Array(0) : container.get(`${name}.ends.low`, 'u16');
    this.length = this.#whole?.length ?? this.#low.length;
  }

  start(i: number): number {
    return i === 0 ? 0 : this.end(i - 1);
  }

  end(i: number): number {
    return this.#whole ? this.#whole[i]! : this.#base[i >>> BITS]! + this.#low[i]!;
  }
}
