// Accounts behind the key operations: the store, daily limits on new keys, and mailed links.

import type {
  Account,
  AccountLimits,
  AccountMovement,
  Accounts,
  AccountUsage,
  ChildAccount,
  ChildChange,
  CreatedAccount,
  CreditGrant,
  KeepAnswer,
  KeyPurchase,
  LimitSpending,
  ReplacedKey,
  Requester,
} from '../../data/model/accounts.ts';
import { DataError } from '../../data/model/errors.ts';
import { currentPlan } from '../../data/model/subscriptions.ts';
import { type AuditEntry, recordAudit } from '../../data/state/audit.ts';
import { currentCount, dayOf } from '../../data/state/budgets.ts';
import {
  type ChildBounds,
  type ChildKey,
  childrenOf,
  createChild,
  MOST_CHILDREN,
  updateChild,
} from '../../data/state/keys/children.ts';
import {
  type CreatedKey,
  createKey,
  type Key,
  keyByEmail,
  keyById,
  listKeys,
  type Rotation,
  type RotationChoice,
  revokeKey,
  rotateKey,
  setEmail,
  setPlan,
} from '../../data/state/keys/keys.ts';
import { consumeLink, linkSubject, newLinkOf } from '../../data/state/links.ts';
import type { MailQueue } from '../../data/state/mail.ts';
import { setLimits, takeAlert } from '../../data/state/money/key-limits.ts';
import { entriesOf, isDuplicate, moveIn, usageOf } from '../../data/state/money/ledger.ts';
import { type Purchase, prepaidKey } from '../../data/state/money/prepaid.ts';
import type { Mail } from '../../data/state/outbox.ts';
import type { Quotas } from '../../data/state/quotas.ts';
import { isConfirmed } from '../../data/state/sends.ts';
import { ownerSessions } from '../../data/state/sessions.ts';
import type { Store } from '../../data/state/store.ts';
import { eur } from '../../packs/define/money.ts';
import { isDisposable, normalEmail } from '../access/emails.ts';
import { type NetworkQuota, takeUnit } from '../access/network-quotas.ts';
import { secondsToMidnight } from '../access/previews.ts';
import type { CheckoutService } from '../checkout/service.ts';
import { ApiError } from '../contract/errors.ts';

/** New keys per network and day (contract section 3, "Abuse of the welcome credit"). */
export const KEYS_A_DAY: NetworkQuota = { name: 'keys', address: 10, blocks: { 56: 30, 48: 100 } };
/** Mails with a link per network and day. */
export const MAILS_A_DAY: NetworkQuota = { name: 'recoveries', address: 10, blocks: { 56: 30, 48: 100 } };
/** Lifetime of a mailed link in milliseconds. */
const LINK_LIFETIME = 3_600_000;
/** Milliseconds of a day. */
const DAY = 86_400_000;
/** Purpose of recovery links in the table of mailed links. */
const RECOVER = 'recover';
/** Purpose of links that attach an address to a key. */
const ATTACH = 'email';
/** Purpose of links that sign in to the account pages. */
const SIGN_IN = 'account';

interface Parts {
  store: Store;
  quotas: Quotas;
  mailer: Pick<MailQueue, 'post' | 'tryPost'>;
  checkoutService: CheckoutService;
  base_url: string;
  /** Maximum welcome credit per UTC day over all keys and processes, in micro-euros; absent: no limit. */
  welcome_budget?: number | undefined;
  /** Server secret from which the secrets of prepaid keys are derived. */
  prepaid_secret: string;
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

const jsonList = (names: readonly string[] | null): string | null => (names === null ? null : JSON.stringify(names));
const listOf = (json: string | null): string[] | null => (json === null ? null : (JSON.parse(json) as string[]));

/** A change of a child key as the store has it. */
function storedChange({ datasets, operations, ...change }: ChildChange): Partial<ChildBounds> {
  return {
    ...change,
    ...(datasets === undefined ? {} : { datasets: jsonList(datasets) }),
    ...(operations === undefined ? {} : { operations: jsonList(operations) }),
  };
}

function childAccount({ key_id: _, day, day_spent, ...child }: ChildKey, now: number): ChildAccount {
  const spent_today = currentCount(day, day_spent, dayOf(now)).spent;
  return { ...child, spent_today, datasets: listOf(child.datasets), operations: listOf(child.operations) };
}

/** Accounts in the store. */
export class StoredAccounts implements Accounts {
  readonly #store: Store;
  readonly #quotas: Quotas;
  readonly #mailer: Parts['mailer'];
  readonly #checkoutService: CheckoutService;
  readonly #base_url: string;
  readonly #welcome_budget: number | undefined;
  readonly #prepaid_secret: string;

  constructor({ store, quotas, mailer, checkoutService, base_url, welcome_budget, prepaid_secret }: Parts) {
    this.#store = store;
    this.#quotas = quotas;
    this.#mailer = mailer;
    this.#checkoutService = checkoutService;
    this.#base_url = base_url;
    this.#welcome_budget = welcome_budget;
    this.#prepaid_secret = prepaid_secret;
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
    if (created === null) throw this.#keyExists();
    return accountIn(created);
  }

