// The audit log: decisions, grants, revocations, opt-outs, owners' edits, sign-ins. And the list of opt-outs.

import { recordNames } from '../../../data/review/review-case.ts';
import { auditEntries, type StoredAuditEntry } from '../../../data/state/audit.ts';
import { emailsOf } from '../../../data/state/keys/keys.ts';
import { ApiError } from '../../contract/errors.ts';
import type { RouteRequest } from '../../http/server.ts';
import { type Html, html } from '../../pages/html.ts';
import { printMinute } from '../../render/print.ts';
import { badgeHtml, timeHtml } from '../parts/format.ts';
import type { OpsAnswer, OpsParts } from '../parts/request.ts';
import { tableSort } from '../parts/sort.ts';

const PAGE = 50;

/** GET /ops/log. */
export async function logPage(
  { store, reviewing, base_url }: OpsParts,
  request: RouteRequest,
  who: string,
): Promise<OpsAnswer> {
  const before = request.parameter('before');
  if (before !== undefined && !/^\d{1,15}$/.test(before))
    throw new ApiError('validation_failed', 'before: must be the number of an entry', {
      detail: [{ loc: ['query', 'before'], msg: 'must be the number of an entry', type: 'int_parsing' }],
    });
  const q = (request.parameter('q') ?? '').trim().slice(0, 200);
  const entries = await auditEntries(store, {
    before: before === undefined ? null : Number(before),
    limit: PAGE + 1,
    q,
  });
  const rows = entries.slice(0, PAGE);
  const emails = await emailsOf(store, rows.flatMap(keysIn));
  const records = rows.flatMap(({ dataset, entity_id }) =>
    dataset !== null && entity_id !== null ? [{ dataset, entity_id }] : [],
  );
  const names = await recordNames(reviewing, records);
  const record = (row: StoredAuditEntry): Html | '' => {
    if (row.entity_id === null) return '';
    const named = names.get(`${row.dataset} ${row.entity_id}`);
    // A record that was removed has no name here.
    if (named === undefined) return html`${row.dataset} <code>${row.entity_id}</code>`;
    return html`<a href="${base_url}/datasets/${row.dataset}/${named.slug}" title="${row.entity_id}">${named.name}</a> ${row.dataset}`;
  };
  const older = (id: number) => `/ops/log?${new URLSearchParams({ ...(q === '' ? {} : { q }), before: String(id) })}`;
  const last = entries.length > PAGE ? rows.at(-1) : undefined;
  const table = html`<table class="rows"><thead><tr><th scope="col">When (UTC)</th><th scope="col">Actor</th><th scope="col">Action</th><th scope="col">Subject</th></tr></thead>
<tbody>${rows.map(
    (row) =>
      html`<tr><th scope="row">${printMinute(row.at)}</th><td data-name="Actor">${actor(row, emails)}</td><td data-name="Action">${row.action}</td><td data-name="Subject">${about(row, emails)}${record(row)}${detailsOf(row)}</td></tr>`,
  )}</tbody></table>`;
  const none = q === '' ? 'No entries yet.' : 'No matching entry.';
  const body = html`<p class="lead">Entries cannot be changed or deleted.</p>
<form class="find" method="get" action="/ops/log" role="search">
<label for="q">Actor, action, key, record or detail</label>
<input id="q" name="q" type="search" value="${q}" autocomplete="off" spellcheck="false"> <button type="submit">Search</button></form>
${rows.length === 0 ? html`<p class="empty">${none}</p>` : table}
${last === undefined ? '' : html`<nav class="pages" aria-label="Pages"><span></span><span></span><a rel="next" href="${older(last.id)}">Older</a></nav>`}`;
  return { page: { title: 'Log', body, at: { place: 'log', who } } };
}

const KEY_ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** Ids of keys that an entry may name: its actor, its subject, or the key of a refund. */
const keysIn = ({ who, subject, details }: StoredAuditEntry): string[] =>
  [who, subject ?? '', details].flatMap((text) => KEY_ID.exec(text)?.[0] ?? []);

type Emails = ReadonlyMap<string, string>;

/** A key by its address, as a link. */
const keyLink = (id: string, emails: Emails): Html => html`<a href="/ops/keys/${id}">${emails.get(id) ?? 'key'}</a>`;

function actor({ who }: StoredAuditEntry, emails: Emails): Html | string {
  const [, id] = /^key (.+)$/.exec(who) ?? [];
  return id === undefined ? who : keyLink(id, emails);
}

/** The item or key that an entry is about. */
function about({ action, subject, details }: StoredAuditEntry, emails: Emails): Html | '' {
  const { key } = JSON.parse(details) as Record<string, unknown>;
  const id = typeof key === 'string' ? key : subject;
  if (id === null) return '';
  if (/^(approve|reject)$/.test(action)) return html`<a href="/ops/review/${subject}">item</a> `;
  return emails.has(id) ? html`${keyLink(id, emails)} ` : '';
}

function detailsOf({ details }: StoredAuditEntry): Html | '' {
  const { key: _, ...more } = JSON.parse(details) as Record<string, unknown>;
  return Object.keys(more).length === 0 ? '' : html`<small>${detailText(more)}</small>`;
}

/** Details as text: `plan: pro · reason: …`; of a value that is an object, its members in brackets. */
function detailText(value: unknown): string {
  if (Array.isArray(value)) return value.map(detailText).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).filter(([, member]) => member !== null);
  const isNested = (member: unknown) => typeof member === 'object' && !Array.isArray(member);
  return members
    .map(([name, member]) => (isNested(member) ? `${name} (${detailText(member)})` : `${name}: ${detailText(member)}`))
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
