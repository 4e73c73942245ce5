// Converts named arguments of tools and skills to the raw input that REST reads from path and query (contract
// section 8).

import { escapeListValue, printable } from '../../data/input/parse-values.ts';
import { DataError, type ValidationIssue } from '../../data/model/errors.ts';
import type { RawInput } from '../../data/plan/plan.ts';
import { toApiError } from './errors.ts';
import { acceptedParameters, type Operation } from './operation.ts';

/** A parsed call by name: the members that the gate needs. */
export interface NamedCall {
  /** Path and query parameters, as input of `parse`. */
  raw: RawInput;
  dataset: string | null;
  entity: string | null;
  /** Path and query of the same call over REST, parameters sorted by name. */
  address: string;
  /** Errors in the shape of the arguments; reported by the gate's validation step. */
  misread?: ReturnType<typeof toApiError> | undefined;
}

type Value = RawInput[string];

/** Arguments of every call by name, besides the parameters of its operation. */
const CHANNEL: ReadonlySet<string> = new Set(['dataset', 'filters', 'format']);

const NULL =
  'must not be null; leave it out for no condition, or use has_<attribute>: false for records without a value';

/** Parameters with members, which are sent on as JSON. */
const OBJECTS: ReadonlySet<string> = new Set(['parameters', 'arguments']);

/** Pattern of attribute names. */
const ATTRIBUTE = /^[a-z][\w.]*$/i;

/** Members that models write for conditions in objects. */
const LOGIC = /^\$?(?:and|or|not)$/i;

const logicAdvice = (name: string): string => {
  const op = name.replace('$', '');
  const example =
    op.toLowerCase() === 'not'
      ? "NOT (<attribute> = '<value>')"
      : `<attribute> = '<value>' ${op.toUpperCase()} <attribute> > 5`;
  return `is not an argument; write the expression as filter: "${example}", or as CQL2 JSON, {"op": "${op.toLowerCase()}", "args": […]}`;
};

/** Text of `near` for an object such as `{lat, lng, km}`. */
function nearAdvice(value: Record<string, unknown>): string {
  const memberOf = (names: RegExp, missing: string) =>
    Object.entries(value).find(([member, part]) => names.test(member) && scalar(part) !== undefined)?.[1] ?? missing;
  const [lat, lng] = [memberOf(/^lat/i, '<latitude>'), memberOf(/^(?:lng|lon)/i, '<longitude>')];
  const km = memberOf(/km|radius|distance/i, '<km>');
  return `must be a text, latitude, longitude and kilometres: near: "${printable(`${lat},${lng},${km}`)}"`;
}

/** Arguments by name, and their errors. */
class Arguments {
  readonly #parameters: readonly string[];

  constructor(operation: Operation) {
    this.#parameters = acceptedParameters(operation).names;
  }

  readonly values = new Map<string, Value>();
  readonly issues: ValidationIssue[] = [];

  refuse(name: string, msg: string, type: string): void {
    this.issues.push({ loc: ['query', name], msg, type });
  }

