// Sentences for the console and the run log about rows and values that did not become facts.
import { join } from 'node:path';
import { paths } from '../../data/model/layout.ts';
import type { Planned } from './plan.ts';

/** A value that was rejected, and why. */
export interface RejectedValue {
  source: string;
  version: string;
  record: string;
  attribute: string;
  value: unknown;
  expected: string;
}

/** Examples in a sentence. */
const SHOWN = 3;
/** Characters of a value or of a record's key in an example. */
const VALUE = 60;

const count = (n: number, one: string, many: string) => `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`;

/** Rows of one source without an identified record, grouped by cause. */
interface UnidentifiedRows {
  rows: number;
  example: string;
}

/** Gathers the skipped rows of readings by source. */
export class SkippedRows {
  readonly #nameless = new Map<string, Map<string, UnidentifiedRows>>();
  readonly #twice = new Map<string, Map<number, string>>();

  /**
   * Adds a row, counted from 1, without an identified record; `why` follows "row", as in "without `code`".
   */
  nameless({ source, package: pkg, version }: Planned, why: string, row: number): void {
    const known = entry(this.#nameless, source, () => new Map<string, UnidentifiedRows>());
    entry(known, why, () => ({ rows: 0, example: `row ${row} of ${pkg}@${version}` })).rows++;
  }

  /** Adds a record that a reading lists again with another value. */
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
      lines.push(`${source}: ${listed} listed twice with different values; the first counts: ${names}`);
    }
    return lines;
  }
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}

/** Path of a run's parked values. */
export const parkedFile = (dataDir: string, dataset: string, run: string): string =>
  join(paths.facts(dataDir, dataset), `${run}.parked.jsonl`);

/**
 * One sentence on parked values: how many, an example of each of the first kinds, and the file with all; []
 * when there are none.
 */
export function parkedLine(parked: readonly RejectedValue[], total: number, file: string): string[] {
  if (total === 0) return [];
  const kinds = new Map<string, RejectedValue>();
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
