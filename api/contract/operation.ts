// The definition of an operation. Every channel is generated from a table of these (contract section 8).

import type { z } from 'zod';
import type { Cursors } from '../../data/input/cursor.ts';
import type { FilterUse } from '../../data/input/filters.ts';
import type { Format } from '../../data/input/formats.ts';
import type { CalledAs } from '../../data/input/parameters.ts';
import type { Accounts, KeyPurchase, Requester } from '../../data/model/accounts.ts';
import type { ChangeSubscriptions } from '../../data/model/change-subscriptions.ts';
import type { RawInput, Visibility } from '../../data/plan/plan.ts';
import type { LoadedRecord } from '../../data/queries/records.ts';
import type { Exports } from '../../data/releases/export.ts';
import type { Release } from '../../data/releases/release.ts';
import type { Owners } from '../../data/review/owners.ts';
import type { SqlQuery, SqlReply } from '../../data/sql/engine.ts';
import type { SqlSource, Tier } from '../../data/sql/tables.ts';
import { derive } from '../../packs/define/derive.ts';
import type { Geo, Pack, PricedOperation } from '../../packs/define/model.ts';
import type { ApiError, ErrorCode } from './errors.ts';

/**
 * Who may call an operation. `free`: every caller. `paid`: callers who pay the price; some operations have
 * free previews. `plan`: keys whose plan includes bulk access. `key`: API keys. `admin`: operators' keys,
 * which may call all.
 */
export type Access = 'free' | 'paid' | 'plan' | 'key' | 'admin';
export type { CalledAs, Format };

/** What the gate provides to an operation. */
export interface Context {
  /** The dataset's release, leased for the whole request. Undefined for operations without `{ds}`. */
  release?: Release;
  /** `public` for an anonymous preview. */
  visibility: Visibility;
  /** Admins are exempt from the withholding of rare facet values. */
  admin: boolean;
  /** Records that the caller may still preview; null: unlimited. Search shortens its page to it. */
  previews: number | null;
  now: Date;
  base_url: string;
  /** URL of the request, for links to the next page: path and raw query. */
  url: URL;
  signal: AbortSignal;
  /** Whose place in queues the call takes (`holderOf`); absent in the nightly build. */
  holder?: string;
  format: Format;
  /** Operations are called by name, as tools or skills, and not by URL. */
  by_name?: boolean;
  /** The parsed body of a POST, PUT or DELETE; undefined without one. */
  body?: unknown;
  /** Whether this call has a price; set by the gate once the input is parsed. */
  priced?: boolean;
  /** The record of the request, after the first look-up (operations/common/load-record.ts). */
  record?: Promise<LoadedRecord>;
  /** The position of the record that `near` names; set before the parameters are parsed. */
  point?: Geo;
  /** Leases an earlier release by id, for cursors; null when it was deleted. */
  leaseEarlier: (release: string) => Promise<Release | null>;
  /** Leases the current release of another dataset; null without one. Absent in the nightly build. */
  leaseOther?: ((dataset: string) => Release | null) | undefined;
  /** Cursors of pages of records; absent in the nightly build, which has no secret. Parsers and searches read it. */
  cursors?: Cursors;
  register: RegisterFacts;
  /** Absent in the nightly build. */
  service?: LiveService;
}

/** What describes the whole register: read by the list of datasets, guides and documents. */
export interface RegisterFacts {
  /** Current releases of all datasets, leased like that of the dataset. */
  releases: Release[];
  /** The table that contains this operation, for answers that describe the others. */
  operations: readonly Operation[];
  /** US dollars per euro (EUR_USD). */
  eur_usd: number;
}

