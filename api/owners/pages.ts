// The pages for owners of records: request, confirm, restore and edit. Their readers need not know what an
// API is.
import type { ValidationIssue } from '../../data/model/errors.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Pack } from '../../packs/define/model.ts';
import { type Html, html, joinHtml } from '../pages/html.ts';
import { type ShellPage, shellOf } from '../pages/shell.ts';
import { plural, printWithUnit } from '../render/print.ts';
import { type FormInput, ownerFields } from './form.ts';
import type { RecordRef } from './mailed-links.ts';
import { ownerAddressText } from './parts.ts';

const STYLE = `
form.ask { display: block; margin-bottom: 2.5rem; }
.field { margin: 0 0 1.4rem; }
.field label { display: block; margin-bottom: 0.3rem; font-weight: 600; }
.field input, .field select, .field textarea { width: 100%; min-height: 2.9rem; padding: 0.5rem 0.75rem; border: 1px solid var(--quiet); border-radius: 4px; background: var(--sheet); color: inherit; font: inherit; }
[aria-invalid] { border: 2px solid var(--paid) !important; }
.hint { margin: 0.35rem 0 0; color: var(--quiet); font-size: 0.9rem; }
.wrong, .good { margin: 0.35rem 0 0; padding: 0.1rem 0 0.1rem 0.8rem; border-left: 3px solid var(--paid); color: var(--paid); font-weight: 600; }
.good { border-color: var(--accent); color: inherit; }
.first { margin-bottom: 1.4rem; }
.slip h2 { margin-top: 2.5rem; font-size: 1.3rem; }
`;

/** The shell of these pages. */
export const OWNER_SHELL = shellOf({ style: STYLE });

/** A page with its status. */
export interface OwnerPage {
  status: number;
  page: ShellPage;
}

const p = (text: string): Html => html`<p>${text}</p>`;

/** A URL below the base URL. */
const at = (base_url: string, ...path: string[]): string => [base_url, ...path.map(encodeURIComponent)].join('/');

const recordLink = (base_url: string, { dataset, slug, name }: RecordRef): Html =>
  html`<a href="${at(base_url, 'datasets', dataset, slug)}">${name}</a>`;

/** A link to the start page of a record. */
const startLink = (base_url: string, { dataset, slug }: RecordRef, words: string): Html =>
  html`<p><a href="${at(base_url, 'owners', dataset, slug)}">${words}</a></p>`;

/**
 * A form with one button. It posts to the URL of the page; the token is a field, so that it is in no log of
 * URLs.
 */
const button = (token: string, action: string, words: string): Html =>
  html`<form method="post"><input type="hidden" name="token" value="${token}"><button type="submit" class="button" name="do" value="${action}">${words}</button></form>`;

const UNKNOWN = p('Please check that you copied the complete link from the mail.');

/** Why a link cannot be used, and what to do. `what` is its purpose: `restoring a record`. */
export function invalidLinkPage(state: 'used' | 'over' | 'unknown' | 'replaced', what: string, next?: Html): OwnerPage {
  const page = {
    used: {
      title: 'This link was already used',
      body: p(`It was a link for ${what}.`),
    },
    over: { title: 'This link has expired', body: html`${p(`It was a link for ${what}.`)}${next}` },
    replaced: {
      title: 'There is a newer link',
      body: html`${p('You asked for another link after this one. Please open the newest mail: only its link is valid.')}${next}`,
    },
    unknown: { title: 'This link has expired or is invalid', body: UNKNOWN },
  }[state];
  return { status: 404, page };
}

/** Opened from the mail about a removal: its button restores the record. */
export function restorePage(token: string, { name, dataset }: RecordRef): OwnerPage {
  return {
    status: 200,
    page: {
      title: `Restore ${name}?`,
      body: html`${p(`This record of the dataset ${dataset} was removed at the request of someone with an e-mail address at its domain.`)}
${p('The button restores it everywhere, with the values of our sources and its owner. To keep it removed, close this page.')}
${button(token, 'restore', 'Restore record')}`,
    },
  };
}

export function restoredPage(base_url: string, record: RecordRef): OwnerPage {
  const body = html`<p>${recordLink(base_url, record)} is restored, and is in pages and answers again. If new data was collected since its removal, that takes until the release is built again, which begins now. Download files follow.</p>
${p('Another removal within the next 90 days must be confirmed by e-mail.')}`;
  return { status: 200, page: { title: 'Record restored', body } };
}

