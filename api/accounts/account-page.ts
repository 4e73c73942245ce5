// The pages of an account: balance, top-up, usage, ledger, plan, key, connected applications; and its sign-in.
import { currentPlan, SUBSCRIPTIONS } from '../../data/model/subscriptions.ts';
import type { ChildKey } from '../../data/state/keys/children.ts';
import type { Key } from '../../data/state/keys/keys.ts';
import type { Entry, UsageRow } from '../../data/state/money/ledger.ts';
import { PAYMENT_KINDS } from '../../data/state/money/payment-receipts.ts';
import type { Grant } from '../../data/state/oauth/grants.ts';
import type { KeyLimitTable } from '../../data/state/tables/budgets.ts';
import { eur } from '../../packs/define/money.ts';
import { barChart, everyStep, lengthBar } from '../pages/charts.ts';
import { prefixOf } from '../pages/frame.ts';
import { type Html, html } from '../pages/html.ts';
import type { ShellPage } from '../pages/shell.ts';
import { plural, printDate, printDay, printEuro, printMinute, printNumber } from '../render/print.ts';
import { childrenHtml, limitsHtml } from './budget-parts.ts';
import { callHtml, returnField, secretHtml } from './key-pages.ts';

/** Parts of the page that a form belongs to. */
export type AccountPart = 'topup' | 'limits' | 'children' | 'plan' | 'key' | 'apps';

/** The data of the page. */
export interface AccountView {
  key: Key;
  /** The current plan renews at the end of its month. */
  renews: boolean;
  /** The title of an operation. */
  titleOf(operation: string): string;
  usage: { days: number; rows: readonly UsageRow[] };
  /** Null: none are set. */
  limits: KeyLimitTable | null;
  /** Revoked ones too, for their spending. */
  children: readonly ChildKey[];
  ledger: { rows: readonly Entry[]; before: number | null; older: number | null };
  /** Name of the links to receipts. */
  receipt: string;
  grants: readonly Grant[];
  /** The result of a form, next to that form. */
  notice: { part: AccountPart; text: string; wrong: boolean } | null;
  now: Date;
}

const DAY = 86_400_000;
/** Amounts of the top-up buttons in EUR. */
const AMOUNTS = [10, 20, 50, 100];
/** Periods of the usage in days. */
export const PERIODS = [7, 30, 90] as const;
/** Datasets with a colour of their own in the chart, and the classes of the colours. */
const COLOURS = 2;
const MARKS = ['m0', 'm1', 'm3'];

/** Sections of the page: id and name of the link. */
const SECTIONS = [
  ['topup', 'Top up'],
  ['usage', 'Usage'],
  ['limits', 'Limits and alert'],
  ['children', 'Child keys'],
  ['ledger', 'Transactions'],
  ['plan', 'Plan'],
  ['key', 'Key: replace, revoke'],
  ['apps', 'Connected applications'],
] as const;

const micros = (amount: number) => printEuro(eur(amount));
/** An amount with its sign. */
const signed = (amount: number) => `${amount < 0 ? '−' : '+'}${micros(Math.abs(amount))}`;
const balanceText = (amount: number) => (amount < 0 ? signed(amount) : micros(amount));

