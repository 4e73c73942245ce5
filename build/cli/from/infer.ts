// Proposes a pack from the columns and rows of a sample. Pure: the same rows give the same proposal.
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
  const columns = readableColumns(sample, unread);
  const hints = fileHints(columns, options.currency);
  const points = pointsOf(columns);
  const inPoint = new Set(points.flatMap(({ lat, lng }) => [lat, lng]));
  const typed = columns
    .filter((each) => !inPoint.has(each))
    .flatMap((each) => {
      const type = each.column.form === 'object' ? null : proposeType(each.column, each.name, hints);
      if (type !== null) return [{ ...each, type }];
      const reason = each.column.form === 'object' ? 'objects and lists of objects are not read' : 'it has no values';
      unread.push({ column: each.column.name, reason });
      return [];
    });
  const names = attributeNames(typed.map(({ name }) => name));
  const attributes = typed.map((each, i) => attributeOf(each, names[i]!));
  for (const point of points) attributes.push(pointAttribute(point, attributes, sample));
  if (attributes.length === 0) throw new ProposalError(`no column of ${sample.name} has a value`);
  const identity = chooseIdentity(sample, attributes, options.identity);
  return complete(sample, attributes, unread, identity, hints);
}

function complete(
  sample: RowSample,
  attributes: AttributeProposal[],
  unread: Proposal['unread'],
  identity: Proposal['identity'],
  hints: Hints,
): Proposal {
  const choices = chooseRoles(sample, attributes, identity.attributes);
  const notes = attributes.flatMap((each) => each.notes.map((note) => `${each.name}: ${note}`));
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
  if (choices.compare.length === 0) choices.compare.push(group);
  const listed = sample.whole ? listedAttribute(attributes, sample.rows.length) : null;
  if (listed !== null) {
    attributes.push(listed);
    choices.public.push(listed.name);
  }
  notes.push(...identityNotes(identity));
  const signs = attributes.some(({ type, reading }) => type === 'geo' || reading.decimal !== undefined);
  const decimal = signs ? (hints.decimal ?? '.') : null;
  return {
    attributes,
    unread,
    identity,
    choices: { ...choices, group },
    initialOf,
    listed: listed?.name ?? null,
    decimal,
    notes,
    rows: sample.rows.length,
  };
}

const rowCount = (count: number): string => `${count.toLocaleString('en-US')} row${count === 1 ? '' : 's'}`;

function identityNotes({ attributes, repeated, incomplete, exact }: Proposal['identity']): string[] {
  const names = attributes.join(' and ');
  return [
    ...(repeated > 0 ? [`${rowCount(repeated)} repeat the ${names} of an earlier row; the first row counts`] : []),
    ...(incomplete > 0 ? [`${rowCount(incomplete)} have no ${names} and are left out`] : []),
    ...(exact ? [`some values of ${names} differ only in letter case or accents; they stay different records`] : []),
  ];
}

/** Columns with a name of their own. */
function readableColumns(sample: RowSample, unread: Proposal['unread']): NamedColumn[] {
  return sample.columns.flatMap((name, index) => {
    const first = sample.columns.indexOf(name);
    if (name.trim() === '' || first < index) {
      const reason = name.trim() === '' ? 'it has no name' : 'an earlier column has the same name';
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
    const own = currencyInName(name);
    if (own !== null) currencies.add(own);
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
}

const LATITUDE = /^(.*?)[_.]?(lat|latitude|breitengrad|breite)([_.].*)?$/;
const LONGITUDE = ['lng', 'lon', 'long', 'longitude', 'laengengrad', 'laenge'];

/** Pairs of columns with a latitude and a longitude. */
function pointsOf(columns: readonly NamedColumn[]): Point[] {
  return columns.flatMap((lat) => {
    const parts = LATITUDE.exec(lat.name.snake);
    if (parts === null || !isDegrees(lat.column, 90)) return [];
    const [, before = '', word = ''] = parts;
    const rest = lat.name.snake.slice(before.length).split(word);
    const names = LONGITUDE.map((each) => before + rest.join(each));
    const lng = columns.find((each) => names.includes(each.name.snake) && isDegrees(each.column, 180));
    return lng === undefined ? [] : [{ lat, lng, stem: before }];
  });
}

function isDegrees(column: SourceColumn, limit: number): boolean {
  if (column.form !== 'text' && column.form !== 'number') return false;
  const style = numberStyle(column.counts, null, 0.9);
  return style !== null && style.affix === null && style.thousands === null && Math.max(-style.min, style.max) <= limit;
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
  const own = { name, columns: [column.name], index, missing, filled: column.filled - absent, distinct, longest };
  return { ...type, ...own, description: words(column.name, type) };
}

function pointAttribute(
  { lat, lng, stem }: Point,
  attributes: readonly AttributeProposal[],
  sample: RowSample,
): AttributeProposal {
  const prefix = stem.replace(/[_.]+/g, '_').replace(/^_|_$/g, '');
  const named = /(^|_)(location|position|coordinates?|coords?|geo|point)$/.test(prefix);
  const base = prefix === '' ? 'location' : named ? prefix : `${prefix}_location`;
  const used = attributes.map(({ name }) => name);
  const free = ['location', 'position', 'coordinates'].find((each) => prefix === '' && !used.includes(each));
  const name = free ?? unusedName(base, used);
  const filled = sample.rows.filter((row) => cellText(row[lat.index]) !== '' && cellText(row[lng.index]) !== '').length;
  return {
    type: 'geo',
    name,
    columns: [lat.column.name, lng.column.name],
    index: null,
    missing: new Set(),
    reading: {},
    counts: new Map(),
    filled,
    distinct: filled,
    longest: 0,
    unit: 'degrees',
    description: prefix === '' || named ? 'Position (WGS 84)' : `Position of ${prefix.replaceAll('_', ' ')} (WGS 84)`,
    reasons: ['latitude and longitude'],
    notes: [],
  };
}

/** The first letter or digit of a text, as a group. */
function initialAttribute(name: string, of: string, attributes: readonly AttributeProposal[]): AttributeProposal {
  const source = attributes.find((each) => each.name === of)!;
  const counts = new Map<string, number>();
  for (const [text, count] of source.counts) {
    const letter = initialLetter(text);
    counts.set(letter, (counts.get(letter) ?? 0) + count);
  }
  return {
    type: 'string',
    name,
    columns: [],
    index: null,
    missing: new Set(),
    reading: {},
    counts,
    filled: sumOf(counts),
    distinct: counts.size,
    longest: 2,
    description: `First letter of ${of}`,
    reasons: ['generated, because no column groups the records'],
    notes: [],
  };
}

/** Whether the source still lists a record: each row has `listed`, a record that a later file lacks gets `gone`. */
function listedAttribute(attributes: readonly AttributeProposal[], rows: number): AttributeProposal {
  const names = attributes.map(({ name }) => name);
  return {
    type: 'enum',
    values: ['listed', 'gone'],
    name: names.includes('status') ? unusedName('listing', names) : 'status',
    columns: [],
    index: null,
    missing: new Set(),
    reading: {},
    counts: new Map([['listed', rows]]),
    filled: rows,
    distinct: 1,
    longest: 6,
    description: 'Whether the source still lists the record',
    reasons: ['generated: a record that a later file lacks becomes gone'],
    notes: [],
  };
}

/** The function that the pack has for it too: upper case, `#` for a text without letters and digits. */
function initialLetter(text: string): string {
  return /[\p{L}\p{N}]/u.exec(text)?.[0].toUpperCase() ?? '#';
}
