// What is wrong in the readings of a run: mistakes that stop it, and sentences for the console and the run log
// about rows and values that did not become facts.
import { paths } from '../../data/model/layout.ts';
import { nearestName, quoteValue } from '../../packs/define/mistakes.ts';
import type { Pack, Source } from '../../packs/define/model.ts';
import type { BrokenRow } from '../sources/reader.ts';
import { lineInPack } from './pack-lines.ts';
import { type Planned, readingName } from './plan.ts';
import type { UnknownName } from './row.ts';
import { jsonText, lineInFile, percent, severalOf, shorten, valueText } from './sentences.ts';

/** A value that was rejected, and why. Without attribute it is a row that could not be read. */
export interface RejectedValue {
  source: string;
  version: string;
  record: string;
  attribute: string;
  value: unknown;
  expected: string;
  /** Where the value is in the file of a declared source: the line, from 1, and the name of the column. */
  line?: number;
  column?: string;
}

/** Examples and kinds of values in a sentence, distinct names of one source, rejected values in the file. */
const MOST = { examples: 3, kinds: 20, names: 20, rejected: 1000 };

/** Characters in the file of rejected values. */
const LONGEST = { record: 200, value: 2000 };

/** Occurrences of one mistake, and where it occurs first. */
interface Occurrences {
  count: number;
  first: string;
}

/** A mistake in several readings: the sentence about the first one. */
interface Repeated {
  attribute: string;
  /** The sentence before and after the names of the attributes. */
  share: string;
  rest: string;
  /** What all wrong values have in common, when the cause is the row: attributes with one cause are one sentence. */
  cause: string | null;
  readings: number;
}

/** Rows of one reading that could not be read. */
interface BrokenRows {
  count: number;
  examples: string[];
}

const YIELDS_NOTHING = /\byield\s+(?:null|undefined)\b/;

/** Gathers what is wrong in the readings of a run. */
export class RunReport {
  readonly rejected: RejectedValue[] = [];
  rejectedCount = 0;
  readonly #pack: Pack;
  readonly #sources: Map<string, Source>;
  #reading: Planned | null = null;
  /** By attribute, of the current reading: values, wrong ones, and examples of these. */
  readonly #values: Uint32Array;
  readonly #wrong: Uint32Array;
  #examples = new Map<number, string[]>();
  /** By attribute: what is wrong with its rows, '' for a mistake of the value itself. */
  #causes = new Map<number, Set<string>>();
  #broken: BrokenRows = { count: 0, examples: [] };
  readonly #mistakes: string[] = [];
  readonly #wrongShares = new Map<string, Repeated>();
  readonly #left: string[] = [];
  /** By source, then by the beginning of the sentence. */
  readonly #unknown = new Map<string, Map<string, Occurrences>>();
  readonly #unidentified = new Map<string, Map<string, Occurrences>>();
  readonly #twice = new Map<string, Map<number, string>>();
  /** Control characters of values that were dropped, by source and attribute. */
  readonly #dropped = new Map<string, Occurrences & { characters: number }>();
  /** Each kind of rejected value, by attribute and expectation, with its first example. */
  readonly #kinds = new Map<string, { share: string; text: string; count: number }>();

  constructor(pack: Pack) {
    this.#pack = pack;
    this.#sources = new Map(pack.sources.map((source) => [source.id, source]));
    this.#values = new Uint32Array(pack.attributes.length);
    this.#wrong = new Uint32Array(pack.attributes.length);
  }

  begin(reading: Planned): void {
    this.#reading = reading;
    this.#values.fill(0);
    this.#wrong.fill(0);
    this.#examples = new Map();
    this.#causes = new Map();
    this.#broken = { count: 0, examples: [] };
  }

  /** A mistake of the pack or of a source that stops the run. `sentence` follows the source's id. */
  mistake(source: string, sentence: string): void {
    this.#mistakes.push(`${source}: ${sentence}`);
  }

