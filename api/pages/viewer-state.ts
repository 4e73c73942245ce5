// The state of the viewer is the query of its URL: the parameters of the API by the same names, and `page`
// and `sources` of its own.
import { escapeListValue, splitList } from '../../data/input/parse-values.ts';
import { attributeLabel } from '../../packs/define/labels.ts';
import { nameOfCode, SORTED } from './viewer-cells.ts';
import { type Model, type ModelAttribute, type ModelFilter, PAGE_ROWS } from './viewer-model.ts';

/** Parameters of the API that select records, besides the filters of the dataset. */
const SELECTING = ['q', 'near', 'bbox', 'ids', 'min_quality', 'updated_since'];
/** Parameters that change the presentation only; a change of these keeps the page. */
const PRESENTING = ['sort', 'fields', 'page', 'sources', 'map'];

/** The known parameters of a URL in a fixed order, without empty values. */
export function readState(search: string, { filters }: Pick<Model, 'filters'>): URLSearchParams {
  const query = new URLSearchParams(search);
  const state = new URLSearchParams();
  for (const name of [...SELECTING, ...filters.map((filter) => filter.name), ...PRESENTING]) {
    // A repeated parameter is a list, as in the API.
    const value = query
      .getAll(name)
      .map((text) => text.trim())
      .filter(Boolean)
      .join();
    if (value !== '') state.set(name, value);
  }
  return state;
}

/** Parameters of a URL that no dataset view has. */
function unknownNames(search: string, { filters }: Pick<Model, 'filters'>): string[] {
  const accepted = [...SELECTING, ...filters.map(({ name }) => name), ...PRESENTING, 'limit', 'cursor'];
  const names = new Set(new URLSearchParams(search).keys());
  return [...names].filter((name) => !accepted.includes(name) && !name.startsWith('utm_'));
}

/** The state with one parameter set, or removed by an empty value. Another selection or sort is on page 1. */
export function withValue(state: URLSearchParams, name: string, value: string): URLSearchParams {
  const next = new URLSearchParams(state);
  if (value === '') next.delete(name);
  else next.set(name, value);
  if (!['fields', 'page', 'sources', 'map'].includes(name)) next.delete('page');
  return next;
}

/** The parameters that select records. */
export function selectionOf(state: URLSearchParams): URLSearchParams {
  const selection = new URLSearchParams(state);
  for (const name of PRESENTING) selection.delete(name);
  return selection;
}

/** Values of a list parameter; a comma inside a value is written `\,`. */
export const listOf = splitList;

/** Joins a list into the value of a parameter. */
export const listText = (values: readonly string[]): string => values.map(escapeListValue).join(',');

/** The columns of a view: those in `fields` that exist, else the default ones. */
export function columnsOf(
  state: URLSearchParams,
  { attributes, columns }: Pick<Model, 'attributes' | 'columns'>,
): string[] {
  const named = listOf(state.get('fields') ?? '').filter((name) =>
    attributes.some((attribute) => attribute.name === name),
  );
  return named.length > 0 ? [...new Set(named)] : columns;
}

/** Keys of sorting besides the attributes. */
const SORT_KEYS = ['quality', 'updated'];

/** The order of a view with `q` and without another sort. */
const RELEVANCE = 'relevance';

/** The sort of a view; the API's `distance` is no order of the whole table. */
export function sortOf(state: URLSearchParams, { sort, attributes }: Pick<Model, 'sort' | 'attributes'>): string {
  const usual = state.has('q') ? RELEVANCE : sort;
  const requested = state.get('sort') ?? usual;
  const key = requested.replace(/^-/, '');
  const sorts = ({ name, type }: ModelAttribute) => name === key && SORTED.includes(type);
  return SORT_KEYS.includes(key) || attributes.some(sorts) ? requested : usual;
}

/** The page of a view, from 1. */
export function pageOf(state: URLSearchParams): number {
  const page = Number(state.get('page'));
  return Number.isInteger(page) && page > 0 ? page : 1;
}