/** The page. */
export function accountPage(base_url: string, view: AccountView): ShellPage {
  const { key } = view;
  const prefix = prefixOf(base_url);
  const noticeOf = (part: AccountPart) =>
    view.notice?.part === part &&
    html`<p class="${view.notice.wrong ? 'wrong' : 'warn'}" role="${view.notice.wrong ? 'alert' : 'status'}">${view.notice.text}</p>`;
  return {
    title: 'Account',
    path: '/account',
    wide: true,
    body: html`<div class="account-head"><dl>
<div><dt>Balance</dt><dd class="amount">${balanceText(key.balance)}</dd></div>
<div><dt>Plan</dt><dd>${planText(view)}</dd></div>
<div><dt>Account</dt><dd>${key.email || 'Prepaid key without an address'}</dd></div>${
      key.expires_at !== null &&
      html`
<div><dt>Ends</dt><dd>${printDate(key.expires_at)}</dd></div>`
    }</dl>
<form method="post" action="${prefix}/account/sign-out"><button type="submit" class="link">Sign out</button></form></div>
<nav class="tabs" aria-label="Sections">${SECTIONS.map(([id, name]) => html`<a href="#${id}">${name}</a>`)}</nav>
<section aria-labelledby="topup"><h2 id="topup">Top up</h2>${noticeOf('topup')}${topUpHtml(prefix)}</section>
<section aria-labelledby="usage"><h2 id="usage">Usage</h2>${usageHtml(prefix, view)}</section>
<section aria-labelledby="limits"><h2 id="limits">Limits and alert</h2>${noticeOf('limits')}${limitsHtml(prefix, key.email, view.limits)}</section>
<section aria-labelledby="children"><h2 id="children">Child keys</h2>${noticeOf('children')}${childrenHtml(prefix, view.children, view.now)}</section>
<section aria-labelledby="ledger"><h2 id="ledger">Transactions</h2>${ledgerHtml(prefix, view)}</section>
<section aria-labelledby="plan"><h2 id="plan">Plan</h2>${noticeOf('plan')}${planHtml(prefix, view)}</section>
<section aria-labelledby="key"><h2 id="key">Key</h2>${noticeOf('key')}${keyHtml(prefix)}</section>
<section aria-labelledby="apps"><h2 id="apps">Connected applications</h2>${noticeOf('apps')}${appsHtml(prefix, view.grants)}</section>`,
  };
}

function topUpHtml(prefix: string): Html {
  const buttons = AMOUNTS.map(
    (amount) =>
      html`<button type="submit" name="amount" value="${amount}">${printEuro(amount).replace('.00', '')}</button>`,
  );
  return html`<form method="post" action="${prefix}/account/topup" class="amounts">${buttons}</form>
<form method="post" action="${prefix}/account/topup" class="ask"><label for="amount">Another amount, 5 to 1000 EUR</label>
<div class="money"><input id="amount" name="amount" inputmode="decimal" autocomplete="off" maxlength="12" required> <button type="submit">Top up</button></div></form>
${callHtml('POST /v1/keys/topup')}`;
}

/** The usage as a chart of days, and as tables by dataset and operation, and by child key. */
function usageHtml(prefix: string, { usage, children, now, titleOf }: AccountView): Html {
  const periods = PERIODS.map((days) =>
    days === usage.days
      ? html`<strong>${days} days</strong>`
      : html`<a href="${prefix}/account?days=${days}#usage">${days} days</a>`,
  );
  const call = callHtml(`GET /v1/keys/me/usage?days=${usage.days}`);
  const nav = html`<p class="periods">${periods}</p>`;
  if (usage.rows.length === 0) return html`${nav}<p class="empty">No charged calls in this period.</p>${call}`;
  const operations = usageTotals(usage.rows, ({ dataset, operation }) => `${dataset} ${operation}`);
  const callers = usageTotals(usage.rows, ({ child_id }) => child_id);
  const nameByChild = namesOf(children);
  const callerOf = (id: string) =>
    id === '' ? 'This key' : (nameByChild.get(id) ?? `Ended child key ${id.slice(0, 8)}`);
  return html`${nav}${usageChart(usage, now)}
${usageTable(['Dataset', 'Operation'], operations, ({ dataset, operation }) => [dataset, titleOf(operation)])}
${children.length > 0 && html`<h3>By key</h3>${usageTable(['Key'], callers, ({ child_id }) => [callerOf(child_id)])}`}${call}`;
}

const namesOf = (children: readonly ChildKey[]) => new Map(children.map(({ id, name }) => [id, name]));

