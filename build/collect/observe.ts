// Turns the observations of a collector into facts: checks values, keeps only changes, and assigns slugs to
// new records.
import { createHash } from 'node:crypto';
import { type LineWriter, NULL, oneLine } from '../../data/duckdb/lines.ts';
import { recordId } from '../../data/model/layout.ts';
import { REGISTER_ATTRIBUTES } from '../../data/write/facts.ts';
import type { Identity, Observed, Pack, Value } from '../../packs/define/model.ts';
import { cleanText, maxLength } from '../../packs/define/schema.ts';
import { checker } from './check.ts';
import type { Planned } from './plan.ts';
import { type RejectedValue, SkippedRows } from './report.ts';
import { hash53, type Records, type SourceState } from './state.ts';

/** State of the dataset's records before and during a run. */
export interface DatasetState {
  records: Records;
  /** Ids that have a slug, and every slug ever assigned. */
  named: Set<string>;
  slugs: Set<string>;
  /** By source id. */
  accounts: ReadonlyMap<string, SourceState>;
}

/** Thrown at the end of a reading in which no row identifies its record. */
export class UnidentifiedRecords extends Error {}

/**
 * Whether a value has no visible character. Most identities contain printable ASCII, which the first test
 * finds quickly.
 */
const isBlank = (value: unknown) =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && !/[!-~]/.test(value) && cleanText(value) === '');

const LONGEST = { evidence: 500, url: 2000, parked: 2000, record: 200, identity: maxLength('string') };

const AT_MOST = `${LONGEST.identity.toLocaleString('en-US')} characters`;

/** Writes the facts of readings, one after the other, ordered by time. */
export class Observer {
  readonly parked: RejectedValue[] = [];
  parkedCount = 0;
  readonly skipped = new SkippedRows();
  readonly #pack: Pack;
  readonly #known: DatasetState;
  readonly #facts: LineWriter;
  readonly #checks: ((raw: unknown) => ReturnType<ReturnType<typeof checker>>)[];
  readonly #lasting: boolean[];
  readonly #trust: Map<string, number>;
  readonly #complete: Map<string, boolean>;
  readonly #home: Map<string, string>;
  #reading: Planned | null = null;
  /** Number of the current reading, from 1. */
  #turn = 0;
  /** Rows of the reading so far, and those without an identified record. */
  #rows = 0;
  #nameless = 0;
  /** Whether one of those rows has an identity that is too long. */
  #endless = false;
  /** Record numbers by identity key, so that each key is hashed once. */
  readonly #keys = new Map<string, number>();

  constructor(pack: Pack, known: DatasetState, facts: LineWriter) {
    this.#pack = pack;
    this.#known = known;
    this.#facts = facts;
    this.#checks = pack.attributes.map(checker);
    this.#lasting = pack.attributes.map(({ once }) => once);
    this.#trust = new Map(pack.sources.map(({ id, trust }) => [id, trust]));
    this.#complete = new Map(pack.sources.map(({ id, complete }) => [id, complete]));
    this.#home = new Map(pack.sources.map(({ id, url }) => [id, url]));
  }

  begin(reading: Planned): void {
    this.#reading = reading;
    this.#turn++;
    this.#rows = 0;
    this.#nameless = 0;
    this.#endless = false;
  }

