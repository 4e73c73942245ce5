// Polite fetching: obeys robots.txt, one request at a time per host, conditional requests, retries with
// pauses.
import robotsParser from 'robots-parser';
import { Refused } from '../../data/model/guard.ts';
import { AGENT, type RequestMode, TooMuch, type Web, type WebResponse } from './web.ts';

/** A page. `status` 304: the known copy is still valid. */
export interface FetchedPage extends WebResponse {
  /** Address after redirects. */
  url: URL;
}

/** Validators of an earlier copy, for a conditional request (RFC 9110 section 13). */
export interface KnownCopy {
  etag?: string | undefined;
  last_modified?: string | undefined;
}

export interface CrawlPolicy {
  /** Minimal milliseconds between two requests to one host; robots.txt may require more. */
  delay: number;
  max_bytes: number;
  /** Request headers. A redirect to another origin does not receive them, nor do later ones. */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Access that the publisher has by a credential (contract section 5): robots.txt does not apply, and requests
   * are not signed.
   */
  credential?: boolean | undefined;
  /** Whether the open hosts may be reached. */
  open?: boolean | undefined;
}

/** Number of tries, and milliseconds before the second; each later pause is twice as long, with jitter. */
const TRIES = 4;
const BACKOFF = 1_000;
/** Longest Retry-After that is honoured, in milliseconds. */
const LONGEST = 300_000;
/** Redirects that are followed, for robots.txt too (RFC 9309 section 2.3.1.2). */
const HOPS = 5;
/** Bytes of a robots.txt that are read (RFC 9309 section 2.5). */
const ROBOTS_BYTES = 512_000;
/** Longest crawl delay of robots.txt that is honoured, in milliseconds. */
const LONGEST_DELAY = 60_000;

/** The package is CommonJS: its default export is the function itself, although its types differ. */
const parseRobots = robotsParser as unknown as typeof robotsParser.default;

/** What an author can do about a final answer. */
function hintOf(status: number, tries: number): string {
  if (status === 401 || status === 403) return '; does the source need a key in a header?';
  return tries > 1 ? ` after ${tries} tries` : '';
}

/** robots.txt disallows the path. */
class Forbidden extends Error {}

interface Host {
  /** Null: not needed yet. */
  rules: Promise<Rules> | null;
  /** Time of the last request to it, and the queue of waiting requests. */
  turn: Promise<void>;
  last: number;
}

export class Crawler {
  readonly #web: Web;
  readonly #hosts = new Map<string, Host>();

  constructor(web: Web) {
    this.#web = web;
  }

  /**
   * Fetches a page. Returns 200, 304 (the known copy is valid), 404 or 410 (no page); otherwise throws
   * Forbidden, Refused, TooMuch, or an Error with the last answer of the site.
   */
  async page(address: string, knownCopy: KnownCopy, policy: CrawlPolicy): Promise<FetchedPage> {
    let url = new URL(address);
    let headers = policy.headers;
    const seen = new Set<string>();
    while (seen.size <= HOPS) {
      seen.add(url.href);
      const answer = await this.#patiently(url, knownCopy, { ...policy, headers });
      if (answer.status < 300 || answer.status === 304 || answer.status > 399) return { ...answer, url };
      const { location = '' } = answer.headers;
      if (!URL.canParse(location, url)) throw new Error(`${url.href} redirects to an invalid address`);
      const next = new URL(location, url);
      if (next.origin !== url.origin) headers = undefined;
      url = next;
      if (seen.has(url.href)) throw new Error(`${address} redirects in a loop`);
    }
    throw new Error(`${address} redirects more than ${HOPS} times`);
  }

