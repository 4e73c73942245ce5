// Reads the answers of an HTTP API, or files on the web, through the crawler's client.

import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { Refused } from '../../data/model/guard.ts';
import type { DeclaredAs } from '../../packs/define/sources.ts';
import { Crawler, type CrawlPolicy, type FetchedPage, type KnownCopy } from '../crawl/polite.ts';
import { type ByteTable, readCsvTable } from './csv.ts';
import { jsonDocument, listInDocument, objectTable } from './json.ts';
import { valueAt } from './json-values.ts';
import { readJsonlTable } from './jsonl.ts';
import type { Mark, RawRow, SourceContext, SourceVersion } from './reader.ts';

type Declared = DeclaredAs<'http'>;

/** The body of an answer. */
interface Answer {
  url: URL;
  body: Buffer;
  /** SHA-256 of the body, in hex. */
  sha256: string;
  headers: FetchedPage['headers'];
  /** Time in Last-Modified, unless it is in the future. */
  modified: Date | null;
  /** Position of its address in `urls`. */
  at: number;
}

/** The table in an answer. */
interface ApiTable extends ByteTable {
  /** Lines of the answers before. */
  offset: number;
  /** The reader calls it after every row, with its line. */
  count(line: number): void;
}

/** Headers with the values of environment variables, and the limits. A header with one is a credential. */
function policyOf({ headers, per_second, max_bytes }: Declared, { environment }: SourceContext): CrawlPolicy {
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    // A secret from a file often ends with a line break, which no header may contain.
    value.replace(/\$\{(\w+)\}/g, (_text, variable: string) => environment(variable, `headers.${name}`).trim()),
  ]);
  const credential = Object.values(headers).some((value) => value.includes('${'));
  return { delay: 1000 / per_second, max_bytes, headers: Object.fromEntries(filled), credential, open: true };
}

/** The requests of one version. */
class ApiClient {
  readonly #declared: Declared;
  readonly #context: SourceContext;
  readonly #crawler: Crawler;
  readonly #policy: CrawlPolicy;
  readonly #lastMark: Mark;
  readonly #mark: Record<string, string> = {};
  readonly #pagesHash = createHash('sha256');
  #answers = 0;
  /** Lines of the tables that were read. */
  #lines = 0;

  constructor(declared: Declared, context: SourceContext, crawler: Crawler) {
    this.#declared = declared;
    this.#context = context;
    this.#crawler = crawler;
    this.#policy = policyOf(declared, context);
    this.#lastMark = context.marks.at(-1) ?? {};
  }

