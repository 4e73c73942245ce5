// What the pages of a checkout say: the sandbox's offer, and where a payment stands when its buyer comes back.

import { escapeHtml, type ShellPage } from '../pages/shell.ts';
import { printEuro } from '../render/print.ts';

/** A checkout as its pages show it. */
export interface SeenCheckout {
  kind: 'topup' | 'plan';
  plan: string | null;
  eur: number;
  email: string;
  state: 'open' | 'paid' | 'over';
  /** Paid with play money, in the sandbox. */
  play: boolean;
}

/** What is bought, in a few words. */
const bought = ({ kind, plan }: SeenCheckout): string =>
  kind === 'topup' ? 'Credit for API calls' : `Plan ${plan}, one month`;

const row = (term: string, value: string, total = ''): string =>
  `<div${total}><dt>${escapeHtml(term)}</dt><dd>${escapeHtml(value)}</dd></div>`;

const play = (text: string): string => `<p class="play" role="note"><strong>No real money</strong> ${text}</p>`;

/** The sandbox's page to pay on. Its form posts to its own address, which nobody can guess and which pays once. */
export function checkoutPage(seen: SeenCheckout): ShellPage {
  const sum = printEuro(seen.eur);
  return {
    title: 'Sandbox checkout',
    above: play(
      'This page stands in for a payment service while you try the register on your own machine. Nobody is charged.',
    ),
    body: `<dl class="sum">
${row('What', bought(seen))}
${row('For the key of', seen.email)}
${row('To pay', sum, ' class="total"')}
</dl>
<form method="post">
<button type="submit" class="button" name="action" value="pay">Pay ${sum} of play money</button>
<button type="submit" name="action" value="cancel">Cancel</button>
</form>`,
  };
}

const BALANCE = '<p><code>GET /v1/keys/me</code> shows the balance, the plan and every movement.</p>';

/** Seconds between two looks at a payment that is on its way. */
const LOOK = 5;

/** Where a checkout leads back to. It only tells what is booked already: coming here credits nothing. */
export function returnPage(seen: SeenCheckout | 'cancelled' | null, base_url: string): ShellPage {
  if (seen === 'cancelled')
    return {
      title: 'Nothing was paid',
      body: `<p>The checkout was cancelled. Your key, its credit and its plan are as they were.</p>${BALANCE}`,
    };
  if (seen === null || seen.state === 'over')
    return {
      title: 'Thank you',
      body: `<p>If you have paid, it is booked as soon as the payment service confirms it, usually within a minute.</p>${BALANCE}`,
    };
  const thing = seen.kind === 'topup' ? `${printEuro(seen.eur)} of credit` : `The plan ${escapeHtml(seen.plan ?? '')}`;
  if (seen.state === 'open')
    return {
      title: 'On its way',
      body: `<p>${thing} is booked as soon as the payment service confirms the payment, usually within a minute. This page looks again by itself.</p>${BALANCE}`,
      again: LOOK,
    };
  const now = seen.kind === 'topup' ? 'is on your key' : 'is yours';
  return {
    title: 'Paid',
    above: seen.play ? play('That was the sandbox checkout. Nobody was charged.') : '',
    body: `<p>${thing} ${now}. You can close this page.</p>${BALANCE}<p class="actions"><a class="button" href="${escapeHtml(base_url)}/llms.txt">Go on to the guide</a></p>`,
  };
}
