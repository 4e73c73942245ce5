// Other names of a place: GeoNames lists up to a few hundred in every script; the forty that readers most likely type.
import { fold } from 'dataset-register/pack';

const CAP = 40;
/** Of these, at most so many in other scripts than Latin, the first of each script. */
const OTHER_SCRIPTS = 10;

const SCRIPTS = [
  ...[
    'Cyrillic',
    'Greek',
    'Arabic',
    'Hebrew',
    'Han',
    'Hangul',
    'Katakana',
    'Hiragana',
    'Devanagari',
    'Thai',
    'Bengali',
  ],
  ...[
    'Tamil',
    'Georgian',
    'Armenian',
    'Ethiopic',
    'Khmer',
    'Myanmar',
    'Sinhala',
    'Lao',
    'Telugu',
    'Kannada',
    'Malayalam',
  ],
].map((script) => new RegExp(`\\p{Script=${script}}`, 'u'));

const LATIN = /^[\p{Script=Latin}\p{Lm}\p{M}\p{P}\p{S}\p{Zs}\d]+$/u;
/** GeoNames writes machine transliterations of other scripts in lower case, and a few links. */
function noise(entry: string): boolean {
  return entry.includes('://') || (LATIN.test(entry) && !/\p{Lu}/u.test(entry));
}

/**
 * Names by which the place is also known, without those that read like its own name. Where there are more than forty:
 * Latin names that are also written with accents first (they are names in use), then the shortest, and one of each other script.
 */
export function otherNames(list: string, name: string): string[] | undefined {
  const own = fold(name);
  /** Spellings by what they fold to; the one with most accents stands for them. */
  const groups = new Map<string, { spelling: string; size: number }>();
  for (const entry of list.split(',')) {
    if (entry === '' || noise(entry)) continue;
    const key = fold(entry);
    if (key === own) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { spelling: entry, size: 1 });
    else groups.set(key, { spelling: entry, size: group.size + 1 });
  }
  const all = [...groups.values()];
  if (all.length === 0) return undefined;
  if (all.length <= CAP) return all.map(({ spelling }) => spelling);
  const latin = all.filter(({ spelling }) => LATIN.test(spelling));
  const rest = all.filter(({ spelling }) => !LATIN.test(spelling)).map(({ spelling }) => spelling);
  const scripts = SCRIPTS.flatMap((script) => rest.find((spelling) => script.test(spelling)) ?? []);
  const others = [...new Set(scripts)].slice(0, OTHER_SCRIPTS);
  const chosen = latin
    .sort((a, b) => Number(b.size > 1) - Number(a.size > 1) || a.spelling.length - b.spelling.length)
    .map(({ spelling }) => spelling);
  return [...chosen.slice(0, CAP - others.length), ...others];
}
