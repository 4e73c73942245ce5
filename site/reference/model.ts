// Requests of the API reference, for the page and its script.
import type { SiteOperation, SiteReference, SiteRequest } from '../../api/pages/site.ts';
import { type Language, type OperationCall, snippet } from '../lib/snippets.ts';

/** An operation, for requests. */
export interface ReferenceOperation {
  name: string;
  method: string;
  path: string;
  access: string;
  price: string | null;
  condition: string | null;
  /** Whether the price is of a call, or of each of `ids`. */
  unit: 'call' | 'id' | 'attribute';
  previews: boolean;
  /** The answer is a text, not JSON. */
  text: boolean;
  /** Whether MCP has it as a tool. */
  tool: boolean;
  /** Types of the parameters in the requests; other parameters there are filters. */
  types: Record<string, string>;
  requests: Record<string, SiteRequest>;
}

/** What the script of the reference knows. */
export interface ReferenceModel {
  base_url: string;
  /** Dataset of the HTML. */
  dataset: string;
  /** EUR by name of the price, by dataset. */
  prices: Record<string, Record<string, number>>;
  operations: Record<string, ReferenceOperation>;
}

export const SLUG = '{slug}';

/** The data of the script. */
export function modelOfReference(
  reference: SiteReference,
  base_url: string,
  datasets: readonly { id: string; prices: readonly { operation: string; eur: number }[] }[],
): ReferenceModel {
  const prices = datasets.map(({ id, prices: list }) => [
    id,
    Object.fromEntries(list.map(({ operation, eur }) => [operation, eur])),
  ]);
  const operations = reference.operations.map((operation) => [operation.name, operationOf(operation)]);
  return {
    base_url,
    dataset: reference.dataset ?? '',
    prices: Object.fromEntries(prices),
    operations: Object.fromEntries(operations),
  };
}

/** An operation with the types of the parameters in its requests. */
function operationOf(operation: SiteOperation): ReferenceOperation {
  const { name, method, path, access, price, condition, unit, previews, formats, tool, requests } = operation;
  const text = !formats.includes('json');
  const names = new Set(Object.values(requests).flatMap(({ parameters }) => Object.keys(parameters)));
  const types = typesOf(operation, (parameter) => names.has(parameter));
  return { name, method, path, access, price, condition, unit, previews, text, tool, types, requests };
}

/** Types of the parameters of an operation by name, headers excepted. */
const typesOf = ({ parameters }: SiteOperation, isNeeded: (name: string) => boolean): Record<string, string> =>
  Object.fromEntries(
    parameters.flatMap(({ name, type, in: place }) => (place !== 'header' && isNeeded(name) ? [[name, type]] : [])),
  );

/** A request with records in place of the placeholders, in order. */
export function fillRequest({ parameters, body }: SiteRequest, dataset: string, slugs: readonly string[]): SiteRequest {
  let next = 0;
  const fill = (text: string) =>
    text.replaceAll('{ds}', dataset).replaceAll(SLUG, () => slugs[next++ % slugs.length] ?? SLUG);
  const entries = Object.entries(parameters).map(([name, value]) => [name, fill(value)]);
  return {
    parameters: Object.fromEntries(entries),
    ...(body === undefined ? {} : { body: JSON.parse(fill(JSON.stringify(body))) as Record<string, unknown> }),
  };
}

/** Path and query of a request. */
export function requestAddress(
  { path }: Pick<ReferenceOperation, 'path'>,
  parameters: Readonly<Record<string, string>>,
): { path: string; query: URLSearchParams } {
  const inPath = (name: string) => path.includes(`{${name}}`);
  const filled = path.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = parameters[name] ?? '';
    return value === '' || value === SLUG ? whole : encodeURIComponent(value);
  });
  const query = Object.entries(parameters).filter(([name, value]) => !inPath(name) && value !== '');
  return { path: filled, query: new URLSearchParams(query) };
}

/** A program that sends the request. */
export function programOf(
  language: Language,
  operation: ReferenceOperation,
  request: SiteRequest,
  base_url: string,
): string {
  const keyed = operation.access !== 'free' && !operation.previews;
  return snippet(language, callOfRequest(operation, request, base_url, keyed));
}