/** What changes something for a caller: read by operations on keys, owners, reports and exports. */
export interface LiveService {
  /** Keys and their ledgers. */
  accounts: Accounts;
  requester: Requester;
  /** SHA-256 of the secret that the caller sent; undefined without one. */
  readonly credential_hash: string | undefined;
  /** Runs a statement with the columns and limits of the caller; absent: there is no SQL. */
  readonly sql?: ((statement: SqlStatement, signal: AbortSignal) => Promise<SqlReply>) | undefined;
  /** Prices a call of the caller and checks whether it is possible now, without running it; absent in tests without a gate. */
  readonly quote?: ((operation: Operation, args: Record<string, unknown>) => Promise<CallQuote>) | undefined;
  /** Subscriptions to changes; absent where none are sent. */
  readonly subscriptions?: ChangeSubscriptions | undefined;
  /** The payment that buys a key with this call. */
  purchase?: KeyPurchase;
  /** Opt-outs and claims; absent without a database. */
  owners?: Owners;
  /** Creates links to snapshot files; absent where none are served. */
  exports?: Exports;
  /** Stores the answer with this result for repeats, as `KeepAnswer` does; absent without an Idempotency-Key. */
  keepAnswer?: (db: object, result: Result<unknown>) => Promise<void>;
}

/** The price of a call in micro-euros, and the error that the call would get now; null: none. */
export interface CallQuote {
  micros: number;
  problem: ApiError | null;
}

/** A statement of a caller. `source`: what the SQL process needs about each dataset that it may read. */
export type SqlStatement = Pick<SqlQuery, 'sql' | 'parameters' | 'max_rows' | 'form'> & {
  sources: (tier: Tier) => SqlSource[];
};

/** The result of an operation, before a format renders it. */
export interface Result<R> {
  /** The answer as an object. With `json` it is parsed from that on first access. */
  body: R;
  /** The body as existing JSON text, sent unchanged. */
  json?: Uint8Array<ArrayBuffer>;
  /**
   * The parts of `json`. A channel that sends another form of the answer needs only these. Records among them
   * are the same objects from answer to answer.
   */
  parts?: readonly Uint8Array<ArrayBuffer>[];
  /** For a list of records in `parts`: the number of parts up to the end of each record. */
  record_ends?: readonly number[];
  /** Further equal calls get the same object, so what is made of it is worth keeping. Do not modify it. */
  kept?: boolean;
  /** The answer as Markdown or text, if it exists already. */
  text?: Uint8Array<ArrayBuffer>;
  /** HTTP status of success; 200 by default. */
  status?: 200 | 201 | 202;
  /** ISO 8601, for Last-Modified, when `validators` have none. */
  last_modified?: string | undefined;
  /** Pages of other sites may show this page in a frame. */
  framed?: boolean | undefined;
  /** Cursor of the next page; becomes the Link header. */
  next_cursor?: string | null;
  /** The answer lacks some of the rows; sent as the header X-Truncated, since CSV has no place for it. */
  truncated?: boolean;
  /** Attributes that tables have columns for; absent or null: all. */
  fields?: readonly string[] | null;
  /** Whether records have `distance_km`, so that tabular formats have a column for it. */
  distances?: boolean;
  /** Attribute that records are grouped by, so that tabular formats have a column for it. */
  group_by?: string | undefined;
  /** A CSV begins with a byte order mark. */
  bom?: boolean;
  /** Records shown, for the preview quota. */
  records?: number;
  /** No records, rows or values: the answer costs nothing if its conditions are public (contract/pricing.ts). */
  empty?: boolean;
  /** Release of the answer, when a cursor led to an earlier one. */
  release?: string;
  /** The file below DIST_DIR that the nightly build wrote with this body. */
  file?: RenderedFile;
}

/**
 * `path` is relative to DIST_DIR; the file is valid only while it was rendered from `release` and its
 * overlay.
 */
export interface RenderedFile {
  path: string;
  release: Release;
}

/**
 * A result whose JSON exists already, in parts, so that sending it needs no parsing. `body`: the same as an
 * object, if that exists too.
 */
export function jsonResult<R>(
  parts: readonly Uint8Array<ArrayBuffer>[],
  about: Omit<Result<R>, 'body' | 'json' | 'parts'>,
  body?: R,
): Result<R> {
  return Object.assign(new JsonResult<R>(parts, body), about);
}

class JsonResult<R> implements Result<R> {
  readonly parts: readonly Uint8Array<ArrayBuffer>[];
  #json: Uint8Array<ArrayBuffer> | undefined;
  #body: R | undefined;

  constructor(parts: readonly Uint8Array<ArrayBuffer>[], body: R | undefined) {
    this.parts = parts;
    this.#body = body;
  }

