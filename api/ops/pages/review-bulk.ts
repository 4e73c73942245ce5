// Several review items decided at once: a page to confirm, then every item by itself, with its own result.

import { decideEntry, type ReviewEntry, reviewEntry, type Verdict } from '../../../data/review/review.ts';
import { recordNames } from '../../../data/review/review-case.ts';
import { ApiError, toApiError } from '../../contract/errors.ts';
import type { RouteRequest } from '../../http/server.ts';
import { type Html, html } from '../../pages/html.ts';
import { plural } from '../../render/print.ts';
import { badgeHtml } from '../parts/format.ts';
import type { OpsAnswer, OpsParts } from '../parts/request.ts';
import { ITEM_ID, REVIEW_KINDS, verdictTexts } from './review-parts.ts';

/** Most items of one decision. */
const MOST = 100;

/** The form of the list; the checkboxes of its items belong to it by `form="bulk"`. */
export const bulkForm = (): Html => html`<form class="bulk" id="bulk" method="post" action="/ops/review/decide">
<label class="all" hidden><input type="checkbox" id="bulk-all"> Select all</label> <span id="bulk-count" role="status"></span>
<button type="submit" name="verdict" value="approve">Approve selected</button><button type="submit" name="verdict" value="reject">Reject selected</button>
<details class="keys-help" id="keys-help"><summary>Keyboard</summary><dl><div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next, previous item</dd></div><div><dt><kbd>x</kbd></dt><dd>select it</dd></div><div><dt><kbd>*</kbd></dt><dd>select all</dd></div><div><dt><kbd>a</kbd> <kbd>r</kbd></dt><dd>approve, reject the selected items; the next page confirms with <kbd>Enter</kbd></dd></div><div><dt><kbd>o</kbd></dt><dd>open it</dd></div><div><dt><kbd>?</kbd></dt><dd>this help</dd></div></dl></details></form>`;

/** The checkbox of an item. */
export const bulkBox = (id: string, name: string): Html =>
  html`<input type="checkbox" class="pick" form="bulk" name="item" value="${id}" aria-label="Select ${name}">`;

interface Line {
  id: string;
  /** Null: no such item any more. */
  entry: ReviewEntry | null;
  name: string;
}

/** POST /ops/review/decide: `item` (repeated), `verdict`, and `confirmed` on the second step. */
export async function decideManyPost(parts: OpsParts, request: RouteRequest, who: string): Promise<OpsAnswer> {
  const ids = [...new Set(request.form.getAll('item').map((id) => id.toLowerCase()))];
  const verdict = ({ approve: 'approved', reject: 'rejected' } as const)[request.form.get('verdict') ?? ''];
  if (verdict === undefined) throw refused('verdict', 'must be approve or reject', 'enum');
  const wrong = ids.find((id) => !ITEM_ID.test(id));
  if (wrong !== undefined) throw refused('item', 'must be a UUID', 'uuid_parsing');
  if (ids.length > MOST) throw refused('item', `must be at most ${MOST} items (got ${ids.length})`, 'too_long');
  if (ids.length === 0) {
    if (!request.prefersHtml) throw refused('item', 'is required', 'missing');
    return page(who, 'Nothing selected', html`<p>Select items in the list first.</p>${back}`, 422);
  }
  if (request.form.get('confirmed') !== 'yes' && request.prefersHtml) return confirmPage(parts, ids, verdict, who);
  return results(parts, request, ids, verdict, who);
}

const refused = (name: string, msg: string, type: string) =>
  new ApiError('validation_failed', `${name}: ${msg}`, { detail: [{ loc: ['body', name], msg, type }] });

const back = html`<p><a href="/ops/review">Back to the list</a></p>`;

function page(who: string, title: string, body: Html, status = 200): OpsAnswer {
  const above = html`<p class="crumbs"><a href="/ops/review">Review</a></p>`;
  return { page: { title, above, body, at: { place: 'review', who } }, status };
}

async function linesOf({ reviewing }: OpsParts, ids: readonly string[]): Promise<Line[]> {
  const entries = await Promise.all(ids.map((id) => reviewEntry(reviewing, id)));
  const names = await recordNames(
    reviewing,
    entries.filter((entry) => entry !== null),
  );
  return ids.map((id, at) => {
    const entry = entries[at] ?? null;
    const name = entry && (names.get(`${entry.dataset} ${entry.entity_id}`)?.name ?? entry.request?.name);
    return { id, entry, name: name ?? entry?.entity_id ?? id };
  });
}

