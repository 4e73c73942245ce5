// Opt-outs: which records their businesses had removed, and which are back.
import { html } from 'hono/html';
import type { Answer, Asked, OpsParts } from '../parts/asked.ts';
import { badge, moment } from '../parts/words.ts';

/** Most that the page lists. */
const MOST = 200;

/** GET /ops/opt-outs. */
export async function optOutsPage({ store, now }: OpsParts, _asked: Asked, who: string): Promise<Answer> {
  const rows = await store.db.selectFrom('opt_outs').selectAll().orderBy('at', 'desc').limit(MOST).execute();
  const at = now();
  const list = html`<table class="rows"><thead><tr><th scope="col">Record</th><th scope="col">Dataset</th><th scope="col">Contact</th><th scope="col">Reason</th><th scope="col">Removed</th><th scope="col">State</th></tr></thead>
<tbody>${rows.map(
    (row) =>
      html`<tr><th scope="row">${row.name}<small><code>${row.slug}</code></small></th><td data-name="Dataset">${row.dataset}</td><td data-name="Contact">${row.contact}</td><td data-name="Reason">${row.reason ?? '—'}</td><td data-name="Removed">${moment(row.at, at)}</td><td data-name="State">${row.restored_at === null ? badge('removed', 'wait') : html`${badge('back', 'good')} ${moment(row.restored_at, at)}`}</td></tr>`,
  )}</tbody></table>`;
  const body = html`<p class="lead">A removed record is in no channel. Its contact was mailed a link that brings it back; under <a href="/ops/review">Review</a> you can do the same.</p>
${rows.length === 0 ? html`<p class="empty">No business asked for a record to be removed.</p>` : list}`;
  return { page: { title: 'Opt-outs', body, at: { place: 'opt-outs', who } } };
}
