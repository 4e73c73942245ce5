// The one definition of an operation; every channel is a projection of a table of these (contract section 8).
import type { z } from 'zod';
import type { Cursors } from '../../data/input/cursor.ts';
import type { Format } from '../../data/input/formats.ts';
import type { Accounts, Asker } from '../../data/model/accounts.ts';
import type { RawInput, Visibility } from '../../data/plan/plan.ts';
import type { Fetched } from '../../data/queries/records.ts';
import type { Exports } from '../../data/releases/export.ts';
import type { Release } from '../../data/releases/release.ts';
import type { Owners } from '../../data/review/owners.ts';
import type { Pack, PricedOperation } from '../../packs/define/model.ts';
import type { ErrorCode } from './errors.ts';

export type Access = 'free' | 'paid' | 'plan' | 'key' | 'admin';
export type { Format };

/** What the gate found out before an operation runs. */
export interface Context {
  /** The dataset's release, leased for the whole request. Undefined for operations without `{ds}`. */
  release?: Release;
  /** Current releases of all datasets, leased likewise, for operations over the register. */
  releases: Release[];
  /** Leases an earlier release by id while it is kept, for cursors; null when it is gone. */
  earlier: (release: string) => Promise<Release | null>;
  /** Cursors of pages of records; absent in documents, which are written without the secret. */
  cursors?: Cursors;
  /** `public` for an anonymous preview. */
  visibility: Visibility;
  /** Admins are not subject to facet withholding. */
  admin: boolean;
  /** Records the caller may still preview; null: unlimited. Search shortens its page to it. */
  previews: number | null;
  now: Date;
  base_url: string;
  /** US dollars for a euro (EUR_USD). */
  eur_usd: number;
  /** The table this operation stands in, for answers that describe the others. */
  operations: readonly Operation[];
  /** The request as asked, for links to the next page: path without query and the raw query. */
  url: URL;
  signal: AbortSignal;
  /** Operations are called by their names, as tools or skills, and not by address. */
  by_name?: boolean;
  format: Format;
  /** The parsed body of a POST, PUT or DELETE; undefined where there is none. */
  body?: unknown;
  /** Whether this call has a price; set by the gate once the input is parsed. */
  priced?: boolean;
  /** The record that the request is about, once somebody looked for it (operations/common/fetched.ts). */
  fetched?: Promise<Fetched>;
  /** Keys and their ledgers, and who asks for them; absent in the nightly build. */
  accounts?: Accounts;
  asker?: Asker;
  /** Opt-outs and claims; absent where nobody changes anything, as in a build. */
  owners?: Owners;
  /** Makes links to snapshot files; absent where nobody serves them, as in a build. */
  exports?: Exports;
}

/** What an operation answers, before a format renders it. */
export interface Result<R> {
  /** What is answered. Where `json` is there, it is read from that for whoever asks. */
  body: R;
  /** The body as JSON text that existed already, to be sent as it stands. */
  json?: Uint8Array<ArrayBuffer>;
  /** What that is put together from: who sends it in another dress needs no more. Records among it are the same objects from answer to answer. */
  parts?: readonly Uint8Array<ArrayBuffer>[];
  /** HTTP status of success; 200 where nothing is said. */
  status?: 200 | 201 | 202;
  /** ISO 8601, for Last-Modified, where no `validators` say it. */
  last_modified?: string | undefined;
  /** Cursor of the next page; becomes the Link header. */
  next_cursor?: string | null;
  /** Attributes that tabular formats have columns for; absent or null: all. */
  fields?: readonly string[] | null;
  /** Records shown, for the preview quota. */
  records?: number;
  /** Nothing was found, which public values alone decide: the answer is sent and costs nothing. */
  uncharged?: boolean;
  /** Release the answer comes from, where a cursor led to an earlier one. */
  release?: string;
  /** The file below DIST_DIR that the nightly build made of this body. */
  file?: RenderedFile;
}

