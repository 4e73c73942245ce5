// Upper bound for the tokens of a text, without a tokenizer: models use different ones, and loading one costs
// too much.

/** Character classes. */
const [SPACE, DIGITS, LETTERS, MARKS, BEYOND] = [0, 1, 2, 3, 4];

/** Class of each of the first 128 characters. */
const CLASS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[0-9]/.test(character)) return DIGITS;
  if (/[a-zA-Z]/.test(character)) return LETTERS;
  return /\s/.test(character) ? SPACE : MARKS;
});

const [LINE, QUOTE] = [10, 34];

/**
 * Upper bound for the tokens of a text: three digits, four letters and two marks (between JSON quotes three)
 * are one token; a character beyond ASCII is two, and two line ends are one. For responses of real packs it
 * is between the counts of the tokenizers o200k and cl100k and 1.5 times that
 * (tests/app/agents/mcp-budget.test.ts).
 */
export function estimate(text: string): number {
  let tokens = 0;
  let run = 0;
  let kind = SPACE;
  let quoted = false;
  for (let at = 0; at <= text.length; at += 1) {
    const code = text.charCodeAt(at);
    const next = at === text.length ? SPACE : code < 128 ? (CLASS[code] ?? MARKS) : BEYOND;
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
    if (code === LINE) tokens += 0.5;
    if (kind === BEYOND) tokens += 2;
  }
  return Math.ceil(tokens);
}

/** Minimum bytes per token of any text: a text shorter than that times the limit need not be scanned. */
const LEAST = 1.5;

/** Whether any text of this many bytes fits in this many tokens. */
export const bytesFitIn = (bytes: number, tokens: number): boolean => bytes <= tokens * LEAST;

/** Whether a text fits in this many tokens. */
export const textFitsIn = (text: string, tokens: number): boolean =>
  bytesFitIn(Buffer.byteLength(text), tokens) || estimate(text) <= tokens;
