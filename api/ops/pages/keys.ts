// API keys: search, details and transactions, grant, revoke.

import type { Requester } from '../../../data/model/accounts.ts';
import { currentPlan, SUBSCRIPTIONS } from '../../../data/model/subscriptions.ts';
import { findKeys, type Key, keyById } from '../../../data/state/keys/keys.ts';
import { type Entry, entriesOf } from '../../../data/state/money/ledger.ts';
import { refundsOf } from '../../../data/state/money/refunds.ts';
import { readAmount } from '../../access/key-signin.ts';
import { ApiError } from '../../contract/errors.ts';
import type { RouteRequest } from '../../http/server.ts';
import { type Html, html } from '../../pages/html.ts';
import { printDate, printMinute } from '../../render/print.ts';
import { badgeHtml, formatEur, timeHtml } from '../parts/format.ts';
import type { OpsAnswer, OpsParts } from '../parts/request.ts';
import { type SortColumn, type TableSort, tableSort } from '../parts/sort.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PAGE = 30;
/** Keys that a chosen order sorts: the newest. */
const SORTED = 5_000;
/** Transactions that the page of a key shows. */
const MOVEMENTS = 50;
/** Maximum of one grant in EUR. */
const MOST = 100_000;

/**
 * GET /ops/keys.
 *
 * @example
 * ```ts
 * const { html } = await keysPage(parts, request, 'ada'); // the table of keys that match ?q=
 * ```
 */
export async function keysPage({ store, now }: OpsParts, request: RouteRequest, who: string): Promise<OpsAnswer> {
  const q = (request.parameter('q') ?? '').slice(0, 200);
  const [, created_at, id = ''] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(request.parameter('before') ?? '') ?? [];
  const before = created_at === undefined ? null : { created_at: Number(created_at), id };
  const sort = tableSort(request, keyColumns(now()), { without: ['before', 'offset'] });
  const offset = Number(/^\d{1,6}$/.exec(request.parameter('offset') ?? '')?.[0] ?? 0);
  const matches = sort.chosen
    ? sort.sorted(await findKeys(store, q, SORTED, null)).slice(offset)
    : await findKeys(store, q, PAGE + 1, before);
  const rows = matches.slice(0, PAGE);
  const last = matches.length > PAGE ? rows.at(-1) : undefined;
  const place: Record<string, string> = sort.chosen
    ? { sort: request.parameter('sort') ?? '', offset: String(offset + PAGE) }
    : { before: `${last?.created_at}.${last?.id}` };
  const older = last && `/ops/keys?${new URLSearchParams({ ...(q === '' ? {} : { q }), ...place })}`;
  const none = q === '' ? 'No keys yet.' : 'No matching key.';
  const body = html`<form class="find" method="get" action="/ops/keys" role="search">
<label for="q">E-mail address or key id</label>
<input id="q" name="q" type="search" value="${q}" autocomplete="off" spellcheck="false"> <button type="submit">Search</button></form>
${rows.length === 0 ? html`<p class="empty">${none}</p>` : keyTable(rows, sort.head, now())}
${older === undefined ? '' : html`<nav class="pages" aria-label="Pages"><span></span><span></span><a rel="next" href="${older}">${sort.chosen ? 'More' : 'Older'}</a></nav>`}`;
  return { page: { title: 'Keys', body, at: { place: 'keys', who } } };
}

const keyColumns = (now: Date): SortColumn<Key>[] => [
  { name: 'email', title: 'E-mail', of: ({ email }) => email },
  { name: 'plan', title: 'Plan', of: (key) => currentPlan(key, now.getTime()) },
  { name: 'balance', title: 'Balance', figures: true, of: ({ balance }) => balance },
  { name: 'created', title: 'Created', of: ({ created_at }) => created_at },
  { name: 'state', title: 'State', of: stateText },
];

function keyTable(rows: readonly Key[], head: Html, now: Date): Html {
  return html`<table class="rows">${head}
<tbody>${rows.map(
    (key) =>
      html`<tr><th scope="row"><a href="/ops/keys/${key.id}">${key.email}</a></th><td data-name="Plan">${currentPlan(key, now.getTime())}</td><td class="n" data-name="Balance">${formatEur(key.balance)}</td><td data-name="Created">${timeHtml(key.created_at, now)}</td><td data-name="State">${state(key)}</td></tr>`,
  )}</tbody></table>`;
}

const stateText = ({ revoked_at, balance }: Key) =>
  revoked_at !== null ? 'revoked' : balance < 0 ? 'negative balance' : 'active';

const MOODS = { revoked: 'plain', 'negative balance': 'bad', active: 'good' } as const;

const state = (key: Key): Html => badgeHtml(stateText(key), MOODS[stateText(key)]);

async function keyOf({ store }: OpsParts, request: RouteRequest): Promise<Key> {
  const id = (request.params['key_id'] ?? '').toLowerCase();
  const key = UUID.test(id) ? await keyById(store, id) : null;
  if (key === null) throw new ApiError('not_found', 'There is no key with this id.');
  return key;
}

