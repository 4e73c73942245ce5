// Type of an attribute from the values and the name of its column.
import type { AttributeType } from '../../../packs/define/model.ts';
import { fold, LONGEST_TEXT } from '../../../packs/define/text.ts';
import { isStorable, missingTexts, type SourceColumn } from './column.ts';
import { dateStyle } from './dates.ts';
import {
  type ColumnName,
  currencyInFormat,
  currencyInName,
  currencyOf,
  knownUnit,
  namesGroup,
  namesPrice,
  unitInName,
} from './names.ts';
import { type NumberStyle, numberStyle } from './numbers.ts';

/** How a column writes its values, where it differs from what readers expect. */
export interface ColumnReading {
  decimal?: '.' | ',';
  thousands?: '.' | ',' | ' ' | "'";
  date?: string | string[];
  /** Whether times lack an offset, so that the time zone of the source decides. */
  zoneless?: boolean;
  missing?: string[];
  truths?: { true: string[]; false: string[] };
  separator?: string;
  multiply?: number;
  /** Sign or unit around the numbers, which a function removes. */
  affix?: string;
}

/** Type of a column, and why. */
export interface TypeProposal {
  type: AttributeType;
  unit?: string;
  currency?: string;
  /** Closed list of an enum. */
  values?: string[];
  reading: ColumnReading;
  /** Least and greatest number of a column of numbers. */
  bounds?: { min: number; max: number };
  /** Values by how often they occur, without those that mean "no value". */
  counts: ReadonlyMap<string, number>;
  reasons: string[];
  /** What the publisher must decide or check. */
  notes: string[];
}

/** What the whole file reveals about each of its columns. */
export interface Hints {
  decimal: '.' | ',' | null;
  dayFirst: boolean | null;
  /** Currency of prices whose column names none. */
  currency: string | null;
}

const MOST_ENUM = 50;
/** Values of a closed enum, and records that each of them has: with others, the next file may have a new value. */
const CLOSED = { values: 8, records: 20 };
const LONGEST_ENUM = 60;
/** Rows from which a tenth of the values of an enum may occur once. */
const LARGE = 1000;
/** Average length, and greatest length, from which texts are sentences. */
const SENTENCES = 120;
const LONG = 2_000;

/** Words for true and false. */
const TRUTHS = [
  ...['true false', 'yes no', 'ja nein', 'oui non', 'sí no', 'si no', 'wahr falsch', 'vrai faux'],
  ...['y n', 'j n', 't f', 'on off'],
].map((words) => words.split(' ') as [string, string]);
const FLAG_NAME =
  /^(is|has|can|was|with|hat|ist)_|_flag$|^(active|enabled|available|aktiv|verfuegbar|in_stock|open|closed)$/;
/** Digits that are no quantity: leading zeros and filters by text matter. */
const DIGITS_NAME =
  /(^|[_.])(zip|zipcode|postal|postcode|plz|phone|tel|telefon|fax|ean|gtin|isbn|upc|iban|vat|barcode|imei)([_.]|$)/;

const spelling = (texts: Iterable<string>, limit = 3): string => [...texts].slice(0, limit).join(', ');

/** The type of a column, or null when it has no values. `text`: it is one of texts, whatever the values are. */
export function proposeType(
  column: SourceColumn,
  name: ColumnName,
  hints: Hints,
  text?: 'string' | 'text',
): TypeProposal | null {
  if (text === undefined) {
    if (column.form === 'list') return listType(column);
    const typed = typedProposal(column, name, hints);
    if (typed !== null) return typed;
  }
  const missing = missingTexts(column, false);
  const counts = without(column.counts, missing);
  if (counts.size === 0) return null;
  const proposal = text === undefined ? textType(column, counts, name) : plainType(counts, name, text);
  return withMissing(proposal, missing);
}

function without(counts: ReadonlyMap<string, number>, missing: ReadonlyMap<string, number>) {
  return missing.size === 0 ? counts : new Map([...counts].filter(([text]) => !missing.has(text)));
}

function withMissing(proposal: TypeProposal, missing: ReadonlyMap<string, number>): TypeProposal {
  if (missing.size === 0) return proposal;
  proposal.reading.missing = [...missing.keys()];
  const listed = [...missing].slice(0, 4).map(([text, count]) => `${text || 'white space'} (${count}×)`);
  proposal.reasons.push(`no value: ${listed.join(', ')}`);
  return proposal;
}

