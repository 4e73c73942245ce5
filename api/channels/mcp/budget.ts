// Token budget of tool results: a page must not fill a model's context (docs/mcp.md, "How long an answer
// is").
import { type Awaitable, whenReady } from '../../../data/model/awaitable.ts';
import { ApiError } from '../../contract/errors.ts';
import type { Context, Operation, Result } from '../../contract/operation.ts';
import { render } from '../../render/render.ts';
import { countFitting, cutBody, cutText, NOTE_TOKENS, type Truncation } from './cut.ts';
import { bytesFitIn, estimate, textFitsIn } from './tokens.ts';

/** Tokens of a result: the default, and the bounds of `max_tokens`. */
export const TOKENS = { standard: 20_000, least: 1_000, most: 200_000 } as const;

/** Content of a tool result: JSON, and a text; null: the JSON is the text. */
export interface ToolAnswer {
  readonly json: string;
  readonly text: string | null;
  /** The text as a JSON string, if it was computed already. */
  readonly quoted?: string | undefined;
  /** The JSON as pieces of bytes, if the renderer produced bytes. */
  readonly parts?: readonly Uint8Array[] | undefined;
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

/**
 * Keeps one call within its budget: runs it again for fewer records, cuts free results, rejects paid ones
 * that would be cut.
 */
export class Budget {
  readonly #operation: Operation;
  readonly #tokens: number;
  /** Number of records of the full result, when fewer were queried instead. */
  of: number | null = null;
  /** The last rendered result, and its content. */
  #last: { result: Result<unknown>; answer: ToolAnswer } | null = null;

  constructor(operation: Operation, tokens: number) {
    this.#operation = operation;
    this.#tokens = tokens;
  }

  /** Whether a result that is too long can be queried again with a shorter input. */
  get shortens(): boolean {
    const { long } = this.#operation;
    return long?.shorter !== undefined && long.part !== undefined;
  }

  /** Input of a shorter query, or undefined if this result fits or no shorter query costs the same. */
  shorter(input: unknown, result: Result<unknown>, ctx: Context): Awaitable<unknown> {
    return whenReady(this.#render(result, ctx), (answer) =>
      fits(answer, this.#tokens) ? undefined : this.#shorten(answer, input, result, ctx),
    );
  }

  async #shorten(answer: ToolAnswer, input: unknown, result: Result<unknown>, ctx: Context): Promise<unknown> {
    const { long } = this.#operation;
    if (!long?.shorter || !long.part) return undefined;
    const body = result.body as Body;
    const all = body[long.part] as unknown[];
    const room = this.#tokens - NOTE_TOKENS;
    const keep =
      answer.text === null ? countFitting(body, long.part, room) : await this.#fittingText(answer.text, result, ctx);
    if (keep < 1 || keep >= all.length) return undefined;
    this.of = all.length;
    return long.shorter(input, keep);
  }

