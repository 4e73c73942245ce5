// Shows the answer to a request of the API reference: status, time, headers and body, within a size limit.
import { printBytes } from '../../api/render/print.ts';
import { createElement } from '../viewer/dom.ts';

/** Response headers that the page shows, in order. */
const HEADERS = [
  'content-type',
  'x-charge-eur',
  'x-balance-eur',
  'x-dataset-version',
  'x-next-cursor',
  'ratelimit',
  'retry-after',
  'etag',
  'x-request-id',
];
/** Most bytes that the page reads, and most characters that it shows. */
const LIMITS = { bytes: 1_000_000, characters: 40_000 };

/** Reads a body up to the limit. */
async function readBody(response: Response): Promise<{ bytes: Uint8Array; complete: boolean }> {
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (value !== undefined) {
      chunks.push(value);
      length += value.length;
    }
    if (done || length >= LIMITS.bytes) {
      if (!done) await reader?.cancel();
      const bytes = new Uint8Array(length);
      let at = 0;
      for (const chunk of chunks) {
        bytes.set(chunk, at);
        at += chunk.length;
      }
      return { bytes, complete: done };
    }
  }
}

/** Fills `result`, and returns the summary: status, time, size. */
export async function showAnswer(response: Response, result: HTMLElement, start: number): Promise<string> {
  const { bytes, complete } = await readBody(response);
  const milliseconds = Math.round(performance.now() - start);
  const type = response.headers.get('content-type') ?? '';
  const isText = /json|text|xml|markdown|csv/.test(type);
  let text = isText ? new TextDecoder().decode(bytes) : `Binary answer of type ${type}.`;
  if (/json/.test(type) && complete && !/ndjson/.test(type))
    try {
      text = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // Shown as it is.
    }
  const isCut = !complete || text.length > LIMITS.characters;
  const list = createElement('dl', { className: 'try-headers' });
  for (const name of HEADERS) {
    const value = response.headers.get(name);
    if (value !== null) list.append(createElement('dt', {}, name), createElement('dd', {}, value));
  }
  const body = createElement('pre', { tabIndex: 0 }, createElement('code', {}, text.slice(0, LIMITS.characters)));
  body.setAttribute('role', 'group');
  body.setAttribute('aria-label', 'Body of the answer');
  result.replaceChildren(
    list,
    body,
    ...(isCut ? [createElement('p', { className: 'small quiet' }, 'The body is longer; its beginning is shown.')] : []),
  );
  const size = `${complete ? '' : 'more than '}${printBytes(bytes.length)}`;
  return `${response.status} ${response.statusText} in ${milliseconds} ms, ${size}`;
}