/** GET /ops/keys/{key_id}. */
export async function keyPage(parts: OpsParts, request: RouteRequest, who: string): Promise<OpsAnswer> {
  const moves = tableSort(request, MOVES, { without: ['done'] });
  return shown(parts, await keyOf(parts, request), who, { done: request.parameter('done'), moves });
}

/** What the page says after a form, by its `done`. */
const DONE: Readonly<Record<string, string>> = {
  grant: 'Granted.',
  revoke: 'Revoked. The key no longer works.',
  credited: 'Refunded: the amount is credited to the key.',
  ordered: 'Refund ordered. It is booked when Stripe confirms it, usually within a minute.',
};

type Refunds = Awaited<ReturnType<typeof refundsOf>>;

interface KeyFormState {
  done?: string | undefined;
  /** The order of the transactions. */
  moves?: TableSort<Entry>;
  /** The error of a rejected grant, and its input. */
  wrong?: string;
  entered?: { amount: string; plan: string; reason: string };
}

async function shown({ store, now }: OpsParts, key: Key, who: string, formState: KeyFormState): Promise<OpsAnswer> {
  const at = now();
  const rows = await entriesOf(store, key.id, MOVEMENTS, null);
  const done = DONE[formState.done ?? ''];
  const refunds = await refundsOf(
    store,
    rows.map(({ id }) => id),
  );
  const live = key.revoked_at === null;
  const body = html`${done === undefined ? '' : html`<p class="notice" role="status">${done}</p>`}
<dl class="sum key-facts">
<div><dt>State</dt><dd>${state(key)}${live ? '' : html` ${timeHtml(key.revoked_at ?? 0, at)}`}</dd></div>
<div><dt>Id</dt><dd><code>${key.id}</code></dd></div>
<div><dt>Plan</dt><dd>${currentPlan(key, at.getTime())}${key.plan_until === null ? '' : html` until ${printMinute(key.plan_until)} UTC`}</dd></div>
<div><dt>Created</dt><dd>${timeHtml(key.created_at, at)}</dd></div>
<div class="total"><dt>Balance</dt><dd>${formatEur(key.balance)}</dd></div></dl>
${live ? html`<div class="two">${grantForm(key, formState)}${revokeForm(key)}</div>` : ''}
<section aria-labelledby="moves"><h2 id="moves">Transactions</h2>${rows.length === 0 ? html`<p class="empty">None.</p>` : movements(rows, refunds, formState.moves)}${rows.length === MOVEMENTS ? html`<p class="hint">The latest ${MOVEMENTS}.</p>` : ''}</section>`;
  const above = html`<p class="crumbs"><a href="/ops/keys">Keys</a></p>`;
  const page = { title: key.email, above, body, at: { place: 'keys' as const, who } };
  return { page, status: formState.wrong === undefined ? 200 : 422 };
}

function grantForm({ id, plan }: Key, { wrong, entered }: KeyFormState): Html {
  const { amount = '', plan: chosen = '', reason = '' } = entered ?? {};
  return html`<section aria-labelledby="grant"><h2 id="grant">Grant</h2><form class="ask" method="post" action="/ops/keys/${id}/grant">
${wrong === undefined ? '' : html`<p class="wrong" role="alert" id="grant-wrong">${wrong}</p>`}
<label for="amount">Credit in EUR</label><input id="amount" name="amount" inputmode="decimal" autocomplete="off" maxlength="12" placeholder="none" value="${amount}"${wrong === undefined ? '' : html` aria-invalid="true" aria-describedby="grant-wrong"`}>
<label for="plan">Plan</label><select id="plan" name="plan"><option value="">keep ${plan}</option>${Object.keys(SUBSCRIPTIONS).map((option) => html`<option${option === chosen ? html` selected` : ''}>${option}</option>`)}</select>
<label for="reason">Reason</label><input id="reason" name="reason" autocomplete="off" maxlength="500" value="${reason}">
<button type="submit" class="button">Grant</button></form></section>`;
}

function revokeForm({ id }: Key): Html {
  return html`<section aria-labelledby="revoke"><h2 id="revoke">Revoke</h2><p>The key stops working immediately and permanently. Its credit stays in the ledger, and a monthly plan is cancelled.</p>
<details><summary>Revoke this key</summary><form method="post" action="/ops/keys/${id}/revoke"><button type="submit" class="danger">Revoke permanently</button></form></details></section>`;
}

const MOVES: readonly SortColumn<Entry>[] = [
  { name: 'when', title: 'When (UTC)', of: ({ at }) => at },
  { name: 'kind', title: 'Kind', of: ({ kind }) => kind },
  { name: 'for', title: 'For', of: ({ operation, dataset, note }) => operation ?? dataset ?? note },
  { name: 'amount', title: 'Amount', figures: true, of: ({ amount }) => amount },
  { name: 'balance', title: 'Balance', figures: true, of: ({ balance }) => balance },
  { name: 'refund', title: 'Refund' },
];

const unsorted: TableSort<Entry> = {
  chosen: false,
  head: html`<thead><tr>${MOVES.map(({ title, figures }) => html`<th scope="col"${figures && html` class="n"`}>${title}</th>`)}</tr></thead>`,
  sorted: (rows) => [...rows],
};

