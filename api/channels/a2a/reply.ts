// A reply: one message of the agent, with a text part and a data part, as far as the client takes them.
import type { Repeatable } from '../../execute.ts';
import { render } from '../../formats/render.ts';
import type { Context, Operation, Result } from '../../operation.ts';
import type { Headers } from '../respond.ts';
import type { Asked } from './message.ts';

/** What a skill answers: Markdown, and JSON as text; null where there is none of it. */
export interface Reply {
  text: string | null;
  data: string | null;
}

/** The parts that are wanted of a result. A skill that is a text has in its data what is said of the text. */
export async function present(
  operation: Operation,
  result: Result<unknown>,
  ctx: Context,
  wants: Asked['wants'],
): Promise<Reply> {
  const written = async (format: Context['format']) => {
    // The address and the signal are made when they are asked for, and a spread alone leaves them behind.
    const { body } = await render(operation, result, { ...ctx, url: ctx.url, signal: ctx.signal, format });
    return typeof body === 'string' ? body : Buffer.from(body as Uint8Array).toString();
  };
  if (ctx.format === 'json')
    return {
      text: wants.text ? await written('markdown') : null,
      data: wants.data ? await written('json') : null,
    };
  const text = await written(ctx.format);
  if (operation.formats.includes('json')) return { text, data: null };
  if (!wants.text) return { text: null, data: JSON.stringify(result.body) };
  const { text: _, ...beside } = result.body as Record<string, unknown>;
  return { text, data: wants.data && Object.keys(beside).length > 0 ? JSON.stringify(beside) : null };
}

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
