// Parameters of operations, each declared once: a row yields the schema for documents and tools, and the
// strict parser.
//
//   const timeseries = parameters(
//     { attribute: attributeParameter(…), days: integerParameter('Days to look back', { min: 1, max: 366, fallback: 90 }) },
//     ({ attribute, days }) => ({ attribute, days }),
//   );
//   timeseries.schema(pack);                   // a zod object: { attribute, days? }
//   timeseries.parse({ days: '0' }, pack);     // throws validation_failed, one line for each wrong parameter
import { z } from 'zod';
import type { Geo, Pack } from '../../packs/define/model.ts';
import { DataError, rewordError, validationError } from '../model/errors.ts';
import type { ProvenanceStatus } from '../model/record.ts';
import type { Predicate, RawInput } from '../plan/plan.ts';
import type { Cursors } from './cursor.ts';
import { parseFilters, respelledFilter } from './filters.ts';
import type { Format } from './formats.ts';
import { printable, ValidationIssues } from './parse-values.ts';
import { unknownParameter } from './suggester.ts';

/** How an operation is called: by URL, or as a tool or skill. */
export type CalledAs = 'address' | 'tool';

/** The request of a parameter. */
export interface ParseOptions {
  /** For moments that must not be in the future. */
  now?: Date;
  /** The negotiated format, if the channel has found one; else the `format` parameter decides. */
  format?: Format;
  /** Lists show the core attributes of the pack where `fields` is absent: Markdown for agents. */
  core?: boolean;
  /** The position of the record that `near` names. */
  point?: Geo | undefined;
  /** Reads the cursor of a search; without it every cursor is invalid. */
  cursors?: Cursors | undefined;
}

/** Where a value is parsed. */
export interface ParameterContext extends ParseOptions {
  /** Name of the parameter, for messages. */
  name: string;
  pack: Pack;
  /** The whole request, for a parameter whose reading depends on another one. */
  raw?: RawInput;
}

/** One parameter of an operation. */
export interface Parameter<T> {
  /**
   * Schema for documents, for a dataset or (null) for the register; null: documents describe it by
   * themselves.
   */
  schema: ((pack: Pack | null, as?: CalledAs) => z.ZodType) | null;
  /**
   * Parses the occurrences of the parameter. Throws `validation_failed` (422) or another DataError (400), as
   * contract section 4 defines.
   */
  parse: (values: string[], place: ParameterContext) => T;
  /** The value without the parameter; absent for a required one. */
  fallback?: T;
  /** The value without the parameter, where it depends on the call. */
  absent?: (place: Omit<ParameterContext, 'name'>) => T;
  /** Tools do not list it. */
  no_tool?: true;
  /** Part of the path, so that nobody may send it as a query parameter. */
  path?: true;
}

/** A table of parameters by name, in the order of documents. */
export type ParameterTable = Readonly<Record<string, Parameter<unknown>>>;

/** A parsed parameter that selects records, and no input by itself. */
export class Condition {
  /** Adds it to the selection of a request. */
  readonly addTo: (selection: Selection) => void;
  constructor(addTo: (selection: Selection) => void) {
    this.addTo = addTo;
  }
}

/** The selection of a request: the part that search, facets, similar and statistics share. */
export interface Selection {
  /** Conditions in canonical order, without the words of `q`. */
  where: Predicate[];
  /** Distinct words of `q`; each must begin a word of the record. */
  words: string[];
  /** `q`, folded; empty without it. */
  text: string;
  /** One of the words is enough. */
  any?: true;
  /** Some value of the record has one of these; empty: no condition. */
  statuses: ProvenanceStatus[];
  /** Attributes that filters and `near` name. */
  names: string[];
  /** Attributes that decide whether there is an answer; absent: those in `names`. */
  conditions?: string[];
}

/** The values of a table, without its conditions. */
export type TableValues<T extends ParameterTable> = {
  [K in keyof T as T[K] extends Parameter<Condition | null> ? never : K]: T[K] extends Parameter<infer V> ? V : never;
};

/** The parameters of an operation. */
export interface ParameterSet<I> {
  /** Zod schema of the input, for a dataset or (null) for the register. */
  schema: (pack: Pack | null, as?: CalledAs) => z.ZodObject;
  /**
   * Parses raw input. Throws `unknown_filter` (400) for a name it does not know, `validation_failed` (422)
   * with a line for each wrong value, and other codes of contract section 4.
   */
  parse: (raw: RawInput, pack?: Pack | null, options?: ParseOptions) => I;
}

/**
 * The parameters of an operation without filters. `input` computes its input from the values.
 *
 * @example
 * ```ts
 * const { parse } = parameters({ limit: integerParameter('Records', { min: 1, max: 100, fallback: 20 }) });
 * parse({ limit: '5' }); // { limit: 5 }
 * ```
 */
