// Accounts behind the key operations: the store, daily limits on new keys, and mailed links.

import type {
  Account,
  AccountMovement,
  Accounts,
  AccountUsage,
  CreatedAccount,
  CreditGrant,
  KeepAnswer,
  Requester,
} from '../../data/model/accounts.ts';
import { currentPlan } from '../../data/model/subscriptions.ts';
import { type AuditEntry, recordAudit } from '../../data/state/audit.ts';
import {
  type CreatedKey,
  createKey,
  type Key,
  keyByEmail,
  keyById,
  listKeys,
  type Rotation,
  revokeKey,
  rotateKey,
  setPlan,
} from '../../data/state/keys/keys.ts';
import { consumeLink, linkSubject, newLinkOf } from '../../data/state/links.ts';
import type { MailQueue } from '../../data/state/mail.ts';
import { entriesOf, isDuplicate, moveIn, usageOf } from '../../data/state/money/ledger.ts';
import type { Mail } from '../../data/state/outbox.ts';
import type { Quotas } from '../../data/state/quotas.ts';
import { ownerSessions } from '../../data/state/sessions.ts';
import type { Store } from '../../data/state/store.ts';
import { isDisposable, normalEmail } from '../access/emails.ts';
import { type NetworkQuota, takeUnit } from '../access/network-quotas.ts';
import { secondsToMidnight } from '../access/previews.ts';
import type { CheckoutService } from '../checkout/service.ts';
import { ApiError } from '../contract/errors.ts';

/** New keys per network and day (contract section 3, "Abuse of the welcome credit"). */
const KEYS_A_DAY: NetworkQuota = { name: 'keys', address: 10, blocks: { 56: 30, 48: 100 } };
/** Mails with a link per network and day. */
const MAILS_A_DAY: NetworkQuota = { name: 'recoveries', address: 10, blocks: { 56: 30, 48: 100 } };
/** Lifetime of a mailed link in milliseconds. */
const LINK_LIFETIME = 3_600_000;
/** Milliseconds of a day. */
const DAY = 86_400_000;
/** Purpose of recovery links in the table of mailed links. */
const RECOVER = 'recover';
/** Purpose of links that sign in to the account pages. */
const SIGN_IN = 'account';

interface Parts {
  store: Store;
  quotas: Quotas;
  mailer: Pick<MailQueue, 'post'>;
  checkoutService: CheckoutService;
  base_url: string;
  /** Maximum welcome credit per UTC day over all keys and processes, in micro-euros; absent: no limit. */
  welcome_budget?: number | undefined;
}

const noSuchKey = () => new ApiError('not_found', 'There is no key with this id.');

/** The address in its normal form, by which keys are compared; 422 for an invalid or disposable one. */
function checkedEmail(email: string): string {
  const refuse = (msg: string, type: string): never => {
    throw new ApiError('validation_failed', `email: ${msg}`, { detail: [{ loc: ['body', 'email'], msg, type }] });
  };
  const normal = normalEmail(email) ?? refuse('must be an e-mail address', 'value_error');
  return isDisposable(normal) ? refuse('must not be a disposable address', 'disposable_email') : normal;
}

/** An entry of the audit log about a key. */
function auditEntry(requester: Requester, action: string, subject: string): AuditEntry {
  const { key, operator, now: at, request_id } = requester;
  const who = key === null ? `operator ${operator ?? 'unnamed'}` : `key ${key}`;
  return { at, who, action, dataset: null, entity_id: null, subject, request_id };
}

function accountOf(key: Key, now: number): Account {
  const { id, email, balance, created_at, revoked_at } = key;
  return { id, email, plan: currentPlan(key, now), balance, created_at, revoked_at };
}

/** Accounts in the store. */
export class StoredAccounts implements Accounts {
  readonly #store: Store;
  readonly #quotas: Quotas;
  readonly #mailer: Parts['mailer'];
  readonly #checkoutService: CheckoutService;
  readonly #base_url: string;
  readonly #welcome_budget: number | undefined;

  constructor({ store, quotas, mailer, checkoutService, base_url, welcome_budget }: Parts) {
    this.#store = store;
    this.#quotas = quotas;
    this.#mailer = mailer;
    this.#checkoutService = checkoutService;
    this.#base_url = base_url;
    this.#welcome_budget = welcome_budget;
  }

