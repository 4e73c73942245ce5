// The review list, and the actions approve and reject.

import {
  decideEntry,
  type ReviewEntry,
  type ReviewStatus,
  reviewEntries,
  type Verdict,
} from '../../../data/review/review.ts';
import { recordNames, reviewCase } from '../../../data/review/review-case.ts';
import { ApiError } from '../../contract/errors.ts';
import { type Html, html } from '../../pages/html.ts';
import { badgeHtml, formatCount, formatMinute, timeHtml, valueHtml } from '../parts/format.ts';
import { type OpsAnswer, type OpsParts, type OpsRequest, queryText } from '../parts/request.ts';
import { bulkBox, bulkForm } from './review-bulk.ts';
import { caseBody } from './review-case.ts';
import { factTitles, groupMedian, ITEM_ID, REVIEW_KINDS, unitOf, verdictForm } from './review-parts.ts';

const STATUSES = ['open', 'approved', 'rejected', 'confirmed', 'all'] as const;
/** Entries of a page. */
const PAGE = 20;

function refuse(name: string, msg: string, type: string, where = 'query'): never {
  throw new ApiError('validation_failed', `${name}: ${msg}`, { detail: [{ loc: [where, name], msg, type }] });
}

function whole(request: OpsRequest, name: string, fallback: number, least: number, most: number): number {
  const given = queryText(request, name);
  if (given === undefined) return fallback;
  const n = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  return n >= least && n <= most ? n : refuse(name, `must be a whole number from ${least} to ${most}`, 'int_parsing');
}

function statusOf(request: OpsRequest): (typeof STATUSES)[number] {
  const given = queryText(request, 'status') ?? 'open';
  const status = STATUSES.find((each) => each === given);
  return status ?? refuse('status', `must be one of ${STATUSES.join(', ')}`, 'enum');
}

const wanted = (status: (typeof STATUSES)[number]): ReviewStatus | null => (status === 'all' ? null : status);

function datasetOf({ reviewing }: OpsParts, request: OpsRequest): string | null {
  const given = queryText(request, 'dataset');
  if (given === undefined || given === '') return null;
  return reviewing.datasets.includes(given) ? given : refuse('dataset', 'is not a dataset of this register', 'enum');
}

/** GET /ops/review.json. */
export async function reviewJson(parts: OpsParts, request: OpsRequest): Promise<OpsAnswer> {
  const unknown = Object.keys(request.query).find((name) => !['status', 'limit', 'offset', 'dataset'].includes(name));
  if (unknown !== undefined) throw new ApiError('invalid_parameter', `Unknown parameter ${unknown.slice(0, 60)}.`);
  const limit = whole(request, 'limit', 100, 1, 1000);
  const offset = whole(request, 'offset', 0, 0, 1_000_000);
  const query = { status: wanted(statusOf(request)), dataset: datasetOf(parts, request), limit, offset };
  const { items, total } = await reviewEntries(parts.reviewing, query);
  return { json: { items, total } };
}

/** GET /ops/review. */
export async function reviewPage(parts: OpsParts, request: OpsRequest, who: string): Promise<OpsAnswer> {
  const status = statusOf(request);
  const dataset = datasetOf(parts, request);
  const offset = whole(request, 'offset', 0, 0, 1_000_000);
  const entries = await reviewEntries(parts.reviewing, { status: wanted(status), dataset, limit: PAGE, offset });
  const at = (more: { status?: string; dataset?: string | null; offset?: number }) => {
    const { status: s = status, dataset: d = dataset, offset: o = 0 } = more;
    const query = new URLSearchParams({
      ...(s === 'open' ? {} : { status: s }),
      ...(d ? { dataset: d } : {}),
      ...(o > 0 ? { offset: String(o) } : {}),
    });
    return `/ops/review${query.size === 0 ? '' : `?${query}`}`;
  };
  const tab = (name: string, here: boolean, href: string) =>
    html`<a href="${href}"${here ? html` aria-current="true"` : ''}>${name}</a>`;
  const last = Math.min(entries.total, offset + PAGE);
  const body = html`<div class="filters"><nav class="spans" aria-label="State">${STATUSES.map((each) => tab(each, each === status, at({ status: each })))}</nav>
<nav class="spans" aria-label="Dataset">${tab('all datasets', dataset === null, at({ dataset: '' }))}${parts.reviewing.datasets.map((id) => tab(id, id === dataset, at({ dataset: id })))}</nav></div>
${entries.items.some((entry) => entry.status === 'open') && bulkForm()}
${await reviewFragment(parts, entries, status, true)}
${
  entries.total > PAGE
    ? html`<nav class="pages" aria-label="Pages">${offset > 0 ? html`<a rel="prev" href="${at({ offset: Math.max(0, offset - PAGE) })}">Newer</a>` : html`<span></span>`}<span>${formatCount(offset + 1)} to ${formatCount(last)} of ${formatCount(entries.total)}</span>${last < entries.total ? html`<a rel="next" href="${at({ offset: offset + PAGE })}">Older</a>` : html`<span></span>`}</nav>`
    : ''
}`;
  return { page: { title: 'Review', body, at: { place: 'review', who } } };
}

/** GET /ops/partials/review. */
export async function reviewPiece(parts: OpsParts, request: OpsRequest): Promise<OpsAnswer> {
  const limit = whole(request, 'limit', PAGE, 1, 100);
  const status = statusOf(request);
  const entries = await reviewEntries(parts.reviewing, {
    status: wanted(status),
    dataset: datasetOf(parts, request),
    limit,
    offset: 0,
  });
  return { piece: String(await reviewFragment(parts, entries, status)) };
}

