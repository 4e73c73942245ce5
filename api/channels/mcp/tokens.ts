// Upper bound for the tokens of a text, without a tokenizer: models use different ones, and loading one costs
// too much.

import { derive } from '../../../packs/define/derive.ts';

/** Classes of bytes. */
const [SPACE, DIGITS, LETTERS, MARKS, BEYOND] = [0, 1, 2, 3, 4];

/** Class of each byte of UTF-8. */
const CLASS = Uint8Array.from({ length: 256 }, (_, code) => {
  if (code >= 128) return BEYOND;
  const character = String.fromCharCode(code);
  if (/[0-9]/.test(character)) return DIGITS;
  if (/[a-zA-Z]/.test(character)) return LETTERS;
  return /\s/.test(character) ? SPACE : MARKS;
});

const [LINE, QUOTE] = [10, 34];
/** First bytes of characters of two and three bytes, and of four, which are two code units in UTF-16. */
const [FIRST, FIRST_OF_FOUR] = [0xc0, 0xf0];

/**
 * Upper bound for the tokens of a text: three digits, four letters and two marks (between JSON quotes three)
 * are one token; a character beyond ASCII is two, beyond 16 bits four, and two line ends are one. For responses of
 * real packs it is between the counts of the tokenizers o200k and cl100k and 1.5 times that
 * (tests/app/agents/mcp-budget.test.ts). Texts that are estimated in parts have the same number of tokens or more.
 */
export const estimate = (text: string): number => estimateBytes(Buffer.from(text));

/** The same for the bytes of a text. */
function estimateBytes(text: Uint8Array): number {
  let tokens = 0;
  let run = 0;
  let kind = SPACE;
  let quoted = false;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at === text.length ? 0 : text[at]!;
    const next = at === text.length ? SPACE : CLASS[code]!;
    if (next !== kind) {
      if (kind === DIGITS) tokens += Math.ceil(run / 3);
      else if (kind === LETTERS) tokens += Math.ceil(run / 4);
      else if (kind === MARKS) tokens += Math.ceil(run / (quoted ? 3 : 2));
      kind = next;
      run = 0;
      quoted = false;
    }
    run += 1;
    if (code === QUOTE) quoted = true;
    else if (code === LINE) tokens += 0.5;
    else if (code >= FIRST) tokens += code >= FIRST_OF_FOUR ? 4 : 2;
  }
  return Math.ceil(tokens);
}

/** Upper bound for the tokens of a text in parts. Popular records are parts of many answers. */
export const estimateParts = (parts: readonly Uint8Array[]): number =>
  parts.reduce((tokens, part) => tokens + derive(part, 'tokens', () => estimateBytes(part)), 0);

/** Minimum bytes per token of any text: a text shorter than that times the limit need not be scanned. */
const LEAST = 1.5;

/** Whether any text of this many bytes fits in this many tokens. */
const bytesFitIn = (bytes: number, tokens: number): boolean => bytes <= tokens * LEAST;

/** Whether a text fits in this many tokens. */
export const textFitsIn = (text: string, tokens: number): boolean =>
  bytesFitIn(Buffer.byteLength(text), tokens) || estimate(text) <= tokens;

/** Whether a text in parts fits in this many tokens. */
export function partsFitIn(parts: readonly Uint8Array[], tokens: number): boolean {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  return bytesFitIn(bytes, tokens) || estimateParts(parts) <= tokens;
}
