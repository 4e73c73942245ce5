// The client: every operation by its name, and the objects of datasets and keys.
import { Dataset, type DatasetName } from './dataset.ts';
import { ConnectionError } from './errors.ts';
import { type Answers, type Inputs, OPERATIONS } from './operations.ts';
import { type CallOptions, type CallRequest, type Receipt, type RegisterOptions, send } from './transport.ts';

/** Name of an operation. */
export type OperationName = keyof typeof OPERATIONS;

/** A representation other than JSON, for operations that have it: text, or bytes of `arrow`. */
export type TextFormat = 'md' | 'csv' | 'ndjson' | 'geojson' | 'atom';

/** An answer with what it cost. */
export interface Answer<T> {
  body: T;
  receipt: Receipt;
}

/** Sum of the calls of a `Register`. */
export interface SessionCost {
  calls: number;
  charge_eur: number;
  /** The last credit that the service stated. */
  balance_eur: number | undefined;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  md: 'text/markdown',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
  geojson: 'application/geo+json',
  atom: 'application/atom+xml',
};

/**
 * A register of datasets.
 *
 * @example
 * ```ts
 * const register = new Register({ url: 'http://localhost:8787', key });
 * const airports = register.dataset('airports');
 * for await (const airport of airports.search({ country: 'CH', sort: '-elevation' })) console.log(airport.name);
 * console.log(register.cost);
 * ```
 */
export class Register {
  /** Address of the service, without a trailing slash. */
  readonly url: string;
  readonly #options: RegisterOptions;
  readonly #receipts = new WeakMap<object, Receipt>();
  #cost: SessionCost = { calls: 0, charge_eur: 0, balance_eur: undefined };

  constructor(options: RegisterOptions) {
    const { protocol } = new URL(options.url);
    if (!/^https?:$/.test(protocol))
      throw new TypeError(`url must begin with http:// or https:// (got ${options.url})`);
    this.url = options.url.replace(/\/+$/, '');
    this.#options = options;
  }

  /** One dataset, with the types of `register types` if they are part of the program. */
  dataset<D extends DatasetName>(id: D): Dataset<D> {
    return new Dataset(this, id);
  }

