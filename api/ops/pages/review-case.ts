// One thing to decide, with everything to decide it by: both facts, their sources, the history, and what either verdict makes of it.

import type { PublicFact } from '../../../data/queries/history.ts';
import type { AttributeState, ReviewCase } from '../../../data/review/review-case.ts';
import type { Value } from '../../../packs/define/model.ts';
import { type Html, html } from '../../pages/html.ts';
import { printNumber } from '../../render/print.ts';
import { stepChart } from '../parts/charts.ts';
import { badgeHtml, formatMinute, linkHtml, timeHtml, valueHtml } from '../parts/format.ts';
import type { OpsParts } from '../parts/request.ts';
import { factTitles, groupMedian, REVIEW_KINDS, unitOf, verdictForm } from './review-parts.ts';

/** Why a fact is published, or why not, in words. */
const REASONS: Record<PublicFact['reason'], string> = {
  only_source: 'the only source',
  agreed: 'sources agree',
  more_trusted: 'more trusted',
  newer_reading: 'newer reading',
  earliest: 'said it first',
  owner: 'the owner says so',
  approved: 'approved',
  superseded: 'its source says something newer',
  less_trusted: 'less trusted',
  older_reading: 'older reading',
  later: 'said it later',
  below_floor: 'below the floor of confidence',
  held: 'held back until confirmed or reviewed',
  not_listed: 'its source dropped the record',
  owner_overrides: 'the owner says otherwise',
  rejected: 'rejected',
  withdrawn: 'withdrawn by its source',
};

/** The body of the page. */
export function caseBody(parts: OpsParts, found: ReviewCase): Html {
  const { entry, effect, history, record } = found;
  const now = parts.now();
  const unit = unitOf(parts, entry);
  const open = entry.status === 'open';
  const state = open
    ? html`${badgeHtml(REVIEW_KINDS[entry.kind], 'wait')} opened ${timeHtml(entry.opened_at, now)}`
    : html`${badgeHtml(entry.status, entry.status === 'approved' ? 'good' : 'plain')}${entry.decided_by === null ? '' : html` by ${entry.decided_by}`}${entry.decided_at === null ? '' : html`, ${timeHtml(entry.decided_at, now)}`}`;
  const where =
    record === null
      ? ''
      : html` · ${linkHtml(`${parts.base_url}/datasets/${entry.dataset}/${record.slug}`, 'its page')}`;
  return html`<p class="meta"><span>${state}${where}</span></p>
${entry.request === null ? pair(entry, unit, now) : asks(found)}
${effect === null ? '' : effects(effect, unit)}
${open ? html`<section class="decide" aria-labelledby="decide"><h2 id="decide">Decide</h2>${verdictForm(entry, false)}<p class="hint">It shows in every channel at once, and the log keeps that it was you.</p></section>` : ''}
${history.length === 0 ? '' : past(history, unit, now)}`;
}

function pair(entry: ReviewCase['entry'], unit: string | null, now: Date): Html {
  const titles = factTitles(entry.kind);
  const median = groupMedian(entry, unit);
  const group =
    median === null
      ? ''
      : html`<p>Further than the bound from ${median}, the median of its group when it was first observed. Nothing is published until it is confirmed.</p>`;
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
      'A business asks for this record to be removed. Approve: it leaves every channel at once, and the contact is mailed a link that brings it back.',
    claim: 'Somebody claims this record. Approve: they are mailed a link under which they may edit it.',
    notice: 'This record was removed by its business. Approve: it stays removed. Reject: it is shown again.',
  }[kind as 'opt_out' | 'claim' | 'notice'];
  return html`<p>${what}</p><dl class="sum">
<div><dt>Record</dt><dd>${request?.name ?? ''}</dd></div>
<div><dt>Contact</dt><dd>${request?.contact ?? ''}</dd></div>
<div><dt>Reason</dt><dd>${request?.reason ?? 'none given'}</dd></div>
<div><dt>Why it is here</dt><dd>${request?.because ?? ''}</dd></div></dl>`;
}

function effects({ now, approved, rejected }: NonNullable<ReviewCase['effect']>, unit: string | null): Html {
  const row = (name: string, said: AttributeState) =>
    html`<tr><th scope="row">${name}</th><td>${valueHtml(said.value, unit)}</td><td class="n">${said.confidence ?? '—'}</td><td>${linkHtml(said.source_url)}</td><td class="n">${said.quality.toFixed(3)}</td></tr>`;
  return html`<section aria-labelledby="effect"><h2 id="effect">Effect</h2>
<div class="scroll" role="region" aria-label="Values before and after" tabindex="0"><table><thead><tr><th scope="col">Verdict</th><th scope="col">Published value</th><th scope="col" class="n">Confidence</th><th scope="col">Source</th><th scope="col" class="n">Quality of the record</th></tr></thead>
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
<div class="scroll" role="region" aria-label="Every fact" tabindex="0"><table><thead><tr><th scope="col">Observed (UTC)</th><th scope="col">Value</th><th scope="col">Source</th><th scope="col" class="n">Confidence</th><th scope="col">Why</th></tr></thead>
<tbody>${history.map(
    (fact) =>
      html`<tr${fact.won ? html` class="won"` : ''}><th scope="row">${formatMinute(fact.observed_at)}</th><td>${valueHtml(fact.value, unit)}</td><td>${linkHtml(fact.source_url, fact.source.id)}</td><td class="n">${fact.confidence}</td><td>${fact.won ? html`${badgeHtml('published', 'good')} ` : ''}${REASONS[fact.reason]}</td></tr>`,
  )}</tbody></table></div></section>`;
}