  /** The result to send. Throws, without a charge, if it is too long and must not be cut. */
  present(result: Result<unknown>, ctx: Context): Awaitable<ToolAnswer> {
    const answer = this.#render(result, ctx);
    return answer instanceof Promise
      ? answer.then((ready) => this.#fit(ready, result, ctx))
      : this.#fit(answer, result, ctx);
  }

  #fit(answer: ToolAnswer, result: Result<unknown>, ctx: Context): ToolAnswer {
    const { long, access } = this.#operation;
    const withinBudget = fits(answer, this.#tokens);
    // Reading the body may parse it.
    if (withinBudget && this.of === null) return answer;
    const body = result.body as Body;
    if (withinBudget && this.of !== null) {
      const shown = lengthOf(long?.part === undefined ? undefined : body[long.part]);
      return this.#noted(answer, { part: long?.part, shown, of: this.of, more: long?.more ?? '' }, ctx);
    }
    if (access !== 'free' || ctx.priced || long?.part === undefined) throw this.#refusal(ctx);
    if (answer.text === null) {
      const { body: shorter, left_out } = cutBody(long, body, this.#tokens);
      return this.#noted({ json: JSON.stringify(shorter), text: null }, left_out, ctx);
    }
    const { text, shown, of } = cutText(answer.text, this.#tokens - NOTE_TOKENS);
    const json = typeof body[long.part] === 'string' ? { ...body, [long.part]: text } : { markdown: text };
    return this.#noted({ json: JSON.stringify(json), text }, { part: 'lines', shown, of, more: long.more }, ctx);
  }

  #render(result: Result<unknown>, ctx: Context): Awaitable<ToolAnswer> {
    if (this.#last?.result === result) return this.#last.answer;
    return whenReady(renderAnswer(this.#operation, result, ctx), (answer) => {
      this.#last = { result, answer };
      return answer;
    });
  }

  /**
   * Number of records that fit as Markdown: estimated from their share of the text, then reduced by
   * rendering.
   */
  async #fittingText(text: string, result: Result<unknown>, ctx: Context): Promise<number> {
    const part = this.#operation.long?.part ?? '';
    const body = result.body as Body;
    const all = body[part] as unknown[];
    const room = this.#tokens - NOTE_TOKENS;
    let keep = Math.min(all.length - 1, Math.floor((all.length * room) / estimate(text)));
    while (keep > 0) {
      const fewer = { next_cursor: result.next_cursor ?? null, body: { ...body, [part]: all.slice(0, keep) } };
      if (textFitsIn((await renderAnswer(this.#operation, fewer, ctx)).text ?? '', room)) break;
      keep = Math.floor(keep * 0.8);
    }
    return keep;
  }

  /** Adds a note to the result: what was left out, and how to get it. */
  #noted({ json, text }: ToolAnswer, left: Truncation, ctx: Context): ToolAnswer {
    const left_out = { ...left, more: this.#advice(left.more, ctx) };
    const { shown, of, more } = left_out;
    const note = `\nShown: ${shown} of ${of} ${left.part ?? 'parts'}, to stay within ${this.#tokens} tokens. ${more}\n`;
    return {
      json: `${json.slice(0, -1)},"left_out":${JSON.stringify(left_out)}}`,
      text: text === null ? null : text + note,
    };
  }

  #advice(more: string, { format }: Context): string {
    const { formats, own_format } = this.#operation;
    const markdown = format === 'json' && formats.includes('markdown') && !own_format;
    return `${more}${markdown ? ' format: "md" needs far fewer tokens.' : ''}`.trim();
  }

  /** The message contains only the limit: it is free, and the size of the result depends on paid values. */
  #refusal(ctx: Context): ApiError {
    const { name, long } = this.#operation;
    const advice = this.#advice(long?.instead ?? long?.more ?? '', ctx);
    const message = `The answer of ${name} would be too long; the limit here is ${this.#tokens} tokens. ${advice} Nothing was charged.`;
    return new ApiError('too_many_records', message, { detail: { max_tokens: this.#tokens } });
  }
}

const fits = (answer: ToolAnswer, tokens: number) =>
  (answer.parts !== undefined && bytesFitIn(bytesOf(answer.parts), tokens)) ||
  textFitsIn(answer.text ?? answer.json, tokens);

const bytesOf = (parts: readonly Uint8Array[]) => parts.reduce((sum, { length }) => sum + length, 0);

const lengthOf = (part: unknown): number => (Array.isArray(part) || typeof part === 'string' ? part.length : 0);

/** Renders the requested format: the JSON of REST; or a text, with the operation's other members as JSON. */
function renderAnswer(operation: Operation, result: Result<unknown>, ctx: Context): Awaitable<ToolAnswer> {
  if (ctx.format === 'json' && result.parts) return new BytesAnswer(result.parts);
  return whenReady(render(operation, result, ctx), ({ body }) => answerWith(body as string, operation, result, ctx));
}

function answerWith(text: string, operation: Operation, result: Result<unknown>, ctx: Context): ToolAnswer {
  if (ctx.format === 'json') return { json: text, text: null };
  // Operations without JSON are texts with a citation; for the others, Markdown is the whole result.
  if (!operation.formats.includes('json')) return { json: JSON.stringify(result.body), text };
  const { next_cursor } = result;
  const quoted = JSON.stringify(text);
  const next = next_cursor === undefined ? '' : `,"next_cursor":${JSON.stringify(next_cursor)}`;
  return { json: `{"markdown":${quoted}${next}}`, text, quoted };
}
