// Paid columns and paid selections: the offer with its price, and the rows that the session of the visitor paid for.

import { columnsOffer, selectionOffer } from '../../api/pages/dataset-table.ts';
import type { Html } from '../../api/pages/html.ts';
import type { Model, ModelAttribute, TableRow } from '../../api/pages/viewer-model.ts';
import { listOf } from '../../api/pages/viewer-state.ts';
import type { Value } from '../../packs/define/model.ts';
import { connectOffer, type PageCall } from '../account/offer.ts';
import { byId } from '../lib/dom.ts';

/** A page of a search, as the API answers it. */
interface ResultPage {
  items: { slug: string; name: string; attributes: Record<string, Value> }[];
  next_cursor: string | null;
}

export class PaidRows {
  /** Paid values by slug. */
  readonly values = new Map<string, Record<string, Value | null>>();
  readonly #model: Model;
  readonly #changed: () => Promise<void>;

  constructor(model: Model, changed: () => Promise<void>) {
    this.#model = model;
    this.#changed = changed;
  }

  /** Offers to load the paid columns of the rows, unless they are all loaded. */
  offer(rows: readonly TableRow[], columns: readonly ModelAttribute[]): void {
    const names = columns.filter((column) => !column.public).map(({ name }) => name);
    const missing = rows.filter(({ slug }) => this.#lacks(slug, names)).map(({ slug }) => slug);
    this.#show(columnsOffer(this.#model, location.search, missing), async ({ items }, text, paid) => {
      const [slugs, fields] = [paid['ids'], paid['fields']].map((list) => listOf(list ?? ''));
      if (!slugs!.some((slug) => this.#lacks(slug, fields!))) return;
      // Where a record has no value, its cell is empty.
      for (const slug of slugs!) this.#keep(slug, Object.fromEntries(fields!.map((name) => [name, null])));
      for (const { slug, attributes } of items) this.#keep(slug, attributes);
      await this.#changed();
      byId('viewer-status').textContent = text;
    });
  }

  /** Offers the rows that the service selects by paid attributes. */
  search(onRows: (rows: TableRow[], isLast: boolean) => void, cursor = ''): void {
    this.#show(selectionOffer(this.#model, location.search, cursor), ({ items, next_cursor }, text) => {
      for (const { slug, attributes } of items) this.#keep(slug, attributes);
      this.close();
      onRows(
        items.map((item) => ({ ...item, provenance: {} })),
        next_cursor === null,
      );
      byId('viewer-status').textContent = text;
      if (next_cursor !== null) this.search(onRows, next_cursor);
    });
  }

  /** Removes the offer. */
  close(): void {
    byId('viewer-offer').replaceChildren();
  }

  /** Whether a paid value of a record is not loaded. */
  #lacks(slug: string, names: readonly string[]): boolean {
    return names.some((name) => !(name in (this.values.get(slug) ?? {})));
  }

  #keep(slug: string, attributes: Record<string, Value | null>): void {
    this.values.set(slug, { ...this.values.get(slug), ...attributes });
  }

  /** Shows an offer in place of the one before. */
  #show(offer: Html | '', show: (page: ResultPage, text: string, paid: PageCall['arguments']) => void): void {
    this.close();
    const element = new DOMParser().parseFromString(String(offer), 'text/html').getElementById('load');
    if (element === null) return;
    byId('viewer-offer').append(document.adoptNode(element));
    connectOffer((answer, text, paid) => {
      // The visitor may have gone on to other rows.
      if (element.isConnected) show(JSON.parse(answer) as ResultPage, text, paid);
    });
  }
}
