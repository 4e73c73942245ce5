// The worker that holds the data: answers the requests of the page, one after the other.

import type { AsyncBuffer } from 'hyparquet';
import type { Model } from '../../api/pages/viewer-model.ts';
import { RELEVANCE } from '../../api/pages/viewer-state.ts';
import { parseFilters } from '../../data/input/filters.ts';
import { listValues, parseNumberBetween, parseText, parseTime } from '../../data/input/parse-values.ts';
import { parseBox, parseNear } from '../../data/input/places.ts';
import { DataError } from '../../data/model/errors.ts';
import type { Predicate } from '../../data/plan/plan.ts';
import { derive } from '../../packs/define/derive.ts';
import type { Pack } from '../../packs/define/model.ts';
import { words } from '../../packs/define/text.ts';
import { boundsOf, gather } from './clusters.ts';
import type { NumberColumn, TextColumn } from './columns.ts';
import { fetchEdits } from './edits.ts';
import { CONTENT_TYPES, fileParts } from './export.ts';
import type { Answer, Calls, Cluster, Kind, MapBox, Message, Row, RowsRequest, Selected } from './messages.ts';
import { ParquetStore, SORT_KEYS } from './parquet-store.ts';
import { byName, matchingRows, sortedRows } from './query.ts';

/** Parameters that are not filters of attributes. */
const OTHERS: Record<string, (name: string, raw: string, pack: Pack) => Predicate> = {
  q: (name, raw) => ({ kind: 'words', words: [...new Set(words(parseText(name, raw)))], scope: 'public' }),
  near: (_name, raw, pack) => parseNear(raw, pack),
  bbox: (_name, raw, pack) => parseBox(raw, pack),
  ids: (_name, raw) => ({ kind: 'ids', refs: listValues(raw).map((ref) => ref.toLowerCase()) }),
  min_quality: (name, raw) => ({ kind: 'min_quality', value: parseNumberBetween(name, raw, 0, 1) }),
  updated_since: (name, raw) => ({ kind: 'updated_since', at: parseTime(name, raw) }),
};

/** The members of a pack that parsers of conditions read. */
function packOf(model: Model): Pack {
  return derive(model, 'pack of the viewer', () => {
    const attributes = model.attributes.map((attribute) => ({ ...attribute, aliases: [], values: null }));
    return { id: model.dataset, attributes } as unknown as Pack;
  });
}

/** The conditions of a selection; throws DataError, with the message of the API, for a wrong parameter. */
function conditionsOf(selection: URLSearchParams, model: Model): Predicate[] {
  const pack = packOf(model);
  const raw = Object.fromEntries(selection);
  const others = Object.entries(OTHERS);
  const { where } = parseFilters(
    raw,
    pack,
    others.map(([name]) => name),
  );
  return [
    ...where,
    ...others.flatMap(([name, parse]) => (raw[name] === undefined ? [] : parse(name, raw[name], pack))),
  ];
}

/** Points in the box up to which single ones have names. */
const NAMED = 400;

