// The overview: open tasks, key figures, freshness of the datasets, next nightly runs.

import { reviewEntries } from '../../../data/review/review.ts';
import { mailQueue } from '../../../data/state/mail.ts';
import { paymentIssues } from '../../../data/state/ops/attention.ts';
import { keyFigures, moneyByDay, sandboxShare } from '../../../data/state/ops/figures.ts';
import { heldSince, OPT_OUT_LIMIT } from '../../../data/state/owners/held-opt-outs.ts';
import type { RouteRequest } from '../../http/server.ts';
import { lengthBar } from '../../pages/charts.ts';
import { type Html, html } from '../../pages/html.ts';
import { plural, printAge, printShare } from '../../render/print.ts';
import { badgeHtml, formatCents, formatCount, formatDuration, timeHtml } from '../parts/format.ts';
import type { OpsAnswer, OpsDataset, OpsParts } from '../parts/request.ts';
import { type SortColumn, tableSort } from '../parts/sort.ts';
import { reviewFragment } from './review.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A nightly run that is later than this counts as missed. */
const LATE = 6 * HOUR;

/** All data of the overview at one time. */
async function gathered(parts: OpsParts, request: RouteRequest) {
  const { store, reviewing } = parts;
  const now = parts.now();
  const at = now.getTime();
  const [standings, open, waiting, keys, play, heldOptOuts, month, queue] = await Promise.all([
    parts.datasets(now),
    reviewEntries(reviewing, { status: 'open', dataset: null, limit: 5, offset: 0 }),
    paymentIssues(store, at),
    keyFigures(store, at - DAY),
    sandboxShare(store, at - DAY),
    heldSince(store, at - DAY),
    moneyByDay(store, at - 30 * DAY),
    mailQueue(store),
  ]);
  return { now, standings, request, open, waiting, keys, play, held: heldOptOuts, month, queue };
}
type Gathered = Awaited<ReturnType<typeof gathered>>;

const iso = (at: number) => new Date(at).toISOString();

/** GET /ops/stats.json. */
export async function statsJson(parts: OpsParts, request: RouteRequest): Promise<OpsAnswer> {
  const all = await gathered(parts, request);
  return {
    json: {
      at: all.now.toISOString(),
      datasets: all.standings,
      review: { open: all.open.total, held_opt_outs: all.held.map(({ dataset, at }) => ({ dataset, at: iso(at) })) },
      keys: {
        live: all.keys.live,
        made_today: all.keys.fresh,
        credit_eur: (all.keys.credit - all.play.credit) / 1e6,
        sandbox_credit_eur: all.play.credit / 1e6,
        plans: all.keys.plans,
      },
      mails: { queued: all.queue.queued, failed: all.queue.failed, last_error: all.queue.mails[0]?.problem ?? null },
      money: all.month.map((day) => ({
        date: new Date(day.at).toISOString().slice(0, 10),
        cards_eur: day.cards / 1e6,
        sandbox_eur: day.sandbox / 1e6,
        x402_eur: day.x402 / 1e6,
      })),
      attention: all.waiting.map(({ amount, at, ...rest }) => ({
        ...rest,
        amount_eur: amount === null ? null : amount / 1e6,
        at: new Date(at).toISOString(),
      })),
    },
  };
}

/** GET /ops. */
export async function overviewPage(parts: OpsParts, request: RouteRequest, who: string): Promise<OpsAnswer> {
  const all = await gathered(parts, request);
  const names = await reviewFragment(parts, all.open);
  const body: Html = html`<div id="now" hx-get="/ops/partials/now?${String(new URLSearchParams(Object.entries(request.query).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))))}" hx-trigger="every 30s">${now(all)}</div>
<section aria-labelledby="waits"><div class="head"><h2 id="waits">Review</h2><a href="/ops/review${all.open.total === 0 ? '?status=all' : ''}">${all.open.total === 0 ? 'Decided items' : `All ${formatCount(all.open.total)} open`}</a></div>
<div id="queue" hx-get="/ops/partials/review?limit=5" hx-trigger="every 30s">${names}</div></section>`;
  return { page: { title: 'Overview', body, at: { place: 'overview', who } } };
}

/** GET /ops/partials/now: the figures, for the refresh of an open page. */
export async function nowPiece(parts: OpsParts, request: RouteRequest): Promise<OpsAnswer> {
  return { piece: String(now(await gathered(parts, request))) };
}

function now(all: Gathered): Html {
  return html`${calls(all)}
${figures(all)}
${datasets(all)}
${mails(all)}`;
}

