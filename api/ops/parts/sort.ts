// Tables that are sorted by the address: `?sort=balance`, or `?sort=-balance` for the greatest first.

import type { RouteRequest } from '../../http/server.ts';
import { type Html, html } from '../../pages/html.ts';

/** A column; without `of` the table cannot be sorted by it. */
export interface SortColumn<Row> {
  name: string;
  title: string;
  /** The value to sort by; null values come last. */
  of?: (row: Row) => string | number | null;
  figures?: true;
}

/** The order that an address chooses. */
export interface TableSort<Row> {
  /** Rows in the chosen order; as they are without one. */
  sorted(rows: readonly Row[]): Row[];
  /** Whether the address chooses an order. */
  chosen: boolean;
  /** The head of the table: links to its other orders. */
  head: Html;
}

/**
 * Reads the order from the parameter `parameter` of a request. Links lead to `path` and keep the other parameters,
 * except those of `without`, such as a position in a list with another order.
 *
 * @example
 * ```ts
 * const { head, sorted } = tableSort(request, [{ name: 'when', title: 'When', of: ({ at }) => at }]);
 * html`<table>${head}<tbody>${sorted(rows).map(rowHtml)}</tbody></table>`;
 * ```
 */
export function tableSort<Row>(
  request: RouteRequest,
  columns: readonly SortColumn<Row>[],
  { parameter = 'sort', without = [] as readonly string[], path = request.path } = {},
): TableSort<Row> {
  const [, minus, name] = /^(-?)(.+)$/.exec(request.parameter(parameter) ?? '') ?? [];
  const column = columns.find((sortColumn) => sortColumn.name === name && sortColumn.of !== undefined);
  const down = minus === '-';
  const kept = Object.keys(request.query).flatMap((other) => {
    const value = request.parameter(other);
    return other === parameter || without.includes(other) || value === undefined ? [] : [[other, value]];
  });
  const link = (value: string) => `${path}?${new URLSearchParams([...kept, [parameter, value]] as [string, string][])}`;
  const cell = (sortColumn: SortColumn<Row>) => {
    const figures = sortColumn.figures && html` class="n"`;
    if (sortColumn.of === undefined) return html`<th scope="col"${figures}>${sortColumn.title}</th>`;
    const here = sortColumn === column;
    const order = here && html` aria-sort="${down ? 'descending' : 'ascending'}"`;
    const arrow = here && html` <span aria-hidden="true">${down ? '↓' : '↑'}</span>`;
    return html`<th scope="col"${figures}${order}><a href="${link(here && !down ? `-${sortColumn.name}` : sortColumn.name)}">${sortColumn.title}${arrow}</a></th>`;
  };
  return {
    chosen: column !== undefined,
    head: html`<thead><tr>${columns.map(cell)}</tr></thead>`,
    sorted: (rows) => (column?.of ? [...rows].sort(compareBy(column.of, down)) : [...rows]),
  };
}

function compareBy<Row>(of: (row: Row) => string | number | null, down: boolean): (a: Row, b: Row) => number {
  return (a, b) => {
    const [x, y] = [of(a), of(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    const order = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en');
    return down ? -order : order;
  };
}
