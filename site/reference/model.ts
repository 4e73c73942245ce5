// Requests of the API reference, for the page and its script.
import type { SiteReference, SiteRequest } from '../../api/pages/site.ts';
import { type Language, snippet } from '../viewer/snippets.ts';

/** An operation, for requests. */
export interface ReferenceOperation {
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
  const operations = reference.operations.map((operation) => {
    const { name, method, path, access, price, condition, unit, previews, formats, requests } = operation;
    const text = !formats.includes('json');
    return [name, { method, path, access, price, condition, unit, previews, text, requests }];
  });
  return {
    base_url,
    dataset: reference.dataset ?? '',
    prices: Object.fromEntries(prices),
    operations: Object.fromEntries(operations),
  };
}

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
  { parameters, body }: SiteRequest,
  base_url: string,
): string {
  const { path, query } = requestAddress(operation, parameters);
  const keyed = operation.access !== 'free' && !operation.previews;
  const list = operation.path.endsWith('/entities') && operation.method === 'GET';
  const options = { method: operation.method, text: operation.text, list };
  return snippet(language, base_url + path, query, keyed, body === undefined ? options : { ...options, body });
}
