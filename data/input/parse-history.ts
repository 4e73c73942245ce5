// Raw parameters of the questions about the past to typed input; 400 and 422 as contract section 4 has it.
import type { Pack } from '../../packs/define/model.ts';
import { validationError } from '../model/errors.ts';
import type { RawInput } from '../plan/plan.ts';
import { type BatchInput, type GetInput, onlyParameters, type ParseOptions, parseBatch, parseGet } from './parse.ts';
import { attributeNamed, single } from './parse-selection.ts';
import { Issues, integer, oneOf, shown, text, time } from './parse-values.ts';

/** Documented bounds of questions about the past. */
export const HISTORY_BOUNDS = {
  /** Facts of one record in one answer. */
  facts: 5_000,
  /** Days that the changelog looks back, and changes on a page of it. */
  days: 365,
  changelog: 500,
  /** Changes of the feed in one answer. */
  changes: 10_000,
} as const;

export const EXPORT_FORMATS = ['csv', 'jsonl', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** `as_of`: the moment to answer for, in milliseconds since 1970; null: now. */
export interface AsOf {
  as_of: number | null;
}

export interface FactsInput {
  attribute: string | null;
  /** Milliseconds since 1970. */
  since: number | null;
}

export interface ChangelogInput {
  days: number;
  limit: number;
  offset: number;
  attribute: string | null;
  /** Id or slug, as it was written. */
  entity: string | null;
  type: 'all' | 'changed' | 'added';
}

export interface ChangesInput {
  /** Microseconds since 1970; changes recorded later are answered. */
  since: number;
  limit: number;
}

/** Reads parameters one by one, and throws what was wrong with any of them together. */
function reader(raw: RawInput, allowed: readonly string[], path: readonly string[]) {
  onlyParameters(raw, [...allowed, 'format'], path);
  const issues = new Issues();
  const read = <T>(name: string, fallback: T, parse: (value: string) => T): T =>
    issues.attempt(() => {
      const value = single(raw, name);
      return value === undefined ? fallback : parse(value);
    }) ?? fallback;
  const format = () => void read('format', 'json', (value) => oneOf('format', value, ['json', 'md']));
  return { issues, read, format };
}

/** Nobody knows yet what will be: a moment after `now` is a 422. */
function past(name: string, raw: string, now: Date): number {
  const at = time(name, raw);
  if (at > now.getTime()) throw validationError(name, 'must not lie in the future', 'datetime_past', shown(raw));
  return at;
}

function asOf(raw: RawInput, now: Date, issues: Issues): number | null {
  const found = issues.attempt(() => {
    const value = single(raw, 'as_of');
    return value === undefined ? null : past('as_of', value, now);
  });
  return found ?? null;
}

type Dated = ParseOptions & { now: Date };

/** Parses the input of one record: `fields` and `as_of`. */
export function parseGetAsOf(raw: RawInput, pack: Pack, { now, ...options }: Dated): GetInput & AsOf {
  return withAsOf(raw, ['fields', 'as_of'], now, options, (rest) => parseGet(rest, pack, options));
}

/** Parses the input of batch: `ids`, `fields` and `as_of`. */
export function parseBatchAsOf(raw: RawInput, pack: Pack, { now, ...options }: Dated): BatchInput & AsOf {
  return withAsOf(raw, ['ids', 'fields', 'as_of'], now, options, (rest) => parseBatch(rest, pack, options));
}

function without({ ...rest }: RawInput, name: string): RawInput {
  delete (rest as Record<string, unknown>)[name];
  return rest;
}

function withAsOf<T>(
  raw: RawInput,
  allowed: readonly string[],
  now: Date,
  { path = [] }: ParseOptions,
  parse: (rest: RawInput) => T,
): T & AsOf {
  onlyParameters(raw, [...allowed, 'format'], path);
  const issues = new Issues();
  const rest = raw['as_of'] === undefined ? raw : without(raw, 'as_of');
  const as_of = asOf(raw, now, issues);
  const input = issues.attempt(() => parse(rest));
  issues.settle();
  return { ...input!, as_of };
}

/** Parses the input of facts: `attribute` and `since`. */
export function parseFactsOf(raw: RawInput, pack: Pack, { path = [] }: ParseOptions = {}): FactsInput {
  const { issues, read, format } = reader(raw, ['attribute', 'since'], path);
  format();
  const attribute = read(
    'attribute',
    null,
    (value) => attributeNamed(pack, 'attribute', text('attribute', value)).name,
  );
  const since = read<number | null>('since', null, (value) => time('since', value));
  issues.settle();
  return { attribute, since };
}

/** Parses the input of the changelog (specification section 4, "Dataset-level endpoints"). */
export function parseChangelog(raw: RawInput, pack: Pack, { path = [] }: ParseOptions = {}): ChangelogInput {
  const parameters = ['days', 'limit', 'offset', 'attribute', 'entity', 'type'];
  const { issues, read, format } = reader(raw, parameters, path);
  format();
  const input = {
    days: read('days', 30, (value) => integer('days', value, 1, HISTORY_BOUNDS.days)),
    limit: read('limit', 100, (value) => integer('limit', value, 1, HISTORY_BOUNDS.changelog)),
    offset: read('offset', 0, (value) => integer('offset', value, 0)),
    attribute: read('attribute', null, (value) => attributeNamed(pack, 'attribute', text('attribute', value)).name),
    entity: read<string | null>('entity', null, (value) => text('entity', value)),
    type: read<ChangelogInput['type']>('type', 'all', (value) => oneOf('type', value, ['all', 'changed', 'added'])),
  };
  issues.settle();
  return input;
}

/** Parses the input of the change feed. `since` is required and counts to the microsecond. */
export function parseChanges(raw: RawInput, { path = [] }: ParseOptions = {}): ChangesInput {
  const { issues, read, format } = reader(raw, ['since', 'limit'], path);
  format();
  const limit = read('limit', 1000, (value) => integer('limit', value, 1, HISTORY_BOUNDS.changes));
  const since = issues.attempt(() => {
    const value = single(raw, 'since');
    if (value === undefined) throw validationError('since', 'is required', 'missing');
    return microseconds('since', value);
  });
  issues.settle();
  return { since: since ?? 0, limit };
}

/**
 * A time in whole microseconds since 1970, finer digits cut off: as changes lie on whole microseconds, the changes after it are the same.
 * Times so far away that they cannot be counted exactly come as near as can be.
 */
function microseconds(name: string, raw: string): number {
  const milliseconds = Math.floor(time(name, raw));
  const [, digits = ''] = /\.(\d{1,9})/u.exec(raw) ?? [];
  const finer = Number(digits.padEnd(6, '0').slice(3, 6));
  const found = milliseconds * 1000 + finer;
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, found));
}

/** Parses the input of an export: which of the snapshot's files. */
export function parseExport(raw: RawInput, { path = [] }: ParseOptions = {}): { format: ExportFormat } {
  onlyParameters(raw, ['format'], path);
  const value = single(raw, 'format');
  return { format: value === undefined ? 'csv' : oneOf('format', value, EXPORT_FORMATS) };
}

/** Reads nothing but `format`, which may be one of these: for questions about one record without further parameters. */
export function parseFormat(raw: RawInput, formats: readonly string[], { path = [] }: ParseOptions = {}): void {
  onlyParameters(raw, ['format'], path);
  const value = single(raw, 'format');
  if (value !== undefined) oneOf('format', value, formats);
}
