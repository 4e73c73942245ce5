// Shortens free results: without descriptions, with shorter lists, with fewer lines of text.
import type { Shortening } from '../../contract/operation.ts';
import { estimate, estimateParts, textFitsIn } from './tokens.ts';

type Body = Record<string, unknown>;

/** Tokens reserved for the note about what was left out. */
export const NOTE_TOKENS = 150;

/** What a result lacks, and how to get it. */
export interface Truncation {
  /** Name of the member that was cut, or `lines` of a text. */
  part: string | undefined;
  shown: number;
  of: number;
  /** Other members that were cut. */
  further?: { part: string; shown: number; of: number }[];
  /** Details that are left out everywhere. */
  without?: string[];
  more: string;
}

/** Cuts a body to a number of tokens, in the order that its operation declares. */
export function cutBody(
  long: Shortening<unknown, Body>,
  body: Body,
  tokens: number,
): { body: Body; left_out: Truncation } {
  const room = tokens - NOTE_TOKENS;
  const without: string[] = [];
  let current = body;
  for (const { without: detail, of } of long.brief ?? []) {
    if (fits(current, room)) break;
    current = { ...of(current) };
    without.push(detail);
  }
  const cut: { part: string; shown: number; of: number }[] = [];
  for (const part of [long.part, ...(long.further ?? [])]) {
    const all = part === undefined ? undefined : current[part];
    if (part === undefined || !Array.isArray(all)) continue;
    const shown = fits(current, room) ? all.length : countFitting(current, part, room);
    if (shown < all.length) current = { ...current, [part]: all.slice(0, shown) };
    if (shown < all.length || cut.length === 0) cut.push({ part, shown, of: all.length });
  }
  const [first = { part: long.part, shown: 0, of: 0 }, ...further] = cut;
  return {
    body: current,
    left_out: {
      ...first,
      ...(further.length > 0 ? { further } : {}),
      ...(without.length > 0 ? { without } : {}),
      more: long.more,
    },
  };
}

const fits = (body: Body, tokens: number) => textFitsIn(JSON.stringify(body), tokens);

/** Number of list items that fit together with the rest of the body. */
export function countFitting(body: Body, part: string, tokens: number): number {
  let used = estimate(JSON.stringify({ ...body, [part]: [] }));
  let keep = 0;
  for (const item of body[part] as unknown[]) {
    used += estimate(JSON.stringify(item)) + 1;
    if (used > tokens) break;
    keep += 1;
  }
  return keep;
}

/**
 * The same for JSON in parts; `ends`: the number of parts up to the end of each item. Nothing is parsed.
 */
export function countFittingParts(parts: readonly Uint8Array[], ends: readonly number[], tokens: number): number {
  let used = estimateParts(parts.slice(ends.at(-1)));
  let keep = 0;
  let start = 0;
  for (const end of ends) {
    used += estimateParts(parts.slice(start, end));
    if (used > tokens) break;
    start = end;
    keep += 1;
  }
  return keep;
}

/**
 * The first lines of a text that fit; of a single line that is too long, its first characters. `written` is a line as
 * the answer has it: in JSON its end is escaped.
 */
export function cutText(
  text: string,
  tokens: number,
  written = (line: string): string => line,
): { text: string; shown: number; of: number } {
  let used = 0;
  let end = 0;
  let shown = 0;
  while (end < text.length) {
    const next = text.indexOf('\n', end) + 1 || text.length;
    used += estimate(written(text.slice(end, next)));
    if (used > tokens) break;
    end = next;
    shown += 1;
  }
  const of = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  // A character has at most two tokens.
  return end === 0
    ? { text: text.slice(0, Math.max(0, tokens / 2)), shown: 0, of }
    : { text: text.slice(0, end), shown, of };
}
