// The pages of keys and accounts. The session cookie is read here only: /v1, MCP and A2A take no cookies
// (contract section 9, "Keys").
import { serialize } from 'hono/utils/cookie';
import type { Requester } from '../../data/model/accounts.ts';
import { currentPlan } from '../../data/model/subscriptions.ts';
import { childHistory } from '../../data/state/keys/children.ts';
import { type Key, keyById } from '../../data/state/keys/keys.ts';
import { findLiveKeyById } from '../../data/state/keys/lookup.ts';
import { limitsOf } from '../../data/state/money/key-limits.ts';
import { entriesOf, usageOf } from '../../data/state/money/ledger.ts';
import { billedSubscriptions } from '../../data/state/money/paid-plans.ts';
import { receiptOf } from '../../data/state/money/payment-receipts.ts';
import { endGrant, grantOf, grantsOf } from '../../data/state/oauth/grants.ts';
import { ownerSessions, SESSION_LIFETIME } from '../../data/state/sessions.ts';
import type { Store } from '../../data/state/store.ts';
import { eur } from '../../packs/define/money.ts';
import type { Identify } from '../access/caller.ts';
import { readAmount, signIn } from '../access/key-signin.ts';
import { ApiError, ERRORS, KEY_BODY } from '../contract/errors.ts';
import { packPrice } from '../contract/pricing.ts';
import type { CallDeps } from '../gate/context.ts';
import { isForeignForm, returnPath, SessionCookie } from '../http/browser-session.ts';
import { foreignForm, type PlainAnswer, type RouteAnswer, type RouteRequest, type RouteTable } from '../http/server.ts';
import { NO_WELCOME } from '../operations/account/keys_create.ts';
import { TOPUP } from '../operations/account/keys_topup.ts';
import { EMAIL } from '../operations/common/account.ts';
import { KEYS_ASSET, SCRIPT_ASSET } from '../pages/assets.ts';
import { CHART_STYLE } from '../pages/charts.ts';
import { prefixOf, SIGNED_IN_COOKIE } from '../pages/frame.ts';
import { html } from '../pages/html.ts';
import { FORM_STYLE, PLAIN_SHELL, shellOf } from '../pages/shell.ts';
import { plural } from '../render/print.ts';
import {
  type AccountPart,
  type AccountView,
  accountPage,
  accountSignInPage,
  invalidSignInPage,
  linkSentPage,
  PERIODS,
  type SignInState,
  secretPage,
  useLinkPage,
} from './account-page.ts';
import type { StoredAccounts } from './accounts.ts';
import { consentToken } from './consent.ts';
import { type FirstCall, type KeyFormState, keyFormPage, newKeyPage } from './key-pages.ts';
import { type InvoiceSeller, RECEIPT_STYLE, receiptName, receiptPage } from './receipt-page.ts';
import { runForSession, runToken } from './run.ts';

