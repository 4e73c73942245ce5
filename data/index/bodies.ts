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
import { Lru } from '../lru.ts';
import type { Ages, Dress, Pieces, RecordText } from '../plan.ts';
import { type Container, IndexDamaged } from './container.ts';

/** Up to this many bytes the file is read into memory; above, single bodies are read from disk. */
const BODIES_IN_MEMORY = 256 * 2 ** 20;
/** Bytes of texts, ready to be sent, that are kept of the records asked for last. */
const KEPT = 16 * 2 ** 20;
const MINUTE = 60_000;

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
  /** What was made by one dress in one minute. */
  readonly #sent = new Lru<number, RecordText>(KEPT, ({ json }) => json.length);
  readonly #agesTexts = new Map<number, Buffer>();
  #dress: Dress | null = null;
  #minute = 0;

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
  stored(ordinal: number): Buffer {
    const from = this.#start[ordinal]!;
    const to = this.#start[ordinal + 1]!;
    const body = this.#memory ? this.#memory.subarray(from, to) : this.#read(from, to);
    if (crc32(body) !== this.#crc[ordinal]) throw new IndexDamaged(`body ${ordinal}: checksum differs`);
    return body;
  }

  #read(from: number, to: number): Buffer {
    const body = Buffer.allocUnsafe(to - from);
    if (readSync(this.#file, body, 0, body.length, from) !== body.length)
      throw new IndexDamaged('bodies.bin ends early');
    return body;
  }

  /** The text as `dress` sends it at a moment. Throws IndexDamaged. */
  text(ordinal: number, now: Date, dress: Dress): RecordText {
    const minute = Math.floor(now.getTime() / MINUTE);
    if (minute !== this.#minute || dress !== this.#dress) {
      this.#minute = minute;
      this.#dress = dress;
      this.#sent.clear();
      this.#agesTexts.clear();
    }
    let text = this.#sent.get(ordinal);
    if (!text) {
      text = { ...dress.put(this.#pieces(ordinal), now), version: this.version(ordinal) };
      this.#sent.set(ordinal, text);
    }
    return text;
  }

  #pieces(ordinal: number): Pieces {
    const body = this.stored(ordinal);
    const cut1 = this.#cut1[ordinal]!;
    const cut2 = this.#cut2[ordinal]!;
    const [head, middle, tail] = [body.subarray(0, cut1), body.subarray(cut1, cut2), body.subarray(cut2)];
    return { head, middle, tail, ages: (write) => this.#agesText(this.#ages[ordinal]!, write) };
  }

  /** Text of a pattern of ages, made once. */
  #agesText(id: number, write: (ages: Ages) => string): Buffer {
    let text = this.#agesTexts.get(id);
    if (!text) {
      text = Buffer.from(write(this.#patterns[id] as Ages));
      this.#agesTexts.set(id, text);
    }
    return text;
  }

  /** Names of all attributes that some record has. */
  attributes(): Set<string> {
    return new Set(this.#patterns.flatMap(({ names }) => names));
  }

  close(): void {
    closeSync(this.#file);
  }
}
