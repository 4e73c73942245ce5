// Turns the rows of a declared source into observations: each cell becomes a value by the rule of its column.
import { basename } from 'node:path';
import { nearestName, quoteValue } from '../../packs/define/mistakes.ts';
import {
  type Attribute,
  DATED,
  type Identity,
  type Observed,
  type Pack,
  type Source,
  type Value,
} from '../../packs/define/model.ts';
import type { DeclaredSource, SourceRow } from '../../packs/define/sources.ts';
import { normalizeText } from '../../packs/define/text.ts';
import { repeatedName } from './csv-stream.ts';
import type { RawRow } from './reader.ts';
import { cellTime, type ParsedCell, type ParseRule, parseCell, timeCell } from './values.ts';

/** A cell that cannot be read as a value of its attribute. */
export interface RejectedCell {
  attribute: string;
  line: number;
  column: string;
  /** The cell as found. */
  text: string;
  /** Completes "expected …". */
  expected: string;
}

/** The declaration does not fit the source: a column that does not exist, a function that throws. */
export class DeclarationError extends Error {}

/** A source that declares its rows. */
export type DeclaringSource = Source & { from: DeclaredSource };

/** Whether a source declares its rows. */
export const declares = (source: Source): source is DeclaringSource => source.from !== null;

/** What the number of a row counts: lines of a text file, else rows. */
const placeOf = ({ kind }: DeclaredSource) => (kind === 'csv' || kind === 'jsonl' ? 'line' : 'row');

/** Reads one attribute of a row. */
interface Cell {
  attribute: Attribute;
  /** Name of the column or columns, for messages. */
  column: string;
  parse(row: SourceRow): ParsedCell;
  /** The cell as found, for messages. */
  raw(row: SourceRow): unknown;
}

/** Columns that the declaration names, and whether functions may read others. */
export interface DeclaredColumns {
  /** By name, the attributes or members that read it. */
  named: ReadonlyMap<string, string>;
  /** Whether a function reads the row, so that all columns are needed. */
  all: boolean;
}

/** The columns that a declaration names. */
export function declaredColumns({ from }: DeclaringSource): DeclaredColumns {
  const named = new Map<string, string>();
  let all = from.where !== undefined;
  for (const [name, declaration] of Object.entries(from.attributes)) {
    if (typeof declaration === 'function') all = true;
    else if (typeof declaration === 'string') named.set(declaration, name);
    else if ('constant' in declaration) continue;
    else if ('lat' in declaration) named.set(declaration.lat, name).set(declaration.lng, name);
    else named.set(declaration.column ?? name, name);
  }
  if (from.observed_at?.column !== undefined) named.set(from.observed_at.column, 'observed_at');
  for (const member of ['source_url', 'evidence'] as const)
    for (const column of placeholders(from[member])) named.set(column, member);
  return { named, all };
}

/** The column that an attribute is read from; undefined: a function of the row. */
export function columnOf({ from }: DeclaringSource, attribute: string): string | undefined {
  const declaration = from.attributes[attribute];
  if (declaration === undefined || typeof declaration === 'string') return declaration ?? attribute;
  if (typeof declaration === 'function') return undefined;
  if ('lat' in declaration) return `${declaration.lat}, ${declaration.lng}`;
  return 'constant' in declaration ? undefined : (declaration.column ?? attribute);
}

/** The columns named in a template: `{id}`. */
function placeholders(template: string | undefined): string[] {
  return [...(template ?? '').matchAll(/\{([^{}]+)\}/g)].map(([, column]) => column!);
}

/** Earlier times of rows are mistakes: in ISO 8601, they have no year of four digits. */
const EARLIEST = Date.parse('0001-01-01');

/** Where rejected cells go. */
export interface RowReport {
  reject(rejected: RejectedCell): void;
  /** A row without a usable time of observation; `count`: it represents so many. */
  brokenRow(broken: { line: number; text: string; expected: string }, count?: number): void;
  /** Rows that were parsed: the attribute of a cell has no value. */
  missing?(attribute: string): void;
  /** Begins a version with these columns. */
  columns?(columns: readonly string[]): void;
  /** Counts rows of the version: those that became an observation, that `where` drops, or that were broken. */
  rows?(kept: number, dropped: number, broken: number): void;
}

