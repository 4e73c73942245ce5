// The SQL console: query, result, chart, files and history. The service answers the queries; the editor is downloaded at
// the first focus, the code of charts with the first chart.
import { writtenName } from '../../data/write/sql-names.ts';
import { byId, createElement } from '../lib/dom.ts';
import { consoleFragment, readConsole } from './address.ts';
import { type Cell, printCell, type ResultColumn, type ResultRow } from './cells.ts';
import { ChartPanel } from './chart-panel.ts';
import { openEditor } from './editor.ts';
import { fileOf, type ResultFormat, resultText, type TextFormat } from './export.ts';
import { QueryHistory } from './history.ts';
import { queryService } from './service.ts';

/** Rows added to the page at a time. */
const PAGE = 200;

class ResultTable {
  readonly #table = byId<HTMLTableElement>('sql-table');
  readonly #more = byId<HTMLButtonElement>('sql-more');
  #columns: readonly ResultColumn[] = [];
  #rows: readonly ResultRow[] = [];
  #shown = 0;
  /** Positions of the columns with ids or slugs of records. */
  #keys: number[] = [];
  readonly #keyNames: readonly string[];
  readonly #pages: string;

  /**
   * `keys` are names of columns with ids or slugs; `pages` is the folder of the pages of records.
   */
  constructor(keys: readonly string[], pages: string) {
    this.#keyNames = keys;
    this.#pages = pages;
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
    this.#link(rows, lines);
  }

  #cell(cell: Cell, { kind }: ResultColumn): HTMLTableCellElement {
    const text = printCell(cell);
    if (text === null) return createElement('td', { className: 'none' }, 'null');
    const address = kind === 'text' && /^https?:\/\/\S+$/.test(text);
    const content = address ? createElement('a', { href: text, rel: 'nofollow noopener' }, text) : text;
    return createElement('td', { className: kind === 'number' ? 'number' : '' }, content);
  }

  /** Makes links of ids and slugs, where they are those of records. */
  #link(rows: readonly ResultRow[], lines: readonly HTMLTableRowElement[]): void {
    const slugs = slugsOf(result);
    for (const [index, row] of rows.entries())
      for (const at of this.#keys) {
        const slug = slugs.get(String(row[at]));
        const cell = lines[index]?.cells[at];
        if (slug === undefined || cell === undefined) continue;
        cell.replaceChildren(createElement('a', { href: this.#pages + encodeURIComponent(slug) }, String(row[at])));
      }
  }
}

const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

/** Shows the queries; `onRun` runs one again. */
function showHistory(queries: QueryHistory, onRun: (sql: string) => void): void {
  const [section, list] = [byId('sql-history'), byId('sql-past')];
  section.hidden = queries.queries.length === 0;
  const again = () => showHistory(queries, onRun);
  list.replaceChildren(
    ...queries.queries.map(({ sql, at, rows }) => {
      const short = sql.replace(/\s+/g, ' ').trim();
      const link = createElement('a', { href: consoleFragment({ sql, chart: null }), title: sql }, short);
      link.addEventListener('click', (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        onRun(sql);
      });
      const remove = createElement('button', { type: 'button', className: 'sql-forget' }, 'Remove');
      remove.setAttribute('aria-label', `Remove from the history: ${short}`);
      remove.addEventListener('click', () => {
        queries.remove(sql);
        again();
        section.querySelector<HTMLElement>('summary')?.focus();
      });
      const about = createElement(
        'span',
        { className: 'sql-past-about' },
        `${TIME.format(at)}, ${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'} `,
        remove,
      );
      return createElement('li', {}, link, about);
    }),
  );
  byId('sql-history-count').textContent = String(queries.queries.length);
  byId('sql-history-clear').onclick = () => {
    queries.clear();
    again();
  };
}

interface Result {
  sql: string;
  columns: ResultColumn[];
  rows: ResultRow[];
  /** Whether the query has more rows. */
  truncated: boolean;
}

const root = byId('sql');
const [run, stop, link] = ['sql-run', 'sql-stop', 'sql-link'].map((id) => byId<HTMLButtonElement>(id));
const [status, problem, output, empty] = ['sql-status', 'sql-error', 'sql-result', 'sql-empty'].map((id) => byId(id));
const { dataset = '', api = '', pages = '', land = '', id = 'id', slug = 'slug' } = root.dataset;

/** Stops the running query. */
let stopping = new AbortController();
let result: Result | null = null;
let busy = false;

const queries = new QueryHistory(dataset);
const editor = openEditor(byId<HTMLTextAreaElement>('sql-text'), editorTables(), () => void runQuery(editor.text));
const table = new ResultTable([...new Set([id, slug, 'id', 'slug'])], pages);
const chart = new ChartPanel(land, () => {
  if (result !== null) history.replaceState(null, '', consoleFragment({ sql: result.sql, chart: chart.choice }));
});

/** Tables and columns of the page, for completion. */
function editorTables() {
  return [...document.querySelectorAll<HTMLElement>('[data-table]')].map((list) => ({
    name: list.dataset['table'] ?? '',
    columns: [...list.querySelectorAll<HTMLElement>('[data-column]')].map((button) => ({
      name: button.dataset['column'] ?? '',
      type: button.dataset['type'] ?? '',
      description: button.parentElement?.querySelector('.about')?.textContent ?? '',
    })),
  }));
}

/** Slugs by id and slug, from the rows of a result with a column of slugs. */
function slugsOf(shown: Result | null): Map<string, string> {
  const places = [slug, id].map((name) => shown?.columns.findIndex((column) => column.name === name) ?? -1);
  const [slugAt = -1, idAt = -1] = places;
  const slugs = (slugAt < 0 ? [] : (shown?.rows ?? [])).map((row) => [String(row[slugAt]), row] as const);
  return new Map(
    slugs.flatMap(([text, row]) => [text, ...(idAt < 0 ? [] : [String(row[idAt])])].map((key) => [key, text])),
  );
}

/** Runs one task at a time; shows its error. */
async function alone(task: () => Promise<void>): Promise<void> {
  if (busy) return;
  busy = true;
  run!.disabled = true;
  stop!.hidden = false;
  problem!.hidden = true;
  root.setAttribute('aria-busy', 'true');
  try {
    await task();
  } catch (error) {
    status!.textContent = '';
    problem!.hidden = false;
    problem!.textContent = (error as Error).message;
  } finally {
    busy = false;
    run!.disabled = false;
    stop!.hidden = true;
    root.removeAttribute('aria-busy');
  }
}

/** Runs a query; its address is a new entry of the browser's history, unless it is there already. */
async function runQuery(sql: string): Promise<void> {
  if (busy || sql.trim() === '') return;
  const address = consoleFragment({ sql, chart: chart.choice });
  const before = readConsole(location.hash)?.sql;
  if (before === undefined || before === sql) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  result = null;
  output!.hidden = true;
  await alone(() => answer(sql));
}

/** Shows the answer of the service. */
async function answer(sql: string): Promise<void> {
  empty!.hidden = true;
  status!.textContent = 'Running …';
  const begun = performance.now();
  stopping = new AbortController();
  result = { sql, ...(await queryService(api, sql, stopping.signal)) };
  const duration = performance.now() - begun;
  queries.add({ sql, at: Date.now(), rows: result.rows.length });
  showHistory(queries, runAgain);
  showResult(result, `in ${duration < 1000 ? `${Math.round(duration)} ms` : `${(duration / 1000).toFixed(1)} s`}.`);
}

function runAgain(sql: string): void {
  editor.text = sql;
  chart.choice = null;
  void runQuery(sql);
}

const count = (rows: number) => `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`;

function showResult({ columns, rows, truncated }: Result, about: string): void {
  const shown = truncated ? `The first ${rows.length.toLocaleString('en')} rows` : count(rows.length);
  status!.textContent = `${shown} ${about}${truncated ? ' There are more: add conditions, or use the files.' : ''}`;
  output!.hidden = false;
  byId('sql-file-rows').textContent = count(rows.length);
  table.show(columns, rows);
  chart.show(columns, rows, truncated);
}

/** Downloads the rows of the result. */
function download(format: ResultFormat): void {
  if (result === null) return;
  const { columns, rows } = result;
  const file = fileOf(format, columns, rows);
  save(file, `${dataset}.${format}`);
  status!.textContent = `Downloaded ${count(rows.length)} as ${format.toUpperCase()}, ${(file.size / 1e6).toFixed(file.size < 1e6 ? 3 : 1)} MB.`;
}

function save(file: Blob, name: string): void {
  const anchor = document.createElement('a');
  anchor.href = URL.createObjectURL(file);
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000);
}

