// Names that people search for, drawn from a release, and the records that they mean. Without the engine: by
// equal names and prominence alone.
import { hash } from 'node:crypto';

/** A record of the evaluation. `prominence` is -1 where it is unknown. */
export interface RankRecord {
  id: string;
  name: string;
  prominence: number;
  /** The word that people add to a name: its country, or its provider. */
  place: string | null;
  /** Codes, alternate names or ids; the first one is searched for. */
  others: string[];
}

export const KINDS = ['full name', 'plain name', 'first words', 'name and place', 'code or other name'] as const;
export type Kind = (typeof KINDS)[number];

/** A query, and the ids of the records that it means: any of them is a correct answer. */
export interface RankQuery {
  kind: Kind;
  text: string;
  meant: ReadonlySet<string>;
}

/** Lower case, without accents and punctuation. */
export const plainName = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** `count` records at equal distances. */
function spread<T>(list: readonly T[], count: number): T[] {
  if (list.length <= count) return [...list];
  return Array.from({ length: count }, (_, i) => list[Math.floor((i * list.length) / count)] as T);
}

const digest = ({ id }: RankRecord): string => hash('sha256', `rank ${id}`, 'hex');
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** A third each: the most prominent, some of the middle third, and others in the order of a hash of their ids. */
export function sampleRecords(records: readonly RankRecord[], count: number): RankRecord[] {
  const each = Math.floor(count / 3);
  const ranked = [...records].sort((a, b) => b.prominence - a.prominence || byText(a.id, b.id));
  const third = Math.floor(ranked.length / 3);
  const chosen = new Set([...ranked.slice(0, each), ...spread(ranked.slice(third, 2 * third), each)]);
  const rest = ranked
    .filter((record) => !chosen.has(record))
    .map((record) => ({ record, key: digest(record) }))
    .sort((a, b) => byText(a.key, b.key));
  return [...chosen, ...rest.slice(0, count - chosen.size).map(({ record }) => record)];
}

/** Half of the words of a name, at least one. */
const firstWords = (name: string): string => {
  const words = plainName(name).split(' ');
  return words.slice(0, Math.ceil(words.length / 2)).join(' ');
};

function textsOf(record: RankRecord): Record<Kind, string | null> {
  const { name, place, others } = record;
  const first = firstWords(name);
  return {
    'full name': name,
    'plain name': plainName(name),
    'first words': first === plainName(name) ? null : first,
    'name and place': place === null ? null : `${name} ${place}`,
    'code or other name': others.find((other) => plainName(other) !== plainName(name)) ?? null,
  };
}

/** Records by what people may call them. */
class Directory {
  readonly #names: Map<string, RankRecord[]>;
  readonly #others: Map<string, RankRecord[]>;
  readonly #sorted: RankRecord[];

  constructor(records: readonly RankRecord[]) {
    this.#names = Map.groupBy(records, ({ name }) => plainName(name));
    const others = records.flatMap((record) => record.others.map((other) => ({ other: plainName(other), record })));
    this.#others = new Map(
      [...Map.groupBy(others, ({ other }) => other)].map(([other, all]) => [other, all.map(({ record }) => record)]),
    );
    this.#sorted = [...records];
  }

  named(text: string): readonly RankRecord[] {
    return this.#names.get(text) ?? [];
  }

  called(text: string): readonly RankRecord[] {
    return [...this.named(text), ...(this.#others.get(text) ?? [])];
  }

  /** Records with exactly this name, or else those whose name begins with these words. */
  beginning(text: string): readonly RankRecord[] {
    const exact = this.named(text);
    return exact.length > 0 ? exact : this.#sorted.filter(({ name }) => plainName(name).startsWith(`${text} `));
  }
}

/** Of records that share a name the most prominent one is meant; equal ones are all correct. */
function mostProminent(records: readonly RankRecord[]): ReadonlySet<string> {
  const most = Math.max(...records.map(({ prominence }) => prominence));
  return new Set(records.filter(({ prominence }) => prominence === most).map(({ id }) => id));
}

function candidates(
  directory: Directory,
  kind: Kind,
  text: string,
  { name, place }: RankRecord,
): readonly RankRecord[] {
  if (kind === 'first words') return directory.beginning(text);
  if (kind === 'code or other name') return directory.called(plainName(text));
  const same = directory.named(plainName(name));
  return kind === 'name and place' ? same.filter((other) => other.place === place) : same;
}

/** Every kind of query about each record of the sample that has one. */
export function rankQueries(records: readonly RankRecord[], sample: readonly RankRecord[]): RankQuery[] {
  const directory = new Directory(records);
  return sample.flatMap((record) => {
    const texts = textsOf(record);
    return KINDS.flatMap((kind) => {
      const text = texts[kind];
      if (text === null || plainName(text) === '') return [];
      return [{ kind, text, meant: mostProminent(candidates(directory, kind, text, record)) }];
    });
  });
}

/** Share of queries with a meant record first, and among the first five. */
export interface RankShares {
  queries: number;
  first: number;
  five: number;
}

/** Shares of answers: the 0-based position of the first meant record in each; -1: not among them. */
export function sharesOf(positions: readonly number[]): RankShares {
  const share = (most: number) => positions.filter((at) => at >= 0 && at < most).length / positions.length;
  return { queries: positions.length, first: share(1), five: share(5) };
}