export function parameters<T extends ParameterTable, I = TableValues<T>>(
  table: T,
  input: (values: TableValues<T>, place: Omit<ParameterContext, 'name'>) => I = (values) => values as I,
): ParameterSet<I> {
  const { inCall, inPath } = namesOf(table);
  return {
    schema: (pack, as) => z.object(shapeOf(table, pack, as)),
    parse(raw, pack, options = {}) {
      onlyParameters(raw, inCall, inPath);
      // Rows of operations without a dataset do not read the pack.
      const place = { ...options, pack: pack as Pack, raw };
      const values = valuesOf(table, raw, place, new ValidationIssues(), false);
      return input(values as TableValues<T>, place);
    },
  };
}

/** The parameters of an operation that selects records: every other name is a filter of the dataset. */
export function selectingParameters<T extends ParameterTable, I>(
  table: T,
  input: (values: TableValues<T>, selection: Selection, place: Omit<ParameterContext, 'name'>) => I,
): ParameterSet<I> {
  const { inCall, inPath } = namesOf(table);
  return {
    schema: (pack, as) => z.looseObject(shapeOf(table, pack, as)),
    parse(raw, selected, options = {}) {
      // Only operations on a dataset select records.
      const pack = selected as Pack;
      const issues = new ValidationIssues();
      const filters = issues.attempt(() => parseFilters(raw, pack, inCall, inPath)) ?? { where: [], names: [] };
      const place = { ...options, pack, raw };
      const values = valuesOf(table, raw, place, issues, true);
      const { where, names } = filters;
      const selection: Selection = { words: [], text: '', statuses: [], where: [...where], names: [...names] };
      for (const name of Object.keys(values)) {
        const value = values[name];
        if (value instanceof Condition) value.addTo(selection);
      }
      if (raw['match'] !== undefined && selection.words.length === 0)
        throw new DataError('invalid_parameter', 'match: it needs q, whose words it applies to; add q.');
      return input(values as TableValues<T>, selection, place);
    },
  };
}

/** Names of a table: those that a client may send as parameters, and those of the path. */
function namesOf(table: ParameterTable): { inCall: readonly string[]; inPath: readonly string[] } {
  const names = Object.keys(table);
  return {
    inCall: names.filter((name) => !table[name]!.path),
    inPath: ['ds', ...names.filter((name) => table[name]!.path)],
  };
}

function shapeOf(table: ParameterTable, pack: Pack | null, as: CalledAs | undefined): Record<string, z.ZodType> {
  const shape: Record<string, z.ZodType> = {};
  for (const [name, { schema, no_tool }] of Object.entries(table))
    if (schema && !(no_tool && as === 'tool')) shape[name] = schema(pack, as);
  return shape;
}

/** Rejects every name that is not a parameter (contract section 4: nothing is ignored silently). */
function onlyParameters(raw: RawInput, inCall: readonly string[], inPath: readonly string[]): void {
  for (const name of Object.keys(raw))
    if (!inCall.includes(name) && !inPath.includes(name)) throw unknownParameter(name, inCall);
}

/**
 * Parses every row of a table, and then throws the errors of all of them together. `filters`: names of attributes are
 * filters.
 */
function valuesOf(
  table: ParameterTable,
  raw: RawInput,
  place: Omit<ParameterContext, 'name'>,
  issues: ValidationIssues,
  filters: boolean,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(table)) {
    const row = table[name]!;
    const value = raw[name];
    if (value === undefined && 'fallback' in row) values[name] = row.absent ? row.absent(place) : row.fallback;
    else values[name] = issues.attempt(() => parsed(row, value, { ...place, name }, filters));
  }
  issues.throwIfAny();
  return values;
}

/** Parses one parameter. If an attribute has its name, the error also has the filter by value of that attribute. */
function parsed(
  row: Parameter<unknown>,
  value: RawInput[string] | undefined,
  place: ParameterContext,
  filters: boolean,
): unknown {
  const { name, pack } = place;
  if (value === undefined) throw validationError(name, 'is required', 'missing');
  const texts = typeof value === 'string' ? [value] : [...value];
  try {
    return row.parse(texts, place);
  } catch (error) {
    const filter = filters && !row.path ? respelledFilter(name, pack) : undefined;
    if (!(error instanceof DataError) || error.code !== 'validation_failed' || filter === undefined) throw error;
    const example = `${filter}=${printable(texts[0] ?? '')}`;
    throw rewordError(error, (message) => `${message} (${example} filters by the attribute ${name})`);
  }
}
