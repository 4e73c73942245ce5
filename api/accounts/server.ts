// The pages of keys and accounts: requests to responses. The channel (routes.ts) mounts the addresses and
// applies the rate limits.
import { serialize } from 'hono/utils/cookie';
import type { Requester } from '../../data/model/accounts.ts';
import { type Key, keyById } from '../../data/state/keys/keys.ts';
import { entriesOf, usageOf } from '../../data/state/money/ledger.ts';
import { billedSubscriptions } from '../../data/state/money/paid-plans.ts';
import { endGrant, grantOf, grantsOf } from '../../data/state/oauth/grants.ts';
import { ownerSessions, SESSION_LIFETIME } from '../../data/state/sessions.ts';
import type { Store } from '../../data/state/store.ts';
import type { Identify } from '../access/caller.ts';
import { readAmount, signIn } from '../access/key-signin.ts';
import { ApiError, ERRORS, KEY_BODY } from '../contract/errors.ts';
import { packPrice } from '../contract/pricing.ts';
import type { CallDeps } from '../gate/context.ts';
import { isSameOriginForm, SessionCookie } from '../http/browser-session.ts';
import { NO_WELCOME } from '../operations/account/keys_create.ts';
import { TOPUP } from '../operations/account/keys_topup.ts';
import { EMAIL } from '../operations/common/account.ts';
import { KEYS_ASSET, SCRIPT_ASSET } from '../pages/assets.ts';
import { CHART_STYLE } from '../pages/charts.ts';
import { prefixOf, SIGNED_IN_COOKIE } from '../pages/frame.ts';
import { FORM_STYLE, type Shell, type ShellPage, shellOf } from '../pages/shell.ts';
import { type AccountPart, type AccountView, accountPage, PERIODS, replacedPage } from './account-page.ts';
import type { StoredAccounts } from './accounts.ts';
import { type FirstCall, type KeyFormState, keyFormPage, newKeyPage } from './key-pages.ts';
import {
  accountErrorPage,
  accountSignInPage,
  foreignAccountForm,
  invalidSignInPage,
  linkSentPage,
  type SignInState,
  useLinkPage,
} from './sign-in-pages.ts';

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

/** Pages that create keys. */
const KEYS_SHELL = shellOf({ style: STYLE, scripts: [SCRIPT_ASSET.path, KEYS_ASSET.path] });

export interface AccountParts {
  store: Store;
  accounts: StoredAccounts;
  identify: Identify;
  lease: CallDeps['lease'];
  operations: CallDeps['operations'];
  base_url: string;
  now(): Date;
}

/** A request that the channel has read. */
export interface AccountRequest {
  query: URLSearchParams;
  /** Body of a POST; null for a GET. */
  form: URLSearchParams | null;
  header(name: string): string | undefined;
  /** The client address, for limits. */
  address: string;
  request_id: string;
  /** Counts an attempt to sign in; throws `rate_limited`. */
  attempt(): Promise<void>;
}

interface Visit extends AccountRequest {
  now: Date;
  field(name: string): string;
}

/** A visit with a session. */
interface SignedVisit extends Visit {
  key: Key;
  /** The token of the session. */
  session: string;
}

/** Transactions on a page. */
const PAGE = 25;

type Result = Response | Promise<Response>;

/** The pages. An expected error is thrown as ApiError. */
export class AccountServer {
  readonly #parts: AccountParts;
  readonly #cookie: SessionCookie;
  readonly #prefix: string;
  /** Every address, such as `GET /account`. */
  readonly routes: Readonly<Record<string, (visit: Visit) => Result>> = {
    'GET /keys': () => this.#page(keyFormPage(this.#parts.base_url, null), 200, KEYS_SHELL),
    'POST /keys': (visit) => this.#createKey(visit),
    'GET /account': (visit) => this.#account(visit),
    'POST /account/sign-in': (visit) => this.#signInWithKey(visit),
    'POST /account/mail-link': (visit) => this.#mailLink(visit),
    'GET /account/link': (visit) => this.#showLink(visit),
    'POST /account/link': (visit) => this.#useLink(visit),
    'POST /account/sign-out': (visit) => this.#signOut(visit),
    'POST /account/topup': (visit) => this.#signed(visit, (signed) => this.#topUp(signed)),
    'POST /account/plan': (visit) => this.#signed(visit, (signed) => this.#choosePlan(signed)),
    'POST /account/rotate': (visit) => this.#signed(visit, (signed) => this.#rotate(signed)),
    'POST /account/revoke': (visit) => this.#signed(visit, (signed) => this.#revoke(signed)),
    'POST /account/disconnect': (visit) => this.#signed(visit, (signed) => this.#disconnect(signed)),
  };

