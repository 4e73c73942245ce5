// Plain words: what this agent can do, and the dataset that fits what was said.
import type { Pack } from '../../../packs/model.ts';
import { words } from '../../../packs/text.ts';
import type { Tool } from '../../formats/tools.ts';

export interface Advice {
  text: string;
  data: Record<string, unknown>;
}

/** How much a word says about a dataset by where it stands. */
const WEIGHTS = { name: 4, attribute: 2, description: 1 };

/** Words of a dataset with what each says about it. */
function vocabulary(pack: Pack): Map<string, number> {
  const known = new Map<string, number>();
  const add = (text: string, weight: number) => {
    for (const word of words(text)) if (word.length > 2) known.set(word, Math.max(weight, known.get(word) ?? 0));
  };
  for (const { name, description, values } of pack.attributes) {
    add(name, WEIGHTS.attribute);
    add(`${description} ${(values ?? []).join(' ')}`, WEIGHTS.description);
  }
  add(pack.description, WEIGHTS.description);
  add([pack.id, pack.title, ...pack.keywords].join(' '), WEIGHTS.name);
  return known;
}

/** The dataset whose words a text shares most, rare words counting more than common ones; null where it shares none. */
export function fitting(text: string, packs: readonly Pack[]): Pack | null {
  const vocabularies = packs.map((pack) => ({ pack, known: vocabulary(pack) }));
  const asked = [...new Set(words(text))];
  let best: { pack: Pack; score: number } | null = null;
  for (const { pack, known } of vocabularies) {
    const score = asked.reduce((sum, word) => {
      const weight = weightOf(word, known);
      return sum + weight / (vocabularies.filter((other) => weightOf(word, other.known) > 0).length || 1);
    }, 0);
    if (score > (best?.score ?? 0)) best = { pack, score };
  }
  return best?.pack ?? null;
}

/** A word also counts where only its ending differs: `models` and `model`. */
function weightOf(word: string, known: Map<string, number>): number {
  return known.get(word) ?? known.get(word.replace(/(es|s)$/, '')) ?? known.get(`${word}s`) ?? 0;
}

/** What to tell somebody who said something in words: `fits` is the dataset that does, with its guide. */
export function adviceOn(
  packs: readonly Pack[],
  tools: readonly Tool[],
  fits: { pack: Pack; guide: string } | null,
): Advice {
  const shared = tools.filter(({ dataset }) => dataset === null);
  const example = { skill: 'entity_search', dataset: (fits?.pack ?? packs[0])?.id ?? '', q: 'words', limit: 5 };
  const list = shared.map(({ name, description }) => `- \`${name}\`: ${description}`).join('\n');
  const text = [
    fits
      ? `The dataset that fits is \`${fits.pack.id}\` (${fits.pack.title}); its guide follows below.`
      : `I answer from these datasets: ${packs.map(({ id, title }) => `\`${id}\` (${title})`).join(', ')}.`,
    `I do not guess from words. Send a data part that names a skill and its arguments, such as \`${JSON.stringify(example)}\`.`,
    `## Skills\n\n${list}`,
    ...(fits ? [fits.guide] : []),
  ].join('\n\n');
  const data = {
    ...(fits ? { dataset: fits.pack.id } : {}),
    datasets: packs.map(({ id, title, description }) => ({ id, title, description })),
    skills: shared.map(({ name, description }) => ({ id: name, description })),
    example,
  };
  return { text, data };
}