/** `path` is relative to DIST_DIR; the file belongs to the answer only while it was made of `release` and its overlay. */
export interface RenderedFile {
  path: string;
  release: Release;
}

/**
 * A result whose JSON exists already, in parts: nobody who sends it parses it. `body`: the same as an object,
 * where that exists too.
 */
export function fromJson<R>(
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

/** The price of an operation that is free for most questions. */
export interface PriceCondition<I> {
  /** The price in words, for documents and tool descriptions. */
  label: string;
  /** Whether a call with this input has the price. */
  applies: (input: I, ctx: Context) => boolean;
}

/** What changes when an answer does (RFC 9110 section 8.8). */
export interface Validators {
  /** Part of the ETag. */
  version: string;
  /** ISO 8601, for Last-Modified; absent where no moment is known after which the answer stayed the same. */
  last_modified?: string | undefined;
}

/** How the answers of an operation are kept short where a channel may send only so much. */
export interface Long<I, R> {
  /** The member that grows: a list, or a text. Needed where an answer may be shortened or cut. */
  part?: keyof R & string;
  /**
   * The input of an answer with fewer of them, at the same price. Without it a paid answer that is too long is refused and
   * costs nothing; a free one is cut.
   */
  shorter?: (input: I, keep: number) => I;
  /** Shorter forms of a free answer, each made from the one before, tried before lists lose their ends. */
  brief?: readonly Brief<R>[];
  /** Further lists of a free answer that lose their ends, after `part`. */
  further?: readonly (keyof R & string)[];
  /** What brings the rest: a sentence that names tools and arguments, since models call by name. */
  more: string;
  /** What to do where a paid answer is refused; `more` where nothing is said. */
  instead?: string;
}

/** A shorter form of an answer. */
export interface Brief<R> {
  /** What it leaves out: `histograms`. */
  without: string;
  of: (body: R) => object;
}

/** How an operation is called: at its address, or as a tool or skill. */
export type CalledAs = 'address' | 'tool';

export interface Operation<I = unknown, R = unknown> {
  /** Stable name: MCP tool, A2A skill, OpenAPI operationId. */
  name: string;
  title: string;
  /** One or two sentences for an agent that decides whether to call it. */
  description: string;
  /** Hono path. `.md` twins are made by the REST channel. What is not a GET may have a JSON body: `ctx.body`. */
  route: { method: 'GET' | 'POST' | 'PUT' | 'DELETE'; path: string };
  /** Tag in OpenAPI and heading in the guides; decides nothing else. */
  group: 'register' | 'dataset' | 'records' | 'analysis' | 'account' | 'owners';
  access: Access;
  /** About one account or request: no cache stores the answer, and no other operation's refusal suggests it. */
  personal?: true;
  /** Takes the API key itself; an OAuth access token will not do (contract section 3). */
  key_only?: true;
  /** Errors it throws besides those that follow from access, price and route. */
  errors?: readonly ErrorCode[];
  /** The page that a browser is sent to when it opens the operation's address. */
  browser_page?: string;
  /** Anonymous callers get public fields within the daily quota. */
  previews?: boolean;
  /**
   * Which pack price it takes and how often; absent for free operations. `free`: datasets that have nothing to sell by it.
   * `condition`: of an operation with free access, the calls that have the price.
   */
  price?: {
    of: PricedOperation;
    times?: (input: I) => number;
    free?: (pack: Pack) => boolean;
    condition?: PriceCondition<I>;
  };
  formats: readonly Format[];
  /** The `format` parameter is the operation's own, and does not choose the representation. */
  own_format?: true;
  /** False: an address only, neither an MCP tool nor an A2A skill. */
  tool?: false;
  /**
   * Each dataset has a tool of its own for it besides the one for all. `suffix`: it is named `<dataset>_search` and so on.
   * `filters`: the dataset's filters are in its schema; true of one operation, the search.
   */
  own_tool?: { suffix: 'search' | 'get' | 'prices' | 'compare'; filters?: true };
  /** The address at which agents read the answer as a text: `service://{dataset}/entity/{entity_id}`. Free operations only. */
  resource?: string;
  long?: Long<I, R>;
  /** Whether `{entity_id}` must exist before anything else is looked at. */
  entity?: boolean;
  /** Zod schema of the input, for a dataset or (null) for the register; unknown filters are left to `parse`. */
  input: (pack: Pack | null, as?: CalledAs) => z.ZodType;
  /**
   * Zod schema of a JSON answer, for a dataset or (null) for any; absent where no JSON is answered. Documents and tools
   * take it through `outputSchema` (render/json-schema.ts); a test holds every answer against it.
   */
  output?: (pack: Pack | null) => z.ZodType;
  /** Statuses of success, the usual one first; 200 alone where nothing is said. */
  statuses?: readonly (200 | 201 | 202)[];
  /**
   * Parameters of a question whose real answer documents may show to everybody: it is small and names public attributes
   * only. `slugs` are records of the dataset; null: there is no such question.
   */
  example?: (pack: Pack, slugs: readonly string[]) => RawInput | null;
  /**
   * Questions for which it is the cheapest call, in the guides: what is wanted, and the parameters, with `{…}` to fill in.
   * `open`: without a key, for public fields and free.
   */
  answers?: readonly { want: string; query?: string; open?: true }[];
  /** Datasets whose answer is never empty; absent: all. The guides of the others do not offer it. */
  answerable?: (pack: Pack) => boolean;
  /** Strict parse of raw input to what `run` takes; throws DataError with the codes of contract section 4. */
  parse: (raw: RawInput, ctx: Context) => I;
  /** Attributes that the input names in fields, sort or filters; an anonymous caller may name public ones only. */
  names?: (input: I) => string[];
  /** Most records the answer may show: what a preview takes off the quota beforehand. */
  page?: (input: I) => number;
  /**
   * What a conditional request is compared with, read before any charge. Without it a free answer is tagged by its bytes, and a
   * paid one not at all. Of a paid answer they are the same for every caller. Throws `unknown_entity`.
   */
  validators?: (raw: RawInput, ctx: Context) => Promise<Validators>;
  run: (input: I, ctx: Context) => Promise<Result<R>>;
  markdown: (result: R, ctx: Context) => string | Promise<string>;
  /**
   * The answer as a page for people, for whoever prefers `text/html`: REST alone, besides `formats`. `first`: also for whoever accepts anything.
   * Of what is paid for, nobody may keep the page.
   */
  html?: { print: (result: R, ctx: Context) => string; first?: true };
  /** Files that the nightly build writes from it: dist path to raw input. */
  prerender?: (pack: Pack | null) => { file: string; input: RawInput; format: Format }[];
}

/** Fits an operation into the table, where every input and answer is `unknown`: only its own `parse` makes its input. */
export function operation<I, R>(definition: Operation<I, R>): Operation {
  return definition as unknown as Operation;
}

/** The operation that finds records by the filters of a dataset. */
export function searchOf(operations: readonly Operation[]): Operation {
  const search = operations.find(({ own_tool }) => own_tool?.filters);
  if (!search) throw new Error('no operation of the table has own_tool.filters');
  return search;
}

/** The parameters that an operation takes. */
export interface Accepted {
  names: readonly string[];
  /** Whether every other name is a filter of the dataset. */
  filters: boolean;
}

const accepted = new WeakMap<Operation, Accepted>();

/** The parameters of an operation beside path and representation, as its input schema has them. */
export function acceptedBy(operation: Operation): Accepted {
  let parameters = accepted.get(operation);
  if (parameters === undefined) {
    const { def } = operation.input(null) as unknown as { def: { shape?: object; catchall?: unknown } };
    parameters = {
      names: Object.keys(def.shape ?? {}),
      filters: def.catchall !== undefined && !isStrict(def.catchall),
    };
    accepted.set(operation, parameters);
  }
  return parameters;
}

const isStrict = (catchall: unknown): boolean => (catchall as { def?: { type?: string } }).def?.type === 'never';
