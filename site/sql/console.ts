// The SQL console: query, result, chart, files and history. The service answers small queries; the engine is downloaded
// for the others, the editor at the first focus, the code of charts with the first chart.
import { writtenName } from '../../data/write/sql-names.ts';
import { byId, createElement } from '../lib/dom.ts';
import { consoleFragment, readConsole } from './address.ts';
import { type Cell, errorMessage, printCell, type ResultColumn, type ResultRow } from './cells.ts';
import { ChartPanel } from './chart-panel.ts';
import { openEditor } from './editor.ts';
import type { SqlEngine, TableFile } from './engine.ts';
import { fileOf, type ResultFormat, resultText, type TextFormat } from './export.ts';
import { QueryHistory } from './history.ts';
import { askService, StatementError } from './service.ts';

/** Rows added to the page at a time. */
const PAGE = 200;

/** Slugs of records by the ids and slugs in the cells of key columns. */
type FindSlugs = (texts: readonly string[]) => Promise<Map<string, string>>;

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

/** Rows of a result that the page holds. Files contain all. */
const MOST = 10_000;

interface Result {
  sql: string;
  columns: ResultColumn[];
  rows: ResultRow[];
  /** All rows of the query; null: unknown. */
  total: number | null;
}

const root = byId('sql');
const [run, stop, link] = ['sql-run', 'sql-stop', 'sql-link'].map((id) => byId<HTMLButtonElement>(id));
const [status, problem, output, empty] = ['sql-status', 'sql-error', 'sql-result', 'sql-empty'].map((id) => byId(id));
const { dataset = '', api = '', pages = '', land = '', id = 'id', slug = 'slug' } = root.dataset;
const localOnly = byId<HTMLInputElement>('sql-local');
const tables = JSON.parse(root.dataset['tables'] ?? '[]') as TableFile[];

let opening: Promise<SqlEngine> | null = null;
let result: Result | null = null;
let busy = false;

const queries = new QueryHistory(dataset);
const editor = openEditor(byId<HTMLTextAreaElement>('sql-text'), editorTables(), () => void runQuery(editor.text));
const table = new ResultTable([...new Set([id, slug, 'id', 'slug'])], pages, async (texts) =>
  opening === null ? slugsOf(result) : (await opening).slugs(texts),
);
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

function engine(): Promise<SqlEngine> {
  opening ??= import('./engine.ts')
    .then(({ openDatabase }) => openDatabase(tables, { id, slug }, showProgress, Number(root.dataset['engine'])))
    .catch((error: unknown) => {
      opening = null;
      throw error;
    });
  return opening;
}

const downloads = new Map<string, { done: number; of: number }>();

/** Shows the sum of all downloads; the bar is indeterminate while a size is unknown. */
function showProgress(what: string, done: number, of: number): void {
  downloads.set(what, { done, of });
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
  const all = [...downloads.values()];
  const sum = all.reduce((bytes, part) => bytes + part.done, 0);
  const whole = all.every((part) => part.of > 0) ? all.reduce((bytes, part) => bytes + part.of, 0) : 0;
  const total = whole > 0 ? ` of ${megabytes(whole)}` : '';
  byId('sql-load-text').textContent =
    `Downloading ${downloads.has('engine') ? 'the engine and ' : ''}the data, unpacked: ${megabytes(sum)}${total} MB. Your browser caches the engine.`;
  const bar = byId<HTMLProgressElement>('sql-progress');
  if (whole > 0) bar.value = sum / whole;
  else bar.removeAttribute('value');
}

/** Runs a task that uses the engine. */
async function withEngine(task: (ready: SqlEngine) => Promise<void>, sql: string): Promise<void> {
  if (opening === null) downloads.clear();
  byId('sql-load').hidden = false;
  const ready = await engine();
  await ready.attach(sql);
  byId('sql-load').hidden = true;
  stop!.hidden = false;
  await task(ready);
}

/** Runs one task at a time; shows its error. */
async function alone(task: () => Promise<void>): Promise<void> {
  if (busy) return;
  busy = true;
  run!.disabled = true;
  problem!.hidden = true;
  root.setAttribute('aria-busy', 'true');
  try {
    await task();
  } catch (error) {
    status!.textContent = '';
    problem!.hidden = false;
    showError(errorMessage(error));
    if (error instanceof StatementError) offerBrowser();
  } finally {
    busy = false;
    byId('sql-load').hidden = true;
    run!.disabled = false;
    stop!.hidden = true;
    root.removeAttribute('aria-busy');
  }
}

/** Runs a query; its address is a new entry of the browser's history, unless it is there already. */
async function runQuery(sql: string, local = localOnly.checked): Promise<void> {
  if (busy || sql.trim() === '') return;
  const address = consoleFragment({ sql, chart: chart.choice });
  const before = readConsole(location.hash)?.sql;
  if (before === undefined || before === sql) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  result = null;
  output!.hidden = true;
  await alone(() => answer(sql, local));
}

