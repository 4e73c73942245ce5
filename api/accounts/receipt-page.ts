// The receipt or invoice of a payment, for printing.
import type { PaymentReceipt } from '../../data/state/money/payment-receipts.ts';
import { eur } from '../../packs/define/money.ts';
import { prefixOf } from '../pages/frame.ts';
import { type Html, html } from '../pages/html.ts';
import type { ShellPage } from '../pages/shell.ts';
import { tokenName } from '../payments/x402/terms.ts';
import { printDate, printEuro } from '../render/print.ts';

/** The operator who sells, by the settings SELLER_*. */
export interface InvoiceSeller {
  name: string;
  /** Commas separate its lines. */
  address: string;
  tax_id: string;
}

/** What a receipt is called: an invoice names its seller. */
export const receiptName = (seller: InvoiceSeller | null): string => (seller === null ? 'Receipt' : 'Invoice');

/** Style of the page, on paper without the frame of the site. */
export const RECEIPT_STYLE = `
.parties { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 13rem), 1fr)); gap: 1.25rem 2rem; margin-bottom: 1.5rem; }
.parties h2 { margin-bottom: 0.3rem; font: 600 1rem / 1.5 var(--sans); }
.parties address { font-style: normal; white-space: pre-line; }
.parties textarea { display: block; width: 100%; min-height: 6rem; padding: 0.5rem 0.75rem; border: 1px solid var(--quiet); border-radius: 4px; background: var(--sheet); color: inherit; font: inherit; field-sizing: content; }
.sum dt { flex: none; }
.hint { margin: 0.4rem 0 1.5rem; color: var(--quiet); font-size: 0.9rem; }
@media print {
  .bar, body > footer, .hint { display: none; }
  .slip { max-width: none; }
  .parties { grid-template-columns: 1fr 1fr; }
  .parties textarea { padding: 0; border: 0; outline: 0; min-height: 0; resize: none; }
}
`;

const METHODS = { stripe: 'Card, by Stripe', sandbox: 'Sandbox checkout: play money' } as const;

/** The page; `buyer`: the address of the key, or its id. */
export function receiptPage(
  base_url: string,
  receipt: PaymentReceipt,
  buyer: string,
  setting: InvoiceSeller | null,
): ShellPage {
  const { id, at, amount, plan, method, transfer, returned } = receipt;
  // Play money is never invoiced.
  const seller = method === 'sandbox' ? null : setting;
  const number = `${new Date(at).getUTCFullYear()}-${String(id).padStart(6, '0')}`;
  const lines: [string, Html | string][] = [
    ['Number', number],
    ['Date of payment', printDate(at)],
    ['For', plan === null ? 'Credit for calls of the API' : `Plan ${plan}, one month`],
    ['Paid by', method === 'x402' ? transferText(transfer?.requirements) : METHODS[method]],
    ...(transfer?.hash ? [['Transaction', transfer.hash] as [string, string]] : []),
    ['Currency', 'EUR'],
  ];
  const row = (name: string, text: Html | string, total = false) =>
    html`<div${total && html` class="total"`}><dt>${name}</dt><dd>${text}</dd></div>`;
  return {
    title: `${receiptName(seller)} ${number}`,
    path: '/account',
    body: html`${method === 'sandbox' && html`<p class="play" role="note"><strong>Play money</strong> Nothing was paid.</p>`}
<div class="parties">${seller && html`<div><h2>Seller</h2><address>${[seller.name, ...seller.address.split(/, */), `Tax ID: ${seller.tax_id}`].join('\n')}</address></div>`}
<div><h2><label for="buyer">Buyer</label></h2><textarea id="buyer" autocomplete="off" spellcheck="false" aria-describedby="buyer-hint">${buyer}</textarea><p class="hint" id="buyer-hint">Add a name, an address or a tax ID before you print. They are not stored.</p></div></div>
<dl class="sum">${lines.map(([name, text]) => row(name, text))}${row('Total paid', printEuro(eur(amount)), true)}${returned !== 0 && row('Returned since', `−${printEuro(eur(returned))}`)}</dl>
<p class="hint">Print this page, or save it as a PDF, with the menu of the browser.</p>
<p class="actions"><a class="button" href="${prefixOf(base_url)}/account#ledger">Back to the account</a></p>`,
  };
}

/** The amount and token of an x402 payment: `x402: 2.2 USDC on Base`. */
function transferText(requirements: string | undefined): string {
  if (requirements === undefined) return 'x402';
  const { amount, asset } = JSON.parse(requirements) as { amount: string; asset: string };
  return `x402: ${Number(amount) / 1e6} ${tokenName(asset)} on Base`;
}
