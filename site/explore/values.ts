// The values of an attribute to tick, each with its count, in a list that keeps the room it once took.
import type { Facet } from './ask.ts';
import { LISTED } from './model.ts';
import { made } from './show.ts';

interface Listed {
  value: unknown;
  /** Null: chosen, and not among the commonest. */
  count: number | null;
}

/** Gives a list the room of what will be counted into it: the rows it is known to get. Where not all values have one, those chosen before may come on top. */
export function keepRoom(list: HTMLElement, chosen: number): void {
  const rows = Number(list.dataset['rows'] ?? 0);
  if (rows > 0) list.replaceChildren(...blanks(rows < LISTED ? rows : rows + chosen));
}

/** Values as counted, and what is said below them: that there is no other is true of a list that is not cut. */
export function listed({ values, withheld = 0 }: Facet): { values: Facet['values']; note: string } {
  const last = withheld > 0 ? 'Rarer values are not told.' : 'No other value.';
  return { values, note: values.length < LISTED ? last : '' };
}

/** Fills a list, with a note in the first row that stays empty; `changed` is told which values are chosen from now on. */
export function listValues(
  list: HTMLElement,
  values: Facet['values'],
  note: string,
  chosen: readonly string[],
  changed: (value: string, on: boolean) => void,
): void {
  const most = Math.max(1, ...values.map(({ count }) => count));
  // What was chosen and is not among the commonest stands first, so that it can be taken out.
  const common = new Set(values.map(({ value }) => String(value)));
  const rare: Listed[] = chosen.filter((text) => !common.has(text)).map((value) => ({ value, count: null }));
  const rows = [...rare, ...values].map(({ value, count }) => {
    const text = String(value);
    const box = made('input', { type: 'checkbox', checked: chosen.includes(text) });
    box.addEventListener('change', () => changed(text, box.checked));
    const bar = made('meter', { max: most, value: count ?? 0 });
    bar.setAttribute('aria-hidden', 'true');
    const name = made('span', { className: 'explore-value' }, text);
    const number = made('span', { className: 'explore-n' }, count?.toLocaleString('en') ?? '');
    return made('li', {}, made('label', {}, box, name, bar, number));
  });
  // Fewer values than before leave their rows empty: what stands below does not come up under the pointer.
  const left = blanks(Math.max(list.children.length, 1) - rows.length);
  if (note !== '') left[0]?.replaceChildren(made('span', { className: 'quiet small' }, note));
  list.replaceChildren(...rows, ...left);
}

function blanks(rows: number): HTMLElement[] {
  return Array.from({ length: Math.max(0, rows) }, () => {
    const row = made('li', {}, made('label', {}, '\u00a0'));
    row.setAttribute('aria-hidden', 'true');
    return row;
  });
}