/** The list of items. */
export async function reviewFragment(
  parts: OpsParts,
  { items, total }: { items: readonly ReviewEntry[]; total: number },
  status: string = 'open',
  bulk = false,
): Promise<Html> {
  if (total === 0) return html`<p class="empty">${status === 'open' ? 'No open items.' : 'No items.'}</p>`;
  const names = await recordNames(parts.reviewing, items);
  const now = parts.now();
  return html`<ol class="queue">${items.map((entry) => entryLine(parts, entry, names.get(`${entry.dataset} ${entry.entity_id}`)?.name, now, bulk))}</ol>`;
}

function entryLine(parts: OpsParts, entry: ReviewEntry, name: string | undefined, now: Date, bulk: boolean): Html {
  const { id, kind, dataset, attribute, facts, status, request } = entry;
  const title = name ?? request?.name ?? entry.entity_id;
  const unit = unitOf(parts, entry);
  const titles = factTitles(kind);
  const median = groupMedian(entry, unit);
  const from = (fact: (typeof facts)[number]) => [unit, fact.source].filter(Boolean).join(' · ');
  const mood = request !== null && kind !== 'notice' ? 'wait' : 'plain';
  const asks =
    request === null
      ? html`<dl class="versus">${median === null ? '' : html`<div><dt>Group median</dt><dd><span class="v">${median}</span></dd></div>`}${facts.map((fact, i) => html`<div><dt>${titles[i]}</dt><dd>${valueHtml(fact.value)}<small>${from(fact)}</small></dd></div>`)}</dl>`
      : html`<p class="asks"><span>${request.contact}</span>${request.reason === null ? '' : html` “${request.reason}”`}<small>${request.because}</small></p>`;
  return html`<li class="entry" id="i-${id}"><div class="what">${bulk && status === 'open' && bulkBox(id, title)}<a href="/ops/review/${id}"><strong>${title}</strong></a>${attribute === null ? '' : html` <code>${attribute}</code>`}
<p class="meta">${badgeHtml(REVIEW_KINDS[kind], mood)}<span>${dataset}</span><span>${status === 'open' ? timeHtml(entry.opened_at, now) : html`${badgeHtml(status, status === 'approved' ? 'good' : 'plain')} ${decidedBy(entry, now)}`}</span></p></div>
${asks}
${status === 'open' ? verdictForm(entry) : ''}</li>`;
}

function decidedBy({ decided_at, decided_by }: ReviewEntry, now: Date): Html {
  return html`${decided_by ?? ''} ${decided_at === null ? '' : timeHtml(decided_at, now)}`;
}

/** The item's id in the path; throws a 422 for an invalid one. */
function idOf(request: OpsRequest): string {
  const id = (request.params['item_id'] ?? '').toLowerCase();
  return ITEM_ID.test(id) ? id : refuse('item_id', 'must be a UUID', 'uuid_parsing', 'path');
}

const missing = () => new ApiError('not_found', 'No such item. The sources may agree now, or the record was removed.');

/** GET /ops/review/{item_id}. */
export async function reviewCasePage(parts: OpsParts, request: OpsRequest, who: string): Promise<OpsAnswer> {
  const item = await reviewCase(parts.reviewing, idOf(request), parts.now().getTime());
  if (item === null) throw missing();
  const { entry, record } = item;
  const name = record?.name ?? entry.request?.name ?? entry.entity_id;
  return {
    page: {
      title: name,
      above: html`<p class="crumbs"><a href="/ops/review">Review</a> · ${entry.dataset}${entry.attribute === null ? '' : html` · <code>${entry.attribute}</code>`}</p>`,
      body: caseBody(parts, item),
      at: { place: 'review', who },
    },
  };
}

/** POST /ops/review/{item_id}/approve and reject. */
export async function decidePost(
  parts: OpsParts,
  request: OpsRequest,
  who: string,
  verdict: Verdict,
): Promise<OpsAnswer> {
  const id = idOf(request);
  const reviewer = { who: `operator ${who}`, now: parts.now().getTime(), request_id: request.request_id };
  const decided = await decideEntry(parts.reviewing, id, verdict, reviewer);
  if (decided.state === 'unknown') throw missing();
  const { entry, state } = decided;
  const when = entry.decided_at === null ? '' : ` on ${formatMinute(entry.decided_at)} UTC`;
  const by =
    entry.decided_by ?? (entry.status === 'confirmed' ? 'a later reading or another source' : 'another operator');
  const already = `This was ${entry.status} by ${by}${when}.`;
  if (request.piece) {
    const names = await recordNames(parts.reviewing, [entry]);
    const name = names.get(`${entry.dataset} ${entry.entity_id}`)?.name ?? entry.request?.name ?? entry.entity_id;
    const notice =
      state === 'already'
        ? already
        : entry.kind === 'report'
          ? 'Closed.'
          : `${entry.status === 'approved' ? 'Approved' : 'Rejected'}. Published in every channel.`;
    const line = html`<li class="entry done" id="i-${id}" role="status"><div class="what"><a href="/ops/review/${id}"><strong>${name}</strong></a>${entry.attribute === null ? '' : html` <code>${entry.attribute}</code>`}</div><p>${notice}</p></li>`;
    return { piece: String(line), status: state === 'already' ? 409 : 200 };
  }
  if (request.html) return { to: `/ops/review/${id}` };
  if (state === 'already') throw new ApiError('already_decided', already);
  return { json: { id, status: entry.status } };
}
