// The table in the page: draws rows, and connects its buttons, bars and boxes.
import { tableCell, tableHtml } from '../../api/pages/dataset-table.ts';
import { type Bar, barsOf } from '../../api/pages/viewer-cells.ts';
import type { Model, ModelAttribute, TableRow } from '../../api/pages/viewer-model.ts';
import { byId, createSvg } from '../lib/dom.ts';
import type { PaidRows } from './paid.ts';

/** Callbacks of the table. */
export interface TableEvents {
  /** Sorts by a column; again: in the other direction. */
  sort: (column: string) => void;
  /** Adds the filters of a bar. */
  filter: (filters: Record<string, string>) => void;
  pick: (slug: string, picked: boolean) => void;
  /** Shows the record of a row, whose page has this address. */
  open: (name: string, address: string) => void;
}

const scroll = byId('viewer-scroll');
const boxes = (): HTMLInputElement[] => [...scroll.querySelectorAll<HTMLInputElement>('tbody .viewer-pick')];
const columnOf = (element: Element): string => element.closest('th')?.dataset['column'] ?? '';
const slugOf = (element: Element): string => element.closest('tr')?.dataset['slug'] ?? '';

/** The rows in the table, without their values. */
export const shownRows = (): TableRow[] =>
  [...scroll.querySelectorAll('tbody tr')].map((row) => {
    return { slug: slugOf(row), name: row.querySelector('a')?.textContent ?? '', attributes: {}, provenance: {} };
  });

/** Replaces the table by the rows of a state. The texts in them are escaped. */
export function drawTable(model: Model, state: URLSearchParams, rows: readonly TableRow[], matched: number): void {
  const page = new DOMParser().parseFromString(String(tableHtml(model, state, rows, matched)), 'text/html');
  placeTable(page.querySelector('table')!);
}

/** Puts loaded values into the locked cells of the shown columns. */
export function showPaid(columns: readonly ModelAttribute[], values: PaidRows['values']): void {
  for (const row of scroll.querySelectorAll<HTMLTableRowElement>('tbody tr')) {
    const attributes = values.get(slugOf(row)) ?? {};
    for (const [i, column] of columns.entries()) {
      if (column.public || !(column.name in attributes)) continue;
      const cell = tableCell(column, { attributes, provenance: {} }, false);
      const page = new DOMParser().parseFromString(`<table><tr>${cell}</tr></table>`, 'text/html');
      row.querySelectorAll('td')[i]?.replaceWith(document.adoptNode(page.querySelector('td')!));
    }
  }
}

/** Puts a table in place of the present one; the focus stays on its column. */
export function placeTable(table: Element): void {
  const focused = document.activeElement?.matches('.viewer-sort') ? columnOf(document.activeElement) : null;
  scroll.replaceChildren(document.adoptNode(table));
  const heads = [...scroll.querySelectorAll<HTMLElement>('th[data-column]')];
  if (focused !== null) {
    const button = heads.find((head) => head.dataset['column'] === focused)?.querySelector('button');
    if (button) button.disabled = false;
    button?.focus({ preventScroll: true });
  }
}

/** The bar of a chart that sets filters of the dataset; null: it sets none. */
function barOf(model: Model, rect: SVGElement): Bar | null {
  const name = columnOf(rect);
  const type = model.attributes.find((attribute) => attribute.name === name)?.type ?? 'text';
  const bar = barsOf(name, type, model.stats[name])[Number(rect.dataset['bar'])];
  const isFilter = (filter: string) => model.filters.some((candidate) => candidate.name === filter);
  return bar !== undefined && Object.keys(bar.filters).every(isFilter) ? bar : null;
}

/** Makes the controls of a new table usable, and marks the picked rows. */
export function prepareTable(model: Model, picked: ReadonlySet<string>): void {
  for (const button of scroll.querySelectorAll<HTMLButtonElement>('.viewer-sort')) button.disabled = false;
  for (const box of boxes()) box.checked = picked.has(slugOf(box));
  for (const rect of scroll.querySelectorAll<SVGElement>('[data-bar]')) {
    const bar = barOf(model, rect);
    if (bar === null) continue;
    rect.classList.add('viewer-bar-link');
    rect.replaceChildren(createSvg('title', {}, document.createTextNode(`Filter by ${bar.label}`)));
  }
}

/** Connects the table and those that replace it. Keyboards use the form of filters in place of the bars. */
export function connectTable(model: Model, events: TableEvents): void {
  scroll.addEventListener('click', ({ target }) => {
    const element = target as Element;
    if (element.matches('.viewer-sort')) events.sort(columnOf(element));
    const bar = element instanceof SVGElement && element.matches('[data-bar]') ? barOf(model, element) : null;
    if (bar !== null) events.filter(bar.filters);
    const link = element.closest('tbody td')?.parentElement?.querySelector('a');
    // A link of a cell leads to its address, and a selected text is copied.
    if (link && element.closest('a') === null && getSelection()?.isCollapsed !== false)
      events.open(link.textContent ?? '', link.pathname);
  });
  scroll.addEventListener('change', ({ target }) => {
    const box = target as HTMLInputElement;
    if (!box.matches('.viewer-pick')) return;
    for (const rowBox of box.id === 'viewer-all' ? boxes() : [box]) {
      rowBox.checked = box.checked;
      events.pick(slugOf(rowBox), box.checked);
    }
  });
}
