// The structure of one observation: its members, and the names under which it has values.
import { nearestName } from '../../packs/define/mistakes.ts';
import type { Observed } from '../../packs/define/model.ts';
import { valueText } from './sentences.ts';

const MEMBERS = ['identity', 'values', 'source_url', 'evidence', 'confidence'];
/** Rows of declared sources also have their place and time. */
const KNOWN = new Set([...MEMBERS, 'line', 'observed_at']);

/** Members that may be objects with one entry for each attribute, and `*`. */
const BY_ATTRIBUTE = ['source_url', 'evidence', 'confidence'] as const;

const VALUES = 'an object of values by attribute';
const TIME = 'whole milliseconds since 1970, not in the future';
/** Earlier times are mistakes, and the last ones have no ISO 8601 with four digits. */
const EARLIEST = Date.parse('0001-01-01');
const ROW = `an object {${MEMBERS.join(', ')}}`;

/** A name that is not known. `text` begins the sentence, in the plural: `values under`. */
export interface UnknownName {
  text: string;
  name: string;
  expected: string;
  nearest?: string | undefined;
  /** The value under it, as text. */
  value?: string;
}

/** Names that an observation may have. */
export interface RowNames {
  attributes: readonly string[];
  identity: readonly string[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Checks the structure of observations. */
export class RowChecker {
  readonly #names: RowNames;
  readonly #attributes: Set<string>;
  readonly #identity: Set<string>;

  readonly #now: number;

  constructor(names: RowNames, now: Date) {
    this.#names = names;
    this.#now = now.getTime();
    this.#attributes = new Set(names.attributes);
    this.#identity = new Set(names.identity);
  }

  /** What is wrong with a row that cannot be used as an observation; null when it can. */
  broken(row: unknown): { predicate: string; expected: string } | null {
    if (!isObject(row)) return { predicate: `is ${valueText(row)}`, expected: ROW };
    const { values, identity, observed_at } = row;
    if (observed_at !== undefined && !this.#isTime(observed_at))
      return { predicate: `has \`observed_at\` ${valueText(observed_at)}`, expected: TIME };
    if (values === undefined) return { predicate: 'has no `values`', expected: VALUES };
    if (!isObject(values)) return { predicate: `has \`values\` ${valueText(values)}`, expected: VALUES };
    if (identity === undefined || isObject(identity)) return null;
    const expected = `an object with ${this.#names.identity.join(', ')}`;
    return { predicate: `has \`identity\` ${valueText(identity)}`, expected };
  }

  #isTime(time: unknown): boolean {
    return Number.isInteger(time) && (time as number) <= this.#now && (time as number) >= EARLIEST;
  }

  /** Calls `report` for every member that an observation does not have. */
  unknownMembers(row: unknown, report: (unknown: UnknownName) => void): void {
    if (!isObject(row)) return;
    for (const name in row) if (!KNOWN.has(name)) report(unknownMember(name));
  }

  /** Calls `report` for every name in an observation that the pack does not have. */
  unknownNames(row: Observed, report: (unknown: UnknownName) => void): void {
    const { values, identity } = row;
    for (const name in values) {
      const value = values[name];
      if (!this.#attributes.has(name) && value !== undefined && value !== null)
        report({ ...this.#unknown('values under', name), value: valueText(value) });
    }
    for (const name in identity) {
      if (this.#identity.has(name)) continue;
      const { identity: identityNames } = this.#names;
      const expected = `only ${identityNames.join(', ')}, which identify a record`;
      report({ text: 'rows with the identity', name, expected, nearest: nearest(name, identityNames) });
    }
    for (const member of BY_ATTRIBUTE) {
      const value = row[member];
      if (!isObject(value)) continue;
      for (const name in value)
        if (name !== '*' && !this.#attributes.has(name)) report(this.#unknown(`rows with ${member} for`, name));
    }
  }

  #unknown(text: string, name: string): UnknownName {
    const { attributes } = this.#names;
    return { text, name, expected: 'the name of an attribute', nearest: nearest(name, attributes) };
  }
}

function unknownMember(name: string): UnknownName {
  const expected = `only ${MEMBERS.join(', ')}`;
  return { text: 'rows with the member', name, expected, nearest: nearest(name, MEMBERS) };
}

/** The closest known name; one that differs only in case and separators first. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, '');
  const same = names.find((candidate) => plain(candidate) === plain(name));
  return same ?? nearestName(name, names);
}

/** The entry for an attribute, of one for all or of an object with `*` for the others. */
export function entryFor<T extends string | number>(
  entries: T | Record<string, T> | undefined,
  attribute: string,
): T | undefined {
  if (entries === undefined || entries === null || typeof entries !== 'object') return entries ?? undefined;
  return entries[attribute] ?? entries['*'];
}

/** Most characters of an address. */
const LONGEST_URL = 2000;

/** Whether a text is an http or https address that can be stored. */
export const isAddress = (url: unknown): url is string =>
  typeof url === 'string' && url.length <= LONGEST_URL && /^https?:\/\/[^\s\p{Cc}]+$/u.test(url);
