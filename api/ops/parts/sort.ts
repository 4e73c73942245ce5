// Tables that are sorted by the address: `?sort=balance`, or `?sort=-balance` for the greatest first.
import { type Html, html } from '../../pages/html.ts';
import { type OpsRequest, queryText } from './request.ts';

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
 * Reads the order from the parameter `parameter` of a request. Links keep the other parameters, except those
 * of `without`, such as a position in a list with another order.
 */
export function tableSort<Row>(
  request: OpsRequest,
  columns: readonly SortColumn<Row>[],
  { parameter = 'sort', without = [] as readonly string[] } = {},
): TableSort<Row> {
  const [, minus, name] = /^(-?)(.+)$/.exec(queryText(request, parameter) ?? '') ?? [];
  const column = columns.find((each) => each.name === name && each.of !== undefined);
  const down = minus === '-';
  const kept = Object.keys(request.query).flatMap((other) => {
    const value = queryText(request, other);
    return other === parameter || without.includes(other) || value === undefined ? [] : [[other, value]];
  });
  const link = (value: string) =>
    `${request.path}?${new URLSearchParams([...kept, [parameter, value]] as [string, string][])}`;
  const cell = (each: SortColumn<Row>) => {
    const figures = each.figures && html` class="n"`;
    if (each.of === undefined) return html`<th scope="col"${figures}>${each.title}</th>`;
    const here = each === column;
    const order = here && html` aria-sort="${down ? 'descending' : 'ascending'}"`;
    const arrow = here && html` <span aria-hidden="true">${down ? '↓' : '↑'}</span>`;
    return html`<th scope="col"${figures}${order}><a href="${link(here && !down ? `-${each.name}` : each.name)}">${each.title}${arrow}</a></th>`;
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
