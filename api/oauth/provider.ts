// The authorization server: oidc-provider, told to be OAuth 2.1 alone (docs/decisions has why; protocols.md 3.1 each setting).
import type Provider from 'oidc-provider';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { hashSecret, sameHash } from '../../data/state/key-format.ts';
import { keyById } from '../../data/state/keys/keys.ts';
import { signingKeys } from '../../data/state/keys/signing-keys.ts';
import { grantName, openGrant } from '../../data/state/oauth/grants.ts';
import { sharedSecret } from '../../data/state/secrets.ts';
import type { Store } from '../../data/state/store.ts';
import type { Limits } from '../access/limits.ts';
import { audiences } from '../access/tokens.ts';
import { clientGrant, oauthAdapters } from './adapter.ts';
import { factsOf } from './bridge.ts';
import {
  hashClientSecret,
  type Metadata,
  newClientId,
  normalizeDocument,
  normalizeRegistration,
  REGISTRATION_FIELDS,
  type Refuse,
} from './clients.ts';
import { errorPage } from './pages.ts';
import { PATHS } from './paths.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Lifetimes in seconds. A refresh token is over after a month unused, and with its grant a year after the consent. */
export const LIFETIMES = {
  AccessToken: HOUR,
  ClientCredentials: HOUR,
  AuthorizationCode: 60,
  RefreshToken: 30 * DAY,
  Grant: 365 * DAY,
  /** How long a person may take to sign in and decide, and how long they stay signed in. */
  Interaction: 900,
  Session: 900,
  /** Never issued; oidc-provider wants to know all the same. */
  IdToken: HOUR,
} as const;

export interface ProviderParts {
  store: Store;
  limits: Limits;
  base_url: string;
  now(): Date;
  /** Told of every error that is our own fault. */
  report(error: unknown): void;
  /**
   * Fetches client ID metadata documents; absent: none is fetched. oidc-provider's own guard looks at an address only after it
   * has connected, so it takes a fetch that checks before (build/crawl/guard.ts).
   */
  fetch?: Configuration['fetch'] | undefined;
}

type Library = typeof import('oidc-provider');

/** oidc-provider says on the console that a Node version is no LTS yet, while it loads; nothing of ours speaks there. */
async function load(): Promise<Library> {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await import('oidc-provider');
  } finally {
    console.warn = warn;
  }
}

/** Makes the provider. It takes a third of a second to load, so nothing waits for it but the first OAuth request. */
export async function makeProvider(parts: ProviderParts): Promise<Provider> {
  const { store, base_url, now, report } = parts;
  const library = await load();
  const { errors } = library;
  const isLive = async (id: string) => (await keyById(store, id))?.revoked_at === null;
  const provider = new library.Provider(base_url, {
    adapter: oauthAdapters({ store, now, used: () => new errors.InvalidGrant('it was used before') }),
    jwks: { keys: [...(await signingKeys(store)).keys] },
    cookies: cookies(base_url, await sharedSecret(store, 'oauth_cookies')),
    ...people(library, parts, isLive),
    ...clients(library, parts),
    ...tokens(library, parts),
  });
  provider.proxy = true;
  provider.Client.prototype.compareClientSecret = function (actual) {
    return sameHash(hashSecret(String(this.clientSecret)), hashSecret(hashClientSecret(actual)));
  };
  provider.use(authorizationManners(provider, isLive));
  provider.use(registrationManners(store, now));
  provider.use(tokenManners);
  provider.on('server_error', (_, error) => report(error));
  (provider as NodeJS.EventEmitter).on('error', report);
  return provider;
}

function cookies(base_url: string, secret: string): Configuration['cookies'] {
  const path = `${new URL(base_url).pathname.replace(/\/$/, '')}/oauth`;
  const common = { httpOnly: true, sameSite: 'lax' } as const;
  return {
    keys: [secret],
    names: { session: 'register_session', interaction: 'register_step', resume: 'register_resume' },
    long: { ...common, path },
    short: common,
  };
}

