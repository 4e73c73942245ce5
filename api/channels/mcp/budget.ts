// Answers within a budget of tokens: a model that asked for a page should not get a book (docs/mcp.md, "How long an answer is").
import { ApiError } from '../../errors.ts';
import { render } from '../../formats/render.ts';
import type { Context, Operation, Result } from '../../operation.ts';
import { estimate, fewIn, fitsIn } from './tokens.ts';

/** Tokens of an answer where the address does not say otherwise, and the bounds of what it may say. */
export const TOKENS = { standard: 20_000, least: 1_000, most: 200_000 } as const;

/** What a tool answers: JSON, and the text beside it; null: the JSON is the text. */
export interface ToolAnswer {
  readonly json: string;
  readonly text: string | null;
  /** The text as a string of JSON, where the answer had to be written with it. */
  readonly quoted?: string | undefined;
  /** The JSON as bytes, in parts, where it came as such. */
  readonly parts?: readonly Uint8Array[] | undefined;
}

/** JSON that came as bytes, and is read only when somebody asks for the text. */
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

/** Keeps one call within its budget: asks again for less, cuts what is free, refuses what would be paid for and not sent. */
export class Budget {
  readonly #operation: Operation;
  readonly #tokens: number;
  /** How many there would have been, where fewer were asked for in their place. */
  #of: number | null = null;
  /** The result that was rendered last, and its answer. */
  #last: { result: Result<unknown>; answer: ToolAnswer } | null = null;

  constructor(operation: Operation, tokens: number) {
    this.#operation = operation;
    this.#tokens = tokens;
  }

  /** Whether an answer that is too long can be asked for again, for less. */
  get shortens(): boolean {
    const { long } = this.#operation;
    return long?.shorter !== undefined && long.part !== undefined;
  }

  /** The input of an answer that fits, or undefined when this one does or nothing shorter costs the same. */
  async shorter(input: unknown, result: Result<unknown>, ctx: Context): Promise<unknown> {
    const { long } = this.#operation;
    const answer = await this.#render(result, ctx);
    if (!long?.shorter || !long.part || fits(answer, this.#tokens)) return undefined;
    const all = (result.body as Body)[long.part] as unknown[];
    const keep = this.#fitting(answer, all);
    if (keep < 1 || keep >= all.length) return undefined;
    this.#of = all.length;
    return long.shorter(input, keep);
  }

  /** The answer as it is sent. Throws, uncharged, what is too long and must not be cut. */
  async present(result: Result<unknown>, ctx: Context): Promise<ToolAnswer> {
    const answer = await this.#render(result, ctx);
    const { long, access } = this.#operation;
    const whole = fits(answer, this.#tokens);
    // Reading the body may mean to parse it.
    if (whole && this.#of === null) return answer;
    const body = result.body as Body;
    const part = long?.part === undefined ? undefined : body[long.part];
    if (whole && this.#of !== null) return this.#told(answer, lengthOf(part), this.#of);
    if (access === 'free' && long?.part !== undefined && part !== undefined) return this.#cut(answer, body, long.part);
    throw this.#refusal(answer);
  }

  async #render(result: Result<unknown>, ctx: Context): Promise<ToolAnswer> {
    if (this.#last?.result === result) return this.#last.answer;
    const answer = await rendered(this.#operation, result, ctx);
    this.#last = { result, answer };
    return answer;
  }

  /** How many of a list fit, by the tokens that each of them takes. */
  #fitting({ json, text }: ToolAnswer, all: unknown[]): number {
    // Markdown is a table or a page for each: their shares are about even.
    if (text !== null) return Math.floor((all.length * this.#tokens * 0.9) / estimate(text));
    const sizes = all.map((each) => estimate(JSON.stringify(each)) + 1);
    let used = NOTE + estimate(json) - sizes.reduce((sum, size) => sum + size, 0);
    let keep = 0;
    for (const size of sizes) {
      used += size;
      if (used > this.#tokens) break;
      keep += 1;
    }
    return keep;
  }

  /** A free answer without its end: whole lines of a text, whole members of a list. */
  #cut(answer: ToolAnswer, body: Body, part: string): ToolAnswer {
    if (answer.text !== null) {
      const text = beginning(answer.text, this.#tokens - NOTE);
      const json = typeof body[part] === 'string' ? { ...body, [part]: text } : { markdown: text };
      return this.#told({ json: JSON.stringify(json), text }, text.length, answer.text.length);
    }
    const all = body[part] as unknown[];
    const keep = this.#fitting(answer, all);
    const json = JSON.stringify({ ...body, [part]: all.slice(0, keep) });
    return this.#told({ json, text: null }, keep, all.length);
  }

  /** The answer with what was left out, and how to get it. */
  #told({ json, text }: ToolAnswer, shown: number, of: number): ToolAnswer {
    const left_out = { part: this.#operation.long?.part, shown, of, more: this.#operation.long?.more };
    const note = `\nShown: ${shown} of ${of}, to stay within ${this.#tokens} tokens. ${left_out.more}\n`;
    return {
      json: `${json.slice(0, -1)},"left_out":${JSON.stringify(left_out)}}`,
      text: text === null ? null : text + note,
    };
  }

  #refusal(answer: ToolAnswer): ApiError {
    const { name, long } = this.#operation;
    const size = estimate(answer.text ?? answer.json);
    const message = `The answer of ${name} would have about ${size} tokens, and ${this.#tokens} are the most here. ${long?.more ?? ''} Nothing was charged.`;
    return new ApiError('too_many_records', message, { detail: { tokens: size, max_tokens: this.#tokens } });
  }
}

/** Tokens kept for the note of what was left out. */
const NOTE = 100;

const fits = (answer: ToolAnswer, tokens: number) =>
  (answer.parts !== undefined && fewIn(bytesOf(answer.parts), tokens)) || fitsIn(answer.text ?? answer.json, tokens);

const bytesOf = (parts: readonly Uint8Array[]) => parts.reduce((sum, { length }) => sum + length, 0);

/** Whole lines from the start of a text. */
function beginning(text: string, tokens: number): string {
  let used = 0;
  let end = 0;
  while (end < text.length) {
    const next = text.indexOf('\n', end) + 1 || text.length;
    used += estimate(text.slice(end, next));
    if (used > tokens) break;
    end = next;
  }
  return text.slice(0, end);
}

const lengthOf = (part: unknown): number => (Array.isArray(part) || typeof part === 'string' ? part.length : 0);

/** The answer in the form asked for: the JSON of REST; or a text, with what else the operation answers beside it. */
async function rendered(operation: Operation, result: Result<unknown>, ctx: Context): Promise<ToolAnswer> {
  if (ctx.format === 'json' && result.parts) return new BytesAnswer(result.parts);
  const { body } = await render(operation, result, ctx);
  const text = body as string;
  if (ctx.format === 'json') return { json: text, text: null };
  // Operations that have no JSON are texts with a citation; of others, Markdown is all that was asked for.
  if (!operation.formats.includes('json')) return { json: JSON.stringify(result.body), text };
  const { next_cursor } = result;
  const quoted = JSON.stringify(text);
  const next = next_cursor === undefined ? '' : `,"next_cursor":${JSON.stringify(next_cursor)}`;
  return { json: `{"markdown":${quoted}${next}}`, text, quoted };
}