  /** What the calls of this object cost together. */
  get cost(): SessionCost {
    return { ...this.#cost };
  }

  /** What the call with this answer cost; undefined for a text. */
  receiptOf(answer: object): Receipt | undefined {
    return this.#receipts.get(answer);
  }

  /**
   * Calls an operation by its name, with the parameters of its URL and body as one object. `format` selects another
   * representation, as text or, for `arrow`, as bytes.
   */
  async call<N extends OperationName>(name: N, input: Inputs[N], options?: CallOptions): Promise<Answers[N]> {
    return (await this.request(name, input, options)).body;
  }

  /** The same with its receipt. */
  async request<N extends OperationName>(
    name: N,
    input: Inputs[N],
    options: CallOptions = {},
  ): Promise<Answer<Answers[N]>> {
    const { receipt, body: bytes } = await this.#send(name, { ...input }, undefined, options);
    const text = new TextDecoder().decode(bytes);
    const body = ('text' in OPERATIONS[name] ? text : objectOf(name, text)) as Answers[N];
    if (typeof body === 'object' && body !== null) this.#receipts.set(body, receipt);
    return { body, receipt };
  }

  /** An answer in another format, as text. */
  async text<N extends OperationName>(
    name: N,
    input: Inputs[N],
    format: TextFormat,
    options: CallOptions = {},
  ): Promise<string> {
    return new TextDecoder().decode((await this.#send(name, { ...input }, format, options)).body);
  }

  /** An answer as an Arrow IPC stream. */
  async arrow<N extends OperationName>(name: N, input: Inputs[N], options: CallOptions = {}): Promise<Uint8Array> {
    return (await this.#send(name, { ...input }, 'arrow', options)).body;
  }

  async #send(
    name: OperationName,
    input: Readonly<Record<string, unknown>>,
    format: string | undefined,
    options: CallOptions,
  ) {
    const response = await send(this.#options, requestOf(this.url, name, input, format), options);
    const { charge_eur, balance_eur } = response.receipt;
    this.#cost = {
      calls: this.#cost.calls + 1,
      // In micro-euros, so that sums are exact.
      charge_eur: Math.round((this.#cost.charge_eur + charge_eur) * 1e6) / 1e6,
      balance_eur: balance_eur ?? this.#cost.balance_eur,
    };
    this.#options.onCall?.(response.receipt);
    return response;
  }

  /** The datasets with their sizes, licences and prices. Free. */
  datasets(options?: CallOptions): Promise<Answers['datasets_list']> {
    return this.call('datasets_list', {}, options);
  }

  /** Records of every dataset by name or key. Free. */
  search(q: string, input: Omit<Inputs['search'], 'q'> = {}, options?: CallOptions): Promise<Answers['search']> {
    return this.call('search', { q, ...input }, options);
  }

  /** One SELECT over all datasets; `parameters` are bound to `?` or `$name`. Free. */
  sql(
    sql: string,
    parameters?: Inputs['sql_query']['parameters'],
    options?: CallOptions,
  ): Promise<Answers['sql_query']> {
    return this.call('sql_query', { sql, ...(parameters === undefined ? {} : { parameters }) }, options);
  }

  /** The most that a call would cost, without making it. Free. */
  quote(input: Inputs['quote'], options?: CallOptions): Promise<Answers['quote']> {
    return this.call('quote', input, options);
  }

  /** Keys and their credit. */
  readonly keys = {
    /** A new key with its welcome credit. The key is in this answer only. */
    create: (email: string, options?: CallOptions) => this.call('keys_create', { email }, options),
    /** The key of this object, its credit and its ledger. */
    me: (input: Inputs['keys_me'] = {}, options?: CallOptions) => this.call('keys_me', input, options),
    usage: (input: Inputs['keys_usage'] = {}, options?: CallOptions) => this.call('keys_usage', input, options),
    /** The address of a checkout at which a person pays. */
    topup: (amount_eur: number, options?: CallOptions) => this.call('keys_topup', { amount_eur }, options),
    subscribe: (plan: Inputs['keys_subscribe']['plan'], options?: CallOptions) =>
      this.call('keys_subscribe', { plan }, options),
    recover: (email: string, options?: CallOptions) => this.call('keys_recover', { email }, options),
    /** A new secret; the old one stops working. */
    rotate: (options?: CallOptions) => this.call('keys_rotate', {}, options),
    close: (options?: CallOptions) => this.call('keys_close', {}, options),
  };
}

/** The object that an answer is. Throws a `ConnectionError` for another text, which is not of the service. */
function objectOf(name: string, text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Below.
  }
  throw new ConnectionError(`${name}: the answer is no JSON object: ${text.slice(0, 200).trim() || 'it is empty'}`);
}

/** The request of an operation. Throws a `TypeError` for a part of its path, or a value, that cannot be sent. */
function requestOf(
  base: string,
  name: OperationName,
  input: Readonly<Record<string, unknown>>,
  format?: string,
): CallRequest {
  const operation: { method: string; path: string; price?: string; change?: true; text?: true } = OPERATIONS[name];
  const remaining = { ...input };
  const path = operation.path.replace(/\{(\w+)\}/g, (_, part: string) => {
    const value = remaining[part];
    delete remaining[part];
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} needs ${part}`);
    if (/^\.\.?$/.test(value)) throw new TypeError(`${part} must not be '${value}': it would name another path`);
    // Every point is encoded: the service reads a final .md as a format.
    return encodeURIComponent(value).replaceAll('.', '%2E');
  });
  const query = new URLSearchParams();
  const inQuery = operation.method === 'GET';
  if (inQuery) for (const [parameter, value] of Object.entries(remaining)) append(query, parameter, value);
  if (format !== undefined) query.set('format', format);
  const members = Object.entries(remaining).flatMap(([member, value]) =>
    value === undefined ? [] : [[member, sendable(member, value)] as const],
  );
  return {
    operation: name,
    method: operation.method,
    url: `${base}${path}${query.size > 0 ? `?${query}` : ''}`,
    ...(inQuery || members.length === 0 ? {} : { body: JSON.stringify(Object.fromEntries(members)) }),
    once: operation.change === true,
    priced: operation.price !== undefined,
    accept: operation.text ? '*/*' : (MEDIA_TYPES[format ?? 'json'] ?? '*/*'),
  };
}

/** Adds a parameter as the service reads it: lists with commas, objects as JSON, absent values not at all. */
function append(query: URLSearchParams, name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  const plain = sendable(name, value);
  // A comma inside an element of a list is written as \\, and in a key of a record as %2C.
  const element = (item: unknown) => {
    if (typeof item === 'object') throw new TypeError(`${name} must be a list of texts, numbers, booleans or dates`);
    return String(item).replaceAll(',', name === 'ids' ? '%2C' : '\\,');
  };
  if (Array.isArray(plain)) query.set(name, plain.map(element).join(','));
  else query.set(name, typeof plain === 'object' ? JSON.stringify(plain) : String(plain));
}

/** A value as JSON has it, dates as their ISO texts. Throws a `TypeError` for one that JSON would change. */
function sendable(name: string, value: unknown): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (Array.isArray(value)) return value.map((element) => sendable(name, element));
  if (typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value)))
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [[key, sendable(name, member)]])),
    );
  const got = value instanceof Date || typeof value !== 'object' ? String(value) : value.constructor.name;
  throw new TypeError(`${name} must be a text, number, boolean, date, list or plain object (got ${got})`);
}
