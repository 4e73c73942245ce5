// Shared by the review list and the page of an item: names of the kinds, units, the two buttons.

import type { ReviewEntry, Verdict } from '../../../data/review/review.ts';
import { type Html, html } from '../../pages/html.ts';
import { printNumber, printValue } from '../../render/print.ts';
import type { OpsParts } from '../parts/request.ts';

/** Label of each kind of item. */
export const REVIEW_KINDS: Record<ReviewEntry['kind'], string> = {
  conflict: 'sources disagree',
  jump: 'unusual jump',
  outlier: 'unusual first value',
  opt_out: 'removal request',
  claim: 'edit request',
  notice: 'removed',
  report: 'mistake reported',
};

/** Heading of each fact of an item, in the order of its facts. */
export const factTitles = (kind: ReviewEntry['kind']): string[] =>
  kind === 'outlier' ? ['Held'] : ['Published', kind === 'jump' ? 'Held' : 'Other source'];

/** The group median of an outlier with its unit. */
export const groupMedian = ({ group_median }: Pick<ReviewEntry, 'group_median'>, unit: string | null): string | null =>
  group_median === undefined ? null : `${printNumber(group_median)}${unit === null ? '' : ` ${unit}`}`;

/** The id of an item. */
export const ITEM_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Unit of the attribute that an entry is about. */
export function unitOf({ reviewing }: OpsParts, { dataset, attribute }: ReviewEntry): string | null {
  const pack = reviewing.editing.current(dataset)?.pack;
  return pack?.attributes.find(({ name }) => name === attribute)?.unit ?? null;
}

/** The effect of each verdict on an open item, in a few words. */
export function verdictTexts({ kind, facts }: Pick<ReviewEntry, 'kind' | 'facts'>): Record<Verdict, string> {
  const short = (text: string) => (text.length > 24 ? `${text.slice(0, 23)}…` : text);
  const values = facts.map(({ value }) => (value === null ? 'no value' : short(printValue(value))));
  const [approve, reject] = {
    conflict: [`Publish ${values[1]}`, `Keep ${values[0]}`],
    jump: [`Publish ${values[1]}`, `Keep ${values[0]}`],
    outlier: [`Publish ${values[0]}`, 'Keep unpublished'],
    opt_out: ['Remove the record', 'Decline'],
    claim: ['Send the link', 'Decline'],
    notice: ['Keep removed', 'Restore the record'],
    report: ['Close as corrected', 'Close without a change'],
  }[kind] as [string, string];
  return { approved: approve, rejected: reject };
}

/** What a decision that removes or restores a record confirms in a second step; null for the others. */
function confirmation(kind: ReviewEntry['kind'], verdict: Verdict): { warning: string; button: string } | null {
  if (kind === 'opt_out' && verdict === 'approved')
    return { warning: 'It disappears from every page, answer and file.', button: 'Yes, remove it' };
  if (kind === 'notice' && verdict === 'rejected')
    return { warning: 'It is published again, against the wish of its owner.', button: 'Yes, restore it' };
  return null;
}

/** The buttons to approve and reject, labelled with their effect. */
export function verdictForm({ id, kind, facts }: ReviewEntry, swap = true): Html {
  const texts = verdictTexts({ kind, facts });
  const button = (verdict: 'approve' | 'reject', text: string, mark: string) => {
    const act = html`<span class="verb">${verdict === 'approve' ? 'Approve' : 'Reject'}</span> ${text}`;
    const live = swap ? html` hx-post="/ops/review/${id}/${verdict}" hx-target="#i-${id}" hx-swap="outerHTML"` : '';
    // These take a second step, which works without a script.
    const confirms = confirmation(kind, verdict === 'approve' ? 'approved' : 'rejected');
    const form = html`<form method="post" action="/ops/review/${id}/${verdict}"${live}>${confirms && html`<p>${confirms.warning}</p>`}<button${mark === '' ? '' : html` class="${mark}"`}>${confirms?.button ?? act}</button></form>`;
    return confirms ? html`<details class="confirm"><summary>${act}</summary>${form}</details>` : form;
  };
  return html`<div class="verdicts">${button('approve', texts.approved, 'button')}${button('reject', texts.rejected, '')}</div>`;
}