/** Booleans, dates, numbers and addresses; null for texts. */
function typedProposal(column: SourceColumn, name: ColumnName, hints: Hints): TypeProposal | null {
  const missing = missingTexts(column, true);
  const counts = without(column.counts, missing);
  if (counts.size === 0) return null;
  const proposal =
    booleanType(column, counts, name) ??
    dateType(counts, name, hints) ??
    numberType(column, counts, name, hints) ??
    urlType(counts);
  return proposal === null ? null : withMissing(proposal, missing);
}

function booleanType(
  column: SourceColumn,
  counts: ReadonlyMap<string, number>,
  { snake }: ColumnName,
): TypeProposal | null {
  const base = { type: 'boolean' as const, counts, notes: [] };
  if (column.form === 'boolean') return { ...base, reading: {}, reasons: ['true and false'] };
  if (column.form !== 'text' && !FLAG_NAME.test(snake)) return null;
  const words = new Set([...counts.keys()].slice(0, 10).map((text) => text.toLowerCase()));
  if (words.size > 2) return null;
  const digits = [...words].every((text) => text === '0' || text === '1');
  if (digits) {
    return FLAG_NAME.test(snake) ? { ...base, reading: {}, reasons: ['0 and 1, and the name of a flag'] } : null;
  }
  const pair = TRUTHS.find((truth) => [...words].every((text) => truth.includes(text)));
  // One word alone is a category, unless the name is one of a flag.
  const alone = words.size === 1 && pair?.[0] !== 'true' && !FLAG_NAME.test(snake);
  if (pair === undefined || alone) return null;
  const usual = pair[0] === 'true' || pair[0] === 'yes';
  const reading = usual ? {} : { truths: { true: [pair[0]], false: [pair[1]] } };
  return { ...base, reading, reasons: [`only ${pair.join(' and ')}`] };
}

function dateType(counts: ReadonlyMap<string, number>, name: ColumnName, hints: Hints): TypeProposal | null {
  const style = dateStyle(counts, name.snake, hints.dayFirst);
  if (style === null) return null;
  const { pattern, share, ambiguous, clock, zoneless } = style;
  const example = counts.keys().next().value!;
  const notes = ambiguous ? ['day and month may be exchanged: no day of the column is above 12'] : [];
  if (zoneless)
    notes.push(
      'times without an offset are read in UTC; set `timezone` of the source to theirs, such as Europe/Berlin',
    );
  const reading = { ...(pattern === 'YYYY-MM-DD' ? {} : { date: pattern }), ...(zoneless ? { zoneless } : {}) };
  const form = clock && pattern === 'YYYY-MM-DD' ? 'ISO 8601' : [pattern].flat().join(' or ');
  const reasons = [`${form}, such as ${example}`, ...rest(share)];
  return { type: clock ? 'datetime' : 'date', counts, reading, reasons, notes };
}

const rest = (share: number): string[] =>
  share < 1 ? [`${((1 - share) * 100).toFixed(1)} % of the values do not fit and are left out`] : [];

function numberType(column: SourceColumn, counts: ReadonlyMap<string, number>, name: ColumnName, hints: Hints) {
  const native = column.form === 'number';
  if (!native && column.form !== 'text') return null;
  if (DIGITS_NAME.test(name.snake)) return null;
  if (!native && [...counts.keys()].some((text) => /^0\d+$/.test(text))) return null;
  const style = numberStyle(counts, native ? '.' : hints.decimal);
  if (style === null || (style.affix && knownUnit(style.affix) === null && currencyOf(style.affix) === null))
    return null;
  if (!style.fraction && Math.max(Math.abs(style.min), Math.abs(style.max)) > Number.MAX_SAFE_INTEGER) return null;
  return describeNumber(column, counts, name, hints, style);
}

