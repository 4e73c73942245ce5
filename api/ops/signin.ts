// Signing in to the operators' pages with an operator's key: a session in a cookie, and what a form must show to be one of ours.
import { parse, serialize } from 'hono/utils/cookie';
import { recordDeed } from '../../data/state/audit.ts';
import { endSession, findSession, openSession, SESSION } from '../../data/state/ops/sessions.ts';
import { hashSecret, operatorId } from '../access/caller.ts';
import type { Asked, OpsParts } from './parts/asked.ts';

/** What stands before our paths, where the base URL has a path of its own. */
export const prefixOf = (base_url: string): string => new URL(base_url).pathname.replace(/\/+$/, '');

/** Behind TLS the browser keeps the cookie from anything else, and its name says so. */
function cookieOf(base_url: string) {
  const secure = base_url.startsWith('https:');
  const name = secure ? '__Secure-register_ops' : 'register_ops';
  const options = { path: `${prefixOf(base_url)}/ops`, httpOnly: true, sameSite: 'Strict', secure } as const;
  return { name, options };
}

function tokenIn(base_url: string, asked: Asked): string | undefined {
  const { name } = cookieOf(base_url);
  return parse(asked.header('cookie') ?? '', name)[name];
}

/** The operator who is signed in with this browser; null when nobody is. A key that is no longer one signs nobody in. */
export async function signedIn({ store, admins, base_url, now }: OpsParts, asked: Asked): Promise<string | null> {
  const token = tokenIn(base_url, asked);
  if (token === undefined) return null;
  // What a page asks by itself does not keep its operator signed in.
  const renews = !asked.path.startsWith('/ops/partials/');
  const session = await findSession(store, token, now().getTime(), renews);
  return session !== null && admins.has(session.admin) ? operatorId(session.admin) : null;
}

/** Signs in with a key, under a new token whatever the browser brought along; the cookie to set, or null for a wrong key. */
export async function signIn(parts: OpsParts, asked: Asked, typed: string): Promise<string | null> {
  const { store, admins, base_url, now, log } = parts;
  const hash = hashSecret(typed.trim().replace(/^Bearer +/i, ''));
  if (!admins.has(hash)) {
    log(`operators: a wrong key from ${asked.address}`);
    return null;
  }
  const before = tokenIn(base_url, asked);
  if (before !== undefined) await endSession(store, before);
  const at = now().getTime();
  const token = await openSession(store, hash, at);
  const who = `operator ${operatorId(hash)}`;
  const nothing = { dataset: null, entity_id: null, subject: null };
  await recordDeed(store, { at, who, action: 'sign in', ...nothing, request_id: asked.request_id });
  const { name, options } = cookieOf(base_url);
  return serialize(name, token, { ...options, maxAge: SESSION.life / 1000 });
}

/** Signs out; the cookie that ends it in the browser too. */
export async function signOut({ store, base_url }: OpsParts, asked: Asked): Promise<string> {
  const token = tokenIn(base_url, asked);
  if (token !== undefined) await endSession(store, token);
  const { name, options } = cookieOf(base_url);
  return serialize(name, '', { ...options, maxAge: 0 });
}

/**
 * Whether a form came from a page of ours: a browser says where it came from, and another site cannot change what it says. A client that says
 * neither is no browser, and brings no cookie unless somebody typed it in.
 */
export function isOwn({ base_url }: Pick<OpsParts, 'base_url'>, asked: Asked): boolean {
  const origin = asked.header('origin');
  const site = asked.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return false;
  return origin === undefined ? site === 'same-origin' : origin === new URL(base_url).origin;
}

/** Where to go after signing in: an address of these pages, or their first one. */
export function nextOf(asked: string | null | undefined): string {
  const next = asked ?? '';
  return /^\/ops(\/[a-z0-9-]+)*$/.test(next) && !/^\/ops\/(login|partials|assets)/.test(next) ? next : '/ops';
}
