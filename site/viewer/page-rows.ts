// Rows of a state, which the service puts into the table (api/channels/static/page-rows.ts).
import type { Model, ServedRows } from '../../api/pages/viewer-model.ts';
import { rowsKey } from '../../api/pages/viewer-state.ts';
import { placeTable } from './table.ts';

/** Milliseconds that the page waits for the rows of a table, and for files and points, which may be long. */
const PATIENCE = { table: 15_000, file: 120_000 };

/** This host has the files only. */
export class NoService extends Error {}

const servedRows = (viewer: HTMLElement | null): ServedRows | null => {
  const text = viewer?.dataset['rows'];
  return text === undefined ? null : (JSON.parse(text) as ServedRows);
};

/**
 * Requests what the service answers for a dataset, such as `rows/csv`. Throws an error for the visitor; NoService where
 * no service is behind the host.
 */
export async function requestRows({ pages }: Model, path: string, query: URLSearchParams): Promise<Response> {
  const patience = path === 'rows/html' ? PATIENCE.table : PATIENCE.file;
  const init = { headers: { Accept: '*/*' }, signal: AbortSignal.timeout(patience) };
  const response = await fetch(`${pages}${path}?${query}`, init).catch(() => {
    throw new Error("Couldn't load the data. Check the connection.");
  });
  // Some hosts send a page for every unknown address.
  if (response.ok && response.headers.has('x-dataset-version')) return response;
  const { message } = (await response.json().catch(() => ({}))) as { message?: string };
  if (message === undefined) throw new NoService();
  throw new Error(message);
}

export class PageRows {
  /** What the service answered about the rows in the table; null: they are those of the file. */
  served: ServedRows | null;
  readonly #model: Model;
  /** The table of the file; null: the page is not the file. */
  readonly #first: Node | null;

  constructor(viewer: HTMLElement, model: Model) {
    this.served = servedRows(viewer);
    this.#model = model;
    this.#first = this.served === null ? viewer.querySelector('#viewer-table')!.cloneNode(true) : null;
  }

  /** Puts the rows of a state into the table: without the service only the first ones. Throws as `requestRows`. */
  async load(state: URLSearchParams): Promise<void> {
    this.served = null;
    const response = await requestRows(this.#model, 'rows/html', state).catch((error) => {
      if (!(error instanceof NoService) || rowsKey(state) !== '' || this.#first === null) throw error;
      placeTable(this.#first.cloneNode(true) as Element);
    });
    if (!response) return;
    const text = await response.text().catch(() => '');
    const part = new DOMParser().parseFromString(text, 'text/html');
    const served = servedRows(part.getElementById('viewer'));
    if (served?.key !== rowsKey(state)) throw new Error("Couldn't load the data.");
    placeTable(part.getElementById('viewer-table')!);
    this.served = served;
  }

  /** Whether the first rows of the file lack edits or removals, which the service knows. */
  async areOutdated(): Promise<boolean> {
    if (this.served !== null) return false;
    const edits = this.#model.pages.replace('/datasets/', '/files/').concat('edits.json');
    const response = await fetch(edits, { cache: 'no-cache' }).catch(() => null);
    // An unread answer keeps its connection.
    void response?.body?.cancel();
    return response?.ok === true && response.headers.get('content-type')?.startsWith('application/json') === true;
  }
}