/** The call of an operation with the values of a request. */
export function callOfRequest(
  operation: Pick<ReferenceOperation, 'name' | 'method' | 'path' | 'tool' | 'types'>,
  { parameters, body }: SiteRequest,
  base_url: string,
  keyed: boolean,
): OperationCall {
  const { name, method, tool, types } = operation;
  const { path, query } = requestAddress(operation, parameters);
  const values = Object.entries(parameters).filter(([parameter, value]) => parameter !== 'format' && value !== '');
  const input: Record<string, unknown> = {};
  const filters: Record<string, unknown> = {};
  for (const [parameter, value] of values) {
    const type = parameter === 'ds' ? 'string' : types[parameter];
    if (type === undefined) filters[parameter] = value;
    else input[parameter === 'ds' ? 'dataset' : parameter] = typedValue(value, type);
  }
  const { format } = parameters;
  return {
    ...{ base_url, operation: name, method, path, query, filters, keyed, tool },
    input: { ...input, ...body },
    ...(body === undefined ? {} : { body }),
    ...(format === undefined || format === 'json' ? {} : { format }),
  };
}

/** A value of a query in its JSON type. */
function typedValue(text: string, type: string): unknown {
  if (type === 'boolean') return text === 'true';
  return (type === 'integer' || type === 'number') && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Options of curl without a meaning for the call. */
const OUTPUT_OPTIONS = new Set(['-s', '-sS', '-i', '-G', '--get']);

/**
 * The call of a `curl` command of one operation; null for any other command and for one with headers besides
 * `Authorization` and `Content-Type`.
 */
export function callOfCommand(
  command: string,
  operations: readonly SiteOperation[],
  base_url: string,
): OperationCall | null {
  const [program, ...words] = wordsOfCommand(command.replaceAll('\\\n', ' '));
  if (program !== 'curl' || /[\n|>]/.test(command.trim().replaceAll('\\\n', ' '))) return null;
  const isQuery = words.includes('-G') || words.includes('--get');
  let method = isQuery ? 'GET' : undefined;
  let keyed = false;
  let url: URL | undefined;
  let body: Record<string, unknown> | undefined;
  const fields: [string, string][] = [];
  while (words.length > 0) {
    const word = words.shift() ?? '';
    if (OUTPUT_OPTIONS.has(word)) continue;
    if (!word.startsWith('-')) {
      if (url !== undefined || !word.startsWith(`${base_url}/`)) return null;
      url = new URL(word);
      continue;
    }
    const value = words.shift() ?? '';
    const at = value.indexOf('=');
    if (word === '-X') method = value;
    else if (word === '-H' && value.startsWith('Authorization: ')) keyed = true;
    else if (isQuery && (word === '-d' || word === '--data-urlencode'))
      fields.push([value.slice(0, at), value.slice(at + 1)]);
    else if ((word === '-d' || word === '--json') && value.startsWith('{'))
      body = JSON.parse(value) as Record<string, unknown>;
    else if (word !== '-H' || !value.startsWith('Content-Type: ')) return null;
  }
  if (url === undefined) return null;
  method ??= body === undefined ? 'GET' : 'POST';
  const path = decodeURIComponent(url.pathname).slice(new URL(base_url).pathname.replace(/\/$/, '').length);
  const match = operationAt(operations, method, path);
  if (match === null) return null;
  const { operation, values } = match;
  const isMarkdown = path.endsWith('.md') && !operation.path.endsWith('.md');
  const parameters = {
    ...values,
    ...Object.fromEntries([...url.searchParams, ...fields]),
    ...(isMarkdown ? { format: 'md' } : {}),
  };
  const types = typesOf(operation, () => true);
  return callOfRequest(
    { ...operation, types },
    { parameters, ...(body === undefined ? {} : { body }) },
    base_url,
    keyed,
  );
}

/** The operation with a method and path, and the values of its path; a fixed segment goes before a parameter. */
function operationAt(operations: readonly SiteOperation[], method: string, path: string) {
  const matches = operations.flatMap((operation) => {
    const pattern = operation.path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^/]+?)');
    const groups = new RegExp(`^${pattern}(\\.md)?$`).exec(path);
    return operation.method === method && groups !== null ? [{ operation, values: { ...groups.groups } }] : [];
  });
  const count = ({ values }: (typeof matches)[number]) => Object.keys(values).length;
  return matches.toSorted((a, b) => count(a) - count(b))[0] ?? null;
}

/** The words of a shell command with simple quotes. */
const wordsOfCommand = (command: string): string[] =>
  [...command.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