  constructor(parts: AccountParts) {
    this.#parts = parts;
    this.#prefix = prefixOf(parts.base_url);
    this.#cookie = new SessionCookie(parts.base_url, 'register_account', '/account');
  }

  /** Answers a request for one of the routes. */
  async answer(route: string, request: AccountRequest): Promise<Response> {
    const { base_url, now } = this.#parts;
    if (request.form !== null && !isSameOriginForm(base_url, request.header))
      return this.#page(foreignAccountForm(base_url), 403);
    const handler = this.routes[route];
    if (handler === undefined) return this.#redirect('/account');
    return handler({ ...request, now: now(), field: (name) => request.form?.get(name)?.trim() ?? '' });
  }

  /** An error as a page. */
  errorPage({ code, message, extras }: ApiError): Response {
    const seconds = extras.retry_after_seconds;
    const text = code === 'internal' ? 'Something went wrong on our side. Nothing was charged.' : message;
    const retry = seconds === undefined ? {} : { 'Retry-After': String(seconds) };
    return this.#page(accountErrorPage(this.#parts.base_url, text, seconds), ERRORS[code].status, ACCOUNT_SHELL, retry);
  }

  async #createKey(visit: Visit): Promise<Response> {
    const { accounts, base_url } = this.#parts;
    const email = visit.field('email');
    const rejected = (problem: string, status: number, exists = false) => {
      const state: KeyFormState = { email: email.slice(0, 254), problem, exists };
      return this.#page(keyFormPage(base_url, state), status, KEYS_SHELL);
    };
    if (!EMAIL.safeParse(email).success) return rejected(NO_ADDRESS, 422);
    try {
      const { secret, account, no_welcome } = await accounts.create(email, this.#requester(visit, null));
      const notice = no_welcome === null ? null : NO_WELCOME[no_welcome];
      const page = newKeyPage(base_url, { secret, email, balance: account.balance, notice }, await this.#firstCalls());
      return await this.#openSession(visit, account.id, this.#page(page, 201, KEYS_SHELL));
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

  async #account(visit: Visit): Promise<Response> {
    const signed = await this.#signedVisit(visit);
    if (signed === null) return this.#signInPage(visit);
    const done = {
      disconnected: ['apps', 'The application can no longer spend from your key.'],
      cancelled: ['plan', 'The plan was cancelled. It stays until the end of the paid month and does not renew.'],
    } as const;
    const [part, text] = done[visit.query.get('done') as keyof typeof done] ?? [];
    return this.#overview(signed, part === undefined ? null : { part, text: text ?? '', wrong: false });
  }

  /** The page of an account; `notice`: the result of a form. */
  async #overview(visit: SignedVisit, notice: AccountView['notice'], status = 200): Promise<Response> {
    const { store, base_url, operations } = this.#parts;
    const { query, now } = visit;
    const key = (await keyById(store, visit.key.id)) ?? visit.key;
    const days = PERIODS.find((each) => String(each) === query.get('days')) ?? 30;
    const since = (Math.floor(now.getTime() / DAY) - days + 1) * DAY;
    const before = /^\d{1,15}$/.test(query.get('before') ?? '') ? Number(query.get('before')) : null;
    const entries = await entriesOf(store, key.id, PAGE + 1, before);
    const rows = entries.slice(0, PAGE);
    const page = accountPage(base_url, {
      key,
      titleOf: (name) => operations.find((operation) => operation.name === name)?.title ?? name,
      renews: (await billedSubscriptions(store, key.id, false)).length > 0,
      usage: { days, rows: await usageOf(store, key.id, since) },
      ledger: { rows, before, older: entries.length > PAGE ? (rows.at(-1)?.id ?? null) : null },
      grants: await grantsOf(store, key.id, now.getTime()),
      notice,
      now,
    });
    return this.#page(page, status);
  }

  async #signInWithKey(visit: Visit): Promise<Response> {
    await visit.attempt();
    const result = await signIn(this.#parts.identify, visit.field('key'));
    if ('wrong' in result) return this.#signInPage(visit, { form: 'key', problem: result.wrong });
    return this.#openSession(visit, result.key_id, this.#redirect('/account'));
  }

  async #mailLink(visit: Visit): Promise<Response> {
    const { accounts, base_url } = this.#parts;
    await visit.attempt();
    const email = visit.field('email');
    if (!EMAIL.safeParse(email).success) {
      return this.#signInPage(visit, { form: 'email', problem: NO_ADDRESS, email: email.slice(0, 254) });
    }
    await accounts.mailSignIn(email, this.#requester(visit, null));
    return this.#page(linkSentPage(base_url, email), 200);
  }

  async #showLink({ query, now }: Visit): Promise<Response> {
    const { accounts, base_url } = this.#parts;
    const token = query.get('token') ?? '';
    const key = await accounts.signInKey(token, now);
    if (key === null) return this.#page(invalidSignInPage(base_url), 404);
    return this.#page(useLinkPage(base_url, token, key.email), 200);
  }

