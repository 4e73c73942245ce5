// A call as REST understood it: what the gate is asked, and what only some calls need, made when it is asked for.
import { ApiError } from '../../contract/errors.ts';
import type { Context, Format, Operation, Validators } from '../../contract/operation.ts';
import type { Call, Gate } from '../../gate/execute.ts';
import { isUnchanged } from '../../http/conditions.ts';
import { type Http, type HttpRequest, paymentIn, readBody } from '../../http/request.ts';

/**
 * One call. A class with methods, not an object with functions of its own: those are made anew for each request, and what
 * they hold on to outlives it.
 */
export class RestCall implements Call {
  readonly credential: Call['credential'];
  readonly address: string;
  readonly headers: Call['headers'];
  readonly operation: Operation;
  readonly raw: Call['raw'];
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
  /** Entity tag of the answer, once its version is known. */
  tag: string | undefined;
  /** When the answer changed last (ISO 8601), once that is known. */
  last_modified: string | undefined;
  readonly #http: Http;
  readonly #request: HttpRequest;
  readonly #gate: Gate;

  /** `path` holds the path parameters. */
  constructor(
    c: Http,
    request: HttpRequest,
    operation: Operation,
    path: Record<string, string>,
    format: Format,
    gate: Gate,
  ) {
    this.#http = c;
    this.#request = request;
    this.#gate = gate;
    this.credential = request.visitor.credential;
    this.address = request.visitor.address;
    this.headers = request.headers;
    this.operation = operation;
    this.raw = request.search === '' ? path : { ...request.query, ...path };
    this.dataset = path['ds'] ?? null;
    this.entity = path['entity_id'] ?? null;
    this.format = format;
    this.head = request.method === 'HEAD';
    this.request_id = request.request_id;
    this.idempotency_key = c.req.header('idempotency-key');
    this.max_price = c.req.header('x-max-price-eur');
    this.payment = paymentIn(c.req.header('payment-signature'));
    this.misread = request.search === '' ? undefined : strayIn(request, path);
    this.body = operation.route.method === 'GET' ? undefined : () => readBody(c);
    this.tag = undefined;
    this.last_modified = undefined;
  }

  get url(): URL {
    return this.#request.url;
  }

  get signal(): AbortSignal {
    return this.#http.req.raw.signal;
  }

  /** The connection knows it too, and no signal has to be made for the question. */
  gone(): boolean {
    return this.#http.env?.outgoing?.destroyed ?? this.signal.aborted;
  }

  unchanged({ version, last_modified }: Validators, ctx: Context): boolean {
    // A page of what is paid for is stored by nobody, so nobody can have it.
    if (ctx.format === 'html') return false;
    this.tag = this.#gate.tags.ofVersion(version, this.#representation(ctx));
    this.last_modified = last_modified;
    return this.had();
  }

  /** Whether the client has the answer, by what is known of it. */
  had(): boolean {
    return isUnchanged(this.#http, this);
  }

  /**
   * What a body depends on beside its version. Of a paid answer that is never the caller, so that its tag is compared for callers
   * without a credential too (contract section 3).
   */
  #representation(ctx: Context): string {
    const { search } = this.#request;
    const query = search === '' ? '' : new URLSearchParams(search);
    if (query !== '') query.sort();
    const caller = this.operation.access === 'free' ? `${ctx.visibility} ${ctx.admin}` : '';
    return [this.#gate.code, this.operation.name, ctx.format, caller, ctx.base_url, query].join('\n');
  }
}

/** A query parameter that bears the name of a path parameter: it would be lost in the input, so it is refused. */
function strayIn({ query }: HttpRequest, path: Record<string, string>): ApiError | undefined {
  const stray = Object.keys(path).find((name) => query[name] !== undefined);
  return stray === undefined
    ? undefined
    : new ApiError('unknown_filter', `"${stray}" is part of the path and no parameter of this operation.`);
}
