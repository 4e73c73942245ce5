// The table: head with sort buttons and charts, rows with their sources and a box to select them.
import { webAddress } from '../../api/render/print.ts';
import type { Value } from '../../packs/define/model.ts';
import { barsOf, CHART, FIGURES, SORTED, sourceText, spreadText, viewCell } from './cells.ts';
import { byId, createElement, createSvg } from './dom.ts';
import type { CellSource, Row } from './messages.ts';
import type { Model, ModelAttribute } from './model.ts';

/** Callbacks of the table. */
export interface TableEvents {
  sort: (sort: string) => void;
  /** Adds the filters of a bar. */
  filter: (filters: Record<string, string>) => void;
  pick: (slug: string, picked: boolean) => void;
}

/** Values and sources that are not in the public file, by slug and attribute. */
export type PaidValues = ReadonlyMap<string, Readonly<Record<string, Value>>>;

export interface TableView {
  rows: readonly Row[];
  columns: readonly ModelAttribute[];
  /** Position of the first row among the matching ones, from 0. */
  from: number;
  matched: number;
  picked: ReadonlySet<string>;
  paid: PaidValues;
  /** Sources of the rows by column; null: not shown. */
  sources: readonly (readonly (CellSource | null)[])[] | null;
}

const table = byId<HTMLTableElement>('viewer-table');

/** Fills the head; the first cell, with its box, stays. */
export function renderHead(model: Model, columns: readonly ModelAttribute[], sort: string, events: TableEvents): void {
  const row = table.tHead!.rows[0]!;
  const same = columns.map(({ name }) => name).join() === headNames(row).join();
  if (!same) row.replaceChildren(row.cells[0]!, ...columns.map((column) => headCell(model, column)));
  for (const [at, cell] of [...row.cells].slice(1).entries()) {
    const column = columns[at]!;
    const button = cell.querySelector('button');
    if (button !== null) {
      button.disabled = false;
      button.onclick = () => events.sort(sort === `-${column.name}` ? column.name : `-${column.name}`);
    }
    const direction = sort === column.name ? 'ascending' : sort === `-${column.name}` ? 'descending' : null;
    if (direction === null) cell.removeAttribute('aria-sort');
    else cell.setAttribute('aria-sort', direction);
    connectBars(cell, model, column, events);
  }
}

const headNames = (row: HTMLTableRowElement): string[] =>
  [...row.cells].slice(1).map((cell) => cell.dataset['column'] ?? '');

function headCell(model: Model, { name, type, unit, description, public: open }: ModelAttribute): HTMLElement {
  const cell = createElement('th', {
    scope: 'col',
    title: description,
    className: FIGURES.includes(type) ? 'figure' : '',
  });
  cell.dataset['column'] = name;
  const sorts = SORTED.includes(type) && open;
  cell.append(
    sorts
      ? createElement('button', { type: 'button', className: 'viewer-sort' }, name)
      : createElement('span', { className: 'viewer-name' }, name),
    createElement('span', { className: 'unit' }, unit ?? type),
  );
  const stats = model.stats[name];
  if (!open) cell.append(createElement('span', { className: 'tag paid' }, 'API key'));
  else {
    const chart = createSvg('svg', {
      class: 'column-chart',
      viewBox: `0 0 ${CHART.width} ${CHART.height}`,
      ...CHART,
      'aria-hidden': 'true',
      focusable: 'false',
    });
    for (const [at, { x, y, width, height, opacity }] of barsOf(name, type, stats).entries())
      chart.append(createSvg('rect', { x, y, width, height, 'fill-opacity': opacity, 'data-bar': at }));
    cell.append(chart, createElement('span', { className: 'spread' }, stats ? spreadText(type, stats) : ''));
  }
  return cell;
}

/** A click on a bar filters by it. Keyboards use the form of filters, which lists the same values. */
function connectBars(cell: HTMLElement, model: Model, { name, type }: ModelAttribute, events: TableEvents): void {
  const bars = barsOf(name, type, model.stats[name]);
  const names = new Set(model.filters.map((filter) => filter.name));
  for (const rect of cell.querySelectorAll<SVGRectElement>('[data-bar]')) {
    const bar = bars[Number(rect.dataset['bar'])];
    if (bar === undefined || !Object.keys(bar.filters).every((filter) => names.has(filter))) continue;
    rect.classList.add('viewer-bar-link');
    if (rect.firstChild === null)
      rect.append(createSvg('title', {}, document.createTextNode(`Filter by ${bar.label}`)));
    rect.onclick = () => events.filter(bar.filters);
  }
}

/** Fills the body. */
export function renderRows(model: Model, view: TableView, events: TableEvents): void {
  const rows = view.rows.map((row, at) => bodyRow(model, view, row, at, events));
  table.tBodies[0]!.replaceChildren(...rows);
  table.setAttribute('aria-rowcount', String(view.matched + 1));
}

function bodyRow(model: Model, view: TableView, row: Row, at: number, events: TableEvents): HTMLTableRowElement {
  const box = createElement('input', {
    type: 'checkbox',
    className: 'viewer-pick',
    checked: view.picked.has(row.slug),
  });
  box.setAttribute('aria-label', `Select ${row.name}`);
  box.onchange = () => events.pick(row.slug, box.checked);
  const link = createElement('a', { href: `${model.pages}${row.slug}` }, row.name);
  const cells = view.columns.map((column, index) =>
    column.public
      ? bodyCell(column, row.values[index] ?? null, view.sources?.[at]?.[index] ?? null)
      : paidCell(column, view.paid.get(row.slug)),
  );
  const line = createElement('tr', {}, createElement('th', { scope: 'row' }, box, ' ', link), ...cells);
  line.setAttribute('aria-rowindex', String(view.from + at + 2));
  line.dataset['slug'] = row.slug;
  return line;
}

function bodyCell(column: ModelAttribute, value: Value | null, source: CellSource | null): HTMLElement {
  const text = viewCell(value, column);
  const url = column.type === 'url' && value !== null ? webAddress(String(value)) : null;
  const cell = createElement('td', { className: FIGURES.includes(column.type) ? 'figure' : '' });
  cell.append(url === null ? text : createElement('a', { href: url, rel: 'nofollow noopener' }, text));
  if (source !== null && value !== null) {
    const at = webAddress(source.source_url);
    const line = sourceText(source);
    cell.append(
      createElement(
        'span',
        { className: 'from' },
        at === null ? line : createElement('a', { href: at, rel: 'nofollow noopener' }, line),
      ),
    );
  }
  return cell;
}

function paidCell(column: ModelAttribute, values: Readonly<Record<string, Value>> | undefined): HTMLElement {
  if (values !== undefined) return bodyCell(column, values[column.name] ?? null, null);
  const lock = createElement('span', { className: 'viewer-lock' }, 'locked');
  return createElement('td', { className: FIGURES.includes(column.type) ? 'figure' : '' }, lock);
}

/** Connects the boxes of rows that are in the HTML. */
export function connectRows(events: TableEvents): void {
  for (const row of table.tBodies[0]!.rows) {
    const box = row.querySelector<HTMLInputElement>('.viewer-pick');
    if (box !== null) box.onchange = () => events.pick(row.dataset['slug'] ?? '', box.checked);
  }
}
