// The page of a review item: both facts with their sources, the history, and the effect of each decision.

import type { PublicFact } from '../../../data/queries/history.ts';
import type { AttributeState, ReviewCase } from '../../../data/review/review-case.ts';
import type { Value } from '../../../packs/define/model.ts';
import { stepChart } from '../../pages/charts.ts';
import { type Html, html } from '../../pages/html.ts';
import { printNumber } from '../../render/print.ts';
import { badgeHtml, formatMinute, linkHtml, timeHtml, valueHtml } from '../parts/format.ts';
import type { OpsParts } from '../parts/request.ts';
import { factTitles, groupMedian, REVIEW_KINDS, unitOf, verdictForm } from './review-parts.ts';

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
export function caseBody(parts: OpsParts, item: ReviewCase): Html {
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
      html`<tr${fact.won ? html` class="won"` : ''}><th scope="row">${formatMinute(fact.observed_at)}</th><td>${valueHtml(fact.value, unit)}</td><td>${linkHtml(fact.source_url, fact.source.id)}</td><td class="n">${fact.confidence}</td><td>${fact.won ? html`${badgeHtml('published', 'good')} ` : ''}${REASONS[fact.reason]}</td></tr>`,
  )}</tbody></table></div></section>`;
}
