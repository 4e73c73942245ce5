// Turns the observations of a collector into facts: checks values, keeps only changes, and assigns slugs to
// new records.

import { hash } from 'node:crypto';
import { type LineWriter, NULL, oneLine } from '../../data/duckdb/lines.ts';
import { recordId } from '../../data/model/layout.ts';
import { REGISTER_ATTRIBUTES } from '../../data/write/facts.ts';
import { comparedValue } from '../../packs/define/digits.ts';
import type { Attribute, Identity, Observed, Pack, Source, Value } from '../../packs/define/model.ts';
import { droppedCharacters, hasAtMost, LONGEST_TEXT, storedText } from '../../packs/define/text.ts';
import type { BrokenRow } from '../sources/reader.ts';
import { columnOf, type DeclaringSource, declares, type RejectedCell } from '../sources/rows.ts';
import { CellCounter } from './balance.ts';
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

/** Identities that are stored as they are: printable ASCII without white space around it. */
const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/;

/** An identity with its texts as they are stored. */
function storedIdentity(identity: Identity | undefined): Identity | undefined {
  let stored = identity;
  for (const name in identity) {
    const value = identity[name];
    if (typeof value === 'string' && !PLAIN.test(value)) stored = { ...stored, [name]: storedText(value) };
  }
  return stored;
}

const isBlank = (value: unknown) => value === undefined || value === null || value === '';

/** Most characters of evidence. */
const LONGEST_EVIDENCE = 500;

const isTooLong = (value: unknown) => typeof value === 'string' && !hasAtMost(value, LONGEST_TEXT.member);

