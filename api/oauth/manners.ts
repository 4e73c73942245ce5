// Where OAuth 2.1 and OpenID Connect part: what oidc-provider is asked, and what it answers, as OAuth alone has it.
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { openGrant } from '../../data/state/grants.ts';
import type { Store } from '../../data/state/store.ts';
import { clientGrant } from './adapter.ts';
import { factsOf } from './bridge.ts';
import { ANSWERED, type Metadata } from './clients.ts';
import { PATHS } from './paths.ts';

type Context = KoaContextWithOIDC;
type Next = () => Promise<unknown>;

/** Parameters of OpenID, which an OAuth server ignores like any it does not know (RFC 6749 section 3.1). */
const FOREIGN = [
  'acr_values',
  'claims',
  'claims_locales',
  'display',
  'id_token_hint',
  'login_hint',
  'max_age',
  'nonce',
  'registration',
  'ui_locales',
];

/**
 * Authorization requests: the scope is `read` whatever was asked (the answer says so), the answer is a query, and nobody stays
 * signed in whose key is gone, or who is asked to sign in anew.
 */
export function authorizationManners(provider: Provider, isLive: (key_id: string) => Promise<boolean>) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.path === PATHS.authorize) {
      const query = { ...ctx.query };
      for (const name of FOREIGN) delete query[name];
      if (!Array.isArray(query['scope'])) query['scope'] = 'read';
      // The provider knows modes that we do not offer; a name it does not know is refused properly.
      if (query['response_mode'] !== undefined && query['response_mode'] !== 'query')
        query['response_mode'] = 'unsupported';
      ctx.query = query;
      const session = await provider.Session.get(ctx);
      const again = String(query['prompt'] ?? '')
        .split(' ')
        .includes('login');
      if (session.accountId !== undefined && (again || !(await isLive(session.accountId)))) await session.destroy();
    }
    await next();
  };
}

/** Registrations: the answer holds what was registered and nothing of OpenID; with a key comes the right to spend from it. */
export function registrationManners(store: Store, now: () => Date) {
  return async (ctx: Context, next: Next): Promise<void> => {
    await next();
    if (ctx.path !== PATHS.register || ctx.status !== 201) return;
    const client = ctx.body as Metadata & { client_id: string };
    const { key_id } = factsOf(ctx.req);
    if (key_id !== undefined)
      await openGrant(store, clientGrant(client.client_id), {
        key_id,
        client_id: client.client_id,
        client_name: String(client['client_name'] ?? ''),
        cap: null,
        created_at: now().getTime(),
        expires_at: null,
      });
    ctx.body = Object.fromEntries(
      ANSWERED.filter((name) => client[name] !== undefined).map((name) => [name, client[name]]),
    );
  };
}

/** Token answers say their scope even where none was asked, since RFC 6749 section 5.1 wants it where it differs. */
export async function tokenManners(ctx: Context, next: Next): Promise<void> {
  await next();
  const body = ctx.body as Record<string, unknown> | undefined;
  if (ctx.path === PATHS.token && ctx.status === 200 && body?.['access_token'] !== undefined) body['scope'] = 'read';
}
