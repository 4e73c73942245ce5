// Accounts behind the key operations: the store, daily limits on new keys, and recovery mails.

import type { Account, AccountMovement, Accounts, CreditGrant, Requester } from '../../data/model/accounts.ts';
import { currentPlan } from '../../data/model/subscriptions.ts';
import { type AuditEntry, recordAudit } from '../../data/state/audit.ts';
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
import type { Mail } from '../../data/state/outbox.ts';
import type { Quotas } from '../../data/state/quotas.ts';
import type { Store } from '../../data/state/store.ts';
import { isDisposable, normalEmail } from '../access/emails.ts';
import { type NetworkQuota, takeUnit } from '../access/network-quotas.ts';
import { secondsToMidnight } from '../access/previews.ts';
import type { App, RestDeps } from '../channels/rest/rest.ts';
import type { CheckoutService } from '../checkout/service.ts';
import { ApiError, toApiError } from '../contract/errors.ts';
import { admit } from '../gate/execute.ts';
import { type Http, readRequest, readText } from '../http/request.ts';
import { errorResponse } from '../http/respond.ts';
import { html } from '../pages/html.ts';
import { SHELL_HEADERS, type ShellPage, shellPage } from '../pages/shell.ts';

/** New keys per network and day (contract section 3, "Abuse of the welcome credit"). */
const KEYS_A_DAY: NetworkQuota = { name: 'keys', address: 10, blocks: { 56: 30, 48: 100 } };
/** Recovery mails per network and day. */
const RECOVERIES_A_DAY: NetworkQuota = { name: 'recoveries', address: 10, blocks: { 56: 30, 48: 100 } };
/** Lifetime of a recovery link in milliseconds. */
const LINK_LIFETIME = 3_600_000;
/** Purpose of recovery links in the table of mailed links. */
const RECOVER = 'recover';

/** Replaces a lost key, for the page that the mailed link opens. */
export interface Recovery {
  /** Whether the token is valid; does not consume it. */
  good(token: string, now: Date): Promise<boolean>;
  /** Consumes the token and returns the new secret; null for an invalid token. */
  rotate(token: string, now: Date): Promise<string | null>;
}

interface Parts {
  store: Store;
  quotas: Quotas;
  post: Mailer['post'];
  desk: CheckoutService;
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
function auditEntry({ operator, now: at, request_id }: Requester, action: string, subject: string): AuditEntry {
  const who = `operator ${operator ?? 'unnamed'}`;
  return { at, who, action, dataset: null, entity_id: null, subject, request_id };
}

function accountOf(key: Key, now: number): Account {
  const { id, email, balance, created_at, revoked_at } = key;
  return { id, email, plan: currentPlan(key, now), balance, created_at, revoked_at };
}

/** Accounts in the store. */
export class StoredAccounts implements Accounts, Recovery {
  readonly #store: Store;
  readonly #quotas: Quotas;
  readonly #post: Mailer['post'];
  readonly #desk: CheckoutService;
  readonly #base_url: string;
  readonly #welcome_budget: number | undefined;

  constructor({ store, quotas, post, desk, base_url, welcome_budget }: Parts) {
    this.#store = store;
    this.#quotas = quotas;
    this.#post = post;
    this.#desk = desk;
    this.#base_url = base_url;
    this.#welcome_budget = welcome_budget;
  }

