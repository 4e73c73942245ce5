// Which words of names a word that no record has probably means.
import type { Pack } from '../../packs/define/model.ts';
import { words } from '../../packs/define/text.ts';
import { misspelt } from '../input/names.ts';
import type { Predicate } from '../plan/plan.ts';
import type { Sparing } from '../plan/sparing.ts';

/** Names that are looked through for each beginning, and words that one hint suggests. */
const [NAMES, SUGGESTED] = [200, 3];
/** Shorter words have too many neighbours. */
const SHORTEST = 4;

/**
 * The words of public names within a few slips of `typed`. They are looked for among the commonest names with a word that begins like
 * it: a long beginning first, since it leaves the fewest.
 */
export async function wordsMeant(pack: Pack, asked: Sparing, typed: string): Promise<string[]> {
  const named = pack.attributes.some(
    ({ name, type, ...its }) => name === 'name' && type === 'string' && its.public && its.filterable && its.searchable,
  );
  if (!named || typed.length < SHORTEST) return [];
  for (const length of new Set([typed.length - 2, 3, 2, 1])) {
    if (asked.spent) return [];
    const begin: Predicate = { kind: 'words', words: [typed.slice(0, length)], scope: 'public' };
    const { values } = await asked.facets({ where: [begin], by: 'name', limit: NAMES, floor: 0 });
    const known = new Set(
      values.flatMap(({ value }) => words(String(value))).filter((word) => word.length >= SHORTEST),
    );
    const near = misspelt(typed, known, Math.floor(typed.length / 3));
    if (near.length > 0) return near.slice(0, SUGGESTED);
  }
  return [];
}