const AT_MOST = `${LONGEST_TEXT.member.toLocaleString('en-US')} characters`;

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
  readonly #dataset: DatasetState;
  readonly #facts: LineWriter;
  readonly #checks: ((raw: unknown) => ReturnType<ReturnType<typeof checker>>)[];
  readonly #lasting: boolean[];
  readonly #sources: Map<string, Source>;
  readonly #rowChecker: RowChecker;
  readonly #columns: Map<string, number>;
  readonly #acceptDrops: boolean;
  /** The current reading, and the state of its source; set by begin(). */
  #reading: Planned | null = null;
  #account!: SourceState;
  /** From 1. */
  #readingNumber = 0;
  /** Rows of the reading so far, and those that did not give a record. */
  #rows = 0;
  #leftOut = 0;
  /** Rows without an identified record, and whether an identity of theirs is too long. */
  #withoutIdentity = 0;
  #overlong = false;
  /** Whether the current row has members that observations do not have. */
  #misspelt = false;
  /** Line of the current row in a declared source. */
  #line: number | undefined;
  /** Records that a complete source listed before the reading. */
  #listedBefore = 0;
  /** The last address that was checked: most rows have one for all values, and many sources one for all rows. */
  #lastUrl: string | undefined;
  readonly #cells: CellCounter;
  /** Record and time of the rows with their own times in this reading, as hashes. */
  readonly #timedRows = new Set<number>();
  /** Record numbers by identity key, so that each key is hashed once. */
  readonly #keys = new Map<string, number>();

  constructor(pack: Pack, datasetState: DatasetState, facts: LineWriter, { now, acceptDrops }: ObserverOptions) {
    this.#pack = pack;
    this.#dataset = datasetState;
    this.#facts = facts;
    this.#acceptDrops = acceptDrops;
    this.report = new RunReport(pack);
    this.#cells = new CellCounter(pack.attributes);
    this.#checks = pack.attributes.map((attribute) => checker(attribute, now));
    this.#lasting = pack.attributes.map(({ once }) => once);
    this.#sources = new Map(pack.sources.map((source) => [source.id, source]));
    this.#columns = new Map(pack.attributes.map(({ name }, i) => [name, i]));
    const attributes = pack.attributes.map(({ name }) => name);
    this.#rowChecker = new RowChecker({ attributes, identity: pack.identity.attributes }, now);
  }

  /** Cells of the declared sources, by source. */
  get balances() {
    return this.#cells.balances;
  }

  begin(reading: Planned): void {
    this.#reading = reading;
    this.#readingNumber++;
    this.#rows = 0;
    this.#leftOut = 0;
    this.#withoutIdentity = 0;
    this.#overlong = false;
    this.#timedRows.clear();
    this.#account = this.#dataset.accounts.get(reading.source)!;
    this.#listedBefore = this.#account.listedCount();
    this.#cells.beginReading();
    this.report.begin(reading);
  }

  /**
   * Adds one observation. Of a record listed twice in a reading, the first value of each attribute counts. A
   * row without a complete identity is left out, because such rows would be merged into one record. So is a
   * row with a too long identity, which a badly cut file produces.
   */
  take(observed: Observed): void {
    this.#rows++;
    if (!this.#isObservation(observed)) {
      this.#cells.rejectAll(observed);
      return;
    }
    this.#line = observed.line;
    const identity = storedIdentity(observed.identity);
    const key = this.#keyOf(observed, identity);
    if (key === null) {
      this.#cells.rejectAll(observed);
      return;
    }
    const record = this.#recordNumber(key);
    const account = this.#account;
    const id = this.#dataset.records.ids[record]!;
    // A row with its own time may be one of several about its record: each is a fact at its time.
    const timed = observed.observed_at !== undefined;
    if (timed ? this.#repeated(record, observed.observed_at!) : account.isListedIn(record, this.#readingNumber)) {
      this.report.twice(record, shorten(key));
      if (timed) {
        this.#cells.rejectAll(observed);
        return;
      }
    }
    if (account.markListed(record, this.#readingNumber))
      this.#writeRegisterFact(id, REGISTER_ATTRIBUTES.listed, 'true');
    const isNewRecord = !this.#dataset.named.has(id);
    const values: Record<string, Value> = {};
    for (let i = 0; i < this.#pack.attributes.length; i++) {
      const value = this.#takeValue(observed, i, key, record);
      if (isNewRecord && value !== null) values[this.#pack.attributes[i]!.name] = value;
    }
    if (isNewRecord) this.#nameRecord(id, key, identity!, values);
  }

  /** Writes the fact of one attribute if it is news. Returns the checked value; null without a usable one. */
  #takeValue(observed: Observed, i: number, key: string, record: number): Value | null {
    const attribute = this.#pack.attributes[i]!;
    const raw = observed.values[attribute.name];
    if (raw === undefined || raw === null) return null;
    const account = this.#account;
    const timed = observed.observed_at !== undefined;
    this.report.value(i);
    const result = this.#checks[i]!(raw);
    if (!result.ok) {
      this.#cells.take('rejected', i);
      this.#rejectValue(i, key, raw, result.reason);
      return null;
    }
    if (result.value !== raw) this.#countDropped(attribute, raw, key);
    const hash = hashOfJson(comparedValue(attribute, result.value));
    if (!timed && account.hasValueIn(record, i, this.#readingNumber)) {
      const differs = !attribute.once && hash !== account.hash(record, i);
      this.#cells.take(differs ? 'rejected' : 'confirmed', i);
      if (differs) this.#rejectValue(i, key, raw, ONE_VALUE, undefined, ONE_VALUE);
      return null;
    }
    const proof = this.#proof(observed, i, key);
    if (proof === null) {
      this.#cells.take('rejected', i);
      return null;
    }
    const lasts = attribute.once && account.has(record, i);
    const isNew = !lasts && (account.setValue(record, i, hash, this.#readingNumber) || timed);
    this.#cells.take(isNew ? 'published' : 'confirmed', i);
    if (isNew)
      this.#write(
        this.#dataset.records.ids[record]!,
        attribute,
        JSON.stringify(result.value),
        proof,
        observed.observed_at,
      );
    return result.value;
  }

  /** Counts the control characters of a text, or of the entries of a list, that are not stored. */
  #countDropped({ name }: Attribute, raw: unknown, key: string): void {
    const texts = Array.isArray(raw) ? raw : [raw];
    const dropped = texts.reduce((sum, text) => sum + (typeof text === 'string' ? droppedCharacters(text) : 0), 0);
    const place = this.#line === undefined ? shorten(key) : `line ${this.#line}`;
    if (dropped > 0) this.report.dropped(name, dropped, place);
  }

  /** Whether an earlier row of this reading is about the same record at the same time. */
  #repeated(record: number, at: number): boolean {
    const id = hash53(`${record}@${at}`);
    if (this.#timedRows.has(id)) return true;
    this.#timedRows.add(id);
    return false;
  }

  /** Begins a version of a declared source; JSON gets columns while its rows are read. */
  columns(columns: readonly string[]): void {
    this.#cells.beginVersion(this.#sources.get(this.#reading!.source) as DeclaringSource, columns);
  }

  /** Counts rows of the version; see RowReport. */
  rows(kept: number, dropped: number, broken: number): void {
    this.#cells.rows(kept, dropped, broken);
  }

  missing(attribute: string): void {
    this.#cells.unread('missing', this.#columns.get(attribute)!);
  }

  /** Reports a cell of a declared source that is not a value; the rest of its row is taken as usual. */
  reject({ attribute, line, column, text, expected }: RejectedCell): void {
    const i = this.#columns.get(attribute);
    if (i === undefined) throw new Error(`'${attribute}' is not an attribute`);
    this.report.value(i);
    this.#cells.unread('rejected', i);
    this.report.reject(i, { record: '', attribute, value: text, expected, line, column });
  }

  /** Reports a row of a declared source that could not be read as a row; it represents `count` rows. */
  brokenRow(row: BrokenRow, count = 1): void {
    this.#rows += count;
    this.#leftOut += count;
    this.report.brokenRow(row, count);
  }

  /** Ends a reading that could not be read to its end. It stops the run. */
  abandon(sentence: string): void {
    this.report.mistake(this.#reading!.source, sentence);
    this.report.end(this.#rows);
    this.#cells.endReading();
  }

  /**
   * Ends the reading: withdraws values that are missing in it, and marks records that a complete source
   * dropped. A reading with rows that were left out drops no record: the rows may be about these records.
   */
  end(): void {
    const reading = this.#reading!;
    const { gone, attributes } = this.#pack;
    this.report.end(this.#rows);
    this.#cells.endReading();
    this.#checkIdentified();
    const account = this.#account;
    const { url, trust, complete } = this.#sources.get(reading.source)!;
    for (const [record, attribute] of account.withdraw(this.#readingNumber, this.#lasting)) {
      const proof = { url, confidence: trust, evidence: 'no longer stated' };
      this.#write(this.#dataset.records.ids[record]!, attributes[attribute]!, NULL, proof);
    }
    if (!complete) return;
    this.#checkDrop(account.listedCountIn(this.#readingNumber));
    if (this.#leftOut > 0) return;
    const column = attributes.findIndex(({ name }) => name === gone?.attribute);
    for (const record of account.drop(this.#readingNumber)) {
      const id = this.#dataset.records.ids[record]!;
      this.#writeRegisterFact(id, REGISTER_ATTRIBUTES.listed, 'false');
      if (!gone || column < 0) continue;
      const text = JSON.stringify(gone.value);
      if (!account.setValue(record, column, hash53(text), this.#readingNumber)) continue;
      this.#write(id, attributes[column]!, text, { url, confidence: gone.confidence, evidence: 'no longer listed' });
    }
  }

  /** Reports a reading in which no row identifies its record. */
  #checkIdentified(): void {
    if (this.#rows === 0 || this.#withoutIdentity < this.#rows) return;
    const reading = this.#reading!;
    const { attributes } = this.#pack.identity;
    const rows = this.#rows === 1 ? 'its one row lacks' : `all of its ${this.#rows.toLocaleString('en-US')} rows lack`;
    const [only, ...more] = attributes;
    const fit = this.#overlong ? ` of at most ${AT_MOST}` : '';
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
  #isObservation(observed: unknown): observed is Observed {
    let unknown = 0;
    let misspelt = false;
    const report = (name: UnknownName) => {
      unknown++;
      misspelt ||= name.nearest === 'source_url';
      this.report.unknown(name, this.#rowName(observed));
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
    if (unknown === 0) this.report.noObservation(this.#rowName(observed), observed, broken);
    return false;
  }

  /** `row 3`, or the line of a declared source. */
  #rowName(observed: unknown): string {
    const line = (observed as Partial<Observed> | null | undefined)?.line;
    return line === undefined ? `row ${this.#rows}` : `line ${line}`;
  }

  /** The key of the record; null for a row that does not identify one, which is reported. */
  #keyOf(observed: Observed, identity: Identity | undefined): string | null {
    const why = this.#unidentified(identity);
    if (why !== null) {
      this.#withoutIdentity++;
      this.#leftOut++;
      this.report.unidentified(why, this.#rowName(observed));
      return null;
    }
    let problem: string;
    try {
      const key = this.#pack.identity.key(identity!);
      if (typeof key === 'string' && key !== '') return key;
      problem = `identity.key of the pack returns ${valueText(key)}`;
    } catch (error) {
      problem = `identity.key of the pack throws: ${error instanceof Error ? error.message : String(error)}`;
    }
    this.#leftOut++;
    const predicate = `has the identity ${valueText(identity)}: ${problem}`;
    this.report.noObservation(this.#rowName(observed), identity, { predicate, expected: 'a text' });
    return null;
  }

  /** Why an identity does not identify a record; null when it does. */
  #unidentified(identity: Identity | undefined): string | null {
    const lacking = this.#pack.identity.attributes.find((name) => isBlank(identity?.[name]));
    if (lacking !== undefined) return `without \`${lacking}\``;
    const endless = Object.keys(identity!).find((name) => isTooLong(identity![name]));
    if (endless === undefined) return null;
    this.#overlong = true;
    return `with a \`${endless}\` of more than ${AT_MOST}`;
  }

  #recordNumber(key: string): number {
    let record = this.#keys.get(key);
    if (record === undefined) {
      record = this.#dataset.records.number(recordId(this.#pack.id, key));
      this.#keys.set(key, record);
    }
    return record;
  }

  /** Stores identity and slug of a new record. */
  #nameRecord(id: string, key: string, identity: Identity, values: Record<string, Value>): void {
    const slug = freeSlug(this.#pack.identity.slug(identity, values), key, this.#dataset.slugs);
    this.#dataset.named.add(id);
    this.#dataset.slugs.add(slug);
    this.#writeRegisterFact(id, REGISTER_ATTRIBUTES.identity, JSON.stringify(identity));
    this.#writeRegisterFact(id, REGISTER_ATTRIBUTES.slug, JSON.stringify(slug));
  }

  #writeRegisterFact(id: string, name: string, text: string): void {
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
    const shown = evidence === '' ? '' : oneLine(evidence).slice(0, LONGEST_EVIDENCE).toWellFormed();
    this.#facts.line(
      `${entity}\t${name}\t${text}\t${unit ?? NULL}\t${source}\t${url}\t${time ?? observed_at}\t${confidence}\t${shown}`,
    );
  }

  /** Where a value is from; null when the row does not give it correctly: then the value is rejected. */
  #proof(observed: Observed, attribute: number, key: string): Proof | null {
    const { name } = this.#pack.attributes[attribute]!;
    const source = this.#sources.get(this.#reading!.source)!;
    const stated = entryFor<string>(observed.source_url, name);
    // `source_ulr` for `source_url` is one mistake.
    if (stated === undefined && this.#misspelt) return null;
    const url = stated ?? source.url;
    if (url !== this.#lastUrl && !isAddress(url)) {
      this.#rejectValue(attribute, key, url, 'an http or https address', `${name} source_url`, 'source_url');
      return null;
    }
    this.#lastUrl = url;
    const confidence = entryFor<number>(observed.confidence, name) ?? source.trust;
    if (!(typeof confidence === 'number' && confidence >= 0 && confidence <= 1)) {
      this.#rejectValue(attribute, key, confidence, 'a number from 0 to 1', `${name} confidence`, 'confidence');
      return null;
    }
    const evidence = entryFor<string>(observed.evidence, name) ?? '';
    if (typeof evidence === 'string') return { url, confidence, evidence };
    this.#rejectValue(attribute, key, evidence, 'a text', `${name} evidence`, 'evidence');
    return null;
  }

  /** Rejects a value; `cause` is what is wrong with the whole row. */
  #rejectValue(
    attribute: number,
    record: string,
    value: unknown,
    expected: string,
    name?: string,
    cause?: string,
  ): void {
    const attributeName = this.#pack.attributes[attribute]!.name;
    const place = this.#line === undefined ? {} : this.#placeInFile(attributeName, this.#line);
    this.report.reject(attribute, { record, attribute: name ?? attributeName, value, expected, ...place }, cause);
  }

  /** Line of the row and column of the attribute in a declared source. */
  #placeInFile(attribute: string, line: number): Pick<RejectedValue, 'line' | 'column'> {
    const source = this.#sources.get(this.#reading!.source)!;
    const column = declares(source) ? columnOf(source, attribute) : undefined;
    return { line, ...(column === undefined || column === attribute ? {} : { column }) };
  }
}

const ONE_VALUE = 'one value in a reading: an earlier row of this record has another, which counts';
