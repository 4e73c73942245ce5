// Lists of values beside the table, with counts: a click filters, several values of one list are alternatives.
import { nameOfCode } from '../../api/pages/viewer-cells.ts';
import type { Model, ValueCounts } from '../../api/pages/viewer-model.ts';
import { listOf, listText } from '../../api/pages/viewer-state.ts';
import { printNumber } from '../../api/render/print.ts';
import { attributeLabel } from '../../packs/define/labels.ts';
import { fold } from '../../packs/define/text.ts';
import { byId, createElement } from '../lib/dom.ts';

/** Values shown of a longer list, and the length from which a list has a search. */
const SHOWN = 8;

/** The name of the filter by value of an attribute. */
const filterOf = (model: Model, attribute: string): string =>
  model.filters.find((filter) => filter.attribute === attribute && filter.operator === 'any')?.name ?? attribute;

const describedOf = (model: Model, attribute: string): Pick<Model['attributes'][number], 'name' | 'label'> =>
  model.attributes.find(({ name }) => name === attribute) ?? { name: attribute };

/** A value with the name of its code: `CH Switzerland`. */
export const valueLabel = (model: Model, attribute: string, value: string): string => {
  const described = model.attributes.find(({ name }) => name === attribute);
  return `${value} ${described ? nameOfCode(value, described) : ''}`.trim();
};

/** Draws the lists. `counted`: the counts are those of the state; `choose` receives a filter and its value. */
export function drawFacets(
  model: Model,
  { choices, counted }: { choices: ValueCounts; counted: boolean },
  selection: URLSearchParams,
  choose: (name: string, value: string) => void,
): void {
  const panel = byId('viewer-facets-lists');
  const open = new Map([...panel.querySelectorAll('details')].map((list) => [list.dataset['attribute'], list.open]));
  const searches = new Map(
    [...panel.querySelectorAll('input[type=search]')].map((input) => [input.id, (input as HTMLInputElement).value]),
  );
  const last = document.activeElement;
  const lists = Object.entries(choices).map(([attribute, values], at) => {
    const filter = filterOf(model, attribute);
    const selected = listOf(selection.get(filter) ?? '').map(fold);
    const isSelected = (value: string) => selected.includes(fold(value));
    const items = createElement('ul');
    const search = createElement('input', {
      type: 'search',
      name: `find ${attribute}`,
      id: `facet-${attribute}`,
      placeholder: 'Find a value',
    });
    search.ariaLabel = `Find a value of ${attributeLabel(describedOf(model, attribute))}`;
    search.value = searches.get(search.id) ?? '';
    const drawItems = () => {
      const words = fold(search.value);
      const matching = values.filter(([value]) => fold(valueLabel(model, attribute, value)).includes(words));
      const shown = matching.filter(([value], place) =>
        words !== '' ? place < 50 : place < SHOWN || isSelected(value),
      );
      items.replaceChildren(
        ...shown.map(([value, count]) => {
          const box = createElement('input', { type: 'checkbox', name: filter, value, checked: isSelected(value) });
          box.onchange = () => {
            const others = listOf(selection.get(filter) ?? '').filter((text) => fold(text) !== fold(value));
            choose(filter, listText(box.checked ? [...others, value] : others));
          };
          const number = createElement('span', { className: 'quiet' }, counted ? printNumber(count) : '');
          return createElement(
            'li',
            {},
            createElement('label', {}, box, createElement('span', {}, valueLabel(model, attribute, value)), number),
          );
        }),
      );
      const more = matching.length - shown.length;
      if (more > 0)
        items.append(createElement('li', { className: 'quiet small' }, `${printNumber(more)} more: find them above`));
    };
    search.oninput = drawItems;
    drawItems();
    const list = createElement(
      'details',
      { open: open.get(attribute) ?? (at < 3 || selected.length > 0) },
      createElement('summary', {}, attributeLabel(describedOf(model, attribute))),
    );
    list.dataset['attribute'] = attribute;
    list.append(...(values.length > SHOWN ? [search] : []), items);
    return list;
  });
  const wasFocused = panel.contains(last) && last instanceof HTMLInputElement ? last : null;
  panel.replaceChildren(...lists);
  for (const input of wasFocused === null ? [] : panel.querySelectorAll('input'))
    if (input.name === wasFocused?.name && input.value === wasFocused.value) input.focus({ preventScroll: true });
}
