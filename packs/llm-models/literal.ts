// Extracts data from a published JavaScript file without running any other code of it.
import { runInNewContext } from 'node:vm';

/** Time limit for one literal in milliseconds; the largest known takes about 50. */
const TIME_LIMIT = 2_000;

const OPENERS = '[{';
const CLOSERS = ']}';
/**
 * Characters that data never needs outside of strings: calls, functions, statements, comments, assignments.
 */
const CODE = '();=`/';

/**
 * The balanced array or object literal at `from`; brackets in strings are ignored. Throws when the text is
 * not plain data: an unbalanced bracket, a call, a `${…}`, a comment.
 */
export function cutLiteral(text: string, from: number): string {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const sign = text[at]!;
    if (sign === '"' || sign === "'" || sign === '`') {
      at = endOfString(text, at);
      continue;
    }
    if (OPENERS.includes(sign)) depth += 1;
    else if (CLOSERS.includes(sign)) depth -= 1;
    else if (CODE.includes(sign)) throw new Error(`expected data, found ${JSON.stringify(text.slice(at, at + 20))}`);
    at += 1;
    if (depth === 0) return text.slice(from, at);
  }
  throw new Error('expected a closing bracket, found the end of the file');
}

/** Position after the string at `from`. */
function endOfString(text: string, from: number): number {
  const quote = text[from];
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return at + 1;
    else if (quote === '`' && text.startsWith('${', at)) throw new Error('expected data, found a template with code');
  }
  throw new Error('expected the end of a string, found the end of the file');
}

/**
 * The value of a literal such as `[{ id: "a", on: !0 }]`, as JSON represents it. It is evaluated in an empty
 * context with a time limit and returned as text, so that no object of that context reaches ours.
 */
export function readLiteral(literal: string): unknown {
  const json: unknown = runInNewContext(`JSON.stringify(${literal})`, Object.create(null), {
    timeout: TIME_LIMIT,
    contextCodeGeneration: { strings: false, wasm: false },
  });
  return JSON.parse(String(json));
}

/**
 * Finds a literal by the text before it: `pattern` ends with the literal's opening bracket. Throws without a
 * match, when the package has a new layout.
 */
export function findLiteral(text: string, pattern: RegExp): unknown {
  const match = pattern.exec(text);
  if (match === null) throw new Error(`expected ${pattern.source}: the package has a new layout`);
  return readLiteral(cutLiteral(text, match.index + match[0].search(/[[{]/)));
}