function describeNumber(
  column: SourceColumn,
  counts: ReadonlyMap<string, number>,
  name: ColumnName,
  hints: Hints,
  style: NumberStyle,
): TypeProposal {
  const native = column.form === 'number';
  const reasons: string[] = [];
  const notes: string[] = [];
  const reading: ColumnReading = {};
  if (!native && style.signs) {
    reading.decimal = style.decimal;
    if (style.thousands !== null) reading.thousands = style.thousands;
    if (style.decimal === ',') reasons.push('decimal comma');
    if (style.thousands !== null) reasons.push(`thousands: ${style.thousands === ' ' ? 'space' : style.thousands}`);
    if (style.ambiguous && hints.decimal === null) {
      const text = [...counts.keys()].find((cell) => /[.,]/.test(cell));
      notes.push(`${text} is read as ${style.thousands ? 'thousands' : 'decimals'}: no other value decides it`);
    }
  }
  if (style.affix !== null) {
    reading.affix = style.affix;
    reasons.push(style.affix === '' ? 'with special spaces' : `with ${style.affix}`);
  }
  const format = column.format ?? '';
  const currencyOfColumn =
    (style.affix === null ? null : currencyOf(style.affix)) ?? currencyInName(name) ?? currencyInFormat(format);
  const currency = currencyOfColumn ?? (namesPrice(name.snake) ? hints.currency : null);
  const isShare = /%/.test(format);
  if (isShare) {
    // A workbook stores 25 % as 0.25.
    reading.multiply = 100;
    reasons.push('formatted as a share');
  }
  const written = isShare ? '%' : style.affix === null ? null : knownUnit(style.affix);
  const unit = written ?? (currencyOfColumn === null ? unitInName(name) : null);
  const factor = isShare ? 100 : 1;
  const bounds = { min: style.min * factor, max: style.max * factor };
  const common = { counts, reading, bounds, reasons, notes };
  reasons.push(...rest(style.share));
  if (currency !== null && unit === null) {
    const per = /(?:^|_)(?:per|pro)_([a-z]+\d?)/.exec(name.snake)?.[1];
    const priced = per === undefined || currencyOf(per) !== null ? currency : `${currency}/${knownUnit(per) ?? per}`;
    reasons.unshift(
      currencyOfColumn === null ? `an amount in ${currency}, the currency of the file` : `an amount in ${currency}`,
    );
    if (!style.negative) return { type: 'price', unit: priced, currency, ...common };
    reasons.push('negative values, so no price');
    return { type: 'number', unit: priced, ...common };
  }
  if (namesPrice(name.snake) && unit === null && style.fraction)
    notes.push('a price without a currency; name it with --currency, and it becomes a price');
  if (unit !== null) reasons.push(`unit ${unit}`);
  reasons.unshift(style.fraction ? 'numbers' : 'whole numbers');
  return { type: style.fraction ? 'number' : 'integer', ...(unit === null ? {} : { unit }), ...common };
}

/** Share of the values that are web addresses. */
function addressShare(counts: ReadonlyMap<string, number>): number {
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...counts].reduce((sum, [text, count]) => sum + (isAddress(text) ? count : 0), 0) / all;
}

function urlType(counts: ReadonlyMap<string, number>): TypeProposal | null {
  const share = addressShare(counts);
  return share < 0.98
    ? null
    : { type: 'url', counts, reading: {}, reasons: ['web addresses', ...rest(share)], notes: [] };
}

const isAddress = (text: string): boolean => /^https?:\/\/[^\s/@]+\.[^\s@]+$/i.test(text) && URL.canParse(text);

/** A note about a column of texts that would be addresses without some cells. */
function addressNotes(counts: ReadonlyMap<string, number>): string[] {
  const other = [...counts.keys()].find((text) => !isAddress(text));
  const share = addressShare(counts);
  if (other === undefined || share < 0.5) return [];
  return [`a text, not a url: ${(share * 100).toFixed(1)} % are web addresses, and others are not, such as '${other}'`];
}

function listType(column: SourceColumn): TypeProposal | null {
  if (column.entries.size === 0) return null;
  const reasons = [`lists, such as ${spelling(column.entries.keys())}`];
  return { type: 'strings', counts: column.entries, reading: {}, reasons, notes: [] };
}

