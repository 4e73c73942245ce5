// What to say of a name that is not known: the nearest one, and what there is where none is near.
import leven from 'leven';

/** What a shared word weighs against letters that differ: `longest_runway` is nearer to `runway_length` than to `country`. */
const SHARED_WORD = 6;
/** Names that a message lists, when none is near. */
const TOLD = 40;

/** The known name nearest to one that was typed; null where none is known. At most 80 characters of it are looked at. */
export function nearest(name: string, names: Iterable<string>): string | null {
  return ranked(name, names)?.name ?? null;
}

/**
 * The names that were misspelt, equally near: within one slip for every three letters. A slip is a letter left out, added or replaced,
 * or two letters in the wrong order. Empty where none of `names` is that near.
 */
export function misspelt(
  typed: string,
  names: Iterable<string>,
  most: number = Math.round(Math.min(typed.length, 80) / 3),
): string[] {
  const written = typed.slice(0, 80).toLowerCase();
  const slips = [...names].map((name) => ({ name, count: slipsBetween(written, name.toLowerCase()) }));
  const least = Math.min(...slips.map(({ count }) => count));
  return least <= Math.max(1, most) ? slips.filter(({ count }) => count === least).map(({ name }) => name) : [];
}

/** Letters that differ; two neighbours in the wrong order count as one. */
export function slipsBetween(a: string, b: string): number {
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
 * ` Did you mean "x"?`, the end of a message about an unknown name; where nothing is near enough to be meant, what names there
 * are, or `told` of them, the nearest first.
 */
export function hint(name: string, names: Iterable<string>, told?: Iterable<string>): string {
  // An iterator can be read but once.
  const known = [...names];
  const best = ranked(name, known);
  if (best === null) return '';
  if (best.distance <= Math.max(2, name.length / 2)) return ` Did you mean "${best.name}"?`;
  const list = [...new Set([best.name, ...(told ?? known)])];
  return ` Known, the nearest first: ${list.slice(0, TOLD).join(', ')}${list.length > TOLD ? ', …' : ''}.`;
}
