// Answers of equal calls in the same minute: the parsed input and the JSON bytes, kept in memory
// (docs/decisions/0050-repeated-calls.md). Access, limits and charges are decided for every call before.
import { LRUCache } from 'lru-cache';
import { type Awaitable, whenReady } from '../../data/model/awaitable.ts';
import { StickyCache } from '../../data/model/sticky-cache.ts';
import { minuteOf } from '../../data/model/time.ts';
import { type Context, jsonResult, type Operation, type Result } from '../contract/operation.ts';

/** Bytes of all answers in memory. */
const BYTES = 16 * 2 ** 20;
/** Share of all bytes that one answer may have: a few long ones would replace all others. */
const LONGEST = 1 / 16;
/** Approximate bytes of an entry without its answer and its key. */
const ENTRY = 2000;
/** Characters of the keys of calls in this minute, by which a second equal call is found. */
const MOST_SEEN = 4 * 2 ** 20;

type Release = NonNullable<Context['release']>;

/** What an answer depends on, of a call (`Call` in context.ts). */
interface RepeatableCall {
  operation: Operation;
  query?: string | undefined;
  entity: string | null;
  misread?: unknown;
}

interface Entry {
  input: object;
  bytes: number;
}

/**
 * Keeps the answers of operations with `repeats`, from the second equal call of a minute on. Ages in answers
 * change by the minute, and a release and its overlay never change, so an answer is never out of date.
 */
export class RepeatedCalls {
  readonly #inputs: StickyCache<string, Entry>;
  readonly #longest: number;
  /** Answers by their input; those of inputs that `#inputs` dropped are collected with them. */
  #answers = new WeakMap<object, Result<unknown>>();
  /** Keys of inputs whose answer will be kept. */
  #due = new WeakMap<object, string>();
  readonly #seen = new LRUCache<string, true>({ maxSize: MOST_SEEN, sizeCalculation: (_, key) => key.length });
  readonly #views = new WeakMap<Release, number>();
  #lastView = 0;
  #minute = 0;

  /** Keeps answers of at most this many bytes together; 0: none. */
  constructor(bytes = BYTES) {
    this.#longest = bytes * LONGEST;
    this.#inputs = new StickyCache(bytes, (entry) => entry.bytes);
  }

  /** The input of an equal call, or the result of `parse`. */
  input<C extends RepeatableCall>(
    call: C,
    ctx: Context,
    parse: (call: C, ctx: Context) => Awaitable<unknown>,
  ): Awaitable<unknown> {
    const key = this.#key(call, ctx);
    if (key === null) return parse(call, ctx);
    const known = this.#inputs.get(key);
    if (known !== undefined) return known.input;
    if (!this.#seen.has(key)) {
      this.#seen.set(key, true);
      return parse(call, ctx);
    }
    // While an answer of any length fits; then one of sixteen.
    if (!this.#inputs.admits(this.#longest)) return parse(call, ctx);
    return whenReady(parse(call, ctx), (input) => {
      this.#due.set(input as object, key);
      return input;
    });
  }

  /** The answer of an equal call, or that of the operation. Both must not be modified. */
  run(operation: Operation, input: unknown, ctx: Context): Awaitable<Result<unknown>> {
    // Operations without parameters have no input.
    if (typeof input !== 'object' || input === null) return operation.run(input, ctx);
    const known = this.#answers.get(input);
    if (known !== undefined) return known;
    const key = this.#due.get(input);
    const result = operation.run(input, ctx);
    return key === undefined ? result : whenReady(result, (answer) => this.#keep(key, input, answer, ctx));
  }

  /**
   * Everything that the JSON answer depends on besides the minute; null for a call that is not kept. Callers
   * without a credential are left out: their answers depend on their quota.
   */
  #key(call: RepeatableCall, { release, visibility, format, admin, now }: Context): string | null {
    const { operation, query, entity, misread } = call;
    if (!operation.repeats || query === undefined || misread !== undefined || release === undefined) return null;
    if (visibility !== 'full' || format !== 'json') return null;
    this.#turn(now);
    return `${this.#view(release)} ${admin} ${operation.name} ${entity} ${query}`;
  }

  /** Drops everything when another minute begins. */
  #turn(now: Date): void {
    const minute = minuteOf(now);
    if (minute === this.#minute) return;
    this.#minute = minute;
    this.#inputs.clear();
    this.#seen.clear();
    this.#answers = new WeakMap();
    this.#due = new WeakMap();
  }

  /** A number for a release with its overlay: a change of either makes another object. */
  #view(release: Release): number {
    let view = this.#views.get(release);
    if (view === undefined) {
      this.#lastView += 1;
      view = this.#lastView;
      this.#views.set(release, view);
    }
    return view;
  }

  #keep(key: string, input: object, answer: Result<unknown>, { by_name }: Context): Result<unknown> {
    const { parts, records, next_cursor, fields, distances, release, uncharged } = answer;
    // The minute may have ended while the operation ran.
    if (parts === undefined || uncharged === true || this.#due.get(input) !== key) return answer;
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (length > this.#longest) return answer;
    const about = { records, next_cursor, fields, distances, release };
    const given = Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined));
    const kept = jsonResult<unknown>([parts.length === 1 ? parts[0]! : Buffer.concat(parts)], given);
    // A call by name also keeps the bytes as a JSON string (api/channels/mcp/plain.ts).
    const copies = by_name ? 2 : 1;
    this.#inputs.set(key, { input, bytes: ENTRY + 2 * key.length + copies * length });
    this.#answers.set(input, kept);
    return kept;
  }
}