  get json(): Uint8Array<ArrayBuffer> {
    const [only] = this.parts;
    this.#json ??= only && this.parts.length === 1 ? only : Buffer.concat(this.parts);
    return this.#json;
  }

  get body(): R {
    const { buffer, byteOffset, byteLength } = this.json;
    this.#body ??= JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString()) as R;
    return this.#body;
  }
}

/** The condition of a price for an operation that is free for most calls. */
export interface PriceCondition<I> {
  /** The price in words, for documents and tool descriptions. */
  label: string;
  /** Whether a call with this input has the price. */
  applies: (input: I, ctx: Context) => boolean;
}

/** Validators of an answer (RFC 9110 section 8.8). */
export interface Validators {
  /** Part of the ETag. */
  version: string;
  /** Another part of the ETag: the version of the pack, if `version` does not cover it. */
  pack_version?: string;
  /** ISO 8601, for Last-Modified; absent when the time of the last change is unknown. */
  last_modified?: string | undefined;
  /** An object that changes with the version, from which the ETag is derived once. */
  source?: object | undefined;
}

/** Rules to shorten an operation's answers in channels with a length limit: MCP and A2A. */
export interface Shortening<I, R> {
  /** The member that grows: a list or a text. Required where an answer may be shortened or cut. */
  part?: keyof R & string;
  /**
   * The input for an answer with fewer items, at the same price. Without it a paid answer that is too long is
   * refused and costs nothing; a free one is cut.
   */
  shorter?: (input: I, keep: number) => I;
  /** Shorter forms of a free answer, each built from the previous one, tried before lists are cut. */
  brief?: readonly Brief<R>[];
  /** Further lists of a free answer that are cut, after `part`. */
  further?: readonly (keyof R & string)[];
  /** How to get the rest: a sentence that names tools and arguments, since models call by name. */
  more: string;
  /** Advice when a paid answer is refused; `more` by default. */
  instead?: string;
}

/** A shorter form of an answer. */
export interface Brief<R> {
  /** The part that it omits: `schema`. */
  without: string;
  of: (body: R) => object;
}

/**
 * An operation: what it does, and in four groups what the REST channel, the charge of a call, the tools of agents
 * and the documents read about it.
 *
 * @example
 * operation<GetInput, PublicRecord>({
 *   name: 'entity_get',
 *   title: 'Get one record',
 *   description: 'One record by id or slug.',
 *   rest: { method: 'GET', path: '/v1/:ds/entities/:entity_id', entity: true },
 *   charge: { access: 'paid', price: { of: 'get' } },
 *   tool: { long: { more: 'Request fewer fields.' } },
 *   docs: { group: 'records', tasks: [{ want: 'one record' }] },
 *   formats: ['json', 'markdown'],
 *   ...inputOf(getParameters),
 *   output: () => RECORD_OUTPUT,
 *   run: (input, ctx) => currentRecord(input, ctx),
 *   markdown: (record, ctx) => recordMarkdown(record, releaseOf(ctx).pack),
 * });
 */
export interface Operation<I = unknown, R = unknown> {
  /** Stable name: MCP tool, A2A skill, OpenAPI operationId. */
  name: string;
  title: string;
  /** One or two sentences for an agent that decides whether to call it. */
  description: string;
  rest: RestRules<R>;
  charge: ChargeRules<I>;
  /** Absent: a URL only, neither an MCP tool nor an A2A skill. */
  tool?: ToolRules<I, R>;
  docs: DocsRules;
  formats: readonly Format[];
  /** The `format` parameter belongs to the operation, and does not choose the representation. */
  own_format?: true;
  /**
   * Equal calls are frequent, so the answers of a minute are kept for them (api/gate/repeated-calls.ts). The answer
   * depends on release, minute, parameters, kind of caller and kind of call alone.
   */
  repeats?: boolean;
  /** Zod schema of the input, for a dataset or (null) for the register; `parse` checks unknown filters. */
  input: (pack: Pack | null, as?: CalledAs) => z.ZodType;
  /**
   * Zod schema of a JSON answer, for a dataset or (null) for any; absent where there is no JSON. Documents
   * and tools read it through `outputSchema` (render/json-schema.ts); a test checks every answer against it.
   */
  output?: (pack: Pack | null) => z.ZodType;
  /**
   * Strict parser of raw input to the input of `run`; throws DataError with the codes of contract section 4.
   */
  parse: (raw: RawInput, ctx: Context) => I;
  run: (input: I, ctx: Context) => Promise<Result<R>>;
  /** `fields`: those of the result. */
  markdown: (result: R, ctx: Context, fields?: Result<R>['fields']) => string | Promise<string>;
}