  /**
   * Reads one argument. `filters` is an object, or its JSON; its members are arguments themselves. A parameter that is
   * null is absent, as some hosts send it; a filter that is null would select more records than were meant.
   */
  read(name: string, value: unknown, condition = false): void {
    if (value === undefined) return;
    if (value === null) {
      if (condition || !(this.#parameters.includes(name) || CHANNEL.has(name))) this.refuse(name, NULL, 'value_type');
      return;
    }
    if (name === 'filters') {
      const filters = objectOf(value);
      if (filters === null)
        this.refuse(name, `must be an object, such as {"<attribute>": "<value>"}${got(value)}`, 'dict_type');
      for (const [filter, filterValue] of Object.entries(filters ?? {})) this.read(filter, filterValue, true);
      return;
    }
    if (!this.#parameters.includes(name) && LOGIC.test(name)) {
      this.refuse(name, logicAdvice(name), 'extra_forbidden');
      return;
    }
    if (name === 'near' && isObject(value)) {
      this.refuse(name, nearAdvice(value), 'value_type');
      return;
    }
    const isJson = name === 'filter' ? isObject(value) : OBJECTS.has(name) && typeof value === 'object';
    if (isJson && this.#parameters.includes(name)) {
      this.read(name, JSON.stringify(value));
      return;
    }
    // `{elevation: {min: 5}}`: no argument has members, so the error for an unknown name suggests the right
    // one.
    if (isObject(value) && Object.keys(value).length > 0 && ATTRIBUTE.test(name) && !this.#parameters.includes(name)) {
      for (const [member, filterValue] of Object.entries(value)) this.read(`${name}[${member}]`, filterValue, true);
      return;
    }
    const text = textOf(value);
    if (this.values.has(name)) this.refuse(name, 'must be sent once', 'multiple_values');
    else if (text === undefined) this.refuse(name, 'must be a text, a number, true, false, or a list', 'value_type');
    else this.values.set(name, text);
  }

  /** Removes and returns a path parameter. */
  take(name: string): string | undefined {
    const value = this.values.get(name);
    this.values.delete(name);
    if (value === undefined) this.refuse(name, 'is required', 'missing');
    else if (typeof value !== 'string' || value === '') this.refuse(name, 'must be one text', 'value_type');
    else return value;
    return undefined;
  }

  /** The 422 with every error, if there is any. */
  refusal(): DataError | undefined {
    const [first] = this.issues;
    if (first === undefined) return undefined;
    const more = this.issues.length > 1 ? ` (and ${this.issues.length - 1} more)` : '';
    return new DataError('validation_failed', `${first.loc[1]}: ${first.msg}${more}`, this.issues);
  }
}

/**
 * Reads the arguments of an operation. They have the names of the REST parameters, plus `dataset` and
 * `entity_id`. Lists may be arrays or comma-separated texts; numbers and booleans become query text; null
 * means absent, except for filters. `fixed` is the dataset of a tool that has one. Throws a 422 if a path parameter is missing.
 */
export function readArguments(operation: Operation, args: unknown, fixed: string | null = null): NamedCall {
  const read = new Arguments(operation);
  if (args !== undefined && args !== null && !isObject(args))
    read.refuse('arguments', 'must be an object', 'dict_type');
  else for (const [name, value] of Object.entries(args ?? {})) read.read(name, value);
  const other = fixed !== null && (read.values.get('dataset') ?? fixed) !== fixed;
  if (fixed !== null) read.values.set('dataset', fixed);
  const path = pathOf(operation, read);
  const refusal = read.refusal();
  if (path === null) throw refusal;
  const names = [...read.values.keys()];
  if (names.length > 1) names.sort();
  // A path parameter's own name among the query parameters would replace it.
  const stray = other ? 'dataset' : names.find((name) => Object.hasOwn(path, name));
  const misread =
    refusal ??
    (stray && new DataError('unknown_filter', `"${printable(stray)}" is not a parameter of this operation.`));
  return new ReadCall(operation, path, names, read.values, misread ? toApiError(misread) : undefined);
}

class ReadCall implements NamedCall {
  readonly raw: RawInput;
  readonly dataset: string | null;
  readonly entity: string | null;
  readonly misread: NamedCall['misread'];
  readonly #operation: Operation;
  readonly #path: Record<string, string>;
  readonly #names: readonly string[];

  constructor(
    operation: Operation,
    path: Record<string, string>,
    names: readonly string[],
    values: ReadonlyMap<string, Value>,
    misread: NamedCall['misread'],
  ) {
    const raw: Record<string, Value> = Object.create(null);
    for (const name of names) raw[name] = values.get(name)!;
    for (const name in path) raw[name] = path[name]!;
    this.raw = raw;
    this.dataset = path['ds'] ?? null;
    this.entity = path['entity_id'] ?? null;
    this.misread = misread;
    this.#operation = operation;
    this.#path = path;
    this.#names = names;
  }

  // Computed on demand: few calls need it.
  get address(): string {
    const query = this.#names.map((name): [string, Value] => [name, this.raw[name]!]);
    return addressOf(this.#operation, this.#path, query);
  }
}

/** Path parameters by their name in the route; null if one is missing. */
function pathOf({ rest }: Operation, read: Arguments): Record<string, string> | null {
  const path: Record<string, string> = {};
  let complete = true;
  for (const [, parameter = ''] of rest.path.matchAll(/:(\w+)/g)) {
    const value = read.take(parameter === 'ds' ? 'dataset' : parameter);
    if (value === undefined) complete = false;
    else path[parameter] = value;
  }
  return complete ? path : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object, or one in JSON text, as models often send it; null for anything else. */
function objectOf(value: unknown): Record<string, unknown> | null {
  if (typeof value !== 'string') return isObject(value) ? value : null;
  try {
    const parsed: unknown = JSON.parse(value);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

const got = (value: unknown): string => (typeof value === 'string' ? ` (got "${printable(value)}")` : '');

/** A value as query text; undefined if it has no such form. In a list, a comma is part of the item. */
function textOf(value: unknown): Value | undefined {
  const single = scalar(value);
  if (single !== undefined || !Array.isArray(value)) return single;
  const texts = value.map(scalar);
  if (texts.length === 0) return '';
  return texts.includes(undefined) ? undefined : texts.map((text) => escapeListValue(text as string));
}

function scalar(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function addressOf({ rest }: Operation, path: Record<string, string>, query: [string, Value][]): string {
  const filled = rest.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const parameters = new URLSearchParams(query.map(([name, value]) => [name, [value].flat().join(',')]));
  return parameters.size === 0 ? filled : `${filled}?${parameters}`;
}
