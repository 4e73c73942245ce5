// Paid columns and paid selections: an offer with its price, and the rows that the API returns for it.

import { type Model, type ModelAttribute, PAGE_ROWS, type TableRow } from '../../api/pages/viewer-model.ts';
import { callOf, listText } from '../../api/pages/viewer-state.ts';
import { printEuro } from '../../api/render/print.ts';
import { WELCOME_CREDIT } from '../../data/model/subscriptions.ts';
import type { Value } from '../../packs/define/model.ts';
import { byId, createElement } from './dom.ts';
import type { KeyField } from './key-field.ts';

export class PaidRows {
  /** Paid values by slug. */
  readonly values = new Map<string, Record<string, Value>>();
  readonly #model: Model;
  readonly #key: KeyField;
  readonly #changed: () => Promise<void>;

  constructor(model: Model, key: KeyField, changed: () => Promise<void>) {
    this.#model = model;
    this.#key = key;
    this.#changed = changed;
  }

  /** Offers to load the paid columns of the rows; nothing to offer: no message. */
  offer(rows: readonly TableRow[], columns: readonly ModelAttribute[]): void {
    const names = columns.filter((column) => !column.public).map(({ name }) => name);
    const missing = rows.filter(({ slug }) => names.some((name) => !(name in (this.values.get(slug) ?? {}))));
    if (names.length === 0 || missing.length === 0) return;
    this.#offer(
      `${names.join(', ')}: locked.`,
      `Load ${names.length === 1 ? 'this column' : 'these columns'} for ${missing.length} rows`,
      async (key) => {
        const parameters = new URLSearchParams({
          ids: listText(missing.map(({ slug }) => slug)),
          fields: listText(names),
          limit: String(PAGE_ROWS),
        });
        const page = await searchRecords(`${this.#model.api}/entities?${parameters}`, key);
        for (const { slug } of missing) this.#keep(slug, Object.fromEntries(names.map((name) => [name, null])));
        for (const { slug, attributes } of page.items) this.#keep(slug, attributes);
        await this.#changed();
        byId('viewer-status').textContent = chargeText(page);
      },
    );
  }

  /** Offers the rows that the API selects by paid attributes. */
  search(
    state: URLSearchParams,
    names: readonly string[],
    onRows: (rows: TableRow[], page: ResultPage) => void,
    cursor = '',
  ): void {
    const label = cursor === '' ? `Show ${PAGE_ROWS} rows` : 'Show the next rows';
    this.#offer(`${names.join(', ')} is not public, so the API selects the rows.`, label, async (key) => {
      const parameters = callOf(state, this.#model);
      if (cursor !== '') parameters.set('cursor', cursor);
      const page = await searchRecords(`${this.#model.api}/entities?${parameters}`, key);
      for (const { slug, attributes } of page.items) this.#keep(slug, attributes);
      this.#close();
      onRows(
        page.items.map((item) => ({ ...item, provenance: {} })),
        page,
      );
      byId('viewer-status').textContent = chargeText(page);
      if (page.next_cursor !== null) this.search(state, names, onRows, page.next_cursor);
    });
  }

  #keep(slug: string, attributes: Record<string, Value | null>): void {
    this.values.set(slug, { ...this.values.get(slug), ...(attributes as Record<string, Value>) });
  }

  #close(): void {
    byId('viewer-problem').hidden = true;
  }

  /** Shows what is locked, its price, and the button that spends it, or the way to a key. */
  #offer(text: string, label: string, load: (key: string) => Promise<void>): void {
    const box = byId('viewer-problem');
    const { value: key } = this.#key;
    const price = printEuro(this.#model.price);
    const button = createElement(
      'button',
      { type: 'button', className: 'button' },
      key === null ? 'Enter a key' : `${label}: ${price}`,
    );
    button.onclick = () => {
      if (key === null) return this.#key.open();
      button.disabled = true;
      load(key).catch((error: Error) => {
        button.disabled = false;
        box.replaceChildren(createElement('p', {}, error.message), button);
      });
    };
    const how = createElement(
      'p',
      {},
      `${text} ${key === null ? `With an API key: ${price} for each page of ${PAGE_ROWS} rows.` : ''}`,
    );
    box.replaceChildren(how, button);
    box.hidden = false;
  }
}

// Calls of the API with the visitor's key, for what is not in the public file. Each is made by a click on a
// button that shows its price.

interface Item {
  slug: string;
  name: string;
  attributes: Record<string, Value>;
}

interface ResultPage {
  items: Item[];
  next_cursor: string | null;
  /** EUR charged, and the balance. */
  charged: string | null;
  balance: string | null;
}

/** What to do about an error, by its code. */
const HINTS: Record<string, string> = {
  payment_required: `Every new key has €${(WELCOME_CREDIT / 1_000_000).toFixed(2)}.`,
  insufficient_credits: 'The balance of this key is too low: top it up.',
  invalid_key: 'Key not recognised. Check that it is complete.',
  rate_limited: 'Wait a moment.',
};

/** Paid pages, kept while this page is open: the same page costs nothing again. */
const loaded = new Map<string, ResultPage>();

/** Fetches a page of a search. Throws an error whose message is for the visitor. */
async function searchRecords(url: string, key: string): Promise<ResultPage> {
  const storedPage = loaded.get(`${key} ${url}`);
  if (storedPage !== undefined) return { ...storedPage, charged: null };
  const headers = { Accept: 'application/json', Authorization: `Bearer ${key}` };
  const response = await fetch(url, { headers, credentials: 'omit' }).catch(() => {
    throw new Error(`The API at ${new URL(url, location.href).origin} does not respond.`);
  });
  const body = (await response.json().catch(() => ({}))) as Partial<ResultPage> & { error?: string; message?: string };
  if (!response.ok)
    throw new Error(
      `${body.message ?? `The API answered ${response.status}.`} ${HINTS[body.error ?? ''] ?? ''}`.trim(),
    );
  const page = {
    items: body.items ?? [],
    next_cursor: body.next_cursor ?? null,
    charged: response.headers.get('x-charge-eur'),
    balance: response.headers.get('x-balance-eur'),
  };
  loaded.set(`${key} ${url}`, page);
  return page;
}

/** `Charged €0.008, balance €0.49.`; empty when nothing was charged. */
const chargeText = ({ charged, balance }: ResultPage): string =>
  charged ? `Charged €${charged}, balance €${balance}.` : '';