/** The URL of an operation and its answers over HTTP: read by api/channels/rest, static files and OpenAPI. */
export interface RestRules<R> {
  /** Methods other than GET may have a JSON body: `ctx.body`. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Hono path. The REST channel adds the `.md` variants. */
  path: string;
  /** Whether the `{entity_id}` of the path must exist before any other check. */
  entity?: boolean;
  /** Its body may also be sent by an HTML form. */
  form?: true;
  /** The page to which a browser is redirected when it opens the URL of the operation. */
  browser_page?: string;
  /** A method other than GET that changes nothing: it has no Idempotency-Key. */
  reads?: true;
  /**
   * About one account or request: no cache stores the answer, and error messages of other operations do not
   * suggest it.
   */
  personal?: true;
  /**
   * Validators for conditional requests, read before any charge. Without them a free answer is tagged by its
   * bytes, and a paid one has no tag. For a paid answer they are the same for every caller. Throws
   * `unknown_entity`.
   */
  validators?: (raw: RawInput, ctx: Context) => Promise<Validators>;
  /**
   * The answer as an HTML page for clients that prefer `text/html`, in addition to `formats`.
   * `first`: also for clients that accept anything. A page of a paid answer must not be cached. `failure`: the page
   * of an error, for operations that forms call.
   */
  html?: {
    print: (result: R, ctx: Context) => string;
    first?: true;
    failure?: (message: string, about: { base_url: string; path: string }) => string;
  };
  /** The answer as an Atom feed, for an operation with this format. */
  atom?: (result: R, ctx: Context) => string;
  /** Files that the nightly build writes from it: path in DIST_DIR and raw input. */
  prerender?: (pack: Pack | null) => { file: string; input: RawInput; format: Format }[];
}

/** Who may call an operation, and for which price: read by the gate and by contract/pricing.ts. */
export interface ChargeRules<I> {
  access: Access;
  /** The bucket of its rate limit; absent: paid or free, by `access`. */
  bucket?: 'sql';
  /** Requires the API key itself; an OAuth access token is not enough (contract section 3). */
  key_only?: true;
  /**
   * Replaces or revokes the secret that it is called with: a repeat with the same Idempotency-Key accepts this secret.
   */
  ends_secret?: true;
  /**
   * The pack price and how many times it applies, for each `unit` (id by default); absent for free operations. `free`: datasets in which the
   * operation has nothing to sell. `condition`: for an operation with free access, the calls that have the
   * price.
   */
  price?: {
    of: PricedOperation;
    times?: (input: I) => number;
    unit?: 'attribute';
    free?: (pack: Pack) => boolean;
    condition?: PriceCondition<I>;
  };
  /** Micro-euros of a sale whose amount its input names, by x402 only; undefined input: an example. */
  amount?: (input: I | undefined) => number;
  /** The calls in which anonymous callers get public fields within the daily quota; absent: none. */
  previews?: (input: I) => boolean;
  /** Most records that the answer may show: what a preview takes from the quota in advance. */
  records?: (input: I) => number;
  /** Fewest records that a page may be shortened to; absent: one. */
  fewest?: (input: I) => number;
  /**
   * Attributes named by the input in fields, sort or filters; an anonymous caller may name public ones only.
   */
  names?: (input: I) => string[];
}