  /** For a child key: its id, and what it can spend. */
  async own({ key, child, now }: Requester): Promise<Account> {
    const account = accountOf(await this.#key(key), now);
    return child ? { ...account, id: child.id, email: '', balance: child.left } : account;
  }

  prepare(purchase: KeyPurchase, expires_at: number): { id: string; secret: string } {
    const { id, secret, hash } = prepaidKey(this.#prepaid_secret, purchase.payment_id, purchase.idempotency_key);
    purchase.key = JSON.stringify({ id, hash, expires_at } satisfies Purchase);
    return { id, secret };
  }

  async createChild(
    { datasets, operations, ...child }: Required<ChildChange>,
    requester: Requester,
    keep?: KeepAnswer<{ secret: string; child: ChildAccount }>,
  ): Promise<{ secret: string; child: ChildAccount }> {
    const { key, now } = requester;
    const answerOf = (row: { secret: string; child: ChildKey }) => ({ ...row, child: childAccount(row.child, now) });
    const bounds = { ...child, datasets: jsonList(datasets), operations: jsonList(operations) };
    const created = await createChild(this.#store, key ?? '', bounds, now, async (tx, row) => {
      await recordAudit({ db: tx }, auditEntry(requester, 'create_child', row.child.id));
      await keep?.(tx, answerOf(row));
    });
    if (created !== null) return answerOf(created);
    const issue = { loc: ['body'], msg: `a key has at most ${MOST_CHILDREN} child keys`, type: 'too_many' };
    throw new ApiError('validation_failed', `${issue.msg}; revoke one that is not used.`, { detail: [issue] });
  }

  async children({ key, now }: Requester): Promise<ChildAccount[]> {
    return (await childrenOf(this.#store, key ?? '')).map((child) => childAccount(child, now));
  }

  async changeChild(
    id: string,
    change: ChildChange | 'revoke',
    requester: Requester,
    keep?: KeepAnswer<ChildAccount>,
  ): Promise<ChildAccount> {
    const { key, now } = requester;
    const row = change === 'revoke' ? { revoked_at: now } : storedChange(change);
    const action = change === 'revoke' ? 'revoke_child' : 'change_child';
    const child = await updateChild(this.#store, key ?? '', id, row, async (tx, updated) => {
      await recordAudit({ db: tx }, auditEntry(requester, action, id));
      await keep?.(tx, childAccount(updated, now));
    });
    if (child === null) throw new ApiError('not_found', 'This key has no child key with this id.');
    return childAccount(child, now);
  }

  async limit(limits: AccountLimits, requester: Requester, keep?: KeepAnswer<LimitSpending>): Promise<LimitSpending> {
    const { id } = await this.#key(requester.key);
    return setLimits(this.#store, id, limits, requester.now, async (tx, row) => {
      await recordAudit({ db: tx }, auditEntry(requester, 'limit', id));
      await keep?.(tx, row);
    });
  }

  async attachEmail(email: string, requester: Requester): Promise<void> {
    const email_normal = checkedEmail(email);
    const { id } = await this.#key(requester.key);
    // The own address again: its owner confirms it.
    const holder = await keyByEmail(this.#store, email_normal);
    if (holder !== null && holder.id !== id) throw this.#keyExists();
    await this.#spend(MAILS_A_DAY, requester);
    const link = { purpose: ATTACH, subject: `${id} ${email}`, now: requester.now, lasts: LINK_LIFETIME };
    await newLinkOf(this.#store, `${email_normal} ${id}`, link, (tx, token) =>
      this.#mailer.post(tx, attachMail(email, this.#base_url, token), new Date(requester.now), {
        token,
        network: requester.address,
      }),
    );
  }

  /** The address that a link attaches to a key; consumes nothing. Null for an invalid link. */
  async attachable(token: string, now: Date): Promise<string | null> {
    const subject = await linkSubject(this.#store, ATTACH, token, now.getTime());
    return subject?.slice(subject.indexOf(' ') + 1) ?? null;
  }

  /** Consumes a link and attaches its address; null for an invalid link, or an address that has a key by now. */
  async confirmEmail(token: string, now: Date): Promise<string | null> {
    const at = now.getTime();
    try {
      return await this.#store.db.transaction().execute(async (db) => {
        const subject = await consumeLink({ db }, ATTACH, token, at);
        const [id = '', email = ''] = subject?.split(' ') ?? [];
        if (subject === null || !(await setEmail(db, id, email, normalEmail(email) ?? ''))) return null;
        return email;
      });
    } catch (error) {
      if (isDuplicate(error)) return null;
      throw error;
    }
  }

