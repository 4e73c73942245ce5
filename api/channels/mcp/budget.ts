// Token budget of tool results: a page must not fill a model's context (docs/mcp.md, "How long an answer
// is").

import { derive } from '../../../packs/define/derive.ts';
import { ApiError } from '../../contract/errors.ts';
import type { Context, Operation, Result } from '../../contract/operation.ts';
import { render } from '../../render/render.ts';
import { countFitting, countFittingParts, cutBody, cutText, NOTE_TOKENS, type Truncation } from './cut.ts';
import { estimate, partsFitIn, textFitsIn } from './tokens.ts';

/** Tokens of a result: the default, and the bounds of `max_tokens`. */
export const TOKENS = { standard: 20_000, least: 1_000, most: 200_000 } as const;

/** Content of a tool result: a text, or (null) JSON. A text has JSON only where it is that of an operation without. */
export interface ToolAnswer {
  readonly json: string;
  readonly text: string | null;
  /** The JSON as pieces of bytes, if the renderer produced bytes. */
  readonly parts?: readonly Uint8Array[] | undefined;
  /** Its bytes in a response, once they were sent (plain.ts). */
  content?: Buffer;
}

/** JSON as bytes, decoded only when the text is read. */
class BytesAnswer implements ToolAnswer {
  readonly text = null;
  readonly parts: readonly Uint8Array[];
  #json: string | undefined;

  constructor(parts: readonly Uint8Array[]) {
    this.parts = parts;
  }

  get json(): string {
    this.#json ??= Buffer.concat(this.parts).toString();
    return this.#json;
  }
}

type Body = Record<string, unknown>;

/** A result with fewer records than the one that was too long, and the number of records of that one. */
interface Shorter {
  result: Result<unknown>;
  of: number;
}

/** What was made of a result in one format. One call needs it several times. */
interface Made {
  rendered: ToolAnswer | null;
  /** The limit of the following. */
  tokens: number;
  shorter: Shorter | null;
  sent: ToolAnswer | null;
}

/**
 * Keeps one call within its budget: runs it again for fewer records, cuts free results, rejects paid ones
 * that would be cut.
 */
export class Budget {
  readonly #operation: Operation;
  readonly #tokens: number;
  /** Number of records of the full result, when fewer were queried instead. */
  of: number | null = null;

  constructor(operation: Operation, tokens: number) {
    this.#operation = operation;
    this.#tokens = tokens;
  }

  /** Whether a result that is too long can be queried again with a shorter input. */
  get shortens(): boolean {
    const { long } = this.#operation.tool ?? {};
    return long?.shorter !== undefined && long.part !== undefined;
  }

