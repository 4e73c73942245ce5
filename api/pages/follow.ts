// What follows the changes of a view with exactly its filters: feeds, mails and webhooks. Scripts of pages draw it too;
// site/account/follow.ts connects its button.
import { type Html, html } from './html.ts';

/** A view of a dataset. */
export interface FollowedView {
  base_url: string;
  /** Path of the base URL. */
  prefix: string;
  dataset: string;
  /** Path and query of the page below it, to return to after a sign-in. */
  path: string;
  /** The view as parameters of the changelog. */
  query: URLSearchParams;
  /** Names of paid attributes that the view selects by: no feed reads them without a payment. */
  paid?: readonly string[];
}

/** Parameters of the changelog for what has been: a subscription has what comes. */
const PAST: readonly string[] = ['days', 'from', 'to'];

/** The view as the body of a new subscription, without its receiver. */
function subscriptionOf({ dataset, query }: FollowedView): Record<string, unknown> {
  const names = [...new Set(query.keys())].filter((name) => !PAST.includes(name));
  const values = Object.fromEntries(names.map((name) => [name, query.getAll(name).join(',')]));
  const { attribute, direction, filter, ...filters } = values;
  return {
    dataset,
    ...(Object.keys(filters).length > 0 ? { filters } : {}),
    ...(filter === undefined ? {} : { filter }),
    ...(attribute === undefined ? {} : { attributes: attribute.split(',') }),
    ...(direction === undefined ? {} : { direction }),
  };
}

/** The content of a disclosure "Follow this view". */
export function followHtml(view: FollowedView): Html {
  const { base_url, prefix, dataset, path, query, paid = [] } = view;
  const subscription = subscriptionOf(view);
  const address = (more: Record<string, string>) =>
    `/v1/${dataset}/changelog?${new URLSearchParams([...query, ...Object.entries(more)])}`.replaceAll('%2C', ',');
  const body = JSON.stringify({ ...subscription, url: 'https://example.org/hook' }).replaceAll("'", "'\\''");
  const curl = `curl -H "Authorization: Bearer $REGISTER_KEY" -H "Content-Type: application/json" \\\n  -d '${body}' \\\n  ${base_url}/v1/keys/me/subscriptions`;
  const feed = html`<p class="actions"><a class="follow" href="${prefix}${address({ format: 'atom' })}">Atom feed</a><button class="copy" type="button" data-copy="${base_url}${address({ format: 'atom' })}" title="Paste the address into a feed reader">Copy feed address</button><a href="${prefix}${address({})}">JSON</a></p>`;
  const locked = html`<p class="small">By ${paid.join(', ')}: paid, so there is no feed, and a subscription needs a plan.</p>`;
  return html`<div class="follow-panel" data-account="${prefix}/account" data-subscription="${JSON.stringify(subscription)}">
${paid.length > 0 ? locked : feed}<p class="actions"><button class="button plain owner follow-mail" type="button">Mail me changes once a day</button><a class="visitor" href="${prefix}/account?next=${encodeURIComponent(prefix + path)}" rel="nofollow">Sign in to get mails</a></p>
<p role="status" class="small"></p>
<figure class="call"><figcaption>Post changes to an address of yours (<a href="${prefix}/guides/changes/">webhook</a>)</figcaption><button class="copy" type="button" data-copy="${curl}">Copy</button><pre tabindex="0" role="group" aria-label="Command that subscribes an address"><code>${curl}</code></pre></figure>
</div>`;
}
