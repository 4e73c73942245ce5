// What oidc-provider keeps, in our store: one adapter for each of its models (its "Adapter" interface).
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

/** How long a client that registered itself is kept while nobody has let it in, in milliseconds. */
const UNUSED = 30 * 86_400_000;

/** Models that end with the grant they were issued under. */
const UNDER_GRANT = new Set(['AuthorizationCode', 'RefreshToken']);

/** Id of the grant that a client has from having been registered with an API key. */
export const clientGrant = (client_id: string): string => `client ${client_id}`;

interface Parts {
  store: Store;
  /** Makes the refusal of something that was used up already. */
  used(): Error;
  now(): Date;
}

/** Adapters over the store. */
export function oauthAdapters({ store, used, now }: Parts): (model: string) => Adapter {
  const found = async (item: Promise<OAuthItem | undefined>) => (await item) as AdapterPayload | undefined;
  return (model) => ({
    async upsert(id, payload, expiresIn) {
      const item: OAuthItem = { ...payload };
      // An interaction repeats the id of its session's cookie and never reads it.
      if (payload.session?.cookie !== undefined) item['session'] = { ...payload.session, cookie: undefined };
      if (model === 'Client' && payload.client_secret !== undefined)
        item['client_secret'] = hashClientSecret(payload.client_secret);
      const end = expiresIn === undefined ? null : now().getTime() + expiresIn * 1000;
      const ties = model === 'Client' ? clientTies(id, payload) : { expires_at: end };
      const grant = UNDER_GRANT.has(model) && payload.grantId ? { grant: grantName(payload.grantId) } : {};
      await putItem(store, model, id, item, { uid: model === 'Session' ? payload.uid : undefined, ...grant, ...ties });
    },
    find: (id) => found(findItem(store, model, id)),
    findByUid: (uid) => found(findItemByUid(store, model, uid)),
    findByUserCode: async () => undefined,
    /** One caller alone uses a code or a token up; a second one, even at the same moment, ends all that came of it. */
    async consume(id) {
      if (await consumeItem(store, model, id, now().getTime())) return;
      const item = await findItem(store, model, id);
      if (typeof item?.['grantId'] === 'string') await endGrant(store, grantName(item['grantId']));
      throw used();
    },
    destroy: (id) => (model === 'Grant' ? endGrant(store, grantName(id)) : destroyItem(store, model, id)),
    revokeByGrantId: (id) => endGrant(store, grantName(id)),
  });

  /** A client that was registered with a key lives and ends with the grant that made; another one until it is forgotten. */
  function clientTies(id: string, payload: AdapterPayload) {
    return (payload as OAuthItem)['key_id'] === undefined
      ? { expires_at: now().getTime() + UNUSED }
      : { expires_at: null, grant: grantName(clientGrant(id)) };
  }
}