  /** Retries until there is a final answer. */
  async #patiently(url: URL, knownCopy: KnownCopy, policy: CrawlPolicy): Promise<WebResponse> {
    const { now, wait, random } = this.#web.options;
    const headers: Record<string, string> = { ...policy.headers };
    if (knownCopy.etag !== undefined) headers['If-None-Match'] = knownCopy.etag;
    if (knownCopy.last_modified !== undefined) headers['If-Modified-Since'] = knownCopy.last_modified;
    for (let tried = 1; ; tried++) {
      const last = tried === TRIES;
      let pause = BACKOFF * 2 ** (tried - 1) * (0.5 + random());
      try {
        const answer = await this.#inTurn(url, headers, policy);
        const { status } = answer;
        if (status === 404 || status === 410 || status < 400) return answer;
        const passing = status === 408 || status === 429 || status >= 500;
        if (!passing || last) throw new Final(`${url.href} answered ${status}${hintOf(status, tried)}`);
        pause = Math.max(pause, retryAfterMs(answer.headers['retry-after'], now()));
      } catch (error) {
        const final = [Final, Forbidden, Refused, TooMuch].some((kind) => error instanceof kind);
        // An error of the guard arrives as the cause of a failed connection.
        if (error instanceof Error && error.cause instanceof Refused) throw error.cause;
        if (final || last) throw error;
      }
      await wait(pause);
    }
  }

  /** One request to a host at a time, with a pause in between. */
  async #inTurn(url: URL, headers: Record<string, string>, policy: CrawlPolicy): Promise<WebResponse> {
    const host = this.#host(url);
    const mode: RequestMode = { open: policy.open, signed: policy.credential !== true };
    if (policy.credential !== true) host.rules ??= rulesOf(this.#web, url.origin, mode);
    const rules = policy.credential === true || host.rules === null ? NO_RULES : await host.rules;
    if (!rules.allowed(url))
      throw new Forbidden(
        rules.missing === undefined
          ? `robots.txt of ${url.host} forbids ${url.pathname}`
          : `${url.href} is not read, because robots.txt of ${url.host} is not available: ${rules.missing}`,
      );
    const before = host.turn;
    const { promise, resolve } = Promise.withResolvers<void>();
    host.turn = promise;
    await before;
    try {
      const { now, wait } = this.#web.options;
      const left = host.last + Math.max(policy.delay, rules.delay) - now().getTime();
      if (left > 0) await wait(left);
      host.last = now().getTime();
      return await this.#web.get(url, headers, policy.max_bytes, mode);
    } finally {
      resolve();
    }
  }

  #host(url: URL): Host {
    const state = this.#hosts.get(url.origin);
    if (state !== undefined) return state;
    const host: Host = { rules: null, turn: Promise.resolve(), last: -Infinity };
    this.#hosts.set(url.origin, host);
    return host;
  }
}

/** An error answer that a retry would not change. */
class Final extends Error {}

/** Retry-After in milliseconds: seconds or a date (RFC 9110 section 10.2.3). */
function retryAfterMs(text: string | undefined, now: Date): number {
  if (text === undefined) return 0;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  return Number.isNaN(ms) ? 0 : Math.min(LONGEST, Math.max(0, ms));
}

/** The rules of a site. `delay` in milliseconds, between two requests. */
interface Rules {
  allowed(url: URL): boolean;
  delay: number;
  /** Why there is no robots.txt to obey; nothing is allowed then. */
  missing?: string;
}

const NO_RULES: Rules = { allowed: () => true, delay: 0 };

/**
 * Reads robots.txt (RFC 9309). When it is unavailable, nothing is allowed (section 2.3.1.4); when there is
 * none, everything is (2.3.1.3).
 */
async function rulesOf(web: Web, origin: string, mode: RequestMode): Promise<Rules> {
  let url = new URL('/robots.txt', origin);
  for (let hop = 0; hop <= HOPS; hop++) {
    const answer = await web.get(url, {}, ROBOTS_BYTES, mode).catch((error: Error) => {
      // A refused address is an error of its own, not a missing robots.txt.
      for (const reason of [error, error.cause]) if (reason instanceof Refused) throw reason;
      return (error.cause instanceof Error ? error.cause : error).message;
    });
    if (typeof answer === 'string') return { allowed: () => false, delay: 0, missing: answer };
    if (answer.status >= 500) return { allowed: () => false, delay: 0, missing: `it answered ${answer.status}` };
    const { location } = answer.headers;
    if (answer.status >= 300 && answer.status < 400 && location !== undefined && URL.canParse(location, url)) {
      url = new URL(location, url);
      continue;
    }
    if (answer.status !== 200) break;
    const rules = parseRobots(new URL('/robots.txt', origin).href, answer.body.toString('utf8'));
    return {
      allowed: ({ href }) => rules.isAllowed(href, AGENT) !== false,
      delay: Math.min(LONGEST_DELAY, (rules.getCrawlDelay(AGENT) ?? 0) * 1000),
    };
  }
  return NO_RULES;
}
