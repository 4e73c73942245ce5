// Money: revenue, credit, and payments that need attention.

import { type PaymentIssue, paymentIssues } from '../../../data/state/ops/attention.ts';
import { keyFigures, moneyByDay, sandboxShare } from '../../../data/state/ops/figures.ts';
import type { RouteRequest } from '../../http/server.ts';
import { type Html, html } from '../../pages/html.ts';
import { badgeHtml, formatCents, formatCount, formatEur, timeHtml } from '../parts/format.ts';
import type { OpsAnswer, OpsParts } from '../parts/request.ts';
import { type SortColumn, tableSort } from '../parts/sort.ts';

const DAY = 86_400_000;
const SPAN = 30;

const KINDS: Record<PaymentIssue['kind'], string> = {
  checkout_problem: 'payment mismatch',
  x402_unclear: 'x402 unclear',
  dispute: 'dispute',
  payment_failed: 'payment failed',
  below_zero: 'below zero',
  revoked_key: 'paid for a revoked key',
};

/** GET /ops/money. */
export async function moneyPage({ store, now }: OpsParts, request: RouteRequest, who: string): Promise<OpsAnswer> {
  const at = now().getTime();
  const since = Math.floor(at / DAY) * DAY - (SPAN - 1) * DAY;
  const [waiting, days, keys, play] = await Promise.all([
    paymentIssues(store, at),
    moneyByDay(store, since),
    keyFigures(store, at - DAY),
    sandboxShare(store, at - DAY),
  ]);
  const cards = days.reduce((sum, day) => sum + day.cards, 0);
  const x402 = days.reduce((sum, day) => sum + day.x402, 0);
  const sandbox = days.reduce((sum, day) => sum + day.sandbox, 0);
  const body = html`<dl class="tiles">
<div><dt>By checkout, ${SPAN} days</dt><dd>${formatCents(cards)}<small>net of refunds</small></dd></div>
${sandbox !== 0 && html`<div><dt>Sandbox, ${SPAN} days</dt><dd>${formatCents(sandbox)}<small>no real money</small></dd></div>`}
<div><dt>By x402, ${SPAN} days</dt><dd>${formatCents(x402)}<small>settled</small></dd></div>
<div><dt>Credit on keys</dt><dd>${formatCents(keys.credit - play.credit)}<small>unspent, with grants${play.credit !== 0 && `; and ${formatCents(play.credit)} of sandbox credit`}</small></dd></div>
<div><dt>Plans</dt><dd>${formatCount(keys.plans.filter(({ plan }) => plan === 'pro' || plan === 'scale').reduce((sum, plan) => sum + plan.keys, 0))}<small>${keys.plans.map(({ plan, keys: n }) => `${n} ${plan}`).join(', ') || 'no keys yet'}</small></dd></div>
</dl>
<section aria-labelledby="waits"><h2 id="waits">Needs attention</h2>${waiting.length === 0 ? html`<p class="empty">No payment needs attention.</p>` : issueTable(waiting, request, now())}</section>`;
  return { page: { title: 'Money', body, at: { place: 'money', who } } };
}

const COLUMNS: readonly SortColumn<PaymentIssue>[] = [
  { name: 'issue', title: 'Issue', of: ({ kind }) => KINDS[kind] },
  { name: 'reason', title: 'Reason', of: ({ why }) => why },
  { name: 'amount', title: 'Amount', figures: true, of: ({ amount }) => amount },
  { name: 'when', title: 'When', of: ({ at }) => at },
  { name: 'key', title: 'Key' },
];

function issueTable(list: readonly PaymentIssue[], request: RouteRequest, now: Date): Html {
  const { head, sorted } = tableSort(request, COLUMNS);
  return html`<table class="rows">${head}
<tbody>${sorted(list).map(
    ({ kind, id, key_id, amount, at, why }) =>
      html`<tr><th scope="row">${badgeHtml(KINDS[kind], 'bad')}</th><td data-name="Reason">${why}<small><code>${id}</code></small></td><td class="n" data-name="Amount">${amount === null ? '—' : formatEur(amount)}</td><td data-name="When">${timeHtml(at, now)}</td><td data-name="Key">${key_id === null ? '—' : html`<a href="/ops/keys/${key_id}">open</a>`}</td></tr>`,
  )}</tbody></table>`;
}
