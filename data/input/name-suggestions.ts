// Suggestions for unknown names in error messages: the most similar known name, or a list of the known names.
import leven from 'leven';

/** Edits that a shared word outweighs: `longest_runway` is nearer to `runway_length` than to `country`. */
const SHARED_WORD = 6;
/** Most names that a message lists. */
const LISTED = 40;

/**
 * The names with the smallest edit distance to `typed`, when that is at most `most`: by default one edit for
 * every three letters, at least one. Ignores case; compares the first 80 characters. Empty: no name is that
 * near.
 */
export function closestNames(
  typed: string,
  names: Iterable<string>,
  most: number = Math.round(Math.min(typed.length, 80) / 3),
): string[] {
  const lowerCase = typed.slice(0, 80).toLowerCase();
  const distances = [...names].map((name) => ({ name, count: editDistance(lowerCase, name.toLowerCase()) }));
  const least = Math.min(...distances.map(({ count }) => count));
  return least <= Math.max(1, most) ? distances.filter(({ count }) => count === least).map(({ name }) => name) : [];
}

/** Levenshtein distance; two exchanged letters count as one edit. Case-sensitive. */
export function editDistance(a: string, b: string): number {
  const distance = leven(a, b);
  return distance === 2 && a.length === b.length && sorted(a) === sorted(b) ? 1 : distance;
}

const sorted = (text: string): string => [...text].sort().join('');

function ranked(name: string, names: Iterable<string>): { name: string; distance: number } | null {
  const written = name.slice(0, 80).toLowerCase();
  const words = new Set(written.split(/[^a-z0-9]+/));
  let best: { name: string; distance: number } | null = null;
  for (const candidate of names) {
    const known = candidate.toLowerCase();
    const shared = known.split(/[^a-z0-9]+/).filter((word) => word.length > 2 && words.has(word)).length;
    const distance = leven(written, known) - SHARED_WORD * shared;
    if (best === null || distance < best.distance) best = { name: candidate, distance };
  }
  return best;
}

/**
 * End of an error message about an unknown name, with a leading space: ` Did you mean "x"?`, or, when no name
 * is near, ` Known, the nearest first: x, …` with `listed` (default: all names), at most 40. Empty without
 * names.
 */
export function nameSuggestion(name: string, names: Iterable<string>, listed?: Iterable<string>): string {
  // An iterator can be read only once.
  const known = [...names];
  const best = ranked(name, known);
  if (best === null) return '';
  if (best.distance <= Math.max(2, name.length / 2)) return ` Did you mean "${best.name}"?`;
  const list = [...new Set([best.name, ...(listed ?? known)])];
  return ` Known, the nearest first: ${list.slice(0, LISTED).join(', ')}${list.length > LISTED ? ', …' : ''}.`;
}
