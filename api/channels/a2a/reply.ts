// A reply: one message of the agent, with a text part and a data part, as far as the client takes them.

import type { Context, Operation, Result } from '../../contract/operation.ts';
import type { Call, Repeatable } from '../../gate/execute.ts';
import type { Headers } from '../../http/respond.ts';
import { Budget } from '../mcp/budget.ts';
import type { Asked } from './message.ts';

/** What a skill answers: Markdown, and JSON as text; null where there is none of it. */
export interface Reply {
  text: string | null;
  data: string | null;
}

/** The parts of one reply, each within the same number of tokens: Markdown for the model, JSON for the program. */
export class ReplyParts {
  readonly #operation: Operation;
  readonly #wants: Asked['wants'];
  readonly #markdown: Budget;
  readonly #json: Budget;

  constructor(operation: Operation, wants: Asked['wants'], tokens: number) {
    this.#operation = operation;
    this.#wants = wants;
    this.#markdown = new Budget(operation, tokens);
    this.#json = new Budget(operation, tokens);
  }

  /** The input of a shorter reply at the same price, for operations that have one (`Call.shorter`). */
  get shorter(): NonNullable<Call['shorter']> | undefined {
    if (!this.#json.shortens) return undefined;
    return async (input, result, ctx) => {
      if (ctx.format !== 'json') return this.#markdown.shorter(input, result, ctx);
      // JSON is the longer part: where it fits, Markdown does.
      if (!this.#wants.data) return this.#markdown.shorter(input, result, inFormat(ctx, 'markdown'));
      const shorter = await this.#json.shorter(input, result, ctx);
      this.#markdown.of = this.#json.of;
      return shorter;
    };
  }

  /** The parts that are wanted of a result. A skill that answers a text has in its data the members beside the text. */
  async present(result: Result<unknown>, ctx: Context): Promise<Reply> {
    const { text: wantsText, data: wantsData } = this.#wants;
    if (ctx.format === 'json')
      return {
        text: wantsText ? (await this.#markdown.present(result, inFormat(ctx, 'markdown'))).text : null,
        data: wantsData ? (await this.#json.present(result, ctx)).json : null,
      };
    const { text, json } = await this.#markdown.present(result, ctx);
    if (this.#operation.formats.includes('json')) return { text, data: null };
    if (!wantsText) return { text: null, data: json };
    const { text: _, ...others } = JSON.parse(json) as Record<string, unknown>;
    return { text, data: wantsData && Object.keys(others).length > 0 ? JSON.stringify(others) : null };
  }
}

/** The same context in another format. Its address and signal are getters, which a spread alone would lose. */
const inFormat = (ctx: Context, format: Context['format']): Context => ({
  ...ctx,
  url: ctx.url,
  signal: ctx.signal,
  format,
});

/** Replies written down, for whoever repeats a message with its Idempotency-Key. */
export const KEPT: Repeatable<Reply> = {
  keep: async (reply) => JSON.stringify(reply),
  revive: (text) => JSON.parse(text) as Reply,
};

/** The reply as the body of SendMessage's response: a Message, never a Task. What REST says in headers is its metadata. */
export function messageOf({ text, data }: Reply, contextId: string, headers: Headers): string {
  const parts = [
    ...(text === null ? [] : [`{"text":${JSON.stringify(text)},"mediaType":"text/markdown"}`]),
    ...(data === null ? [] : [`{"data":${data},"mediaType":"application/json"}`]),
  ];
  const about = { messageId: crypto.randomUUID(), contextId, role: 'ROLE_AGENT', metadata: metadataOf(headers) };
  return `{"message":${JSON.stringify(about).slice(0, -1)},"parts":[${parts.join(',')}]}}`;
}

function metadataOf(headers: Headers): Record<string, unknown> {
  const number = (name: string) => (headers[name] === undefined ? undefined : Number(headers[name]));
  return {
    request_id: headers['X-Request-Id'],
    dataset_version: headers['X-Dataset-Version'],
    charge_eur: number('X-Charge-EUR'),
    balance_eur: number('X-Balance-EUR'),
  };
}
