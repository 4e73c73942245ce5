// Texts of 16 hex digits (ids and versions) in eight bytes each.
//
//   high, low  u32 by position   the two halves: (high, low) compares like the text
import type { Container, Packed } from './container.ts';

/** Packs texts of 16 lower-case hex digits; `name` prefixes the two arrays. Throws on any other text. */
export function packHex(name: string, texts: readonly string[]): Record<string, Packed> {
  const high = new Uint32Array(texts.length);
  const low = new Uint32Array(texts.length);
  for (const [i, text] of texts.entries()) {
    if (!/^[0-9a-f]{16}$/.test(text)) throw new Error(`${name}: "${text}" must be 16 lower-case hex digits`);
    high[i] = Number.parseInt(text.slice(0, 8), 16);
    low[i] = Number.parseInt(text.slice(8), 16);
  }
  return { [`${name}.high`]: high, [`${name}.low`]: low };
}

export class Hex {
  readonly high: Uint32Array;
  readonly low: Uint32Array;

  constructor(container: Container, name: string) {
    this.high = container.get(`${name}.high`, 'u32');
    this.low = container.get(`${name}.low`, 'u32');
  }

  at(i: number): string {
    return digits(this.high[i]!) + digits(this.low[i]!);
  }

  /** Order of two texts. */
  compare(a: number, b: number): number {
    return this.high[a]! - this.high[b]! || this.low[a]! - this.low[b]!;
  }
}

const digits = (half: number) => half.toString(16).padStart(8, '0');
