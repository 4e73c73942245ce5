// /oauth/connections: a person sees which clients may spend from their key, and ends what they no longer want.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { endGrant, grantOf, grantsOf } from '../../data/state/grants.ts';
import { keyById } from '../../data/state/keys.ts';
import { sharedSecret } from '../../data/state/secrets.ts';
import type { Store } from '../../data/state/store.ts';
import type { Identify } from '../access/caller.ts';
import { connectionsPage, connectionsSignInPage } from './pages.ts';
import { signIn } from './signin.ts';

interface Parts {
  store: Store;
  identify: Identify;
  base_url: string;
  now(): Date;
}

/** What the page answers; `session` is the cookie to set, empty to end it, absent to leave it. */
export interface ConnectionsStep {
  status: number;
  html: string;
  session?: string;
}

/** How long a person stays signed in, in milliseconds. */
export const SIGNED_IN = 900_000;

/** A signed note of who signed in until when; the key itself is in no cookie. */
async function seal(store: Store, note: string): Promise<string> {
  const secret = await sharedSecret(store, 'oauth_cookies');
  return `${note}.${createHmac('sha256', secret).update(`connections ${note}`).digest('base64url')}`;
}

async function personOf({ store, now }: Parts, cookie: string | undefined) {
  const [id = '', until = ''] = (cookie ?? '').split('.');
  const right = Buffer.from(await seal(store, `${id}.${until}`));
  const shown = Buffer.from(cookie ?? '');
  if (shown.length !== right.length || !timingSafeEqual(shown, right)) return null;
  if (!(Number(until) > now().getTime())) return null;
  const key = await keyById(store, id);
  return key === null || key.revoked_at !== null ? null : key;
}

/** Shows the page, or does what its form asks. */
export async function connections(
  parts: Parts,
  cookie: string | undefined,
  form: URLSearchParams | null,
): Promise<ConnectionsStep> {
  const { store, base_url, now } = parts;
  const at = now().getTime();
  const action = form?.get('action');
  const list = async (id: string, email: string, ended?: string) =>
    connectionsPage(base_url, email, await grantsOf(store, id, at), ended);
  if (action === 'signout') return { status: 200, html: connectionsSignInPage(base_url), session: '' };
  const person = await personOf(parts, cookie);
  if (person !== null) {
    const grant = action === 'end' ? await grantOf(store, person.id, form?.get('grant') ?? '') : null;
    if (grant !== null) await endGrant(store, grant.id);
    const ended = grant === null ? undefined : grant.client_name || grant.client_id;
    return { status: 200, html: await list(person.id, person.email, ended) };
  }
  if (form === null) return { status: 200, html: connectionsSignInPage(base_url) };
  const signed = await signIn(parts.identify, form.get('key') ?? '');
  if ('wrong' in signed) return { status: 422, html: connectionsSignInPage(base_url, signed.wrong) };
  const key = await keyById(store, signed.key_id);
  return {
    status: 200,
    html: await list(signed.key_id, key?.email ?? ''),
    session: await seal(store, `${signed.key_id}.${at + SIGNED_IN}`),
  };
}