/** Who signs in, where they are asked, and what a consent stands for. */
function people(
  { interactionPolicy }: Library,
  { base_url }: ProviderParts,
  isLive: (id: string) => Promise<boolean>,
): Configuration {
  const policy = interactionPolicy.base();
  // A key that is revoked between sign-in and consent signs nobody in any more.
  const gone = new interactionPolicy.Check('key_gone', 'the key was revoked', ({ oidc }) => {
    return oidc.session?.accountId !== undefined && oidc.account === undefined;
  });
  policy.get('login')?.checks.add(gone);
  return {
    interactions: { policy, url: (_, { uid }) => `${base_url}${PATHS.approve}/${uid}` },
    findAccount: async (_, id) => ((await isLive(id)) ? { accountId: id, claims: () => ({ sub: id }) } : undefined),
    // Each consent is a grant of its own with its own cap: what another window was allowed is never widened in silence.
    async loadExistingGrant({ oidc }) {
      const grant = oidc.result?.consent?.grantId;
      return grant === undefined ? undefined : oidc.provider.Grant.find(grant);
    },
    renderError(ctx, out) {
      ctx.type = 'html';
      ctx.body = errorPage(base_url, out.error, out.error_description ?? '');
    },
  };
}

/** Who may become a client, and how it shows that it is one. */
function clients({ errors }: Library, { fetch }: ProviderParts): Configuration {
  const refuse: Refuse = (code, why) => {
    throw new errors.CustomOIDCProviderError(code, why);
  };
  return {
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    clientBasedCORS: () => true,
    extraClientMetadata: {
      properties: ['key_id'],
      validator(ctx, _, __, given) {
        const metadata = given as Metadata;
        if (ctx) normalizeRegistration(metadata, factsOf(ctx.req).key_id, refuse);
        // A stored client was settled when it registered.
        else if (/^https:/i.test(String(metadata['client_id']))) normalizeDocument(metadata, refuse);
      },
    },
    fetch: fetch ?? (() => Promise.reject(new Error('client ID metadata documents are not fetched here'))),
  };
}

/** What is issued, for what and for how long. */
function tokens({ errors }: Library, { base_url, limits }: ProviderParts): Configuration {
  const plain = (url: string) => (URL.parse(url)?.href ?? url).replace(/\/$/, '');
  const resources = new Map(audiences(base_url).map((audience) => [plain(audience), audience]));
  return {
    routes: {
      authorization: PATHS.authorize,
      token: PATHS.token,
      registration: PATHS.register,
      revocation: PATHS.revoke,
      jwks: PATHS.keys,
    },
    scopes: ['read'],
    responseTypes: ['code'],
    pkce: { required: () => true },
    ttl: LIFETIMES,
    issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,
    formats: {
      customizers: {
        jwt(_, token, jwt) {
          const ofClient = token.kind === 'ClientCredentials';
          const client = token.client as unknown as { clientId: string; key_id?: string };
          if (ofClient) jwt.payload['sub'] = client.key_id;
          jwt.payload['scope'] = 'read';
          jwt.payload['grant'] = grantName(ofClient ? clientGrant(client.clientId) : String(token.grantId));
        },
      },
    },
    features: {
      clientCredentials: { enabled: true },
      registration: { enabled: true, idFactory: newClientId, issueRegistrationAccessToken: false },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        allowFetch: async ({ req }) =>
          (await limits.spend('register', `ip ${factsOf(req).address}`))?.allowed !== false,
        allowClient: () => true,
      },
      revocation: { enabled: true, allowedPolicy: (_, client, token) => client.clientId === token.clientId },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_, __, several) => several?.[0] ?? `${base_url}/mcp`,
        useGrantedResource: () => true,
        getResourceServerInfo(_, resource) {
          const audience = resources.get(plain(resource));
          if (audience === undefined) throw new errors.InvalidTarget('no resource of this service');
          const format = { accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } } as const;
          return { scope: 'read', audience, accessTokenTTL: LIFETIMES.AccessToken, ...format };
        },
      },
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
    },
  };
}

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
function authorizationManners(provider: Provider, isLive: (key_id: string) => Promise<boolean>) {
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
function registrationManners(store: Store, now: () => Date) {
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
      REGISTRATION_FIELDS.filter((name) => client[name] !== undefined).map((name) => [name, client[name]]),
    );
  };
}

/** Token answers say their scope even where none was asked, since RFC 6749 section 5.1 wants it where it differs. */
async function tokenManners(ctx: Context, next: Next): Promise<void> {
  await next();
  const body = ctx.body as Record<string, unknown> | undefined;
  if (ctx.path === PATHS.token && ctx.status === 200 && body?.['access_token'] !== undefined) body['scope'] = 'read';
}