/** The answer of the service, unless the engine is here already or has to be; else the answer of the engine. */
async function answer(sql: string, local: boolean): Promise<void> {
  empty!.hidden = true;
  status!.textContent = 'Running …';
  const begun = performance.now();
  const served = local || opening !== null ? null : await askService(api, sql);
  if (served !== null) {
    const { columns, rows, truncated } = served;
    keep({ sql, columns, rows, total: truncated ? null : rows.length }, begun, 'By the service.');
    return;
  }
  await withEngine(async (ready) => {
    const started = performance.now();
    const { columns, rows, more } = await ready.run(sql, MOST);
    const ended = performance.now();
    const total = more ? await ready.count(sql) : rows.length;
    keep(
      { sql, columns, rows, total },
      started + performance.now() - ended,
      `In this browser, DuckDB ${ready.version}.`,
    );
  }, sql);
}

/** Keeps and shows a result; `begun`: when the query started, from `performance.now()`. */
function keep(answered: Result, begun: number, by: string): void {
  const duration = performance.now() - begun;
  result = answered;
  queries.add({ sql: answered.sql, at: Date.now(), rows: answered.total ?? answered.rows.length });
  showHistory(queries, runAgain);
  showResult(
    answered,
    `in ${duration < 1000 ? `${Math.round(duration)} ms` : `${(duration / 1000).toFixed(1)} s`}. ${by}`,
  );
}

/** After an error of the service: a button that runs the statement in the browser, which allows more. */
function offerBrowser(): void {
  const button = createElement('button', { type: 'button', className: 'button plain' }, 'Run in this browser');
  button.onclick = () => void runQuery(editor.text, true);
  problem!.append(button);
}

function runAgain(sql: string): void {
  editor.text = sql;
  chart.choice = null;
  void runQuery(sql);
}

const count = (rows: number) => `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`;

function showResult({ columns, rows, total }: Result, about: string): void {
  const cut = total === null || total > rows.length;
  const shown = cut
    ? `The first ${rows.length.toLocaleString('en')} of ${total === null ? 'more' : total.toLocaleString('en')} rows`
    : count(rows.length);
  status!.textContent = `${columns.length === 0 ? 'Done' : shown} ${about}${cut ? ' A download contains all rows.' : ''}`;
  output!.hidden = columns.length === 0;
  byId('sql-file-rows').textContent = total === null ? 'all rows' : count(total);
  table.show(columns, rows);
  chart.show(columns, rows, cut ? total : null);
}

/** The message wraps, except the quoted line, because a mark below it points at a column. */
function showError(text: string): void {
  const [message = '', quoted] = text.split(/\n+(?=LINE \d+:)/);
  const quote = document.createElement('code');
  quote.textContent = quoted ?? '';
  problem!.replaceChildren(message, ...(quoted === undefined ? [] : [quote]));
}

/** Downloads all rows of the result; those that the page does not hold are read again. */
async function download(format: ResultFormat): Promise<void> {
  if (result === null) return;
  const { sql, columns, rows, total } = result;
  const write = async (stream: { columns: ResultColumn[]; batches: AsyncIterable<ResultRow[]> }) => {
    let written = 0;
    const file = await fileOf(format, stream.columns, stream.batches, (done) => {
      written = done;
      status!.textContent = `Writing ${format.toUpperCase()}: ${done.toLocaleString('en')} of ${total === null ? 'all' : count(total)} …`;
    });
    save(file, `${dataset}.${format}`);
    status!.textContent = `Downloaded ${count(written)} as ${format.toUpperCase()}, ${(file.size / 1e6).toFixed(file.size < 1e6 ? 3 : 1)} MB.`;
  };
  await alone(() =>
    total === rows.length
      ? write({ columns, batches: batchesOf(rows) })
      : withEngine(async (ready) => write(await ready.stream(sql)), sql),
  );
}

async function* batchesOf(rows: ResultRow[]): AsyncGenerator<ResultRow[]> {
  yield rows;
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
  const { columns, rows, total } = result;
  const part = total === rows.length ? count(rows.length) : `the first ${count(rows.length)}`;
  status!.textContent = await navigator.clipboard.writeText(resultText(format, columns, rows)).then(
    () => `Copied ${part} as ${label}.`,
    () => 'The browser did not allow access to the clipboard.',
  );
}

// Without the service the engine is needed: its download starts when the visitor begins to write.
byId<HTMLFormElement>('sql-form').addEventListener('focusin', ({ target }) => {
  if ((localOnly.checked || !navigator.onLine) && target !== localOnly) void engine().catch(() => {});
});
byId<HTMLFormElement>('sql-form').addEventListener('submit', (event) => {
  event.preventDefault();
  void runQuery(editor.text);
});
stop!.addEventListener('click', () => void opening?.then((ready) => ready.stop()));
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
  button.addEventListener('click', () => void download(button.dataset['save'] as ResultFormat));

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
