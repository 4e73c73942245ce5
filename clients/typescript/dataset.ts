// One dataset: its operations with typed attributes and filters, and searches as iterators.
import type { Answers, AnyRecord, Inputs, OPERATIONS } from './operations.ts';
import type { CallOptions } from './transport.ts';

/** Calls operations by name: `Register` is one. */
export interface OperationCaller {
  call<N extends keyof Inputs>(name: N, input: Inputs[N], options?: CallOptions): Promise<Answers[N]>;
}

/** Attributes and filters of datasets by id. `register types` writes them, as a declaration of this module. */
// biome-ignore lint/suspicious/noEmptyInterface: programs add members
export interface Datasets {}

/** Id of a dataset: those of `Datasets`, or any text. */
export type DatasetName = keyof Datasets | (string & {});

/** Values of the attributes of a dataset. */
export type AttributesOf<D> = D extends keyof Datasets
  ? Datasets[D] extends { attributes: infer A }
    ? A
    : never
  : Record<string, unknown>;

/** Filters of a dataset. */
export type FiltersOf<D> = D extends keyof Datasets
  ? Datasets[D] extends { filters: infer F }
    ? F
    : never
  : Record<never, never>;

/** A record of a dataset: a value that no source has, or that the caller may not see, is absent. */
export type RecordOf<D> = Omit<AnyRecord, 'attributes' | 'provenance' | 'freshness'> & {
  attributes: Partial<AttributesOf<D>>;
  provenance: { [A in keyof AttributesOf<D>]?: AnyRecord['provenance'][string] };
  freshness: { [A in keyof AttributesOf<D>]?: number };
};

/** Removes `[filter: string]`, so that a wrong name is an error where the filters have types. */
type Named<I> = { [K in keyof I as string extends K ? never : K]: I[K] };

/** The parameters of an operation on a dataset: with the dataset's filters, or open where they have no types. */
export type InputOf<D, N extends keyof Inputs> = D extends keyof Datasets
  ? Omit<Named<Inputs[N]>, 'dataset'> & (string extends keyof Inputs[N] ? FiltersOf<D> : Record<never, never>)
  : Omit<Inputs[N], 'dataset'>;

/** A page of a search. */
export type SearchPage<D> = Omit<Answers['entity_search'], 'items'> & { items: RecordOf<D>[] };

/** The records that a search matches, page by page: iterate over it, or over its `pages()`. */
export class Search<D extends DatasetName> implements AsyncIterable<RecordOf<D>> {
  readonly #next: (cursor: string | undefined) => Promise<SearchPage<D>>;
  readonly #start: string | undefined;

  constructor(next: (cursor: string | undefined) => Promise<SearchPage<D>>, start: string | undefined) {
    this.#next = next;
    this.#start = start;
  }

  /** One page: the first, or the one of the `cursor` of the search. */
  page(): Promise<SearchPage<D>> {
    return this.#next(this.#start);
  }

