// Money: what came in, by day, and the payments that a person should look at.

import { type Matter, matters } from '../../../data/state/ops/attention.ts';
import { keyFigures, moneyByDay } from '../../../data/state/ops/figures.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Answer, Asked, OpsParts } from '../parts/asked.ts';
import { bars, everyStep } from '../parts/charts.ts';
import { badge, cents, count, moment, money } from '../parts/words.ts';

const DAY = 86_400_000;
const SPAN = 30;

const KINDS: Record<Matter['kind'], string> = {
  checkout_problem: 'payment does not fit',
  x402_unclear: 'x402 unclear',
  dispute: 'dispute',
  payment_failed: 'payment failed',
  below_zero: 'below zero',
};

/** GET /ops/money. */
export async function moneyPage({ store, now }: OpsParts, _asked: Asked, who: string): Promise<Answer> {
  const at = now().getTime();
  const since = Math.floor(at / DAY) * DAY - (SPAN - 1) * DAY;
  const [waiting, days, keys] = await Promise.all([
    matters(store, at),
    moneyByDay(store, since),
    keyFigures(store, at - DAY),
  ]);
  const cards = days.reduce((sum, day) => sum + day.cards, 0);
  const x402 = days.reduce((sum, day) => sum + day.x402, 0);
  const columns = everyStep(
    since,
    at,
    DAY,
    days.map((day) => ({ at: day.at, parts: [day.cards, day.x402] })),
    2,
  );
  const date = (time: number) => new Date(time).toISOString().slice(0, 10);
  const chart = bars({
    about: `What came in over ${SPAN} days: ${cents(cards)} by card, ${cents(x402)} by x402.`,
    series: [
      { name: 'by card', mark: 'm0' },
      { name: 'by x402', mark: 'm3' },
    ],
    columns,
    amount: (n) => cents(n),
    time: date,
    tick: (time) => date(time).slice(5),
  });
  const body = html`<dl class="tiles">
<div><dt>By card, ${SPAN} days</dt><dd>${cents(cards)}<small>less what went back</small></dd></div>
<div><dt>By x402, ${SPAN} days</dt><dd>${cents(x402)}<small>settled</small></dd></div>
<div><dt>Credit on keys</dt><dd>${cents(keys.credit)}<small>not spent yet</small></dd></div>
<div><dt>Plans</dt><dd>${count(keys.plans.filter(({ plan }) => plan === 'pro' || plan === 'scale').reduce((sum, each) => sum + each.keys, 0))}<small>${keys.plans.map(({ plan, keys: n }) => `${n} ${plan}`).join(', ') || 'no keys yet'}</small></dd></div>
</dl>
<section aria-labelledby="waits"><h2 id="waits">Needs a look</h2>${waiting.length === 0 ? html`<p class="empty">Every payment is booked and clear.</p>` : matterTable(waiting, now())}</section>
<section aria-labelledby="in"><h2 id="in">Came in</h2>${days.length === 0 ? html`<p class="empty">Nothing came in within ${SPAN} days.</p>` : chart}</section>`;
  return { page: { title: 'Money', body, at: { place: 'money', who } } };
}

function matterTable(list: readonly Matter[], now: Date): Html {
  return html`<table class="rows"><thead><tr><th scope="col">What</th><th scope="col">Why</th><th scope="col" class="n">Amount</th><th scope="col">When</th><th scope="col">Key</th></tr></thead>
<tbody>${list.map(
    ({ kind, id, key_id, amount, at, why }) =>
      html`<tr><th scope="row">${badge(KINDS[kind], 'bad')}</th><td data-name="Why">${why}<small><code>${id}</code></small></td><td class="n" data-name="Amount">${amount === null ? '—' : money(amount)}</td><td data-name="When">${moment(at, now)}</td><td data-name="Key">${key_id === null ? '—' : html`<a href="/ops/keys/${key_id}">open</a>`}</td></tr>`,
  )}</tbody></table>`;
}