/** A version of a source while its rows are read. */
export interface ReadVersion {
  /** Name for messages and evidence. */
  name: string;
  columns: readonly string[];
  /** Milliseconds since 1970: rows with a later time are refused. */
  now: number;
}

/** A row without prototype: a column may be named `constructor` or `__proto__`. Faster than Object.create(null). */
const NamedCells = class {} as new () => Record<string, unknown>;
Object.setPrototypeOf(NamedCells.prototype, null);
delete NamedCells.prototype.constructor;

/** The row by the names of its columns. */
function rowObject({ cells }: RawRow, columns: readonly string[]): SourceRow {
  const row = new NamedCells();
  for (let i = 0; i < cells.length; i++) row[columns[i]!] = cells[i] ?? undefined;
  return row;
}

/** Whether a source keeps a row. Throws DeclarationError with the line when its filter throws. */
export function keepsRow(
  { id, from }: DeclaringSource,
  row: RawRow,
  { name, columns }: { name: string; columns: readonly string[] },
): boolean {
  if (from.where === undefined) return true;
  try {
    return from.where(rowObject(row, columns));
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error));
    const place = `${placeOf(from)} ${row.line} of ${name}`;
    throw new DeclarationError(`where of source ${id} throws at ${place}: ${message}`, { cause: error });
  }
}

/** Parses the rows of one version of a declared source. */
export class RowParser {
  readonly #from: DeclaredSource;
  readonly #source: DeclaringSource;
  readonly #identity: readonly string[];
  readonly #version: ReadVersion;
  readonly #report: RowReport;
  readonly #cells: Cell[];

  /** Throws DeclarationError when a declared column does not exist. */
  constructor(
    pack: Pick<Pack, 'attributes' | 'identity'>,
    source: DeclaringSource,
    version: ReadVersion,
    report: RowReport,
  ) {
    this.#source = source;
    this.#from = source.from;
    this.#identity = pack.identity.attributes;
    this.#version = version;
    this.#report = report;
    this.#cells = pack.attributes.flatMap((attribute) => this.#cell(attribute));
  }

