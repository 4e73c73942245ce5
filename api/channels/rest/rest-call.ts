// The gate's call of a REST request. Members that few calls need are computed on demand.
import { ApiError } from '../../contract/errors.ts';
import type { Context, Format, Operation, Validators } from '../../contract/operation.ts';
import type { Call, CallDeps } from '../../gate/execute.ts';
import { isUnchanged } from '../../http/conditions.ts';
import { decodePayment, type Http, type HttpRequest, readBody } from '../../http/request.ts';

/** One call. A class with methods: closures created for each request would outlive it. */
export class RestCall implements Call {
  readonly credential: Call['credential'];
  readonly address: string;
  readonly headers: Call['headers'];
  readonly operation: Operation;
  readonly raw: Call['raw'];
  readonly query: string | undefined;
  readonly dataset: string | null;
  readonly entity: string | null;
  readonly format: Format;
  readonly head: boolean;
  readonly request_id: string;
  readonly idempotency_key: string | undefined;
  readonly max_price: string | undefined;
  readonly payment: unknown;
  readonly misread: ApiError | undefined;
  readonly body: (() => Promise<unknown>) | undefined;
  /** Entity tag of the response, set once its version is known. */
  tag: string | undefined;
  /** Time of the last change (ISO 8601), set once it is known. */
  last_modified: string | undefined;
  readonly #http: Http;
  readonly #request: HttpRequest;
  readonly #gate: CallDeps;

  /** `path` holds the path parameters. */
  constructor(
    c: Http,
    request: HttpRequest,
    operation: Operation,
    path: Record<string, string>,
    format: Format,
    gate: CallDeps,
  ) {
    this.#http = c;
    this.#request = request;
    this.#gate = gate;
    this.credential = request.visitor.credential;
    this.address = request.visitor.address;
    this.headers = request.headers;
    this.operation = operation;
    this.raw = request.search === '' ? path : { ...request.query, ...path };
    this.query = operation.route.method === 'GET' ? request.search : undefined;
    this.dataset = path['ds'] ?? null;
    this.entity = path['entity_id'] ?? null;
    this.format = format;
    this.head = request.method === 'HEAD';
    this.request_id = request.request_id;
    this.idempotency_key = c.req.header('idempotency-key');
    this.max_price = c.req.header('x-max-price-eur');
    this.payment = decodePayment(c.req.header('payment-signature'));
    this.misread = request.search === '' ? undefined : strayIn(request, path);
    this.body = operation.route.method === 'GET' ? undefined : () => readBody(c, operation.form);
    this.tag = undefined;
    this.last_modified = undefined;
  }

  get url(): URL {
    return this.#request.url;
  }

  get base(): string {
    return this.#gate.base_url;
  }

  /** Path as sent, with `.md`. */
  get path(): string {
    return this.#request.path;
  }

  get signal(): AbortSignal {
    return this.#http.req.raw.signal;
  }

  /** Reads the connection's state, so that no abort signal has to be created. */
  gone(): boolean {
    return this.#http.env?.outgoing?.destroyed ?? this.signal.aborted;
  }

  unchanged({ version, pack_version = '', last_modified }: Validators, ctx: Context): boolean {
    // HTML pages of paid answers are never stored, so no client can have one.
    if (ctx.format === 'html') return false;
    this.tag = this.#gate.tags.ofVersion(version, this.#representation(ctx, pack_version));
    this.last_modified = last_modified;
    return this.had();
  }

  /** Whether the client has the current version, by its conditional headers. */
  had(): boolean {
    return isUnchanged(this.#http, this);
  }

  /**
   * Everything besides the version that the body depends on. For paid answers this excludes the caller, so
   * that the tag is compared for callers without a credential too (contract section 3).
   */
  #representation(ctx: Context, pack_version: string): readonly string[] {
    const { search } = this.#request;
    const caller = this.operation.access === 'free' ? `${ctx.visibility} ${ctx.admin}` : '';
    const query = sortedQuery(search);
    return [pack_version, this.#gate.code, this.operation.name, ctx.format, caller, ctx.base_url, query];
  }
}

/** The query with its parameters in order of their names. */
function sortedQuery(search: string): string {
  if (search === '') return '';
  const query = new URLSearchParams(search);
  query.sort();
  return query.toString();
}

/** Rejects a query parameter with the name of a path parameter, which would be lost in the input. */
function strayIn({ query }: HttpRequest, path: Record<string, string>): ApiError | undefined {
  const stray = Object.keys(path).find((name) => query[name] !== undefined);
  return stray === undefined
    ? undefined
    : new ApiError('unknown_filter', `"${stray}" is part of the path and no parameter of this operation.`);
}