/** The refund of a row, or the form that orders it. */
function refundCell({ id, kind, amount }: Entry, refunds: Refunds): Html | string {
  const refund = refunds.get(id);
  if (refund && !refund.refused) return html`${formatEur(refund.amount)} on ${printDate(refund.at)}`;
  if (kind !== 'charge' && kind !== 'topup') return '';
  const way = kind === 'charge' ? 'Credits the key at once.' : 'Goes back to the card; booked when Stripe confirms it.';
  return html`<details><summary>Refund</summary><form method="post" action="/ops/ledger/${id}/refund">
<label for="a${id}">Amount in EUR</label><input id="a${id}" name="amount_eur" inputmode="decimal" autocomplete="off" maxlength="12" value="${Math.abs(amount) / 1e6}">
<label for="r${id}">Reason</label><input id="r${id}" name="reason" autocomplete="off" required maxlength="500">
<p class="hint">${way}</p><button type="submit" class="button">Refund</button></form></details>`;
}

function movements(rows: readonly Entry[], refunds: Refunds, { head, sorted } = unsorted): Html {
  return html`<table class="rows">${head}
<tbody>${sorted(rows).map((row) => {
    const { at, kind, operation, dataset, note, amount, balance, reference } = row;
    return html`<tr><th scope="row">${printMinute(at)}</th><td data-name="Kind">${kind}${reference?.startsWith('sandbox') ? html` ${badgeHtml('sandbox', 'wait')}` : ''}</td><td data-name="For">${[operation, dataset, note].filter(Boolean).join(' · ') || '—'}</td><td class="n" data-name="Amount">${amount > 0 ? '+' : ''}${formatEur(amount)}</td><td class="n" data-name="Balance">${formatEur(balance ?? 0)}</td><td data-name="Refund">${refundCell(row, refunds)}</td></tr>`;
  })}</tbody></table>`;
}

/** POST /ops/keys/{key_id}/grant. */
export async function postGrant(parts: OpsParts, request: RouteRequest, who: string): Promise<OpsAnswer> {
  const key = await keyOf(parts, request);
  const field = (name: string) => request.form.get(name) ?? '';
  const entered = { amount: field('amount'), plan: field('plan'), reason: field('reason').slice(0, 500) };
  const amount = readAmount(entered.amount);
  const plan = entered.plan === '' ? null : entered.plan;
  const wrong = (why: string) => shown(parts, key, who, { wrong: why, entered });
  if (key.revoked_at !== null) return wrong('This key is revoked and cannot get grants.');
  if (amount === undefined || (amount ?? 0) > MOST * 1e6)
    return wrong(`Enter an amount above 0 and up to ${MOST} EUR, such as 5 or 0.50, or leave the field empty.`);
  if (plan !== null && !Object.hasOwn(SUBSCRIPTIONS, plan)) return wrong('Unknown plan.');
  if (amount === null && plan === null) return wrong('Enter an amount, a plan, or both.');
  const reason = entered.reason.trim() || 'grant';
  await parts.accounts.grant(key.id, { amount: amount ?? 0, plan, reason }, requesterOf(request, who));
  return { to: `/ops/keys/${key.id}?done=grant` };
}

/** POST /ops/keys/{key_id}/revoke. */
export async function postRevoke(parts: OpsParts, request: RouteRequest, who: string): Promise<OpsAnswer> {
  const key = await keyOf(parts, request);
  if (key.revoked_at === null) await parts.accounts.revoke(key.id, requesterOf(request, who));
  return { to: `/ops/keys/${key.id}?done=revoke` };
}

/** POST /ops/ledger/{entry_id}/refund: `{amount_eur?, reason}`, as a form or as JSON. */
export async function postRefund(parts: OpsParts, request: RouteRequest, who: string): Promise<OpsAnswer> {
  const invalid = (field: string, msg: string) =>
    new ApiError('validation_failed', `${field}: ${msg}`, {
      detail: [{ loc: ['body', field], msg, type: 'value_error' }],
    });
  const entry = request.params['entry_id'] ?? '';
  if (!/^\d{1,15}$/.test(entry)) throw new ApiError('not_found', 'The ledger has no row with this id.');
  const amount = readAmount(request.field('amount_eur'));
  if (amount === undefined) throw invalid('amount_eur', 'must be an amount above 0, such as 5 or 0.004');
  const reason = request.field('reason').slice(0, 500);
  if (reason === '') throw invalid('reason', 'is required');
  const { now, request_id } = requesterOf(request, who);
  const order = { entry: Number(entry), amount, reason, who: `operator ${who}`, request_id, now };
  const refund = await parts.checkout.refund(order);
  if (request.prefersHtml) return { to: `/ops/keys/${refund.key_id}?done=${refund.status}` };
  return { json: { id: order.entry, status: refund.status, amount_eur: refund.amount / 1e6 } };
}

const requesterOf = (request: RouteRequest, operator: string): Requester => ({ ...request.requester(null), operator });
