// Other names of a place: GeoNames lists up to some hundred in every script and language, without telling which is which.
import { fold, slugify } from 'dataset-register/pack';
import { inAlphabet, OTHER_SCRIPTS, type Script, scriptOf, scriptsOf } from './scripts.ts';

/** Names of a place that are published; `q` finds the others too. */
export const PUBLISHED_NAMES = 40;

/** Of the published ones, at most so many in each script of the country, and in all scripts of other countries. */
const IN_COUNTRY_SCRIPT = 8;
const IN_OTHER_SCRIPTS = 14;

/** GeoNames writes machine transliterations of other scripts in lower case, and a few links. */
function isNoise(entry: string, script: Script | null): boolean {
  return script === null || entry.includes('://') || (script === 'Latin' && !/\p{Lu}/u.test(entry));
}

const WRITTEN_TWICE = 1.2;

interface Name {
  text: string;
  script: Script;
  /** Spellings that differ by accents and letter case alone. */
  spellings: number;
}

/** Names by what they fold to; the spelling with most accents, which the list has last, stands for them. */
function namesIn(list: string, own: string): Name[] {
  const names = new Map<string, Name>();
  for (const entry of list.split(',')) {
    const script = entry === '' ? null : scriptOf(entry);
    if (script === null || isNoise(entry, script)) continue;
    const key = fold(entry);
    if (key === own) continue;
    names.set(key, { text: entry, script, spellings: (names.get(key)?.spellings ?? 0) + 1 });
  }
  return [...names.values()];
}

/** Pairs of letters of a name in Latin letters, where it can be written in them. */
function pairsOf({ text, script }: Name): Set<string> {
  const latin = slugify(text, { decamelize: false, separator: '' });
  const letters = latin === '' ? `${script}${text}` : ` ${latin} `;
  return new Set(Array.from({ length: Math.max(0, letters.length - 1) }, (_, i) => letters.slice(i, i + 2)));
}

function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of a) if (b.has(pair)) shared++;
  return (2 * shared) / (a.size + b.size);
}

/** How like all others each name sounds: names in use resemble each other in many languages, odd ones do not. */
function commonness(names: readonly Name[]): Map<Name, number> {
  const pairs = names.map(pairsOf);
  const sum = (own: ReadonlySet<string>) => pairs.reduce((total, other) => total + likeness(own, other), 0);
  // A name that is written with and without its accents is one that people write.
  return new Map(names.map((name, i) => [name, sum(pairs[i]!) * (name.spellings > 1 ? WRITTEN_TWICE : 1)]));
}

/**
 * All names by which a place is also known, without those that read like its own name, machine transliterations, links and
 * texts of mixed scripts. The first forty, which are published: where there are more, names in the scripts of the country, one in
 * each other script, then Latin ones; of several in a script first those that keep to the alphabet of the country's language,
 * and of these the ones most like all others.
 */
export function otherNames(list: string, name: string, country: string): string[] | undefined {
  const names = namesIn(list, fold(name));
  if (names.length === 0) return undefined;
  if (names.length <= PUBLISHED_NAMES) return names.map(({ text }) => text);
  const common = commonness(names);
  const ranked = (script: Script, at: string | null) =>
    names
      .filter((each) => each.script === script)
      .map((each) => ({ each, own: Number(inAlphabet(each.text, script, at)) }))
      .sort(
        (a, b) => b.own - a.own || common.get(b.each)! - common.get(a.each)! || a.each.text.length - b.each.text.length,
      )
      .map(({ each }) => each);
  const home = scriptsOf(country);
  const first = home.flatMap((script) => ranked(script, country).slice(0, IN_COUNTRY_SCRIPT));
  const others = OTHER_SCRIPTS.filter((script) => !home.includes(script))
    .flatMap((script) => ranked(script, null)[0] ?? [])
    .slice(0, IN_OTHER_SCRIPTS);
  const room = Math.max(0, PUBLISHED_NAMES - first.length - others.length);
  const chosen = new Set([...first, ...ranked('Latin', null).slice(0, room), ...others]);
  return [...chosen, ...names.filter((each) => !chosen.has(each))].map(({ text }) => text);
}
