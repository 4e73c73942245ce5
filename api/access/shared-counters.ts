// Counters in memory, which the threads of a process share: calls of a key or an address in a window of time.
// Without locks, so that a thread that dies holds up no other.
import { hash } from 'node:crypto';

/** Calls in the current window, and milliseconds until it ends. */
export interface WindowCount {
  total: number;
  rest: number;
}

/** Counters, 16 bytes each. More clients than this in one window are rare; they are counted by each thread. */
const SLOTS = 2 ** 17;
/** Slots in which a client may be found. */
const PROBES = 8;
/** A slot holds the client's hash, then the start of its window (ms) and the calls in it as one number. */
const WORDS = 2;
const COUNT_BITS = 20n;
const MOST = (1n << COUNT_BITS) - 1n;

/** Memory for the counters of a process: pass it to its threads. */
export const counterMemory = (): SharedArrayBuffer =>
  new SharedArrayBuffer(SLOTS * WORDS * BigUint64Array.BYTES_PER_ELEMENT);

/**
 * Milliseconds of a clock that is the same in all threads of a machine and never steps: with the time of day, a
 * step back of an hour would extend every window by an hour.
 */
const monotonicTime = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** Counts in shared memory, in windows of `seconds` that begin with the first call of a client. */
export class SharedCounters {
  readonly #words: BigUint64Array;
  readonly #window: bigint;
  readonly #now: () => number;

  constructor(memory: SharedArrayBuffer, seconds: number, now = monotonicTime) {
    this.#words = new BigUint64Array(memory);
    this.#window = BigInt(seconds * 1000);
    this.#now = now;
  }

  /** Adds calls of a client. Null when the memory has no room for another client. */
  add(client: string, calls: number): WindowCount | null {
    const digest = hash('sha256', client, 'buffer');
    // 0 marks an unused slot.
    const id = digest.readBigUInt64LE(0) | 1n;
    const first = digest.readUInt32LE(8);
    const now = BigInt(this.#now());
    for (let probe = 0; probe < PROBES; probe += 1) {
      const at = ((first + probe) % SLOTS) * WORDS;
      if (Atomics.load(this.#words, at) === id) return this.#count(at + 1, calls, now);
    }
    for (let probe = 0; probe < PROBES; probe += 1) {
      const at = ((first + probe) % SLOTS) * WORDS;
      const other = Atomics.load(this.#words, at);
      // Another thread began to count the same client since the search above.
      if (other === id) return this.#count(at + 1, calls, now);
      if (other !== 0n && !this.#isOver(Atomics.load(this.#words, at + 1), now)) continue;
      const holder = Atomics.compareExchange(this.#words, at, other, id);
      // Another thread took the slot, perhaps for the same client.
      if (holder === other || holder === id) return this.#count(at + 1, calls, now);
    }
    return null;
  }

  /** A window that is over counts as a new one, so a slot needs no reset when it changes its client. */
  #count(at: number, calls: number, now: bigint): WindowCount {
    for (;;) {
      const before = Atomics.load(this.#words, at);
      const isNew = this.#isOver(before, now);
      const start = isNew ? now : before >> COUNT_BITS;
      const count = (isNew ? 0n : before & MOST) + BigInt(calls);
      const total = count > MOST ? MOST : count;
      if (Atomics.compareExchange(this.#words, at, before, (start << COUNT_BITS) | total) === before)
        return { total: Number(total), rest: Number(start + this.#window - now) };
    }
  }

  #isOver(state: bigint, now: bigint): boolean {
    return now - (state >> COUNT_BITS) >= this.#window;
  }
}