  async #useLink(visit: Visit): Promise<Response> {
    await visit.attempt();
    const key = await this.#parts.accounts.consumeSignIn(visit.field('token'), visit.now);
    if (key === null) return this.#page(invalidSignInPage(this.#parts.base_url), 404);
    return this.#openSession(visit, key.id, this.#redirect('/account'));
  }

  async #signOut(visit: Visit): Promise<Response> {
    const token = this.#cookie.read(visit.header);
    if (token !== undefined) await ownerSessions.end(this.#parts.store, token);
    return this.#forgetCookies(this.#redirect('/account'));
  }

  async #topUp(visit: SignedVisit): Promise<Response> {
    const micros = readAmount(visit.field('amount'));
    const amount = TOPUP.safeParse({ amount_eur: (micros ?? 0) / 1e6 });
    if (!micros || !amount.success)
      return this.#refused(visit, 'topup', 'Enter an amount from 5 to 1000 EUR in whole cents, such as 20 or 7.50.');
    return this.#checkout(visit, 'topup', () => this.#parts.accounts.topup(micros, this.#owner(visit)));
  }

  async #choosePlan(visit: SignedVisit): Promise<Response> {
    const { accounts } = this.#parts;
    const plan = visit.field('plan');
    if (plan === 'pro' || plan === 'scale')
      return this.#checkout(visit, 'plan', () => accounts.subscribe(plan, this.#owner(visit)));
    if (plan !== 'payg') return this.#refused(visit, 'plan', 'Choose one of the plans.');
    return this.#checkout(visit, 'plan', async () => {
      await accounts.cancelPlan(this.#owner(visit));
      return `${this.#prefix}/account?done=cancelled#plan`;
    });
  }

  /** Redirects to a checkout; an error of it is shown next to the form. */
  async #checkout(visit: SignedVisit, part: AccountPart, open: () => Promise<string>): Promise<Response> {
    try {
      return redirectTo(await open());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return this.#refused(visit, part, error.message.replace(/^plan: /, ''), ERRORS[error.code].status);
    }
  }

  /** Replaces the secret. The session ends, and the browser gets a new one. */
  async #rotate(visit: SignedVisit): Promise<Response> {
    const { accounts, base_url } = this.#parts;
    const secret = await accounts.replaceInSession(this.#owner(visit), visit.session);
    return this.#openSession(visit, visit.key.id, this.#page(replacedPage(base_url, secret), 200));
  }

  async #revoke(visit: SignedVisit): Promise<Response> {
    if (visit.field('sure') !== 'yes')
      return this.#refused(visit, 'key', 'Not revoked: tick the box to confirm that the key and its credit are lost.');
    await this.#parts.accounts.close(this.#owner(visit));
    const page = accountSignInPage(this.#parts.base_url, null, `The key of ${visit.key.email} is revoked.`);
    return this.#forgetCookies(this.#page(page, 200));
  }

  async #disconnect(visit: SignedVisit): Promise<Response> {
    const { store } = this.#parts;
    const grant = await grantOf(store, visit.key.id, visit.field('grant'));
    if (grant !== null) await endGrant(store, grant.id);
    return this.#redirect('/account?done=disconnected#apps');
  }

  #refused(visit: SignedVisit, part: AccountPart, text: string, status = 422): Promise<Response> {
    return this.#overview(visit, { part, text, wrong: true }, status);
  }

  /** Runs a handler with the session of the visitor, or shows the sign-in page. */
  async #signed(visit: Visit, handler: (signed: SignedVisit) => Promise<Response>): Promise<Response> {
    const signed = await this.#signedVisit(visit);
    return signed === null ? this.#signInPage(visit, null, 401) : handler(signed);
  }

  /** The session of a request; null without one, or if its key was revoked. */
  async #signedVisit(visit: Visit): Promise<SignedVisit | null> {
    const { store } = this.#parts;
    const session = this.#cookie.read(visit.header);
    if (session === undefined) return null;
    const id = await ownerSessions.find(store, session, visit.now.getTime(), true);
    const key = id === null ? null : await keyById(store, id);
    return key === null || key.revoked_at !== null ? null : { ...visit, key, session };
  }

  /** Signs in under a new token: one that was set before the sign-in is never used. */
  async #openSession(visit: Visit, key_id: string, response: Response): Promise<Response> {
    const { store, base_url } = this.#parts;
    const before = this.#cookie.read(visit.header);
    if (before !== undefined) await ownerSessions.end(store, before);
    const token = await ownerSessions.open(store, key_id, visit.now.getTime());
    response.headers.append('Set-Cookie', this.#cookie.set(token));
    response.headers.append('Set-Cookie', markCookie(base_url, SESSION_LIFETIME.life));
    return response;
  }

  #forgetCookies(response: Response): Response {
    response.headers.append('Set-Cookie', this.#cookie.clear());
    response.headers.append('Set-Cookie', markCookie(this.#parts.base_url, 0));
    return response;
  }

  #signInPage(visit: Visit, state: SignInState | null = null, status = state === null ? 200 : 422): Response {
    const stale = this.#cookie.read(visit.header) !== undefined || visit.header('cookie')?.includes(SIGNED_IN_COOKIE);
    const page = this.#page(accountSignInPage(this.#parts.base_url, state), status);
    return stale ? this.#forgetCookies(page) : page;
  }

  #requester({ address, request_id, now }: Visit, key: string | null): Requester {
    return { key, address, request_id, now: now.getTime() };
  }

  #owner(visit: SignedVisit): Requester {
    return this.#requester(visit, visit.key.id);
  }

  #page(page: ShellPage, status: number, shell: Shell = ACCOUNT_SHELL, headers: Record<string, string> = {}): Response {
    return new Response(shell.page(this.#parts.base_url, page), { status, headers: { ...shell.headers, ...headers } });
  }

  #redirect(path: string): Response {
    return redirectTo(this.#prefix + path);
  }
}

const DAY = 86_400_000;
const NO_ADDRESS = `Enter an e-mail address, such as ${KEY_BODY.email}.`;

const redirectTo = (location: string): Response =>
  new Response(null, { status: 303, headers: { 'Cache-Control': 'no-store', Location: location } });

/** The cookie that tells the header of static pages that the visitor is signed in. It is no credential. */
function markCookie(base_url: string, lasts: number): string {
  const options = { path: `${prefixOf(base_url)}/`, sameSite: 'Lax', secure: base_url.startsWith('https:') } as const;
  return serialize(SIGNED_IN_COOKIE, lasts === 0 ? '' : '1', { ...options, maxAge: lasts / 1000 });
}
