// One request for one page, with limits of size and time, to allowed addresses only.
import { type Agent, request } from 'undici';
import { type Allowed, checkUrl, guardedAgent, type OpenHosts } from '../../data/model/guard.ts';
import type { Sign } from './sign.ts';

/** Name of the crawler in User-Agent and in robots.txt. */
export const AGENT = 'DatasetRegister';

/** Network, clock and randomness of a crawl; tests pass their own. */
export interface WebOptions {
  allowed: Allowed;
  /** Ports that may be fetched; null: any. */
  ports: readonly number[] | null;
  /** Private hosts for requests with `open`; absent: none. */
  open_hosts?: OpenHosts | undefined;
  /** Null: requests are not signed. */
  sign: Sign | null;
  /** Address in User-Agent at which site owners learn about the crawler. */
  base_url: string;
  now: () => Date;
  /** Waits for a number of milliseconds. */
  wait: (ms: number) => Promise<void>;
  /** 0 to 1. */
  random: () => number;
  /** Milliseconds until the headers, and between two chunks of a body; absent: PATIENCE. */
  patience?: number;
}

/** How one request differs from the crawler's. */
export interface RequestMode {
  /** Whether the open hosts may be reached. */
  open?: boolean | undefined;
  /** Whether the request is signed, if there is a key; true unless set. */
  signed?: boolean | undefined;
}

export interface WebResponse {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Buffer;
}

/** A page that exceeds the limit of bytes. */
export class TooMuch extends Error {}

/** Milliseconds until the headers, and between two chunks of a body. */
const PATIENCE = 30_000;
/** Milliseconds for a complete answer. */
const WHOLE = 120_000;

export class Web {
  readonly options: WebOptions;
  readonly #agent: Agent;
  /** A crawled page must not lead to an open host: its requests have connections of their own. */
  readonly #openAgent: Agent;

  constructor(options: WebOptions) {
    this.options = options;
    this.#agent = guardedAgent(options.allowed);
    this.#openAgent = guardedAgent(options.allowed, options.open_hosts);
  }

  /**
   * Sends one request. Throws Refused, TooMuch, or the error of the connection; returns answers of any
   * status.
   */
  async get(
    url: URL,
    headers: Record<string, string>,
    maxBytes: number,
    { open = false, signed = true }: RequestMode = {},
  ): Promise<WebResponse> {
    const { allowed, ports, open_hosts, sign, base_url, now, patience = PATIENCE } = this.options;
    checkUrl(url, allowed, ports, open ? open_hosts : undefined);
    const defaults = { 'user-agent': `${AGENT}/1.0 (+${base_url})`, accept: '*/*', 'accept-encoding': 'identity' };
    const overrides = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    const signal = AbortSignal.timeout(WHOLE);
    const answer = await request(url, {
      dispatcher: open ? this.#openAgent : this.#agent,
      headers: { ...defaults, ...Object.fromEntries(overrides), ...(signed ? await sign?.(url, now()) : {}) },
      headersTimeout: patience,
      bodyTimeout: patience,
      signal,
    });
    const headerPairs = Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of answer.body) {
      bytes += (piece as Buffer).length;
      // Leaving the loop destroys the body, whatever its Content-Length was.
      if (bytes > maxBytes) throw new TooMuch(`${url.href} has more than ${maxBytes} bytes`);
      pieces.push(piece as Buffer);
    }
    return { status: answer.statusCode, headers: Object.fromEntries(headerPairs), body: Buffer.concat(pieces) };
  }

  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#openAgent.destroy()]);
  }
}
