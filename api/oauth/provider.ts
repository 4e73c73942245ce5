// The authorization server: oidc-provider, configured as OAuth 2.1 without OpenID (docs/decisions;
// protocols.md 3.1).
import type Provider from 'oidc-provider';
import type { Adapter, AdapterPayload, Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { hashSecret, sameHash } from '../../data/state/key-format.ts';
import { keyById } from '../../data/state/keys/keys.ts';
import { signingKeys } from '../../data/state/keys/signing-keys.ts';
import { endGrant, grantName, openGrant } from '../../data/state/oauth/grants.ts';
import {
  consumeItem,
  destroyItem,
  findItem,
  findItemByUid,
  type OAuthItem,
  putItem,
} from '../../data/state/oauth/items.ts';
import { sharedSecret } from '../../data/state/secrets.ts';
import type { Store } from '../../data/state/store.ts';
import type { Limits } from '../access/limits.ts';
import { audiences } from '../access/tokens.ts';
import { factsOf } from './bridge.ts';
import {
  hashClientSecret,
  LONGEST_DOCUMENT,
  type Metadata,
  newClientId,
  normalizeDocument,
  normalizeRegistration,
  REGISTRATION_FIELDS,
  type Refuse,
  redirectKind,
  withoutEmptyMembers,
} from './clients.ts';
import { errorPage } from './pages.ts';
import { PATHS } from './paths.ts';

/** How long a registered client is stored without a consent, in milliseconds. */
const UNUSED = 30 * 86_400_000;

/**
 * How long a refresh token may be used again, in milliseconds: a client that lost the answer, or sent two requests
 * at once, gets another one (RFC 9700 section 4.14.2 leaves the policy to us). Later it is theft.
 */
const REFRESHED_AGAIN = 10_000;

/** Models that end with their grant. */
const UNDER_GRANT = new Set(['AuthorizationCode', 'RefreshToken']);

/** Id of the grant of a client that was registered with an API key. */
const clientGrant = (client_id: string): string => `client ${client_id}`;

interface Parts {
  store: Store;
  /** The error for a code or token that was used before. */
  used(): Error;
  now(): Date;
}

/** Adapters over the store. */
function oauthAdapters({ store, used, now }: Parts): (model: string) => Adapter {
  const asPayload = async (item: Promise<OAuthItem | undefined>) => (await item) as AdapterPayload | undefined;
  return (model) => ({
    async upsert(id, payload, expiresIn) {
      const item: OAuthItem = { ...payload };
      // An interaction repeats the session's cookie id but never reads it, so the id is not stored.
      if (payload.session?.cookie !== undefined) item['session'] = { ...payload.session, cookie: undefined };
      if (model === 'Client' && payload.client_secret !== undefined)
        item['client_secret'] = hashClientSecret(payload.client_secret);
      const end = expiresIn === undefined ? null : now().getTime() + expiresIn * 1000;
      const ties = model === 'Client' ? clientTies(id, payload) : { expires_at: end };
      const grant = UNDER_GRANT.has(model) && payload.grantId ? { grant: grantName(payload.grantId) } : {};
      await putItem(store, model, id, item, { uid: model === 'Session' ? payload.uid : undefined, ...grant, ...ties });
    },
    async find(id) {
      const item = await asPayload(findItem(store, model, id));
      if (item !== undefined && mayRepeat(model, item)) delete item['consumed'];
      return item;
    },
    findByUid: (uid) => asPayload(findItemByUid(store, model, uid)),
    findByUserCode: async () => undefined,
    /**
     * One caller can consume a code or token; a second one, even at the same time, revokes its grant, unless it
     * repeats a refresh.
     */
    async consume(id) {
      if (await consumeItem(store, model, id, now().getTime())) return;
      const item = await findItem(store, model, id);
      if (item !== undefined && mayRepeat(model, item)) return;
      if (typeof item?.['grantId'] === 'string') await endGrant(store, grantName(item['grantId']));
      throw used();
    },
    destroy: (id) => (model === 'Grant' ? endGrant(store, grantName(id)) : destroyItem(store, model, id)),
    revokeByGrantId: (id) => endGrant(store, grantName(id)),
  });

  /** Whether a refresh token was used first only seconds ago. */
  function mayRepeat(model: string, { consumed }: OAuthItem): boolean {
    if (model !== 'RefreshToken' || typeof consumed !== 'number') return false;
    return now().getTime() - consumed * 1000 < REFRESHED_AGAIN;
  }

  /** A client registered with a key ends with its grant; any other one expires. */
  function clientTies(id: string, payload: AdapterPayload) {
    return (payload as OAuthItem)['key_id'] === undefined
      ? { expires_at: now().getTime() + UNUSED }
      : { expires_at: null, grant: grantName(clientGrant(id)) };
  }
}

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Lifetimes in seconds. A refresh token expires after a month without use, or a year after the consent. */
export const LIFETIMES = {
  AccessToken: HOUR,
  ClientCredentials: HOUR,
  AuthorizationCode: 60,
  RefreshToken: 30 * DAY,
  Grant: 365 * DAY,
  /** Time to sign in and consent, and duration of a session. */
  Interaction: 900,
  Session: 900,
  /** Never issued, but oidc-provider requires a value. */
  IdToken: HOUR,
} as const;

export interface ProviderParts {
  store: Store;
  limits: Limits;
  base_url: string;
  now(): Date;
  /** Called with every server error. */
  report(error: unknown): void;
  /**
   * Fetches client ID metadata documents; absent: none is fetched. oidc-provider checks an address only after
   * it has connected, so this fetch must check it before (data/model/guard.ts).
   */
  fetch?: Configuration['fetch'] | undefined;
}

type Library = typeof import('oidc-provider');

/** Loads oidc-provider without its console warning about Node versions that are not LTS. */
async function load(): Promise<Library> {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await import('oidc-provider');
  } finally {
    console.warn = warn;
  }
}

