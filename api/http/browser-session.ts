// Session cookies of pages, and the check that a form came from one of our pages.
import { parse, serialize } from 'hono/utils/cookie';
import { SESSION_LIFETIME } from '../../data/state/sessions.ts';
import { prefixOf } from '../pages/frame.ts';

type ReadHeader = (name: string) => string | undefined;

/**
 * The cookie with the token of a session: for one path, not readable by scripts, not sent with requests of
 * other sites. On HTTPS it is `Secure`, with the `__Secure-` prefix.
 */
export class SessionCookie {
  readonly #name: string;
  readonly #options: { path: string; httpOnly: true; sameSite: 'Strict'; secure: boolean };

  constructor(base_url: string, name: string, path: string) {
    const secure = base_url.startsWith('https:');
    this.#name = secure ? `__Secure-${name}` : name;
    this.#options = { path: prefixOf(base_url) + path, httpOnly: true, sameSite: 'Strict', secure };
  }

  /** The token in a request. */
  read(header: ReadHeader): string | undefined {
    return parse(header('cookie') ?? '', this.#name)[this.#name];
  }

  /** The value of Set-Cookie that stores a token. */
  set(token: string): string {
    return serialize(this.#name, token, { ...this.#options, maxAge: SESSION_LIFETIME.life / 1000 });
  }

  /** The value of Set-Cookie that deletes the cookie. */
  clear(): string {
    return serialize(this.#name, '', { ...this.#options, maxAge: 0 });
  }
}

/**
 * Whether a form came from one of our pages, by the headers that browsers set and other sites cannot change.
 * A request without them is rejected.
 */
export function isSameOriginForm(base_url: string, header: ReadHeader): boolean {
  const origin = header('origin');
  const site = header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return false;
  return origin === undefined ? site === 'same-origin' : origin === new URL(base_url).origin;
}