const subject = ({ id, entry, name }: Line): Html =>
  html`<th scope="row"><a href="/ops/review/${id}">${name}</a>${entry?.attribute ? html` <code>${entry.attribute}</code>` : ''}</th><td data-name="Kind">${entry === null ? '—' : badgeHtml(REVIEW_KINDS[entry.kind])}</td>`;

async function confirmPage(parts: OpsParts, ids: readonly string[], verdict: Verdict, who: string): Promise<OpsAnswer> {
  const lines = await linesOf(parts, ids);
  const open = lines.filter(({ entry }) => entry?.status === 'open');
  const word = verdict === 'approved' ? 'Approve' : 'Reject';
  const removals = verdict === 'approved' ? open.filter(({ entry }) => entry?.kind === 'opt_out').length : 0;
  const restored = verdict === 'rejected' ? open.filter(({ entry }) => entry?.kind === 'notice').length : 0;
  const effect = (entry: ReviewEntry | null) =>
    entry === null
      ? 'no longer there'
      : entry.status === 'open'
        ? verdictTexts(entry)[verdict]
        : `already ${entry.status}`;
  const body = html`${removals > 0 && html`<p class="wrong">${plural(removals, 'record')} will disappear from every page, answer and file.</p>`}${restored > 0 && html`<p class="wrong">${plural(restored, 'removed record')} will be published again.</p>`}
<table class="rows"><thead><tr><th scope="col">Item</th><th scope="col">Kind</th><th scope="col">Effect</th></tr></thead><tbody>${lines.map((line) => html`<tr>${subject(line)}<td data-name="Effect">${effect(line.entry)}</td></tr>`)}</tbody></table>
<form method="post" action="/ops/review/decide">${open.map(({ id }) => html`<input type="hidden" name="item" value="${id}">`)}<input type="hidden" name="verdict" value="${verdict === 'approved' ? 'approve' : 'reject'}"><input type="hidden" name="confirmed" value="yes">
${open.length > 0 && html`<button type="submit" class="${removals + restored > 0 ? 'danger' : 'button'}" autofocus>${word} ${plural(open.length, 'item')}</button>`} <a class="cancel" href="/ops/review">Cancel</a></form>`;
  return page(who, `${word} ${plural(open.length, 'item')}?`, body);
}

/** Decides each item by itself: one that fails, or was decided meanwhile, does not stop the others. */
async function results(
  parts: OpsParts,
  request: RouteRequest,
  ids: readonly string[],
  verdict: Verdict,
  who: string,
): Promise<OpsAnswer> {
  const reviewer = { who: `operator ${who}`, now: parts.now().getTime(), request_id: request.request_id };
  const lines = await linesOf(parts, ids);
  const outcomes: { line: Line; state: 'decided' | 'already' | 'unknown' | 'failed'; text: string }[] = [];
  for (const line of lines) {
    try {
      const decided = await decideEntry(parts.reviewing, line.id, verdict, reviewer);
      const { state } = decided;
      if (state === 'unknown') outcomes.push({ line, state, text: 'No such item any more.' });
      else if (state === 'already')
        outcomes.push({
          line,
          state,
          text: `Already ${decided.entry.status} by ${decided.entry.decided_by ?? 'another operator'}.`,
        });
      else outcomes.push({ line, state: 'decided', text: decided.entry.status });
    } catch (error) {
      const { message } = toApiError(error);
      parts.log(`review item ${line.id} could not be decided: ${(error as Error).message}`);
      outcomes.push({ line, state: 'failed', text: `Not decided: ${message}` });
    }
  }
  const done = outcomes.filter(({ state }) => state === 'decided').length;
  if (!request.prefersHtml)
    return {
      json: { decided: done, items: outcomes.map(({ line, state, text }) => ({ id: line.id, state, message: text })) },
    };
  const mood = { decided: 'good', already: 'wait', unknown: 'plain', failed: 'bad' } as const;
  const missed = outcomes.length - done;
  const body = html`<p class="notice" role="status">${plural(done, 'item')} ${verdict}${missed > 0 ? `; ${missed} not` : ''}. Each decision is in the <a href="/ops/log">log</a>.</p>
<table class="rows"><thead><tr><th scope="col">Item</th><th scope="col">Kind</th><th scope="col">Result</th></tr></thead><tbody>${outcomes.map(({ line, state, text }) => html`<tr>${subject(line)}<td data-name="Result">${badgeHtml(text, mood[state])}</td></tr>`)}</tbody></table>${back}`;
  return page(who, missed > 0 ? 'Some items were not decided' : 'Decided', body);
}
