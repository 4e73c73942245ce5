// Access tokens: verified with our own keys, then looked up with their grant (protocols.md 3.2).
import { createLocalJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { currentPlan } from '../../data/model/subscriptions.ts';
import { findLiveGrant } from '../../data/state/keys/lookup.ts';
import { signingKeys } from '../../data/state/keys/signing-keys.ts';
import type { Store } from '../../data/state/store.ts';
import { TOKEN_RESOURCES } from '../../packs/define/links.ts';
import type { Identify } from './caller.ts';

/** Audiences of our tokens: each of our resources and nothing else. */
export const audiences = (base_url: string): string[] => TOKEN_RESOURCES.map((path) => base_url + path);

/** Whether a token of a resource is accepted at a path below the base URL (contract section 3, "Credentials"). */
function covers(base_url: string, resource: string, path: string): boolean {
  const root = resource.slice(base_url.length);
  return root === '' || path === root || path.startsWith(`${root}/`);
}

/** Allowed difference between the clocks of our own processes, in seconds. */
const SKEW = 5;
/** Shortest time between two reads of the key set, in milliseconds. */
const RELOAD_INTERVAL = 10_000;

interface Parts {
  store: Store;
  base_url: string;
  now(): Date;
}

/**
 * The published keys, read once, and again for an unknown key id: another process may have created the key.
 */
function keySet(store: Store): JWTVerifyGetKey {
  let keys: Promise<ReturnType<typeof createLocalJWKSet>> | null = null;
  const read = async () => {
    try {
      return createLocalJWKSet({ keys: [...(await signingKeys(store)).published.keys] });
    } catch (error) {
      keys = null;
      throw error;
    }
  };
  let nextReload = 0;
  return async (header, token) => {
    keys ??= read();
    const find = await keys;
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || performance.now() < nextReload) throw error;
      nextReload = performance.now() + RELOAD_INTERVAL;
      keys = read();
      return (await keys)(header, token);
    }
  };
}

/**
 * Identifies access tokens, in `Authorization` only (OAuth 2.1 section 5.1 forbids them in URLs): ES256,
 * `at+jwt`, issued by us (`iss`), for the resource of the request (`aud`), not expired, and with a grant and a
 * key that are not revoked (RFC 9068 section 4).
 */
export function identifyTokens({ store, base_url, now }: Parts): Identify {
  const keys = keySet(store);
  const audience = audiences(base_url);
  return async ({ via, secret, path = '' }) => {
    if (via !== 'authorization') return null;
    const options = { algorithms: ['ES256'], typ: 'at+jwt', issuer: base_url, audience, clockTolerance: SKEW };
    const verified = await jwtVerify(secret, keys, {
      ...options,
      currentDate: now(),
      requiredClaims: ['exp', 'sub', 'client_id', 'grant'],
    }).catch((error: unknown) => {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    });
    if (verified === null || verified.payload['scope'] !== 'read') return null;
    const { sub, client_id, grant, aud } = verified.payload;
    const grantRow = await findLiveGrant(store, String(grant), now().getTime());
    if (grantRow === null || grantRow.key.id !== sub || grantRow.client_id !== client_id) return null;
    if (![aud ?? []].flat().some((resource) => covers(base_url, resource, path))) return null;
    const { plan_until: _, ...key } = grantRow.key;
    return { kind: 'key', ...key, plan: currentPlan(grantRow.key, now().getTime()), grant: grantRow.name };
  };
}
