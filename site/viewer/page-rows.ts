// Rows that the service puts into the page of an address (api/channels/static/address-rows.ts). Hosts of files have none.
import type { ServedRows } from '../../api/pages/viewer-model.ts';
import { rowsKey } from '../../api/pages/viewer-state.ts';
import { placeTable } from './table.ts';

/** Milliseconds until the rows are read from the public file instead. */
const PATIENCE = 8_000;

const servedRows = (viewer: HTMLElement | null): ServedRows | null => {
  const text = viewer?.dataset['rows'];
  return text === undefined ? null : (JSON.parse(text) as ServedRows);
};

export class PageRows {
  /** What the service answered about the rows in the table; null: they are of a file. */
  served: ServedRows | null;
  /** Whether only files are at this address. */
  #isStatic = false;

  constructor(viewer: HTMLElement) {
    this.served = servedRows(viewer);
  }

  /** Puts the rows of a state into the table; null: read them from the public file. */
  async load(state: URLSearchParams): Promise<ServedRows | null> {
    this.served = null;
    if (this.#isStatic) return null;
    // Without a query the answer may be a file.
    const address = `${location.pathname}?${state.size === 0 ? 'page=1' : state}`;
    const headers = { Accept: 'text/html' };
    const response = await fetch(address, { headers, signal: AbortSignal.timeout(PATIENCE) }).catch(() => null);
    // The page of a wrong address says what is wrong; an unread answer would keep its connection.
    const text = (await response?.text().catch(() => '')) ?? '';
    const page = new DOMParser().parseFromString(text, 'text/html');
    const served = servedRows(page.getElementById('viewer'));
    // A host of files counts no calls.
    this.#isStatic = served === null && response?.ok === true && !response.headers.has('x-ratelimit-limit');
    const table = page.getElementById('viewer-table');
    if (served === null || table === null || served.key !== rowsKey(state)) return null;
    placeTable(table);
    this.served = served;
    return served;
  }
}
