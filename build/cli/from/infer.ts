// Proposes a pack from the columns and rows of a sample. Pure: the same rows give the same proposal.
import { plural } from '../../../api/render/print.ts';
import { cellTime } from '../../sources/values.ts';
import { chooseIdentity, chooseRoles, ProposalError } from './choices.ts';
import { cellText, countColumn, type SourceColumn } from './column.ts';
import { dateStyle } from './dates.ts';
import {
  attributeNames,
  type ColumnName,
  currencyInName,
  currencyOf,
  knownUnit,
  readName,
  unusedName,
} from './names.ts';
import { numberStyle } from './numbers.ts';
import type { AttributeProposal, Proposal } from './proposal.ts';
import type { RowSample } from './sample.ts';
import { type Hints, proposeType, type TypeProposal } from './types.ts';

/** What the publisher decides in advance. */
export interface InferOptions {
  /** Names of attributes or columns that identify a record; null: they are proposed. */
  identity: readonly string[] | null;
  /** ISO 4217 code of prices whose column names none. */
  currency: string | null;
  /** Whether a trial reads the rows that the sample lacks; absent: no. */
  tried?: boolean;
  /** What the rows of the whole source have refused; absent: nothing yet. */
  weakening?: Weakening;
}

/** Choices that a trial of the proposal with all rows excludes, by the names of columns. */
export interface Weakening {
  /** Columns whose values are texts. */
  texts: Map<string, 'string' | 'text'>;
  /** Enums without a closed list. */
  open: Set<string>;
  /** Columns that are not read, and why. */
  unread: Map<string, string>;
  /** Identities that repeat, as lines of attributes. */
  repeated: Set<string>;
  /** Whether each row has a time of its last change, and none is in the future. */
  timed: boolean;
  reasons: string[];
}

interface NamedColumn {
  column: SourceColumn;
  index: number;
  name: ColumnName;
}

/** Proposes a pack. Throws ProposalError when no pack is possible: no rows, no columns, no identity. */
export function inferPack(sample: RowSample, options: InferOptions): Proposal {
  if (sample.columns.length === 0) throw new ProposalError(`${sample.name} has no columns`);
  if (sample.rows.length === 0) throw new ProposalError(`${sample.name} has a header and no rows`);
  const unread: Proposal['unread'] = [];
  const { weakening, tried = false } = options;
  const whole = sample.whole || tried;
  const columns = readableColumns(sample, unread, weakening?.unread);
  const hints = fileHints(columns, options.currency);
  const points = pointsOf(columns.filter(({ column }) => weakening?.texts.has(column.name) !== true));
  const inPoint = new Set(points.flatMap(({ lat, lng }) => [lat, lng]));
  const typed = columns
    .filter((namedColumn) => !inPoint.has(namedColumn))
    .flatMap((namedColumn) => {
      const text = weakening?.texts.get(namedColumn.column.name);
      const type =
        namedColumn.column.form === 'object' ? null : proposeType(namedColumn.column, namedColumn.name, hints, text);
      // A list is closed when all its values are known.
      if (!whole || weakening?.open.has(namedColumn.column.name)) delete type?.values;
      if (type !== null) return [{ ...namedColumn, type }];
      const reason =
        namedColumn.column.form === 'object' ? 'objects and lists of objects are not read' : 'it has no values';
      unread.push({ column: namedColumn.column.name, reason });
      return [];
    });
  const names = attributeNames(typed.map(({ name }) => name));
  const attributes = typed.map((column, i) => attributeOf(column, names[i]!));
  for (const point of points) attributes.push(pointAttribute(point, attributes, sample));
  if (attributes.length === 0) {
    const [first] = unread;
    const reason = first === undefined ? '' : `; '${first.column}': ${first.reason}`;
    throw new ProposalError(`no column of ${sample.name} has a value that can be read${reason}`);
  }
  const identity = chooseIdentity(sample, attributes, options.identity, weakening?.repeated);
  const decimal = points.find((point) => point.decimal !== null)?.decimal ?? hints.decimal;
  return complete({ ...sample, whole }, attributes, unread, {
    identity,
    sign: decimal,
    mayTime: weakening?.timed ?? true,
  });
}

