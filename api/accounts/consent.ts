// The way from a session of the account pages to the consent page of OAuth, which has a cookie of its own: a token
// that is valid for one interaction, once, and for a minute.
import { consumeLink, newLink } from '../../data/state/links.ts';
import type { Store } from '../../data/state/store.ts';

const LIFETIME = 60_000;
const purposeOf = (uid: string) => `consent ${uid}`;

/** A token that signs the owner of a key in to the interaction `uid`. */
export const consentToken = (store: Store, uid: string, key_id: string, now: number): Promise<string> =>
  newLink(store, { purpose: purposeOf(uid), subject: key_id, now, lasts: LIFETIME });

/** Consumes a token and returns the id of its key; null for one that is used, expired or of another interaction. */
export const consentKey = (store: Store, uid: string, token: string, now: number): Promise<string | null> =>
  consumeLink(store, purposeOf(uid), token, now);