  /** Counts a value of an attribute, right or wrong. */
  value(attribute: number): void {
    this.#values[attribute]!++;
  }

  /**
   * Adds a wrong value of an attribute, which was counted before. `cause`: what is wrong with its row, when all
   * values of the row are wrong for the same reason.
   */
  reject(attribute: number, value: Omit<RejectedValue, 'source' | 'version'>, cause = ''): void {
    const { source, version } = this.#reading!;
    this.rejectedCount++;
    this.#wrong[attribute]!++;
    const rejected = { source, version, ...value };
    const { values = null } = this.#pack.attributes[attribute] ?? {};
    this.#store(rejected);
    entry(this.#causes, attribute, () => new Set<string>()).add(cause);
    const examples = this.#examples.get(attribute) ?? [];
    const kind = `${source}\n${value.attribute}\n${value.expected}`;
    if (examples.length < MOST.examples) this.#examples.set(attribute, [...examples, rejectedText(rejected, values)]);
    const occurrences = this.#kinds.get(kind);
    if (occurrences !== undefined) occurrences.count++;
    if (occurrences !== undefined || this.#kinds.size >= MOST.rejected) return;
    const share = `${source}\n${this.#pack.attributes[attribute]?.name}`;
    this.#kinds.set(kind, { share, text: rejectedText(rejected, values), count: 1 });
  }

  /** Counts control characters that a value of an attribute had; `place` is its record or line. */
  dropped(attribute: string, characters: number, place: string): void {
    const { source } = this.#reading!;
    const first = `${place} of ${readingName(this.#reading!)}`;
    const values = entry(this.#dropped, `${source}: ${attribute}`, () => ({ count: 0, characters: 0, first }));
    values.count++;
    values.characters += characters;
  }

  /** Adds a row of a declared source that could not be read as a row; it represents `count` rows. */
  brokenRow({ line, text, expected }: BrokenRow, count = 1): void {
    this.#addBroken(`line ${line} is ${valueText(text)}, expected ${expected}`, { value: text, expected, line });
    this.#broken.count += count - 1;
  }

  /** Adds a row that is no observation; `place` is its number or line. */
  noObservation(place: string, value: unknown, { predicate, expected }: { predicate: string; expected: string }): void {
    const yields = value === null || value === undefined ? lineInPack(this.#pack.folder, YIELDS_NOTHING) : undefined;
    const sentence = `${place} ${predicate}, expected ${expected}${lineInFile(yields)}`;
    this.#addBroken(sentence, { value, expected });
  }

  #addBroken(sentence: string, rejected: Pick<RejectedValue, 'value' | 'expected' | 'line'>): void {
    const { source, version } = this.#reading!;
    this.#broken.count++;
    if (this.#broken.examples.length < MOST.examples) this.#broken.examples.push(sentence);
    this.#store({ source, version, record: '', attribute: '', ...rejected });
  }

  #store(rejected: RejectedValue): void {
    if (this.rejected.length >= MOST.rejected) return;
    const { record, value } = rejected;
    this.rejected.push({ ...rejected, record: beginning(record, LONGEST.record), value: shortened(value) });
  }

  /** Adds a name in a row that the pack or an observation does not have. */
  unknown({ text, name, expected, nearest, value }: UnknownName, place: string): void {
    const reading = this.#reading!;
    const names = entry(this.#unknown, reading.source, () => new Map<string, Occurrences>());
    const key = `${text}\n${name}`;
    const occurrences = names.get(key);
    if (occurrences !== undefined) {
      occurrences.count++;
      return;
    }
    if (names.size >= MOST.names) {
      entry(names, '', () => ({ count: 0, first: '' })).count++;
      return;
    }
    const near = nearest === undefined ? '' : `; nearest ${quoteValue(nearest)}`;
    const at = lineInFile(lineInPack(this.#pack.folder, name));
    const example = value === undefined ? '' : `: ${value}`;
    const first = `${text} ${quoteValue(name)}, expected ${expected}${near}${at}, such as ${place} of ${readingName(reading)}${example}`;
    names.set(key, { count: 1, first });
  }

  /** Adds a row without an identified record; `why` follows "row", as in "without `code`". */
  unidentified(why: string, place: string): void {
    const reading = this.#reading!;
    const identities = entry(this.#unidentified, reading.source, () => new Map<string, Occurrences>());
    entry(identities, why, () => ({ count: 0, first: `${place} of ${readingName(reading)}` })).count++;
  }

  /** The mistake that no row of the reading identifies its record; the rows are not reported again. */
  noneIdentified(sentence: string): void {
    const { source } = this.#reading!;
    this.mistake(source, sentence);
    this.#unidentified.delete(source);
  }

  /** Adds a record that a reading lists again. */
  twice(record: number, key: string): void {
    const records = entry(this.#twice, this.#reading!.source, () => new Map<number, string>());
    if (!records.has(record)) records.set(record, key);
  }

  /** Ends the reading: compares its wrong values and broken rows with the shares that its source tolerates. */
  end(rows: number): void {
    const reading = this.#reading!;
    const { tolerate, complete } = this.#sources.get(reading.source)!;
    const { count, examples } = this.#broken;
    if (count > 0) {
      const share = `${severalOf(count, rows, 'row')} of ${readingName(reading)} could not be read`;
      const such = `, such as ${examples.join('; ')}`;
      if (count > tolerate.rows * rows)
        this.mistake(reading.source, share + tolerated(count, rows, tolerate, 'rows') + such);
      else this.#left.push(`${reading.source}: ${share}${such}: left out${complete ? '; missing records stay' : ''}`);
    }
    for (const [attribute, shown] of this.#examples) {
      const [wrong, values] = [this.#wrong[attribute]!, this.#values[attribute]!];
      if (wrong <= tolerate.values * values) continue;
      const { name } = this.#pack.attributes[attribute]!;
      const share = `${reading.source}: ${severalOf(wrong, values, 'value')} of `;
      const rest =
        ` in ${readingName(reading)} ${wrong === 1 ? 'is' : 'are'} wrong` +
        `${tolerated(wrong, values, tolerate, 'values')}, such as ${shown.join('; ')}`;
      const [only = '', ...more] = this.#causes.get(attribute) ?? [];
      const cause = only === '' || more.length > 0 ? null : only;
      const repeated = { attribute: name, share, rest, cause, readings: 0 };
      entry(this.#wrongShares, `${reading.source}\n${name}`, () => repeated).readings++;
    }
  }

  /** Mistakes that stop the run, one sentence each; empty: the run may append its facts. */
  mistakes(): string[] {
    const unknown = [...this.#unknown].flatMap(([source, names]) =>
      [...names].map(([key, { count, first }]) =>
        key === ''
          ? `${source}: ${count.toLocaleString('en-US')} values under further unknown names`
          : `${source}: ${counted(count, first)}`,
      ),
    );
    const shares = this.#sharesByCause().map(([{ share, rest, readings }, names]) => {
      const sentence = `${share}${names.length > 1 ? `each of ${names.join(', ')}` : names[0]}${rest}`;
      return readings === 1 ? sentence : `${sentence}; so in ${readings} readings`;
    });
    return [...this.#mistakes, ...unknown, ...shares];
  }

  /** The shares of wrong values with the names of the attributes that have the same cause and the same share. */
  #sharesByCause(): [Repeated, string[]][] {
    const groups = new Map<string, [Repeated, string[]]>();
    for (const repeated of this.#wrongShares.values()) {
      const { attribute, share, cause, readings } = repeated;
      const key = cause === null ? `${share}${attribute}` : JSON.stringify([share, cause, readings]);
      entry(groups, key, (): [Repeated, string[]] => [repeated, []])[1].push(attribute);
    }
    return [...groups.values()];
  }

  /** Sentences about data that was left out, without the mistakes; `file` lists the rejected values. */
  reports(file: string): string[] {
    const lines = [...this.#left];
    for (const [source, causes] of this.#unidentified) {
      for (const [why, { count, first }] of causes)
        lines.push(`${source}: ${several(count, 'row')} ${why}, such as ${first}: left out`);
    }
    for (const [source, records] of this.#twice) {
      const some = [...records.values()].slice(0, MOST.examples);
      const names = `${some.join(', ')}${records.size > some.length ? ', …' : ''}`;
      const listed = `${several(records.size, 'record')} ${records.size === 1 ? 'is' : 'are'}`;
      lines.push(`${source}: ${listed} listed more than once in a reading; the first value counts: ${names}`);
    }
    for (const [name, { characters, count, first }] of this.#dropped)
      lines.push(
        `${name}: ${several(characters, 'control character')} of ${several(count, 'value')} dropped, such as ${first}`,
      );
    if (this.rejectedCount === 0) return this.rejected.length === 0 ? lines : [...lines, `Rows left out: see ${file}`];
    const examples = [...this.#kinds.values()].filter(({ share }) => !this.#wrongShares.has(share));
    const such = examples
      .sort((a, b) => b.count - a.count)
      .slice(0, MOST.kinds)
      .map(({ text, count }) => (count === 1 ? text : `${text} (${count.toLocaleString('en-US')} such values)`));
    const shown = such.length === 0 ? '' : `, such as ${such.join('; ')}`;
    return [...lines, `${several(this.rejectedCount, 'value')} rejected${shown}. See ${file}`];
  }
}

/** A value for the list of rejected values, shortened when it is long. */
function shortened(value: unknown): unknown {
  const text = typeof value === 'string' ? value : (jsonText(value) ?? '');
  return text.length > LONGEST.value ? beginning(text, LONGEST.value) : value;
}

const beginning = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).toWellFormed()}… (${text.length} characters)` : text;

const several = (n: number, noun: string) => `${n.toLocaleString('en-US')} ${noun}${n === 1 ? '' : 's'}`;

/** `20 values under …`, `1 row with …`: `rest` begins with the noun in the plural. */
const counted = (count: number, rest: string) =>
  `${count.toLocaleString('en-US')} ${count === 1 ? rest.replace(/^(\w+)s\b/, '$1') : rest}`;

const tolerated = (wrong: number, all: number, tolerate: Source['tolerate'], of: 'values' | 'rows') =>
  ` (${percent(wrong / all)}; tolerate.${of}: ${percent(tolerate[of])})`;

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const item = map.get(key) ?? make();
  map.set(key, item);
  return item;
}

/** `price.list of s904 is NaN, expected a price`; for a file: `price.list in line 14, column Price, is …`. */
function rejectedText(rejected: RejectedValue, values: readonly string[] | null): string {
  const { source, record, attribute, value, expected, line, column } = rejected;
  const inFile = [line === undefined ? '' : `line ${line}`, column === undefined ? '' : `column ${shorten(column)}`];
  const at = inFile.filter(Boolean).join(', ');
  const cell = record === '' && at !== '';
  const place = cell ? `in ${at},` : `of ${shorten(record) || source}${at === '' ? '' : ` (${at})`}`;
  const near = typeof value === 'string' ? nearestName(value, values ?? []) : undefined;
  const nearest = near === undefined ? '' : `; nearest ${quoteValue(near)}`;
  return `${attribute} ${place} is ${valueText(value)}, expected ${expected}${nearest}`;
}

/** Path of the rejected values of the last run that was stopped. */
export const stoppedValues = (dataDir: string, dataset: string): string =>
  paths.runs(dataDir, dataset).replace(/\.jsonl$/, '.rejected.jsonl');

/** The first line of an error message. */
export function errorLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!;
}
