// The state of the explorer is the query of its address, and that is the query of the API: the same names, the same values.
import { FREE_A_DAY, type Model, PAGE } from './model.ts';

const OWN = ['q', 'near', 'min_quality', 'updated_since', 'sort', 'fields', 'limit', 'cursor'] as const;

/** The parameters of an address that the API knows, in a fixed order; others are left out. An empty value is no value. */
export function readState(search: string, { filters }: Pick<Model, 'filters'>): URLSearchParams {
  const given = new URLSearchParams(search);
  const state = new URLSearchParams();
  for (const name of [...filters.map((filter) => filter.name), ...OWN]) {
    const value = given.get(name)?.trim() ?? '';
    if (value !== '') state.set(name, value);
  }
  return state;
}

/** The state with one parameter set, or taken out by an empty value. Another question begins on its first page. */
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

/** A list as a parameter has it. */
export function listText(values: readonly string[]): string {
  return values.map((value) => value.replace(/[\\,]/g, '\\$&')).join(',');
}

/** The parameters that choose records, without what orders, trims or pages them. */
export function selection(state: URLSearchParams): URLSearchParams {
  const chosen = new URLSearchParams(state);
  for (const name of ['sort', 'fields', 'limit', 'cursor']) chosen.delete(name);
  return chosen;
}

/** Columns to show: those asked for, else the telling ones that the caller may see. */
export function columnsOf(state: URLSearchParams, model: Model, keyed: boolean): string[] {
  const asked = listOf(state.get('fields') ?? '');
  if (asked.length > 0) return asked;
  const open = (name: string) => keyed || model.attributes.some((each) => each.name === name && each.public);
  return model.columns.filter(open).slice(0, 5);
}

/** Attributes named by the state that are not public: with one of them a question takes a key. */
function paidNames(state: URLSearchParams, model: Model): string[] {
  const paid = new Set(model.attributes.filter((each) => !each.public).map(({ name }) => name));
  const named = [
    ...model.filters.filter(({ name }) => state.has(name)).map(({ attribute }) => attribute),
    ...listOf(state.get('fields') ?? ''),
    (state.get('sort') ?? '').replace(/^-/, ''),
  ];
  return [...new Set(named.filter((name) => paid.has(name)))];
}

/** Whether facets cost a search: a filter is there, and it or `by` names an attribute that is not public. */
export function facetsArePaid(question: URLSearchParams, model: Model): boolean {
  const by = question.get('by');
  const hidden = model.attributes.some((each) => each.name === by && !each.public);
  const filtered = [...question.keys()].some((name) => name !== 'by' && name !== 'limit');
  return paidNames(question, model).length > 0 || (hidden && filtered);
}

/** The call that the state stands for. */
interface Call {
  parameters: URLSearchParams;
  /** Why it cannot be made without a key; absent: it can, or there is one. */
  needs_key?: string[];
  /** What it costs, as a sentence. */
  price: string;
}

const euro = (eur: number) => `€${eur.toFixed(6).replace(/(\.\d\d\d*?)0+$/, '$1')}`;

/** What the API is asked, and what that costs this caller. */
export function callOf(state: URLSearchParams, model: Model, keyed: boolean): Call {
  const parameters = new URLSearchParams(state);
  const shown = columnsOf(state, model, keyed);
  const fields = model.geo !== null && !shown.includes(model.geo) ? [...shown, model.geo] : shown;
  if (fields.length > 0) parameters.set('fields', listText(fields));
  // Whoever looks around wants to begin with what is known; the API's own order is that of quality.
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
    price: `Free: ${parameters.get('limit')} of the ${FREE_A_DAY} records a day that anyone may see. ${euro(model.price)} with a key.`,
  };
}
