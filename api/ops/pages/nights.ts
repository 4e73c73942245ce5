// The nightly runs of each dataset: schedule, outcomes, duration of each step.

import { commandLine } from '../../../data/model/program.ts';
import type { NightlyRun } from '../../../data/releases/runs.ts';
import type { RouteRequest } from '../../http/server.ts';
import { lengthBar } from '../../pages/charts.ts';
import { type Html, html } from '../../pages/html.ts';
import { plural, printMinute } from '../../render/print.ts';
import { badgeHtml, formatDuration, timeHtml } from '../parts/format.ts';
import type { OpsAnswer, OpsDataset, OpsParts } from '../parts/request.ts';
import { type SortColumn, tableSort } from '../parts/sort.ts';
import { outcomeBadge } from './overview.ts';

/** GET /ops/nights. */
export async function nightsPage(parts: OpsParts, request: RouteRequest, who: string): Promise<OpsAnswer> {
  const now = parts.now();
  const standings = await parts.datasets(now);
  const body = html`<p class="lead">Each dataset is collected on the schedule of its pack. A failed run keeps the previous release.</p>
${standings.length === 0 ? html`<p class="empty">No packs are loaded.</p>` : standings.map((standing) => dataset(standing, request, now))}`;
  return { page: { title: 'Nightly runs', body, at: { place: 'nights', who } } };
}

function dataset(standing: OpsDataset, request: RouteRequest, now: Date): Html {
  const { dataset: id, title, state, release, records, facts, runs, next_collection } = standing;
  // The steps of the last run that was more than a check for new data.
  const full = runs.find(({ outcome, steps }) => outcome !== 'unchanged' && steps.length > 1) ?? runs[0];
  const { bad_nights = 0 } = runs[0] ?? {};
  const alert = bad_nights > 1 ? badgeHtml(`no good run for ${bad_nights} nights`, 'bad') : '';
  return html`<section aria-labelledby="${id}" class="night"><div class="head"><h2 id="${id}">${id}</h2>${state === 'open' ? '' : badgeHtml(state, 'bad')}${alert}</div>
<p class="meta"><span>${title}</span><span>${plural(records, 'record')} from ${plural(facts, 'fact')}</span>${release === null ? '' : html`<span>release <code>${release}</code></span>`}<span>next ${next_collection === null ? 'never' : html`${timeHtml(next_collection, now)} (${printMinute(next_collection)} UTC)`}</span></p>
${
  full === undefined
    ? html`<p class="empty">No run yet. <code>${commandLine('nightly')}</code> starts one.</p>`
    : html`<div class="two"><div><h3>Steps of ${printMinute(full.at)}</h3>${stepBars(full)}</div><div><h3>Runs</h3>${runTable(runs, request, now)}</div></div>`
}</section>`;
}

function stepBars({ steps }: NightlyRun): Html {
  const most = Math.max(...steps.map(({ seconds }) => seconds), 0.001);
  return html`<table class="steps-table"><tbody>${steps.map(
    ({ step, seconds }) =>
      html`<tr><th scope="row">${step}</th><td><span class="meter">${lengthBar(seconds, most)}<span>${formatDuration(seconds)}</span></span></td></tr>`,
  )}</tbody></table>`;
}

const RUNS: readonly SortColumn<NightlyRun>[] = [
  { name: 'when', title: 'When', of: ({ at }) => Date.parse(at) },
  { name: 'outcome', title: 'Outcome', of: ({ outcome }) => outcome },
  { name: 'took', title: 'Took', figures: true, of: ({ seconds }) => seconds },
];

function runTable(runs: readonly NightlyRun[], request: RouteRequest, now: Date): Html {
  const { head, sorted } = tableSort(request, RUNS);
  return html`<table>${head}<tbody>${sorted(runs).map(
    ({ at, outcome, seconds, messages }) =>
      html`<tr><th scope="row">${timeHtml(at, now)}</th><td>${outcomeBadge(outcome)}${messages.length === 0 ? '' : html`<ul class="messages">${messages.slice(0, 3).map((line) => html`<li>${line}</li>`)}${messages.length > 3 ? html`<li>and ${messages.length - 3} more</li>` : ''}</ul>`}</td><td class="n">${formatDuration(seconds)}</td></tr>`,
  )}</tbody></table>`;
}