  /** The first answer that differs from that of the last run, or null. With pages: the first answer. */
  async firstChange(): Promise<Answer | null> {
    const { urls, pages } = this.#declared;
    if (pages !== undefined) return this.#answer(firstPage(urls[0]!, pages), 0);
    for (const [at, address] of urls.entries()) {
      const validators = { etag: this.#value('etag', address), last_modified: this.#value('modified', address) };
      const page = await this.#page(address, validators);
      if (page.status === 304) continue;
      const answer = this.#checked(page, at);
      // A server without validators sends the same bytes again.
      if (answer.sha256 !== this.#value('sha256', address)) return answer;
    }
    return null;
  }

  /** The tables of all answers; `first` is not requested again. The rows of one are read before the next. */
  async *tables(first: Answer): AsyncGenerator<ApiTable> {
    const { urls, pages } = this.#declared;
    for (const [at, address] of urls.entries()) {
      const url = firstPage(address, pages);
      const answer = first.at === at ? first : await this.#answer(url, at);
      if (pages !== undefined) yield* this.#pages(answer, address, pages);
      else {
        this.#remember(address, answer);
        yield (await this.#table(answer)).table;
      }
    }
  }

  /** What the next run needs: the validators of each address, or a hash of all pages. */
  mark(): Mark {
    return this.#declared.pages === undefined ? this.#mark : { sha256: this.#pagesHash.copy().digest('hex') };
  }

  /** The tables of an address with pages, until one has no rows or leads to no other. */
  async *#pages(first: Answer, address: string, pages: NonNullable<Declared['pages']>): AsyncGenerator<ApiTable> {
    const { max_pages } = this.#declared;
    const requested = new Set<string>([first.url.href]);
    let answer = first;
    for (let number = 1; ; number++) {
      this.#pagesHash.update(answer.sha256);
      const { table, document, isEmpty } = await this.#table(answer);
      yield table;
      if (isEmpty()) return;
      const url = nextPage(pages, number, { url: answer.url, link: answer.headers['link'], document });
      if (url === null) return;
      if (number === max_pages) throw new Error(`${address} has more than ${max_pages} pages (max_pages)`);
      if (requested.has(url.href)) throw new Error(`${answer.url.href} leads to ${url.href}, which was read before`);
      requested.add(url.href);
      const next = await this.#nextAnswer(url, answer.at, pages);
      if (next === null) return;
      if (next.sha256 === answer.sha256)
        throw new Error(`${url.href} has the same answer as the page before; is the parameter of the pages right?`);
      answer = next;
    }
  }

  /** The answer of a later page; null when there is no page of this number. */
  async #nextAnswer(url: URL, at: number, { by }: NonNullable<Declared['pages']>): Promise<Answer | null> {
    const page = await this.#page(url.href, {});
    if (by === 'query' && page.status === 404) return null;
    return this.#checked({ ...page, url }, at);
  }

  /** Requests a page. A refused private address is an error with the setting that allows it. */
  async #page(address: string, knownCopy: KnownCopy): Promise<FetchedPage> {
    return this.#crawler.page(address, knownCopy, this.#policy).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error;
      const advice = 'add its host and port to COLLECT_ALLOW_HOSTS if it is yours';
      throw new Error(`${address} is not read: ${error.message}; ${advice}`, { cause: error });
    });
  }

  async #answer(url: URL, at: number): Promise<Answer> {
    // Pages continue at the declared address, also when it redirects.
    return this.#checked({ ...(await this.#page(url.href, {})), url }, at);
  }

  #checked({ status, url, headers, body: raw }: FetchedPage, at: number): Answer {
    if (status !== 200) throw new Error(`${url.href} answered ${status}, expected 200; is the address right?`);
    this.#context.progress(++this.#answers, null, 'answers');
    const body = this.#decompressed(raw, url);
    const modified = Date.parse(headers['last-modified'] ?? '');
    const usable = !Number.isNaN(modified) && modified <= this.#context.now().getTime();
    const sha256 = createHash('sha256').update(body).digest('hex');
    return { url, body, sha256, headers, modified: usable ? new Date(modified) : null, at };
  }

  /** A body in gzip: a `.gz` file, or a coding that the server chose itself. */
  #decompressed(body: Buffer, url: URL): Buffer {
    if (body[0] !== 0x1f || body[1] !== 0x8b) return body;
    const { max_bytes } = this.#declared;
    try {
      return gunzipSync(body, { maxOutputLength: max_bytes });
    } catch (error) {
      throw new Error(`${url.href} cannot be decompressed to at most ${max_bytes} bytes: ${(error as Error).message}`);
    }
  }

  #value(name: string, address: string): string | undefined {
    const value = this.#lastMark[`${name} ${address}`];
    return typeof value === 'string' ? value : undefined;
  }

  #remember(address: string, { headers, sha256 }: Answer): void {
    const values = { etag: headers['etag'], modified: headers['last-modified'], sha256 };
    for (const [name, value] of Object.entries(values))
      if (value !== undefined) this.#mark[`${name} ${address}`] = value;
  }

  /** The table in a body. `isEmpty` is known after its rows were read. */
  async #table(answer: Answer): Promise<{ table: ApiTable; document: unknown; isEmpty: () => boolean }> {
    const offset = this.#lines;
    let rows = 0;
    const count = (line: number) => {
      rows++;
      this.#lines = Math.max(this.#lines, line + offset);
    };
    const context = {
      wanted: this.#context.wanted,
      broken: (row: Parameters<SourceContext['broken']>[0]) => {
        count(row.line);
        this.#context.broken({ ...row, line: row.line + offset });
      },
    };
    const document = this.#declared.format === 'json' ? jsonDocument(answer.url.href, answer.body) : undefined;
    const content = await this.#content(answer, document, context);
    return { table: { ...content, offset, count }, document, isEmpty: () => rows === 0 };
  }

  async #content(
    { url, body }: Answer,
    document: unknown,
    context: Pick<SourceContext, 'wanted' | 'broken'>,
  ): Promise<ByteTable> {
    const { format, items } = this.#declared;
    if (format === 'json') return objectTable(listInDocument(document, url.href, items), context);
    if (format === 'ndjson') return readJsonlTable(bytesOf(body), context);
    // A page after the last one may have no header.
    if (this.#answers > 1 && body.toString().trim() === '') return { columns: [], rows: rowsOf([]) };
    return readCsvTable(url.href, () => bytesOf(body), this.#declared, context.broken);
  }
}

async function* bytesOf(body: Buffer): AsyncGenerator<Buffer> {
  yield body;
}

async function* rowsOf<T>(rows: readonly T[]): AsyncGenerator<T> {
  yield* rows;
}

/**
 * The version of an API: the rows of all its addresses and pages. An answer without pages is requested with the
 * validators of the last run; there is no version when all are unchanged. Lines count over all answers.
 */
export async function* readHttp(declared: DeclaredAs<'http'>, context: SourceContext): AsyncGenerator<SourceVersion> {
  const { pages, format, urls } = declared;
  if (pages?.by === 'cursor' && format !== 'json')
    throw new Error(`pages by a cursor in the answer need format json (got ${format})`);
  const web = await context.web();
  try {
    const client = new ApiClient(declared, context, new Crawler(web));
    const first = await client.firstChange();
    if (first === null) return;
    const { columns, rows } = await joined(client.tables(first));
    const modified = pages === undefined && urls.length === 1 ? first.modified : null;
    const observed_at = modified ?? context.now();
    yield { name: urls[0]!, observed_at, columns, rows, mark: () => client.mark() };
  } finally {
    await web.close();
  }
}

/** Joins the tables of several answers by the names of their columns. */
async function joined(tables: AsyncGenerator<ApiTable>): Promise<ByteTable> {
  const columns: string[] = [];
  const positionsOf = (names: readonly string[]) =>
    names.map((name) => {
      const position = columns.indexOf(name);
      return position < 0 ? columns.push(name) - 1 : position;
    });
  const first = await tables.next();
  if (!first.done) positionsOf(first.value.columns);
  async function* rows(): AsyncGenerator<RawRow> {
    for (let next = first; !next.done; next = await tables.next()) {
      const table = next.value;
      let positions: number[] = [];
      for await (const { line, cells } of table.rows) {
        // A table of JSON lines may get columns while it is read.
        if (positions.length !== table.columns.length) positions = positionsOf(table.columns);
        const joinedCells = new Array<unknown>(columns.length).fill(undefined);
        for (let i = 0; i < cells.length; i++) joinedCells[positions[i]!] = cells[i];
        yield { line: line + table.offset, cells: joinedCells };
        table.count(line);
      }
    }
  }
  return { columns, rows: rows() };
}

// Addresses of the pages of an HTTP API: by a number in the query, a cursor in the answer, or the header Link.

type Pages = NonNullable<DeclaredAs<'http'>['pages']>;

/** An answer that leads to the next page. */
interface PageAnswer {
  url: URL;
  /** The header Link, or undefined. */
  link: string | undefined;
  /** The parsed answer; undefined unless the format is JSON. */
  document: unknown;
}

/** The address of the first page. */
function firstPage(address: string, pages: Pages | undefined): URL {
  const url = new URL(address);
  if (pages?.by === 'query') url.searchParams.set(pages.parameter, String(pages.from));
  return url;
}

/**
 * The address of the page after the `number`th (from 1), or null after the last one. Throws when it is on another
 * host, which must not receive the request headers.
 */
export function nextPage(pages: Pages, number: number, { url, link, document }: PageAnswer): URL | null {
  if (pages.by === 'query') return withParameter(url, pages.parameter, String(pages.from + number * pages.step));
  const next = pages.by === 'link' ? nextLink(link) : valueAt(document, pages.at);
  if (next === null || next === undefined || next === '' || next === false) return null;
  if (typeof next !== 'string' && typeof next !== 'number')
    throw new Error(`${url.href}: ${pages.by === 'link' ? 'Link' : pages.at} is neither a text nor a number`);
  const text = String(next);
  if (pages.by === 'cursor' && !/^https?:\/\//.test(text)) return withParameter(url, pages.parameter, text);
  if (!URL.canParse(text, url)) throw new Error(`${url.href} leads to the invalid address ${text}`);
  const address = new URL(text, url);
  if (address.origin !== url.origin) throw new Error(`${url.href} leads to another host: ${address.origin}`);
  return address;
}

function withParameter(url: URL, parameter: string, value: string): URL {
  const next = new URL(url);
  next.searchParams.set(parameter, value);
  return next;
}

/** The target of `rel="next"` in a header Link (RFC 8288 section 3). */
function nextLink(header = ''): string | undefined {
  for (const [, target, parameters] of header.matchAll(
    /<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]*))?)*)/g,
  )) {
    const [, quoted, token] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters!) ?? [];
    const relations = (quoted ?? token ?? '').toLowerCase().split(/\s+/);
    if (relations.includes('next')) return target!;
  }
  return undefined;
}
