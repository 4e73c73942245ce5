// Words that differ from a typed word by one edit.

/** A typed word without matches; see Engine.spellings. */
export interface SpellingPlan {
  /** Folded. */
  word: string;
  scope: 'public' | 'full';
  limit: number;
}

/**
 * Regular expression, for RE2 and for JavaScript with the flag `u`, of the words with one letter inserted,
 * left out or replaced, or with two neighbours exchanged. It matches from beginning to end.
 */
export function oneEditPattern(word: string): string {
  const letters = [...word];
  const variants = letters.flatMap((letter, i) => {
    const [before, after] = [letters.slice(0, i).join(''), letters.slice(i + 1).join('')];
    const next = letters[i + 1];
    const exchanged = next === undefined ? [] : [`${before}${next}${letter}${letters.slice(i + 2).join('')}`];
    return [`${before}.${letter}${after}`, `${before}.?${after}`, ...exchanged];
  });
  return `^(?:${[...variants, `${word}.`].join('|')})$`;
}
