// Numbers by ordinal, in the smallest of three lossless forms.
//
//   codes   u8|u16|u32 by ordinal   1 + index in the distinct numbers, 0: missing
//   values  f64                     the distinct numbers, ascending
//
//   scaled  i32 by ordinal          the number times 10 ^ places; the smallest i32: missing
//   places  u8                      one entry
//
//   (name)  f64 by ordinal          the number itself; NaN: missing
import { type Codes, type Container, codeBytes, narrow, type Packed } from './container.ts';

const MISSING = -0x80000000;
const PLACES = [0, 1, 2, 3, 4, 5, 6];

/** Packs numbers by ordinal (NaN: missing). */
export function packNumbers(name: string, numbers: Float64Array): Record<string, Packed> {
  const values = distinct(numbers);
  const scaled = packScaled(name, numbers);
  const others = scaled ? sizeOf(scaled) : numbers.byteLength;
  if (codeBytes(values.length) * numbers.length + values.byteLength <= others) return packCoded(name, numbers, values);
  return scaled ?? { [name]: numbers };
}

const sizeOf = (form: Record<string, Packed>) =>
  Object.values(form).reduce((sum, { byteLength }) => sum + byteLength, 0);

function packCoded(name: string, numbers: Float64Array, values: Float64Array): Record<string, Packed> {
  const place = new Map(Array.from(values, (value, i) => [value, i + 1]));
  const codes = Uint32Array.from(numbers, (number) => place.get(number) ?? 0);
  return { [`${name}.codes`]: narrow(codes), [`${name}.values`]: values };
}

function packScaled(name: string, numbers: Float64Array): Record<string, Packed> | null {
  for (const places of PLACES) {
    const scaled = new Int32Array(numbers.length);
    const fits = numbers.every((number, i) => {
      const whole = Number.isNaN(number) ? MISSING : Math.round(number * 10 ** places);
      scaled[i] = whole;
      return Number.isNaN(number) || (Math.abs(whole) < -MISSING && whole / 10 ** places === number);
    });
    if (fits) return { [`${name}.scaled`]: scaled, [`${name}.places`]: Uint8Array.of(places) };
  }
  return null;
}

/** The distinct numbers, ascending, without NaN. */
function distinct(numbers: Float64Array): Float64Array {
  const sorted = numbers.filter((number) => !Number.isNaN(number)).sort();
  return sorted.filter((number, i) => i === 0 || number !== sorted[i - 1]);
}

export class Numbers {
  /** 1 + index in the distinct numbers, by ordinal, when stored so: codes compare like numbers. */
  readonly codes: Codes | null;
  readonly distinct: number;
  readonly #values: Float64Array;
  readonly #scaled: Int32Array | null;
  readonly #scale: number;

  constructor(container: Container, name: string) {
    const coded = container.has(`${name}.codes`);
    const scaled = container.has(`${name}.scaled`);
    this.codes = coded ? container.codes(`${name}.codes`) : null;
    this.#values = scaled ? new Float64Array(0) : container.get(coded ? `${name}.values` : name, 'f64');
    this.#scaled = scaled ? container.get(`${name}.scaled`, 'i32') : null;
    this.#scale = scaled ? 10 ** container.get(`${name}.places`, 'u8')[0]! : 1;
    this.distinct = coded ? this.#values.length : 0;
  }

  /** The number of a code. */
  ofCode(code: number): number {
    return this.#values[code - 1]!;
  }

  /** The code of a number; 0: it does not occur. */
  codeOf(number: number): number {
    let low = 0;
    let high = this.distinct;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#values[middle]! < number) low = middle + 1;
      else high = middle;
    }
    return this.#values[low] === number ? low + 1 : 0;
  }

  /** NaN: missing. */
  at(ordinal: number): number {
    if (this.codes) {
      const code = this.codes[ordinal]!;
      return code === 0 ? Number.NaN : this.#values[code - 1]!;
    }
    if (this.#scaled === null) return this.#values[ordinal]!;
    const whole = this.#scaled[ordinal]!;
    return whole === MISSING ? Number.NaN : whole / this.#scale;
  }
}