  /** The row as an observation; null when it has no usable time of observation. */
  observation(raw: RawRow): Observed | null {
    const row = rowObject(raw, this.#version.columns);
    const { line } = raw;
    const observed_at = this.#time(row, line);
    if (observed_at === null) return null;
    const { source_url, evidence } = this.#from;
    const proof =
      evidence === undefined
        ? `${placeOf(this.#from)} ${line} of ${basename(this.#version.name)}`
        : filled(evidence, row, String);
    const values: Record<string, Value | undefined> = {};
    /** Evidence of days and times whose text is not their value. */
    const written: Record<string, string> = {};
    for (const cell of this.#cells) {
      const parsed = this.#parse(cell, row, line);
      const { name } = cell.attribute;
      if (parsed === null) {
        this.#report.missing?.(name);
        continue;
      }
      if ('value' in parsed) {
        values[name] = parsed.value as Value;
        const text = DATED.includes(cell.attribute.type) ? shown(cell.raw(row)).trim() : parsed.value;
        if (text !== parsed.value) written[name] = `${proof}: ${text}`;
      } else {
        const rejected = { attribute: name, line, column: cell.column, text: shown(cell.raw(row)) };
        this.#report.reject({ ...rejected, expected: parsed.expected });
      }
    }
    const identity = Object.fromEntries(this.#identity.map((name) => [name, values[name]])) as Identity;
    return {
      identity,
      values,
      source_url:
        source_url === undefined
          ? this.#source.url
          : filled(source_url, row, (text) => encodeURIComponent(normalizeText(text))),
      evidence: Object.keys(written).length === 0 ? proof : { '*': proof, ...written },
      line,
      ...(observed_at === undefined ? {} : { observed_at }),
    };
  }

  #parse(cell: Cell, row: SourceRow, line: number): ParsedCell {
    try {
      return cell.parse(row);
    } catch (error) {
      const { name } = cell.attribute;
      const { message } = error instanceof Error ? error : new Error(String(error));
      const thrown = `attributes.${name} of source ${this.#source.id} throws at line ${line} of ${this.#version.name}: `;
      throw new DeclarationError(thrown + message, { cause: error });
    }
  }

  /** Milliseconds of the row's own time; undefined: that of the version; null: the row has none. */
  #time(row: SourceRow, line: number): number | null | undefined {
    const { observed_at } = this.#from;
    if (observed_at?.column === undefined) return undefined;
    const raw = row[observed_at.column];
    const at =
      raw === undefined || raw === '' || raw === null
        ? Number.NaN
        : cellTime(raw, { ...observed_at, timezone: this.#from.timezone });
    if (at <= this.#version.now && at >= EARLIEST) return at;
    const format = [observed_at.date ?? 'ISO 8601'].flat().join(' or ');
    const expected = !(at >= EARLIEST) ? `a time, ${format}` : 'a time that is not in the future';
    this.#report.brokenRow({ line, text: `${observed_at.column}: ${shown(raw)}`, expected });
    return null;
  }

  #cell(attribute: Attribute): Cell[] {
    const { name } = attribute;
    const declaration = this.#from.attributes[name];
    if (typeof declaration === 'function') return [functionCell(attribute, declaration, this.#from.timezone)];
    if (declaration === undefined) {
      if (!mayLack(this.#from) && !this.#version.columns.includes(name)) return [];
      return [columnCell(attribute, name, this.#rule({}))];
    }
    if (typeof declaration === 'object' && 'constant' in declaration)
      return [functionCell(attribute, () => declaration.constant)];
    if (typeof declaration === 'object' && 'lat' in declaration)
      return [pointCell(attribute, declaration, this.#rule({}))];
    if (typeof declaration === 'string') return [columnCell(attribute, declaration, this.#rule({}))];
    return [columnCell(attribute, declaration.column ?? name, this.#rule(declaration))];
  }

  /** The rule of a column with what it takes from the source. */
  #rule(rule: Partial<ParseRuleInput>): ParseRule {
    const { decimal, thousands, date, missing, timezone } = this.#from;
    return {
      decimal: rule.decimal ?? decimal,
      thousands: rule.thousands ?? thousands,
      date: rule.date ?? date,
      timezone,
      multiply: rule.multiply,
      separator: rule.separator ?? ';',
      trim: rule.trim ?? true,
      truths: rule.truths ?? { true: ['true', 'yes', '1'], false: ['false', 'no', '0'] },
      missing: new Set([...missing, ...(rule.missing ?? [])]),
    };
  }
}

type ParseRuleInput = Omit<ParseRule, 'missing'> & { missing: readonly string[] };

const columnCell = (attribute: Attribute, column: string, rule: ParseRule): Cell => ({
  attribute,
  column,
  parse: (row) => parseCell(row[column], attribute, rule),
  raw: (row) => row[column],
});

const functionCell = (attribute: Attribute, read: (row: SourceRow) => unknown, timezone?: string): Cell => ({
  attribute,
  column: 'a function',
  parse(row) {
    const value = read(row);
    if (value === undefined || value === null) return null;
    return attribute.type === 'datetime' ? timeCell(value, attribute, { timezone }) : { value };
  },
  raw: read,
});

/** A point from two columns: both, or none. */
function pointCell(attribute: Attribute, columns: { lat: string; lng: string }, rule: ParseRule): Cell {
  const number: Attribute = { ...attribute, type: 'number' };
  return {
    attribute,
    column: `${columns.lat}, ${columns.lng}`,
    parse(row) {
      const lat = parseCell(row[columns.lat], number, rule);
      const lng = parseCell(row[columns.lng], number, rule);
      if (lat === null && lng === null) return null;
      if (lat === null || lng === null) return { expected: 'both coordinates of a point' };
      if ('expected' in lat) return lat;
      return 'expected' in lng ? lng : { value: { lat: lat.value, lng: lng.value } };
    },
    raw: (row) => `${shown(row[columns.lat])}, ${shown(row[columns.lng])}`,
  };
}

/** A template with `{column}` replaced by the cells of the row; a missing cell is the empty text. */
function filled(template: string, row: SourceRow, encode: (text: string) => string): string {
  return template.replace(/\{([^{}]+)\}/g, (_, column: string) => {
    const cell = row[column];
    return cell === undefined || cell === null ? '' : encode(String(cell));
  });
}

const shown = (raw: unknown): string =>
  raw === undefined || raw === null
    ? ''
    : typeof raw === 'string'
      ? raw
      : raw instanceof Uint8Array
        ? `${raw.length} bytes`
        : (JSON.stringify(raw) ?? String(raw));

/** `a` and `a.b` for the path `a.b.c`. */
const parentsOf = (path: string): string[] =>
  path
    .split('.')
    .slice(0, -1)
    .map((_, i, all) => all.slice(0, i + 1).join('.'));

/** Throws DeclarationError when a source with `columns: 'exact'` has columns that nothing reads. */
export function refuseUnread({ from }: DeclaringSource, name: string, unread: readonly string[]): void {
  if (from.columns !== 'exact' || unread.length === 0) return;
  throw new DeclarationError(`${name} has columns that nothing reads: ${unread.map(quoteValue).join(', ')}`);
}

/** Whether rows may lack members, so that a column that no row has is no mistake. */
const mayLack = (from: DeclaredSource) =>
  from.kind === 'json' || from.kind === 'jsonl' || (from.kind === 'http' && from.format !== 'csv');

/** Declared columns that a version lacks, where its rows may lack members. */
export function absentColumns(source: DeclaringSource, columns: readonly string[]): string[] {
  if (!mayLack(source.from)) return [];
  return [...declaredColumns(source).named.keys()].filter((column) => !columns.includes(column));
}

/** What to change in the declaration when the names of columns show a wrong delimiter or encoding. */
function formatHint(from: DeclaredSource, columns: readonly string[]): string {
  if ('encoding' in from && columns.some((column) => column.includes('\uFFFD')))
    return `; the file is not ${from.encoding}: set encoding, such as 'windows-1252', or save it as ${from.encoding}`;
  return columns.length === 1 && /[,;\t|]/.test(columns[0]!) ? '; is the delimiter right?' : '';
}

/** Throws DeclarationError when the header has the name of a column twice and only the first of them is read. */
function refuseRepeated(name: string, columns: readonly string[], isRead: (column: string) => boolean): void {
  columns.forEach((column, i) => {
    const suffix = repeatedName('', i + 1);
    const first = column.endsWith(suffix) ? columns.indexOf(column.slice(0, -suffix.length)) : -1;
    if (first < 0 || !isRead(columns[first]!) || isRead(column)) return;
    const places = `columns ${first + 1} and ${i + 1}`;
    throw new DeclarationError(
      `${name}: the header has two columns '${columns[first]}' (${places}); rename one, or read the second as '${column}'`,
    );
  });
}

/** The columns of a version that nothing reads; throws DeclarationError for a declared column that is missing. */
export function unreadColumns(
  pack: Pick<Pack, 'attributes'>,
  source: DeclaringSource,
  { name, columns }: { name: string; columns: readonly string[] },
): string[] {
  const { named, all } = declaredColumns(source);
  const missing = mayLack(source.from) ? [] : [...named].filter(([column]) => !columns.includes(column));
  if (missing.length > 0) {
    const problems = missing.map(([column, member]) => {
      const nearest = nearestName(column, columns);
      return `no column ${quoteValue(column)} for ${member}${nearest === undefined ? '' : ` (nearest ${quoteValue(nearest)})`}`;
    });
    const list = `its columns are ${columns.map(quoteValue).join(', ')}${formatHint(source.from, columns)}`;
    throw new DeclarationError(`${name} has ${problems.join(', ')}; ${list}`);
  }
  const declared = source.from.attributes;
  const implied = new Set(pack.attributes.map((attribute) => attribute.name).filter((key) => !(key in declared)));
  refuseRepeated(name, columns, (column) => named.has(column) || implied.has(column));
  if (all) return [];
  // `address` is read where `address.city` is.
  const parents = new Set([...named.keys(), ...implied].flatMap(parentsOf));
  return columns.filter(
    (column) => column !== '' && !named.has(column) && !implied.has(column) && !parents.has(column),
  );
}
