// The overview: open tasks, traffic, freshness of the datasets, next nightly runs.

import { reviewEntries } from '../../../data/review/review.ts';
import { mailQueue } from '../../../data/state/mail.ts';
import { paymentIssues } from '../../../data/state/ops/attention.ts';
import { keyFigures, moneyByDay, sandboxShare } from '../../../data/state/ops/figures.ts';
import {
  FAULT_OUTCOMES,
  SUCCESS_OUTCOMES,
  type TrafficBar,
  trafficBars,
  trafficBy,
} from '../../../data/state/ops/traffic.ts';
import { heldSince, OPT_OUT_LIMIT } from '../../../data/state/owners/held-opt-outs.ts';
import type { RouteRequest } from '../../http/server.ts';
import { barChart, everyStep, lengthBar } from '../../pages/charts.ts';
import { type Html, html } from '../../pages/html.ts';
import { plural, printAge, printDate, printDay, printMinute, printShare } from '../../render/print.ts';
import { badgeHtml, formatCents, formatCount, formatDuration, formatMicroseconds, timeHtml } from '../parts/format.ts';
import type { OpsAnswer, OpsDataset, OpsParts } from '../parts/request.ts';
import { type SortColumn, tableSort } from '../parts/sort.ts';
import { reviewFragment } from './review.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A nightly run that is later than this counts as missed. */
const LATE = 6 * HOUR;

/** Time ranges of the traffic chart, with the step of its bars. */
const SPANS = {
  day: { name: '24 hours', back: DAY, step: HOUR },
  week: { name: '7 days', back: 7 * DAY, step: 6 * HOUR },
  month: { name: '30 days', back: 30 * DAY, step: DAY },
} as const;
type Span = keyof typeof SPANS;

const spanOf = (request: RouteRequest): Span => {
  const named = request.parameter('span');
  return named === 'week' || named === 'month' ? named : 'day';
};

/** All data of the overview at one time. */
async function gathered(parts: OpsParts, request: RouteRequest) {
  const span = spanOf(request);
  const { store, reviewing } = parts;
  const now = parts.now();
  const at = now.getTime();
  // The pages show the stored figures if the newest cannot be written.
  await parts.traffic.flush().catch((error: Error) => parts.log(`cannot write traffic figures: ${error.message}`));
  const backlog = parts.traffic.backlog();
  const { back, step } = SPANS[span];
  const since = Math.floor((at - back) / step) * step + step;
  const [standings, traffic, today, outcomes, operations, open, waiting, keys, play, heldOptOuts, month, queue] =
    await Promise.all([
      parts.datasets(now),
      trafficBars(store, since, step),
      trafficBars(store, Math.floor((at - DAY) / HOUR) * HOUR + HOUR, HOUR),
      trafficBy(store, 'outcome', since),
      trafficBy(store, 'operation', since),
      reviewEntries(reviewing, { status: 'open', dataset: null, limit: 5, offset: 0 }),
      paymentIssues(store, at),
      keyFigures(store, at - DAY),
      sandboxShare(store, Math.floor((at - DAY) / HOUR) * HOUR + HOUR),
      heldSince(store, at - DAY),
      moneyByDay(store, at - 30 * DAY),
      mailQueue(store),
    ]);
  return {
    ...{ now, span, since, step, standings, backlog, request },
    ...{ traffic, today, outcomes, operations, open, waiting, keys, play, held: heldOptOuts, month, queue },
  };
}
type Gathered = Awaited<ReturnType<typeof gathered>>;

const total = (list: readonly TrafficBar[], of: (bar: TrafficBar) => number) =>
  list.reduce((sum, bar) => sum + of(bar), 0);

const iso = (at: number) => new Date(at).toISOString();

