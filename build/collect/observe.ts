// Turns the observations of a collector into facts: checks values, keeps only changes, and assigns slugs to
// new records.

import { hash } from 'node:crypto';
import { type LineWriter, NULL, oneLine } from '../../data/duckdb/lines.ts';
import { recordId } from '../../data/model/layout.ts';
import { REGISTER_ATTRIBUTES } from '../../data/write/facts.ts';
import { comparedValue } from '../../packs/define/digits.ts';
import type { Attribute, Identity, Observed, Pack, Source, Value } from '../../packs/define/model.ts';
import { cleanText, maxLength } from '../../packs/define/schema.ts';
import type { BrokenRow } from '../sources/reader.ts';
import { columnOf, declares, type RejectedCell } from '../sources/rows.ts';
import { type Balance, type CellOutcome, columnsByAttribute, emptyBalance } from './balance.ts';
import { checker } from './check.ts';
import { type Planned, readingName } from './plan.ts';
import { type RejectedValue, RunReport } from './report.ts';
import { entryFor, isAddress, RowChecker, type UnknownName } from './row.ts';
import { acceptOnce, percent, shorten, valueText } from './sentences.ts';
import { hash53, hashOfJson, type Records, type SourceState } from './state.ts';

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
  const digitsOfKey = (count: number) => hash('sha256', key, 'hex').slice(0, count);
  let slug = plain === '' ? digitsOfKey(6) : plain;
  for (let digits = 6; taken.has(slug) || /^r-[0-9a-f]{16}$/.test(slug); digits += 6) {
    slug = `${plain}-${digitsOfKey(digits)}`.replace(/^-/, '');
  }
  return slug;
}

/** State of the dataset's records before and during a run. */
export interface DatasetState {
  records: Records;
  /** Ids that have a slug, and every slug ever assigned. */
  named: Set<string>;
  slugs: Set<string>;
  /** By source id. */
  accounts: ReadonlyMap<string, SourceState>;
}

/**
 * Whether a value has no visible character. Most identities contain printable ASCII, which the first test
 * finds quickly.
 */
const isBlank = (value: unknown) =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && !/[!-~]/.test(value) && cleanText(value) === '');

const LONGEST = { evidence: 500, identity: maxLength('string') };
const isTooLong = (value: unknown) => typeof value === 'string' && value.length > LONGEST.identity;

const AT_MOST = `${LONGEST.identity.toLocaleString('en-US')} characters`;

/** What a run does apart from the pack's own settings. */
export interface ObserverOptions {
  now: Date;
  /** A complete source may list any number of records fewer than before. */
  acceptDrops: boolean;
}

/** Where a value is from. */
interface Proof {
  url: string;
  confidence: number;
  evidence: string;
}

/** Writes the facts of readings, one after the other, ordered by time. */
export class Observer {
  readonly report: RunReport;
  readonly #pack: Pack;
  readonly #known: DatasetState;
  readonly #facts: LineWriter;
  readonly #checks: ((raw: unknown) => ReturnType<ReturnType<typeof checker>>)[];
  readonly #lasting: boolean[];
  readonly #sources: Map<string, Source>;
  readonly #rowChecker: RowChecker;
  readonly #columns: Map<string, number>;
  readonly #acceptDrops: boolean;
  #reading: Planned | null = null;
  /** Number of the current reading, from 1. */
  #turn = 0;
  /** Rows of the reading so far, and those that did not give a record. */
  #rows = 0;
  #leftOut = 0;
  /** Rows without an identified record, and whether an identity of theirs is too long. */
  #nameless = 0;
  #endless = false;
  /** Whether the current row has members that observations do not have. */
  #misspelt = false;
  /** Line of the current row in a declared source. */
  #line: number | undefined;
  /** Records that a complete source listed before the reading. */
  #listedBefore = 0;
  /** The last address that was checked: most rows have one for all values, and many sources one for all rows. */
  #lastUrl: string | undefined;
  /** Cells of the declared sources, by source. */
  readonly balances = new Map<string, Balance>();
  /** Columns of the version, those that attributes are read from, and how many each attribute has. */
  #width = 0;
  #mapped = 0;
  #weights: readonly number[] = [];
  /** Cells of the reading that were read and have no outcome yet. */
  #open = 0;
  /** Record and time of the rows with their own times in this reading, as hashes. */
  readonly #timedRows = new Set<number>();
  /** Record numbers by identity key, so that each key is hashed once. */
  readonly #keys = new Map<string, number>();

