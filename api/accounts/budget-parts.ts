// Parts of the account page about budgets: the limits of the key with its alert, and its child keys.
import { currentCount, dayOf } from '../../data/state/budgets.ts';
import type { ChildKey } from '../../data/state/keys/children.ts';
import type { KeyLimitTable } from '../../data/state/tables/budgets.ts';
import { eur } from '../../packs/define/money.ts';
import { type Html, html } from '../pages/html.ts';
import { plural, printDate, printEuro } from '../render/print.ts';
import { callHtml } from './key-pages.ts';

const micros = (amount: number) => printEuro(eur(amount));

/** A field for an amount in EUR; an empty one is no bound. */
const amountField = (id: string, label: string, value: number | null, hint: string): Html =>
  html`<div><label for="${id}">${label}</label><div class="money"><input id="${id}" name="${id}" inputmode="decimal" autocomplete="off" maxlength="12" placeholder="none" aria-describedby="${id}-hint" value="${value === null ? '' : eur(value)}"> EUR</div><p class="hint" id="${id}-hint">${hint}</p></div>`;

/** The form of the limits, and of the address that the alert is mailed to. */
export function limitsHtml(prefix: string, email: string, limits: KeyLimitTable | null): Html {
  const spent = (amount: number | undefined, when: string) =>
    amount === undefined ? 'Of this key and its child keys.' : `Spent ${when}: ${micros(amount)}.`;
  const alerted = limits?.alerted_at == null ? '' : ` Last mail: ${printDate(limits.alerted_at)}.`;
  const recipient = email === '' ? 'Attach an address to get the mail.' : `Mailed once to ${email}.${alerted}`;
  return html`<form method="post" action="${prefix}/account/limits" class="ask"><div class="fields">
${amountField('per_day', 'Most in a day (UTC)', limits?.per_day ?? null, spent(limits?.day_spent, 'today'))}
${amountField('per_month', 'Most in a month (UTC)', limits?.per_month ?? null, spent(limits?.month_spent, 'this month'))}
${amountField('alert_below', 'Alert when the balance falls below', limits?.alert_below ?? null, recipient)}
</div><div class="buttons"><button type="submit">Save limits</button></div></form>
${
  email === '' &&
  html`<form method="post" action="${prefix}/account/email" class="ask"><label for="email">E-mail address of this key</label>
<div class="money"><input id="email" name="email" type="email" autocomplete="email" maxlength="254" required> <button type="submit">Send the link</button></div>
<p class="hint">For alerts, sign-in and recovery. The address is attached after you confirm it.</p></form>${callHtml('PUT /v1/keys/me/email')}`
}${callHtml('PUT /v1/keys/me/limits')}`;
}

/** The child keys with their bounds and spending, and a form for another one. */
export function childrenHtml(prefix: string, children: readonly ChildKey[], now: Date): Html {
  const form = html`<details><summary>Create a child key</summary><form method="post" action="${prefix}/account/child" class="ask"><div class="fields">
<div><label for="name">Name</label><input id="name" name="name" autocomplete="off" maxlength="100" required></div>
${amountField('cap', 'Most in its life', null, 'Empty: no cap.')}
${amountField('child_per_day', 'Most in a day (UTC)', null, 'Empty: no limit.')}
<div><label for="last_day">Last day (UTC)</label><input id="last_day" name="last_day" type="date" min="${dayOf(now.getTime())}" aria-describedby="last_day-hint"><p class="hint" id="last_day-hint">Empty: ends with this key.</p></div>
</div><div class="buttons"><button type="submit">Create child key</button></div></form></details>${callHtml('POST /v1/keys/me/children')}`;
  if (children.length === 0)
    return html`<p class="empty">No child keys. A child key spends this balance within bounds that you set, for one agent or one task.</p>${form}`;
  const live = children.filter((child) => endOf(child, now) === null).length;
  return html`<p>${plural(live, 'child key')} can spend this balance.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Table of child keys"><table><thead><tr><th scope="col">Name</th><th scope="col" class="figure">Spent</th><th scope="col" class="figure">Cap</th><th scope="col" class="figure">Today</th><th scope="col" class="figure">A day</th><th scope="col">Ends</th><th scope="col"><span class="away">End it</span></th></tr></thead><tbody>${children.map((child) => childRow(prefix, child, now))}</tbody></table></div>${form}`;
}

/** The last day before an end, which may be midnight. */
const lastDay = (end: number): Html => html`<time datetime="${dayOf(end - 1)}">${printDate(end - 1)}</time>`;

/** When a child key ended; null: it has not. */
function endOf({ revoked_at, expires_at }: ChildKey, now: Date): number | null {
  return revoked_at ?? (expires_at !== null && expires_at <= now.getTime() ? expires_at : null);
}

function childRow(prefix: string, child: ChildKey, now: Date): Html {
  const { id, name, spent, cap, day, day_spent, per_day, expires_at } = child;
  const ended = endOf(child, now);
  const bound = (amount: number | null) => (amount === null ? 'none' : micros(amount));
  const scope = [child.datasets, child.operations].flatMap((list) =>
    list === null ? [] : (JSON.parse(list) as string[]),
  );
  const end =
    ended === null ? (expires_at === null ? 'with this key' : lastDay(expires_at)) : html`ended ${lastDay(ended)}`;
  const button =
    ended === null &&
    html`<details><summary>End<span class="away"> ${name}</span></summary><form method="post" action="${prefix}/account/end-child"><input type="hidden" name="child" value="${id}"><button type="submit" class="danger">End now</button></form></details>`;
  return html`<tr${ended !== null && html` class="ended"`}><th scope="row">${name}${scope.length > 0 && html`<span class="unit">only ${scope.join(', ')}</span>`}</th><td class="figure">${micros(spent)}</td><td class="figure">${bound(cap)}</td><td class="figure">${micros(currentCount(day, day_spent, dayOf(now.getTime())).spent)}</td><td class="figure">${bound(per_day)}</td><td>${end}</td><td>${button}</td></tr>`;
}