/** GET /ops/stats.json. */
export async function statsJson(parts: OpsParts, request: RouteRequest): Promise<OpsAnswer> {
  const all = await gathered(parts, request);
  const barText = (bar: TrafficBar) => {
    const { at, good, refused, faults, charged } = bar;
    return { at: new Date(at).toISOString(), answered: good, refused, faults, charged_eur: charged / 1e6 };
  };
  const by = ({ name, calls, took, longest, charged }: Gathered['operations'][number]) => ({
    name,
    calls,
    mean_seconds: calls === 0 ? null : took / calls / 1e6,
    longest_seconds: longest / 1e6,
    charged_eur: charged / 1e6,
  });
  return {
    json: {
      at: all.now.toISOString(),
      datasets: all.standings,
      traffic: {
        span: all.span,
        behind_since: all.backlog.since === null ? null : new Date(all.backlog.since).toISOString(),
        dropped_calls: all.backlog.dropped,
        bars: all.traffic.map(barText),
        outcomes: all.outcomes.map(by),
        operations: all.operations.map(by),
      },
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
${traffic(all)}
${datasets(all)}
${mails(all)}
${tables(all)}`;
}

/** Tasks for the operator. */
function calls({ standings, waiting, open, held: heldOptOuts, today, now, backlog, queue }: Gathered): Html {
  const list: [string, string, string][] = [];
  if (backlog.since !== null)
    list.push([
      '#traffic',
      'Traffic figures',
      `not stored since ${printMinute(backlog.since)} UTC: the database rejects them, see the log`,
    ]);
  if (backlog.dropped > 0)
    list.push(['#traffic', plural(backlog.dropped, 'call'), 'not counted while the database rejected the figures']);
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
  const faults = total(today, (bar) => bar.faults);
  if (faults > 0) list.push(['#errors', plural(faults, 'server error'), 'in 24 hours']);
  if (list.length === 0)
    return html`<p class="calm">${open.total === 0 ? 'No open tasks.' : html`No failures and no requests. <a href="/ops/review">${plural(open.total, 'review item')}</a> to decide.`}</p>`;
  return html`<ul class="calls" aria-label="Needs attention">${list.map(
    ([href, what, why]) => html`<li><a href="${href}"><strong>${what}</strong> ${why}</a></li>`,
  )}</ul>`;
}

function figures({ today, keys, play, month, open, operations }: Gathered): Html {
  const calls = total(today, (bar) => bar.good + bar.refused + bar.faults);
  const took = operations.reduce((sum, operation) => sum + operation.took, 0);
  const counted = operations.reduce((sum, operation) => sum + operation.calls, 0);
  const came = month.reduce((sum, day) => sum + day.cards + day.x402, 0);
  const charged = total(today, (bar) => bar.charged);
  const sandbox = (amount: number) => (amount === 0 ? '' : `${formatCents(amount)} of sandbox credit · `);
  const tile = (name: string, what: string, more: string) =>
    html`<div><dt>${name}</dt><dd>${what}<small>${more}</small></dd></div>`;
  return html`<dl class="tiles">
${tile('Calls, 24 hours', formatCount(calls), counted === 0 ? 'none yet' : `${formatMicroseconds(took / counted)} on average`)}
${tile('Charged, 24 hours', formatCents(Math.max(0, charged - play.charged)), `${sandbox(play.charged)}${formatCents(came)} revenue in 30 days`)}
${tile('Keys', formatCount(keys.live), `${formatCount(keys.fresh)} new today · ${formatCents(keys.credit - play.credit)} credit${play.credit === 0 ? '' : ` · ${formatCents(play.credit)} sandbox credit`}`)}
${tile('Open reviews', formatCount(open.total), open.total === 0 ? 'none' : 'to decide')}
</dl>`;
}

function traffic({ traffic: bars, since, step, span, now }: Gathered): Html {
  const columns = everyStep(
    since,
    now.getTime(),
    step,
    bars.map(({ at, good, refused, faults }) => ({ at, parts: [good, refused, faults] })),
    3,
  );
  const clock = (at: number) => new Date(at).toISOString();
  const chart = barChart({
    about: `Calls over ${SPANS[span].name}: ${formatCount(total(bars, (bar) => bar.good))} answered, ${formatCount(total(bars, (bar) => bar.refused))} rejected, ${formatCount(total(bars, (bar) => bar.faults))} server errors.`,
    series: [
      { name: 'answered', mark: 'm0' },
      { name: 'rejected', mark: 'm1' },
      { name: 'server errors', mark: 'm2' },
    ],
    columns,
    amount: formatCount,
    time: (at) => (step === DAY ? printDate(clock(at)) : printMinute(at)),
    tick: (at) => (span === 'day' ? clock(at).slice(11, 16) : printDay(at)),
  });
  const choice = Object.entries(SPANS).map(
    ([name, option]) =>
      html`<a href="/ops?span=${name}"${name === span ? html` aria-current="true"` : ''}>${option.name}</a>`,
  );
  return html`<section aria-labelledby="traffic"><div class="head"><h2 id="traffic">Traffic</h2><nav class="spans" aria-label="Time range">${choice}</nav></div>
${bars.length === 0 ? html`<p class="empty">No calls yet. Each process stores its counts every few seconds.</p>` : chart}</section>`;
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

type Operations = Gathered['operations'][number];

const OPERATIONS: readonly SortColumn<Operations>[] = [
  { name: 'operation', title: 'Operation', of: ({ name }) => name },
  { name: 'calls', title: 'Calls', of: ({ calls: n }) => n },
  { name: 'mean', title: 'Mean', figures: true, of: ({ took, calls: n }) => took / n },
  { name: 'longest', title: 'Longest', figures: true, of: ({ longest }) => longest },
];

const ERRORS: readonly SortColumn<Operations>[] = [
  { name: 'code', title: 'Code', of: ({ name }) => name },
  { name: 'calls', title: 'Calls', figures: true, of: ({ calls: n }) => n },
];

function tables({ outcomes, operations, span, request }: Gathered): Html {
  const top = tableSort(request, OPERATIONS, { parameter: 'operations', path: '/ops' });
  const failed = tableSort(request, ERRORS, { parameter: 'errors', path: '/ops' });
  const wrong = outcomes.filter(({ name }) => !SUCCESS_OUTCOMES.includes(name));
  const most = Math.max(1, ...operations.map(({ calls: n }) => n));
  const errors = failed
    .sorted(wrong)
    .map(
      ({ name, calls: n }) =>
        html`<tr><th scope="row"><code>${name}</code>${FAULT_OUTCOMES.includes(name) ? html` ${badgeHtml('server error', 'bad')}` : ''}</th><td class="n">${formatCount(n)}</td></tr>`,
    );
  const rows = top
    .sorted(operations)
    .slice(0, 8)
    .map(
      (operation) =>
        html`<tr><th scope="row"><code>${operation.name}</code></th><td><span class="meter">${lengthBar(operation.calls, most)}<span>${formatCount(operation.calls)}</span></span></td><td class="n">${formatMicroseconds(operation.took / operation.calls)}</td><td class="n">${formatMicroseconds(operation.longest)}</td></tr>`,
    );
  return html`<div class="two">
<section aria-labelledby="asked"><h2 id="asked">Top operations</h2>${rows.length === 0 ? html`<p class="empty">None in ${SPANS[span].name}.</p>` : html`<table class="asked">${top.head}<tbody>${rows}</tbody></table>`}</section>
<section aria-labelledby="errors"><h2 id="errors">Errors</h2>${errors.length === 0 ? html`<p class="empty">None in ${SPANS[span].name}.</p>` : html`<table>${failed.head}<tbody>${errors}</tbody></table>`}</section>
</div>`;
}