/** Tasks for the operator. */
function calls({ standings, waiting, open, held: heldOptOuts, now, queue }: Gathered): Html {
  const list: [string, string, string][] = [];
  const people = open.items.filter(({ request, kind }) => request !== null && kind !== 'notice').length;
  if (people > 0)
    list.push(['/ops/review', plural(people, 'request'), people === 1 ? 'needs a decision' : 'need a decision']);
  for (const { dataset } of heldOptOuts)
    list.push([
      '/ops/review',
      dataset,
      `had ${OPT_OUT_LIMIT.most} opt-outs within an hour in the last day; further ones need your decision`,
    ]);
  if (waiting.length > 0)
    list.push([
      '/ops/money',
      plural(waiting.length, 'payment'),
      waiting.length === 1 ? 'needs attention' : 'need attention',
    ]);
  const late = queue.mails.filter(({ failed_at }) => failed_at === null || failed_at > now.getTime() - DAY);
  if (late.length > 0)
    list.push(['#mails', plural(late.length, 'mail'), `not accepted by the mail server: ${late[0]?.problem}`]);
  for (const { dataset, state, runs, due } of standings) {
    const [last] = runs;
    if (state === 'damaged') list.push(['/ops/nights', dataset, 'has a release that cannot be opened']);
    else if (state === 'missing') list.push(['/ops/nights', dataset, 'has no release yet']);
    const { bad_nights = 0, messages = [] } = last ?? {};
    if (bad_nights > 1)
      list.push([
        '/ops/nights',
        dataset,
        `had no good run for ${bad_nights} nights: ${(messages[0] ?? '').slice(0, 300)}`,
      ]);
    else if (last?.outcome === 'failed') list.push(['/ops/nights', dataset, 'failed in the last nightly run']);
    else if (last?.outcome === 'refused') list.push(['/ops/nights', dataset, 'was rejected in the last nightly run']);
    else if (due !== null && Date.parse(due) < now.getTime() - LATE)
      list.push(['/ops/nights', dataset, 'missed its nightly run']);
  }
  if (list.length === 0)
    return html`<p class="calm">${open.total === 0 ? 'No open tasks.' : html`No failures and no requests. <a href="/ops/review">${plural(open.total, 'review item')}</a> to decide.`}</p>`;
  return html`<ul class="calls" aria-label="Needs attention">${list.map(
    ([href, what, why]) => html`<li><a href="${href}"><strong>${what}</strong> ${why}</a></li>`,
  )}</ul>`;
}

function figures({ keys, play, month, open }: Gathered): Html {
  const revenue = month.reduce((sum, day) => sum + day.cards + day.x402, 0);
  const tile = (name: string, what: string, more: string) =>
    html`<div><dt>${name}</dt><dd>${what}<small>${more}</small></dd></div>`;
  return html`<dl class="tiles">
${tile('Revenue, 30 days', formatCents(revenue), 'cards and x402')}
${tile('Keys', formatCount(keys.live), `${formatCount(keys.fresh)} new today · ${formatCents(keys.credit - play.credit)} credit${play.credit === 0 ? '' : ` · ${formatCents(play.credit)} sandbox credit`}`)}
${tile('Open reviews', formatCount(open.total), open.total === 0 ? 'none' : 'to decide')}
</dl>`;
}

/** The colour of a share of fresh values. */
const fresh = (share: number) => (share >= 0.9 ? 'm0' : share >= 0.6 ? 'm1' : 'm2');

const DATASETS: readonly SortColumn<OpsDataset>[] = [
  { name: 'dataset', title: 'Dataset', of: ({ dataset }) => dataset },
  { name: 'records', title: 'Records', figures: true, of: ({ records }) => records },
  { name: 'fresh', title: 'Fresh values', of: ({ within_sla }) => within_sla },
  { name: 'age', title: 'Median age', figures: true, of: ({ median_age_hours }) => median_age_hours },
  { name: 'last', title: 'Last run', of: ({ runs }) => (runs[0] ? Date.parse(runs[0].at) : null) },
  { name: 'next', title: 'Next run', of: ({ next_collection }) => next_collection },
];

function datasets({ standings, now, request }: Gathered): Html {
  const { head, sorted } = tableSort(request, DATASETS, { parameter: 'datasets', path: '/ops' });
  const row = (opsDataset: OpsDataset) => {
    const { dataset, records, within_sla, median_age_hours, next_collection, runs, state } = opsDataset;
    const [last] = runs;
    return html`<tr><th scope="row"><a href="/ops/nights#${dataset}">${dataset}</a>${state === 'open' ? '' : html` ${badgeHtml(state, 'bad')}`}</th>
<td class="n" data-name="Records">${formatCount(records)}</td>
<td data-name="Fresh values">${within_sla === null ? '—' : html`<span class="meter">${lengthBar(within_sla, 1, fresh(within_sla))}<span>${printShare(within_sla)}</span></span>`}</td>
<td class="n" data-name="Median age">${median_age_hours === null ? '—' : printAge(median_age_hours)}</td>
<td data-name="Last run">${last === undefined ? 'never' : html`${outcomeBadge(last.outcome)} ${timeHtml(last.at, now)}<small>${formatDuration(last.seconds)}</small>`}</td>
<td data-name="Next run">${next_collection === null ? 'never' : timeHtml(next_collection, now)}</td></tr>`;
  };
  return html`<section aria-labelledby="fresh"><h2 id="fresh">Datasets</h2>
${
  standings.length === 0
    ? html`<p class="empty">No packs are loaded.</p>`
    : html`<table class="rows">${head}<tbody>${sorted(standings).map(row)}</tbody></table>`
}</section>`;
}

/** The mail queue, and the mails that the server did not accept. */
function mails({ queue, now }: Gathered): Html {
  const lines = queue.mails.map(
    ({ subject, recipient, created_at, attempts, next_at, failed_at, problem }) =>
      html`<li>${failed_at === null ? html`next attempt ${timeHtml(next_at, now)}` : badgeHtml('failed', 'bad')} ${subject}, to ${recipient}, ${timeHtml(created_at, now)}: <code>${problem}</code> in ${plural(attempts, 'attempt')}</li>`,
  );
  return html`<section aria-labelledby="mails"><h2 id="mails">Mails</h2><p>${formatCount(queue.queued)} queued, ${formatCount(queue.failed)} failed in 30 days.</p><ul>${lines}</ul></section>`;
}

/** The outcome of a run as a badge. */
export function outcomeBadge(outcome: OpsDataset['runs'][number]['outcome']): Html {
  return badgeHtml(outcome, outcome === 'released' ? 'good' : outcome === 'unchanged' ? 'plain' : 'bad');
}