function complete(
  sample: RowSample,
  attributes: AttributeProposal[],
  unread: Proposal['unread'],
  { identity, sign, mayTime }: { identity: Proposal['identity']; sign: '.' | ',' | null; mayTime: boolean },
): Proposal {
  const choices = chooseRoles(sample, attributes, identity.attributes);
  const timezone = timezoneOf(attributes);
  const notes = attributes.flatMap((attribute) =>
    attribute.notes.map((note) => {
      const text = timezone === null ? note : note.replace(/read in UTC;.*/, `read in ${timezone}, as a column states`);
      return `${attribute.name}: ${text}`;
    }),
  );
  const updated = updatedAttribute(attributes, sample.rows.length);
  let initialOf: string | null = null;
  let { group } = choices;
  if (group === null) {
    // A group of its own for each record would make all records free as examples.
    initialOf = choices.name ?? identity.attributes[0]!;
    group = unusedName(
      'initial',
      attributes.map(({ name }) => name),
    );
    choices.public.push(group);
    attributes.push(initialAttribute(group, initialOf, attributes));
    notes.push(`no column groups the records; they are grouped by the first letter of ${initialOf}`);
  }
  const value = attributes.find(isValue)?.columns[0];
  if (value !== undefined)
    notes.push(`the header may be a record, as '${value}' has the form of its column: a file needs a line with names`);
  if (choices.compare.length === 0) choices.compare.push(group);
  const listed = sample.whole ? listedAttribute(attributes, sample.rows.length) : null;
  if (listed !== null) {
    attributes.push(listed);
    choices.public.push(listed.name);
  }
  notes.push(...identityNotes(identity));
  const signs = attributes.some(({ type, reading }) => type === 'geo' || reading.decimal !== undefined);
  const decimal = signs ? (sign ?? '.') : null;
  return {
    attributes,
    unread,
    identity,
    choices: { ...choices, group },
    initialOf,
    listed: listed?.name ?? null,
    decimal,
    timezone,
    updated: updated?.name ?? null,
    timed: mayTime && updated !== undefined && isRecent(updated),
    notes,
    rows: sample.rows.length,
  };
}

/** Whether the name of the column has the form of its values, and is no year or position, as headers have. */
function isValue({ type, columns: [name = ''] }: AttributeProposal): boolean {
  if (type === 'integer' || type === 'number') return /^-?(\d{5,}|\d+[.,]\d+)$/.test(name);
  return type === 'url' ? URL.canParse(name) : /^date/.test(type) && dateStyle(new Map([[name, 1]]), '') !== null;
}

/** Names of the time of the last change of a row. */
const UPDATED =
  /^(?:(?:last|date)_?)?(?:updated?|modified|changed|mod|checked|verified|aktualisiert|geaendert)(?:_(?:at|on|am|time|date))?$/;

/** The attribute with the time of the last change of a row, filled in all rows; undefined: there is none. */
const updatedAttribute = (attributes: readonly AttributeProposal[], rows: number): AttributeProposal | undefined =>
  attributes.find(({ name, type, filled }) => /^date/.test(type) && UPDATED.test(name) && filled === rows);

/** Milliseconds of a year: older values do not count as up to date. */
const YEAR = 365 * 86_400_000;

/** Whether all values are times, and none is more than a year older than the newest one. */
function isRecent({ counts, reading }: AttributeProposal): boolean {
  const times = counts.keys().map((text) => cellTime(text, { date: reading.date, timezone: 'UTC' }));
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const time of times) [oldest, newest] = [Math.min(oldest, time), Math.max(newest, time)];
  return newest - oldest <= YEAR;
}

/** The time zone that is the only value of a column such as `time_zone`; null: there is none. */
function timezoneOf(attributes: readonly AttributeProposal[]): string | null {
  const zones = attributes.filter(
    ({ name, distinct }) => distinct === 1 && /(^|[_.])(time_?zone|tz|zeitzone)$/.test(name),
  );
  const zone = zones[0]?.counts.keys().next().value ?? null;
  return zone !== null && Intl.supportedValuesOf('timeZone').includes(zone) ? zone : null;
}

function identityNotes({ attributes, repeated, incomplete, exact }: Proposal['identity']): string[] {
  const names = attributes.join(' and ');
  return [
    ...(repeated > 0 ? [`${plural(repeated, 'row')} repeat the ${names} of an earlier row; the first row counts`] : []),
    ...(incomplete > 0 ? [`${plural(incomplete, 'row')} have no ${names} and are left out`] : []),
    ...(exact ? [`some values of ${names} differ only in letter case or accents; they stay different records`] : []),
  ];
}

