// Finds records in the index of names that the nightly run writes (build/static/search.ts).
import { nameScore } from '../../data/plan/relevance.ts';
import { fold, words } from '../../packs/define/text.ts';

export interface SearchResult {
  name: string;
  /** What distinguishes it: `United Kingdom · EGLL · LHR`. */
  hint: string;
  /** Path of its page, without the prefix of the site. */
  path: string;
}

/** Letters of a key in the index. */
const DEPTH = 24;

/** Reads a file of the index as text; throws when it cannot be read. */
export type ReadFile = (name: string) => Promise<string>;

/** Searches with an index that `read` loads; every file is read at most once. */
export class NameIndex {
  readonly #read: ReadFile;
  readonly #files = new Map<string, Promise<string>>();

  constructor(read: ReadFile) {
    this.#read = read;
  }

  /** Loads the list of prefixes ahead of the first search. */
  async ready(): Promise<void> {
    await this.#file('index.json');
  }

  /**
   * Records that have the words in this order, else those that have all of them; equal names first, then
   * names that begin with the words, then the others, each best known first.
   */
  async find(text: string, limit: number): Promise<SearchResult[]> {
    const query = words(text);
    if (query.length === 0) return [];
    const phrase = query.join(' ');
    let all = matching(await this.#load(phrase), query);
    if (all.length === 0 && query.length > 1)
      all = matching((await Promise.all(query.map((word) => this.#load(word)))).flat(), query);
    const unique = [...new Map(all.map((result) => [result.path, result])).values()];
    return unique.sort((a, b) => kind(a, phrase) - kind(b, phrase)).slice(0, limit);
  }

  /** The records of the file for a beginning of a name. */
  async #load(phrase: string): Promise<SearchResult[]> {
    const { best, blocks } = JSON.parse(await this.#file('index.json')) as { best: string[]; blocks: string[] };
    const key = phrase.slice(0, DEPTH);
    const prefix = best.includes(key) ? key : blocks.findLast((block) => block <= key);
    if (prefix === undefined) return [];
    const lines = (await this.#file(`${hex(prefix)}.txt`)).split('\n');
    return lines.filter(Boolean).map((line) => {
      const [name = '', hint = '', path = ''] = line.split('\t');
      return { name, hint, path };
    });
  }

  #file(name: string): Promise<string> {
    const file = this.#files.get(name);
    if (file) return file;
    const text = this.#read(name);
    this.#files.set(name, text);
    // A failure is not kept: the next search tries again.
    text.catch(() => this.#files.delete(name));
    return text;
  }
}

function matching(results: SearchResult[], query: readonly string[]): SearchResult[] {
  return results.filter(({ name, hint }) => {
    const entryWords = words(`${name} ${hint}`);
    return query.every((word) => entryWords.some((entryWord) => entryWord.startsWith(word)));
  });
}

/** Place by name, as in the API: lower is better. */
function kind({ name, hint }: SearchResult, phrase: string): number {
  const isCode = hint.split(' · ').some((code) => fold(code) === phrase);
  return -(nameScore(words(name).join(' '), phrase, isCode) ?? 0);
}

const hex = (text: string): string =>
  [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
