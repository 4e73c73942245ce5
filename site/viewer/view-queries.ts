// Answers of the worker: the rows of a view, computed from the public Parquet file.

import { words } from '../../packs/define/text.ts';
import { boundsOf, gather } from './clusters.ts';
import type { NumberColumn, TextColumn } from './columns.ts';
import { CONTENT_TYPES, fileParts } from './export.ts';
import type { Calls, Cluster, MapBox, Row, RowsRequest, Selected } from './messages.ts';
import type { Model } from './model.ts';
import { type ParquetStore, SORT_KEYS } from './parquet-store.ts';
import { byName, matchingRows, sortedRows } from './query.ts';
import { RELEVANCE } from './state.ts';
import { conditionsOf } from './where.ts';

/** Points in the box up to which single ones have names. */
const NAMED = 400;

export class ViewQueries {
  readonly #store: ParquetStore;
  readonly #model: Model;
  /** Rows of the last selection, and of the last sort of it. */
  #matched: { where: string; rows: Uint32Array } | null = null;
  #sorted: (Selected & { rows: Uint32Array }) | null = null;
  #took = 0;

  constructor(store: ParquetStore, model: Model) {
    this.#store = store;
    this.#model = model;
  }

  async rows({ from, count, columns, ...selected }: RowsRequest): Promise<Calls['rows']['answer']> {
    const all = await this.selected(selected);
    const rows = await this.#read(all.subarray(from, from + count), columns);
    const records = this.#store.rows - this.#store.dropped.length;
    return { rows: [...rows], matched: all.length, records, took: this.#took };
  }

  async sources({ from, count, columns, ...selected }: RowsRequest): Promise<Calls['sources']['answer']> {
    const rows = (await this.selected(selected)).slice(from, from + count);
    return this.#store.sources(rows, columns);
  }

  async export({ columns, format, ...selected }: Calls['export']['request']): Promise<Blob> {
    const { geo } = this.#model;
    const placed = format !== 'geojson' || geo === null || columns.includes(geo) ? columns : [...columns, geo];
    const attributes = placed.flatMap(
      (name) => this.#model.attributes.find((each) => each.name === name && each.public) ?? [],
    );
    const rows = await this.#read(
      await this.selected(selected),
      attributes.map(({ name }) => name),
    );
    return new Blob([...fileParts(format, rows, attributes, this.#model)], { type: CONTENT_TYPES[format] });
  }

  async bounds({ where }: Calls['bounds']['request']): Promise<MapBox | null> {
    const { rows, lat, lng } = await this.#points(where);
    return boundsOf(rows, lat, lng);
  }

  async clusters({ where, box, cells }: Calls['clusters']['request']): Promise<Calls['clusters']['answer']> {
    const { rows, lat, lng } = await this.#points(where);
    const { clusters, placed } = gather(rows, { lat, lng }, box, cells);
    const single = Uint32Array.from(
      placed > NAMED ? [] : clusters.filter(({ count }) => count === 1),
      ({ row }) => row,
    );
    const names = new Map<number, Row>();
    for (const [at, row] of [...(await this.#read(single, []))].entries()) names.set(single[at]!, row);
    const named = clusters.map(({ row, ...cluster }): Cluster => {
      const record = names.get(row);
      return record === undefined ? cluster : { ...cluster, slug: record.slug, name: record.name };
    });
    return { clusters: named, placed };
  }

  /** Positions of the rows of a selection, in its order. */
  async selected({ where, sort }: Selected): Promise<Uint32Array> {
    if (sort === RELEVANCE) return this.#byRelevance(where);
    const key = sort.replace(/^-/, '');
    // The file is sorted by quality, best first.
    const sorting = sort === '-quality' ? [] : this.#store.columnsFor(key);
    await this.#store.load(sorting);
    if (sorting.length > 0) this.#column(key).ranks();
    const rows = await this.#matching(where);
    const begun = performance.now();
    if (this.#sorted?.where !== where || this.#sorted.sort !== sort) {
      const sorted = sorting.length === 0 ? rows : sortedRows(rows, this.#column(key), sort.startsWith('-'));
      this.#sorted = { where, sort, rows: sorted };
    }
    this.#took += performance.now() - begun;
    return this.#sorted.rows;
  }

  /** Names that are `q`, names that begin with it, then the others; each in the usual order of the table. */
  async #byRelevance(where: string): Promise<Uint32Array> {
    const [rows] = await Promise.all([
      this.selected({ where, sort: this.#model.sort }),
      this.#store.load([this.#store.names]),
    ]);
    const phrase = words(new URLSearchParams(where).get('q') ?? '').join(' ');
    return byName(rows, this.#store.column('name') as TextColumn, phrase);
  }

  /** Positions of the rows of a selection, in the order of the file. */
  async #matching(where: string): Promise<Uint32Array> {
    const conditions = conditionsOf(new URLSearchParams(where), this.#model);
    const columns = this.#store.needed(conditions);
    await this.#store.load(columns);
    this.#store.prepare(columns);
    const begun = performance.now();
    if (this.#matched?.where !== where) this.#matched = { where, rows: matchingRows(this.#store, conditions) };
    this.#took = performance.now() - begun;
    return this.#matched.rows;
  }

  async #points(where: string): Promise<{ rows: Uint32Array; lat: Float64Array; lng: Float64Array }> {
    await this.#store.load(this.#store.columnsFor(this.#model.geo ?? ''));
    const { lat, lng } = this.#store.point();
    return { rows: await this.#matching(where), lat: lat.values, lng: lng.values };
  }

  #column(key: string): NumberColumn | TextColumn {
    const own = SORT_KEYS[key];
    const column = own === undefined ? this.#store.ends(key).low : this.#store.column(own);
    return column as NumberColumn | TextColumn;
  }

  /** The rows at these positions; a column that is not public has no values. */
  async #read(rows: Uint32Array, columns: readonly string[]): Promise<Iterable<Row>> {
    const open = new Set(this.#model.attributes.filter((each) => each.public).map(({ name }) => name));
    const attributes = columns.filter((name) => open.has(name));
    await this.#store.load(this.#store.shown(attributes), rows);
    const store = this.#store;
    return {
      *[Symbol.iterator]() {
        for (const row of rows)
          yield {
            slug: String(store.own('slug', row)),
            name: String(store.own('name', row)),
            values: columns.map((name) => (open.has(name) ? store.value(name, row) : null)),
          };
      },
    };
  }
}