/** Attributes that a selection or sort names and that are not public. */
export function paidNames(state: URLSearchParams, model: Pick<Model, 'attributes' | 'filters' | 'sort'>): string[] {
  const paid = new Set(model.attributes.filter((attribute) => !attribute.public).map(({ name }) => name));
  const filtered = model.filters.filter(({ name }) => state.has(name)).map(({ attribute }) => attribute);
  const sorted = sortOf(state, model).replace(/^-/, '');
  return [...new Set([...filtered, sorted])].filter((name) => paid.has(name));
}

/** The parameters of the API call that returns the rows of a view. */
export function callOf(state: URLSearchParams, model: Model): URLSearchParams {
  const parameters = selectionOf(state);
  parameters.set('sort', sortOf(state, model));
  parameters.set('fields', listText(columnsOf(state, model)));
  parameters.set('limit', String(PAGE_ROWS));
  return parameters;
}

/** What an address can name. */
export type AddressView = Pick<Model, 'attributes' | 'filters' | 'columns' | 'sort'>;

/** What is wrong with an address. */
export interface AddressProblem {
  text: string;
  /** No row can be that of the address. */
  empty: boolean;
}

/** The wrong parameters of an address, in sentences; wrong values of filters are found by their parser. */
export function addressProblem(search: string, model: AddressView): AddressProblem | null {
  const state = readState(search, model);
  const sentences: string[] = [];
  const unknown = unknownNames(search, model);
  if (unknown.length > 0) sentences.push(`Not a filter of this dataset: ${unknown.join(', ')}.`);
  const [requested, sort] = [state.get('sort') ?? '', sortOf(state, model)];
  if (requested !== '' && requested !== sort)
    sentences.push(`The table cannot be sorted by ${requested}; it is sorted by ${sort}.`);
  const columns = listOf(state.get('fields') ?? '');
  const absent = columns.filter((name) => !model.attributes.some((attribute) => attribute.name === name));
  if (absent.length > 0) sentences.push(`Not a column of this dataset: ${absent.join(', ')}.`);
  const page = state.get('page') ?? '1';
  if (page !== String(pageOf(state))) sentences.push(`page must be a number from 1 (got "${page.slice(0, 40)}").`);
  return sentences.length === 0 ? null : { text: sentences.join(' '), empty: unknown.length > 0 };
}

/** The problem of a page after the last one of a view; empty without one. */
export function pageProblem(state: URLSearchParams, matched: number): string {
  const [page, last] = [pageOf(state), Math.max(1, Math.ceil(matched / PAGE_ROWS))];
  return page <= last ? '' : `There is no page ${page}; the last page is ${last}.`;
}

/** The part of a state that decides which rows and columns are shown. */
export function rowsKey(state: URLSearchParams): string {
  const shown = new URLSearchParams(state);
  shown.delete('map');
  if (shown.get('page') === '1') shown.delete('page');
  return shown.toString();
}

/** Operators in words. */
export const OPERATOR_WORDS: Record<ModelFilter['operator'], string> = {
  any: 'is any of',
  not: 'is none of',
  like: 'contains',
  min: 'at least',
  max: 'at most',
  has: 'has a value',
};

/** Longest value in the text of a filter. */
const SHOWN = 60;

/** A filter in words: `elevation at least 400 ft`, `country is CH Switzerland`. */
export function filterText(
  name: string,
  text: string,
  { filters, attributes }: Pick<Model, 'filters' | 'attributes'>,
): string {
  const value = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  const filter = filters.find((candidate) => candidate.name === name);
  if (filter === undefined)
    return { q: `search: ${value}`, ids: `${text.split(',').length} selected rows` }[name] ?? `${name}: ${value}`;
  const { attribute, operator } = filter;
  const described = attributes.find((candidate) => candidate.name === attribute);
  const label = attributeLabel(described ?? { name: attribute });
  if (operator === 'has') return `${label} ${value === 'true' ? 'has a value' : 'has no value'}`;
  const codeName = described === undefined ? '' : nameOfCode(text.toUpperCase(), described);
  if (codeName !== '') return `${label} ${operator === 'not' ? 'is not' : 'is'} ${text.toUpperCase()} ${codeName}`;
  const unit = described?.unit && ['min', 'max'].includes(operator) ? ` ${described.unit}` : '';
  return `${label} ${operator === 'any' ? 'is' : operator === 'not' ? 'is not' : OPERATOR_WORDS[operator]} ${value}${unit}`;
}
