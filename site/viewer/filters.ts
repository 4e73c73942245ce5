// The form that adds a filter, and the list of the active ones.

import type { Model, ModelFilter } from '../../api/pages/viewer-model.ts';
import { filterText, listOf, listText, OPERATOR_WORDS } from '../../api/pages/viewer-state.ts';
import { guessNumber } from '../../data/input/value-guesses.ts';
import { fold } from '../../packs/define/text.ts';
import { byId, createElement } from '../lib/dom.ts';
import { valueLabel } from './facets.ts';

/** The operator that a column is mostly filtered by: choices by value, texts by words, numbers by their least value. */
const FIRST: readonly ModelFilter['operator'][] = ['like', 'min', 'any'];

const HINTS: Record<ModelFilter['operator'], string> = {
  any: 'Several values: separate them with commas. Letter case and accents do not matter.',
  not: 'Several values: separate them with commas. Rows without a value stay.',
  like: 'Letter case and accents do not matter.',
  min: '',
  max: '',
  has: 'true or false',
};

/** Lists the active filters, each with a button that removes it. */
export function listFilters(model: Model, selection: URLSearchParams, remove: (name: string) => void): void {
  const chips = [...selection].map(([name, value]) => {
    const text = filterText(name, value, model);
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

/** Values to choose from. */
const valuesOf = ({ choices, stats }: Model, attribute: string): string[] =>
  (choices[attribute] ?? stats[attribute]?.top ?? []).map(([text]) => text);

/** The value of a filter for a typed text: codes for the names of codes, numbers in the unit of the attribute. */
function filterValue(model: Model, { attribute, operator, type }: ModelFilter, text: string): string {
  if (operator === 'min' || operator === 'max') {
    const unit = model.attributes.find(({ name }) => name === attribute)?.unit ?? null;
    const number = type === 'number' || type === 'integer' ? guessNumber(text, unit) : null;
    return number === null ? text : String(number);
  }
  if (operator === 'has' || operator === 'like') return text;
  const codes = new Map(
    valuesOf(model, attribute).flatMap((value) => [
      [fold(valueLabel(model, attribute, value)), value],
      [fold(valueLabel(model, attribute, value).slice(value.length)), value],
    ]),
  );
  return listText(listOf(text).map((value) => codes.get(fold(value)) ?? value));
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
    const values = suggestions.length > 0 || bounds ? suggestions : valuesOf(model, filter.attribute);
    byId('add-values').replaceChildren(
      ...values.map((text) =>
        createElement('option', { value: text, label: valueLabel(model, filter.attribute, text) }),
      ),
    );
    const unit = bounds ? (model.attributes.find(({ name }) => name === filter.attribute)?.unit ?? '') : '';
    byId('add-hint').textContent =
      unit === '' ? HINTS[filter.operator] : `In ${unit}; other units are converted: 400 m.`;
  };
  const showOperators = () => {
    const operators = ofAttribute().map((filter) => filter.operator);
    operator.replaceChildren(
      ...operators.map((name) => createElement('option', { value: name }, OPERATOR_WORDS[name])),
    );
    const first = attribute.value in model.choices ? 'any' : FIRST.find((name) => operators.includes(name));
    operator.value = first ?? operators[0] ?? '';
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
    add(filter.name, filterValue(model, filter, text));
  });
}
