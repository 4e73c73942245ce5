// The chart above a result: choice of kind and columns, and the drawing.
import { byId, createElement } from '../lib/dom.ts';
import type { ResultColumn, ResultRow } from './cells.ts';
import {
  type ChartChoice,
  type ChartKind,
  chartKinds,
  defaultChart,
  fittingChart,
  KIND_LABELS,
  partColumns,
  suggestChart,
} from './chart.ts';

const PARTS = ['x', 'y', 'color'] as const;

export class ChartPanel {
  /** The chart of the address; null: none. */
  choice: ChartChoice | null = null;
  readonly #button = byId<HTMLButtonElement>('sql-chart');
  readonly #figure = byId('sql-figure');
  readonly #kind = byId<HTMLSelectElement>('chart-kind');
  #columns: readonly ResultColumn[] = [];
  #rows: readonly ResultRow[] = [];
  #truncated = false;
  #drawn = 0;
  readonly #land: string;
  readonly #onChange: () => void;

  /** `onChange` is called when the visitor changes the chart. */
  constructor(land: string, onChange: () => void) {
    this.#land = land;
    this.#onChange = onChange;
    this.#button.addEventListener('click', () => {
      this.#set(this.choice === null ? suggestChart(this.#columns, this.#rows) : null);
    });
    this.#kind.addEventListener('change', () =>
      this.#set(defaultChart(this.#kind.value as ChartKind, this.#columns, this.#rows)),
    );
    for (const part of PARTS)
      this.#select(part).addEventListener('change', () => {
        if (this.choice !== null) this.#set({ ...this.choice, [part]: this.#select(part).value });
      });
    let width = 0;
    new ResizeObserver(([entry]) => {
      const now = Math.round(entry?.contentRect.width ?? 0);
      if (now === width || now === 0) return;
      width = now;
      void this.#draw();
    }).observe(byId('sql-drawing'));
  }

  /** Shows the chart of a new result, if the address has one. */
  show(columns: readonly ResultColumn[], rows: readonly ResultRow[], truncated: boolean): void {
    [this.#columns, this.#rows, this.#truncated] = [columns, rows, truncated];
    this.#button.hidden = rows.length === 0 || chartKinds(columns).length === 0;
    if (this.choice !== null) this.choice = this.#button.hidden ? null : fittingChart(this.choice, columns, rows);
    this.#render();
  }

  #select = (part: (typeof PARTS)[number]) => byId<HTMLSelectElement>(`chart-${part}`);

  #set(choice: ChartChoice | null): void {
    this.choice = choice;
    this.#render();
    this.#onChange();
  }

  #render(): void {
    const { choice } = this;
    this.#button.setAttribute('aria-pressed', String(choice !== null));
    this.#figure.hidden = choice === null;
    if (choice === null) return;
    const kinds = chartKinds(this.#columns);
    fill(
      this.#kind,
      kinds.map((kind) => [kind, KIND_LABELS[kind]]),
      choice.kind,
    );
    for (const part of PARTS) {
      const names = partColumns(part, choice.kind, this.#columns);
      const select = this.#select(part);
      select.closest('label')!.hidden = names.length === 0;
      const none: [string, string][] = part === 'color' ? [['', 'none']] : [];
      fill(select, [...none, ...names.map((name): [string, string] => [name, name])], choice[part]);
    }
    void this.#draw();
  }

  async #draw(): Promise<void> {
    const { choice } = this;
    const space = byId('sql-drawing');
    const width = Math.round(space.clientWidth);
    if (choice === null || width === 0) return;
    this.#drawn += 1;
    const turn = this.#drawn;
    try {
      const { drawResult } = await import('./plot.ts');
      const { parts, note } = await drawResult(choice, this.#columns, this.#rows, { width, land: this.#land });
      if (turn !== this.#drawn) return;
      space.replaceChildren(...parts);
      const rows = this.#rows.length.toLocaleString('en');
      const cut = this.#truncated ? `Chart of the first ${rows} rows.` : '';
      byId('sql-chart-note').textContent = [cut, note].filter(Boolean).join(' ');
    } catch {
      if (turn === this.#drawn)
        space.replaceChildren('The chart could not be loaded. Check your connection and try again.');
    }
  }
}

function fill(select: HTMLSelectElement, options: readonly (readonly [string, string])[], value: string): void {
  select.replaceChildren(
    ...options.map(([name, label]) => createElement('option', { value: name, selected: name === value }, label)),
  );
}