/** Creates the provider. Loading takes 0.3 s, so only the first OAuth request waits for it. */
export async function makeProvider(parts: ProviderParts): Promise<Provider> {
  const { store, base_url, now, report } = parts;
  const library = await load();
  const { errors } = library;
  const isLive = async (id: string) => (await keyById(store, id))?.revoked_at === null;
  const provider = new library.Provider(base_url, {
    adapter: oauthAdapters({ store, now, used: () => new errors.InvalidGrant('it was already used') }),
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
  provider.Client.prototype.redirectUriAllowed = refuseRedirects(library, provider);
  refuseResourcesFirst(library, provider);
  provider.use(authorizationMiddleware(provider, base_url, isLive));
  provider.use(registrationMiddleware(store, now));
  provider.use(tokenMiddleware);
  provider.on('server_error', (_, error) => report(error));
  (provider as NodeJS.EventEmitter).on('error', report);
  return provider;
}

/** Redirects of clients that registered under earlier rules are checked by the rules of today. */
function refuseRedirects({ errors }: Library, { Client }: Provider): typeof Client.prototype.redirectUriAllowed {
  const { redirectUriAllowed } = Client.prototype;
  return function (this: typeof Client.prototype, uri) {
    redirectKind(uri, (_, why) => {
      throw new errors.InvalidRedirectUri(why);
    });
    return redirectUriAllowed.call(this, uri);
  };
}

/**
 * Codes and refresh tokens are consumed only for a resource of their grant: oidc-provider checks the resource
 * after it has consumed them, and the corrected request would then count as theft.
 */
function refuseResourcesFirst(library: Library, provider: Provider): void {
  for (const { prototype } of [provider.AuthorizationCode, provider.RefreshToken]) {
    const { consume } = prototype as { consume(): Promise<void> };
    prototype.consume = async function (this: typeof prototype) {
      const resource = library.Provider.ctx?.oidc.params?.['resource'];
      for (const requested of [resource || []].flat())
        if (!this.resourceIndicators.has(String(requested)))
          throw new library.errors.InvalidTarget('the grant is for another resource');
      return consume.call(this);
    };
  }
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

/** Configuration of sign-in and consent. */
function people(
  { interactionPolicy }: Library,
  { base_url }: ProviderParts,
  isLive: (id: string) => Promise<boolean>,
): Configuration {
  const policy = interactionPolicy.base();
  // A key that is revoked between sign-in and consent ends the session.
  const gone = new interactionPolicy.Check('key_gone', 'the key was revoked', ({ oidc }) => {
    return oidc.session?.accountId !== undefined && oidc.account === undefined;
  });
  policy.get('login')?.checks.add(gone);
  return {
    interactions: { policy, url: (_, { uid }) => `${base_url}${PATHS.approve}/${uid}` },
    findAccount: async (_, id) => ((await isLive(id)) ? { accountId: id, claims: () => ({ sub: id }) } : undefined),
    // Each consent is a new grant with its own cap, so that it never extends an earlier one.
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

/** Configuration of clients: authentication, registration, metadata documents. */
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
      validator(ctx, _, __, value) {
        const metadata = value as Metadata;
        if (ctx) normalizeRegistration(metadata, factsOf(ctx.req).key_id, refuse);
        // A stored client was normalized when it registered.
        else if (/^https:/i.test(String(metadata['client_id']))) normalizeDocument(metadata, refuse);
      },
    },
    fetch: async (url, options) => {
      if (fetch === undefined) throw new Error('client ID metadata documents are not fetched here');
      return withoutEmptyMembers(await fetch(url, options));
    },
    fetchResponseBodyLimits: { 'client_id metadata document': LONGEST_DOCUMENT },
  };
}

/** Configuration of tokens, resources and lifetimes. */
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
        defaultResource: (_, __, several) => several?.[0] ?? base_url,
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

/** Parameters of OpenID, which an OAuth server ignores like any unknown parameter (RFC 6749 section 3.1). */
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
 * Authorization requests: the scope is always `read` and the response mode `query`; a session ends if its key
 * was revoked or the client requests a new sign-in.
 *
 * Anyone can register a client, so a link to us must not send a browser to an address of their choice: an error is
 * a page unless a person has signed in (RFC 9700 section 4.11.2). So is every error of `prompt=none`, which never
 * succeeds, since each consent is new.
 */
function authorizationMiddleware(provider: Provider, base_url: string, isLive: (key_id: string) => Promise<boolean>) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.path !== PATHS.authorize) return void (await next());
    const query = { ...ctx.query };
    for (const name of FOREIGN) delete query[name];
    if (!Array.isArray(query['scope'])) query['scope'] = 'read';
    // The provider supports modes that we do not offer; it rejects an unknown name with the right error.
    if (query['response_mode'] !== undefined && query['response_mode'] !== 'query')
      query['response_mode'] = 'unsupported';
    ctx.query = query;
    const session = await provider.Session.get(ctx);
    const prompts = String(query['prompt'] ?? '').split(' ');
    const { accountId } = session;
    const signedIn = accountId !== undefined && !prompts.includes('login') && (await isLive(accountId));
    if (accountId !== undefined && !signedIn) await session.destroy();
    await next();
    const target = URL.parse(ctx.response.get('Location'));
    if (target === null || target.href.startsWith(base_url + PATHS.approve)) return;
    if (signedIn && !prompts.includes('none')) return;
    // The error is in the fragment for a response type that is not offered.
    const answer = new URLSearchParams(target.hash.slice(1) || target.search);
    ctx.remove('Location');
    ctx.status = 400;
    ctx.type = 'html';
    ctx.body = errorPage(base_url, answer.get('error') ?? '', answer.get('error_description') ?? '');
  };
}

/** Registrations: the response has no OpenID fields; a registration with a key opens a grant for that key. */
function registrationMiddleware(store: Store, now: () => Date) {
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

/**
 * Token responses always have a scope: RFC 6749 section 5.1 requires it where it differs from the request.
 */
async function tokenMiddleware(ctx: Context, next: Next): Promise<void> {
  await next();
  const body = ctx.body as Record<string, unknown> | undefined;
  if (ctx.path === PATHS.token && ctx.status === 200 && body?.['access_token'] !== undefined) body['scope'] = 'read';
}