class ViewQueries {
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
    const fields = format !== 'geojson' || geo === null || columns.includes(geo) ? columns : [...columns, geo];
    const attributes = fields.flatMap(
      (name) => this.#model.attributes.find((attribute) => attribute.name === name && attribute.public) ?? [],
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
    const { clusters, total } = gather(rows, { lat, lng }, box, cells);
    const single = Uint32Array.from(total > NAMED ? [] : clusters.filter(({ count }) => count === 1), ({ row }) => row);
    const names = new Map<number, Row>();
    for (const [at, row] of [...(await this.#read(single, []))].entries()) names.set(single[at]!, row);
    const named = clusters.map(({ row, ...cluster }): Cluster => {
      const record = names.get(row);
      return record === undefined ? cluster : { ...cluster, slug: record.slug, name: record.name };
    });
    return { clusters: named, total };
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
    const sortKey = SORT_KEYS[key];
    const column = sortKey === undefined ? this.#store.ends(key).low : this.#store.column(sortKey);
    return column as NumberColumn | TextColumn;
  }

  /** The rows at these positions; a column that is not public has no values. */
  async #read(rows: Uint32Array, columns: readonly string[]): Promise<Iterable<Row>> {
    const open = new Set(this.#model.attributes.filter((attribute) => attribute.public).map(({ name }) => name));
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

/** The file changed, or is being written again, since its first range was read. */
class FileChanged extends Error {}

/** The file could not be read; the message is for the visitor. */
class LoadError extends Error {}

/** Sends a request; errors of the network have no text of their own. */
const request = (url: string, init: RequestInit): Promise<Response> =>
  fetch(url, init).catch(() => {
    throw new LoadError("Couldn't load the data. Check the connection.");
  });

/** Why a file is not sent, in words for people. */
function refusal(response: Response): LoadError {
  // An unread answer keeps its connection.
  void response.body?.cancel();
  const seconds = response.headers.get('retry-after');
  if (response.status !== 503) return new LoadError("Couldn't load the data.");
  const wait = seconds === null ? '' : ` Retry in about ${seconds} seconds.`;
  return new LoadError(`Couldn't load the data: a record was removed, and its file is being rewritten.${wait}`);
}

class RangeFile implements AsyncBuffer {
  readonly byteLength: number;
  /** Bytes received so far, and all that were requested. */
  received: number;
  expected: number;
  readonly #url: string;
  readonly #etag: string | null;
  /** The end of the file, with its metadata. */
  readonly #end: ArrayBuffer;

  private constructor(url: string, etag: string | null, byteLength: number, end: ArrayBuffer) {
    this.#url = url;
    this.#etag = etag;
    this.byteLength = byteLength;
    this.#end = end;
    this.received = end.byteLength;
    this.expected = end.byteLength;
  }

  /** Opens the file with its last `footer` bytes; a host without ranges sends all of it. */
  static async open(url: string, footer: number): Promise<RangeFile> {
    const response = await request(url, { headers: { Range: `bytes=-${footer}` }, cache: 'no-cache' });
    if (!response.ok) throw refusal(response);
    const end = await response.arrayBuffer();
    const total = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1];
    return new RangeFile(url, response.headers.get('etag'), Number(total ?? end.byteLength), end);
  }

  async slice(start: number, end = this.byteLength): Promise<ArrayBuffer> {
    const from = this.byteLength - this.#end.byteLength;
    if (start >= from) return this.#end.slice(start - from, end - from);
    const etag = this.#etag;
    const headers: Record<string, string> = { Range: `bytes=${start}-${end - 1}` };
    // If-Match takes strong tags only; a weak one is compared below.
    if (etag !== null && !etag.startsWith('W/')) headers['If-Match'] = etag;
    this.expected += end - start;
    const response = await request(this.#url, { headers });
    if ([412, 416, 503].includes(response.status) || response.headers.get('etag') !== etag) throw new FileChanged();
    if (!response.ok) throw refusal(response);
    const body = await this.#read(response);
    return response.status === 206 ? body : body.slice(start, end);
  }

  /** The body; tells the page of each piece. */
  async #read(response: Response): Promise<ArrayBuffer> {
    const counting = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        this.received += piece.byteLength;
        post({ received: this.received, expected: Math.max(this.expected, this.received) });
        controller.enqueue(piece);
      },
    });
    return new Response(response.body?.pipeThrough(counting)).arrayBuffer().catch(() => {
      throw new LoadError("Couldn't load the data. Check the connection.");
    });
  }
}

let model: Model | null = null;
let engine: Promise<ViewQueries> | null = null;

const post = (answer: Answer) => self.postMessage(answer);

async function open(of: Model): Promise<ViewQueries> {
  // The file may be replaced between the two requests: edits that it contains already change nothing.
  const missing = await fetchEdits(new URL(of.file, self.location.href).href);
  const file = await RangeFile.open(new URL(of.file, self.location.href).href, of.footer);
  post({ received: file.received, expected: file.expected });
  return new ViewQueries(await ParquetStore.open(file, of, missing), of);
}

/** Answers a request; the file is opened again when it has changed. */
async function answer({ kind, request }: Message): Promise<Calls[Kind]['answer']> {
  if (model === null) throw new Error('The worker has no model.');
  engine ??= open(model).catch((error) => {
    engine = null;
    throw error;
  });
  const opened = await engine;
  // `kind` is the kind of `request`.
  return opened[kind](request as never);
}

self.addEventListener('message', async ({ data }: MessageEvent<Message | { model: Model }>) => {
  if ('model' in data) {
    model = data.model;
    post({ edited: (await fetchEdits(new URL(model.file, self.location.href).href)) !== null });
    return;
  }
  try {
    post({ id: data.id, answer: await answer(data) });
  } catch (error) {
    const isOurs = error instanceof LoadError || error instanceof DataError;
    const cause = error instanceof FileChanged ? 'changed' : error instanceof DataError ? 'address' : 'load';
    if (cause !== 'address') engine = null;
    post({ id: data.id, error: isOurs ? error.message : "Couldn't load the data.", cause });
  }
});