const STYLE = `${FORM_STYLE}
main section { margin-block: 2.5rem 0; }
h2 { font-size: 1.3rem; }
.secret { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem; margin-bottom: 0.75rem; padding: 0.9rem 1rem; border: 2px solid var(--accent); border-radius: 6px; background: var(--sheet); }
.secret code { flex: 1 1 12rem; overflow-wrap: anywhere; font-size: 0.86rem; }
button.copy { min-height: 0; padding: 0.15rem 0.7rem; font: 400 0.85rem / 1.6 var(--sans); }
.call pre { padding: 0.8rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.code pre { margin: 0 0 0.75rem; padding: 0.8rem 1rem; border: 1px solid var(--rule); border-radius: 6px; background: var(--sheet); white-space: pre-wrap; overflow-wrap: anywhere; }
pre.answer { max-height: 24rem; margin: 0 0 1rem; padding: 0.8rem 1rem; border: 1px solid var(--rule); border-radius: 6px; background: var(--sheet); overflow: auto; }
select { min-height: 2.9rem; max-width: 100%; padding: 0.5rem 0.75rem; border: 1px solid var(--quiet); border-radius: 4px; background: var(--sheet); color: inherit; font: inherit; }
.account-head { display: flex; flex-wrap: wrap; align-items: end; justify-content: space-between; gap: 1rem 2.5rem; padding: 1.2rem 0; border-block: 3px double var(--rule); }
.account-head dl { display: flex; flex-wrap: wrap; gap: 0.75rem 3rem; }
.account-head dt { color: var(--quiet); font-size: 0.9rem; }
.account-head dd { font-weight: 600; overflow-wrap: anywhere; }
.account-head .amount { font: 600 1.7rem / 1.2 var(--serif); font-variant-numeric: lining-nums tabular-nums; }
.account-head form, .key-actions form, .apps form { margin: 0; }
.amounts { margin-bottom: 1rem; }
.amounts button { flex: 0 1 auto; min-width: 5rem; }
.periods { display: flex; gap: 1.25rem; }
.share { width: 30%; }
.length { display: block; width: 100%; height: 0.6rem; }
.key-actions > div { padding: 1rem 1.5rem; border: 1px solid var(--rule); border-radius: 6px; background: var(--sheet); }
.key-actions summary { margin-bottom: 0.75rem; color: var(--accent); }
.plans button { margin-top: 0.75rem; }
.current { margin: 0.9rem 0 0; color: var(--accent); font-weight: 600; }
form:has(> .plans) { display: block; }
button.danger { border-color: var(--wrong); color: var(--wrong); }
form.ask label.inline { display: inline; font-weight: 400; }
.fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: 1.25rem 2rem; }
tr.ended { color: var(--quiet); }
td details form { margin: 0.5rem 0 0; }
section > details > summary { margin-block: 1rem; color: var(--accent); }
.apps li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.5rem 2rem; padding-block: 0.9rem; border-top: 1px solid var(--rule); }
.apps h3 { margin: 0; font-size: 1.05rem; }
@media (width < 30rem) { .amounts button { flex: 1 1 40%; } .share { display: none; } }
`;

/** Pages of accounts. Their forms lead to the checkout, which may be at another site. */
const ACCOUNT_SHELL = shellOf({
  style: CHART_STYLE + STYLE,
  external_forms: true,
  scripts: [SCRIPT_ASSET.path],
});

const RECEIPT_SHELL = shellOf({ style: RECEIPT_STYLE });

/** Pages that create keys. */
const KEYS_SHELL = shellOf({ style: STYLE, scripts: [SCRIPT_ASSET.path, KEYS_ASSET.path] });

export interface AccountParts {
  gate: CallDeps;
  store: Store;
  accounts: StoredAccounts;
  identify: Identify;
  lease: CallDeps['lease'];
  operations: CallDeps['operations'];
  base_url: string;
  /** SELLER_*; null: not set. */
  seller: InvoiceSeller | null;
  now(): Date;
}

/** A request with a session. */
interface Visit {
  request: RouteRequest;
  key: Key;
  /** The token of the session. */
  session: string;
}

/** Transactions on a page. */
const PAGE = 25;

/**
 * The pages. An expected error is thrown as ApiError.
 *
 * @example
 * ```ts
 * mountTable(app, services, new AccountServer(parts).table);
 * await app.request('/account');
 * ```
 */