/** Opened from the mail that asks to confirm a removal. */
export function confirmPage(token: string, { name, dataset }: RecordRef): OwnerPage {
  return {
    status: 200,
    page: {
      title: `Remove ${name}?`,
      body: html`${p(`This record of the dataset ${dataset} was removed and restored before, so please confirm.`)}
${p('The button removes it everywhere, immediately. To keep the record, close this page.')}
${button(token, 'confirm', 'Remove record')}`,
    },
  };
}

const removedShell = ({ name }: RecordRef): ShellPage => ({
  title: `${name} has been removed`,
  body: p(
    'Download files are rewritten without it within a few minutes. We have sent you a link to restore it within 30 days.',
  ),
});

export const removedPage = (record: RecordRef): OwnerPage => ({ status: 200, page: removedShell(record) });

/**
 * Before the 30 minutes of editing. Opening the mailed link does not start them, since mail programs open
 * links.
 */
export function beginPage(token: string, { name, dataset }: RecordRef, email: string): OwnerPage {
  return {
    status: 200,
    page: {
      title: `Edit ${name}`,
      body: html`${p(`You asked to edit this record of the dataset ${dataset} with the address ${email}.`)}
${p('Saved values are published immediately, marked as set by the owner.')}
${button(token, 'begin', 'Start editing (30 minutes)')}`,
    },
  };
}

/** The result of the last submission of the form. */
export interface FormState {
  /** The submitted input, shown again after an error. */
  sent: FormInput | null;
  issues: readonly ValidationIssue[];
  /** `saved`: values were saved. `nothing`: no value had changed. */
  done: 'saved' | 'nothing' | null;
}

const minutes = (until: number, now: Date): string => {
  const left = Math.max(1, Math.ceil((until - now.getTime()) / 60_000));
  return left === 1 ? 'one minute' : `${left} minutes`;
};

/** The form in which an owner edits a record. */
export function editPage(
  base_url: string,
  token: string,
  { pack, record, until, now }: { pack: Pack; record: StoredRecord; until: number; now: Date },
  { sent, issues, done }: FormState,
): OwnerPage {
  const named = { dataset: pack.id, slug: record.slug, name: record.name };
  const fields = ownerFields(pack, record, sent, issues);
  const other = issues.filter(({ loc }) => !fields.includes(`value.${loc[2]}"`));
  const notes = [
    ...(issues.length > 0
      ? [
          html`<p class="wrong first" role="alert">Not saved: ${issues.length === 1 ? 'one field is' : `${issues.length} fields are`} invalid.</p>`,
        ]
      : []),
    ...other.map(({ msg }) => html`<p class="wrong first">${msg}</p>`),
    ...(done === 'saved'
      ? [html`<p class="good first" role="status">Saved and published, marked as set by you.</p>`]
      : []),
    ...(done === 'nothing' ? [html`<p class="good first" role="status">No changes to save.</p>`] : []),
  ];
  return {
    status: issues.length > 0 ? 422 : 200,
    page: {
      title: `Edit ${record.name}`,
      body: html`${joinHtml(notes)}
<p>These are the current values of ${recordLink(base_url, named)}. Fields that you do not change stay as they are. To withdraw a value that you set, empty its field.</p>
<p>You can save changes for another ${minutes(until, now)}.</p>
<form method="post" class="ask"><input type="hidden" name="token" value="${token}">
${fields}
<button type="submit" class="button" name="do" value="save">Save</button>
</form>`,
    },
  };
}

/** The record was opted out, or a new release no longer has it. */
export function missingRecordPage(): OwnerPage {
  return {
    status: 404,
    page: {
      title: 'This record was removed',
      body: p('It was removed after the link was sent, so it cannot be edited.'),
    },
  };
}

/** The rejected input of a form on the start page, with the reason. */
export interface StartFormState {
  /** `edit` or `remove`. */
  form: string;
  email: string;
  reason: string;
  problem: string;
}

