// Builds the table of records and other elements. All external text is set as text, never as HTML.
import type { Item } from './ask.ts';
import type { ModelAttribute } from './model.ts';

/** Creates an element with properties and children. */
export function createElement<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...content: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...content);
  return element;
}

/** The column of an attribute that is not in the schema. */
export const unknownAttribute = (name: string): ModelAttribute => ({
  name,
  type: 'string',
  unit: null,
  description: '',
  public: true,
});

/** A value as text for people; '' when there is none. */
function printed(value: unknown, { unit }: Pick<ModelAttribute, 'unit'>): string {
  if (value === undefined || value === null) return '';
  // A number with a unit is a quantity, so its thousands are grouped; without one it may be a year or an id.
  if (typeof value === 'number')
    return unit === null ? String(value) : value.toLocaleString('en', { maximumFractionDigits: 10 });
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'object' && 'lat' in value) {
    const { lat, lng } = value as { lat: number; lng: number };
    return `${lat.toFixed(3)}, ${lng.toFixed(3)}`;
  }
  if (typeof value === 'object' && 'min' in value) {
    const { min, max } = value as { min: number; max: number };
    return `${min} to ${max}`;
  }
  return String(value);
}

interface Shown {
  /** Path of record pages. */
  pages: string;
  sort: string;
  sorted: (sort: string) => void;
  /** Called with the record under the pointer. */
  pointed: (slug: string | null) => void;
}

const NUMERIC = ['integer', 'number', 'price'];
const SORTED = [...NUMERIC, 'date', 'string', 'enum'];

/** Fills a table: one row per record, its name first, each value with its source as title. */
export function fillTable(
  element: HTMLTableElement,
  items: readonly Item[],
  columns: readonly ModelAttribute[],
  shown: Shown,
): void {
  const head = createElement(
    'tr',
    {},
    createElement('th', { scope: 'col' }, 'record'),
    ...columns.map((column) => heading(column, shown)),
  );
  const rows = items.map((item) => {
    const link = createElement('a', { href: `${shown.pages}${item.slug}` }, item.name);
    const row = createElement(
      'tr',
      {},
      createElement('th', { scope: 'row' }, link),
      ...columns.map((column) => cell(item, column)),
    );
    row.addEventListener('pointerenter', () => shown.pointed(item.slug));
    row.addEventListener('pointerleave', () => shown.pointed(null));
    row.addEventListener('focusin', () => shown.pointed(item.slug));
    return row;
  });
  element.replaceChildren(
    ...(rows.length > 0 ? [createElement('thead', {}, head), createElement('tbody', {}, ...rows)] : []),
  );
}

function heading({ name, type, unit, description }: ModelAttribute, { sort, sorted }: Shown): HTMLElement {
  const cell = createElement('th', {
    scope: 'col',
    title: description,
    className: NUMERIC.includes(type) ? 'figure' : '',
  });
  const text = unit === null ? name : `${name} (${unit})`;
  if (!SORTED.includes(type)) {
    cell.textContent = text;
    return cell;
  }
  const down = sort === `-${name}`;
  const up = sort === name;
  if (down || up) cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const button = createElement(
    'button',
    { type: 'button', className: 'explore-sort' },
    text,
    down ? ' ↓' : up ? ' ↑' : '',
  );
  button.addEventListener('click', () => sorted(down ? name : `-${name}`));
  cell.append(button);
  return cell;
}

function cell({ attributes, provenance }: Item, column: ModelAttribute): HTMLElement {
  const { name, type } = column;
  const address = type === 'url' ? URL.parse(String(attributes[name] ?? '')) : null;
  const origin = provenance[name];
  const title = origin
    ? `${origin.source_url}, seen ${origin.observed_at.slice(0, 10)}, confidence ${origin.confidence}`
    : '';
  const text = printed(attributes[name], column);
  // An external address becomes a link only with http or https.
  const link = address !== null && /^https?:$/.test(address.protocol);
  const content = link
    ? createElement('a', { href: address.href, rel: 'nofollow noopener' }, text)
    : text === ''
      ? '–'
      : text;
  return createElement('td', { title, className: NUMERIC.includes(type) ? 'figure' : '' }, content);
}

/** Fills a list with the active filters, each with a button that removes it. */
export function listFilters(
  list: HTMLElement,
  set: readonly (readonly [name: string, value: string])[],
  out: (name: string) => void,
): void {
  const chips = set.map(([name, value]) => {
    const cross = createElement('span', {}, '×');
    const button = createElement('button', { type: 'button', className: 'explore-chip' }, `${name} = ${value} `, cross);
    button.setAttribute('aria-label', `Remove filter ${name} = ${value}`);
    button.addEventListener('click', () => out(name));
    return createElement('li', {}, button);
  });
  list.replaceChildren(...chips);
}

/** Makes the button copy the text of an element and show the result for a moment. */
export function copies(button: HTMLElement, from: HTMLElement): void {
  button.addEventListener('click', async () => {
    const done = await navigator.clipboard.writeText(from.textContent ?? '').then(
      () => 'Copied',
      () => 'Not allowed',
    );
    button.textContent = done;
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
}