/** Copies the rows that the page holds. */
async function copy(format: TextFormat, label: string): Promise<void> {
  if (result === null) return;
  const { columns, rows, truncated } = result;
  const part = truncated ? `the first ${count(rows.length)}` : count(rows.length);
  status!.textContent = await navigator.clipboard.writeText(resultText(format, columns, rows)).then(
    () => `Copied ${part} as ${label}.`,
    () => 'The browser did not allow access to the clipboard.',
  );
}

byId<HTMLFormElement>('sql-form').addEventListener('submit', (event) => {
  event.preventDefault();
  void runQuery(editor.text);
});
stop!.addEventListener('click', () => stopping.abort());
link!.addEventListener('click', async () => {
  const address = new URL(consoleFragment({ sql: editor.text, chart: chart.choice }), location.href).href;
  status!.textContent = await navigator.clipboard.writeText(address).then(
    () => 'Link copied. It contains the query.',
    () => 'The browser did not allow access to the clipboard.',
  );
});
for (const button of document.querySelectorAll<HTMLElement>('.sql-example'))
  button.addEventListener('click', () => runAgain(button.dataset['sql'] ?? ''));
for (const button of document.querySelectorAll<HTMLElement>('[data-column]'))
  button.addEventListener('click', () => editor.insert(writtenName(button.dataset['column'] ?? '')));
for (const button of document.querySelectorAll<HTMLElement>('[data-text]'))
  button.addEventListener('click', () => void copy(button.dataset['text'] as TextFormat, button.textContent ?? ''));
for (const button of document.querySelectorAll<HTMLElement>('[data-save]'))
  button.addEventListener('click', () => download(button.dataset['save'] as ResultFormat));

/** Runs the query of the address. */
function follow(): void {
  const state = readConsole(location.hash);
  if (state === null) return;
  editor.text = state.sql;
  chart.choice = state.chart;
  void runQuery(state.sql);
}
addEventListener('popstate', follow);
showHistory(queries, runAgain);
follow();