  /**
   * Adds one observation. Of a record listed twice in a reading, the first value of each attribute counts. A
   * row without a complete identity is left out, because such rows would be merged into one record. So is a
   * row with a too long identity, which a badly cut file produces.
   */
  take(observed: Observed): void {
    const reading = this.#reading!;
    const { identity, values } = observed;
    this.#rows++;
    const why = this.#unidentified(identity);
    if (why !== null) {
      this.#nameless++;
      this.skipped.nameless(reading, why, this.#rows);
      return;
    }
    let key: string;
    try {
      key = this.#pack.identity.key(identity);
      if (typeof key !== 'string' || key === '') throw new Error('no key');
    } catch {
      this.#park('', '', identity, 'an identity that the pack can make a key from');
      return;
    }
    const record = this.#number(key);
    const id = this.#known.records.ids[record]!;
    const account = this.#known.accounts.get(reading.source)!;
    const trust = this.#trust.get(reading.source)!;
    const checked: Record<string, Value> = {};
    const fresh = account.see(record, this.#turn);
    const first = !this.#known.named.has(id);
    if (fresh) this.#own(id, REGISTER_ATTRIBUTES.listed, 'true');
    for (let i = 0; i < this.#pack.attributes.length; i++) {
      const attribute = this.#pack.attributes[i]!;
      const raw = values[attribute.name];
      if (raw === undefined || raw === null) continue;
      if (account.saidIn(record, i, this.#turn)) {
        if (!attribute.once && this.#differs(account, record, i, raw)) this.skipped.twice(reading, record, key);
        continue;
      }
      const result = this.#checks[i]!(raw);
      if (!result.ok) {
        this.#park(key, attribute.name, raw, result.reason);
        continue;
      }
      if (first) checked[attribute.name] = result.value;
      if (attribute.once && account.has(record, i)) continue;
      const text = JSON.stringify(result.value);
      if (!account.say(record, i, hash53(text), this.#turn)) continue;
      const url = this.#url(observed.source_url, attribute.name, key);
      const evidence = oneLine(chosen(observed.evidence, attribute.name) ?? '')
        .slice(0, LONGEST.evidence)
        .toWellFormed();
      this.#write(
        id,
        attribute.name,
        text,
        attribute.unit,
        url,
        confidenceOf(observed, attribute.name, trust),
        evidence,
      );
    }
    if (first) this.#name(id, key, identity, checked);
  }

  /**
   * Ends the reading: withdraws values that are missing in it, and marks records that a complete source
   * dropped.
   */
  end(): void {
    const reading = this.#reading!;
    const { gone, attributes, identity } = this.#pack;
    if (this.#rows > 0 && this.#nameless === this.#rows) {
      const rows =
        this.#rows === 1 ? 'its one row lacks' : `all of its ${this.#rows.toLocaleString('en-US')} rows lack`;
      const [only, ...more] = identity.attributes;
      const fit = this.#endless ? ` of at most ${AT_MOST}` : '';
      const needed =
        more.length === 0
          ? `${only}${fit}, which identifies`
          : `a part of ${identity.attributes.join(', ')}${fit}, which identify`;
      throw new UnidentifiedRecords(`${rows} ${needed} a record`);
    }
    const account = this.#known.accounts.get(reading.source)!;
    const home = this.#home.get(reading.source)!;
    const trust = this.#trust.get(reading.source)!;
    for (const [record, attribute] of account.withdraw(this.#turn, this.#lasting)) {
      const { name, unit } = attributes[attribute]!;
      this.#write(this.#known.records.ids[record]!, name, NULL, unit, home, trust, 'no longer stated');
    }
    if (!this.#complete.get(reading.source)) return;
    const column = attributes.findIndex(({ name }) => name === gone?.attribute);
    for (const record of account.drop(this.#turn)) {
      const id = this.#known.records.ids[record]!;
      this.#own(id, REGISTER_ATTRIBUTES.listed, 'false');
      if (!gone || column < 0) continue;
      const text = JSON.stringify(gone.value);
      if (!account.say(record, column, hash53(text), this.#turn)) continue;
      this.#write(id, gone.attribute, text, attributes[column]!.unit, home, gone.confidence, 'no longer listed');
    }
  }

  /** Why an identity does not identify a record; null when it does. */
  #unidentified(identity: Identity | undefined): string | null {
    const lacking = this.#pack.identity.attributes.find((name) => isBlank(identity?.[name]));
    if (lacking !== undefined) return `without \`${lacking}\``;
    const [endless] =
      Object.entries(identity!).find(([, value]) => typeof value === 'string' && value.length > LONGEST.identity) ?? [];
    if (endless === undefined) return null;
    this.#endless = true;
    return `with a \`${endless}\` of more than ${AT_MOST}`;
  }

  /** Whether a value differs from the one earlier in this reading. */
  #differs(account: SourceState, record: number, attribute: number, raw: unknown): boolean {
    const result = this.#checks[attribute]!(raw);
    return result.ok && hash53(JSON.stringify(result.value)) !== account.hash(record, attribute);
  }

  #number(key: string): number {
    let record = this.#keys.get(key);
    if (record === undefined) {
      record = this.#known.records.number(recordId(this.#pack.id, key));
      this.#keys.set(key, record);
    }
    return record;
  }

  /** Stores identity and slug of a new record. */
  #name(id: string, key: string, identity: Identity, values: Record<string, Value>): void {
    const slug = freeSlug(this.#pack.identity.slug(identity, values), key, this.#known.slugs);
    this.#known.named.add(id);
    this.#known.slugs.add(slug);
    const cleaned = Object.entries(identity).map(([name, value]) => [
      name,
      typeof value === 'string' ? cleanText(value) : value,
    ]);
    this.#own(id, REGISTER_ATTRIBUTES.identity, JSON.stringify(Object.fromEntries(cleaned)));
    this.#own(id, REGISTER_ATTRIBUTES.slug, JSON.stringify(slug));
  }

  #own(id: string, attribute: string, text: string): void {
    this.#write(id, attribute, text, null, this.#home.get(this.#reading!.source)!, 1, '');
  }

  #write(
    entity: string,
    attribute: string,
    text: string,
    unit: string | null,
    url: string,
    confidence: number,
    evidence: string,
  ): void {
    const { source, observed_at } = this.#reading!;
    this.#facts.line(
      `${entity}\t${attribute}\t${text}\t${unit ?? NULL}\t${source}\t${url}\t${observed_at}\t${confidence}\t${evidence}`,
    );
  }

  #url(given: Observed['source_url'], attribute: string, key: string): string {
    const url = chosen(given, attribute);
    if (url !== undefined && /^https?:\/\/[^\s\p{Cc}]+$/u.test(url) && url.length <= LONGEST.url) return url;
    this.#park(key, `${attribute} source_url`, url, 'an http or https address');
    return this.#home.get(this.#reading!.source)!;
  }

  #park(record: string, attribute: string, value: unknown, expected: string): void {
    const { source, version } = this.#reading!;
    this.parkedCount++;
    if (this.parked.length >= 1000) return;
    const key = beginning(record, LONGEST.record);
    this.parked.push({ source, version, record: key, attribute, value: shortened(value), expected });
  }
}

/** A value for the list of parked values, shortened when it is long. */
function shortened(value: unknown): unknown {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > LONGEST.parked ? beginning(text, LONGEST.parked) : value;
}

const beginning = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).toWellFormed()}… (${text.length} characters)` : text;

function chosen(given: string | Record<string, string> | undefined, attribute: string): string | undefined {
  if (given === undefined || typeof given === 'string') return given;
  return given[attribute] ?? given['*'];
}

function confidenceOf({ confidence }: Observed, attribute: string, trust: number): number {
  const given = typeof confidence === 'object' ? confidence[attribute] : confidence;
  return typeof given === 'number' && given >= 0 && given <= 1 ? given : trust;
}

const LONGEST_SLUG = 100;

/**
 * The wanted slug in the allowed letters. When it is taken, or looks like an id, six or more hex digits of
 * the key are appended.
 */
function freeSlug(wanted: string, key: string, taken: ReadonlySet<string>): string {
  const plain = String(wanted)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_SLUG)
    .replace(/^-+|-+$/g, '');
  const hash = createHash('sha256').update(key).digest('hex');
  let slug = plain === '' ? hash.slice(0, 6) : plain;
  for (let digits = 6; taken.has(slug) || /^r-[0-9a-f]{16}$/.test(slug); digits += 6) {
    slug = `${plain}-${hash.slice(0, digits)}`.replace(/^-/, '');
  }
  return slug;
}
