// How many tokens a text surely fits in, without a tokenizer: models have different ones, and loading one costs more than it tells.

/** What a character is a part of. */
const [SPACE, DIGITS, LETTERS, MARKS, BEYOND] = [0, 1, 2, 3, 4];

/** The class of each of the first 128 characters. */
const CLASS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[0-9]/.test(character)) return DIGITS;
  if (/[a-zA-Z]/.test(character)) return LETTERS;
  return /\s/.test(character) ? SPACE : MARKS;
});

const [LINE, QUOTE] = [10, 34];

/**
 * An upper estimate of the tokens of a text: numbers by threes and words by fours, marks by twos or, between the quotes of JSON,
 * by threes; a character beyond ASCII is two, and two ends of lines are one. Over the answers of real packs it is between
 * what the tokenizers o200k and cl100k count and half as much again (tests/app/agents/mcp-budget.test.ts).
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

/** Bytes that no text has fewer of to a token: with less of them than that, it need not be looked at. */
const LEAST = 1.5;

/** Whether so many bytes surely have at most so many tokens, whatever they say. */
export const fewIn = (bytes: number, tokens: number): boolean => bytes <= tokens * LEAST;

/** Whether a text surely has at most so many tokens. */
export const fitsIn = (text: string, tokens: number): boolean =>
  fewIn(Buffer.byteLength(text), tokens) || estimate(text) <= tokens;
