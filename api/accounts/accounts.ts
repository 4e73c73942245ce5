// The accounts behind the key operations: the store, the limits on making keys, and mails of recovery.
import type { Account, Accounts, Asker } from '../../data/model/accounts.ts';
import { currentPlan } from '../../data/model/subscriptions.ts';
import { type Deed, recordDeed } from '../../data/state/audit.ts';
import {
  createKey,
  type Key,
  keyByEmail,
  keyById,
  listKeys,
  revokeKey,
  rotateKey,
  setPlan,
} from '../../data/state/keys/keys.ts';
import { consumeLink, dropLink, linkSubject, newLinkOf } from '../../data/state/links.ts';
import type { Mailer } from '../../data/state/mail.ts';
import { entriesOf, moveIn } from '../../data/state/money/ledger.ts';
import type { Quotas } from '../../data/state/quotas.ts';
import type { Store } from '../../data/state/store.ts';
import { isDisposable, normalEmail } from '../access/emails.ts';
import { type NetworkQuota, takeUnit } from '../access/network-quotas.ts';
import { secondsToMidnight } from '../access/previews.ts';
import type { Desk } from '../checkout/desk.ts';
import { ApiError } from '../contract/errors.ts';

/** Keys that one network may make a day (contract section 3, "Abuse of the welcome credit"). */
const KEYS_A_DAY: NetworkQuota = { name: 'keys', address: 10, blocks: { 56: 30, 48: 100 } };
/** Requests for a recovery mail from one network a day. */
const RECOVERIES_A_DAY: NetworkQuota = { name: 'recoveries', address: 10, blocks: { 56: 30, 48: 100 } };
/** How long a recovery link is good, in milliseconds. */
const LINK = 3_600_000;
const RECOVER = 'recover';

/** The rotation of a lost key, for the page that the mailed link opens. */
export interface Recovery {
  /** Whether a token is good; changes nothing. */
  good(token: string, now: Date): Promise<boolean>;
  /** Uses it: the new secret, once; null when the token is no good. */
  rotate(token: string, now: Date): Promise<string | null>;
}

interface Parts {
  store: Store;
  quotas: Quotas;
  post: Mailer['post'];
  desk: Desk;
  base_url: string;
  /** Most welcome credit of one UTC day, over all keys and processes, in micro-euros; absent: no bound. */
  welcome_budget?: number | undefined;
}

const noSuchKey = () => new ApiError('not_found', 'There is no key with this id.');

/** An e-mail address that may have a key, as it is compared. 422 otherwise. */
function acceptable(email: string): string {
  const refuse = (msg: string, type: string): never => {
    throw new ApiError('validation_failed', `email: ${msg}`, { detail: [{ loc: ['body', 'email'], msg, type }] });
  };
  const normal = normalEmail(email) ?? refuse('must be an e-mail address', 'value_error');
  return isDisposable(normal) ? refuse('must not be a throw-away address', 'disposable_email') : normal;
}

/** A line of the audit log about a key. */
function deedOf({ operator, now: at, request_id }: Asker, action: string, subject: string): Deed {
  const who = `operator ${operator ?? 'unnamed'}`;
  return { at, who, action, dataset: null, entity_id: null, subject, request_id };
}

function view(key: Key, now: number): Account {
  const { id, email, balance, created_at, revoked_at } = key;
  return { id, email, plan: currentPlan(key, now), balance, created_at, revoked_at };
}

/** Accounts over the store. */
export function storedAccounts({ store, quotas, post, desk, base_url, welcome_budget }: Parts): Accounts & Recovery {
  async function spend(quota: NetworkQuota, asker: Asker): Promise<void> {
    const now = new Date(asker.now);
    const used = await takeUnit(quotas, quota, asker.address, now);
    if (used === null) return;
    const message = `More than ${used.quota} of these requests today from ${used.block}. Try again after midnight UTC.`;
    throw new ApiError('rate_limited', message, { retry_after_seconds: secondsToMidnight(now) });
  }
  const known = async (id: string | null): Promise<Key> => {
    const key = id === null ? null : await keyById(store, id);
    if (key === null) throw noSuchKey();
    return key;
  };
  return {
    async create(email, asker) {
      const email_normal = acceptable(email);
      const { now, request_id } = asker;
      await spend(KEYS_A_DAY, asker);
      const budget = welcome_budget === undefined ? {} : { welcome_budget };
      const made = await createKey(store, { email, email_normal, request_id, now, ...budget });
      if (made === null)
        throw new ApiError('key_exists', 'This e-mail address has a key already.', {
          alternative_action: `POST ${base_url}/v1/keys/recover mails a link that replaces a lost key.`,
        });
      return { secret: made.secret, account: view(made.key, now) };
    },
    own: async ({ key, now }) => view(await known(key), now),
    async movements({ key }, limit, before) {
      const rows = await entriesOf(store, key ?? '', limit, before);
      return rows.map((row) => ({ ...row, balance: row.balance ?? 0 }));
    },
    list: async (limit, after, now) => (await listKeys(store, limit, after)).map((key) => view(key, now)),
    async revoke(id, asker) {
      const { now } = asker;
      if (!(await revokeKey(store, id, now, (db) => recordDeed({ db }, deedOf(asker, 'revoke', id)))))
        throw noSuchKey();
      await desk.close(id, now);
    },
    async grant(id, { amount, plan, reason }, asker) {
      const { now, request_id } = asker;
      await known(id);
      await store.db.transaction().execute(async (tx) => {
        if (amount !== 0)
          await moveIn(tx, { key_id: id, amount, kind: 'grant', against: 'grant', note: reason, request_id, now });
        if (plan !== null) await setPlan({ ...store, db: tx }, id, plan, null);
        const told = { ...(amount === 0 ? {} : { eur: amount / 1e6 }), ...(plan === null ? {} : { plan }), reason };
        await recordDeed({ db: tx }, { ...deedOf(asker, 'grant', id), told });
      });
      return view(await known(id), now);
    },
    async recover(email, asker) {
      await spend(RECOVERIES_A_DAY, asker);
      const normal = normalEmail(email);
      const key = normal === null ? null : await keyByEmail(store, normal);
      if (key === null || key.revoked_at !== null) return;
      const now = new Date(asker.now);
      const token = await newLinkOf(store, key.id, { purpose: RECOVER, subject: key.id, now: asker.now, lasts: LINK });
      if (token === null) return;
      const text = [
        'Somebody, we hope you, asked for a new API key for this address.',
        '',
        `This page replaces your key with a new one: ${base_url}/keys/recover?token=${token}`,
        '',
        'The link is good for one hour and for one use. Your present key stops working when you use it; credit and plan stay.',
        'If it was not you, do nothing.',
      ];
      const mail = { to: key.email, subject: 'A new API key', text: text.join('\n') };
      // A link that reached nobody must not hold back the next one.
      await post(mail, now, () => dropLink(store, token));
    },
    topup: desk.topup,
    subscribe: desk.subscribe,
    good: async (token, now) => (await linkSubject(store, RECOVER, token, now.getTime())) !== null,
    async rotate(token, now) {
      const id = await consumeLink(store, RECOVER, token, now.getTime());
      return id === null ? null : rotateKey(store, id);
    },
  };
}
