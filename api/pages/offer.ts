// The offer of paid values on a page: a button that loads them in place for the price that it shows, and the way to
// sign in. Scripts of pages draw it too; they connect it by site/account/offer.ts.
import { WELCOME_CREDIT } from '../../data/model/subscriptions.ts';
import { eur } from '../../packs/define/money.ts';
import { printEuro } from '../render/print.ts';
import { type Html, html } from './html.ts';

interface Offer {
  /** Path of the base URL. */
  prefix: string;
  /** Path and query of the page below it, to return to after a sign-in. */
  path: string;
  /** What is offered, such as `30 values`. */
  what: string;
  /** A sentence about it. */
  about: Html;
  /** EUR. */
  price: number;
  operation: string;
  dataset: string;
  /** The arguments of the call, such as `{ entity_id: 'zrh', format: 'html' }`. */
  args: Record<string, string>;
}

/** The section `#load`. */
export function offerHtml({ prefix, path, what, about, price, operation, dataset, args }: Offer): Html {
  const call = JSON.stringify({ operation, dataset, arguments: args, max_price_eur: price });
  const label = `Load ${what}: ${printEuro(price)}`;
  const next = `?next=${encodeURIComponent(prefix + path)}`;
  return html`<div class="load" id="load" data-account="${prefix}/account" data-call="${call}" tabindex="-1">
<p class="offer">${about}</p>
<p class="actions offer"><button class="button owner" type="button" id="load-button">${label}</button><span class="owner quiet" id="load-balance"></span><a class="button visitor" href="${prefix}/account${next}" rel="nofollow">Sign in to load ${what}: ${printEuro(price)}</a><a class="visitor" href="${prefix}/keys${next}" rel="nofollow">New here? Get a key with ${printEuro(eur(WELCOME_CREDIT))} of credit</a></p>
<p role="status" id="load-status"></p>
</div>`;
}
