// Record bodies, serialised once. The file holds the stored JSON texts end to end, by ordinal; the index holds
//
//   body.start   f64 by ordinal   first byte (a file may exceed 4 GB), one more entry for the end
//   body.cut1    u32              bytes up to `"updated_at"`: the record's address is put in here
//   body.cut2    u32              bytes up to `"quality_score"`: the ages are put in here
//   body.crc     u32              crc32 of the text, checked on every read
//   body.ages    u32              which pattern of ages the record has
//   version.text, version.ends    its version, as in bodies.parquet
//
// An ages pattern is the list of (attribute, observed_at) of a record. Records of one source share a handful of patterns,
// so the text of the ages is made once a pattern and minute, not once a record.
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { Ages } from '../plan.ts';
import { type Container, IndexDamaged } from './container.ts';
import { Lru } from './lru.ts';

/** Up to this many bytes the file is read into memory; above, single bodies are read from disk and the hot ones kept. */
const BODIES_IN_MEMORY = 256 * 2 ** 20;
const CACHED_BODIES = 4096;

export class Bodies {
  readonly #start: Float64Array;
  readonly #cut1: Uint32Array;
  readonly #cut2: Uint32Array;
  readonly #crc: Uint32Array;
  readonly #ages: Uint32Array;
  readonly #versionText: Buffer;
  readonly #versionEnds: Uint32Array;
  readonly #patterns: Ages[];
  readonly #file: number;
  readonly #memory: Buffer | null;
  readonly #cache = new Lru<number, Buffer>(CACHED_BODIES);
  #minute = 0;
  #texts = new Map<number, Buffer>();

  /** Opens the bodies of an index; `path` is bodies.bin. Throws IndexDamaged when the file has another length. */
  constructor(container: Container, path: string, inMemory = BODIES_IN_MEMORY) {
    this.#start = container.get('body.start', 'f64');
    this.#cut1 = container.get('body.cut1', 'u32');
    this.#cut2 = container.get('body.cut2', 'u32');
    this.#crc = container.get('body.crc', 'u32');
    this.#ages = container.get('body.ages', 'u32');
    this.#versionEnds = container.get('version.ends', 'u32');
    this.#versionText = Buffer.from(container.get('version.text', 'u8'));
    this.#patterns = JSON.parse(Buffer.from(container.get('body.patterns', 'u8')).toString()) as Ages[];
    this.#file = openSync(path, 'r');
    const { size } = fstatSync(this.#file);
    if (size !== this.#start.at(-1)) {
      closeSync(this.#file);
      throw new IndexDamaged(`${path}: ${size} bytes, expected ${this.#start.at(-1)}`);
    }
    this.#memory = size <= inMemory ? readFileSync(path) : null;
  }

  version(ordinal: number): string {
    return this.#versionText.toString(
      'latin1',
      ordinal === 0 ? 0 : this.#versionEnds[ordinal - 1]!,
      this.#versionEnds[ordinal]!,
    );
  }

  /** The stored text. Throws IndexDamaged when its checksum differs. */
  text(ordinal: number): Buffer {
    const from = this.#start[ordinal]!;
    const to = this.#start[ordinal + 1]!;
    if (this.#memory) return this.#checked(ordinal, this.#memory.subarray(from, to));
    const kept = this.#cache.get(ordinal);
    if (kept) return kept;
    const body = Buffer.allocUnsafe(to - from);
    if (readSync(this.#file, body, 0, body.length, from) !== body.length)
      throw new IndexDamaged('bodies.bin ends early');
    this.#checked(ordinal, body);
    this.#cache.set(ordinal, body);
    return body;
  }

  #checked(ordinal: number, body: Buffer): Buffer {
    if (crc32(body) !== this.#crc[ordinal]) throw new IndexDamaged(`body ${ordinal}: checksum differs`);
    return body;
  }

  /** The stored text in its three pieces: before the address, up to the ages, the rest. */
  pieces(ordinal: number): [Buffer, Buffer, Buffer] {
    const body = this.text(ordinal);
    const cut1 = this.#cut1[ordinal]!;
    const cut2 = this.#cut2[ordinal]!;
    return [body.subarray(0, cut1), body.subarray(cut1, cut2), body.subarray(cut2)];
  }

  /** Names of all attributes that some record has. */
  attributes(): Set<string> {
    return new Set(this.#patterns.flatMap(({ names }) => names));
  }

  /** Text made of a record's ages at a moment (ms since 1970), by `write`, once a pattern and minute. */
  ages(ordinal: number, now: number, write: (ages: Ages) => string): Buffer {
    const minute = Math.floor(now / 60_000);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#texts = new Map();
    }
    const id = this.#ages[ordinal]!;
    let text = this.#texts.get(id);
    if (!text) {
      text = Buffer.from(write(this.#patterns[id] as Ages));
      this.#texts.set(id, text);
    }
    return text;
  }

  close(): void {
    closeSync(this.#file);
  }
}
