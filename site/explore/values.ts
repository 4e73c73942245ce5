// The values of an attribute as checkboxes with counts, in a list with reserved space.
import type { Facet } from './ask.ts';
import { LISTED_VALUES } from './model.ts';
import { createElement } from './show.ts';

interface Listed {
  value: unknown;
  /** Null: selected, but not among the most common. */
  count: number | null;
}

/** Reserves the rows that a list will have. When it is cut, selected values may be added on top. */
export function keepRoom(list: HTMLElement, chosen: number): void {
  const rows = Number(list.dataset['rows'] ?? 0);
  if (rows > 0) list.replaceChildren(...blanks(rows < LISTED_VALUES ? rows : rows + chosen));
}

/** The counted values, and the note below them: "no other value" only when the list is not cut. */
export function countedValues({ values, withheld = 0 }: Facet): { values: Facet['values']; note: string } {
  const last = withheld > 0 ? 'Values of fewer than 5 records are hidden.' : 'No other value.';
  return { values, note: values.length < LISTED_VALUES ? last : '' };
}

/** Fills a list, with a note in the first empty row; `changed` is called with each later selection. */
export function fillValues(
  list: HTMLElement,
  values: Facet['values'],
  note: string,
  chosen: readonly string[],
  changed: (value: string, on: boolean) => void,
): void {
  const most = Math.max(1, ...values.map(({ count }) => count));
  // Selected values that are not among the most common come first, so that they can be cleared.
  const common = new Set(values.map(({ value }) => String(value)));
  const rare: Listed[] = chosen.filter((text) => !common.has(text)).map((value) => ({ value, count: null }));
  const rows = [...rare, ...values].map(({ value, count }) => {
    const text = String(value);
    const box = createElement('input', { type: 'checkbox', checked: chosen.includes(text) });
    box.addEventListener('change', () => changed(text, box.checked));
    const bar = createElement('meter', { max: most, value: count ?? 0 });
    bar.setAttribute('aria-hidden', 'true');
    const name = createElement('span', { className: 'explore-value' }, text);
    const number = createElement('span', { className: 'explore-n' }, count?.toLocaleString('en') ?? '');
    return createElement('li', {}, createElement('label', {}, box, name, bar, number));
  });
  // Empty rows keep the height, so that content below does not move under the pointer.
  const left = blanks(Math.max(list.children.length, 1) - rows.length);
  if (note !== '') left[0]?.replaceChildren(createElement('span', { className: 'quiet small' }, note));
  list.replaceChildren(...rows, ...left);
}

function blanks(rows: number): HTMLElement[] {
  return Array.from({ length: Math.max(0, rows) }, () => {
    const row = createElement('li', {}, createElement('label', {}, '\u00a0'));
    row.setAttribute('aria-hidden', 'true');
    return row;
  });
}
