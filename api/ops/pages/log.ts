// The audit log: decisions, grants, revocations, opt-outs, owners' edits, sign-ins. And the list of opt-outs.

import { auditEntries, type StoredAuditEntry } from '../../../data/state/audit.ts';
import { ApiError } from '../../contract/errors.ts';
import type { RouteRequest } from '../../http/server.ts';
import { type Html, html } from '../../pages/html.ts';
import { printMinute } from '../../render/print.ts';
import { badgeHtml, timeHtml } from '../parts/format.ts';
import type { OpsAnswer, OpsParts } from '../parts/request.ts';
import { tableSort } from '../parts/sort.ts';

const PAGE = 50;

/** GET /ops/log. */
export async function logPage({ store }: OpsParts, request: RouteRequest, who: string): Promise<OpsAnswer> {
  const before = request.parameter('before');
  if (before !== undefined && !/^\d{1,15}$/.test(before))
    throw new ApiError('validation_failed', 'before: must be the number of an entry', {
      detail: [{ loc: ['query', 'before'], msg: 'must be the number of an entry', type: 'int_parsing' }],
    });
  const entries = await auditEntries(store, { before: before === undefined ? null : Number(before), limit: PAGE + 1 });
  const rows = entries.slice(0, PAGE);
  const last = entries.length > PAGE ? rows.at(-1) : undefined;
  const table = html`<table class="rows"><thead><tr><th scope="col">When (UTC)</th><th scope="col">Actor</th><th scope="col">Action</th><th scope="col">Subject</th></tr></thead>
<tbody>${rows.map(
    (row) =>
      html`<tr><th scope="row">${printMinute(row.at)}</th><td data-name="Actor">${row.who}</td><td data-name="Action">${row.action}</td><td data-name="Subject">${about(row)}</td></tr>`,
  )}</tbody></table>`;
  const body = html`<p class="lead">Entries cannot be changed or deleted.</p>
${rows.length === 0 ? html`<p class="empty">No entries yet.</p>` : table}
${last === undefined ? '' : html`<nav class="pages" aria-label="Pages"><span></span><span></span><a rel="next" href="/ops/log?before=${last.id}">Older</a></nav>`}`;
  return { page: { title: 'Log', body, at: { place: 'log', who } } };
}

function about({ action, dataset, entity_id, subject, details }: StoredAuditEntry): Html {
  const what =
    subject === null
      ? ''
      : /^(approve|reject)$/.test(action)
        ? html`<a href="/ops/review/${subject}">item</a> `
        : /^(grant|revoke)$/.test(action)
          ? html`<a href="/ops/keys/${subject}">key</a> `
          : '';
  const record = entity_id === null ? '' : html`${dataset} <code>${entity_id}</code>`;
  return html`${what}${record}${details === '{}' ? '' : html`<small>${words(details)}</small>`}`;
}

/** The details of an entry as text: `plan: pro · reason: …`. */
function words(details: string): string {
  const parsed = JSON.parse(details) as Record<string, unknown>;
  return Object.entries(parsed)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' · ');
}

/** Maximum number of opt-outs on the page. */
const MOST = 200;

/** GET /ops/opt-outs. */
export async function optOutsPage({ store, now }: OpsParts, request: RouteRequest, who: string): Promise<OpsAnswer> {
  const rows = await store.db.selectFrom('opt_outs').selectAll().orderBy('at', 'desc').limit(MOST).execute();
  const at = now();
  const sort = tableSort<(typeof rows)[number]>(request, [
    { name: 'record', title: 'Record', of: ({ name }) => name },
    { name: 'dataset', title: 'Dataset', of: ({ dataset }) => dataset },
    { name: 'contact', title: 'Contact', of: ({ contact }) => contact },
    { name: 'reason', title: 'Reason', of: ({ reason }) => reason },
    { name: 'removed', title: 'Removed', of: ({ at: removed }) => Number(removed) },
    { name: 'state', title: 'State', of: ({ restored_at }) => (restored_at === null ? 'removed' : 'restored') },
  ]);
  const list = html`<table class="rows">${sort.head}
<tbody>${sort
    .sorted(rows)
    .map(
      (row) =>
        html`<tr><th scope="row">${row.name}<small><code>${row.slug}</code></small></th><td data-name="Dataset">${row.dataset}</td><td data-name="Contact">${row.contact}</td><td data-name="Reason">${row.reason ?? '—'}</td><td data-name="Removed">${timeHtml(row.at, at)}</td><td data-name="State">${row.restored_at === null ? badgeHtml('removed', 'wait') : html`${badgeHtml('restored', 'good')} ${timeHtml(row.restored_at, at)}`}</td></tr>`,
    )}</tbody></table>`;
  const body = html`<p class="lead">Removed records are in no channel. The contact got a link to restore the record; under <a href="/ops/review">Review</a> you can restore it too.</p>
${rows.length === 0 ? html`<p class="empty">No opt-outs yet.</p>` : list}`;
  return { page: { title: 'Opt-outs', body, at: { place: 'opt-outs', who } } };
}
