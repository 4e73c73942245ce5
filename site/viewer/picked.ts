// Selected rows: they are compared, downloaded in place of the view, or shown alone.
import { plural } from '../../api/render/print.ts';
import { byId, createElement } from './dom.ts';
import type { Model } from './model.ts';
import type { TableEvents } from './table.ts';

/** Most rows that an address lists (`ids` of the API). */
const MOST = 100;

export class Picked {
  readonly slugs = new Set<string>();
  readonly #compare: Model['compare'];
  readonly #alone: (slugs: string[]) => void;
  #page: readonly string[] = [];

  /** `alone` shows only some rows. */
  constructor(events: TableEvents, compare: Model['compare'], alone: (slugs: string[]) => void) {
    this.#compare = compare;
    this.#alone = alone;
    const rows = byId<HTMLTableElement>('viewer-table').tBodies[0]!.rows;
    this.#page = [...rows].map((row) => row.dataset['slug'] ?? '');
    const all = byId<HTMLInputElement>('viewer-all');
    all.addEventListener('change', () => {
      for (const row of byId<HTMLTableElement>('viewer-table').tBodies[0]!.rows) {
        const box = row.querySelector<HTMLInputElement>('.viewer-pick');
        if (box === null) continue;
        box.checked = all.checked;
        events.pick(row.dataset['slug'] ?? '', all.checked);
      }
    });
  }

  set(slug: string, on: boolean): void {
    if (on) this.slugs.add(slug);
    else this.slugs.delete(slug);
    this.#update();
  }

  /** The rows of the page in view. */
  shown(slugs: readonly string[]): void {
    this.#page = slugs;
    this.#update();
  }

  #update(): void {
    const count = this.slugs.size;
    const here = this.#page.filter((slug) => this.slugs.has(slug)).length;
    const all = byId<HTMLInputElement>('viewer-all');
    all.checked = here > 0 && here === this.#page.length;
    all.indeterminate = here > 0 && here < this.#page.length;
    const line = byId('viewer-picked');
    line.hidden = count === 0;
    const clear = createElement('button', { type: 'button', className: 'viewer-chip plain' }, 'Clear');
    clear.onclick = () => {
      this.slugs.clear();
      for (const box of document.querySelectorAll<HTMLInputElement>('.viewer-pick')) box.checked = false;
      this.#update();
    };
    const only = createElement(
      'button',
      { type: 'button', className: 'viewer-chip plain', disabled: count > MOST },
      'Show only these',
    );
    only.onclick = () => this.#alone([...this.slugs]);
    line.replaceChildren(
      this.#compareLink(),
      ` ${plural(count, 'row')} selected; Download saves these. `,
      only,
      ' ',
      clear,
    );
  }

  /** The link to the comparison of the selected rows, as far as they fit. */
  #compareLink(): Node | string {
    const count = this.slugs.size;
    if (count === 1) return 'Select another row to compare.';
    const { path, most } = this.#compare;
    if (count > most) return `At most ${most} rows can be compared.`;
    const href = `${path}?ids=${[...this.slugs].map(encodeURIComponent).join(',')}`;
    return createElement('a', { href, className: 'button viewer-compare' }, `Compare ${count}`);
  }
}