  /** The result of a shorter query; undefined if this one fits, or if no shorter query costs the same. */
  async shorter(input: unknown, result: Result<unknown>, ctx: Context): Promise<Result<unknown> | undefined> {
    const { shorter } = this.#madeOf(result, ctx);
    if (shorter !== null) {
      this.of = shorter.of;
      return shorter.result;
    }
    const answer = await this.#render(result, ctx);
    return fits(answer, this.#tokens) ? undefined : this.#shorten(answer, input, result, ctx);
  }

  #madeOf(result: Result<unknown>, { format }: Context): Made {
    const formats = derive(result, 'tool answers', () => new Map<string, Made>());
    const entry = formats.get(format);
    // Another limit replaces the last one: there are many.
    if (entry?.tokens === this.#tokens) return entry;
    const made: Made = { rendered: entry?.rendered ?? null, tokens: this.#tokens, shorter: null, sent: null };
    formats.set(format, made);
    return made;
  }

  async #shorten(
    answer: ToolAnswer,
    input: unknown,
    result: Result<unknown>,
    ctx: Context,
  ): Promise<Result<unknown> | undefined> {
    const { run } = this.#operation;
    const { long } = this.#operation.tool ?? {};
    if (!long?.shorter || !long.part) return undefined;
    const room = this.#tokens - NOTE_TOKENS;
    const { record_ends } = result;
    const { parts } = answer;
    const of = record_ends?.length ?? lengthOf((result.body as Body)[long.part]);
    // The answer may lack the part: several facets.
    if (of === 0) return undefined;
    let fitting: number;
    if (answer.text !== null) fitting = await this.#fittingText(answer.text, result, ctx);
    else if (parts && record_ends) fitting = countFittingParts(parts, record_ends, room);
    else fitting = countFitting(result.body as Body, long.part, room);
    if (fitting < 1 || fitting >= of) return undefined;
    this.of = of;
    const shorter = await run(long.shorter(input, fitting), ctx);
    this.#madeOf(result, ctx).shorter = { result: shorter, of };
    return shorter;
  }

  /** The result to send. Throws, without a charge, if it is too long and must not be cut. */
  async present(result: Result<unknown>, ctx: Context): Promise<ToolAnswer> {
    const made = this.#madeOf(result, ctx);
    made.sent = made.sent === null ? this.#fit(await this.#render(result, ctx), result, ctx) : joined(made.sent);
    return made.sent;
  }

  #fit(answer: ToolAnswer, result: Result<unknown>, ctx: Context): ToolAnswer {
    if (!fits(answer, this.#tokens)) return this.#cut(answer, result, ctx);
    return this.of === null ? answer : this.#shortened(answer, this.of, result, ctx);
  }

  /** The answer of a shorter query, with a note. */
  #shortened(answer: ToolAnswer, of: number, result: Result<unknown>, ctx: Context): ToolAnswer {
    const { part, more = '' } = this.#operation.tool?.long ?? {};
    // Reading the body may parse it.
    const shown = result.record_ends?.length ?? lengthOf((result.body as Body)[part ?? '']);
    return this.#noted(answer, { part, shown, of, more }, ctx);
  }

  /** The beginning of a free answer, with a note. */
  #cut(answer: ToolAnswer, result: Result<unknown>, ctx: Context): ToolAnswer {
    const { long } = this.#operation.tool ?? {};
    const { access } = this.#operation.charge;
    if (access !== 'free' || ctx.priced || long?.part === undefined) throw this.#refusal(ctx);
    const body = result.body as Body;
    const value = body[long.part];
    const whole = answer.text ?? (typeof value === 'string' ? value : null);
    if (whole === null) {
      const { body: shorter, left_out } = cutBody(long, body, this.#tokens);
      return this.#noted({ json: JSON.stringify(shorter), text: null }, left_out, ctx);
    }
    const room = this.#tokens - NOTE_TOKENS;
    const { text, shown, of } =
      answer.text === null
        ? cutText(whole, room - estimate(JSON.stringify({ ...body, [long.part]: '' })), JSON.stringify)
        : cutText(whole, room);
    const json = answer.json && JSON.stringify({ ...body, [long.part]: text });
    const sent = { json, text: answer.text === null ? null : text };
    return this.#noted(sent, { part: 'lines', shown, of, more: long.more }, ctx);
  }

  async #render(result: Result<unknown>, ctx: Context): Promise<ToolAnswer> {
    const made = this.#madeOf(result, ctx);
    made.rendered ??= await renderAnswer(this.#operation, result, ctx);
    return made.rendered;
  }

  /**
   * Number of records that fit as Markdown: estimated from their share of the text, then reduced by
   * rendering.
   */
  async #fittingText(text: string, result: Result<unknown>, ctx: Context): Promise<number> {
    const part = this.#operation.tool?.long?.part ?? '';
    const body = result.body as Body;
    const all = body[part] as unknown[];
    const room = this.#tokens - NOTE_TOKENS;
    let keep = Math.min(all.length - 1, Math.floor((all.length * room) / estimate(text)));
    while (keep > 0) {
      const fewer = { ...shownBy(result), body: { ...body, [part]: all.slice(0, keep) } };
      if (textFitsIn((await renderAnswer(this.#operation, fewer, ctx)).text ?? '', room)) break;
      keep = Math.floor(keep * 0.8);
    }
    return keep;
  }

  /** Adds a note to the result: what was left out, and how to get it. */
  #noted(answer: ToolAnswer, left: Truncation, ctx: Context): ToolAnswer {
    const left_out = { ...left, more: this.#advice(left.more, ctx) };
    const { shown, of, more } = left_out;
    const note = `\nShown: ${shown} of ${of} ${left.part ?? 'parts'}, to stay within ${this.#tokens} tokens. ${more}\n`;
    // Instead of the closing brace.
    const member = `,"left_out":${JSON.stringify(left_out)}}`;
    const { text, parts } = answer;
    const last = parts?.at(-1);
    if (text === null && parts && last)
      return new BytesAnswer([...parts.slice(0, -1), last.subarray(0, -1), Buffer.from(member)]);
    return { json: answer.json && answer.json.slice(0, -1) + member, text: text === null ? null : text + note };
  }

  #advice(more: string, { format }: Context): string {
    const { formats, own_format } = this.#operation;
    const markdown = format === 'json' && formats.includes('markdown') && !own_format;
    return `${more}${markdown ? ' format: "md" needs far fewer tokens.' : ''}`.trim();
  }

  /** The message contains only the limit: it is free, and the size of the result depends on paid values. */
  #refusal(ctx: Context): ApiError {
    const { name } = this.#operation;
    const { long } = this.#operation.tool ?? {};
    const advice = this.#advice(long?.instead ?? long?.more ?? '', ctx);
    const message = `The answer of ${name} would be too long; the limit here is ${this.#tokens} tokens. ${advice} Nothing was charged.`;
    return new ApiError('too_many_records', message, { detail: { max_tokens: this.#tokens } });
  }
}

/** An answer for the second time: one text can be escaped and compressed once for all further calls. */
const joined = (answer: ToolAnswer): ToolAnswer =>
  answer.parts && answer.parts.length > 1 ? new BytesAnswer([Buffer.concat(answer.parts)]) : answer;

function fits(answer: ToolAnswer, tokens: number): boolean {
  const { text, parts } = answer;
  return text === null && parts ? partsFitIn(parts, tokens) : textFitsIn(text ?? answer.json, tokens);
}

/** What Markdown shows of a result besides its body. */
const shownBy = ({ next_cursor = null, fields = null }: Result<unknown>) => ({ next_cursor, fields });

const lengthOf = (part: unknown): number => (Array.isArray(part) || typeof part === 'string' ? part.length : 0);

/** Renders the requested format: the JSON of REST; or a text, with the operation's other members as JSON. */
async function renderAnswer(operation: Operation, result: Result<unknown>, ctx: Context): Promise<ToolAnswer> {
  if (ctx.format === 'json' && result.parts) return new BytesAnswer(result.parts);
  const { body } = await render(operation, result, ctx);
  const text = body instanceof Uint8Array ? Buffer.from(body).toString() : (body as string);
  return answerWith(text, operation, result, ctx);
}

function answerWith(text: string, operation: Operation, result: Result<unknown>, ctx: Context): ToolAnswer {
  if (ctx.format === 'json') return { json: text, text: null };
  // Operations without JSON are texts with a citation; for the others, Markdown is the whole result.
  return { json: operation.formats.includes('json') ? '' : JSON.stringify(result.body), text };
}