/** How agents call an operation and read its answer: read by api/render/tools.ts, api/channels/mcp and a2a. */
export interface ToolRules<I, R> {
  /** Agents read its `resource` and cannot call it. */
  resource_only?: true;
  /**
   * Each dataset has a tool of its own for it, in addition to the one for all. `suffix`: the tool is named
   * `<dataset>_search` and so on. `filters`: its schema contains the filters of the dataset; true for one
   * operation, the search.
   */
  per_dataset?: { suffix: 'search' | 'get' | 'prices' | 'compare'; filters?: true };
  /**
   * URI at which agents read the answer as text: `service://{dataset}/entity/{entity_id}`. Free operations
   * only.
   */
  resource?: string;
  /** Among the few tools of `/mcp?tools=core`. */
  core?: true;
  /** Listed at `/mcp/account` only, because every listed tool costs tokens; answered at every address. */
  account?: true;
  /** MCP answers Markdown where a call names no format, for agents that read the answer. */
  markdown?: true;
  /** Hosts with MCP Apps show the answer in the view of `api/channels/mcp/app.html`. */
  view?: true;
  long?: Shortening<I, R>;
}

/** What OpenAPI, the guides and the reference of the site add: read by api/discovery and build/static. */
export interface DocsRules {
  /** Tag in OpenAPI and heading in the guides; decides nothing else. */
  group: 'register' | 'dataset' | 'records' | 'analysis' | 'account' | 'owners';
  /**
   * Tasks for which it is the cheapest call, in the guides: `want` is the task, `query` the parameters, with `{…}`
   * to fill in. `open`: free for public fields, without a key.
   */
  tasks?: readonly { want: string; query?: string; open?: true }[];
  /** Datasets whose answer is never empty; absent: all. The guides of the others omit it. */
  answerable?: (pack: Pack) => boolean;
  /**
   * Parameters of an example call whose real answer documents may publish: it is small and names public
   * attributes only. `slugs` are records of the dataset; null: no such call.
   */
  example?: (pack: Pack, slugs: readonly string[]) => RawInput | null;
  /** Errors it throws in addition to those that follow from access, price and route. */
  errors?: readonly ErrorCode[];
  /** Statuses of success, the usual one first; 200 alone by default. */
  statuses?: readonly (200 | 201 | 202)[];
}

/**
 * Erases the types of an operation for the table, where every input and answer is `unknown`: only its own
 * `parse` produces its input.
 *
 * @example
 * ```ts
 * const dataset_status = operation<NoInput, Status>({
 *   name: 'dataset_status',
 *   title: 'Status of a dataset',
 *   …
 * });
 * ```
 */
export function operation<I, R>(definition: Operation<I, R>): Operation {
  return definition as unknown as Operation;
}

/** Whether agents may call an operation: the same for MCP and A2A. */
export const isTool = ({ tool }: Operation): boolean => tool !== undefined && !tool.resource_only;

/** Whether an operation changes something: a repeat with the same Idempotency-Key must not do it again. */
export const isChange = ({ rest }: Operation): boolean => rest.method !== 'GET' && !rest.reads;

/** The operation that finds records by the filters of a dataset: `tool.per_dataset.filters`. Throws without one. */
export function searchOf(operations: readonly Operation[]): Operation {
  const search = operations.find(({ tool }) => tool?.per_dataset?.filters);
  if (!search) throw new Error('no operation of the table has tool.per_dataset.filters');
  return search;
}

/** Names of an operation's parameters. */
export interface AcceptedParameters {
  names: readonly string[];
  /** Whether every other name is a filter of the dataset. */
  filters: boolean;
}

/**
 * Parameter names from the operation's input schema. The schema contains neither path parameters nor the
 * `format` that chooses the representation.
 */
export function acceptedParameters(operation: Operation): AcceptedParameters {
  return derive(operation, 'parameters', () => {
    const { def } = operation.input(null) as unknown as { def: { shape?: object; catchall?: unknown } };
    return {
      names: Object.keys(def.shape ?? {}),
      filters: def.catchall !== undefined && !isStrict(def.catchall),
    };
  });
}

const isStrict = (catchall: unknown): boolean => (catchall as { def?: { type?: string } }).def?.type === 'never';

/**
 * The operations that take the filters of a dataset, with their parameters: the reserved names of contract section 9,
 * which come before a filter of the same name.
 */
export function filterUses(operations: readonly Operation[]): FilterUse[] {
  return operations.flatMap((operation) => {
    const { filters, names: parameters } = acceptedParameters(operation);
    return filters ? [{ operation: operation.name, parameters }] : [];
  });
}
