// Reply to a text part: the skills of this agent, and the guide of the dataset that matches the text best.
import type { Pack } from '../../../packs/define/model.ts';
import { words } from '../../../packs/define/text.ts';
import { type Shortening, searchOf } from '../../contract/operation.ts';
import type { Tool } from '../../render/tools.ts';

/** Members of the reply that are cut first when it is too long. */
export const ADVICE: Shortening<unknown, Record<string, unknown>> = {
  part: 'skills',
  further: ['datasets'],
  brief: ['skills', 'datasets'].map((list) => ({
    without: `descriptions of ${list}`,
    of: (body) => ({ ...body, [list]: (body[list] as object[]).map((item) => ({ ...item, description: undefined })) }),
  })),
  more: 'datasets_list has the datasets; the agent card has the skills.',
};

export interface Advice {
  text: string;
  data: Record<string, unknown>;
}

/** Score of a word, by the part of the dataset's description that contains it. */
const WEIGHTS = { name: 4, attribute: 2, description: 1 };
/**
 * Minimum score of a match: a word of its name or of an attribute that few others have, or several of
 * descriptions.
 */
const LEAST = 2;

/** Words of questions, ignored in the match: English, German, French, Spanish and Italian. */
const STOP_WORDS = new Set(
  words(`
    a about all and any are available be can could data dataset datasets describe do does each every everything explain find for
    from get give hello help here hey hi how i in information into is it its know list many me much my need of offer on one or
    please provide query record records search see set sets show some tell than that the their them there these this to
    topic topics use used want was we what when where which who why will with you your
    alle bitte das daten datensatz datensaetze datensätze der die du ein eine einen es fuer für gibt hallo hast hier ich ihr ist kann kannst
    liste mir mit sind sie über und von was welche welchen welches wie wo zeig zeige
    avez aves bonjour des données donnees est jeu jeux la le les liste montre moi quel quelle quelles quels quoi que sont vous y
    buenos conjunto conjuntos cuales cuáles datos de del dame el hay hola las lista los muestra que qué son tiene tienes un una
    che ci ciao cosa dati di elenco hai ho il lo mostra quali sono
  `),
);

/** Words of a dataset with their scores. */
function vocabulary(pack: Pack): Map<string, number> {
  const scores = new Map<string, number>();
  const add = (text: string, weight: number) => {
    for (const word of words(text)) if (word.length > 2) scores.set(word, Math.max(weight, scores.get(word) ?? 0));
  };
  for (const { name, description, values } of pack.attributes) {
    add(name, WEIGHTS.attribute);
    add(`${description} ${(values ?? []).join(' ')}`, WEIGHTS.description);
  }
  add(pack.description, WEIGHTS.description);
  add([pack.id, pack.title, ...pack.keywords].join(' '), WEIGHTS.name);
  return scores;
}

/**
 * The dataset that shares most words with a text, rare words weighted higher; null below the minimum score.
 */
export function matchDataset(text: string, packs: readonly Pack[]): Pack | null {
  const vocabularies = packs.map((pack) => ({ pack, vocabulary: vocabulary(pack) }));
  const terms = [...new Set(words(text))].filter((word) => !STOP_WORDS.has(word));
  let best: { pack: Pack; score: number } | null = null;
  for (const { pack, vocabulary: weights } of vocabularies) {
    const score = terms.reduce((sum, word) => {
      const weight = weightOf(word, weights);
      return sum + weight / (vocabularies.filter((other) => weightOf(word, other.vocabulary) > 0).length || 1);
    }, 0);
    if (score >= LEAST && score > (best?.score ?? 0)) best = { pack, score };
  }
  return best?.pack ?? null;
}

/** Singular and plural have the same weight: `models` and `model`, `city` and `cities`. */
function weightOf(word: string, weights: Map<string, number>): number {
  const forms = [word, word.replace(/e?s$/, ''), `${word}s`, word.replace(/y$/, 'ies'), word.replace(/ies$/, 'y')];
  return Math.max(...forms.map((form) => weights.get(form) ?? 0));
}

/** Builds the reply to a text part; `fits` is the dataset that matches, with its guide. */
export function buildAdvice(
  packs: readonly Pack[],
  tools: readonly Tool[],
  fits: { pack: Pack; guide: string } | null,
): Advice {
  const shared = tools.filter(({ dataset }) => dataset === null);
  const example = fits
    ? { skill: searchOf(shared.map(({ operation }) => operation)).name, dataset: fits.pack.id, q: 'words', limit: 5 }
    : { skill: 'dataset_guide', dataset: packs[0]?.id ?? '' };
  const list = shared.map(({ name, description }) => `- \`${name}\`: ${description}`).join('\n');
  const text = [
    fits
      ? `The matching dataset is \`${fits.pack.id}\` (${fits.pack.title}); its guide follows below.`
      : `Available datasets:\n\n${packs.map(({ id, title, description }) => `- \`${id}\` (${title}): ${description}`).join('\n')}`,
    `Free text is not interpreted further. Send a data part with a skill and its arguments, such as \`${JSON.stringify(example)}\`.`,
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