  #keyExists(): ApiError {
    return new ApiError('key_exists', 'This e-mail address already has a key.', {
      alternative_action: `POST ${this.#base_url}/v1/keys/recover mails a link that replaces a lost key.`,
    });
  }

  /** Mails the owner of a key, at a confirmed address, whose balance (micro-euros) fell below the mark of its alert; once. */
  async alertOwner(id: string, balance: number, now: Date): Promise<void> {
    const key = await keyById(this.#store, id);
    // The address may belong to a stranger: it is not confirmed when a key is created.
    if (key === null || key.email === '' || !(await isConfirmed(this.#store, key.email))) return;
    await takeAlert(this.#store, id, now.getTime(), async (tx, mark) => {
      await this.#mailer.tryPost(tx, lowBalanceMail(key.email, this.#base_url, balance, mark), now);
    });
  }

  async movements({ key, child }: Requester, limit: number, before: number | null): Promise<AccountMovement[]> {
    const rows = await entriesOf(this.#store, key ?? '', limit, before, child?.id);
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

  /**
   * Mails a link that signs in to the account pages, and leads on to the page `next`, a path of this site. Returns the
   * same for an address without a key.
   */
  async mailSignIn(email: string, requester: Requester, next: string | null): Promise<void> {
    await this.#mailLink(email, requester, SIGN_IN, (to, base_url, token) => signInMail(to, base_url, token, next));
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
  async replaceInSession(requester: Requester, session: string, choice: RotationChoice): Promise<ReplacedKey> {
    const { id } = await this.#key(requester.key);
    return this.#replace(requester, id, { ...choice, also: (db) => ownerSessions.end({ db }, session) });
  }

  /** Cancels the renewal of the caller's plan, which then ends with its paid month. Error: `unavailable`. */
  async cancelPlan({ key, now }: Requester): Promise<void> {
    await this.#checkoutService.cancel(key ?? '', now);
  }

  async usage(requester: Requester, days: number): Promise<AccountUsage[]> {
    const { id } = await this.#key(requester.key);
    return usageOf(this.#store, id, (Math.floor(requester.now / DAY) - days + 1) * DAY);
  }

  async replace(
    requester: Requester,
    current: string,
    choice: RotationChoice,
    keep?: KeepAnswer<ReplacedKey>,
  ): Promise<ReplacedKey> {
    const { id } = await this.#key(requester.key);
    return this.#replace(requester, id, { ...choice, from: current, keep });
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
    const rotated = await rotateKey(this.#store, id, {
      now: at,
      also: async (db) => (await consumeLink({ db }, RECOVER, token, at)) !== null,
    });
    return rotated?.secret ?? null;
  }

  /** Replaces a secret at the wish of its owner, and records it. */
  async #replace(requester: Requester, id: string, { also, ...rotation }: Omit<Rotation, 'now'>): Promise<ReplacedKey> {
    const rotated = await rotateKey(this.#store, id, {
      ...rotation,
      now: requester.now,
      also: async (tx) => {
        if (also && !(await also(tx))) return false;
        await recordAudit({ db: tx }, auditEntry(requester, 'rotate', id));
        return true;
      },
    });
    if (rotated === null)
      throw new ApiError('invalid_key', 'This key was just replaced or revoked by another request.');
    return rotated;
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
    const queued = newLinkOf(store, key.id, link, (tx, token) => {
      const mail = mailOf(key.email, this.#base_url, token);
      return this.#mailer.post(tx, mail, new Date(requester.now), { token, network: requester.address });
    });
    await queued.catch((error: unknown) => {
      // An error would tell strangers that the address has a key.
      if (!(error instanceof DataError) || error.code !== 'rate_limited') throw error;
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

function signInMail(to: string, base_url: string, token: string, next: string | null): Mail {
  const query = new URLSearchParams({ token, ...(next !== null && { next }) });
  const text = [
    'Someone asked to sign in to the account of this e-mail address.',
    '',
    `Sign in on this page: ${base_url}/account/link?${query}`,
    '',
    'The link is valid for one hour from when this mail was sent and can be used once.',
    'If you did not ask for this, ignore this mail.',
  ];
  return { to, subject: 'Sign in to your account', text: text.join('\n') };
}

function attachMail(to: string, base_url: string, token: string): Mail {
  const text = [
    'Someone asked to attach this e-mail address to an API key.',
    '',
    `Confirm it on this page: ${base_url}/keys/email?token=${token}`,
    '',
    'The link is valid for one hour from when this mail was sent and can be used once.',
    'If you did not ask for this, ignore this mail.',
  ];
  return { to, subject: 'Confirm your e-mail address', text: text.join('\n') };
}

function lowBalanceMail(to: string, base_url: string, balance: number, mark: number): Mail {
  const text = [
    `The balance of your API key is ${eur(balance)} EUR, below the ${eur(mark)} EUR that you set for this alert.`,
    '',
    `Top it up, or change the limits, on this page: ${base_url}/account`,
    '',
    'The next mail is sent after the balance was above this mark again.',
  ];
  return { to, subject: 'Low balance of your API key', text: text.join('\n') };
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
