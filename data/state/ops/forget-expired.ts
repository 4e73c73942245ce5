// Removes what the store and the outbox no longer need: answers, sessions, links and counts whose time is over.

import { forgetAnswers } from '../idempotency.ts';
import { forgetLinks } from '../links.ts';
import { forgetGrants } from '../oauth/grants.ts';
import { forgetItems } from '../oauth/items.ts';
import { forgetMails } from '../outbox.ts';
import { forgetClaims } from '../owners/claims.ts';
import { forgetQuotas } from '../quotas.ts';
import type { Store } from '../store.ts';
import { forgetOldAddresses } from './forget.ts';
import { forgetSessions } from './sessions.ts';
import { forgetTraffic } from './traffic.ts';

/** Milliseconds for which mails stay in the outbox; their links expire earlier. */
const MAILS = 30 * 24 * 3_600_000;

/** Deletes every expired row, and old mails of the outbox in `dataDir`. Safe to run in several processes at once. */
export async function forgetExpired(store: Store, dataDir: string, now: Date): Promise<void> {
  const time = now.getTime();
  await forgetAnswers(store, time);
  await forgetQuotas(store, now);
  await forgetItems(store, time);
  await forgetGrants(store, time);
  await forgetClaims(store, time);
  await forgetLinks(store, time);
  await forgetSessions(store, time);
  await forgetTraffic(store, time);
  await forgetOldAddresses(store, time);
  await forgetMails(dataDir, { before: time - MAILS });
}