/** Columns with a name of their own. */
function readableColumns(
  sample: RowSample,
  unread: Proposal['unread'],
  refused: ReadonlyMap<string, string> | undefined,
): NamedColumn[] {
  return sample.columns.flatMap((name, index) => {
    const first = sample.columns.indexOf(name);
    if (name.trim() === '' || first < index || refused?.has(name)) {
      const reason =
        refused?.get(name) ?? (name.trim() === '' ? 'it has no name' : 'an earlier column has the same name');
      unread.push({ column: name.trim() === '' ? `column ${index + 1}` : name, reason });
      return [];
    }
    const column = { ...countColumn(name, sample.rows, index), format: sample.formats?.get(name) };
    return [{ column, index, name: readName(name) }];
  });
}

/** What unambiguous columns reveal about the others. */
function fileHints(columns: readonly NamedColumn[], currency: string | null): Hints {
  let comma = 0;
  let point = 0;
  let dayFirst: boolean | null = null;
  const currencies = new Set<string>();
  for (const { column, name } of columns) {
    if (column.form !== 'text') continue;
    const nameCurrency = currencyInName(name);
    if (nameCurrency !== null) currencies.add(nameCurrency);
    if (/(^|_)(currency|waehrung|devise)(_|$)/.test(name.snake)) {
      for (const text of column.counts.keys()) if (currencyOf(text) !== null) currencies.add(currencyOf(text)!);
    }
    const style = numberStyle(column.counts);
    if (style?.signs && !style.ambiguous) {
      if (style.decimal === ',') comma++;
      else point++;
    }
    if (style?.affix && currencyOf(style.affix) !== null) currencies.add(currencyOf(style.affix)!);
    const date = style === null ? dateStyle(column.counts, name.snake) : null;
    const pattern = [date?.pattern ?? []]
      .flat()
      .find((pattern) => !pattern.startsWith('YYYY') && !pattern.startsWith('unix'));
    if (pattern !== undefined && !date!.ambiguous) dayFirst ??= pattern.startsWith('DD');
  }
  return {
    decimal: comma + point === 0 ? null : comma >= point ? ',' : '.',
    dayFirst,
    currency: currency ?? (currencies.size === 1 ? [...currencies][0]! : null),
  };
}

interface Point {
  lat: NamedColumn;
  lng: NamedColumn;
  stem: string;
  /** Decimal sign of both columns; null: they have none. */
  decimal: '.' | ',' | null;
}

const LATITUDE = /^(.*?)[_.]?(lat|latitude|breitengrad|breite)([_.].*)?$/;
const LONGITUDE = ['lng', 'lon', 'long', 'longitude', 'laengengrad', 'laenge'];

/** Pairs of columns with a latitude and a longitude. */
function pointsOf(columns: readonly NamedColumn[]): Point[] {
  return columns.flatMap((lat) => {
    const parts = LATITUDE.exec(lat.name.snake);
    if (parts === null) return [];
    const [, before = '', word = ''] = parts;
    const rest = lat.name.snake.slice(before.length).split(word);
    const names = LONGITUDE.map((ending) => before + rest.join(ending));
    const lng = columns.find(({ name }) => names.includes(name.snake));
    // `47,100` is a number with thousands elsewhere, and cannot be one here.
    const signs = (['.', ','] as const).find(
      (sign) => lng !== undefined && isDegrees(lat.column, 90, sign) && isDegrees(lng.column, 180, sign),
    );
    if (lng === undefined || signs === undefined) return [];
    const decimal = lat.column.form === 'text' && signs === ',' ? signs : null;
    return [{ lat, lng, stem: before, decimal }];
  });
}

function isDegrees(column: SourceColumn, limit: number, sign: '.' | ','): boolean {
  if (column.form !== 'text' && column.form !== 'number') return false;
  const style = numberStyle(column.counts, sign, 0.9);
  if (style === null || style.affix !== null || style.thousands !== null) return false;
  return Math.max(-style.min, style.max) <= limit;
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}