/** The start page of a record: its owner asks for a link to edit it, or for its removal. */
export function startPage(base_url: string, pack: Pack, record: StoredRecord, state: StartFormState | null): OwnerPage {
  const named = { dataset: pack.id, slug: record.slug, name: record.name };
  const wrong = (form: string) => (state?.form === form ? state : null);
  const hint = pack.owner.domain === null ? 'We’ll reply to this address.' : ownerAddressText(pack, record);
  const email = (form: string) => {
    const now = wrong(form);
    const invalid = now && html` aria-invalid="true"`;
    const about = html`aria-describedby="${form}-h${now ? ` ${form}-e` : ''}"${invalid}`;
    return html`<div class="field"><label for="${form}">Your e-mail address</label>
<input id="${form}" name="email" type="email" required maxlength="254" autocomplete="email" ${about} value="${now?.email ?? ''}">
<p class="hint" id="${form}-h">${hint}</p>
${now && html`<p class="wrong" id="${form}-e" role="alert">${now.problem}</p>`}</div>`;
  };
  const claim =
    pack.owner.domain !== null &&
    html`<h2>Edit the record</h2>
${p('We send you a link to a form where you can correct the values.')}
<form method="post" class="ask">${email('edit')}
<button type="submit" class="button" name="do" value="edit">Send link</button></form>`;
  const removal =
    pack.owner.domain === null
      ? 'An operator checks your request first, since the dataset has no domain by which to verify the owner.'
      : 'It is removed everywhere, immediately. We send you a link to restore it.';
  const offer = pack.owner.domain === null ? 'ask for its removal' : 'edit or remove it';
  return {
    status: state ? 422 : 200,
    page: {
      title: pack.owner.domain === null ? `Remove ${record.name}` : `Is ${record.name} yours?`,
      body: html`<p>${recordLink(base_url, named)} is a record of the dataset ${pack.title}. If it is about you or your business, you can ${offer} here, free of charge.</p>
${claim}
<h2>Remove the record</h2>
${p(removal)}
<form method="post" class="ask">${email('remove')}
<div class="field"><label for="reason">Reason (optional)</label><textarea id="reason" name="reason" rows="3" maxlength="2000">${state?.reason ?? ''}</textarea></div>
<button type="submit" name="do" value="preview">Remove this record…</button></form>`,
    },
  };
}

/** Values of a preview: public ones, short. */
const PREVIEW = { values: 6, length: 80 };

/** Before a removal: what is removed, from where, and the button that does it. */
export function removalPreviewPage(
  base_url: string,
  pack: Pack,
  record: StoredRecord,
  { email, reason }: { email: string; reason: string },
): OwnerPage {
  const named = { dataset: pack.id, slug: record.slug, name: record.name };
  const shown = pack.attributes.filter(({ name, public: open }) => open && record.attributes[name] !== undefined);
  const rows = shown.slice(0, PREVIEW.values).map(({ name, unit }) => {
    const text = printWithUnit(record.attributes[name]!, unit);
    return html`<div><dt>${name}</dt><dd>${text.slice(0, PREVIEW.length)}${text.length > PREVIEW.length && '…'}</dd></div>`;
  });
  const more = shown.length - rows.length;
  const effect =
    pack.owner.domain === null
      ? `An operator checks your request first. We’ll send the decision to ${email}.`
      : `It is removed from every page, answer, file and search, immediately. We’ll send a link to ${email} that restores it within 30 days.`;
  return {
    status: 200,
    page: {
      title: `Remove ${record.name}?`,
      body: html`<p>This is the record ${recordLink(base_url, named)} of the dataset ${pack.title}:</p>
<dl class="sum">${rows}</dl>
${more > 0 && p(`and ${plural(more, 'more value')}.`)}${p(effect)}
<form method="post"><input type="hidden" name="email" value="${email}"><input type="hidden" name="reason" value="${reason}">
<button type="submit" class="button" name="do" value="remove">Remove ${record.name}</button></form>
${startLink(base_url, named, 'Keep the record')}`,
    },
  };
}

/** The outcome of a request from the start page. */
export function requestedPage(
  base_url: string,
  record: RecordRef,
  outcome: 'sent' | 'review' | 'removed' | 'confirmation_sent',
  email: string,
): OwnerPage {
  const { name } = record;
  const pages: Record<typeof outcome, ShellPage> = {
    sent: {
      title: 'Check your e-mail',
      body: html`${p(`We sent a link to ${email}. It is valid for 24 hours and opens the form for ${name}.`)}${p(
        'No mail after a few minutes? Check your spam folder, then request another: only the newest link is valid.',
      )}`,
    },
    review: {
      title: 'Your request will be reviewed',
      body: p(
        `Your address does not prove that you may act for ${name}, so an operator reviews your request. We send the decision to ${email}.`,
      ),
    },
    removed: removedShell(record),
    confirmation_sent: {
      title: 'Please confirm by e-mail',
      body: p(
        `${name} was removed and restored before, so please confirm: we sent a link to ${email}. It is valid for 24 hours.`,
      ),
    },
  };
  const back = outcome !== 'removed' && startLink(base_url, record, 'Back');
  const page = pages[outcome];
  return {
    status: outcome === 'sent' || outcome === 'removed' ? 200 : 202,
    page: { ...page, body: html`${page.body}${back}` },
  };
}

/** A link to request another link. */
export const newLinkHtml = (base_url: string, record: RecordRef | null): Html | undefined =>
  record === null ? undefined : startLink(base_url, record, 'Request another link');
