// The form that adds a filter, and the list of the active ones.
import { byId, createElement } from './dom.ts';
import type { Model, ModelFilter } from './model.ts';

const WORDS: Record<ModelFilter['operator'], string> = {
  any: 'is any of',
  not: 'is none of',
  like: 'contains',
  min: 'at least',
  max: 'at most',
  has: 'has a value',
};
/** The operator that a type of column is mostly filtered by. */
const FIRST: readonly ModelFilter['operator'][] = ['like', 'min', 'any'];

const HINTS: Record<ModelFilter['operator'], string> = {
  any: 'Several values: separate them with commas. Letter case and accents do not matter.',
  not: 'Several values: separate them with commas. Rows without a value stay.',
  like: 'Letter case and accents do not matter.',
  min: '',
  max: '',
  has: 'true or false',
};

/** A filter in words: `population at least 100000`. */
export function filterText(name: string, value: string, { filters }: Pick<Model, 'filters'>): string {
  const filter = filters.find((candidate) => candidate.name === name);
  if (filter === undefined)
    return { q: `search: ${value}`, ids: `${value.split(',').length} selected rows` }[name] ?? `${name}: ${value}`;
  const { attribute, operator } = filter;
  if (operator === 'has') return `${attribute} ${value === 'true' ? 'has a value' : 'has no value'}`;
  return `${attribute} ${operator === 'any' ? 'is' : operator === 'not' ? 'is not' : WORDS[operator]} ${value}`;
}

/** Lists the active filters, each with a button that removes it. */
export function listFilters(model: Model, selection: URLSearchParams, remove: (name: string) => void): void {
  const chips = [...selection].map(([name, value]) => {
    const text = filterText(name, value.length > 60 ? `${value.slice(0, 60)}…` : value, model);
    const cross = createElement('span', {}, '×');
    cross.ariaHidden = 'true';
    const button = createElement('button', { type: 'button', className: 'viewer-chip' }, `${text} `, cross);
    button.setAttribute('aria-label', `Remove filter: ${text}`);
    button.onclick = () => remove(name);
    return createElement('li', {}, button);
  });
  if (chips.length > 1) {
    const all = createElement('button', { type: 'button', className: 'viewer-chip plain' }, 'Remove all');
    all.onclick = () => remove('');
    chips.push(createElement('li', {}, all));
  }
  byId('viewer-chips').replaceChildren(...chips);
}

/** Connects the form; `add` receives the parameter and its value. */
export function connectFilterForm(model: Model, add: (name: string, value: string) => void): void {
  const attribute = byId<HTMLSelectElement>('add-attribute');
  const operator = byId<HTMLSelectElement>('add-operator');
  const value = byId<HTMLInputElement>('add-value');
  const ofAttribute = () => model.filters.filter((filter) => filter.attribute === attribute.value);
  const current = () => ofAttribute().find((filter) => filter.operator === operator.value);
  const showValue = () => {
    const filter = current();
    if (filter === undefined) return;
    const bounds = filter.operator === 'min' || filter.operator === 'max';
    const dated = filter.type === 'date' || filter.type === 'datetime';
    value.type = dated && bounds ? 'date' : 'text';
    value.inputMode = bounds && !dated ? 'decimal' : 'text';
    const suggestions = filter.operator === 'has' || filter.type === 'boolean' ? ['true', 'false'] : [];
    const top =
      filter.operator === 'any' || filter.operator === 'not' ? (model.stats[filter.attribute]?.top ?? []) : [];
    const values = suggestions.length > 0 ? suggestions : top.map(([text]) => text);
    byId('add-values').replaceChildren(...values.map((text) => createElement('option', { value: text })));
    const unit = bounds ? (model.attributes.find(({ name }) => name === filter.attribute)?.unit ?? '') : '';
    byId('add-hint').textContent = unit === '' ? HINTS[filter.operator] : `In ${unit}.`;
  };
  const showOperators = () => {
    const operators = ofAttribute().map((filter) => filter.operator);
    operator.replaceChildren(...operators.map((name) => createElement('option', { value: name }, WORDS[name])));
    operator.value = FIRST.find((name) => operators.includes(name)) ?? operators[0] ?? '';
    showValue();
  };
  attribute.addEventListener('change', showOperators);
  operator.addEventListener('change', showValue);
  showOperators();
  byId<HTMLFormElement>('viewer-add').addEventListener('submit', (event) => {
    event.preventDefault();
    const filter = current();
    const text = value.value.trim();
    if (filter === undefined || text === '') return value.focus();
    value.value = '';
    add(filter.name, text);
  });
}
