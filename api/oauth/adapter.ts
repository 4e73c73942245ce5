// The storage of oidc-provider: one adapter for each of its models (its "Adapter" interface).
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { endGrant, grantName } from '../../data/state/oauth/grants.ts';
import {
  consumeItem,
  destroyItem,
  findItem,
  findItemByUid,
  type OAuthItem,
  putItem,
} from '../../data/state/oauth/items.ts';
import type { Store } from '../../data/state/store.ts';
import { hashClientSecret } from './clients.ts';

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
export const clientGrant = (client_id: string): string => `client ${client_id}`;

interface Parts {
  store: Store;
  /** The error for a code or token that was used before. */
  used(): Error;
  now(): Date;
}

/** Adapters over the store. */
export function oauthAdapters({ store, used, now }: Parts): (model: string) => Adapter {
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
