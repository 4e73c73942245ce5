// Records as a table, and elements without a template language. Everything from outside goes in as text.
import type { Item } from './ask.ts';
import type { Attribute } from './model.ts';

/** An element with properties and content. */
export function made<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...content: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...content);
  return element;
}

/** What is shown of a column that the schema does not know. */
export const badge = (name: string): Attribute => ({ name, type: 'string', unit: null, description: '', public: true });

/** A value as people read it; nothing where there is none. */
function printed(value: unknown, { unit }: Pick<Attribute, 'unit'>): string {
  if (value === undefined || value === null) return '';
  // What has a unit is a quantity, so that its thousands are grouped; what has none may be a year or an identifier.
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
  /** Told which record is pointed at. */
  pointed: (slug: string | null) => void;
}

const NUMERIC = ['integer', 'number', 'price'];
const SORTED = [...NUMERIC, 'date', 'string', 'enum'];

/** Fills a table: one row a record, its name first, each value with its source as a title. */
export function table(
  element: HTMLTableElement,
  items: readonly Item[],
  columns: readonly Attribute[],
  shown: Shown,
): void {
  const head = made(
    'tr',
    {},
    made('th', { scope: 'col' }, 'record'),
    ...columns.map((column) => heading(column, shown)),
  );
  const rows = items.map((item) => {
    const link = made('a', { href: `${shown.pages}${item.slug}` }, item.name);
    const row = made('tr', {}, made('th', { scope: 'row' }, link), ...columns.map((column) => cell(item, column)));
    row.addEventListener('pointerenter', () => shown.pointed(item.slug));
    row.addEventListener('pointerleave', () => shown.pointed(null));
    row.addEventListener('focusin', () => shown.pointed(item.slug));
    return row;
  });
  element.replaceChildren(...(rows.length > 0 ? [made('thead', {}, head), made('tbody', {}, ...rows)] : []));
}

function heading({ name, type, unit, description }: Attribute, { sort, sorted }: Shown): HTMLElement {
  const cell = made('th', { scope: 'col', title: description, className: NUMERIC.includes(type) ? 'figure' : '' });
  const text = unit === null ? name : `${name} (${unit})`;
  if (!SORTED.includes(type)) {
    cell.textContent = text;
    return cell;
  }
  const down = sort === `-${name}`;
  const up = sort === name;
  if (down || up) cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const button = made('button', { type: 'button', className: 'explore-sort' }, text, down ? ' ↓' : up ? ' ↑' : '');
  button.addEventListener('click', () => sorted(down ? name : `-${name}`));
  cell.append(button);
  return cell;
}

function cell({ attributes, provenance }: Item, column: Attribute): HTMLElement {
  const { name, type } = column;
  const address = type === 'url' ? URL.parse(String(attributes[name] ?? '')) : null;
  const told = provenance[name];
  const title = told ? `${told.source_url}, seen ${told.observed_at.slice(0, 10)}, confidence ${told.confidence}` : '';
  const text = printed(attributes[name], column);
  // An address from outside is a link only where it is one of the web.
  const link = address !== null && /^https?:$/.test(address.protocol);
  const content = link ? made('a', { href: address.href, rel: 'nofollow noopener' }, text) : text === '' ? '–' : text;
  return made('td', { title, className: NUMERIC.includes(type) ? 'figure' : '' }, content);
}

/** Fills a list with the filters in force, each with a way out. */
export function listFilters(
  list: HTMLElement,
  set: readonly (readonly [name: string, value: string])[],
  out: (name: string) => void,
): void {
  const chips = set.map(([name, value]) => {
    const cross = made('span', {}, '×');
    const button = made('button', { type: 'button', className: 'explore-chip' }, `${name} = ${value} `, cross);
    button.setAttribute('aria-label', `Take out ${name} = ${value}`);
    button.addEventListener('click', () => out(name));
    return made('li', {}, button);
  });
  list.replaceChildren(...chips);
}

/** A press of the button copies the text of an element, and tells for a moment whether it could. */
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
