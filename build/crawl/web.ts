// One page as the web gives it: one request, within limits of size and time, to addresses that are allowed.
import { type Agent, request } from 'undici';
import { type Allowed, checkUrl, guardedAgent } from './guard.ts';
import type { Sign } from './sign.ts';

/** How the crawler names itself to sites and in robots.txt. */
export const AGENT = 'DatasetRegister';

/** The outer world of a crawl; tests pass their own. */
export interface WebOptions {
  allowed: Allowed;
  /** Ports that may be fetched; null: any. */
  ports: readonly number[] | null;
  /** Null: requests are not signed. */
  sign: Sign | null;
  /** Where a site's owner reads who this is. */
  base_url: string;
  now: () => Date;
  /** Waits so many milliseconds. */
  wait: (ms: number) => Promise<void>;
  /** 0 to 1. */
  random: () => number;
}

export interface Answer {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Buffer;
}

/** A page that is larger, or takes longer, than a source may. */
export class TooMuch extends Error {}

/** Milliseconds for the headers, and between two pieces of a body. */
const PATIENCE = 30_000;
/** Milliseconds for a whole answer. */
const WHOLE = 120_000;

export class Web {
  readonly options: WebOptions;
  readonly #agent: Agent;

  constructor(options: WebOptions) {
    this.options = options;
    this.#agent = guardedAgent(options.allowed);
  }

  /** Asks once. Throws Refused, TooMuch, or what the connection threw; every status is an answer. */
  async get(url: URL, headers: Record<string, string>, maxBytes: number): Promise<Answer> {
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
    const told = Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of answer.body) {
      bytes += (piece as Buffer).length;
      // Leaving the loop destroys the body, whatever its length was said to be.
      if (bytes > maxBytes) throw new TooMuch(`${url.href} has more than ${maxBytes} bytes`);
      pieces.push(piece as Buffer);
    }
    return { status: answer.statusCode, headers: Object.fromEntries(told), body: Buffer.concat(pieces) };
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}
