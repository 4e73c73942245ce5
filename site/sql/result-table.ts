// The table of a result: rows on demand, and links to the records and addresses in it.
import { byId, createElement } from '../viewer/dom.ts';
import { type Cell, printCell, type ResultColumn, type ResultRow } from './cells.ts';

/** Rows added to the page at a time. */
const PAGE = 200;

/** Slugs of records by their ids and slugs. */
export type FindSlugs = (texts: readonly string[]) => Promise<Map<string, string>>;

export class ResultTable {
  readonly #table = byId<HTMLTableElement>('sql-table');
  readonly #more = byId<HTMLButtonElement>('sql-more');
  #columns: readonly ResultColumn[] = [];
  #rows: readonly ResultRow[] = [];
  #shown = 0;
  /** Positions of the columns with ids or slugs of records. */
  #keys: number[] = [];
  readonly #keyNames: readonly string[];
  readonly #pages: string;
  readonly #findSlugs: FindSlugs;

  /**
   * `keys` are names of columns with ids or slugs; `pages` is the folder of the pages of records.
   */
  constructor(keys: readonly string[], pages: string, findSlugs: FindSlugs) {
    this.#keyNames = keys;
    this.#pages = pages;
    this.#findSlugs = findSlugs;
    this.#more.addEventListener('click', () => this.#showMore());
  }

  show(columns: readonly ResultColumn[], rows: readonly ResultRow[]): void {
    [this.#columns, this.#rows, this.#shown] = [columns, rows, 0];
    this.#keys = columns.flatMap(({ name }, at) => (this.#keyNames.includes(name) ? [at] : []));
    const head = createElement('thead');
    const names = head.insertRow();
    for (const { name, kind } of columns)
      names.append(createElement('th', { scope: 'col', className: kind === 'number' ? 'number' : '' }, name));
    this.#table.replaceChildren(head, createElement('tbody'));
    this.#showMore();
    byId('sql-scroll').scrollTo(0, 0);
  }

  #showMore(): void {
    const rows = this.#rows.slice(this.#shown, this.#shown + PAGE);
    const body = this.#table.tBodies[0]!;
    const lines = rows.map((row) => {
      const line = body.insertRow();
      row.forEach((cell, at) => {
        line.append(this.#cell(cell, this.#columns[at]!));
      });
      return line;
    });
    this.#shown += rows.length;
    this.#more.hidden = this.#shown >= this.#rows.length;
    this.#more.textContent = `Show more rows (${this.#shown.toLocaleString('en')} of ${this.#rows.length.toLocaleString('en')})`;
    void this.#link(rows, lines);
  }

  #cell(cell: Cell, { kind }: ResultColumn): HTMLTableCellElement {
    const text = printCell(cell);
    if (text === null) return createElement('td', { className: 'none' }, 'null');
    const address = kind === 'text' && /^https?:\/\/\S+$/.test(text);
    const content = address ? createElement('a', { href: text, rel: 'nofollow noopener' }, text) : text;
    return createElement('td', { className: kind === 'number' ? 'number' : '' }, content);
  }

  /** Makes links of ids and slugs, where they are those of records. */
  async #link(rows: readonly ResultRow[], lines: readonly HTMLTableRowElement[]): Promise<void> {
    const texts = rows.flatMap((row) => this.#keys.map((at) => row[at])).filter((cell) => typeof cell === 'string');
    if (texts.length === 0) return;
    const slugs = await this.#findSlugs([...new Set(texts)]).catch(() => new Map<string, string>());
    for (const [index, row] of rows.entries())
      for (const at of this.#keys) {
        const slug = slugs.get(String(row[at]));
        const cell = lines[index]?.cells[at];
        if (slug === undefined || cell === undefined) continue;
        cell.replaceChildren(createElement('a', { href: this.#pages + encodeURIComponent(slug) }, String(row[at])));
      }
  }
}
