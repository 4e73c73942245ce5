// Stores a REST response for idempotency: a request repeated with the same Idempotency-Key gets the same
// bytes.

import { FORMATS } from '../../../data/input/formats.ts';
import type { Result } from '../../contract/operation.ts';
import type { AnswerCodec } from '../../gate/execute.ts';
import { isPieces } from '../../http/respond.ts';
import type { Rendered } from '../../render/render.ts';

/** Result and rendered body of a REST response. */
export interface RestAnswer {
  result: Result<unknown>;
  /** The body may also be JSON in pieces, which are concatenated when it is sent. */
  rendered: Omit<Rendered, 'body'> & { body: Rendered['body'] | readonly Uint8Array[] };
}

interface StoredAnswer {
  content_type: string;
  body: string;
  /** The body is bytes, in base64. */
  bytes?: true;
  result: Pick<Result<unknown>, 'status' | 'last_modified' | 'next_cursor'>;
}

/**
 * Converts a REST answer to the JSON text that is stored, and back. Stores the rendered body, its content
 * type, and of the result only `status`, `last_modified` and `next_cursor`: a decoded result has the body
 * null. `encode` reads a streamed body completely and replaces it, so that it is sent from memory.
 */
export const REST_ANSWER_CODEC: AnswerCodec<RestAnswer> = {
  async encode({ result: { status, last_modified, next_cursor }, rendered }) {
    const { content_type } = rendered;
    const body = isPieces(rendered.body) ? Buffer.concat(rendered.body) : rendered.body;
    const text =
      body instanceof Uint8Array ? textOf(rendered, body) : typeof body === 'string' ? body : await readAll(body);
    if (text !== null) rendered.body = text;
    const stored: StoredAnswer = {
      content_type,
      ...(text === null ? { body: Buffer.from(body as Uint8Array).toString('base64'), bytes: true } : { body: text }),
      result: {
        ...(status === undefined ? {} : { status }),
        ...(last_modified === undefined ? {} : { last_modified }),
        ...(next_cursor === undefined ? {} : { next_cursor }),
      },
    };
    return JSON.stringify(stored);
  },
  decode(text) {
    const { content_type, body, bytes, result } = JSON.parse(text) as StoredAnswer;
    const bodyBytes = bytes ? Uint8Array.from(Buffer.from(body, 'base64')) : body;
    return { result: { ...result, body: null }, rendered: { content_type, body: bodyBytes } };
  },
};

/** Formats whose answers may be bytes of a text. */
const TEXTS: ReadonlySet<string> = new Set(
  [FORMATS.json, FORMATS.markdown, FORMATS.text].map(({ media_type }) => media_type),
);

/** JSON, Markdown and texts as bytes become text; other bytes do not (null). */
function textOf({ content_type }: Pick<Rendered, 'content_type'>, body: Uint8Array): string | null {
  return TEXTS.has(content_type) ? Buffer.from(body).toString() : null;
}

async function readAll(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}
