// Raw parameters of similar, compare, statistics and time series to typed input; 400 and 422 as contract section 4 has it.
import type { Attribute, AttributeType, Pack } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { validationError } from '../model/errors.ts';
import type { RawInput } from '../plan/plan.ts';
import { once } from './filters.ts';
import { type ParseOptions, parseFields } from './parse.ts';
import {
  attributeNamed,
  countedAttribute,
  invalid,
  parseIds,
  parseSelection,
  SELECTION,
  type Selection,
  single,
} from './parse-selection.ts';
import { Issues, integer, list, listValues, oneOf, text } from './parse-values.ts';

/** Documented bounds of analysis. */
export const ANALYSIS_BOUNDS = {
  /** Records of one comparison. */
  compare: 5,
  /** Records that `similar` answers. */
  similar: 100,
  /** Days that a time series looks back. */
  days: 366,
  /** Records that a time series may be of. */
  records: 5_000,
  /** Groups of one statistics answer, both levels together. */
  groups: 1_000,
  /** Points of one time series answer, all groups together. */
  points: 10_000,
} as const;

export interface SimilarInput extends Selection {
  limit: number;
  /** As asked, or the pack's own; null: any record. */
  differ_by: string | null;
  fields: string[] | null;
}

/** `names` holds also `attribute` and the keys. */
export interface StatsInput extends Selection {
  attribute: string;
  group_by: string[];
}

export interface TimeseriesInput extends Selection {
  attribute: string;
  group_by: string | null;
  days: number;
  step: 'day' | 'week';
}

/** `where` and `words` filter; `ids` are the records to set side by side, as they were written. */
export interface CompareInput extends Selection {
  ids: string[];
  columns: string[];
}

/** Attribute types with one value that two records can have in common. */
export const SINGLE: readonly AttributeType[] = [
  'string',
  'text',
  'url',
  'enum',
  'boolean',
  'integer',
  'number',
  'date',
];

/** What every one of these questions reads: the selection, and the rest with its 422 lines put together. */
function reader(raw: RawInput, pack: Pack, parameters: readonly string[], { path = [] }: ParseOptions) {
  const issues = new Issues();
  const selection = parseSelection(raw, pack, [...SELECTION, 'format', ...parameters, ...path], issues);
  /** The value of a parameter; undefined also when it is wrong, which `settle` then throws. */
  const read = <T>(name: string, parse: (value: string) => T): T | undefined =>
    issues.attempt(() => {
      const value = single(raw, name);
      return value === undefined ? undefined : parse(value);
    });
  const required = <T>(name: string, parse: (values: string[]) => T): T | undefined =>
    issues.attempt(() => {
      const given = raw[name];
      if (given === undefined) throw validationError(name, 'is required', 'missing');
      return parse([given].flat());
    });
  read('format', (value) => oneOf('format', value, ['json', 'md']));
  return { issues, selection, read, required };
}

const together = (...lists: readonly (readonly string[])[]) => [...new Set(lists.flat())];

/** Parses the input of similar: `limit` 1..100, `differ_by`, `fields` and any search filters. */
export function parseSimilar(raw: RawInput, pack: Pack, options: ParseOptions = {}): SimilarInput {
  const { issues, selection, read } = reader(raw, pack, ['limit', 'differ_by', 'fields'], options);
  const limit = read('limit', (value) => integer('limit', value, 1, ANALYSIS_BOUNDS.similar)) ?? 10;
  const given = raw['fields'];
  const picked = given === undefined ? null : issues.attempt(() => parseFields([given].flat(), pack));
  const differ_by = read('differ_by', (value) => {
    const attribute = attributeNamed(pack, 'differ_by', text('differ_by', value), ({ type }) => SINGLE.includes(type));
    if (SINGLE.includes(attribute.type)) return attribute.name;
    throw invalid(`differ_by: ${attribute.name} (${attribute.type}) is not an attribute with a single plain value.`);
  });
  issues.settle();
  const names = together(selection.names, picked?.names ?? [], differ_by === undefined ? [] : [differ_by]);
  return {
    ...selection,
    names,
    limit,
    differ_by: differ_by ?? pack.serving.similar_differ_by,
    fields: picked?.fields ?? null,
  };
}

