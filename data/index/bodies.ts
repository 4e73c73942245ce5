// Record bodies, serialised once: the lines of records.jsonl, by ordinal. The index has
//
//   body.start   u32 by ordinal   first byte in the file modulo 4 GB; one more entry for the end of the file.
//                                 A text ends one byte, the line feed, before the next one
//   body.wraps   u32              ordinals from which on 4 GB more are added
//   body.cut1    codes            bytes up to `"updated_at"`: the record's address is inserted here
//   body.cut2    codes            bytes up to `"quality_score"`: the ages are inserted here
//   body.crc     u32              crc32 of the text, verified on every read
//   body.ages    codes            the ages pattern of the record
//   version.high, version.low     its version, as in bodies.parquet (hex.ts)
//
// An ages pattern is the list of (attribute, observed_at) of a record. Records of one source share a few
// patterns.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { BoundedCache } from '../model/bounded-cache.ts';
import { minuteOf } from '../model/time.ts';
import type { Ages, RecordPieces, RecordRenderer, RecordText } from '../plan/plan.ts';
import { type Codes, type Container, IndexDamaged } from './container.ts';
import { Hex } from './hex.ts';

/** Bytes of the cache of rendered records (least recently used are dropped). */
const KEPT = 16 * 2 ** 20;
/** Approximate bytes of a rendered record besides its text. */
const OBJECTS = 500;
/** Initial bytes of the buffer for texts read from disk. */
const PLACE = 16 * 2 ** 10;
const FOUR_GB = 0x1_0000_0000;

export class Bodies {
  readonly #start: Uint32Array;
  readonly #wraps: Uint32Array;
  readonly #cut1: Codes;
  readonly #cut2: Codes;
  readonly #crc: Uint32Array;
  readonly #ages: Codes;
  readonly #versions: Hex;
  readonly #patterns: Ages[];
  readonly #file: number;
  /**
   * One buffer for all reads from disk: each text is checked and copied before the next read, without
   * garbage.
   */
  #place = Buffer.allocUnsafeSlow(PLACE);
  /** Records that were rendered in one minute, by ordinal and renderer. */
  readonly #texts = new BoundedCache<string, RecordText>('record texts', {
    most: KEPT,
    sizeOf: ({ json }) => json.length + OBJECTS,
  });
  #minute = 0;

  /**
   * Opens the bodies of an index; `path` is records.jsonl. Throws IndexDamaged when it has a wrong length.
   */
  constructor(container: Container, path: string) {
    this.#start = container.get('body.start', 'u32');
    this.#wraps = container.get('body.wraps', 'u32');
    this.#cut1 = container.codes('body.cut1');
    this.#cut2 = container.codes('body.cut2');
    this.#crc = container.get('body.crc', 'u32');
    this.#ages = container.codes('body.ages');
    this.#versions = new Hex(container, 'version');
    this.#patterns = JSON.parse(Buffer.from(container.get('body.patterns', 'u8')).toString()) as Ages[];
    this.#file = openSync(path, 'r');
    const { size } = fstatSync(this.#file);
    const expected = this.#from(this.#start.length - 1);
    if (size !== expected) {
      closeSync(this.#file);
      throw new IndexDamaged(`${path}: ${size} bytes, expected ${expected}`);
    }
  }

  version(ordinal: number): string {
    return this.#versions.at(ordinal);
  }

  /** Offset of a text in the file. */
  #from(ordinal: number): number {
    let wraps = 0;
    while (wraps < this.#wraps.length && this.#wraps[wraps]! <= ordinal) wraps += 1;
    return this.#start[ordinal]! + wraps * FOUR_GB;
  }

  /** The stored text, valid until the next call. Throws IndexDamaged when its checksum differs. */
  stored(ordinal: number): Buffer {
    const from = this.#from(ordinal);
    const body = this.#read(from, this.#from(ordinal + 1) - 1);
    if (crc32(body) !== this.#crc[ordinal]) throw new IndexDamaged(`body ${ordinal}: checksum differs`);
    return body;
  }

  #read(from: number, to: number): Buffer {
    if (to - from > this.#place.length) this.#place = Buffer.allocUnsafeSlow(2 * (to - from));
    const body = this.#place.subarray(0, to - from);
    if (readSync(this.#file, body, 0, body.length, from) !== body.length)
      throw new IndexDamaged('records.jsonl is shorter than its index');
    return body;
  }

  /** The text as `renderer` renders it for a moment. Throws IndexDamaged. */
  text(ordinal: number, now: Date, renderer: RecordRenderer): RecordText {
    const minute = minuteOf(now);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#texts.clear();
    }
    return this.#texts.of(`${ordinal} ${renderer.key}`, () => ({
      ...renderer.render(this.#pieces(ordinal), now),
      version: this.version(ordinal),
    }));
  }

  #pieces(ordinal: number): RecordPieces {
    const body = this.stored(ordinal);
    const cut1 = this.#cut1[ordinal]!;
    const cut2 = this.#cut2[ordinal]!;
    const [head, middle, tail] = [body.subarray(0, cut1), body.subarray(cut1, cut2), body.subarray(cut2)];
    const pattern = this.#patterns[this.#ages[ordinal]!]!;
    return { head, middle, tail, ages: (write) => Buffer.from(write(pattern)) };
  }

  /** Names of all attributes that occur in records. */
  attributes(): Set<string> {
    return new Set(this.#patterns.flatMap(({ names }) => names));
  }

  close(): void {
    closeSync(this.#file);
  }
}