function textType(column: SourceColumn, counts: ReadonlyMap<string, number>, name: ColumnName): TypeProposal {
  const list = column.form === 'text' ? separatedType(counts, name) : null;
  if (list !== null) return list;
  const texts = [...counts.keys()];
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const longest = texts.reduce((most, text) => Math.max(most, text.length), 0);
  const average = [...counts].reduce((sum, [text, count]) => sum + text.length * count, 0) / all;
  const base = { counts, reading: {}, notes: [] as string[] };
  const values = spellings(counts);
  const folded = [...values.values()];
  if (
    !DISPLAY_NAME.test(name.snake) &&
    values.size <= MOST_ENUM &&
    values.size < all &&
    longest <= LONGEST_ENUM &&
    folded.filter(({ count }) => count < 2).length <= (all >= LARGE ? values.size / 10 : 0)
  ) {
    const repeated = folded.every(({ count }) => count >= 2);
    const closed =
      values.size >= 2 &&
      values.size <= CLOSED.values &&
      folded.every(({ text, count }) => count >= CLOSED.records && isStorable(text)) &&
      !namesGroup(name.snake);
    const reasons = [
      `${values.size} different value${values.size === 1 ? '' : 's'}, ${repeated ? 'each' : 'nearly all'} repeated`,
    ];
    if (values.size < counts.size) reasons.push('letter case and accents differ between equal ones');
    if (closed) reasons.push('a closed list: new values are refused');
    const listed = closed ? { values: folded.map(({ text }) => text) } : {};
    return { type: 'enum', ...base, ...listed, reasons };
  }
  const isLong = longest > LONG || average > SENTENCES;
  return plainType(counts, name, isLong ? 'text' : 'string');
}

function plainType(counts: ReadonlyMap<string, number>, name: ColumnName, type: 'string' | 'text'): TypeProposal {
  const texts = [...counts.keys()];
  const base = { type, counts, reading: {} };
  if (type === 'text') {
    const isCut = texts.some((text) => Buffer.byteLength(text) > LONGEST_TEXT.bytes);
    const notes = isCut ? [`texts above ${LONGEST_TEXT.bytes.toLocaleString('en-US')} bytes are left out`] : [];
    return { ...base, notes, reasons: ['long texts'] };
  }
  const digits = DIGITS_NAME.test(name.snake) || texts.every((text) => /^\d+$/.test(text));
  const reasons = [digits ? 'digits that are no quantity' : `${counts.size} different texts`];
  return { ...base, notes: addressNotes(counts), reasons };
}

/** Values without regard to letter case and accents; the most frequent spelling of each. */
function spellings(counts: ReadonlyMap<string, number>): Map<string, { text: string; count: number }> {
  const values = new Map<string, { text: string; count: number }>();
  for (const [text, count] of counts) {
    const key = fold(text);
    const value = values.get(key);
    if (value === undefined) values.set(key, { text, count });
    else value.count += count;
    if (values.size > MOST_ENUM) break;
  }
  return values;
}

const SEPARATORS = ['|', ';', ','] as const;
/** Names of columns whose commas separate no list. */
const ONE_TEXT =
  /(^|_)(name|title|titel|address|adresse|street|strasse|description|beschreibung|url|id|note|notes)(_|$)/;

/** Names of columns with names: new ones are no new category. */
const DISPLAY_NAME = /(^|[_.])(name|title|titel|bezeichnung)$/;

/** A list when a separator repeats and the entries between are short and occur again in other rows. */
function separatedType(counts: ReadonlyMap<string, number>, { snake }: ColumnName): TypeProposal | null {
  // Commas within brackets belong to a point, a shape or an expression.
  if (ONE_TEXT.test(snake) || counts.keys().some((text) => /[([{][^)\]}]*[,;|]/.test(text))) return null;
  for (const separator of SEPARATORS) {
    const entries = new Map<string, number>();
    let rows = 0;
    let separated = 0;
    for (const [text, count] of counts) {
      rows += count;
      if (!text.includes(separator)) {
        entries.set(text, (entries.get(text) ?? 0) + count);
        continue;
      }
      separated += count;
      for (const entry of text
        .split(separator)
        .map((part) => part.trim())
        .filter(Boolean))
        entries.set(entry, (entries.get(entry) ?? 0) + count);
    }
    const all = [...entries.values()].reduce((sum, count) => sum + count, 0);
    const longest = [...entries.keys()].reduce((most, text) => Math.max(most, text.length), 0);
    if (separated < 2 || separated / rows < 0.2 || longest > LONGEST_ENUM || entries.size > all / 2) continue;
    // Readers split at `;` unless the column sets another separator.
    const reading = separator === ';' ? {} : { separator };
    const reasons = [`lists separated by ${separator}: ${entries.size} different entries`];
    return {
      type: 'strings',
      counts: new Map([...entries].sort(([, a], [, b]) => b - a)),
      reading,
      reasons,
      notes: [],
    };
  }
  return null;
}
