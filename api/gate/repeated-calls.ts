// Answers of equal calls in the same minute: the parsed input and the bytes of the answer, kept in memory
// (docs/decisions/0019-cached-answers.md). Access, limits and charges are decided for every call before.
import { LRUCache } from 'lru-cache';
import type { Format } from '../../data/input/formats.ts';
import { StickyCache } from '../../data/model/sticky-cache.ts';
import { minuteOf } from '../../data/model/time.ts';
import { type Context, jsonResult, type Operation, type Result } from '../contract/operation.ts';
import { render } from '../render/render.ts';

/** Bytes of all answers in memory. */
const BYTES = 16 * 2 ** 20;
/** Share of all bytes that one answer may have: a few long ones would replace all others. */
const LONGEST = 1 / 16;
/** Approximate bytes of an entry without its answer and its key. */
const ENTRY = 2000;
/** Estimated size of an answer as objects: three times its text, and 10 kB a record. */
const [OBJECTS, RECORD] = [3, 10_000];
/** Estimated copies of the bytes of an answer by name: joined, escaped, decoded (api/channels/mcp). */
const COPIES_BY_NAME = 4;
/** Formats of answers that are kept. The others are long, or rarely used. */
const FORMATS: ReadonlySet<Format> = new Set(['json', 'markdown', 'text']);
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
  async input<C extends RepeatableCall>(
    call: C,
    ctx: Context,
    parse: (call: C, ctx: Context) => Promise<unknown> | unknown,
  ): Promise<unknown> {
    const key = this.#key(call, ctx);
    if (key === null) return parse(call, ctx);
    const entry = this.#inputs.get(key);
    if (entry !== undefined) return entry.input;
    if (!this.#seen.has(key)) {
      this.#seen.set(key, true);
      return parse(call, ctx);
    }
    // While an answer of any length fits; then one of sixteen.
    if (!this.#inputs.admits(this.#longest)) return parse(call, ctx);
    // Operations without parameters share one input.
    const input = { ...((await parse(call, ctx)) as object) };
    this.#due.set(input, key);
    return input;
  }

  /** The answer of an equal call, or that of the operation. Both must not be modified. */
  async run(operation: Operation, input: unknown, ctx: Context): Promise<Result<unknown>> {
    if (typeof input !== 'object' || input === null) return operation.run(input, ctx);
    const entry = this.#answers.get(input);
    if (entry !== undefined) return entry;
    const key = this.#due.get(input);
    const answer = await operation.run(input, ctx);
    return key === undefined ? answer : this.#keep(key, input, answer, operation, ctx);
  }

  /**
   * Everything that the answer depends on besides the minute; null for a call that is not kept, as one whose answer
   * depends on a quota for previews.
   */
  #key(call: RepeatableCall, ctx: Context): string | null {
    const { operation, query, entity, misread } = call;
    const { release, visibility, format, admin, by_name = false, now } = ctx;
    if (!operation.repeats || query === undefined || misread !== undefined || release === undefined) return null;
    if (!FORMATS.has(format) || (visibility !== 'full' && operation.charge.previews)) return null;
    this.#turn(now);
    // Texts contain the URL of the next page, unless the call is by name.
    const url = format === 'json' || by_name ? '' : ctx.url.href;
    const kind = `${this.#view(release)} ${visibility} ${admin} ${by_name} ${format}`;
    return `${kind} ${operation.name} ${entity} ${query} ${url}`;
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

  async #keep(
    key: string,
    input: object,
    answer: Result<unknown>,
    operation: Operation,
    ctx: Context,
  ): Promise<Result<unknown>> {
    // The page of an earlier release is made of another release than the key names.
    if (answer.empty === true || answer.release !== undefined || lengthOf(answer.parts) > this.#longest) return answer;
    const kept = await keptResult(operation, answer, ctx);
    if (kept === null) return answer;
    const length = kept.text?.length ?? lengthOf(kept.parts);
    const objects = answer.parts ? 0 : OBJECTS * length + RECORD * (answer.records ?? 0);
    const size = ENTRY + 2 * key.length + (ctx.by_name ? COPIES_BY_NAME : 1) * length + objects;
    // The minute may have ended while the operation ran.
    if (length > this.#longest || this.#due.get(input) !== key) return kept;
    kept.kept = true;
    this.#inputs.set(key, { input, bytes: size });
    this.#answers.set(input, kept);
    return kept;
  }
}

const lengthOf = (parts: Result<unknown>['parts'] = []): number => parts.reduce((sum, part) => sum + part.length, 0);

/** The members that hold the content of a result. */
const CONTENT: ReadonlySet<string> = new Set(['body', 'json', 'parts', 'record_ends', 'text']);

/** The same result with its bytes, and with its object if it has one already; null: its text is streamed. */
async function keptResult(
  operation: Operation,
  answer: Result<unknown>,
  ctx: Context,
): Promise<Result<unknown> | null> {
  const { parts, record_ends } = answer;
  const about = Object.fromEntries(Object.entries(answer).filter(([name]) => !CONTENT.has(name)));
  if (parts) {
    // A channel by name shortens lists by the ends of their records.
    if (ctx.by_name && record_ends) return jsonResult<unknown>(parts, { ...about, record_ends });
    return jsonResult<unknown>([parts.length === 1 ? parts[0]! : Buffer.concat(parts)], about);
  }
  const { body } = await render(operation, answer, ctx);
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return null;
  const text = typeof body === 'string' ? Buffer.from(body) : body;
  if (ctx.format !== 'json') return { ...about, body: answer.body, text };
  return jsonResult<unknown>([text], about, answer.body);
}