/** The numeric attribute (integer, number or price) that `attribute` names. */
function numeric(pack: Pack, values: string[]): Attribute {
  const name = text('attribute', once('attribute', values));
  const attribute = attributeNamed(pack, 'attribute', name, ({ type }) => NUMERIC.includes(type));
  if (NUMERIC.includes(attribute.type)) return attribute;
  const can = pack.attributes.filter(({ type }) => NUMERIC.includes(type)).map((one) => one.name);
  throw invalid(`attribute: ${name} (${attribute.type}) is not numeric; choose one of ${can.join(', ')}.`);
}

/** `group_by`: attributes that facets can count by, at most `most`, each once. */
function keys(raw: RawInput, pack: Pack, most: number): string[] {
  const given = raw['group_by'];
  if (given === undefined) return [];
  const wanted = list('group_by', [given].flat());
  if (wanted.length !== [given].flat().flatMap(listValues).length)
    throw invalid('group_by: names the same attribute twice.');
  if (wanted.length > most)
    throw invalid(`group_by: takes ${most === 1 ? 'one attribute' : `at most ${most} attributes`} here.`);
  return wanted.map((name) => countedAttribute(pack, 'group_by', name).name);
}

/** Parses the input of statistics: `attribute`, `group_by` (`a` or `a,b`) and any search filters. */
export function parseStats(raw: RawInput, pack: Pack, options: ParseOptions = {}): StatsInput {
  const { issues, selection, required } = reader(raw, pack, ['attribute', 'group_by'], options);
  const attribute = required('attribute', (values) => numeric(pack, values).name);
  const group_by = issues.attempt(() => keys(raw, pack, 2));
  issues.settle();
  return {
    ...selection,
    names: together(selection.names, [attribute!], group_by!),
    attribute: attribute!,
    group_by: group_by!,
  };
}

/** Parses the input of a time series: `attribute`, `days` 1..366, `step`, one `group_by` and any search filters. */
export function parseTimeseries(raw: RawInput, pack: Pack, options: ParseOptions = {}): TimeseriesInput {
  const { issues, selection, read, required } = reader(raw, pack, ['attribute', 'group_by', 'days', 'step'], options);
  const attribute = required('attribute', (values) => numeric(pack, values).name);
  const days = read('days', (value) => integer('days', value, 1, ANALYSIS_BOUNDS.days)) ?? 90;
  const step = read('step', (value) => oneOf('step', value, ['day', 'week'] as const)) ?? 'day';
  const group_by = issues.attempt(() => keys(raw, pack, 1));
  issues.settle();
  return {
    ...selection,
    names: together(selection.names, [attribute!], group_by!),
    attribute: attribute!,
    group_by: group_by?.[0] ?? null,
    days,
    step,
  };
}

/** Parses the input of a comparison: `ids` (up to 5), `attribute` (one of the pack's columns) and any search filters. */
export function parseCompare(raw: RawInput, pack: Pack, options: ParseOptions = {}): CompareInput {
  const { ids: given, ...rest } = raw;
  const { issues, selection, read } = reader(rest, pack, ['attribute'], options);
  const ids = issues.attempt(() => {
    if (given === undefined) throw validationError('ids', 'is required', 'missing');
    return parseIds([given].flat(), ANALYSIS_BOUNDS.compare);
  });
  const compared = ({ name }: Attribute) => pack.compare.includes(name);
  const attribute = read('attribute', (value) => {
    const { name } = attributeNamed(pack, 'attribute', text('attribute', value), compared);
    if (pack.compare.includes(name)) return name;
    throw invalid(`attribute: ${name} is not compared; choose one of ${pack.compare.join(', ')}.`);
  });
  issues.settle();
  return {
    ...selection,
    names: together(selection.names, attribute === undefined ? [] : [attribute]),
    ids: ids!,
    columns: attribute === undefined ? pack.compare : [attribute],
  };
}
