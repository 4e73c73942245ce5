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
  readonly #options: { path: string; httpOnly: true; sameSite: 'Strict' | 'Lax'; secure: boolean };

  /** `Lax`: also sent when a link of another site opens a page below the path. */
  constructor(base_url: string, name: string, path: string, sameSite: 'Strict' | 'Lax' = 'Strict') {
    const secure = base_url.startsWith('https:');
    this.#name = secure ? `__Secure-${name}` : name;
    this.#options = { path: prefixOf(base_url) + path, httpOnly: true, sameSite, secure };
  }

  /** The token in a request. */
  read(request: { header: ReadHeader }): string | undefined {
    return parse(request.header('cookie') ?? '', this.#name)[this.#name];
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

/** A path of this site that a page returns to after a sign-in, such as that of a record; null for any other text. */
export function returnPath(base_url: string, text: string): string | null {
  const { origin, pathname } = new URL(base_url);
  const url = /^\/(?![/\\])[\x21-\x7e]{0,1000}$/.test(text) ? URL.parse(text, origin) : null;
  return url?.origin === origin && url.pathname.startsWith(pathname) ? url.pathname + url.search + url.hash : null;
}

/**
 * Whether another site sent the form of a POST, by the headers that browsers set and other sites cannot change.
 * `session`: a request without them counts as foreign. `token`: only a wrong one does; under `no-referrer`,
 * Origin is `null`.
 */
export function isForeignForm(
  base_url: string,
  kind: 'session' | 'token' | 'unchecked' | undefined,
  request: { method: string; header: ReadHeader },
): boolean {
  if (request.method !== 'POST' || kind === undefined || kind === 'unchecked') return false;
  const origin = request.header('origin');
  const site = request.header('sec-fetch-site');
  const ours = new URL(base_url).origin;
  if (kind === 'session') {
    if (site !== undefined && site !== 'same-origin') return true;
    return origin === undefined ? site !== 'same-origin' : origin !== ours;
  }
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && origin !== 'null' && origin !== ours;
}