  async create(email: string, requester: Requester, keep?: KeepAnswer<CreatedAccount>): Promise<CreatedAccount> {
    const email_normal = checkedEmail(email);
    const { now, request_id } = requester;
    await this.#spend(KEYS_A_DAY, requester);
    const budget = this.#welcome_budget === undefined ? {} : { welcome_budget: this.#welcome_budget };
    const accountIn = ({ secret, key, no_welcome }: CreatedKey) => ({
      secret,
      account: accountOf(key, now),
      no_welcome,
    });
    const wanted = { email, email_normal, request_id, now, ...budget };
    const created = await createKey(this.#store, wanted, async (tx, row) => keep?.(tx, accountIn(row)));
    if (created === null)
      throw new ApiError('key_exists', 'This e-mail address already has a key.', {
        alternative_action: `POST ${this.#base_url}/v1/keys/recover mails a link that replaces a lost key.`,
      });
    return accountIn(created);
  }

  async own({ key, now }: Requester): Promise<Account> {
    return accountOf(await this.#key(key), now);
  }

  async movements({ key }: Requester, limit: number, before: number | null): Promise<AccountMovement[]> {
    const rows = await entriesOf(this.#store, key ?? '', limit, before);
    return rows.map((row) => ({ ...row, balance: row.balance ?? 0 }));
  }

  async list(limit: number, after: { created_at: number; id: string } | null, now: number): Promise<Account[]> {
    return (await listKeys(this.#store, limit, after)).map((key) => accountOf(key, now));
  }

  async revoke(id: string, requester: Requester, keep?: KeepAnswer<string>): Promise<void> {
    const { now } = requester;
    const also = async (db: Store['db']) => {
      await recordAudit({ db }, auditEntry(requester, 'revoke', id));
      await keep?.(db, id);
    };
    if (!(await revokeKey(this.#store, id, now, also))) throw noSuchKey();
    await this.#checkoutService.close(id, now);
  }

  async grant(id: string, { amount, plan, reason }: CreditGrant, requester: Requester): Promise<Account> {
    const { now, request_id } = requester;
    const store = this.#store;
    await this.#key(id);
    const once = requester.once === undefined ? {} : { reference: requester.once };
    const movement = {
      key_id: id,
      amount,
      kind: 'grant',
      against: 'grant',
      note: reason,
      request_id,
      now,
      ...once,
    } as const;
    const granted = store.db.transaction().execute(async (tx) => {
      if (amount !== 0) await moveIn(tx, movement);
      if (plan !== null) await setPlan({ ...store, db: tx }, id, plan, null);
      const details = { ...(amount === 0 ? {} : { eur: amount / 1e6 }), ...(plan === null ? {} : { plan }), reason };
      await recordAudit({ db: tx }, { ...auditEntry(requester, 'grant', id), details });
    });
    await granted.catch((error) => {
      // The same request was granted before its answer was stored.
      if (requester.once === undefined || !isDuplicate(error)) throw error;
    });
    return accountOf(await this.#key(id), now);
  }

  async recover(email: string, requester: Requester): Promise<void> {
    await this.#mailLink(email, requester, RECOVER, recoveryMail);
  }

  /** Mails a link that signs in to the account pages. Returns the same for an address without a key. */
  async mailSignIn(email: string, requester: Requester): Promise<void> {
    await this.#mailLink(email, requester, SIGN_IN, signInMail);
  }

  /** The key that a sign-in link is for; does not consume the link. Null for an invalid one. */
  async signInKey(token: string, now: Date): Promise<Key | null> {
    const id = await linkSubject(this.#store, SIGN_IN, token, now.getTime());
    return id === null ? null : this.#live(id);
  }

  /** Consumes a sign-in link and returns its key; null for an invalid one. */
  async consumeSignIn(token: string, now: Date): Promise<Key | null> {
    const id = await consumeLink(this.#store, SIGN_IN, token, now.getTime());
    return id === null ? null : this.#live(id);
  }

  /** As `replace`, for a session, which ends. Of two simultaneous calls one succeeds. */
  async replaceInSession(requester: Requester, session: string): Promise<string> {
    const { id } = await this.#key(requester.key);
    return this.#replace(requester, id, { also: (db) => ownerSessions.end({ db }, session) });
  }

  /** Cancels the renewal of the caller's plan, which then ends with its paid month. Error: `unavailable`. */
  async cancelPlan({ key, now }: Requester): Promise<void> {
    await this.#checkoutService.cancel(key ?? '', now);
  }

  async usage(requester: Requester, days: number): Promise<AccountUsage[]> {
    const { id } = await this.#key(requester.key);
    return usageOf(this.#store, id, (Math.floor(requester.now / DAY) - days + 1) * DAY);
  }

  async replace(requester: Requester, current: string, keep?: KeepAnswer<string>): Promise<string> {
    const { id } = await this.#key(requester.key);
    return this.#replace(requester, id, { from: current, ...(keep && { keep }) });
  }

  async close(requester: Requester, keep?: KeepAnswer<string>): Promise<string> {
    const { id } = await this.#key(requester.key);
    await this.revoke(id, requester, keep);
    return id;
  }

  topup(amount: number, requester: Requester): Promise<string> {
    return this.#checkoutService.topup(amount, requester);
  }

  subscribe(plan: string, requester: Requester): Promise<string> {
    return this.#checkoutService.subscribe(plan, requester);
  }

  async good(token: string, now: Date): Promise<boolean> {
    return (await linkSubject(this.#store, RECOVER, token, now.getTime())) !== null;
  }

  async rotate(token: string, now: Date): Promise<string | null> {
    const at = now.getTime();
    const id = await linkSubject(this.#store, RECOVER, token, at);
    if (id === null) return null;
    return rotateKey(this.#store, id, {
      also: async (db) => (await consumeLink({ db }, RECOVER, token, at)) !== null,
    });
  }

  /** Replaces a secret at the wish of its owner, whose grants stay, and records it. */
  async #replace(requester: Requester, id: string, { also, ...rotation }: Rotation): Promise<string> {
    const secret = await rotateKey(this.#store, id, {
      ...rotation,
      keeps_grants: true,
      also: async (tx) => {
        if (also && !(await also(tx))) return false;
        await recordAudit({ db: tx }, auditEntry(requester, 'rotate', id));
        return true;
      },
    });
    if (secret === null) throw new ApiError('invalid_key', 'This key was just replaced or revoked by another request.');
    return secret;
  }

  /** Mails a link to the owner of a key; nothing to an address without one. */
  async #mailLink(
    email: string,
    requester: Requester,
    purpose: string,
    mailOf: (to: string, base_url: string, token: string) => Mail,
  ): Promise<void> {
    await this.#spend(MAILS_A_DAY, requester);
    const store = this.#store;
    const normal = normalEmail(email);
    const key = normal === null ? null : await keyByEmail(store, normal);
    if (key === null || key.revoked_at !== null) return;
    const link = { purpose, subject: key.id, now: requester.now, lasts: LINK_LIFETIME };
    await newLinkOf(store, key.id, link, (tx, token) => {
      const mail = mailOf(key.email, this.#base_url, token);
      return this.#mailer.post(tx, mail, new Date(requester.now), token);
    });
  }

  /** A key that is not revoked. */
  async #live(id: string): Promise<Key | null> {
    const key = await keyById(this.#store, id);
    return key === null || key.revoked_at !== null ? null : key;
  }

  /** Counts one request against the network's daily quota; `rate_limited` beyond it. */
  async #spend(quota: NetworkQuota, requester: Requester): Promise<void> {
    const now = new Date(requester.now);
    const used = await takeUnit(this.#quotas, quota, requester.address, now);
    if (used === null) return;
    const message = `More than ${used.quota} of these requests today from ${used.block}. Try again after midnight UTC.`;
    throw new ApiError('rate_limited', message, { retry_after_seconds: secondsToMidnight(now) });
  }

  /** The key with this id; `not_found`. */
  async #key(id: string | null): Promise<Key> {
    const key = id === null ? null : await keyById(this.#store, id);
    if (key === null) throw noSuchKey();
    return key;
  }
}

function signInMail(to: string, base_url: string, token: string): Mail {
  const text = [
    'Someone asked to sign in to the account of this e-mail address.',
    '',
    `Sign in on this page: ${base_url}/account/link?token=${token}`,
    '',
    'The link is valid for one hour from when this mail was sent and can be used once.',
    'If you did not ask for this, ignore this mail.',
  ];
  return { to, subject: 'Sign in to your account', text: text.join('\n') };
}

function recoveryMail(to: string, base_url: string, token: string): Mail {
  const text = [
    'Someone asked for a new API key for this e-mail address.',
    '',
    `Replace your key with a new one on this page: ${base_url}/keys/recover?token=${token}`,
    '',
    'The link is valid for one hour from when this mail was sent and can be used once. Your current key then stops working; credit and plan stay.',
    'If you did not ask for this, ignore this mail.',
  ];
  return { to, subject: 'A new API key', text: text.join('\n') };
}
