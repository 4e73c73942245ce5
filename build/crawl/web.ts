// One request for one page, with limits of size and time, to allowed addresses only.
import { type Agent, request } from 'undici';
import { type Allowed, checkUrl, guardedAgent } from './guard.ts';
import type { Sign } from './sign.ts';

/** Name of the crawler in User-Agent and in robots.txt. */
export const AGENT = 'DatasetRegister';

/** Network, clock and randomness of a crawl; tests pass their own. */
export interface WebOptions {
  allowed: Allowed;
  /** Ports that may be fetched; null: any. */
  ports: readonly number[] | null;
  /** Null: requests are not signed. */
  sign: Sign | null;
  /** Address in User-Agent at which site owners learn about the crawler. */
  base_url: string;
  now: () => Date;
  /** Waits for a number of milliseconds. */
  wait: (ms: number) => Promise<void>;
  /** 0 to 1. */
  random: () => number;
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

  constructor(options: WebOptions) {
    this.options = options;
    this.#agent = guardedAgent(options.allowed);
  }

  /**
   * Sends one request. Throws Refused, TooMuch, or the error of the connection; returns answers of any
   * status.
   */
  async get(url: URL, headers: Record<string, string>, maxBytes: number): Promise<WebResponse> {
    const { allowed, ports, sign, base_url, now } = this.options;
    checkUrl(url, allowed, ports);
    const own = { 'User-Agent': `${AGENT}/1.0 (+${base_url})`, Accept: '*/*', 'Accept-Encoding': 'identity' };
    const signal = AbortSignal.timeout(WHOLE);
    const answer = await request(url, {
      dispatcher: this.#agent,
      headers: { ...own, ...headers, ...(await sign?.(url, now())) },
      headersTimeout: PATIENCE,
      bodyTimeout: PATIENCE,
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

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}