  constructor(pack: Pack, known: DatasetState, facts: LineWriter, { now, acceptDrops }: ObserverOptions) {
    this.#pack = pack;
    this.#known = known;
    this.#facts = facts;
    this.#acceptDrops = acceptDrops;
    this.report = new RunReport(pack);
    this.#checks = pack.attributes.map((attribute) => checker(attribute, now));
    this.#lasting = pack.attributes.map(({ once }) => once);
    this.#sources = new Map(pack.sources.map((source) => [source.id, source]));
    this.#columns = new Map(pack.attributes.map(({ name }, i) => [name, i]));
    const attributes = pack.attributes.map(({ name }) => name);
    this.#rowChecker = new RowChecker({ attributes, identity: pack.identity.attributes }, now);
  }

  begin(reading: Planned): void {
    this.#reading = reading;
    this.#turn++;
    this.#rows = 0;
    this.#leftOut = 0;
    this.#nameless = 0;
    this.#endless = false;
    this.#timedRows.clear();
    this.#listedBefore = this.#known.accounts.get(reading.source)!.listedCount();
    this.#weights = [];
    this.#open = 0;
    this.report.begin(reading);
  }

  /**
   * Adds one observation. Of a record listed twice in a reading, the first value of each attribute counts. A
   * row without a complete identity is left out, because such rows would be merged into one record. So is a
   * row with a too long identity, which a badly cut file produces.
   */
  take(observed: Observed): void {
    this.#rows++;
    if (!this.#usable(observed)) {
      this.#settleRow(observed);
      return;
    }
    this.#line = observed.line;
    const key = this.#key(observed);
    if (key === null) {
      this.#settleRow(observed);
      return;
    }
    const record = this.#number(key);
    const { accounts, records } = this.#known;
    const [id, account] = [records.ids[record]!, accounts.get(this.#reading!.source)!];
    const checked: Record<string, Value> = {};
    // A row with its own time may be one of several about its record: each is a fact at its time.
    const timed = observed.observed_at !== undefined;
    if (timed ? this.#repeated(record, observed.observed_at!) : account.seenIn(record, this.#turn)) {
      this.report.twice(record, shorten(key));
      if (timed) {
        this.#settleRow(observed);
        return;
      }
    }
    const fresh = account.see(record, this.#turn);
    const first = !this.#known.named.has(id);
    if (fresh) this.#own(id, REGISTER_ATTRIBUTES.listed, 'true');
    for (let i = 0; i < this.#pack.attributes.length; i++) {
      const attribute = this.#pack.attributes[i]!;
      const raw = observed.values[attribute.name];
      if (raw === undefined || raw === null) continue;
      this.report.value(i);
      const result = this.#checks[i]!(raw);
      if (!result.ok) {
        this.#settle('rejected', i);
        this.#park(i, key, raw, result.reason);
        continue;
      }
      const hash = hashOfJson(comparedValue(attribute, result.value));
      if (!timed && account.saidIn(record, i, this.#turn)) {
        const differs = !attribute.once && hash !== account.hash(record, i);
        this.#settle(differs ? 'rejected' : 'confirmed', i);
        if (differs) this.#park(i, key, raw, ONE_VALUE, undefined, ONE_VALUE);
        continue;
      }
      const proof = this.#proof(observed, i, key);
      if (proof === null) {
        this.#settle('rejected', i);
        continue;
      }
      if (first) checked[attribute.name] = result.value;
      const lasts = attribute.once && account.has(record, i);
      const isNew = !lasts && (account.say(record, i, hash, this.#turn) || timed);
      this.#settle(isNew ? 'published' : 'confirmed', i);
      if (isNew) this.#write(id, attribute, JSON.stringify(result.value), proof, observed.observed_at);
    }
    if (first) this.#name(id, key, observed.identity, checked);
  }

  /** Whether an earlier row of this reading is about the same record at the same time. */
  #repeated(record: number, at: number): boolean {
    const id = hash53(`${record}@${at}`);
    if (this.#timedRows.has(id)) return true;
    this.#timedRows.add(id);
    return false;
  }

  /** Begins a version of a declared source. */
  columns(columns: readonly string[]): void {
    const source = this.#sources.get(this.#reading!.source)!;
    this.#width = columns.length;
    this.#weights = declares(source) ? columnsByAttribute(this.#pack, source, columns) : [];
    this.#mapped = this.#weights.reduce((sum, weight) => sum + weight, 0);
    if (!this.balances.has(source.id)) this.balances.set(source.id, emptyBalance());
  }

  /** Counts the cells of rows: those of broken rows are rejected, those of dropped ones are dropped by rule. */
  rows(kept: number, dropped: number, broken: number): void {
    const balance = this.balances.get(this.#reading!.source)!;
    balance.read += (kept + dropped + broken) * this.#width;
    balance.outcomes.unmapped += kept * (this.#width - this.#mapped);
    balance.outcomes.dropped += dropped * this.#width;
    balance.outcomes.rejected += broken * this.#width;
    this.#open += kept * this.#mapped;
  }

  missing(attribute: string): void {
    this.#settle('missing', this.#columns.get(attribute)!);
  }

  /** Counts the cells of an attribute in the current row. */
  #settle(outcome: CellOutcome, attribute: number): void {
    const weight = this.#weights[attribute] ?? 0;
    if (weight === 0) return;
    this.balances.get(this.#reading!.source)!.outcomes[outcome] += weight;
    this.#open -= weight;
  }

  /** Counts the values of a row that gives no record as rejected. */
  #settleRow(observed: Observed): void {
    if (this.#weights.length === 0) return;
    const values: Observed['values'] | undefined = observed?.values;
    this.#pack.attributes.forEach(({ name }, i) => {
      if (values?.[name] !== undefined && values[name] !== null) this.#settle('rejected', i);
    });
  }

  /** Reports a cell of a declared source that is not a value; the rest of its row is taken as usual. */
  reject({ attribute, line, column, text, expected }: RejectedCell): void {
    const i = this.#columns.get(attribute);
    if (i === undefined) throw new Error(`'${attribute}' is not an attribute`);
    this.report.value(i);
    this.#settle('rejected', i);
    this.report.reject(i, { record: '', attribute, value: text, expected, line, column });
  }

  /** Reports a row of a declared source that could not be read as a row; it stands for `count` rows. */
  brokenRow(row: BrokenRow, count = 1): void {
    this.#rows += count;
    this.#leftOut += count;
    this.report.brokenRow(row, count);
  }

  /** Ends a reading that could not be read to its end. It stops the run. */
  abandon(sentence: string): void {
    this.report.mistake(this.#reading!.source, sentence);
    this.report.end(this.#rows);
  }

  /**
   * Ends the reading: withdraws values that are missing in it, and marks records that a complete source
   * dropped. A reading with rows that were left out drops no record: the rows may be about these records.
   */
  end(): void {
    const reading = this.#reading!;
    const { gone, attributes } = this.#pack;
    this.report.end(this.#rows);
    // What a collector leaves out of the rows that it received.
    if (this.#open !== 0) this.balances.get(reading.source)!.outcomes.dropped += this.#open;
    this.#checkIdentified();
    const account = this.#known.accounts.get(reading.source)!;
    const { url, trust, complete } = this.#sources.get(reading.source)!;
    for (const [record, attribute] of account.withdraw(this.#turn, this.#lasting)) {
      const proof = { url, confidence: trust, evidence: 'no longer stated' };
      this.#write(this.#known.records.ids[record]!, attributes[attribute]!, NULL, proof);
    }
    if (!complete) return;
    this.#checkDrop(account.seenCount(this.#turn));
    if (this.#leftOut > 0) return;
    const column = attributes.findIndex(({ name }) => name === gone?.attribute);
    for (const record of account.drop(this.#turn)) {
      const id = this.#known.records.ids[record]!;
      this.#own(id, REGISTER_ATTRIBUTES.listed, 'false');
      if (!gone || column < 0) continue;
      const text = JSON.stringify(gone.value);
      if (!account.say(record, column, hash53(text), this.#turn)) continue;
      this.#write(id, attributes[column]!, text, { url, confidence: gone.confidence, evidence: 'no longer listed' });
    }
  }

  /** Reports a reading in which no row identifies its record. */
  #checkIdentified(): void {
    if (this.#rows === 0 || this.#nameless < this.#rows) return;
    const reading = this.#reading!;
    const { attributes } = this.#pack.identity;
    const rows = this.#rows === 1 ? 'its one row lacks' : `all of its ${this.#rows.toLocaleString('en-US')} rows lack`;
    const [only, ...more] = attributes;
    const fit = this.#endless ? ` of at most ${AT_MOST}` : '';
    const needed =
      more.length === 0
        ? `${only}${fit}, which identifies`
        : `a part of ${attributes.join(', ')}${fit}, which identify`;
    this.report.noneIdentified(`${readingName(reading)} could not be read: ${rows} ${needed} a record`);
  }

  /** Reports a complete source that lists much fewer records than before. One record may always be missing. */
  #checkDrop(listed: number): void {
    const reading = this.#reading!;
    const { max_drop } = this.#sources.get(reading.source)!;
    const fewer = this.#listedBefore - listed;
    const most = max_drop === 0 ? 0 : Math.max(1, max_drop * this.#listedBefore);
    if (this.#acceptDrops || fewer <= most) return;
    const [now, before] = [listed, this.#listedBefore].map((n) => n.toLocaleString('en-US'));
    this.report.mistake(
      reading.source,
      `${readingName(reading)} lists ${now} records, and the reading before listed ${before}: ` +
        `${percent(fewer / this.#listedBefore)} fewer (max_drop: ${percent(max_drop)}). ` +
        `${acceptOnce(this.#pack.id)}, or set max_drop of the source`,
    );
  }

  /** Whether a row is an observation. Reports the row and every name in it that is not known. */
  #usable(observed: unknown): observed is Observed {
    let unknown = 0;
    let misspelt = false;
    const report = (name: UnknownName) => {
      unknown++;
      misspelt ||= name.nearest === 'source_url';
      this.report.unknown(name, this.#place(observed));
    };
    this.#rowChecker.unknownMembers(observed, report);
    this.#misspelt = unknown > 0;
    const broken = this.#rowChecker.broken(observed);
    if (broken === null) {
      const nowhere = misspelt && (observed as Observed).source_url === undefined;
      this.#rowChecker.unknownNames(observed as Observed, report);
      // `sourceUrl` for `source_url` is one mistake, and not one of every value.
      if (nowhere) this.#leftOut++;
      return !nowhere;
    }
    this.#leftOut++;
    // `value` for `values` is one mistake.
    if (unknown === 0) this.report.noObservation(this.#place(observed), observed, broken);
    return false;
  }

  /** `row 3`, or the line of a declared source. */
  #place(observed: unknown): string {
    const line = (observed as Partial<Observed> | null | undefined)?.line;
    return line === undefined ? `row ${this.#rows}` : `line ${line}`;
  }

  /** The key of the record; null for a row that does not identify one, which is reported. */
  #key(observed: Observed): string | null {
    const { identity } = observed;
    const why = this.#unidentified(identity);
    if (why !== null) {
      this.#nameless++;
      this.#leftOut++;
      this.report.unidentified(why, this.#place(observed));
      return null;
    }
    let found: string;
    try {
      const key = this.#pack.identity.key(identity);
      if (typeof key === 'string' && key !== '') return key;
      found = `identity.key of the pack returns ${valueText(key)}`;
    } catch (error) {
      found = `identity.key of the pack throws: ${error instanceof Error ? error.message : String(error)}`;
    }
    this.#leftOut++;
    const predicate = `has the identity ${valueText(identity)}: ${found}`;
    this.report.noObservation(this.#place(observed), identity, { predicate, expected: 'a text' });
    return null;
  }

  /** Why an identity does not identify a record; null when it does. */
  #unidentified(identity: Identity | undefined): string | null {
    const lacking = this.#pack.identity.attributes.find((name) => isBlank(identity?.[name]));
    if (lacking !== undefined) return `without \`${lacking}\``;
    const endless = Object.keys(identity!).find((name) => isTooLong(identity![name]));
    if (endless === undefined) return null;
    this.#endless = true;
    return `with a \`${endless}\` of more than ${AT_MOST}`;
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

  #own(id: string, name: string, text: string): void {
    const { url } = this.#sources.get(this.#reading!.source)!;
    this.#write(id, { name, unit: null }, text, { url, confidence: 1, evidence: '' });
  }

  #write(
    entity: string,
    { name, unit }: Pick<Attribute, 'name' | 'unit'>,
    text: string,
    proof: Proof,
    time?: number,
  ): void {
    const { source, observed_at } = this.#reading!;
    const { url, confidence, evidence } = proof;
    const shown = evidence === '' ? '' : oneLine(evidence).slice(0, LONGEST.evidence).toWellFormed();
    this.#facts.line(
      `${entity}\t${name}\t${text}\t${unit ?? NULL}\t${source}\t${url}\t${time ?? observed_at}\t${confidence}\t${shown}`,
    );
  }

  /** Where a value is from; null when the row does not give it correctly: then the value is rejected. */
  #proof(observed: Observed, attribute: number, key: string): Proof | null {
    const { name } = this.#pack.attributes[attribute]!;
    const url = entryFor<string>(observed.source_url, name);
    // `source_ulr` for `source_url` is one mistake.
    if (url === undefined && this.#misspelt) return null;
    if (url === undefined || (url !== this.#lastUrl && !isAddress(url))) {
      this.#park(attribute, key, url, 'an http or https address', `${name} source_url`, 'source_url');
      return null;
    }
    this.#lastUrl = url;
    const confidence = entryFor<number>(observed.confidence, name) ?? this.#sources.get(this.#reading!.source)!.trust;
    if (!(typeof confidence === 'number' && confidence >= 0 && confidence <= 1)) {
      this.#park(attribute, key, confidence, 'a number from 0 to 1', `${name} confidence`, 'confidence');
      return null;
    }
    const evidence = entryFor<string>(observed.evidence, name) ?? '';
    if (typeof evidence === 'string') return { url, confidence, evidence };
    this.#park(attribute, key, evidence, 'a text', `${name} evidence`, 'evidence');
    return null;
  }

  /** Rejects a value; `cause` is what is wrong with the whole row. */
  #park(attribute: number, record: string, value: unknown, expected: string, name?: string, cause?: string): void {
    const known = this.#pack.attributes[attribute]!.name;
    const place = this.#line === undefined ? {} : this.#placeInFile(known, this.#line);
    this.report.reject(attribute, { record, attribute: name ?? known, value, expected, ...place }, cause);
  }

  /** Line of the row and column of the attribute in a declared source. */
  #placeInFile(attribute: string, line: number): Pick<RejectedValue, 'line' | 'column'> {
    const source = this.#sources.get(this.#reading!.source)!;
    const column = declares(source) ? columnOf(source, attribute) : undefined;
    return { line, ...(column === undefined || column === attribute ? {} : { column }) };
  }
}

const ONE_VALUE = 'one value in a reading: an earlier row of this record has another, which counts';