/** Totals of rows, with the columns that name each of them. */
function usageTable(columns: string[], totals: UsageTotal[], labelsOf: (total: UsageTotal) => string[]): Html {
  const most = Math.max(...totals.map(({ amount }) => amount));
  const rows = totals.map((total) => {
    const [name, ...more] = labelsOf(total);
    return html`<tr><th scope="row">${name}</th>${more.map((text) => html`<td>${text}</td>`)}<td class="figure">${printNumber(total.calls)}</td><td class="figure">${micros(total.amount)}</td><td class="share">${lengthBar(total.amount, most)}</td></tr>`;
  });
  const heads = columns.map((name) => html`<th scope="col">${name}</th>`);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Usage by ${columns.at(-1)?.toLowerCase()}"><table><thead><tr>${heads}<th scope="col" class="figure">Calls</th><th scope="col" class="figure">EUR</th><th><span class="away">Share</span></th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

type UsageTotal = Omit<UsageRow, 'date'>;

/** Totals of the rows with the same key, the largest first. */
function usageTotals(rows: readonly UsageRow[], keyOf: (row: UsageRow) => string): UsageTotal[] {
  const sum = (group: UsageRow[], member: 'calls' | 'amount') => group.reduce((all, row) => all + row[member], 0);
  return [...Map.groupBy(rows, keyOf).values()]
    .map((group) => ({ ...group[0]!, calls: sum(group, 'calls'), amount: sum(group, 'amount') }))
    .sort((a, b) => b.amount - a.amount);
}

function usageChart({ days, rows }: AccountView['usage'], now: Date): Html {
  const byDataset = Map.groupBy(rows, ({ dataset }) => dataset);
  const sum = (group: readonly UsageRow[]) => group.reduce((all, { amount }) => all + amount, 0);
  const datasets = [...byDataset].sort(([, a], [, b]) => sum(b) - sum(a)).map(([dataset]) => dataset);
  const largest = datasets.slice(0, COLOURS);
  const names = datasets.length > COLOURS ? [...largest, 'other datasets'] : largest;
  const columns = [...Map.groupBy(rows, ({ date }) => date)].map(([date, group]) => {
    const parts = names.map((name, i) =>
      sum(group.filter(({ dataset }) => (i < COLOURS ? dataset === name : !largest.includes(dataset)))),
    );
    return { at: Date.parse(date), parts };
  });
  const until = now.getTime();
  const all = sum(rows);
  return barChart({
    about: `Charged per day: ${micros(all)} in ${days} days`,
    series: names.map((name, i) => ({ name, mark: MARKS[i] ?? 'm0' })),
    columns: everyStep(until - (days - 1) * DAY, until, DAY, columns, names.length),
    amount: micros,
    time: (at) => printDate(at),
    tick: (at) => printDay(at),
  });
}

const KIND_NAMES: Readonly<Record<string, string>> = {
  welcome: 'Welcome credit',
  grant: 'Credit from the operator',
  charge: 'Call',
  charge_refunded: 'Refund of a call',
  topup: 'Top-up',
  refund: 'Refund',
  refund_failed: 'Refund failed',
  dispute: 'Disputed payment',
  dispute_won: 'Dispute won',
  plan_payment: 'Payment of a plan',
  plan: 'Plan',
  prepaid: 'Prepaid credit',
  expired: 'Expired credit',
  plan_returned: 'Plan returned',
};

function ledgerHtml(prefix: string, { ledger, children, receipt, titleOf }: AccountView): Html {
  const { rows, before, older } = ledger;
  const nameByChild = namesOf(children);
  const lines = rows.map(
    ({ id, at, kind, operation, dataset, child_id, amount, balance }) =>
      html`<tr><th scope="row"><time datetime="${new Date(at).toISOString()}">${printMinute(at)}</time></th><td>${operation === null ? (KIND_NAMES[kind] ?? kind) : titleOf(operation)}${dataset !== null && html`<span class="unit">${[dataset, ...(child_id ? [nameByChild.get(child_id) ?? 'child key'] : [])].join(' · ')}</span>`}${PAYMENT_KINDS.includes(kind) && html`<span class="unit"><a href="${prefix}/account/receipts/${id}">${receipt}</a></span>`}</td><td class="figure">${signed(amount)}</td><td class="figure">${balanceText(balance ?? 0)}</td></tr>`,
  );
  const newest = before !== null && html`<a href="${prefix}/account#ledger">Newest</a>`;
  const next = older !== null && html`<a rel="next" href="${prefix}/account?before=${older}#ledger">Older</a>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table of transactions"><table><thead><tr><th scope="col">When (UTC)</th><th scope="col">What</th><th scope="col" class="figure">Amount</th><th scope="col" class="figure">Balance</th></tr></thead><tbody>${lines}</tbody></table></div>
${(newest || next) && html`<nav class="pager" aria-label="Pages of transactions">${newest}${next}</nav>`}${callHtml('GET /v1/keys/me')}`;
}

const PLAN_NAMES = { payg: 'Pay as you go', pro: 'Pro', scale: 'Scale' } as const;
const nameOf = (plan: string) => PLAN_NAMES[plan as keyof typeof PLAN_NAMES] ?? plan;

function planText({ key, renews, now }: AccountView): string {
  const plan = currentPlan(key, now.getTime());
  if (plan === 'payg' || key.plan_until === null) return nameOf(plan);
  return `${nameOf(plan)}, ${renews ? 'renews on' : 'until'} ${printDate(key.plan_until)}`;
}

function planHtml(prefix: string, view: AccountView): Html {
  const current = currentPlan(view.key, view.now.getTime());
  const cards = (['payg', 'pro', 'scale'] as const).map((plan) => {
    const { calls, bulk, eur_per_month } = SUBSCRIPTIONS[plan];
    const price = eur_per_month === null ? 'No monthly price' : `€${eur_per_month} a month`;
    const button =
      plan === current
        ? html`<p class="current">Your plan</p>`
        : plan === 'payg'
          ? view.renews && html`<button type="submit" name="plan" value="payg">Cancel ${nameOf(current)}</button>`
          : (!view.renews || plan !== current) &&
            html`<button type="submit" name="plan" value="${plan}">Choose ${nameOf(plan)}</button>`;
    return html`<li><h3>${nameOf(plan)}</h3><p class="plan-price">${price}</p><ul><li>${calls} paid calls a minute</li><li>${bulk ? 'Complete exports and the change feed' : 'Public columns as files'}</li></ul>${button}</li>`;
  });
  return html`<p>${planText(view)}. Each call has its price in every plan: <a href="${prefix}/pricing/">prices</a>.</p>
<form method="post" action="${prefix}/account/plan"><ul class="plans">${cards}</ul></form>${callHtml('POST /v1/keys/subscribe')}`;
}

function keyHtml(prefix: string): Html {
  return html`<div class="plans key-actions"><div><h3>Replace (rotate)</h3>
<p>You get a new key, shown once. The old one stops working at once; credit and plan stay.</p>
<details><summary>Replace the key</summary><form method="post" action="${prefix}/account/rotate"><p>Child keys and connected applications end, because whoever has the old key may have made some.</p><p><input type="checkbox" id="keep_children" name="keep_children" value="yes"> <label for="keep_children" class="inline">Keep child keys</label></p><p><input type="checkbox" id="keep_apps" name="keep_apps" value="yes"> <label for="keep_apps" class="inline">Keep connected applications</label></p><button type="submit" class="button">Replace now</button></form></details>${callHtml('POST /v1/keys/me/rotate')}</div>
<div><h3>Revoke</h3>
<p>The key stops working at once and permanently. Its credit is lost, its plan is cancelled, applications are disconnected.</p>
<details><summary>Revoke the key</summary><form method="post" action="${prefix}/account/revoke" class="ask"><p><input type="checkbox" id="sure" name="sure" value="yes" required> <label for="sure" class="inline">I want to lose this key and its credit</label></p><button type="submit" class="danger">Revoke permanently</button></form></details>${callHtml('DELETE /v1/keys/me')}</div></div>`;
}

function appsHtml(prefix: string, grants: readonly Grant[]): Html {
  if (grants.length === 0)
    return html`<p class="empty">No application can spend from this key. <a href="${prefix}/guides/mcp/">Connect an agent</a></p>`;
  const items = grants.map(
    (
      { id, client_name, client_id, cap, spent, created_at },
      i,
    ) => html`<li><div><h3 id="app-${i}">${client_name || client_id}</h3>
<p class="hint">Since ${printDate(created_at)}. Spent ${micros(spent)}${cap === null ? ', no limit' : ` of ${micros(cap)}`}.</p></div>
<form method="post" action="${prefix}/account/disconnect"><input type="hidden" name="grant" value="${id}"><button type="submit" aria-describedby="app-${i}">Disconnect</button></form></li>`,
  );
  return html`<p>${plural(grants.length, 'application')} can spend from this key. Disconnecting takes effect at once.</p><ul class="apps">${items}</ul>`;
}

/** A new secret, shown once, with what the reader must know about it. */
export function secretPage(base_url: string, title: string, secret: string, text: string): ShellPage {
  return {
    title,
    path: '/account',
    body: html`${secretHtml(secret)}<p>${text}</p>
<p class="actions"><a class="button" href="${prefixOf(base_url)}/account">Back to the account</a></p>`,
  };
}

/** The rejected input of one of the two forms, with the error. */
export interface SignInState {
  form: 'key' | 'email';
  problem: string;
  email?: string;
}

const PATH = '/account';

/** The sign-in page. */
export function accountSignInPage(
  base_url: string,
  state: SignInState | null,
  notice?: string,
  next: string | null = null,
): ShellPage {
  const prefix = prefixOf(base_url);
  const wrong = (form: SignInState['form']) => (state?.form === form ? state.problem : null);
  const alert = (form: SignInState['form']) =>
    wrong(form) !== null && html`<p class="wrong" role="alert" id="${form}-wrong">${wrong(form)}</p>`;
  const invalid = (form: SignInState['form']) =>
    wrong(form) !== null && html` aria-invalid="true" aria-describedby="${form}-wrong"`;
  return {
    title: 'Sign in to your account',
    path: PATH,
    body: html`${notice !== undefined && html`<p class="warn" role="status">${notice}</p>`}
<p>See your balance and usage, top up, choose a plan, replace or revoke your key.</p>
<section aria-labelledby="with-key"><h2 id="with-key">With your key</h2>
<form class="ask" method="post" action="${prefix}/account/sign-in">${returnField(next)}
${alert('key')}
<label for="key">API key</label>
<input type="text" name="username" autocomplete="username" value="API key" readonly hidden>
<input id="key" name="key" type="password" autocomplete="current-password" autocapitalize="none" spellcheck="false" required autofocus placeholder="dsr_…"${invalid('key')}>
<div class="buttons"><button type="submit" class="button">Sign in</button></div>
</form></section>
<section aria-labelledby="by-mail"><h2 id="by-mail">By mail</h2>
<form class="ask" method="post" action="${prefix}/account/mail-link">${returnField(next)}
${alert('email')}
<label for="email">E-mail address of your key</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" required value="${state?.email ?? ''}"${invalid('email')}>
<div class="buttons"><button type="submit">Send a sign-in link</button></div>
</form></section>
<p>No key yet? <a href="${prefix}/keys${next !== null && `?next=${encodeURIComponent(next)}`}">Get an API key</a>.</p>`,
  };
}

/** The page after the request for a link; the same whether the address has a key or not. */
export function linkSentPage(base_url: string, email: string): ShellPage {
  return {
    title: 'Check your e-mail',
    path: PATH,
    body: html`<p>If ${email} has a key, a sign-in link is on its way. It is valid for one hour and can be used once.</p>
<p>No mail after a few minutes? Check your spam folder. We send at most one link an hour while the last one is unused.</p>
<p><a href="${prefixOf(base_url)}/account">Back</a></p>`,
  };
}

/** The page of a mailed link. Opening it changes nothing, since mail scanners open links; its button does. */
export function useLinkPage(base_url: string, token: string, email: string, next: string | null): ShellPage {
  return {
    title: 'Sign in to your account',
    path: PATH,
    body: html`<p>This link signs you in as <strong>${email}</strong>.</p>
<form method="post" action="${prefixOf(base_url)}/account/link">${returnField(next)}<input type="hidden" name="token" value="${token}"><button type="submit" class="button">Sign in</button></form>`,
  };
}

/** An expired or used link. */
export function invalidSignInPage(base_url: string): ShellPage {
  return {
    title: 'This link has expired or is invalid',
    path: PATH,
    body: html`<p>A link is valid for one hour and can be used once.</p>
<p class="actions"><a class="button" href="${prefixOf(base_url)}/account">Request another link</a></p>`,
  };
}