export class AccountServer {
  readonly #parts: AccountParts;
  readonly #cookie: SessionCookie;
  readonly #prefix: string;
  readonly table: RouteTable = {
    policy: {
      credentials: 'ignored',
      cors: false,
      errors: 'page',
      shell: ACCOUNT_SHELL,
      home: { path: '/account', text: 'Back to the account' },
      form: 'session',
    },
    routes: {
      'GET /keys': (request) => ({
        page: keyFormPage(this.#parts.base_url, null, this.#returnOf(request)),
        shell: KEYS_SHELL,
      }),
      'POST /keys': (request) => this.#createKey(request),
      'GET /keys/email': { shell: PLAIN_SHELL, answer: (request) => this.#showEmail(request) },
      'POST /keys/email': { shell: PLAIN_SHELL, form: 'token', answer: (request) => this.#confirmEmail(request) },
      'GET /keys/recover': { shell: PLAIN_SHELL, answer: (request) => this.#showRecovery(request) },
      'POST /keys/recover': { shell: PLAIN_SHELL, form: 'token', answer: (request) => this.#recover(request) },
      'GET /account': (request) => this.#account(request),
      'GET /account/link': (request) => this.#showLink(request),
      'GET /account/session': { errors: 'json', answer: (request) => this.#session(request) },
      'GET /account/receipts/:entry': { shell: RECEIPT_SHELL, answer: this.#signed((visit) => this.#receipt(visit)) },
      // The address of a form, opened without the form.
      'GET /account/*': () => this.#redirect('/account'),
      'POST /account/sign-in': (request) => this.#signInWithKey(request),
      'POST /account/mail-link': (request) => this.#mailLink(request),
      'POST /account/link': (request) => this.#useLink(request),
      'POST /account/sign-out': (request) => this.#signOut(request),
      // JSON, and a token besides the check of its origin.
      'POST /account/run': { errors: 'json', form: undefined, answer: (request) => this.#run(request) },
      'POST /account/consent': this.#signed((visit) => this.#consent(visit)),
      'POST /account/topup': this.#signed((visit) => this.#topUp(visit)),
      'POST /account/limits': this.#signed((visit) => this.#limit(visit)),
      'POST /account/email': this.#signed((visit) => this.#attachEmail(visit)),
      'POST /account/child': this.#signed((visit) => this.#createChild(visit)),
      'POST /account/end-child': this.#signed((visit) => this.#endChild(visit)),
      'POST /account/plan': this.#signed((visit) => this.#choosePlan(visit)),
      'POST /account/rotate': this.#signed((visit) => this.#rotate(visit)),
      'POST /account/revoke': this.#signed((visit) => this.#revoke(visit)),
      'POST /account/disconnect': this.#signed((visit) => this.#disconnect(visit)),
    },
  };

  constructor(parts: AccountParts) {
    this.#parts = parts;
    this.#prefix = prefixOf(parts.base_url);
    this.#cookie = new SessionCookie(parts.base_url, 'register_account', '/account', 'Lax');
  }

  async #createKey(request: RouteRequest): Promise<PlainAnswer> {
    const { accounts, base_url } = this.#parts;
    const email = request.field('email');
    const next = this.#returnOf(request);
    const rejected = (problem: string, status: number, exists = false) => {
      const state: KeyFormState = { email: email.slice(0, 254), problem, exists };
      return { page: keyFormPage(base_url, state, next), status, shell: KEYS_SHELL };
    };
    if (!EMAIL.safeParse(email).success) return rejected(NO_ADDRESS, 422);
    try {
      const { secret, account, no_welcome } = await accounts.create(email, request.requester(null));
      const notice = no_welcome === null ? null : NO_WELCOME[no_welcome];
      const created = { secret, email, balance: account.balance, notice, next };
      const page = newKeyPage(base_url, created, await this.#firstCalls());
      return await this.#openSession(request, account.id, { page, status: 201, shell: KEYS_SHELL });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return rejected(error.message, ERRORS[error.code].status, error.code === 'key_exists');
    }
  }

  /** A search in each dataset that returns paid values too. */
  async #firstCalls(): Promise<FirstCall[]> {
    const leases = await this.#parts.lease(null);
    try {
      return leases.releases.map(({ pack }) => ({
        title: pack.title,
        call: `${this.#prefix}/v1/${pack.id}/entities?limit=3&fields=${pack.compare.slice(0, 4).join()}`,
        price: packPrice(pack, 'search'),
      }));
    } finally {
      leases.done();
    }
  }

  /** Opening the link of a mail changes nothing, since mail scanners open links; its button does. */
  async #showRecovery(request: RouteRequest): Promise<PlainAnswer> {
    const token = request.parameter('token') ?? '';
    if (!(await this.#parts.accounts.good(token, request.now))) return INVALID_RECOVERY;
    const form = html`<form method="post"><input type="hidden" name="token" value="${token}"><button type="submit" class="button">Replace my key</button></form>`;
    const text = html`<p>Your current key stops working immediately. Credit and plan stay.</p>`;
    return { page: { title: 'Replace your API key', body: html`${text}${form}` } };
  }

  async #recover(request: RouteRequest): Promise<PlainAnswer> {
    const secret = await this.#parts.accounts.rotate(request.field('token'), request.now);
    if (secret === null) return INVALID_RECOVERY;
    const body = html`<p><code>${secret}</code></p><p>It is shown only once. Store it safely. Child keys and connected applications of the old key ended with it.</p>`;
    return { page: { title: 'Your new API key', body } };
  }

  async #showEmail(request: RouteRequest): Promise<PlainAnswer> {
    const token = request.parameter('token') ?? '';
    const email = await this.#parts.accounts.attachable(token, request.now);
    if (email === null) return INVALID_CONFIRMATION;
    const form = html`<form method="post"><input type="hidden" name="token" value="${token}"><button type="submit" class="button">Attach this address</button></form>`;
    const text = html`<p>${email} becomes the address of the API key: for sign-in, recovery and alerts.</p>`;
    return { page: { title: 'Confirm your e-mail address', body: html`${text}${form}` } };
  }

  async #confirmEmail(request: RouteRequest): Promise<PlainAnswer> {
    const email = await this.#parts.accounts.confirmEmail(request.field('token'), request.now);
    if (email === null) return INVALID_CONFIRMATION;
    const body = html`<p>${email} is the address of your API key. <a href="../account">Your account</a></p>`;
    return { page: { title: 'Address attached', body } };
  }

  async #account(request: RouteRequest): Promise<PlainAnswer> {
    const visit = await this.#visitOf(request);
    const next = this.#returnOf(request);
    if (visit === null) return this.#signInPage(request);
    if (next !== null) return { to: next };
    const done = {
      limited: ['limits', 'The limits are saved, and apply to the next call.'],
      mailed: ['limits', 'The link is in a mail to that address. It is valid for one hour.'],
      ended: ['children', 'The child key has ended.'],
      disconnected: ['apps', 'The application can no longer spend from your key.'],
      cancelled: ['plan', 'The plan was cancelled. It stays until the end of the paid month and does not renew.'],
    } as const;
    const [part, text] = done[request.parameter('done') as keyof typeof done] ?? [];
    return this.#overview(visit, part === undefined ? null : { part, text: text ?? '', wrong: false });
  }

  /** The page of an account; `notice`: the result of a form. */
  async #overview(visit: Visit, notice: AccountView['notice'], status = 200): Promise<PlainAnswer> {
    const { store, base_url, operations, seller } = this.#parts;
    const { request } = visit;
    const { now } = request;
    const key = (await keyById(store, visit.key.id)) ?? visit.key;
    const days = PERIODS.find((period) => String(period) === request.parameter('days')) ?? 30;
    const since = (Math.floor(now.getTime() / DAY) - days + 1) * DAY;
    const position = request.parameter('before') ?? '';
    const before = /^\d{1,15}$/.test(position) ? Number(position) : null;
    const entries = await entriesOf(store, key.id, PAGE + 1, before);
    const rows = entries.slice(0, PAGE);
    const page = accountPage(base_url, {
      key,
      titleOf: (name) => operations.find((operation) => operation.name === name)?.title ?? name,
      renews: (await billedSubscriptions(store, key.id, false)).length > 0,
      usage: { days, rows: await usageOf(store, key.id, since) },
      limits: await limitsOf(store, key.id, now.getTime()),
      children: await childHistory(store, key.id),
      ledger: { rows, before, older: entries.length > PAGE ? (rows.at(-1)?.id ?? null) : null },
      receipt: receiptName(seller),
      grants: await grantsOf(store, key.id, now.getTime()),
      notice,
      now,
    });
    return { page, status };
  }

  /** The receipt of a payment, for printing. */
  async #receipt({ request, key }: Visit): Promise<PlainAnswer> {
    const { store, base_url, seller } = this.#parts;
    const { entry = '' } = request.params;
    const receipt = /^\d{1,15}$/.test(entry) ? await receiptOf(store, key.id, Number(entry)) : null;
    if (receipt === null) throw new ApiError('not_found', 'This account has no payment with this number.');
    return { page: receiptPage(base_url, receipt, key.email || `API key ${key.id}`, seller) };
  }

  async #signInWithKey(request: RouteRequest): Promise<PlainAnswer> {
    await request.count('signin');
    const result = await signIn(this.#parts.identify, request.field('key'));
    if ('wrong' in result) return this.#signInPage(request, { form: 'key', problem: result.wrong });
    const next = this.#returnOf(request);
    return this.#openSession(request, result.key_id, next === null ? this.#redirect('/account') : { to: next });
  }

  async #mailLink(request: RouteRequest): Promise<PlainAnswer> {
    const { accounts, base_url } = this.#parts;
    await request.count('signin');
    const email = request.field('email');
    if (!EMAIL.safeParse(email).success)
      return this.#signInPage(request, { form: 'email', problem: NO_ADDRESS, email: email.slice(0, 254) });
    await accounts.mailSignIn(email, request.requester(null), this.#returnOf(request));
    return { page: linkSentPage(base_url, email) };
  }

  async #showLink(request: RouteRequest): Promise<PlainAnswer> {
    const { accounts, base_url } = this.#parts;
    const token = request.parameter('token') ?? '';
    const key = await accounts.signInKey(token, request.now);
    if (key === null) return { page: invalidSignInPage(base_url), status: 404 };
    return { page: useLinkPage(base_url, token, key.email, this.#returnOf(request)) };
  }

  async #useLink(request: RouteRequest): Promise<PlainAnswer> {
    await request.count('signin');
    const key = await this.#parts.accounts.consumeSignIn(request.field('token'), request.now);
    if (key === null) return { page: invalidSignInPage(this.#parts.base_url), status: 404 };
    const next = this.#returnOf(request);
    return this.#openSession(request, key.id, next === null ? this.#redirect('/account') : { to: next });
  }

  async #signOut(request: RouteRequest): Promise<PlainAnswer> {
    const token = this.#cookie.read(request);
    if (token !== undefined) await ownerSessions.end(this.#parts.store, token);
    return this.#forgetCookies(this.#redirect('/account'));
  }

  /** The session as scripts of pages see it: the balance, and the token of their calls. */
  async #session(request: RouteRequest): Promise<PlainAnswer> {
    const visit = await this.#visitOf(request);
    if (visit === null) return this.#forgetCookies({ json: { signed_in: false } });
    const { balance } = visit.key;
    return { json: { signed_in: true, balance_eur: eur(balance), csrf: runToken(visit.session) } };
  }

  async #run(request: RouteRequest): Promise<RouteAnswer> {
    const { base_url, gate } = this.#parts;
    if (isForeignForm(base_url, 'session', request)) return foreignForm(base_url);
    const visit = await this.#visitOf(request);
    if (visit === null) throw new ApiError('key_required', 'Your session has ended. Sign in again.');
    const at = request.now.getTime();
    const key = await findLiveKeyById(this.#parts.store, visit.key.id, at);
    if (key === null) throw new ApiError('invalid_key', 'This key has ended.');
    const { plan_until: _, ...members } = key;
    const caller = { kind: 'key', ...members, plan: currentPlan(key, at) } as const;
    return runForSession(gate, request, { token: visit.session, email: visit.key.email }, caller);
  }

  /** Signs in to a consent page of OAuth with this session. */
  async #consent({ request, key }: Visit): Promise<PlainAnswer> {
    const uid = request.field('uid');
    if (!/^[\w-]{1,64}$/.test(uid)) return this.#redirect('/account');
    const token = await consentToken(this.#parts.store, uid, key.id, request.now.getTime());
    return this.#redirect(`/oauth/approve/${uid}?session=${token}`);
  }

  async #topUp(visit: Visit): Promise<PlainAnswer> {
    const micros = readAmount(visit.request.field('amount'));
    const amount = TOPUP.safeParse({ amount_eur: (micros ?? 0) / 1e6 });
    if (!micros || !amount.success)
      return this.#refused(visit, 'topup', 'Enter an amount from 5 to 1000 EUR in whole cents, such as 20 or 7.50.');
    return this.#redirectFrom(visit, 'topup', () => this.#parts.accounts.topup(micros, this.#owner(visit)));
  }

  /** Replaces the limits of the key; an empty field ends one. */
  async #limit(visit: Visit): Promise<PlainAnswer> {
    const limits = readBounds(visit.request, {
      per_day: 'per_day',
      per_month: 'per_month',
      alert_below: 'alert_below',
    });
    if (limits === null) return this.#refused(visit, 'limits', WRONG_BOUND);
    await this.#parts.accounts.limit(limits, this.#owner(visit));
    return this.#redirect('/account?done=limited#limits');
  }

  async #attachEmail(visit: Visit): Promise<PlainAnswer> {
    const email = visit.request.field('email');
    if (!EMAIL.safeParse(email).success) return this.#refused(visit, 'limits', NO_ADDRESS);
    return this.#redirectFrom(visit, 'limits', async () => {
      await this.#parts.accounts.attachEmail(email, this.#owner(visit));
      return `${this.#prefix}/account?done=mailed#limits`;
    });
  }

  /** Creates a child key, which the page shows once. */
  async #createChild(visit: Visit): Promise<PlainAnswer> {
    const { accounts, base_url } = this.#parts;
    const { request } = visit;
    const bounds = readBounds(request, { cap: 'cap', per_day: 'child_per_day' });
    if (bounds === null) return this.#refused(visit, 'children', WRONG_BOUND);
    const name = request.field('name').trim();
    if (name === '' || name.length > 100)
      return this.#refused(visit, 'children', 'Enter a name of 1 to 100 characters.');
    const last_day = request.field('last_day');
    const expires_at = last_day === '' ? null : Date.parse(last_day) + DAY;
    if (expires_at !== null && !(expires_at > request.now.getTime()))
      return this.#refused(visit, 'children', 'Enter a last day from today on, such as 2030-12-31.');
    const child = { name, ...bounds, datasets: null, operations: null, expires_at };
    try {
      const { secret } = await accounts.createChild(child, this.#owner(visit));
      const text = `${name} spends the balance of your key within its bounds, and cannot manage keys.`;
      return { page: secretPage(base_url, 'Your new child key', secret, text), status: 201 };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return this.#refused(visit, 'children', error.message, ERRORS[error.code].status);
    }
  }

  async #endChild(visit: Visit): Promise<PlainAnswer> {
    return this.#redirectFrom(visit, 'children', async () => {
      await this.#parts.accounts.changeChild(visit.request.field('child'), 'revoke', this.#owner(visit));
      return `${this.#prefix}/account?done=ended#children`;
    });
  }

  async #choosePlan(visit: Visit): Promise<PlainAnswer> {
    const { accounts } = this.#parts;
    const plan = visit.request.field('plan');
    if (plan === 'pro' || plan === 'scale')
      return this.#redirectFrom(visit, 'plan', () => accounts.subscribe(plan, this.#owner(visit)));
    if (plan !== 'payg') return this.#refused(visit, 'plan', 'Choose one of the plans.');
    return this.#redirectFrom(visit, 'plan', async () => {
      await accounts.cancelPlan(this.#owner(visit));
      return `${this.#prefix}/account?done=cancelled#plan`;
    });
  }

  /** Redirects to the address that `action` returns; an error of it is shown next to the form. */
  async #redirectFrom(visit: Visit, part: AccountPart, action: () => Promise<string>): Promise<PlainAnswer> {
    try {
      return { to: await action() };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return this.#refused(visit, part, error.message.replace(/^plan: /, ''), ERRORS[error.code].status);
    }
  }

  /** Replaces the secret. The session ends, and the browser gets a new one. */
  async #rotate(visit: Visit): Promise<PlainAnswer> {
    const { accounts, base_url } = this.#parts;
    const kept = (name: string) => visit.request.field(name) === 'yes';
    const choice = { keep_children: kept('keep_children'), keep_apps: kept('keep_apps') };
    const { secret, ended } = await accounts.replaceInSession(this.#owner(visit), visit.session, choice);
    const text = `The old key no longer works; ${plural(ended.children, 'child key')} and ${plural(ended.apps, 'connected application')} ended with it. Credit and plan stay.`;
    const page = secretPage(base_url, 'Your new API key', secret, text);
    return this.#openSession(visit.request, visit.key.id, { page });
  }

  async #revoke(visit: Visit): Promise<PlainAnswer> {
    if (visit.request.field('sure') !== 'yes')
      return this.#refused(visit, 'key', 'Not revoked: tick the box to confirm that the key and its credit are lost.');
    await this.#parts.accounts.close(this.#owner(visit));
    const page = accountSignInPage(this.#parts.base_url, null, `The key of ${visit.key.email} is revoked.`);
    return this.#forgetCookies({ page });
  }

  async #disconnect(visit: Visit): Promise<PlainAnswer> {
    const { store } = this.#parts;
    const grant = await grantOf(store, visit.key.id, visit.request.field('grant'));
    if (grant !== null) await endGrant(store, grant.id);
    return this.#redirect('/account?done=disconnected#apps');
  }

  #refused(visit: Visit, part: AccountPart, text: string, status = 422): Promise<PlainAnswer> {
    return this.#overview(visit, { part, text, wrong: true }, status);
  }

  /** A handler for requests with a session; others get the sign-in page. */
  #signed(handler: (visit: Visit) => Promise<PlainAnswer>) {
    return async (request: RouteRequest): Promise<PlainAnswer> => {
      const visit = await this.#visitOf(request);
      return visit === null ? this.#signInPage(request, null, 401) : handler(visit);
    };
  }

  /** The session of a request; null without one, or if its key was revoked. */
  async #visitOf(request: RouteRequest): Promise<Visit | null> {
    const { store } = this.#parts;
    const session = this.#cookie.read(request);
    if (session === undefined) return null;
    const id = await ownerSessions.find(store, session, request.now.getTime(), true);
    const key = id === null ? null : await keyById(store, id);
    return key === null || key.revoked_at !== null ? null : { request, key, session };
  }

  /** Signs in under a new token: one that was set before the sign-in is never used. */
  async #openSession(request: RouteRequest, key_id: string, answer: PlainAnswer): Promise<PlainAnswer> {
    const { store, base_url } = this.#parts;
    const before = this.#cookie.read(request);
    if (before !== undefined) await ownerSessions.end(store, before);
    const token = await ownerSessions.open(store, key_id, request.now.getTime());
    return { ...answer, cookies: [this.#cookie.set(token), markCookie(base_url, SESSION_LIFETIME.life)] };
  }

  #forgetCookies(answer: PlainAnswer): PlainAnswer {
    return { ...answer, cookies: [this.#cookie.clear(), markCookie(this.#parts.base_url, 0)] };
  }

  #signInPage(request: RouteRequest, state: SignInState | null = null, status = state === null ? 200 : 422) {
    const stale = this.#cookie.read(request) !== undefined || request.header('cookie')?.includes(SIGNED_IN_COOKIE);
    const answer = { page: accountSignInPage(this.#parts.base_url, state, undefined, this.#returnOf(request)), status };
    return stale ? this.#forgetCookies(answer) : answer;
  }

  #owner({ request, key }: Visit): Requester {
    return request.requester(key.id);
  }

  /** The page to return to after a sign-in: the field or the parameter `next`. */
  #returnOf(request: RouteRequest): string | null {
    return returnPath(this.#parts.base_url, request.field('next') || (request.parameter('next') ?? ''));
  }

  #redirect(path: string): PlainAnswer {
    return { to: this.#prefix + path };
  }
}

const INVALID_RECOVERY: PlainAnswer = {
  status: 404,
  page: {
    title: 'This link has expired or is invalid',
    body: html`<p>A link is valid for one hour and can be used once. <a href="../account">Sign in by mail</a> and replace the key there, or request another link with <code>POST /v1/keys/recover</code>.</p>`,
  },
};

const INVALID_CONFIRMATION: PlainAnswer = {
  status: 404,
  page: {
    title: 'This link has expired or is invalid',
    body: html`<p>A link is valid for one hour and can be used once. Request another on <a href="../account">your account</a>, or with <code>PUT /v1/keys/me/email</code>. An address that got a key since then cannot be attached.</p>`,
  },
};

const DAY = 86_400_000;
const WRONG_BOUND = 'Enter amounts above 0 in EUR, such as 2 or 7.50, or leave a field empty.';
const NO_ADDRESS = `Enter an e-mail address, such as ${KEY_BODY.email}.`;

/** The amounts of fields in micro-euros, null for an empty one; null with an invalid one. */
function readBounds<T extends string>(
  request: RouteRequest,
  fields: Record<T, string>,
): Record<T, number | null> | null {
  const bounds = Object.entries<string>(fields).map(([name, field]) => [name, readAmount(request.field(field))]);
  if (bounds.some(([, amount]) => amount === undefined)) return null;
  return Object.fromEntries(bounds) as Record<T, number | null>;
}

/** The cookie that tells the header of static pages that the visitor is signed in. It is no credential. */
function markCookie(base_url: string, lasts: number): string {
  const options = { path: `${prefixOf(base_url)}/`, sameSite: 'Lax', secure: base_url.startsWith('https:') } as const;
  return serialize(SIGNED_IN_COOKIE, lasts === 0 ? '' : '1', { ...options, maxAge: lasts / 1000 });
}