/** A column's name in words, for the description. */
function words(column: string, { type, unit }: Pick<TypeProposal, 'type' | 'unit'>): string {
  const plain =
    column
      .replace(/\s*[([][^()[\]]{1,12}[)\]]\s*$/u, '')
      .replace(/[_.\s]+/g, ' ')
      .trim() || column.trim();
  const text = plain.charAt(0).toUpperCase() + plain.slice(1);
  if (unit === undefined || type === 'geo') return text;
  // `height_m` is the height.
  const last = text.slice(text.lastIndexOf(' ') + 1);
  const repeats = last !== text && (knownUnit(last) === unit || currencyOf(last) !== null);
  return `${repeats ? text.slice(0, text.lastIndexOf(' ')) : text}, in ${unit}`;
}

function attributeOf({ column, index, type }: NamedColumn & { type: TypeProposal }, name: string): AttributeProposal {
  const missing = new Set(type.reading.missing ?? []);
  const absent = [...missing].reduce((sum, text) => sum + (column.counts.get(text) ?? 0), 0);
  const distinct =
    type.type === 'enum' || type.type === 'strings' ? type.counts.size : column.counts.size - missing.size;
  let longest = 0;
  for (const text of column.counts.keys()) longest = Math.max(longest, text.length);
  const base = { name, columns: [column.name], index, missing, filled: column.filled - absent, distinct, longest };
  return { ...type, ...base, description: words(column.name, type) };
}

/** Members of an attribute that is read from no single column. */
const noColumn = () => ({ columns: [], index: null, missing: new Set<string>(), reading: {}, notes: [] });

function pointAttribute(
  { lat, lng, stem }: Point,
  attributes: readonly AttributeProposal[],
  sample: RowSample,
): AttributeProposal {
  const prefix = stem.replace(/[_.]+/g, '_').replace(/^_|_$/g, '');
  const named = /(^|_)(location|position|coordinates?|coords?|geo|point)$/.test(prefix);
  const base = prefix === '' ? 'location' : named ? prefix : `${prefix}_location`;
  const used = attributes.map(({ name }) => name);
  const free = ['location', 'position', 'coordinates'].find((candidate) => prefix === '' && !used.includes(candidate));
  const name = free ?? unusedName(base, used);
  const filled = sample.rows.filter((row) => cellText(row[lat.index]) !== '' && cellText(row[lng.index]) !== '').length;
  return {
    ...noColumn(),
    type: 'geo',
    name,
    columns: [lat.column.name, lng.column.name],
    counts: new Map(),
    filled,
    distinct: filled,
    longest: 0,
    unit: 'degrees',
    description: prefix === '' || named ? 'Position (WGS 84)' : `Position of ${prefix.replaceAll('_', ' ')} (WGS 84)`,
    reasons: ['latitude and longitude'],
  };
}

/** The first letter or digit of a text, as a group. */
function initialAttribute(name: string, of: string, attributes: readonly AttributeProposal[]): AttributeProposal {
  const source = attributes.find((attribute) => attribute.name === of)!;
  const counts = new Map<string, number>();
  for (const [text, count] of source.counts) {
    const letter = initialLetter(text);
    counts.set(letter, (counts.get(letter) ?? 0) + count);
  }
  return {
    ...noColumn(),
    type: 'string',
    name,
    counts,
    filled: sumOf(counts),
    distinct: counts.size,
    longest: 2,
    description: `First letter of ${of}`,
    reasons: ['generated, because no column groups the records'],
  };
}

/** Whether the source still lists a record: each row has `listed`, a record that a later file lacks gets `gone`. */
function listedAttribute(attributes: readonly AttributeProposal[], rows: number): AttributeProposal {
  const names = attributes.map(({ name }) => name);
  return {
    ...noColumn(),
    type: 'enum',
    values: ['listed', 'gone'],
    name: names.includes('status') ? unusedName('listing', names) : 'status',
    counts: new Map([['listed', rows]]),
    filled: rows,
    distinct: 1,
    longest: 6,
    description: 'Whether the source still lists the record',
    reasons: ['generated: a record that a later file lacks becomes gone'],
  };
}

/** The function that the pack has for it too: upper case, `#` for a text without letters and digits. */
function initialLetter(text: string): string {
  return /[\p{L}\p{N}]/u.exec(text)?.[0].toUpperCase() ?? '#';
}
