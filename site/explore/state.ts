// The state of the explorer is the query of its URL, which is the query of the API: the same names and
// values.
import { FREE_A_DAY, type Model, PAGE } from './model.ts';

const OWN = ['q', 'near', 'bbox', 'min_quality', 'updated_since', 'sort', 'fields', 'limit', 'cursor'] as const;

/** The known parameters of a URL in a fixed order, without empty values; others are left out. */
export function readState(search: string, { filters }: Pick<Model, 'filters'>): URLSearchParams {
  const given = new URLSearchParams(search);
  const state = new URLSearchParams();
  for (const name of [...filters.map((filter) => filter.name), ...OWN]) {
    const value = given.get(name)?.trim() ?? '';
    if (value !== '') state.set(name, value);
  }
  return state;
}

/** The state with one parameter set, or removed by an empty value. A new filter resets the cursor. */
export function withValue(state: URLSearchParams, name: string, value: string): URLSearchParams {
  const next = new URLSearchParams(state);
  if (value === '') next.delete(name);
  else next.set(name, value);
  if (name !== 'cursor') next.delete('cursor');
  return next;
}

/** Values of a list parameter; a comma inside a value is written `\,`. */
export function listOf(value: string): string[] {
  return (value.match(/(?:\\.|[^,\\])+/g) ?? []).map((each) => each.replace(/\\(.)/g, '$1').trim()).filter(Boolean);
}

/** Joins a list into the value of a parameter. */
export function listText(values: readonly string[]): string {
  return values.map((value) => value.replace(/[\\,]/g, '\\$&')).join(',');
}

/** The parameters that choose records, without sort, fields, limit and cursor. */
export function selectionOf(state: URLSearchParams): URLSearchParams {
  const chosen = new URLSearchParams(state);
  for (const name of ['sort', 'fields', 'limit', 'cursor']) chosen.delete(name);
  return chosen;
}

/** The columns to show: those in `fields`, else the distinguishing ones that the caller may see. */
export function columnsOf(state: URLSearchParams, model: Model, keyed: boolean): string[] {
  const fields = listOf(state.get('fields') ?? '');
  if (fields.length > 0) return fields;
  const open = (name: string) => keyed || model.attributes.some((each) => each.name === name && each.public);
  return model.columns.filter(open).slice(0, 5);
}

/** Attributes of the state that are not public, which need a key. */
function paidNames(state: URLSearchParams, model: Model): string[] {
  const paid = new Set(model.attributes.filter((each) => !each.public).map(({ name }) => name));
  const named = [
    ...model.filters.filter(({ name }) => state.has(name)).map(({ attribute }) => attribute),
    ...listOf(state.get('fields') ?? ''),
    (state.get('sort') ?? '').replace(/^-/, ''),
  ];
  return [...new Set(named.filter((name) => paid.has(name)))];
}

/** Whether facets cost a search: there is a filter, and it or `by` uses an attribute that is not public. */
export function facetsArePaid(question: URLSearchParams, model: Model): boolean {
  const by = question.get('by');
  const hidden = model.attributes.some((each) => each.name === by && !each.public);
  const filtered = [...question.keys()].some((name) => name !== 'by' && name !== 'limit');
  return paidNames(question, model).length > 0 || (hidden && filtered);
}

/** The API call of the state. */
interface Call {
  parameters: URLSearchParams;
  /** Attributes that need a key; absent: none, or a key is set. */
  needs_key?: string[];
  /** The price as a sentence. */
  price: string;
}

const euro = (eur: number) => `€${eur.toFixed(6).replace(/(\.\d\d\d*?)0+$/, '$1')}`;

/** The parameters of the API call, and its price for this caller. */
export function callOf(state: URLSearchParams, model: Model, keyed: boolean): Call {
  const parameters = new URLSearchParams(state);
  const shown = columnsOf(state, model, keyed);
  const fields = model.geo !== null && !shown.includes(model.geo) ? [...shown, model.geo] : shown;
  if (fields.length > 0) parameters.set('fields', listText(fields));
  // Visitors expect well-known records first; the API's default order is quality.
  if (!parameters.has('sort') && model.prominence !== null) parameters.set('sort', `-${model.prominence}`);
  if (!parameters.has('limit')) parameters.set('limit', String(keyed ? PAGE.keyed : PAGE.free));
  if (keyed) return { parameters, price: `${euro(model.price)} for this call, whatever the number of records.` };
  const needs_key = paidNames(state, model);
  if (needs_key.length > 0) {
    return {
      parameters,
      needs_key,
      price: `Needs a key: ${needs_key.join(', ')} is not public. ${euro(model.price)} with one.`,
    };
  }
  return {
    parameters,
    price: `Free: ${parameters.get('limit')} of the ${FREE_A_DAY} free records a day. ${euro(model.price)} with a key.`,
  };
}
