// What a run tells of rows and values that did not become facts, in sentences for the console and the run log.
import { join } from 'node:path';
import { paths } from '../../data/model/layout.ts';
import type { Planned } from './plan.ts';

/** A value that could not be taken, and why. */
export interface Parked {
  source: string;
  version: string;
  record: string;
  attribute: string;
  value: unknown;
  expected: string;
}

/** Examples that a sentence gives. */
const SHOWN = 3;
/** Characters of a value or a record's key that an example shows. */
const VALUE = 60;

const count = (n: number, one: string, many: string) => `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`;

/** Rows of one source that do not say which record they are about, in one way. */
interface Nameless {
  rows: number;
  example: string;
}

/** Gathers by source what its readings leave out. */
export class LeftOut {
  readonly #nameless = new Map<string, Map<string, Nameless>>();
  readonly #twice = new Map<string, Map<number, string>>();

  /** A row, counted from 1, that does not say which record it is about; `why` follows "row", as in "without `code`". */
  nameless({ source, package: pkg, version }: Planned, why: string, row: number): void {
    const known = entry(this.#nameless, source, () => new Map<string, Nameless>());
    entry(known, why, () => ({ rows: 0, example: `row ${row} of ${pkg}@${version}` })).rows++;
  }

  /** A record that a reading names again, with another value. */
  twice({ source }: Planned, record: number, key: string): void {
    const known = entry(this.#twice, source, () => new Map<number, string>());
    if (!known.has(record)) known.set(record, cut(key));
  }

  lines(): string[] {
    const lines: string[] = [];
    for (const [source, ways] of this.#nameless) {
      for (const [why, { rows, example }] of ways)
        lines.push(`${source}: ${count(rows, 'row', 'rows')} ${why}, such as ${example}: left out`);
    }
    for (const [source, records] of this.#twice) {
      const some = [...records.values()].slice(0, SHOWN);
      const names = `${some.join(', ')}${records.size > some.length ? ', …' : ''}`;
      const listed = count(records.size, 'record is', 'records are');
      lines.push(`${source}: ${listed} listed twice, with other values; the first counts: ${names}`);
    }
    return lines;
  }
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}

/** The file of a run's parked values. */
export const parkedFile = (dataDir: string, dataset: string, run: string): string =>
  join(paths.facts(dataDir, dataset), `${run}.parked.jsonl`);

/** One sentence on parked values: how many, one example of each of the first kinds, and the file with all; nothing where there are none. */
export function parkedLine(parked: readonly Parked[], total: number, file: string): string[] {
  if (total === 0) return [];
  const kinds = new Map<string, Parked>();
  for (const each of parked) {
    const kind = `${each.attribute}\n${each.expected}`;
    if (!kinds.has(kind)) kinds.set(kind, each);
    if (kinds.size === SHOWN) break;
  }
  const examples = [...kinds.values()].map(
    ({ source, record, attribute, value, expected }) =>
      `${attribute || 'a row'} of ${cut(record) || source} is ${short(value)}, expected ${expected}`,
  );
  return [`${count(total, 'value', 'values')} parked, such as ${examples.join('; ')}. See ${file}`];
}

const short = (value: unknown): string => cut(JSON.stringify(value) ?? 'nothing');

const cut = (text: string): string => (text.length > VALUE ? `${text.slice(0, VALUE).toWellFormed()}…` : text);
