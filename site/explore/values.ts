// The values of an attribute to tick, each with its count, in a list that keeps the room it once took.
import { made } from './show.ts';

interface Listed {
  value: unknown;
  /** Null: chosen, and not among the commonest. */
  count: number | null;
}

/** Gives a list the room of what will be counted into it: the rows it is known to get, and a row for each value chosen before. */
export function keepRoom(list: HTMLElement, chosen: number): void {
  const rows = Number(list.dataset['rows'] ?? 0);
  if (rows > 0) list.replaceChildren(...blanks(rows + chosen));
}

/** Fills a list; `changed` is told which values are chosen from now on. */
export function listValues(
  list: HTMLElement,
  values: readonly { value: unknown; count: number }[],
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
  const left = blanks(list.children.length - rows.length);
  left[0]?.replaceChildren(made('span', { className: 'quiet small' }, 'No other value.'));
  list.replaceChildren(...rows, ...left);
}

function blanks(rows: number): HTMLElement[] {
  return Array.from({ length: Math.max(0, rows) }, () => {
    const row = made('li', {}, made('label', {}, '\u00a0'));
    row.setAttribute('aria-hidden', 'true');
    return row;
  });
}
