// The review list, the page of an item, and the actions approve and reject.

import type { PublicFact } from '../../../data/queries/history.ts';
import {
  decideEntry,
  type ReviewEntry,
  type ReviewStatus,
  reviewEntries,
  type Verdict,
} from '../../../data/review/review.ts';
import { type AttributeState, type ReviewCase, recordNames, reviewCase } from '../../../data/review/review-case.ts';
import type { Value } from '../../../packs/define/model.ts';
import { ApiError } from '../../contract/errors.ts';
import type { RouteRequest } from '../../http/server.ts';
import { stepChart } from '../../pages/charts.ts';
import { type Html, html } from '../../pages/html.ts';
import { printMinute, printNumber } from '../../render/print.ts';
import { badgeHtml, formatCount, linkHtml, timeHtml, valueHtml } from '../parts/format.ts';
import { isPiece, type OpsAnswer, type OpsParts } from '../parts/request.ts';
import { bulkBox, bulkForm } from './review-bulk.ts';
import { factTitles, groupMedian, ITEM_ID, REVIEW_KINDS, unitOf, verdictForm } from './review-parts.ts';

const STATUSES = ['open', 'approved', 'rejected', 'confirmed', 'all'] as const;
/** Entries of a page. */
const PAGE = 20;

function refuse(name: string, msg: string, type: string, where = 'query'): never {
  throw new ApiError('validation_failed', `${name}: ${msg}`, { detail: [{ loc: [where, name], msg, type }] });
}

function whole(request: RouteRequest, name: string, fallback: number, least: number, most: number): number {
  const value = request.parameter(name);
  if (value === undefined) return fallback;
  const n = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  return n >= least && n <= most ? n : refuse(name, `must be a whole number from ${least} to ${most}`, 'int_parsing');
}

function statusOf(request: RouteRequest): (typeof STATUSES)[number] {
  const value = request.parameter('status') ?? 'open';
  const status = STATUSES.find((status) => status === value);
  return status ?? refuse('status', `must be one of ${STATUSES.join(', ')}`, 'enum');
}

const wanted = (status: (typeof STATUSES)[number]): ReviewStatus | null => (status === 'all' ? null : status);

function datasetOf({ reviewing }: OpsParts, request: RouteRequest): string | null {
  const value = request.parameter('dataset');
  if (value === undefined || value === '') return null;
  return reviewing.datasets.includes(value) ? value : refuse('dataset', 'is not a dataset of this register', 'enum');
}

/** GET /ops/review.json. */
export async function reviewJson(parts: OpsParts, request: RouteRequest): Promise<OpsAnswer> {
  const unknown = Object.keys(request.query).find((name) => !['status', 'limit', 'offset', 'dataset'].includes(name));
  if (unknown !== undefined) throw new ApiError('invalid_parameter', `Unknown parameter ${unknown.slice(0, 60)}.`);
  const limit = whole(request, 'limit', 100, 1, 1000);
  const offset = whole(request, 'offset', 0, 0, 1_000_000);
  const query = { status: wanted(statusOf(request)), dataset: datasetOf(parts, request), limit, offset };
  const { items, total } = await reviewEntries(parts.reviewing, query);
  return { json: { items, total } };
}