  /** Pages as they are read; each one is a call with the price of a search. */
  async *pages(): AsyncGenerator<SearchPage<D>, void, undefined> {
    let cursor = this.#start;
    do {
      const page: SearchPage<D> = await this.#next(cursor);
      yield page;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** A list of the first records, at most `count`: no page is read for those after them. */
  async first(count: number): Promise<RecordOf<D>[]> {
    const records: RecordOf<D>[] = [];
    if (count <= 0) return records;
    for await (const record of this) {
      records.push(record);
      if (records.length >= count) break;
    }
    return records;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RecordOf<D>, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }
}

/**
 * The operations of one dataset.
 *
 * @example
 * ```ts
 * const airports = register.dataset('airports');
 * const nearest = await airports.search({ near: '47.45,8.56,100', sort: 'distance' }).first(3);
 * const { attributes, provenance } = await airports.get('lszh', { fields: ['name', 'elevation'] });
 * ```
 */
export class Dataset<D extends DatasetName> {
  readonly id: D;
  readonly #register: OperationCaller;

  constructor(register: OperationCaller, id: D) {
    this.#register = register;
    this.id = id;
  }

  #call<N extends DatasetOperation>(name: N, input: object, options?: CallOptions): Promise<Answers[N]> {
    return this.#register.call(name, { dataset: this.id, ...input } as unknown as Inputs[N], options);
  }

  /**
   * Records by words, place and filters. A call is made for each page that is read; `limit` is the size of a page.
   */
  search(input: InputOf<D, 'entity_search'> = {} as InputOf<D, 'entity_search'>, options?: CallOptions): Search<D> {
    const { cursor: start, ...parameters } = input as { cursor?: string };
    return new Search<D>(
      (cursor) =>
        this.#call('entity_search', { ...parameters, cursor }, options) as Promise<unknown> as Promise<SearchPage<D>>,
      start,
    );
  }

  /** One record by id, slug or key. */
  get(
    entity_id: string,
    input: Omit<InputOf<D, 'entity_get'>, 'entity_id'> = {} as never,
    options?: CallOptions,
  ): Promise<RecordOf<D>> {
    return this.#call('entity_get', { entity_id, ...input }, options) as Promise<unknown> as Promise<RecordOf<D>>;
  }

  /** Several records, in the order of `ids`; the unknown ones are in `missing`. */
  batch(
    ids: readonly string[],
    input: Omit<InputOf<D, 'entity_batch'>, 'ids'> = {} as never,
    options?: CallOptions,
  ): Promise<Omit<Answers['entity_batch'], 'items'> & { items: RecordOf<D>[] }> {
    return this.#call('entity_batch', { ids, ...input }, options) as never;
  }

  /** Records like this one, the most similar first. */
  similar(
    entity_id: string,
    input: Omit<InputOf<D, 'entity_similar'>, 'entity_id'> = {} as never,
    options?: CallOptions,
  ): Promise<Omit<Answers['entity_similar'], 'items'> & { items: RecordOf<D>[] }> {
    return this.#call('entity_similar', { entity_id, ...input }, options) as never;
  }

  /** Every observed value of a record, and which ones won. */
  facts(
    entity_id: string,
    input: Omit<InputOf<D, 'entity_history'>, 'entity_id'> = {} as never,
    options?: CallOptions,
  ): Promise<Answers['entity_history']> {
    return this.#call('entity_history', { entity_id, ...input }, options);
  }

  /** The prices of a record. */
  prices(
    entity_id: string,
    input: Omit<InputOf<D, 'entity_prices'>, 'entity_id'> = {} as never,
    options?: CallOptions,
  ): Promise<Answers['entity_prices']> {
    return this.#call('entity_prices', { entity_id, ...input }, options);
  }

  /** What callers without a key see of a record, as Markdown. Free. */
  audit(entity_id: string, options?: CallOptions): Promise<string> {
    return this.#call('entity_audit', { entity_id }, options);
  }

  /** Up to 5 records next to each other. */
  compare(
    ids: readonly string[],
    input: Omit<InputOf<D, 'entity_compare'>, 'ids'> = {} as never,
    options?: CallOptions,
  ): Promise<Answers['entity_compare']> {
    return this.#call('entity_compare', { ids, ...input }, options);
  }

  /** Values of attributes with counts. Free for public attributes. */
  facets(input: InputOf<D, 'dataset_facets'>, options?: CallOptions): Promise<Answers['dataset_facets']> {
    return this.#call('dataset_facets', input as object, options);
  }

  /** Counts, quantiles and means of numbers, in groups. */
  stats(input: InputOf<D, 'dataset_stats'>, options?: CallOptions): Promise<Answers['dataset_stats']> {
    return this.#call('dataset_stats', input as object, options);
  }

  /** A number over time. */
  timeseries(input: InputOf<D, 'dataset_timeseries'>, options?: CallOptions): Promise<Answers['dataset_timeseries']> {
    return this.#call('dataset_timeseries', input as object, options);
  }

  /** Recent changes. */
  changelog(
    input: InputOf<D, 'dataset_changelog'> = {} as never,
    options?: CallOptions,
  ): Promise<Answers['dataset_changelog']> {
    return this.#call('dataset_changelog', input as object, options);
  }

  /** Every change since a moment, from page to page until there is no further one. For plans with changes. */
  async *changes(
    since: string,
    input: Omit<InputOf<D, 'dataset_changes'>, 'since'> = {} as never,
    options?: CallOptions,
  ): AsyncGenerator<Answers['dataset_changes']['items'][number], string, undefined> {
    for (let from = since; ; ) {
      const { items, next_since } = await this.#call('dataset_changes', { since: from, ...input }, options);
      yield* items;
      if (items.length === 0 || next_since === from) return next_since;
      from = next_since;
    }
  }

  /** A link to the whole dataset. For plans with exports. */
  export(
    format: Inputs['dataset_export']['format'] = 'csv',
    options?: CallOptions,
  ): Promise<Answers['dataset_export']> {
    return this.#call('dataset_export', { format }, options);
  }

  /** One SELECT over the tables of the dataset. Free. */
  sql(
    sql: string,
    parameters?: Inputs['dataset_sql']['parameters'],
    options?: CallOptions,
  ): Promise<Answers['dataset_sql']> {
    return this.#call('dataset_sql', { sql, parameters }, options);
  }

  /** JSON Schema, attributes and filters. Free. */
  schema(options?: CallOptions): Promise<Answers['dataset_schema']> {
    return this.#call('dataset_schema', {}, options);
  }

  /** Sizes and ages. Free. */
  status(options?: CallOptions): Promise<Answers['dataset_status']> {
    return this.#call('dataset_status', {}, options);
  }

  /** How well each attribute is filled, and its commonest values. Free. */
  profile(options?: CallOptions): Promise<Answers['dataset_profile']> {
    return this.#call('dataset_profile', {}, options);
  }

  /** Real records with every value. Free. */
  examples(
    input: InputOf<D, 'dataset_examples'> = {} as never,
    options?: CallOptions,
  ): Promise<Omit<Answers['dataset_examples'], 'items'> & { items: RecordOf<D>[] }> {
    return this.#call('dataset_examples', input as object, options) as never;
  }

  /** Fictional records of the right shape. Free. */
  samples(options?: CallOptions): Promise<Answers['dataset_samples']> {
    return this.#call('dataset_samples', {}, options);
  }

  /** The guide for agents, as Markdown. Free. */
  guide(options?: CallOptions): Promise<string> {
    return this.#call('dataset_guide', {}, options);
  }

  /** Reports a mistake in a record to the operators. Free. */
  report(
    entity_id: string,
    message: string,
    input: Omit<InputOf<D, 'entity_report'>, 'entity_id' | 'message'> = {} as never,
    options?: CallOptions,
  ): Promise<Answers['entity_report']> {
    return this.#call('entity_report', { entity_id, message, ...input }, options);
  }
}

/** Names of the operations whose path has a dataset. */
type DatasetOperation = {
  [N in keyof typeof OPERATIONS]: (typeof OPERATIONS)[N]['path'] extends `/v1/{dataset}/${string}` ? N : never;
}[keyof typeof OPERATIONS];
