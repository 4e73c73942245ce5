// Ranks the sections of the guides for a query: words in headings count most, rare words more than common ones.
import { fold } from '../../packs/define/text.ts';
import { stem, wordsOf } from './words.ts';

/** A section of a guide, an operation of the reference, or a task that a page does. */
export interface Section {
  /** Title of the guide. */
  page: string;
  heading: string;
  /** Address. */
  at: string;
  text: string;
  kind: 'task' | 'use' | 'other' | 'operation' | 'operator';
}

/** Weight of a word in each member of a section. */
const WEIGHTS = { heading: 5, page: 3, text: 1 } as const;
/** Factor of each kind: what a page does comes first, and texts for users before those for operators. */
const KINDS: Record<Section['kind'], number> = { task: 1.5, use: 1.15, operation: 0.8, operator: 0.4, other: 1 };
/** Factor of the beginning of a guide. */
const BEGINNING = 1.25;
/** Share of the score of a word that a synonym has. */
const SYNONYM = 0.6;

const factorOf = ({ kind, page, heading }: Section): number => KINDS[kind] * (page === heading ? BEGINNING : 1);

interface Indexed {
  section: Section;
  words: Record<keyof typeof WEIGHTS, { stems: Set<string>; text: string }>;
}

const indexed = (text: string) => {
  const folded = fold(text);
  return { stems: new Set(folded.split(/[^\p{L}\p{N}_-]+/u).map(stem)), text: ` ${folded} ` };
};

/** Whether a word of the text begins with the form. */
function beginsWord(text: string, form: string): boolean {
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1))
    if (!/[a-z0-9]/.test(text[at - 1] ?? ' ')) return true;
  return false;
}

/** How well a form of a word matches a text: 1 as a word, less as the beginning of one, 0 not at all. */
function match({ stems, text }: { stems: Set<string>; text: string }, form: string): number {
  if (stems.has(form) || (form.includes(' ') && text.includes(form))) return 1;
  return form.length >= 3 && beginsWord(text, form) ? 0.6 : 0;
}

/** Creates a search over sections; it returns the best first, at most 20. */
export function guideSearch(sections: readonly Section[]): (query: string) => Section[] {
  const all: Indexed[] = sections.map((section) => ({
    section,
    words: { heading: indexed(section.heading), page: indexed(section.page), text: indexed(section.text) },
  }));
  /** Points of a section for one word with its synonyms. */
  const points = ({ words }: Indexed, forms: readonly string[]): number => {
    let best = 0;
    for (const [at, form] of forms.entries())
      for (const [member, weight] of Object.entries(WEIGHTS) as [keyof typeof WEIGHTS, number][])
        best = Math.max(best, weight * match(words[member], form) * (at === 0 ? 1 : SYNONYM));
    return best;
  };
  return (query) => {
    const words = wordsOf(query);
    if (words.length === 0) return [];
    const table = all.map((section) => words.map((forms) => points(section, forms)));
    const rarity = words.map((_, at) => {
      const count = table.filter((row) => (row[at] ?? 0) > 0).length;
      return Math.log(1 + all.length / (1 + count));
    });
    const score = (row: readonly number[]) => {
      const share = row.filter((point) => point > 0).length / row.length;
      return share ** 2 * row.reduce((sum, point, at) => sum + point * (rarity[at] ?? 0), 0);
    };
    return all
      .map(({ section }, at) => ({ section, score: score(table[at] ?? []) * factorOf(section) }))
      .filter((section) => section.score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, 20)
      .map(({ section }) => section);
  };
}

/** The part of a text around the first word of the query that it contains. */
export function excerpt(text: string, query: string): string {
  const folded = fold(text);
  const positions = wordsOf(query).flatMap((forms) => forms.map((form) => folded.indexOf(form)));
  const first = Math.min(...positions.filter((at) => at >= 0), text.length);
  const start = Math.max(0, (first === text.length ? 0 : first) - 60);
  return `${start > 0 ? '…' : ''}${text.slice(start, start + 180)}${text.length > start + 180 ? '…' : ''}`;
}