  async create(email: string, requester: Requester): Promise<{ secret: string; account: Account }> {
    const email_normal = checkedEmail(email);
    const { now, request_id } = requester;
    await this.#spend(KEYS_A_DAY, requester);
    const budget = this.#welcome_budget === undefined ? {} : { welcome_budget: this.#welcome_budget };
    const created = await createKey(this.#store, { email, email_normal, request_id, now, ...budget });
    if (created === null)
      throw new ApiError('key_exists', 'This e-mail address already has a key.', {
        alternative_action: `POST ${this.#base_url}/v1/keys/recover mails a link that replaces a lost key.`,
      });
    return { secret: created.secret, account: accountOf(created.key, now) };
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

  async revoke(id: string, requester: Requester): Promise<void> {
    const { now } = requester;
    const entry = auditEntry(requester, 'revoke', id);
    if (!(await revokeKey(this.#store, id, now, (db) => recordAudit({ db }, entry)))) throw noSuchKey();
    await this.#desk.close(id, now);
  }

  async grant(id: string, { amount, plan, reason }: CreditGrant, requester: Requester): Promise<Account> {
    const { now, request_id } = requester;
    const store = this.#store;
    await this.#key(id);
    await store.db.transaction().execute(async (tx) => {
      if (amount !== 0)
        await moveIn(tx, { key_id: id, amount, kind: 'grant', against: 'grant', note: reason, request_id, now });
      if (plan !== null) await setPlan({ ...store, db: tx }, id, plan, null);
      const details = { ...(amount === 0 ? {} : { eur: amount / 1e6 }), ...(plan === null ? {} : { plan }), reason };
      await recordAudit({ db: tx }, { ...auditEntry(requester, 'grant', id), told: details });
    });
    return accountOf(await this.#key(id), now);
  }

  async recover(email: string, requester: Requester): Promise<void> {
    await this.#spend(RECOVERIES_A_DAY, requester);
    const store = this.#store;
    const normal = normalEmail(email);
    const key = normal === null ? null : await keyByEmail(store, normal);
    if (key === null || key.revoked_at !== null) return;
    const link = { purpose: RECOVER, subject: key.id, now: requester.now, lasts: LINK_LIFETIME };
    const token = await newLinkOf(store, key.id, link);
    if (token === null) return;
    const mail = recoveryMail(key.email, `${this.#base_url}/keys/recover?token=${token}`);
    // A failed mail must not block the next link to this address.
    await this.#post(mail, new Date(requester.now), () => dropLink(store, token));
  }

  topup(amount: number, requester: Requester): Promise<string> {
    return this.#desk.topup(amount, requester);
  }

  subscribe(plan: string, requester: Requester): Promise<string> {
    return this.#desk.subscribe(plan, requester);
  }

  async good(token: string, now: Date): Promise<boolean> {
    return (await linkSubject(this.#store, RECOVER, token, now.getTime())) !== null;
  }

  async rotate(token: string, now: Date): Promise<string | null> {
    const id = await consumeLink(this.#store, RECOVER, token, now.getTime());
    return id === null ? null : rotateKey(this.#store, id);
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

function recoveryMail(to: string, url: string): Mail {
  const text = [
    'Someone asked for a new API key for this e-mail address.',
    '',
    `Replace your key with a new one on this page: ${url}`,
    '',
    'The link is valid for one hour and can be used once. Your current key then stops working; credit and plan stay.',
    'If you did not ask for this, ignore this mail.',
  ];
  return { to, subject: 'A new API key', text: text.join('\n') };
}

const INVALID_LINK = {
  title: 'This link has expired or is invalid',
  body: html`<p>A link is valid for one hour and can be used once. Request another with <code>POST /v1/keys/recover</code>.</p>`,
};

/** Mounts the page. Opening it changes nothing, since mail scanners open links; its button does. */
export function mountRecover(app: App, { gate, report, recovery }: RestDeps & { recovery: Recovery }): void {
  const guarded = async (c: Http, make: () => Promise<{ status: number; page: ShellPage }>): Promise<Response> => {
    const { visitor, headers, request_id, accept } = readRequest(gate, c);
    try {
      await admit(gate, visitor, 'free');
      const { status, page } = await make();
      return new Response(shellPage(gate.base_url, page), { status, headers: { ...headers, ...SHELL_HEADERS } });
    } catch (error) {
      const apiError = toApiError(error);
      if (apiError.code === 'internal') report(error, request_id);
      return errorResponse(apiError, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
    }
  };
  app.get('/keys/recover', (c) =>
    guarded(c, async () => {
      const token = new URL(c.req.url).searchParams.get('token') ?? '';
      if (!(await recovery.good(token, gate.now()))) return { status: 404, page: INVALID_LINK };
      const form = html`<form method="post"><input type="hidden" name="token" value="${token}"><button type="submit" class="button">Replace my key</button></form>`;
      const text = html`<p>Your current key stops working immediately. Credit and plan stay.</p>`;
      return { status: 200, page: { title: 'Replace your API key', body: html`${text}${form}` } };
    }),
  );
  app.post('/keys/recover', (c) =>
    guarded(c, async () => {
      const token = new URLSearchParams(await readText(c)).get('token') ?? '';
      const secret = await recovery.rotate(token, gate.now());
      if (secret === null) return { status: 404, page: INVALID_LINK };
      const body = html`<p><code>${secret}</code></p><p>It is shown only once. Store it safely.</p>`;
      return { status: 200, page: { title: 'Your new API key', body } };
    }),
  );
}