/** GET /ops/review. */
export async function reviewPage(parts: OpsParts, request: RouteRequest, who: string): Promise<OpsAnswer> {
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
  const body = html`<div class="filters"><nav class="spans" aria-label="State">${STATUSES.map((option) => tab(option, option === status, at({ status: option })))}</nav>
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
export async function reviewPiece(parts: OpsParts, request: RouteRequest): Promise<OpsAnswer> {
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
function idOf(request: RouteRequest): string {
  const id = (request.params['item_id'] ?? '').toLowerCase();
  return ITEM_ID.test(id) ? id : refuse('item_id', 'must be a UUID', 'uuid_parsing', 'path');
}

const missing = () => new ApiError('not_found', 'No such item. The sources may agree now, or the record was removed.');

/** GET /ops/review/{item_id}. */
export async function reviewCasePage(parts: OpsParts, request: RouteRequest, who: string): Promise<OpsAnswer> {
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
  request: RouteRequest,
  who: string,
  verdict: Verdict,
): Promise<OpsAnswer> {
  const id = idOf(request);
  const reviewer = { who: `operator ${who}`, now: parts.now().getTime(), request_id: request.request_id };
  const decided = await decideEntry(parts.reviewing, id, verdict, reviewer);
  if (decided.state === 'unknown') throw missing();
  const { entry, state } = decided;
  const when = entry.decided_at === null ? '' : ` on ${printMinute(entry.decided_at)} UTC`;
  const by =
    entry.decided_by ?? (entry.status === 'confirmed' ? 'a later reading or another source' : 'another operator');
  const already = `This was ${entry.status} by ${by}${when}.`;
  if (isPiece(request)) {
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
  if (request.prefersHtml) return { to: `/ops/review/${id}` };
  if (state === 'already') throw new ApiError('already_decided', already);
  return { json: { id, status: entry.status } };
}

// The page of a review item: both facts with their sources, the history, and the effect of each decision.

/** Why a fact is or is not published. */
const REASONS: Record<PublicFact['reason'], string> = {
  only_source: 'the only source',
  agreed: 'sources agree',
  more_trusted: 'more trusted',
  newer_reading: 'newer reading',
  earliest: 'observed first',
  owner: 'set by the owner',
  approved: 'approved',
  superseded: 'replaced by a newer value of its source',
  less_trusted: 'less trusted',
  older_reading: 'older reading',
  later: 'observed later',
  below_floor: 'confidence below the floor',
  held: 'held until confirmed or reviewed',
  not_listed: 'record dropped by its source',
  owner_overrides: 'replaced by the owner',
  rejected: 'rejected',
  withdrawn: 'withdrawn by its source',
};

/** The body of the page. */
function caseBody(parts: OpsParts, item: ReviewCase): Html {
  const { entry, effect, history, record } = item;
  const now = parts.now();
  const unit = unitOf(parts, entry);
  const open = entry.status === 'open';
  const state = open
    ? html`${badgeHtml(REVIEW_KINDS[entry.kind], 'wait')} opened ${timeHtml(entry.opened_at, now)}`
    : html`${badgeHtml(entry.status, entry.status === 'approved' ? 'good' : 'plain')}${entry.decided_by === null ? '' : html` by ${entry.decided_by}`}${entry.decided_at === null ? '' : html`, ${timeHtml(entry.decided_at, now)}`}`;
  const where =
    record === null
      ? ''
      : html` · ${linkHtml(`${parts.base_url}/datasets/${entry.dataset}/${record.slug}`, 'record page')}`;
  return html`<p class="meta"><span>${state}${where}</span></p>
${entry.request === null ? pair(entry, unit, now) : asks(item)}
${effect === null ? '' : effects(effect, unit)}
${open ? html`<section class="decide" aria-labelledby="decide"><h2 id="decide">Decide</h2>${verdictForm(entry, false)}<p class="hint">${entry.kind === 'report' ? 'The decision' : 'The decision is published in every channel immediately, and'} is logged with your name.</p></section>` : ''}
${history.length === 0 ? '' : past(history, unit, now)}`;
}

function pair(entry: ReviewCase['entry'], unit: string | null, now: Date): Html {
  const titles = factTitles(entry.kind);
  const median = groupMedian(entry, unit);
  const group =
    median === null
      ? ''
      : html`<p>Too far from ${median}, the median of its group when it was first observed. It is not published until it is confirmed.</p>`;
  return html`${group}<div class="pair">${entry.facts.map(
    (fact, i) => html`<section class="fact" aria-labelledby="f${i}"><h2 id="f${i}">${titles[i]}</h2>
<p class="big">${valueHtml(fact.value, unit)}</p>
<dl class="sum"><div><dt>Source</dt><dd>${fact.source}</dd></div>
<div><dt>Page</dt><dd>${linkHtml(fact.source_url)}</dd></div>
<div><dt>Observed</dt><dd>${timeHtml(fact.observed_at, now)}</dd></div>
<div><dt>Confidence</dt><dd>${fact.confidence}</dd></div>
<div><dt>Evidence</dt><dd>${fact.evidence === '' ? '—' : fact.evidence}</dd></div></dl></section>`,
  )}</div>`;
}

function asks({ entry }: ReviewCase): Html {
  const { request, kind } = entry;
  const what = {
    opt_out:
      'A request to remove this record. Approve: it is removed from every channel immediately, and the contact gets a link to restore it.',
    claim: 'A request to edit this record. Approve: the contact gets a link to edit it.',
    notice: 'This record was removed by its owner. Approve: it stays removed. Reject: it is restored.',
    report: 'A reader reports a mistake. Either decision closes the report; neither changes a value.',
  }[kind as 'opt_out' | 'claim' | 'notice' | 'report'];
  return html`<p>${what}</p><dl class="sum">
<div><dt>Record</dt><dd>${request?.name ?? ''}</dd></div>
<div><dt>Contact</dt><dd>${request?.contact || 'none'}</dd></div>
<div><dt>Reason</dt><dd>${request?.reason ?? 'none'}</dd></div>
<div><dt>Why a review</dt><dd>${request?.because ?? ''}</dd></div></dl>`;
}

function effects({ now, approved, rejected }: NonNullable<ReviewCase['effect']>, unit: string | null): Html {
  const row = (name: string, state: AttributeState) =>
    html`<tr><th scope="row">${name}</th><td>${valueHtml(state.value, unit)}</td><td class="n">${state.confidence ?? '—'}</td><td>${linkHtml(state.source_url)}</td><td class="n">${state.quality.toFixed(3)}</td></tr>`;
  return html`<section aria-labelledby="effect"><h2 id="effect">Effect</h2>
<div class="scroll" role="region" aria-label="Values before and after" tabindex="0"><table><thead><tr><th scope="col">Decision</th><th scope="col">Published value</th><th scope="col" class="n">Confidence</th><th scope="col">Source</th><th scope="col" class="n">Quality of the record</th></tr></thead>
<tbody>${row('Now', now)}${row('Approved', approved)}${row('Rejected', rejected)}</tbody></table></div></section>`;
}

const figure = (of: Value | undefined): number | null =>
  typeof of === 'number' ? of : typeof of === 'object' && 'min' in of ? of.min : null;

function past(history: readonly PublicFact[], unit: string | null, now: Date): Html {
  const lines = [...Map.groupBy(history, ({ source }) => source.id)].map(([name, facts]) => ({
    name,
    points: facts.flatMap(({ observed_at, value: of }) => {
      const n = figure(of);
      return n === null ? [] : [{ at: Date.parse(observed_at), value: n }];
    }),
  }));
  const chart = stepChart({
    about: `Values over time, by source${unit === null ? '' : `, in ${unit}`}: ${history.length} facts.`,
    lines: lines.filter(({ points }) => points.length > 0),
    until: now.getTime(),
    amount: printNumber,
  });
  return html`<section aria-labelledby="history"><h2 id="history">History</h2>${chart}
<div class="scroll" role="region" aria-label="Every fact" tabindex="0"><table><thead><tr><th scope="col">Observed (UTC)</th><th scope="col">Value</th><th scope="col">Source</th><th scope="col" class="n">Confidence</th><th scope="col">Reason</th></tr></thead>
<tbody>${history.map(
    (fact) =>
      html`<tr${fact.won ? html` class="won"` : ''}><th scope="row">${printMinute(fact.observed_at)}</th><td>${valueHtml(fact.value, unit)}</td><td>${linkHtml(fact.source_url, fact.source.id)}</td><td class="n">${fact.confidence}</td><td>${fact.won ? html`${badgeHtml('published', 'good')} ` : ''}${REASONS[fact.reason]}</td></tr>`,
  )}</tbody></table></div></section>`;
}
