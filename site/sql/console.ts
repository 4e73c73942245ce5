// The SQL console: the editor, its state in the URL, and the table of results. The first query downloads the
// engine.
import { csvRow } from '../../data/write/csv.ts';
import { errorMessage } from './cells.ts';
import type { QueryResult, SqlEngine } from './engine.ts';
import { readQuery, writeQuery } from './hash.ts';

/** Stored rows of a result, and rows added to the page at a time. */
const MOST = 10_000;
const PAGE = 200;

const by = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const root = by('sql');
const form = by<HTMLFormElement>('sql-form');
const editor = by<HTMLTextAreaElement>('sql-text');
const [run, stop, link] = ['sql-run', 'sql-stop', 'sql-link'].map(by) as HTMLButtonElement[];
const [status, wrong, result, table, empty] = ['sql-status', 'sql-error', 'sql-result', 'sql-table', 'sql-empty'].map(
  by,
) as HTMLElement[];
const [more, csv] = ['sql-more', 'sql-csv'].map(by) as HTMLButtonElement[];
const { file = '', dataset = '' } = root.dataset;

let opening: Promise<SqlEngine> | null = null;
let answer: QueryResult | null = null;
let shown = 0;
let busy = false;

function engine(): Promise<SqlEngine> {
  opening ??= open().catch((error: unknown) => {
    opening = null;
    throw error;
  });
  return opening;
}

async function open(): Promise<SqlEngine> {
  const load = by('sql-load');
  const progress = by<HTMLProgressElement>('sql-progress');
  const parts = { engine: { done: 0, of: 0 }, data: { done: 0, of: 0 } };
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
  const tell = () => {
    const { engine, data } = parts;
    const of = engine.of > 0 && data.of > 0 ? engine.of + data.of : 0;
    const done = engine.done + data.done;
    const total = of > 0 ? ` of ${megabytes(of)}` : '';
    by('sql-load-text').textContent =
      `Downloading the engine and the data: ${megabytes(done)}${total} MB. Your browser caches the engine.`;
    if (of > 0) progress.value = done / of;
    else progress.removeAttribute('value');
  };
  load.hidden = false;
  tell();
  try {
    const { openDatabase } = await import('./engine.ts');
    return await openDatabase(file, (what, done, of) => {
      parts[what] = { done, of };
      tell();
    });
  } finally {
    load.hidden = true;
  }
}

async function ask(sql: string): Promise<void> {
  if (busy || sql.trim() === '') return;
  busy = true;
  run!.disabled = true;
  wrong!.hidden = true;
  root.setAttribute('aria-busy', 'true');
  history.replaceState(null, '', writeQuery(sql));
  try {
    const ready = await engine();
    status!.textContent = 'Running …';
    stop!.hidden = false;
    const begun = performance.now();
    answer = await ready.ask(sql, MOST);
    const took = performance.now() - begun;
    status!.textContent = `${summary(answer)} in ${took < 1000 ? `${Math.round(took)} ms` : `${(took / 1000).toFixed(1)} s`}. DuckDB ${ready.version}.`;
    show();
  } catch (error) {
    status!.textContent = '';
    result!.hidden = true;
    empty!.hidden = true;
    wrong!.hidden = false;
    complain(errorMessage(error));
  } finally {
    busy = false;
    run!.disabled = false;
    stop!.hidden = true;
    root.removeAttribute('aria-busy');
  }
}

/** The message wraps, except the quoted line, because a mark below it points at a column. */
function complain(text: string): void {
  const [message = '', quoted] = text.split(/\n+(?=LINE \d+:)/);
  const quote = document.createElement('code');
  quote.textContent = quoted ?? '';
  wrong!.replaceChildren(message, ...(quoted === undefined ? [] : [quote]));
}

const count = (rows: number) => `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`;

function summary({ rows, more, columns }: QueryResult): string {
  if (columns.length === 0) return 'Done';
  return more ? `The first ${count(rows.length)}; there are more: add a LIMIT or a WHERE. Done` : count(rows.length);
}

function show(): void {
  if (answer === null) return;
  empty!.hidden = true;
  result!.hidden = answer.columns.length === 0;
  const numeric = answer.columns.map(({ type }) => /^(Int|Uint|Float|Decimal)/i.test(type));
  const head = document.createElement('thead');
  const names = head.insertRow();
  answer.columns.forEach(({ name }, at) => {
    const cell = document.createElement('th');
    cell.scope = 'col';
    cell.textContent = name;
    if (numeric[at]) cell.className = 'number';
    names.append(cell);
  });
  table!.replaceChildren(head, document.createElement('tbody'));
  shown = 0;
  showMore(numeric);
  by('sql-scroll').scrollTo(0, 0);
}

function showMore(numeric: boolean[]): void {
  if (answer === null) return;
  const body = (table as HTMLTableElement).tBodies[0]!;
  for (const row of answer.rows.slice(shown, shown + PAGE)) {
    const line = body.insertRow();
    row.forEach((value, at) => {
      const cell = line.insertCell();
      if (value === null) cell.className = 'none';
      else if (numeric[at]) cell.className = 'number';
      cell.textContent = value ?? 'null';
    });
  }
  shown = Math.min(shown + PAGE, answer.rows.length);
  more!.hidden = shown === answer.rows.length;
  more!.textContent = `Show more rows (${count(shown)} of ${answer.rows.length.toLocaleString('en')})`;
  more!.onclick = () => showMore(numeric);
}

/** Downloads the stored rows as a CSV file. */
function download(): void {
  if (answer === null) return;
  const rows = [answer.columns.map(({ name }) => name), ...answer.rows].map((row) => csvRow(row));
  const blob = new Blob([rows.join('\r\n'), '\r\n'], { type: 'text/csv' });
  const anchor = document.createElement('a');
  anchor.href = URL.createObjectURL(blob);
  anchor.download = `${dataset}.csv`;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}

/** Inserts a name at the cursor. */
function insert(name: string): void {
  const plain = /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name}"`;
  editor.focus();
  editor.setRangeText(plain, editor.selectionStart, editor.selectionEnd, 'end');
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void ask(editor.value);
});
editor.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    void ask(editor.value);
  }
});
stop!.addEventListener('click', () => void opening?.then((ready) => ready.stop()));
link!.addEventListener('click', async () => {
  history.replaceState(null, '', writeQuery(editor.value));
  await navigator.clipboard.writeText(location.href).catch(() => {});
  status!.textContent = 'Link copied. It contains the query.';
});
csv!.addEventListener('click', download);
for (const button of document.querySelectorAll<HTMLElement>('.sql-example'))
  button.addEventListener('click', () => {
    editor.value = button.dataset['sql'] ?? '';
    void ask(editor.value);
  });
for (const button of document.querySelectorAll<HTMLElement>('[data-column]'))
  button.addEventListener('click', () => insert(button.dataset['column'] ?? ''));

function follow(): void {
  const query = readQuery(location.hash);
  if (query === null || query === editor.value) return;
  editor.value = query;
}
addEventListener('hashchange', () => {
  follow();
  void ask(editor.value);
});
follow();
if (readQuery(location.hash) !== null) void ask(editor.value);
